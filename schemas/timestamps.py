"""Times as logs have them: seconds to nanoseconds since the epoch, or ISO 8601."""

import math
import re
from datetime import datetime, timedelta, timezone

from beamjudge.schemas.json_value import Json

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
_FIRST = (datetime(1, 1, 1, tzinfo=timezone.utc) - _EPOCH) // _MICROSECOND
_LAST = (datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=timezone.utc) - _EPOCH) // _MICROSECOND
# Below each bound a number is in that unit. 1e11 seconds are the year 5138, 1e11 milliseconds are 1973, and so on.
_UNITS: tuple[tuple[float, int, int], ...] = (
    (1e11, 1_000_000, 1),
    (1e14, 1_000, 1),
    (1e17, 1, 1),
    (1e20, 1, 1_000),
)
_NUMBER = re.compile(r"[+-]?\d{1,20}(?:\.\d{0,20})?")
_ISO = re.compile(
    r"(?P<year>\d{4})-?(?P<month>\d\d)-?(?P<day>\d\d)"
    r"(?:[Tt ](?P<hour>\d\d):?(?P<minute>\d\d)(?::?(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,20}))?)?"
    r" ?(?P<zone>[Zz]|UTC|(?P<sign>[+-])(?P<zone_hours>\d\d)(?::?(?P<zone_minutes>\d\d))?)?)?"
)


def read_timestamp(value: Json) -> int | None:
    """Microseconds since the epoch, UTC; null when `value` is no time.

    Numbers, also as text, are seconds, milliseconds, microseconds or nanoseconds by their magnitude. ISO 8601 may have
    `Z` or an offset, is UTC without one, and loses what is finer than a microsecond.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return _from_number(value)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if _NUMBER.fullmatch(text):
        return _from_number(float(text) if "." in text else int(text))
    found = _ISO.fullmatch(text)
    return _from_iso(found) if found else None


def _from_number(value: float) -> int | None:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    size = abs(value)
    for bound, times, divided_by in _UNITS:
        if size < bound:
            scaled = value * times
            micros = scaled // divided_by if isinstance(scaled, int) else round(scaled / divided_by)
            return micros if _FIRST <= micros <= _LAST else None
    return None


def _from_iso(found: re.Match[str]) -> int | None:
    second = int(found["second"] or 0)
    leap = second == 60  # a leap second is the first one of the next minute
    offset = timedelta()
    if found["sign"]:
        offset = timedelta(hours=int(found["zone_hours"]), minutes=int(found["zone_minutes"] or 0))
        offset = -offset if found["sign"] == "-" else offset
    try:
        local = datetime(
            int(found["year"]),
            int(found["month"]),
            int(found["day"]),
            int(found["hour"] or 0),
            int(found["minute"] or 0),
            second - leap,
            int((found["fraction"] or "0")[:6].ljust(6, "0")),
            tzinfo=timezone.utc,
        )
    except ValueError:
        return None
    micros = (local - _EPOCH + timedelta(seconds=leap) - offset) // _MICROSECOND
    return micros if _FIRST <= micros <= _LAST else None
