"""One JSON text into one record: strict JSON, big numbers kept, depth limited, simplifications noted."""

import json
import re
from typing import NoReturn, cast

import numpy as np

from beamjudge.schemas.json_value import Json
from beamjudge.transforms.reading.faults import BadRecord

MAX_DEPTH = 200
# Python converts no longer integers from or to text unless told; canonical JSON has to be able to write them.
MAX_INT_DIGITS = 4300

_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_DEPTH_BLOCK = 1 << 20
_DEPTH_STEPS = np.zeros(256, dtype=np.int8)
_DEPTH_STEPS[[ord("{"), ord("[")]] = 1
_DEPTH_STEPS[[ord("}"), ord("]")]] = -1


def parse_record(text: str, has_surrogates: bool = False) -> tuple[dict[str, Json], tuple[str, ...]]:
    """The object that `text` is, and the note codes of what was simplified in it.

    NaN and infinities become null (`non_finite_to_null`). A float beyond a double's range and an integer of more than
    4300 digits stay as the string that was written (`number_to_string`). Unpaired surrogates become U+FFFD
    (`surrogates_replaced`); `has_surrogates` says that the text itself holds some. Of equal keys the last one wins.

    Raises BadRecord: too_deep (over 200 levels), invalid_json, not_an_object.
    """
    if text.startswith("\ufeff"):
        text = text[1:]
    # Few texts have so many brackets at all, and counting is much cheaper than looking at where they stand.
    if text.count("{") + text.count("[") > MAX_DEPTH and _is_too_deep(text):
        raise BadRecord("too_deep", f"nested deeper than {MAX_DEPTH} levels")
    notes: tuple[str, ...] = ()
    try:
        value = _FAST.decode(text)
    except json.JSONDecodeError as error:
        raise BadRecord("invalid_json", f"{error.msg} (character {error.pos})") from None
    except (_UnusualNumber, ValueError):  # the latter is Python's limit on digits
        value, notes = _decode_with_care(text)
    except RecursionError:  # a caller's own stack may leave less than 200 levels
        raise BadRecord("too_deep", "nested deeper than the interpreter's stack allows") from None
    if type(value) is not dict:
        raise BadRecord("not_an_object", f"expected an object, found {_kind(value)}")
    # One character is found much faster than two, and many texts have no escape at all.
    if has_surrogates or ("\\" in text and _SURROGATE_ESCAPE.search(text) and _holds_surrogates(value)):
        return cast("dict[str, Json]", _without_surrogates(value)), (*notes, "surrogates_replaced")
    return value, notes


def is_list(text: str) -> bool:
    """Whether `text` by itself is a JSON list, or a broken one (and not merely the beginning of one)."""
    try:
        _FAST.decode(text)
    except json.JSONDecodeError as error:
        return error.pos < len(text.rstrip())
    except (_UnusualNumber, ValueError, RecursionError):
        return True
    return True


class _UnusualNumber(Exception):
    """A number that is not read as it stands: the text is decoded again, with notes."""


def _finite_float(literal: str) -> float:
    number = float(literal)
    if number - number:  # inf - inf is NaN, which is true
        raise _UnusualNumber
    return number


def _stop_at_constant(_: str) -> NoReturn:
    raise _UnusualNumber


# The hooks here never note anything, so that the common record pays for no state.
_FAST = json.JSONDecoder(parse_float=_finite_float, parse_constant=_stop_at_constant)


class _NumberHooks:
    """The json hooks for numbers that JSON or Python cannot hold; `notes` gathers the codes."""

    def __init__(self) -> None:
        self.notes: set[str] = set()

    def integer(self, literal: str) -> int | str:
        if len(literal.lstrip("-")) <= MAX_INT_DIGITS:
            return int(literal)
        self.notes.add("number_to_string")
        return literal

    def real(self, literal: str) -> float | str:
        number = float(literal)
        if not number - number:
            return number
        self.notes.add("number_to_string")
        return literal

    def constant(self, _: str) -> None:
        self.notes.add("non_finite_to_null")


def _decode_with_care(text: str) -> tuple[Json, tuple[str, ...]]:
    hooks = _NumberHooks()
    decoder = json.JSONDecoder(parse_int=hooks.integer, parse_float=hooks.real, parse_constant=hooks.constant)
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise BadRecord("invalid_json", f"{error.msg} (character {error.pos})") from None
    return value, tuple(sorted(hooks.notes))


def _kind(value: Json) -> str:
    names = {list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null")


def _is_too_deep(text: str) -> bool:
    """Whether brackets outside strings open more than MAX_DEPTH levels: one pass in blocks, no recursion."""
    # Without escaped backslashes and then escaped quotes, every quote opens or closes a string.
    data = text.encode("utf-8", "surrogatepass").replace(b"\\\\", b"").replace(b'\\"', b"")
    depth = quotes = 0
    for start in range(0, len(data), _DEPTH_BLOCK):
        block = np.frombuffer(data, np.uint8, min(_DEPTH_BLOCK, len(data) - start), start)
        quote_counts = np.cumsum(block == ord('"'), dtype=np.int32) + quotes
        depths = np.cumsum(_DEPTH_STEPS[block] * (quote_counts % 2 == 0), dtype=np.int32) + depth
        if depths.max() > MAX_DEPTH:
            return True
        depth, quotes = int(depths[-1]), int(quote_counts[-1]) % 2
    return False


def _holds_surrogates(value: Json) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _without_surrogates(value: Json) -> Json:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_SURROGATE.sub("\ufffd", key): _without_surrogates(item) for key, item in value.items()}
    return value
