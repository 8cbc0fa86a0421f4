"""JSON text into values, of records and of what is logged inside their strings: strict, with every change noted."""

import gc
import json
import math
import re
from collections.abc import Callable, Collection, Iterable
from typing import Concatenate, NamedTuple, ParamSpec, TypeGuard, TypeVar

import msgspec

from beamjudge.schemas.json_value import Json

MAX_DEPTH = 200
# Python converts no longer integers from or to text unless told; canonical JSON has to be able to write them.
MAX_INT_DIGITS = 4300
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONG_TEXT = 1 << 20
_FLAT = 20
_NEITHER_BRACKET_NOR_QUOTE = bytes(byte for byte in range(256) if byte not in b'{}[]"')

# Strict, exact for integers of any length, and three times as fast as Python's own; what it refuses, Python's reads.
_DECODE = msgspec.json.Decoder().decode

_V = TypeVar("_V")
_T = TypeVar("_T")
_P = ParamSpec("_P")


class DecodedJson(NamedTuple):
    """A decoded value and the note codes of what had to be changed in it."""

    value: Json
    notes: tuple[str, ...]


class TooDeep(ValueError):
    """JSON text that nests deeper than 200 levels."""

    def __init__(self) -> None:
        super().__init__(f"nested deeper than {MAX_DEPTH} levels")


def is_object(value: Json) -> TypeGuard[dict[str, Json]]:
    return isinstance(value, dict)


def is_list(value: Json) -> TypeGuard[list[Json]]:
    return isinstance(value, list)


def as_list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def has_any(value: dict[str, Json], names: Collection[str]) -> bool:
    """Whether an object has any of these fields; a null field counts as absent."""
    return any(value.get(name) is not None for name in names)


def first_of(value: dict[str, Json], names: Iterable[str]) -> Json:
    """The first of an object's fields that is not null."""
    for name in names:
        if (found := value.get(name)) is not None:
            return found
    return None


def is_absent(value: Json) -> bool:
    """Null, an empty list, or an object of nothing but nulls (what a Parquet struct is where nothing was logged)."""
    if is_object(value):
        return all(item is None for item in value.values())
    return value is None or value == []


def decode_json(text: str) -> DecodedJson:
    """The value that `text` is. Of equal keys the last one wins.

    NaN and infinities become null (`non_finite_to_null`). A float beyond a double's range and an integer of more than
    4300 digits stay as the string that was written (`number_to_string`). Unpaired surrogates become U+FFFD
    (`surrogates_replaced`).

    Raises TooDeep and json.JSONDecodeError.
    """
    try:
        # Most texts are short, and a call more takes as long as many of them.
        value = _DECODE(text) if len(text) < _LONG_TEXT else without_collections(_DECODE, text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return without_collections(_decode_noted, text)
    if len(text) > 2 * MAX_DEPTH and _is_too_deep(value, text):
        raise TooDeep
    return DecodedJson(value, ())


def decode_container(text: str) -> DecodedJson | None:
    """The JSON object or list that `text` is, as `decode_json` reads it; null when it is something else."""
    if text[:1] not in ("{", "[") and text.lstrip(" \t\r\n")[:1] not in ("{", "["):
        return None
    try:
        return decode_json(text)
    except ValueError:
        return None


def without_collections(read: Callable[Concatenate[_V, _P], _T], value: _V, *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """`read(value, ...)`, with the collection of garbage paused where `value` is a long text.

    A value has no cycles, and neither has its normal form, but their many new objects make Python look for some again
    and again, which takes up to three times as long as decoding itself. Threads that do this at once leave the
    collection on.
    """
    if not (isinstance(value, str) and len(value) >= _LONG_TEXT and gc.isenabled()):
        return read(value, *args, **kwargs)
    gc.disable()
    try:
        return read(value, *args, **kwargs)
    finally:
        gc.enable()


def _decode_noted(text: str) -> DecodedJson:
    """The value where something has to be changed in it, and the error where there is none: Python's own decoder."""
    notes: list[str] = []

    def constant(_name: str) -> None:
        notes.append("non_finite_to_null")

    def real(literal: str) -> float | str:
        number = float(literal)
        if math.isfinite(number):
            return number
        notes.append("number_to_string")
        return literal

    def integer(literal: str) -> int | str:
        if len(literal.lstrip("-")) <= MAX_INT_DIGITS:
            return int(literal)
        notes.append("number_to_string")
        return literal

    try:
        value = json.JSONDecoder(parse_int=integer, parse_float=real, parse_constant=constant).decode(text)
    except RecursionError:
        raise TooDeep from None
    if _is_too_deep(value, text):
        raise TooDeep
    if _holds_surrogates(value):
        value = replace_surrogates(value, notes)
    return DecodedJson(value, tuple(dict.fromkeys(notes)))


def _is_too_deep(value: Json, text: str) -> bool:
    """Whether the value of `text` nests deeper than MAX_DEPTH levels."""
    if len(text) >= _LONG_TEXT and _is_flat(text):
        return False
    level = [value] if type(value) is dict or type(value) is list else []
    for _ in range(MAX_DEPTH):
        level = [
            item
            for container in level
            for item in (container.values() if type(container) is dict else container)
            if type(item) is dict or type(item) is list
        ]
        if not level:
            return False
    return True


def _is_flat(text: str) -> bool:
    """Whether JSON text certainly nests no deeper than twice _FLAT levels. A long text is told so several times as fast
    as its many small objects are gone through.

    Strings vanish first, since no bracket stands between their quotes, and then pairs of brackets from the inside.
    Strings with brackets do not, nor does what is around them: of such a text nothing is certain.
    """
    marks = text.encode("utf-8", "surrogatepass")
    if b"\\" in marks:
        marks = marks.replace(b"\\\\", b"").replace(b'\\"', b"")
    marks = marks.translate(None, _NEITHER_BRACKET_NOR_QUOTE).replace(b'""', b"")
    for _ in range(_FLAT):
        marks = marks.replace(b"{}", b"").replace(b"[]", b"")
        if not marks:
            return True
    return False


def _holds_surrogates(value: Json) -> bool:
    """Whether any are left: an escaped pair is one character after decoding."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def replace_surrogates(value: Json, notes: list[str]) -> Json:
    """`value` with U+FFFD for every unpaired surrogate, in keys too; adds a note where there was one."""
    if isinstance(value, str):
        replaced, count = _SURROGATE.subn("\ufffd", value)
        if count:
            notes.append("surrogates_replaced")
        return replaced
    if isinstance(value, list):
        return [replace_surrogates(item, notes) for item in value]
    if isinstance(value, dict):
        return {str(replace_surrogates(key, notes)): replace_surrogates(item, notes) for key, item in value.items()}
    return value
