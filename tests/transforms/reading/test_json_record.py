import json
import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamjudge.transforms.reading.faults import BadRecord
from beamjudge.transforms.reading.json_record import parse_record

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text(), JSON_VALUES, max_size=4), st.booleans())
def test_equals_json_where_json_has_it_all(value: dict, ascii_only: bool) -> None:
    assert parse_record(json.dumps(value, ensure_ascii=ascii_only)) == (value, ())


@pytest.mark.parametrize(
    ("text", "data", "notes"),
    [
        ('{"a": NaN, "b": [Infinity, -Infinity, 1.5]}', {"a": None, "b": [None, None, 1.5]}, ("non_finite_to_null",)),
        ('{"a": 1e400, "b": -1.5E+999}', {"a": "1e400", "b": "-1.5E+999"}, ("number_to_string",)),
        ('{"a": NaN, "b": 1e400}', {"a": None, "b": "1e400"}, ("non_finite_to_null", "number_to_string")),
        ('{"a": 1e308, "b": 1e-400, "c": -0.0}', {"a": 1e308, "b": 0.0, "c": -0.0}, ()),
        ('{"id": 1344800117571260417}', {"id": 1344800117571260417}, ()),
        ('{"a": ' + "9" * 400 + "}", {"a": 10**400 - 1}, ()),
        ('{"a": -' + "9" * 4300 + "}", {"a": 1 - 10**4300}, ()),
        ('{"a": ' + "9" * 4301 + ', "b": 5}', {"a": "9" * 4301, "b": 5}, ("number_to_string",)),
        (r'{"a": "half \ud83d face", "\udc80": 1}', {"a": "half \ufffd face", "\ufffd": 1}, ("surrogates_replaced",)),
        (r'{"a": ["\ude42\ud83d"]}', {"a": ["\ufffd\ufffd"]}, ("surrogates_replaced",)),
        (r'{"a": "\ud83d\ude42 \\ud83d"}', {"a": "\U0001f642 \\ud83d"}, ()),
        (r'{"a": "\\ud83d\udc80"}', {"a": "\\ud83d\ufffd"}, ("surrogates_replaced",)),
        (r'{"a": "\u0000\u001f", "a": "\uD7FF"}', {"a": "\ud7ff"}, ()),
        ('\ufeff {"a": 1} \r', {"a": 1}, ()),
        ('{"a": "\u2028\u0085"}', {"a": "\u2028\u0085"}, ()),
    ],
)
def test_what_is_simplified_is_noted(text: str, data: dict, notes: tuple[str, ...]) -> None:
    assert parse_record(text) == (data, notes)


def test_surrogates_in_the_text_itself() -> None:
    assert parse_record('{"a": "x\ud800"}') == ({"a": "x\ufffd"}, ("surrogates_replaced",))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"a": 1', "invalid_json"),
        ('{"a": 1} {"b": 2}', "invalid_json"),
        ("{'a': 1}", "invalid_json"),
        ('{"a": "tab\there"}', "invalid_json"),
        ('{"a": NaN, "b": }', "invalid_json"),
        ('{"a": ' + "9" * 5000 + ",}", "invalid_json"),
        ("[1, 2]", "not_an_object"),
        ('"text"', "not_an_object"),
        ("null", "not_an_object"),
        ("NaN", "not_an_object"),
        ("42", "not_an_object"),
        ("true", "not_an_object"),
    ],
)
def test_bad_records(text: str, code: str) -> None:
    with pytest.raises(BadRecord) as caught:
        parse_record(text)
    assert caught.value.code == code


def nested(levels: int, opening: str = "[", closing: str = "]") -> str:
    """An object of `levels` levels in all."""
    return '{"a": ' + opening * (levels - 1) + closing * (levels - 1) + "}"


def test_200_levels_are_read_and_201_are_not() -> None:
    value = parse_record(nested(200))[0]["a"]
    depth = 1
    while value:
        depth += 1
        value = value[0]
    assert depth + 1 == 200
    with pytest.raises(BadRecord) as caught:
        parse_record(nested(201))
    assert caught.value.code == "too_deep"


@pytest.mark.parametrize(
    "text",
    [
        nested(100_000),
        nested(1500),
        '{"a": ' * 5000,
        "[" * 100_000,
        "[" * 201,
        '{"a": [NaN, ' + "[" * 199 + "]" * 199 + "]}",
        '{"a": ["\\ud800", ' + "[" * 199 + "]" * 199 + "]}",
    ],
)
def test_depth_is_limited_before_recursion_is(text: str) -> None:
    with pytest.raises(BadRecord) as caught:
        parse_record(text)
    assert caught.value.code == "too_deep"


@pytest.mark.parametrize(
    "value",
    [
        {"a": "[" * 1000},
        {"a": '"' + "[{" * 1000},
        {"a": "\\", "b": "[" * 1000},
        {"a": "\\" * 3 + '"' + "{" * 1000, "b": [[]] * 1000},
        {"a": [{"b": [1]}] * 100_000},
    ],
)
def test_brackets_in_strings_and_beside_each_other_are_no_depth(value: dict) -> None:
    assert parse_record(json.dumps(value)) == (value, ())


def _at_depth(frames: int, read: Callable[[], object]) -> object:
    return read() if not frames else _at_depth(frames - 1, read)


@pytest.mark.parametrize("inner", ["1", '"\\ud800"'])
def test_where_the_stack_ends_a_record_is_rejected_and_not_the_run(inner: str) -> None:
    text = '{"a": ' + "[" * 150 + inner + "]" * 150 + "}"
    for left in range(20, 500, 20):
        try:
            _at_depth(sys.getrecursionlimit() - _frames() - left, lambda: parse_record(text))
        except BadRecord as error:
            assert error.code == "too_deep"  # noqa: PT017
        except RecursionError:
            assert left < 60, "too little for the call itself"


def _frames() -> int:
    frame, count = sys._getframe(), 0
    while frame is not None:
        frame, count = frame.f_back, count + 1
    return count


def test_depth_is_found_behind_strings_of_quotes_and_backslashes() -> None:
    text = '{"a": ' + json.dumps(['\\"[' * 300, "\\\\", '"']) + ', "b": ' + "[" * 200 + "]" * 200 + "}"
    with pytest.raises(BadRecord) as caught:
        parse_record(text)
    assert caught.value.code == "too_deep"


def test_reasons_hold_no_logged_text() -> None:
    with pytest.raises(BadRecord) as caught:
        parse_record('{"password": "hunter2", hunter2}')
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("{'request': 'q', 'ok': True}", "looks like the repr of a Python dict: write lines with json.dumps"),
        ("request,response,model", "looks like CSV: write JSON lines or Parquet"),
        ("{broken", ""),
        ("plain words.", ""),
    ],
)
def test_what_a_line_looks_like_instead(text: str, hint: str) -> None:
    with pytest.raises(BadRecord) as caught:
        parse_record(text)
    assert caught.value.code == "invalid_json"
    assert hint in caught.value.reason
    assert ("looks like" in caught.value.reason) == bool(hint)
