"""The canonical spelling of JSON values: against Python's own encoder, and spellings that were written by hand."""

import json
import math
import re
from datetime import date
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamjudge.schemas.json_value import canonical_json, compact_json, plain_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
LEAVES = st.none() | st.booleans() | st.integers() | TEXTS
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def values(leaves: st.SearchStrategy) -> st.SearchStrategy:
    return st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=20)


@settings(max_examples=300, deadline=None)
@given(values(LEAVES))
def test_is_spelled_as_python_spells_it(value: object) -> None:
    assert canonical_json(value) == json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert compact_json(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@settings(max_examples=300, deadline=None)
@given(FLOATS)
def test_a_float_is_read_back_and_has_as_few_digits_as_repr(value: float) -> None:
    text = canonical_json(value)
    assert math.copysign(1, json.loads(text)) == math.copysign(1, value)
    assert json.loads(text) == value
    assert _digits(text) == _digits(repr(value))


def _digits(text: str) -> str:
    """The significant digits of a number's text."""
    return text.partition("e")[0].replace(".", "").lstrip("-0").rstrip("0")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (0.1, "0.1"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e16"),
        (1.5e300, "1.5e300"),
        (1e-4, "0.0001"),
        (1e-5, "0.00001"),
        (1.5e-7, "1.5e-7"),
        (5e-324, "5e-324"),
        (float("nan"), "null"),
        (-math.inf, "null"),
        (2**80, "1208925819614629174706176"),
        (
            {"b": 1, "a": [True, None], "\uffff": 2, "\U0001f600": 3},
            '{"a":[true,null],"b":1,"\uffff":2,"\U0001f600":3}',
        ),
        ('\x00\x1f\x7f\n"\\/\u2028é', '"\\u0000\\u001f\x7f\\n\\"\\\\/\u2028é"'),
    ],
)
def test_spellings_that_stored_keys_rest_on(value: object, text: str) -> None:
    assert canonical_json(value) == text


def test_unpaired_surrogates_change_no_other_spelling() -> None:
    value = {"b": [1e16, float("nan")], "a\udc00": "x\ud800"}
    assert canonical_json(value) == '{"a\ufffd":"x\ufffd","b":[1e16,null]}'
    assert compact_json(value) == '{"b":[1e16,null],"a\ufffd":"x\ufffd"}'


class _Text(str):
    pass


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64(0.5), "0.5"),
        ([_Text("a")], '["a"]'),
        (date(2026, 11, 30), '"2026-11-30"'),
        (Decimal("1.50"), '"1.50"'),
        (b"x", '"eA=="'),
    ],
)
def test_values_that_only_callers_of_ours_could_give(value: object, text: str) -> None:
    assert canonical_json(value) == text


@pytest.mark.parametrize("value", [object(), {1: 2}, {"a": {None: 1}}, 1j])
def test_what_is_no_json_value(value: object) -> None:
    with pytest.raises(TypeError):
        canonical_json(value)


def test_yaml_as_json() -> None:
    assert plain_json({50256: -100, "b": [1.5, None, True]}) == {"50256": -100, "b": [1.5, None, True]}


_CIRCULAR: list[object] = []
_CIRCULAR.append(_CIRCULAR)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"a": [date(2026, 11, 30)]}, "holds a value that JSON does not have (date)"),
        (float("nan"), "holds a value that JSON does not have (nan)"),
        ({1, 2}, "holds a value that JSON does not have (set)"),
        ({"a": {True: 1}}, "has the key True; YAML reads it so unless it is quoted"),
        ({None: 1}, "has the key None; YAML reads it so unless it is quoted"),
        ({1: "a", "1": "b"}, "has one key both as a number and as text"),
        (_CIRCULAR, "refers to itself, or nests too deep"),
    ],
)
def test_yaml_that_is_no_json(value: object, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        plain_json(value)
