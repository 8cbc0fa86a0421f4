"""Tables of known shapes: a value is rewritten, step by step, until it is in normal form."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from beamjudge.schemas.json_text import is_list, is_object
from beamjudge.schemas.json_value import Json

LIST = "[]"  # in the place of a field: the shape is a list


class Noted(NamedTuple):
    """A rewritten value, with the note codes of what the rewrite leaves out."""

    value: Json
    notes: tuple[str, ...]


Rewritten: TypeAlias = "Json | Noted"


@dataclass(frozen=True, slots=True)
class Shape:
    """One logged shape: objects that have `field` (or lists) and that `fits` accepts.

    `fits` sees only values with a `field` that is not null, and must accept no value that another shape accepts, but
    for objects that mix the fields of several. `rewrite` gives a value that is nearer the normal form (it need not be
    the normal form itself); it is null for the normal form.
    """

    name: str
    field: str
    fits: Callable[[Any], bool]
    rewrite: Callable[[Any], Rewritten] | None


class ShapeTable:
    """Shapes by their field. An object with the fields of several shapes is read by the first field in `fields`.

    The order of the shapes does not matter. Null fields count as absent, since a Parquet struct has every field of
    every row.
    """

    def __init__(self, fields: Sequence[str], *families: Sequence[Shape]) -> None:
        self.shapes = tuple(shape for family in families for shape in family)
        by_field: dict[str, list[Shape]] = {field: [] for field in (LIST, *fields)}
        for shape in self.shapes:
            by_field[shape.field].append(shape)
        self._of_lists = tuple(by_field.pop(LIST))
        self._by_field = tuple((field, tuple(shapes)) for field, shapes in by_field.items())

    def claim(self, value: Json) -> Shape | None:
        """The shape of a value; null where it has none."""
        if is_object(value):
            for field, shapes in self._by_field:
                if value.get(field) is not None:
                    for shape in shapes:
                        if shape.fits(value):
                            return shape
        elif is_list(value):
            for shape in self._of_lists:
                if shape.fits(value):
                    return shape
        return None

    def claims(self, value: Json) -> list[str]:
        """The names of all shapes that fit a value, whatever the order of the fields."""
        if is_object(value):
            candidates = [shape for field, shapes in self._by_field if value.get(field) is not None for shape in shapes]
        else:
            candidates = list(self._of_lists) if is_list(value) else []
        return [shape.name for shape in candidates if shape.fits(value)]
