import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamjudge.schemas.json_text import DecodedJson, TooDeep, decode_container, decode_json
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


NUMBERS = ["0", "-0", "0.1", "-0.0", "1e5", "1E+2", "12.50e-3", "5e-324", "9007199254740993", "18446744073709551616"]
PIECES = [*'{}[]:," \\\n\t-+.eEu0189', "\\u00e9", "\\ud83c", "\\udf78", "\\/", "true", "null", "é", "\ufeff", *NUMBERS]
JSON_TEXTS = st.recursive(
    st.sampled_from(["null", "true", "false", '""', '"a\\"b"', *NUMBERS]) | st.floats(allow_nan=False).map(repr),
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda items: f"[{' , '.join(items)}]")
        | st.lists(inner, max_size=4).map(
            lambda items: "{" + ",".join(f'"{n}":{item}' for n, item in enumerate(items)) + "}"
        )
    ),
    max_leaves=12,
)


@settings(max_examples=500, deadline=None)
@given(JSON_TEXTS, st.integers(0, 200), st.integers(0, 3), st.lists(st.sampled_from(PIECES), max_size=4))
def test_reads_what_python_reads_and_refuses_what_python_refuses(text: str, at: int, cut: int, put: list[str]) -> None:
    text = text[:at] + "".join(put) + text[at + cut :]
    expected = _outcome(lambda: json.JSONDecoder().decode(text))
    found = _outcome(lambda: decode_json(text))
    if not (isinstance(found, DecodedJson) and found.notes):  # what is noted has tests of its own
        assert repr(found.value if isinstance(found, DecodedJson) else found) == repr(expected)


def _outcome(read: Callable[[], object]) -> object:
    try:
        return read()
    except json.JSONDecodeError as error:
        return error.msg, error.pos


@settings(max_examples=200, deadline=None)
@given(st.floats(-1e300, 1e300), st.integers(0, 25))
def test_floats_are_the_nearest(number: float, digits: int) -> None:
    for text in (repr(number), f"{number:.{digits}e}"):
        assert decode_json(text).value == float(text)


# Strings whose brackets, quotes and backslashes must not be taken for the text's own.
STRINGS = ["", "[", "]", "{}", '"', '"[', "\\", '\\"]', "x"]


@settings(max_examples=200, deadline=None)
@given(
    st.integers(190, 210),
    st.lists(st.sampled_from(STRINGS), max_size=6),
    st.sampled_from(["", " " * (1 << 20)]),
    st.booleans(),
)
def test_depth_is_counted_outside_strings_in_short_and_in_long_texts(
    depth: int, strings: list[str], blanks: str, in_objects: bool
) -> None:
    beside = "".join(f"{json.dumps(string)}, " for string in strings)
    opening, closing = ('{"a": [' + beside, "]}") if in_objects else (f"[{beside}[", "]]")
    text = blanks + opening * (depth // 2) + ("[]" if depth % 2 else "1") + closing * (depth // 2)
    if depth > 200:
        with pytest.raises(TooDeep):
            decode_json(text)
    else:
        assert decode_json(text).value == json.loads(text)


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


# Python's decoder keeps half characters, so that it tells what has to be replaced.
ESCAPES = ["\\ud83d", "\\uDE42", "\\uD800", "\\udfff", "\\\\", "\\u0041", "\\n", "u", "d83d", "\\ue000", "a"]


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(ESCAPES), max_size=8), st.sampled_from(["", ", NaN", ", 1e999", ", !"]))
def test_half_characters_are_replaced_and_nothing_else(escapes: list[str], further: str) -> None:
    text = '["' + "".join(escapes) + f'"{further}]'
    if further == ", !":
        with pytest.raises(json.JSONDecodeError) as refused:
            decode_json(text)
        assert refused.value.pos == text.index("!")
        return
    said = str(json.loads(text)[0])
    expected = "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in said)
    value, notes = decode_json(text)
    assert value == [expected, *{"": [], ", NaN": [None], ", 1e999": ["1e999"]}[further]]
    assert ("surrogates_replaced" in notes) == (said != expected)
