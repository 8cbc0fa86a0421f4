"""JSON text into values, of records and of what is logged inside their strings: strict, with every change noted."""

import gc
import json
import math
import re
from collections.abc import Callable, Collection, Iterable
from typing import Concatenate, NamedTuple, NoReturn, ParamSpec, TypeGuard, TypeVar

import msgspec
import numpy as np

from beamjudge.schemas.json_value import Json, replace_surrogates

MAX_DEPTH = 200
_TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"
# Python converts no longer integers from or to text unless told; canonical JSON has to be able to write them.
MAX_INT_DIGITS = 4300
_LONG_TEXT = 1 << 20
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
# Any escape: a pair of surrogates, one alone (the group), or another, so that `\\ud800` holds none.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
_DEPTH_BLOCK = 1 << 20
_DEPTH_STEPS = np.zeros(256, dtype=np.int8)
_DEPTH_STEPS[[ord("{"), ord("[")]] = 1
_DEPTH_STEPS[[ord("}"), ord("]")]] = -1
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
    """JSON text that nests deeper than 200 levels, or than the interpreter's stack has room for."""


def is_object(value: Json) -> TypeGuard[dict[str, Json]]:
    return isinstance(value, dict)


def is_list(value: Json) -> TypeGuard[list[Json]]:
    return isinstance(value, list)


def is_container(value: Json) -> bool:
    return isinstance(value, (dict, list))


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

    Raises TooDeep, also for text that is broken besides, and json.JSONDecodeError.
    """
    return _decode(text) if len(text) < _LONG_TEXT else without_collections(_decode, text)


def _decode(text: str) -> DecodedJson:
    try:
        value: Json = _DECODE(text)
    except UnicodeEncodeError:  # the text of a UTF-16 file may hold unpaired surrogates as they are
        notes: list[str] = []
        value, noted = _decode(str(replace_surrogates(text, notes)))
        return DecodedJson(value, tuple(dict.fromkeys((*noted, *notes))))
    except (msgspec.DecodeError, RecursionError):
        if _nests_too_deep(text):
            raise TooDeep(_TOO_DEEP) from None
        try:
            return _decode_unusual(text)
        except RecursionError:
            raise TooDeep("nested deeper than the interpreter's stack allows") from None
    if _goes_too_deep(value, text):
        raise TooDeep(_TOO_DEEP)
    return DecodedJson(value, ())


def decode_object(text: str) -> dict[str, Json] | None:
    """The object that a text is; null for other values, and where `decode_json` refuses or changes something, so that
    it is to be asked.
    """
    try:
        value: Json = _DECODE(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return value if isinstance(value, dict) and not _goes_too_deep(value, text) else None


def _goes_too_deep(value: Json, text: str) -> bool:
    """Whether a value nests deeper than MAX_DEPTH levels, told from itself or from its text."""
    if len(text) <= 2 * MAX_DEPTH:
        return False
    # A short value is gone through in a quarter of the time that its text takes, a long one in several times its.
    return _is_too_deep(value) if len(text) < _LONG_TEXT else _nests_too_deep(text)


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


class _UnusualNumber(Exception):
    """A number that is not read as it stands: the text is decoded again, with notes."""


def _stop_at_constant(_name: str) -> NoReturn:
    raise _UnusualNumber


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise _UnusualNumber
    return number


# These hooks note nothing, so that they have no state.
_PLAIN = json.JSONDecoder(parse_float=_finite, parse_constant=_stop_at_constant)


def _decode_unusual(text: str) -> DecodedJson:
    """The value where something has to be changed in it, and the error where there is none: Python's own decoder."""
    notes: list[str] = []
    whole = _ESCAPE.sub(_whole_character, text) if _ESCAPED_SURROGATE.search(text) else text
    try:
        value = _PLAIN.decode(whole)
    except json.JSONDecodeError:
        raise
    except (_UnusualNumber, ValueError):  # the latter is Python's limit on digits
        value = _noting_decoder(notes).decode(whole)
    if whole != text:
        notes.append("surrogates_replaced")
    return DecodedJson(value, tuple(dict.fromkeys(notes)))


def _whole_character(escape: re.Match[str]) -> str:
    """An escape as it is, but for half a character; as long as before, so that positions in errors are right."""
    return "\\ufffd" if escape[1] else escape[0]


def _noting_decoder(notes: list[str]) -> json.JSONDecoder:
    """Reads every number, also those that Python or JSON cannot hold, and notes what it changes."""

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

    return json.JSONDecoder(parse_int=integer, parse_float=real, parse_constant=constant)


def _is_too_deep(value: Json) -> bool:
    """Whether a value nests deeper than MAX_DEPTH levels: level by level, without recursion."""
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


def _nests_too_deep(text: str) -> bool:
    """Whether brackets outside strings open more than MAX_DEPTH levels: one pass in blocks, no recursion."""
    # Few texts have so many brackets at all, and counting is much cheaper than looking at where they stand.
    if text.count("{") + text.count("[") <= MAX_DEPTH:
        return False
    # Without escaped backslashes and then escaped quotes, every quote opens or closes a string. Blanks in their place
    # are put there in half the time of taking them out.
    data = text.encode("utf-8", "surrogatepass")
    if b"\\" in data:
        data = data.replace(b"\\\\", b"  ").replace(b'\\"', b"  ")
    data = data.translate(None, _NEITHER_BRACKET_NOR_QUOTE)
    depth = quotes = 0
    for start in range(0, len(data), _DEPTH_BLOCK):
        block = np.frombuffer(data, np.uint8, min(_DEPTH_BLOCK, len(data) - start), start)
        quote_counts = np.cumsum(block == ord('"'), dtype=np.int32) + quotes
        depths = np.cumsum(_DEPTH_STEPS[block] * (quote_counts & 1 == 0), dtype=np.int32) + depth
        if depths.max() > MAX_DEPTH:
            return True
        depth, quotes = int(depths[-1]), int(quote_counts[-1]) % 2
    return False
