"""JSON that is logged inside strings: decoded once more, with the same guarantees as the records around it."""

import json
import math
import re
from collections.abc import Collection
from typing import NamedTuple, TypeGuard

from beamjudge.schemas.json_value import Json

MAX_DEPTH = 200
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class DecodedJson(NamedTuple):
    """A decoded value and the note codes of what had to be changed in it."""

    value: Json
    notes: tuple[str, ...]


def is_object(value: Json) -> TypeGuard[dict[str, Json]]:
    return isinstance(value, dict)


def is_list(value: Json) -> TypeGuard[list[Json]]:
    return isinstance(value, list)


def as_list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def has_any(value: dict[str, Json], names: Collection[str]) -> bool:
    """Whether an object has any of these fields; a null field counts as absent."""
    return any(value.get(name) is not None for name in names)


def is_absent(value: Json) -> bool:
    """Null, an empty list, or an object of nothing but nulls (what a Parquet struct is where nothing was logged)."""
    if is_object(value):
        return all(item is None for item in value.values())
    return value is None or value == []


def decode_container(text: str) -> DecodedJson | None:
    """The JSON object or list that `text` is; null when it is something else, broken, or over 200 levels deep.

    NaN and infinities become null, numbers too large for a double or for Python's integers strings, unpaired
    surrogates U+FFFD: each with its note.
    """
    if text[:1] not in ("{", "[") and text.lstrip(" \t\r\n")[:1] not in ("{", "["):
        return None
    notes: list[str] = []
    try:
        value = _decode(text, notes)
    except (ValueError, RecursionError):
        return None
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        return None
    if _ESCAPED_SURROGATE.search(text):
        # An escaped pair is one character after decoding; only halves that stand alone are left to replace.
        value = replace_surrogates(value, notes)
    return DecodedJson(value, tuple(dict.fromkeys(notes)))


def _decode(text: str, notes: list[str]) -> Json:
    """By the decoder that is made once; by one that takes notes where there is something to note."""
    try:
        value: Json = _PLAIN.decode(text)
    except json.JSONDecodeError:
        raise
    except (_NotPlain, ValueError):  # the latter for an integer with more digits than Python converts
        reader = _Reader()
        value = reader.decode(text)
        notes += reader.notes
    return value


class _NotPlain(Exception):
    """NaN, infinity, or a number too large for a double."""


def _no_constant(_name: str) -> None:
    raise _NotPlain


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise _NotPlain
    return value


# json.loads would make a decoder for each call with these settings.
_PLAIN = json.JSONDecoder(parse_float=_finite, parse_constant=_no_constant)


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


class _Reader:
    """The hooks of one decoding, with the notes that they leave."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def decode(self, text: str) -> Json:
        value: Json = json.loads(
            text, parse_float=self._float, parse_constant=self._constant, parse_int=self._long_integer
        )
        return value

    def _constant(self, _name: str) -> None:
        self.notes.append("non_finite_to_null")

    def _float(self, digits: str) -> float | str:
        value = float(digits)
        if math.isfinite(value):
            return value
        self.notes.append("number_to_string")
        return digits

    def _long_integer(self, digits: str) -> int | str:
        try:
            return int(digits)
        except ValueError:
            self.notes.append("number_to_string")
            return digits


def _depth(value: Json) -> int:
    """Levels of nesting; level by level, so that depth costs no stack."""
    depth, level = 0, [value]
    while containers := [item for item in level if isinstance(item, (list, dict))]:
        depth += 1
        if depth > MAX_DEPTH:
            break
        level = [child for item in containers for child in (item.values() if isinstance(item, dict) else item)]
    return depth
