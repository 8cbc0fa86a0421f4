"""JSON text into values, of records and of what is logged inside their strings: strict, with every change noted."""

import gc
import json
import re
from collections.abc import Callable, Collection, Iterable
from typing import Concatenate, NamedTuple, NoReturn, ParamSpec, TypeGuard, TypeVar

import numpy as np

from beamjudge.schemas.json_value import Json

MAX_DEPTH = 200
# Python converts no longer integers from or to text unless told; canonical JSON has to be able to write them.
MAX_INT_DIGITS = 4300
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_DEPTH_BLOCK = 1 << 20
_DEPTH_STEPS = np.zeros(256, dtype=np.int8)
_DEPTH_STEPS[[ord("{"), ord("[")]] = 1
_DEPTH_STEPS[[ord("}"), ord("]")]] = -1
_NEITHER_BRACKET_NOR_QUOTE = bytes(byte for byte in range(256) if byte not in b'{}[]"')
_LONG_TEXT = 1 << 20

_V = TypeVar("_V")
_T = TypeVar("_T")
_P = ParamSpec("_P")


class DecodedJson(NamedTuple):
    """A decoded value and the note codes of what had to be changed in it."""

    value: Json
    notes: tuple[str, ...]


class TooDeep(ValueError):
    """JSON text that nests deeper than 200 levels."""


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


def decode_json(text: str, has_surrogates: bool = False) -> DecodedJson:
    """The value that `text` is. Of equal keys the last one wins.

    NaN and infinities become null (`non_finite_to_null`). A float beyond a double's range and an integer of more than
    4300 digits stay as the string that was written (`number_to_string`). Unpaired surrogates become U+FFFD
    (`surrogates_replaced`); `has_surrogates` says that the text itself holds some.

    Raises TooDeep, json.JSONDecodeError, and RecursionError where a caller's stack leaves less than 200 levels.
    """
    # Few texts have so many brackets at all, and counting is much cheaper than looking at where they stand.
    if len(text) > MAX_DEPTH and text.count("{") + text.count("[") > MAX_DEPTH and _is_too_deep(text):
        raise TooDeep(f"nested deeper than {MAX_DEPTH} levels")
    return without_collections(_decode, text, has_surrogates)


def _decode(text: str, has_surrogates: bool) -> DecodedJson:
    noted: tuple[str, ...] = ()
    try:
        value = _scanned(text)
    except json.JSONDecodeError:
        raise
    except (_UnusualNumber, ValueError):  # the latter is Python's limit on digits
        value, noted = _decode_noted(text)
    # One character is found much faster than two, and many texts have no escape at all.
    if has_surrogates or ("\\" in text and _ESCAPED_SURROGATE.search(text) and _holds_surrogates(value)):
        notes = [*noted]
        value = replace_surrogates(value, notes)
        noted = tuple(dict.fromkeys(notes))
    return DecodedJson(value, noted)


def decode_container(text: str) -> DecodedJson | None:
    """The JSON object or list that `text` is, as `decode_json` reads it; null when it is something else."""
    if text[:1] not in ("{", "[") and text.lstrip(" \t\r\n")[:1] not in ("{", "["):
        return None
    try:
        return decode_json(text)
    except (ValueError, RecursionError):
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
    if number - number:  # inf - inf is NaN, which is true
        raise _UnusualNumber
    return number


# Made once, since json.loads would make a decoder for each call; these hooks note nothing, so that they have no state.
_PLAIN = json.JSONDecoder(parse_float=_finite, parse_constant=_stop_at_constant)


# The decoder's own function, without its search for blanks around a value, which most texts do not have.
_SCAN: Callable[[str, int], tuple[Json, int]] = _PLAIN.scan_once  # type: ignore[attr-defined]


def _scanned(text: str) -> Json:
    try:
        value, end = _SCAN(text, 0)
    except StopIteration:
        end = -1
    return value if end == len(text) else _PLAIN.decode(text)


def _decode_noted(text: str) -> DecodedJson:
    """The value where numbers have to be changed, which Python or JSON cannot hold."""
    notes: list[str] = []

    def constant(_name: str) -> None:
        notes.append("non_finite_to_null")

    def real(literal: str) -> float | str:
        number = float(literal)
        if not number - number:
            return number
        notes.append("number_to_string")
        return literal

    def integer(literal: str) -> int | str:
        if len(literal.lstrip("-")) <= MAX_INT_DIGITS:
            return int(literal)
        notes.append("number_to_string")
        return literal

    decoder = json.JSONDecoder(parse_int=integer, parse_float=real, parse_constant=constant)
    return DecodedJson(decoder.decode(text), tuple(dict.fromkeys(notes)))


def _is_too_deep(text: str) -> bool:
    """Whether brackets outside strings open more than MAX_DEPTH levels: one pass in blocks, no recursion."""
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
