"""The slices that a row falls into, from the record as it was logged."""

from collections.abc import Sequence

from beamjudge.schemas.json_value import Json, canonical_json
from beamjudge.schemas.paths import lookup
from beamjudge.schemas.row import SliceValue

NULL_VALUE = "(null)"
LONGEST_VALUE = 256


def slice_values(data: dict[str, Json], slice_by: Sequence[str]) -> tuple[SliceValue, ...]:
    """One value per entry of `slice_by`: a column, a dotted path, or several of them crossed with `*`."""
    return tuple(_slice_value(data, name) for name in slice_by)


def _slice_value(data: dict[str, Json], name: str) -> SliceValue:
    if "*" not in name or name in data:
        value = value_text(lookup(data, name))
        return SliceValue(name, value, f"{name}={_escaped(value)}")
    crossed = ",".join(f"{part}={_escaped(value_text(lookup(data, part)))}" for part in name.split("*"))
    return SliceValue(name, crossed, crossed)


def _escaped(value: str) -> str:
    """A value inside a slice's name, in which commas separate the parts of crossed slices."""
    return value.replace("\\", "\\\\").replace(",", "\\,")


def value_text(value: Json) -> str:
    """A value as a slice shows it: strings as they are, `(null)` for null, everything else as canonical JSON.

    Long texts are cut: values are counted and kept in memory.
    """
    if value is None:
        return NULL_VALUE
    text = value if isinstance(value, str) else canonical_json(value)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"
