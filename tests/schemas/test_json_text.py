import pytest

from beamjudge.schemas.json_text import decode_container
from beamjudge.schemas.paths import column_of, lookup


@pytest.mark.parametrize("text", ["", "a", "1", '"a"', "null", "{", "[1,", "{]}", "[1] x"])
def test_what_is_no_container(text):
    assert decode_container(text) is None


def test_values_are_kept_exactly():
    assert decode_container('{"id": 1344800117571260417, "x": 0.5}') == ({"id": 1344800117571260417, "x": 0.5}, ())


def test_non_finite_numbers_become_null():
    assert decode_container("[NaN, Infinity, -Infinity]") == ([None, None, None], ("non_finite_to_null",))


def test_numbers_too_large_become_strings():
    assert decode_container("[1e999]") == (["1e999"], ("number_to_string",))
    long = "9" * 5000
    assert decode_container(f"[{long}, 1]") == ([long, 1], ("number_to_string",))


def test_lone_surrogates_are_replaced_and_pairs_are_not():
    assert decode_container('["\\ud83d", "\\ud83c\\udf78"]') == (["\ufffd", "\U0001f378"], ("surrogates_replaced",))


@pytest.mark.parametrize(("depth", "is_read"), [(200, True), (201, False), (100_000, False)])
def test_depth_is_limited(depth, is_read):
    assert (decode_container("[" * depth + "]" * depth) is not None) == is_read


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a", {"b": [{"c": 1}], "text": '{"d": 2}'}),
        ("a.b.0.c", 1),
        ("a.text.d", 2),
        ("x.y", 3),
        ("a.b.1.c", None),
        ("a.b.-1", None),
        ("a.q.r", None),
        ("q", None),
    ],
)
def test_paths(path, value):
    data = {"a": {"b": [{"c": 1}], "text": '{"d": 2}'}, "x.y": 3, "x": {"y": 4}}
    assert lookup(data, path) == value


def test_column_of_a_path():
    assert column_of({"x.y": 3}, "x.y") == "x.y"
    assert column_of({"x": {}}, "x.y") == "x"
