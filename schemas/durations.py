"""How long something took, as logs have it."""

import re
from collections.abc import Iterable

from beamjudge.schemas.json_value import Json

_LONGEST_SECONDS = 1e12  # what no clock measures is no duration
_LONGEST_TEXT = 40
_WITH_UNIT = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)s")


def first_seconds(data: dict[str, Json], names: Iterable[str]) -> float | None:
    """The first of these fields that holds a duration, in milliseconds where it is a number; null without any."""
    for name in names:
        if name in data and (seconds := read_seconds(data[name], 1000)) is not None:
            return seconds
    return None


def read_seconds(value: Json, per_second: int = 1) -> float | None:
    """A duration in seconds, of a number (also as text) of which `per_second` are a second; null for anything else.

    Text such as `0.5s` is in seconds whatever the unit: so protobuf writes durations in JSON
    (protobuf.dev/programming-guides/json).
    """
    if isinstance(value, str):
        if (found := _WITH_UNIT.fullmatch(value)) is not None:
            return float(found[1])
        try:
            value = float(value) if len(value) < _LONGEST_TEXT else None
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value / per_second if 0 <= value <= _LONGEST_SECONDS * per_second else None
