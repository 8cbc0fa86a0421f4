"""When a server says to come back."""

import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|h|m|s))+")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait before the next attempt, null where the server does not say.

    Read in this order: `retry-after-ms`; `Retry-After` in seconds or as an HTTP date (RFC 9110, 10.2.3);
    `x-ratelimit-reset-requests` and `-tokens` of those limits that have nothing remaining.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    header = headers.get("retry-after")
    if header is not None:
        seconds = _number(header)
        return _until(header) if seconds is None else seconds
    resets = [
        _duration(headers.get(f"x-ratelimit-reset-{what}"))
        for what in ("requests", "tokens")
        if _number(headers.get(f"x-ratelimit-remaining-{what}")) == 0
    ]
    return max((reset for reset in resets if reset is not None), default=None)


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else None
    except ValueError:
        return None
    return number if number is not None and math.isfinite(number) and number >= 0 else None


def _until(text: str) -> float | None:
    try:
        return max(parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    except (TypeError, ValueError, OverflowError):
        return None


def _duration(text: str | None) -> float | None:
    """A duration as OpenAI writes it: `20ms`, `1s`, `6m0s`."""
    if text is None or not _DURATION.fullmatch(text):
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in _DURATION_PART.findall(text))
