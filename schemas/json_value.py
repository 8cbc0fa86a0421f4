"""JSON values as Python has them, and the one canonical spelling that is written, hashed and shown to judges."""

import math
import re
from typing import Any, TypeAlias

import msgspec

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"

_SURROGATE = re.compile("[\ud800-\udfff]")


def _builtin(value: object) -> object:
    """A value of a subclass, such as NumPy's float64, as what it is a subclass of."""
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(f"got {type(value).__name__}; expected a JSON value")


# Several times as fast as Python's own encoder, which makes a string of every bracket before it joins them.
_CANONICAL = msgspec.json.Encoder(enc_hook=_builtin, order="sorted")
_COMPACT = msgspec.json.Encoder(enc_hook=_builtin)


def canonical_json(value: object) -> str:
    """The canonical JSON text of a JSON value: keys sorted by code points, no spaces, UTF-8 characters as they are.

    A float has the fewest digits that give it back, as a plain decimal from 1e-5 up to below 1e16 and with an exponent
    (`1e16`, `1.5e-7`) beyond. NaN and infinities, which the readers have already turned into null, are null, unpaired
    surrogates U+FFFD. Dates, decimals, UUIDs and bytes, which no reader gives, are strings as msgspec writes them.

    Raises TypeError for keys that are no strings, and for other objects.
    """
    return _text(_CANONICAL, value)


def compact_json(value: object) -> str:
    """JSON text like `canonical_json`'s in which keys stay in their order, as requests are sent. Raises TypeError."""
    return _text(_COMPACT, value)


def _text(encoder: msgspec.json.Encoder, value: Any) -> str:
    try:
        return encoder.encode(value).decode()
    except UnicodeEncodeError:
        return encoder.encode(replace_surrogates(value, [])).decode()


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


def plain_json(value: Any) -> Any:
    """What a value of a YAML file is as JSON: keys that are whole numbers become strings.

    Raises ValueError, with a reason that begins with a verb, for what JSON cannot hold.
    """
    try:
        return _plain(value)
    except RecursionError:
        raise ValueError("refers to itself, or nests too deep") from None


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, str, int)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        given = value if isinstance(value, float) else type(value).__name__
        raise ValueError(f"holds a value that JSON does not have ({given})")
    plain = {_key(key): _plain(item) for key, item in value.items()}
    if len(plain) < len(value):
        raise ValueError("has one key both as a number and as text")
    return plain


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, int) and not isinstance(key, bool):
        return str(key)
    raise ValueError(f"has the key {key!r}; YAML reads it so unless it is quoted")
