"""The command line. Imports lazily, so that help and wrong flags are answered at once."""

import argparse
import io
import logging
import os
import sys
import traceback
from collections.abc import Callable, Sequence

import beamjudge
from beamjudge.pipelines.flags import EXAMPLES, Parser, add_evaluate_flags, integer, unknown_flag
from beamjudge.pipelines.terminal import printable
from beamjudge.pipelines.verdicts import EXAMPLES as VERDICTS_EXAMPLES
from beamjudge.pipelines.verdicts import add_verdicts_commands
from beamjudge.schemas.errors import RunFailed, UsageError
from beamjudge.schemas.judges import BUILT_IN_JUDGES

_DESCRIPTION = "LLM judges and deterministic metrics over logs of LLM applications, in an Apache Beam pipeline."
_EXAMPLES = """examples:
  beamjudge check --input log.jsonl
  beamjudge evaluate --input log.jsonl --output eval/
  beamjudge judges list
  beamjudge judges show groundedness"""
_CHECK_EXAMPLES = """examples:
  beamjudge check --input log.jsonl
  beamjudge check --input 'logs/*.parquet' --columns request=prompt,response=completion.text
  beamjudge check --config run.yaml --injection"""
_MERGE_EXAMPLES = """examples:
  beamjudge merge eval/2026-11-28 eval/2026-11-29 --output eval/both
  beamjudge merge eval/2026-11-* --output eval/november"""
# For reports of faults in beamjudge itself: a set variable shows the traceback behind the one line.
TRACEBACK = "BEAMJUDGE_TRACEBACK"
USAGE_EXIT, FAILED_EXIT, INTERRUPTED_EXIT = 2, 1, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; every error is one line on standard error."""
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal's encoding does not have must not cost a run its exit code.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        return _run(list(sys.argv[1:] if argv is None else argv))
    except UsageError as error:
        print(f"beamjudge: {printable(str(error))}", file=sys.stderr)
        return USAGE_EXIT
    except RunFailed as error:
        print(f"beamjudge: the run failed: {printable(str(error))}", file=sys.stderr)
        if os.environ.get(TRACEBACK):
            traceback.print_exception(error)
        return FAILED_EXIT
    except KeyboardInterrupt:
        print("beamjudge: interrupted; run the same command again to start over", file=sys.stderr)
        return INTERRUPTED_EXIT
    except BrokenPipeError:
        # The reader of our output has gone (`| head`), which is no failure; Python would complain once more at exit.
        sys.stderr.close()
        return 0


def _run(argv: list[str]) -> int:
    parser = _parser()
    if not argv:
        parser.print_help()
        return USAGE_EXIT
    arguments, rest = parser.parse_known_args(argv)
    if rest and not arguments.takes_runner_flags:
        raise unknown_flag(rest[0], arguments.parser.flags)
    # Beam warns on import about clouds whose extras are not installed, which is no news to who did not ask for them.
    logging.getLogger().addFilter(_is_no_missing_extra)
    code: int = arguments.run(arguments, rest)
    return code


def _is_no_missing_extra(record: logging.LogRecord) -> bool:
    return "apitools not found" not in record.getMessage()


def _evaluate(arguments: argparse.Namespace, runner_flags: list[str]) -> int:
    from beamjudge.pipelines.launch import launch

    return launch(arguments, runner_flags)


def _check(arguments: argparse.Namespace, _: list[str]) -> int:
    from beamjudge.pipelines.check import check

    return check(arguments)


def _merge(arguments: argparse.Namespace, _: list[str]) -> int:
    from beamjudge.pipelines.merge import merge

    return merge(arguments)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="beamjudge", description=_DESCRIPTION, epilog=_EXAMPLES)
    parser.add_argument("--version", action="version", version=f"beamjudge {beamjudge.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    evaluate = _command(commands, "evaluate", "judge and measure a log", EXAMPLES, _evaluate, takes_runner_flags=True)
    add_evaluate_flags(evaluate)
    evaluate.add_argument("--estimate", action="store_true", help="print calls, tokens and cost per judge; ask nothing")
    check = _command(
        commands, "check", "see what a log looks like and what can be measured on it", _CHECK_EXAMPLES, _check
    )
    check.add_argument(
        "--rows", type=integer, default=1000, metavar="N", help="how many records to look at (default 1000)"
    )
    check.add_argument(
        "--injection", action="store_true", help="send rows that ask the judge for a yes, and count its slips"
    )
    add_evaluate_flags(check)
    merge = _command(commands, "merge", "add up the numbers of runs over different files", _MERGE_EXAMPLES, _merge)
    merge.add_argument("runs", nargs="+", metavar="RUN", help="the output folders of complete runs")
    merge.add_argument("--output", required=True, metavar="FOLDER", help="the folder for the merged numbers")
    merge.add_argument("--overwrite", action="store_true", help="replace the results of another run in that folder")
    merge.add_argument("--allow_different_judges", action="store_true", help="merge verdicts of different judges")
    merge.add_argument(
        "--allow_different_metrics",
        action="store_true",
        help="merge metrics that were computed with other releases or data of their libraries",
    )
    merge.add_argument("--quiet", action="store_true", help="no summary, only errors")
    judges = commands.add_parser("judges", help="the built-in judges", epilog=_EXAMPLES)
    actions = judges.add_subparsers(dest="action", required=True, metavar="list|show")
    _command(actions, "list", "name, stage and question of every judge", _EXAMPLES, _list_judges)
    show = _command(actions, "show", "a judge's needs and its prompt", _EXAMPLES, _show_judge)
    show.add_argument("name", metavar="NAME", choices=[spec.name for spec in BUILT_IN_JUDGES])
    verdicts = commands.add_parser("verdicts", help="the verdicts that were paid for", epilog=VERDICTS_EXAMPLES)
    actions = verdicts.add_subparsers(dest="action", required=True, metavar="stats|compact|prune")
    add_verdicts_commands(actions, _command)
    return parser


def _command(
    commands: "argparse._SubParsersAction[Parser]",
    name: str,
    what: str,
    examples: str,
    run: Callable[[argparse.Namespace, list[str]], int],
    takes_runner_flags: bool = False,
) -> Parser:
    """A command with its help and examples; `run` gets what was parsed and what was left over."""
    parser = commands.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.", epilog=examples)
    parser.set_defaults(run=run, takes_runner_flags=takes_runner_flags, parser=parser)
    return parser


def _list_judges(_: argparse.Namespace, __: list[str]) -> int:
    width = max(len(spec.name) for spec in BUILT_IN_JUDGES)
    for spec in BUILT_IN_JUDGES:
        mark = "" if spec.by_default else " (only when named)"
        print(f"{spec.name:<{width}}  {spec.stage:<9}  {spec.asks}{mark}")
    return 0


def _show_judge(arguments: argparse.Namespace, _: list[str]) -> int:
    from beamjudge.prompts import load_prompt

    spec = next(spec for spec in BUILT_IN_JUDGES if spec.name == arguments.name)
    print(f"{spec.name} (version {spec.version}, {spec.stage}): {spec.asks}")
    print(f"needs: request, {', '.join(sorted(need.value for need in spec.needs))}")
    print(f"columns: {spec.column}/...\n")
    print(load_prompt(spec.name), end="")
    return 0
