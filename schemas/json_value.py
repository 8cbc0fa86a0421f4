"""JSON values as Python has them, and the one canonical spelling that is written, hashed and shown to judges."""

import json
from typing import TypeAlias

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"


# Made once: json.dumps would make an encoder for each call with such settings.
_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def canonical_json(value: object) -> str:
    """The canonical JSON text of a JSON value: keys sorted, no spaces, UTF-8 characters as they are, no NaN.

    Raises ValueError for NaN and infinities, which the readers have already turned into null, and TypeError for what
    is no JSON value.
    """
    return _CANONICAL.encode(value)


def compact_json(value: object) -> str:
    """JSON text without spaces in which keys stay in their order, as requests are sent. Raises TypeError."""
    return _COMPACT.encode(value)
