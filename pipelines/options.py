"""Flags and config file -> one validated RunConfig. Everything wrong in them ends here, as one line."""

import argparse
import datetime
import difflib
import json
import os
import re
import zoneinfo
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from beamjudge.pipelines.flags import FLAGS, RUNNERS
from beamjudge.schemas.errors import UsageError
from beamjudge.schemas.rules import Rule
from beamjudge.schemas.run_config import (
    APP_ENDPOINT,
    LEXICAL,
    VARIABLE,
    Endpoint,
    Gates,
    JudgeSettings,
    Price,
    RunConfig,
)

_FILE_ONLY_KEYS = ("endpoints", "judge_settings", "rules", "gates")
# Where the validator's own words would not help who wrote the value.
_EXPECTED = {
    "dict_type": "names with their values",
    "model_type": "keys with their values",
    "float_parsing": "a number",
    "float_type": "a number",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "string_type": "a text",
    "list_type": "a list",
    "bool_type": "true or false",
}
# Lists of which a file may give a single value, with the type of that.
_LISTS = {"input": str, "judges": str, "metrics": str, "retrieval_k": int, "slice_by": str}


@dataclass(frozen=True)
class Launch:
    """How a run is started: its configuration and what is none of the tables' business."""

    config: RunConfig
    runner: str
    runner_flags: tuple[str, ...]
    quiet: bool
    lexical_by_default: bool


def read_config(arguments: argparse.Namespace, runner_flags: Sequence[str], needs_output: bool = True) -> Launch:
    """The configuration behind the parsed flags and the file that `--config` names.

    A command that writes nothing (`needs_output` false) takes the same ones, but for the output.

    Raises UsageError with one line that names the flag or key, what was given, and what is expected.
    """
    path: str | None = arguments.config
    values = _read_file(path) if path else {}
    if path:
        _check_file_keys(path, values)
    _lay_flags_over(values, vars(arguments))
    if not needs_output:
        values.setdefault("output", ".")
    for required in ("input", "output"):
        given = values.get(required)
        if not given or (isinstance(given, list) and not all(given)):
            raise UsageError(
                f"--{required} is missing; expected --{required} {'PATTERN' if required == 'input' else 'FOLDER'}"
            )
    lexical_by_default = _choose_endpoint(path, values)
    _expand_variables(values["endpoints"])
    try:
        config = RunConfig.model_validate(values)
    except ValidationError as error:
        raise UsageError(_first_error(error, path, vars(arguments))) from None
    config = _fill_run_date(_with_processes(config, arguments.runner, runner_flags))
    for option in arguments.runner_option:
        if not re.fullmatch(r"[A-Za-z]\w*=.*", option):
            raise UsageError(f"--runner_option: got {option!r}; expected NAME=VALUE, without dashes")
    options = [f"--{option}" for option in arguments.runner_option]
    return Launch(config, arguments.runner, (*runner_flags, *options), arguments.quiet, lexical_by_default)


def _read_file(path: str) -> dict[str, Any]:
    if Path(path).exists() and not Path(path).is_file():
        raise UsageError(f"--config: {path!r} is not a file; expected a YAML file")
    try:
        text = Path(path).read_text(encoding="utf-8")
        twice = _key_given_twice(yaml.compose(text, Loader=yaml.SafeLoader))
        loaded = yaml.safe_load(text)
        json.dumps(loaded, ensure_ascii=False, default=str).encode("utf-8")
    except OSError as error:
        raise UsageError(f"--config: cannot read {path!r} ({error.strerror}); expected a YAML file") from None
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:  # dates that are none, half characters
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise UsageError(
            f"--config: {path!r} is not valid YAML{place}; expected keys and values such as `output: eval/`"
        ) from None
    if twice is not None:
        raise UsageError(
            f"{path}: the key {twice.value!r} is given twice, again at line {twice.start_mark.line + 1}; "
            "expected each key once"
        )
    if isinstance(loaded, dict) and isinstance(loaded.get("run_date"), datetime.date):
        loaded["run_date"] = loaded["run_date"].isoformat()
    if not isinstance(loaded, dict):
        raise UsageError(f"--config: {path!r} holds {_kind(loaded)}; expected keys and values such as `output: eval/`")
    return loaded


def _key_given_twice(root: yaml.Node | None) -> yaml.ScalarNode | None:
    """The second of two equal keys of one mapping: YAML's reader would drop the first unseen."""
    waiting, done = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in done:  # aliases stand for the same node
            continue
        done.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            seen = set()
            for key, value in node.value:
                if isinstance(key, yaml.ScalarNode):
                    if (key.tag, key.value) in seen and key.tag != "tag:yaml.org,2002:merge":
                        return key
                    seen.add((key.tag, key.value))
                waiting.append(value)
    return None


def _check_file_keys(path: str, values: Mapping[str, Any]) -> None:
    flat = {flag.name for flag in FLAGS if len(flag.path) == 1}
    gates = {flag.name for flag in FLAGS if flag.path[0] == "gates"}
    for key in values:
        if key in gates:
            raise UsageError(f"{path}: {key} stands at the top level; expected it under gates:")
        if key not in flat and key not in _FILE_ONLY_KEYS:
            near = difflib.get_close_matches(str(key), [*flat, *_FILE_ONLY_KEYS], n=1, cutoff=0.5)
            hint = (
                f"did you mean {near[0]}?"
                if near
                else f"expected one of {', '.join(sorted({*flat, *_FILE_ONLY_KEYS}))}"
            )
            raise UsageError(f"{path}: unknown key {key!r}; {hint}")


def _lay_flags_over(values: dict[str, Any], arguments: Mapping[str, Any]) -> None:
    for name, kind in _LISTS.items():
        # A single value is as good as a list of one in a file that people write by hand.
        if isinstance(values.get(name), kind):
            values[name] = [values[name]]
    for flag in FLAGS:
        if flag.name not in arguments:
            continue
        given = dict(arguments[flag.name]) if flag.repeats else arguments[flag.name]
        target = values
        for key in flag.path[:-1]:
            target = target.setdefault(key, {})
            if not isinstance(target, dict):
                raise UsageError(f"{flag.path[0]}: got {_kind(target)} in the config file; expected keys and values")
        if flag.repeats:
            already = target.get(flag.path[-1], {})
            if not isinstance(already, dict):
                raise UsageError(
                    f"{'.'.join(flag.path)}: got {_kind(already)} in the config file; expected NAME: NUMBER"
                )
            given = {**already, **given}
        target[flag.path[-1]] = given


def _choose_endpoint(path: str | None, values: dict[str, Any]) -> bool:
    """Fill in the lexical judge for a run by flags alone; a file has to name its model. True if it was, and judges."""
    endpoints = values.setdefault("endpoints", {})
    if not isinstance(endpoints, dict):
        raise UsageError(f"endpoints: got {_kind(endpoints)}; expected names with their settings")
    app = endpoints.get(APP_ENDPOINT)
    if isinstance(app, dict) and "model" not in app:
        raise UsageError(f"endpoints.{APP_ENDPOINT} is given without a model; add --app_model NAME")
    default = endpoints.setdefault("default", {})
    if isinstance(default, dict) and "model" not in default:
        if "base_url" in default or "api_key" in default:
            given = "--judge_base_url or base_url" if "base_url" in default else "--judge_api_key or api_key"
            raise UsageError(f"{given} is given without a model; add --judge_model NAME")
        if path and _names_a_judge(values):
            raise UsageError(
                f"{path}: no judge model; add `endpoints: {{default: {{model: NAME}}}}` (`lexical` for offline rules), "
                "or `judges: [none]`"
            )
        default["model"] = LEXICAL
        return _names_a_judge(values)
    return False


def _names_a_judge(values: Mapping[str, Any]) -> bool:
    """Whether any judge runs, which without `judges` is so; document_recall is none, though it may be named there."""
    judges = values.get("judges")
    return not isinstance(judges, list) or any(name not in ("none", "document_recall") for name in judges)


def _expand_variables(endpoints: Mapping[str, Any]) -> None:
    """Replace ${NAME} everywhere in the endpoints, but for headers: they may hold secrets, and are filled in later."""
    for name, endpoint in endpoints.items():
        if isinstance(endpoint, dict):
            for key, value in endpoint.items():
                filled = _filled_in(value, f"endpoints.{name}.{key}")
                if key != "headers":
                    endpoint[key] = filled


def _filled_in(value: Any, place: str) -> Any:
    """`value` with its variables from the environment. Raises UsageError for one that is not set."""
    if isinstance(value, str):
        return VARIABLE.sub(partial(_variable, place), value)
    if isinstance(value, list):
        return [_filled_in(item, place) for item in value]
    if isinstance(value, dict):
        return {key: _filled_in(item, place) for key, item in value.items()}
    return value


def _variable(place: str, found: re.Match[str]) -> str:
    value = os.environ.get(found[1])
    if value is None:
        raise UsageError(f"{place}: {found[0]} is not set; set the environment variable {found[1]}")
    return value


def _first_error(error: ValidationError, path: str | None, arguments: Mapping[str, Any]) -> str:
    """One line for the first of pydantic's errors: where it stands, what was given, what is expected."""
    errors = error.errors()
    # Of a value that may be a list or an object, the error that lies deepest is about the one that was meant.
    meant = [
        each for each in errors if _place(each["loc"])[: len(_place(errors[0]["loc"]))] == _place(errors[0]["loc"])
    ]
    first = max(meant, key=_depth)
    place = _place(first["loc"])
    flag = next(
        (flag for flag in FLAGS if flag.path == tuple(place[: len(flag.path)]) and flag.name in arguments), None
    )
    where = f"--{flag.name}" if flag else ".".join(place)
    prefix = f"{path}: " if path and not flag else ""
    if first["type"] == "value_error":
        return f"{prefix}{where + ': ' if where else ''}{first['ctx']['error']}"
    if first["type"] == "extra_forbidden":
        return f"{prefix}{where}: {_unknown_key(place)}"
    if first["type"] == "missing":
        return f"{prefix}{where}: is missing; add it"
    expected = _EXPECTED.get(first["type"]) or first["msg"].removeprefix("Input should be ")
    given = first["input"]
    shown = repr(given) if isinstance(given, str | int | float | bool) and place[-1] != "api_key" else _kind(given)
    return f"{prefix}{where}: got {shown}; expected {expected}"


def _place(location: Sequence[str | int]) -> list[str]:
    """The keys of an error's place, without the types of a union that pydantic puts between them."""
    return [str(part) for part in location if not str(part).endswith("]")]


def _depth(error: Mapping[str, Any]) -> int:
    return len(_place(error["loc"]))


def _unknown_key(place: Sequence[str]) -> str:
    """What may stand in the place of a key that is not known."""
    models: dict[str, type[BaseModel]] = {
        "gates": Gates,
        "endpoints": Endpoint,
        "judge_settings": JudgeSettings,
        "rules": Rule,
    }
    model = Price if "price_per_million" in place[:-1] else models.get(place[0], RunConfig)
    near = difflib.get_close_matches(place[-1], model.model_fields, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"unknown key; expected one of {', '.join(model.model_fields)}{hint}"


def _kind(value: Any) -> str:
    kinds = {
        datetime.date: "a date",
        datetime.datetime: "a date",
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        type(None): "nothing",
    }
    return kinds.get(type(value), "a number")


def _with_processes(config: RunConfig, runner: str, runner_flags: Sequence[str]) -> RunConfig:
    """Settle how many worker processes share an endpoint's limits; DirectRunner's own options tell it."""
    if config.judge_processes is not None:
        return config
    if runner == RUNNERS[0]:
        given = [flag for part in runner_flags for flag in part.split("=")]
        workers = given[given.index("--direct_num_workers") + 1] if "--direct_num_workers" in given[:-1] else "1"
        processes = int(workers) if "multi_processing" in given and workers.isdigit() else 1
        # Beam takes 0 for as many as there are processors.
        return config.model_copy(update={"judge_processes": processes or os.cpu_count() or 1})
    for name, endpoint in config.endpoints.items():
        if endpoint.requests_per_minute or endpoint.tokens_per_minute:
            raise UsageError(
                f"endpoints.{name} has a limit per minute, which the worker processes of {runner} share; "
                "add --judge_processes N"
            )
    return config


def _fill_run_date(config: RunConfig) -> RunConfig:
    """Put the run date into input and output; `today` and `yesterday` are days of `time_zone`."""
    try:
        zone = zoneinfo.ZoneInfo(config.time_zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise UsageError(
            f"--time_zone: got {config.time_zone!r}; expected a zone's name such as Europe/Berlin"
        ) from None
    places = [*config.input, config.output]
    if config.run_date is None:
        if any("{run_date}" in place for place in places):
            raise UsageError("{run_date} stands in input or output; add --run_date 2026-11-29, today or yesterday")
        return config
    today = datetime.datetime.now(zone).date()
    days = {"today": today, "yesterday": today - datetime.timedelta(days=1)}
    try:
        day = days.get(config.run_date) or datetime.date.fromisoformat(config.run_date)
    except ValueError:
        raise UsageError(
            f"--run_date: got {config.run_date!r}; expected a day such as 2026-11-29, today or yesterday"
        ) from None
    date = day.isoformat()
    return config.model_copy(
        update={
            "run_date": date,
            "input": [pattern.replace("{run_date}", date) for pattern in config.input],
            "output": config.output.replace("{run_date}", date),
        }
    )
