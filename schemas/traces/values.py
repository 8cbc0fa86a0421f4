"""Values of spans as tracers write them: JSON inside strings, wrapped arguments, times in every unit."""

from collections.abc import Callable

from beamjudge.schemas.json_text import as_list, decode_container, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.requests import is_known_request
from beamjudge.schemas.responses import is_known_response
from beamjudge.schemas.timestamps import read_timestamp

_LITERALS: dict[str, Json] = {"null": None, "true": True, "false": False, "": None}
_NANO_DIGITS = 18  # since 2001; fewer digits are no nanoseconds since the epoch


def decoded(value: Json) -> Json:
    """An attribute's value: its JSON text decoded; text that is no JSON is itself."""
    if not isinstance(value, str):
        return value
    if value[:1] == '"' and value[-1:] == '"' and value[1:-1].isalnum():  # a word, such as a span's type
        return value[1:-1]
    if (container := decode_container(value)) is not None:
        return container.value
    text = value.strip()
    if text in _LITERALS:
        return _LITERALS[text]
    if text[:1] == '"' and (quoted := decode_container(f"[{text}]")) is not None:
        inner = as_list(quoted.value)
        return inner[0] if len(inner) == 1 else value
    return value


def unwrapped_request(value: Json) -> Json:
    """The inputs of a traced function are an object of its arguments; an only argument is the request itself."""
    return _unwrapped(_argument(value), is_known_request)


def unwrapped_response(value: Json) -> Json:
    """The outputs of a traced function; an object of one field is that field."""
    return _unwrapped(_argument(value), is_known_response)


def _argument(value: Json) -> Json:
    """What a tracer's own envelope holds: `{"args", "kwargs"}` with one argument or with named ones alone (Langfuse's
    `@observe`, OpenLLMetry's decorators), and OpenLLMetry's inputs and outputs of LangChain with what it adds to them.
    """
    if not is_object(value) or "kwargs" not in value:
        return value
    for name, beside in _ENVELOPES.items():
        if name in value and value.keys() <= beside:
            return value[name]
    if value.keys() != {"args", "kwargs"}:
        return value
    args, named = value["args"], value["kwargs"]
    if not is_list(args):
        return value
    if not named:
        return args[0] if len(args) == 1 else value
    return value if args else named


_ENVELOPES = {
    "inputs": frozenset({"inputs", "tags", "metadata", "kwargs"}),
    "outputs": frozenset({"outputs", "kwargs"}),
}


def _unwrapped(value: Json, is_known: Callable[[Json], bool]) -> Json:
    """Known shapes, and objects of more fields, stay as they are."""
    while is_object(value) and len(value) == 1 and not is_known(value):
        only = next(iter(value.values()))
        if not isinstance(only, (str, list, dict)):
            break
        value = only
    return value


def whole_nanoseconds(*values: Json) -> int | None:
    """The first of the values that is a count of nanoseconds, as a number or as digits."""
    for logged in values:
        is_digits = isinstance(logged, str) and logged.isascii() and logged.isdigit() and len(logged) < 20
        value = int(str(logged)) if is_digits else logged
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63:
            return value
    return None


def time_nanoseconds(*values: Json) -> int | None:
    """The first of the values that is a time, in nanoseconds since the epoch.

    Nanoseconds keep every digit; other units and ISO 8601 are read as timestamps are; `[seconds, nanoseconds]` is how
    JavaScript's tracers write theirs.
    """
    for value in values:
        if value is None:
            continue
        if isinstance(value, list) and len(value) == 2:
            seconds, rest = whole_nanoseconds(value[0]), whole_nanoseconds(value[1])
            if seconds is not None and rest is not None and seconds < 10**10:
                return seconds * 10**9 + rest
        exact = whole_nanoseconds(value)
        if exact is not None and exact >= 10**_NANO_DIGITS:
            return exact
        micros = read_timestamp(value)
        if micros is not None and micros >= 0:
            return micros * 1000
    return None


def text_of(value: Json) -> str | None:
    """An id or a name as text; null where there is none."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None
