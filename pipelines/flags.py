"""The flags of `beamjudge evaluate`: names, help texts and how their text becomes a value. No Beam is imported here."""

import argparse
import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from beamjudge.schemas.errors import UsageError
from beamjudge.schemas.run_config import JUDGE_NAMES, METRIC_GROUPS
from beamjudge.schemas.text_tokenizers import TEXT_TOKENIZERS

EXAMPLES = """examples:
  beamjudge evaluate --input log.jsonl --output eval/
  beamjudge evaluate --input 'logs/dt=2026-11-29/*.parquet' --output eval/ --judges safety,groundedness \\
      --judge_model gpt-4.1-mini --slice_by model,locale,model*locale
  beamjudge evaluate --input log.jsonl --output eval/ --judge_model qwen3 --judge_base_url http://localhost:11434/v1
  beamjudge evaluate --input questions.jsonl --output eval/ --judge_model gpt-4.1-mini \\
      --app_model my-agent --app_base_url http://localhost:8000/v1
  beamjudge evaluate --config run.yaml --run_date 2026-11-29 \\
      --min_value response/llm_judged/safety/rating/percentage=0.99

exit codes: 0 done, 1 failed, 2 wrong usage, 3 a gate failed, 4 stopped by quota, 130 interrupted"""


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"got {text!r}; expected a number, for example 0.1") from None


def integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"got {text!r}; expected a whole number, for example 32") from None


def names(text: str) -> list[str]:
    """`a,b` as a list; spaces around names do not count."""
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise argparse.ArgumentTypeError(f"got {text!r}; expected NAME[,NAME]")
    return found


def integers(text: str) -> list[int]:
    """`1,5,10` as a list of numbers."""
    return [integer(part) for part in names(text)]


def assignments(text: str) -> dict[str, str]:
    """`a=x,b=y` as a mapping."""
    pairs = [pair.partition("=") for pair in text.split(",")]
    if any(not key or not value for key, _, value in pairs):
        raise argparse.ArgumentTypeError(f"got {text!r}; expected NAME=VALUE[,NAME=VALUE]")
    return {key: value for key, _, value in pairs}


def _named_number(parse: Callable[[str], Any]) -> Callable[[str], tuple[str, Any]]:
    def read(text: str) -> tuple[str, Any]:
        name, separator, value = text.rpartition("=")
        if not separator or not name:
            raise argparse.ArgumentTypeError(f"got {text!r}; expected NAME=NUMBER")
        return name, parse(value)

    return read


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag. `target` is where its value goes in the configuration: a dotted path of keys."""

    name: str
    help: str
    parse: Callable[[str], Any] = str
    metavar: str | None = None
    target: str | None = None
    choices: tuple[str, ...] | None = None
    is_switch: bool = False
    is_list: bool = False
    repeats: bool = False

    @property
    def path(self) -> tuple[str, ...]:
        return tuple((self.target or self.name).split("."))


RUNNERS = ("DirectRunner", "DataflowRunner", "FlinkRunner", "PrismRunner", "PortableRunner")
_JUDGES = ", ".join(JUDGE_NAMES)
_METRICS = ", ".join(f"{group} ({', '.join(members)})" for group, members in METRIC_GROUPS.items())


def _endpoint_flags(prefix: str, endpoint: str, model: str, an: str, the: str) -> tuple[Flag, ...]:
    """The flags that name an endpoint; `model` says what its model is, `an` and `the` whose it and its key are."""
    return (
        Flag(f"{prefix}_model", model, metavar="MODEL", target=f"endpoints.{endpoint}.model"),
        Flag(
            f"{prefix}_base_url",
            f"{an} OpenAI-compatible endpoint",
            metavar="URL",
            target=f"endpoints.{endpoint}.base_url",
        ),
        Flag(
            f"{prefix}_api_key",
            f"where {the} key is: env:NAME, file:PATH or gcp-secret:NAME (default env:OPENAI_API_KEY)",
            metavar="REFERENCE",
            target=f"endpoints.{endpoint}.api_key",
        ),
    )


GROUPS: dict[str, tuple[Flag, ...]] = {
    "input and output": (
        Flag(
            "input",
            "log files: globs, folders, gs:// or s3:// paths; delta:FOLDER[@VERSION] for a Delta table",
            is_list=True,
            metavar="PATTERN",
        ),
        Flag("output", "the folder for the results", metavar="FOLDER"),
        Flag(
            "columns",
            "how your columns are called: request=prompt,response=completion.text",
            assignments,
            "NAME=PATH,...",
        ),
        Flag("run_date", "fills {run_date} in input and output: 2026-11-29, or yesterday or today", metavar="DATE"),
        Flag("time_zone", "the zone of yesterday and today (default UTC)", metavar="ZONE"),
        Flag("overwrite", "replace the results of another run in the output folder", is_switch=True),
        Flag("keep_extra", "keep the columns that are no input columns, as JSON in `extra`", is_switch=True),
        Flag("store_text", "write request, response and context text (default full)", choices=("full", "none")),
        Flag("store_rationales", "write the judges' rationales (default on)", choices=("on", "off")),
        Flag(
            "group_spans",
            "put spans that are logged one a line together by trace (default auto: if the first records are spans)",
            choices=("auto", "on", "off"),
        ),
        Flag("max_record_mb", "the longest line that is read, in MB (default 64)", number, "MB"),
    ),
    "what is measured": (
        Flag("judges", f"which judges run: none, or some of {_JUDGES} (default: all but the last two)", names, "A,B"),
        Flag(
            "metrics",
            f"which metrics run: none, or groups or names: {_METRICS} (default, and in the group text: all but ter)",
            names,
            "A,B",
        ),
        Flag("retrieval_k", "the ranks k of the retrieval metrics at k (default 1,3,5,10)", integers, "K,K"),
        Flag(
            "text_tokenizer",
            "the tokenizer of the text metrics: auto (default) follows the script of the texts; with any other, texts "
            "are taken as they are and all scores are those of sacrebleu, rouge-score and nltk (rouge: with their "
            "defaults)",
            choices=TEXT_TOKENIZERS,
        ),
        Flag("rouge_stemmer", "compare English stems for ROUGE, as rouge-score's use_stemmer does", is_switch=True),
        Flag("global_guidelines", "rules for every response; several may be given", is_list=True, metavar="RULE"),
        Flag(
            "slice_by", "columns or dotted paths to break the numbers down by: model,locale,model*locale", names, "A,B"
        ),
        Flag(
            "cluster_by", "a column that dependent rows share (conversation_id): intervals allow for it", str, "COLUMN"
        ),
        Flag("sample_rate", "the share of rows that judges see, above 0 and up to 1 (default 1)", number, "RATE"),
        Flag("max_judge_calls", "judge as many sampled rows as take at most N calls", integer, "N"),
        Flag("max_cost_usd", "judge as many sampled rows as cost at most X US dollars", number, "X"),
        Flag("confidence", "the level of the intervals (default 0.95)", number, "LEVEL"),
    ),
    "the judge": (
        *_endpoint_flags("judge", "default", "a model's name, or lexical for offline rules", "an", "the"),
        Flag("max_concurrency", "calls in flight per worker process (default 32)", integer, "N"),
        Flag(
            "requests_per_minute",
            "calls that the endpoint takes in any minute, from all worker processes",
            integer,
            "N",
            "endpoints.default.requests_per_minute",
        ),
        Flag(
            "tokens_per_minute",
            "tokens that the endpoint takes in any minute, from all worker processes",
            integer,
            "N",
            "endpoints.default.tokens_per_minute",
        ),
        Flag("judge_timeout", "seconds for a call (default 120); a longer one is repeated once", number, "SECONDS"),
        Flag("judge_processes", "number of worker processes that share the endpoint's limits", integer, "N"),
        Flag(
            "verdict_store",
            "the folder of the verdicts that were paid for, which runs may share (default OUTPUT/verdicts)",
            metavar="FOLDER",
        ),
        Flag("no_verdict_reuse", "ask for every verdict again, also for those in the verdict store", is_switch=True),
    ),
    "the application under test": (
        *_endpoint_flags(
            "app",
            "app",
            "the model, or the application's name, that answers the rows without a response before they are judged",
            "its",
            "its",
        ),
    ),
    "gates": (
        Flag(
            "max_reject_rate",
            "fail above this share of rejects (default 0.05)",
            number,
            "RATE",
            "gates.max_reject_rate",
        ),
        Flag(
            "max_error_rate",
            "fail above this share of errors of a judge (default 0.05)",
            number,
            "RATE",
            "gates.max_error_rate",
        ),
        Flag(
            "max_bad_files",
            "fail above this number of unreadable files (default 0)",
            integer,
            "N",
            "gates.max_bad_files",
        ),
        Flag("min_rows", "fail below this number of rows (default 0)", integer, "N", "gates.min_rows"),
        Flag(
            "min_value",
            "fail when a run-level metric is below X; may be repeated",
            _named_number(number),
            "METRIC=X",
            "gates.min_value",
            repeats=True,
        ),
        Flag(
            "min_scored",
            "fail when a judge scored fewer than N rows; may be repeated",
            _named_number(integer),
            "JUDGE=N",
            "gates.min_scored",
            repeats=True,
        ),
    ),
    "runner": (
        Flag(
            "reshuffle",
            "spread rows over workers after reading (default auto: not on DirectRunner)",
            choices=("auto", "on", "off"),
        ),
    ),
}
FLAGS: tuple[Flag, ...] = tuple(flag for flags in GROUPS.values() for flag in flags)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line with a suggestion, and which never guesses abbreviations."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(
            *args, **{"allow_abbrev": False, "formatter_class": argparse.RawDescriptionHelpFormatter, **kwargs}
        )

    @property
    def flags(self) -> list[str]:
        """The flags that the parser knows."""
        return list(self._option_string_actions)

    def error(self, message: str) -> NoReturn:
        raise UsageError(_with_suggestion(message.removeprefix("argument ")))


def _with_suggestion(message: str) -> str:
    """argparse lists all choices for a mistyped one; the nearest comes first for the reader."""
    wrong = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)$", message)
    if not wrong:
        return message
    choices = [choice.strip(" '") for choice in wrong[2].split(",")]
    near = difflib.get_close_matches(wrong[1], choices, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"{message[: wrong.start()]}got {wrong[1]!r}; expected one of {', '.join(choices)}{hint}"


def add_evaluate_flags(parser: argparse.ArgumentParser) -> None:
    """All flags of `evaluate`; a flag that is not given leaves no trace in the result."""
    parser.add_argument("--config", metavar="FILE", help="a YAML file (examples/run.yaml shows every key); a flag wins")
    for title, flags in GROUPS.items():
        group = parser.add_argument_group(title)
        for flag in flags:
            options: dict[str, Any] = {"help": flag.help, "default": argparse.SUPPRESS}
            if flag.is_switch:
                negative = flag.name.startswith("no_")
                options["action"] = "store_true" if negative else argparse.BooleanOptionalAction
            else:
                options |= {"type": flag.parse, "metavar": flag.metavar, "choices": flag.choices}
                if flag.choices:
                    del options["metavar"]
            if flag.is_list:
                options |= {"nargs": "+", "action": "extend"}
            elif flag.repeats:
                options["action"] = "append"
            group.add_argument(f"--{flag.name}", **options)
    group.add_argument(
        "--runner",
        default=RUNNERS[0],
        choices=RUNNERS,
        metavar="RUNNER",
        help=f"{RUNNERS[0]} (default), {', '.join(RUNNERS[1:])}; the runner's own flags may follow",
    )
    group.add_argument(
        "--runner_option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option that only a job server knows; may be repeated",
    )
    group.add_argument("--quiet", action="store_true", help="no progress and no summary, only errors")


def unknown_flag(argument: str, known: Iterable[str]) -> UsageError:
    """The error for an argument that no flag takes, with the nearest flag as suggestion."""
    name = argument.partition("=")[0]
    if not name.startswith("-"):
        return UsageError(f"unexpected argument {argument!r}; expected flags such as --input FILE (see --help)")
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else "see --help"
    return UsageError(f"unknown flag {name}; {hint}")


def flag_names(extra: Sequence[str] = ()) -> list[str]:
    return [f"--{flag.name}" for flag in FLAGS] + [
        "--config",
        "--estimate",
        "--runner",
        "--runner_option",
        "--quiet",
        *extra,
    ]
