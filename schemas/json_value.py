"""JSON values as Python has them, and the one canonical spelling that is written, hashed and shown to judges."""

import json
from typing import TypeAlias

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"


def canonical_json(value: Json) -> str:
    """The canonical JSON text of `value`: keys sorted, no spaces, UTF-8 characters as they are, no NaN.

    Raises ValueError for NaN and infinities, which the readers have already turned into null.
    """
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
