"""The tables of known shapes: a value is rewritten, step by step, until it is in normal form."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from beamjudge.schemas.json_value import Json


@dataclass(frozen=True, slots=True)
class Shape:
    """One logged shape. `matches` must claim no value that another shape of the table claims.

    `rewrite` gives a value that `matches` in a shape that is nearer the normal form (it need not be the normal form
    itself); it is null for the normal form.
    """

    name: str
    matches: Callable[[Json], bool]
    rewrite: Callable[[Any], Json] | None


class Recognised(NamedTuple):
    """A value as far as it could be rewritten, and whether that is the normal form."""

    value: Json
    is_normal: bool


def recognise(value: Json, shapes: Sequence[Shape]) -> Recognised:
    """Rewrites `value` by the table. Every rewrite unwraps a level or gives a normal form, so that it ends."""
    while True:
        shape = next((shape for shape in shapes if shape.matches(value)), None)
        if shape is None:
            return Recognised(value, False)
        if shape.rewrite is None:
            return Recognised(value, True)
        value = shape.rewrite(value)
