import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamjudge.schemas.logged_text import read_body


def read(text, **options):
    return read_body(text, lambda value: True, **options)


@pytest.mark.parametrize(
    ("text", "value", "notes"),
    [
        ('{"a": 1}', {"a": 1}, ("parsed_json_string",)),
        ("\ufeff \n[1]", [1], ("parsed_json_string",)),
        (json.dumps('{"a": 1}'), {"a": 1}, ("parsed_json_string",)),
        (json.dumps(json.dumps('{"a": 1}')), {"a": 1}, ("parsed_json_string",)),
        ('{"a": NaN}', {"a": None}, ("parsed_json_string", "non_finite_to_null")),
        ("{'a': (1, None, True, 0.5)}", {"a": [1, None, True, 0.5]}, ("parsed_python_repr",)),
        ("[{'a': \"it's\"}]", [{"a": "it's"}], ("parsed_python_repr",)),
        ('{"a": "b", "c": None}', {"a": "b", "c": None}, ("parsed_python_repr",)),
        ("{'a': '\\ud83d'}", {"a": "\ufffd"}, ("parsed_python_repr", "surrogates_replaced")),
        ('{"a": 1}\n\n{"b": 2}\n', {"ndjson": [{"a": 1}, {"b": 2}]}, ("parsed_event_stream",)),
        (
            ': hello\nid: 1\nevent: x\ndata: {"a": 1}\n\ndata: [DONE]\n\n',
            {"sse": [{"a": 1}, {"event": None, "data": "[DONE]"}]},
            ("parsed_event_stream",),
        ),
        (
            'data: {"a": 1}\ndata: {"b": 2}',
            {"sse": [{"a": 1}, {"b": 2}]},
            ("parsed_event_stream",),
        ),
        (
            "data: [1]\n\ndata: word\n\nevent: x\ndata: {}",
            {"sse": [{"event": None, "data": [1]}, {}]},
            ("parsed_event_stream",),
        ),
    ],
)
def test_bodies_in_text(text, value, notes):
    assert read(text) == (value, notes)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "hello",
        '"hello"',
        '"',
        "{",
        "{'a': open('x')}",
        "{'a': __import__('os')}",
        "{'a': lambda: 1}",
        "{1: 2}",
        "{'a': {1, 2}}",
        "{'a': b'x'}",
        "{'a': 1e999}",
        "{'a': 1j}",
        "{'a': '\\d'}",
        "{'a'",
        "data: x\n\n",
        "data: {}\nhello\n",
        "due on Monday",
        '{"a": 1}\nhello',
        '{"a": 1',
    ],
)
def test_what_stays_text(text):
    assert read(text) is None


def test_streams_only_where_they_are_asked_for():
    assert read('{"a": 1}\n{"b": 2}', streams=False) is None
    assert read('data: {"a": 1}', streams=False) is None


def test_what_is_not_accepted():
    assert read_body('{"a": 1}', lambda value: "b" in value) is None


def test_a_long_repr_stays_text():
    long = repr({"messages": ["x" * 300_000]})
    assert read(long) is None
    assert read(repr({"messages": ["x" * 200_000]})).notes == ("parsed_python_repr",)


@pytest.mark.parametrize(
    "deep", ["{'a': " + "(" * 300, "{'a': " + "-" * 100_000 + "1}", "{'a': " + "[" * 150 + "]" * 150 + "}"]
)
def test_deep_reprs_do_no_harm(deep):
    read(deep)


def test_data_in_several_lines_is_json_when_they_are_joined():
    whole = '{"choices": [\n{"delta": {"content": "x"}}\n]}'
    text = "".join(f"data: {line}\n" for line in whole.split("\n"))
    assert read(f'data: {{"a": 1}}\n\nevent: e\n{text}\ndata: {{"b": 2}}\n').value == {
        "sse": [{"a": 1}, {"event": "e", "data": whole}, {"b": 2}]
    }


def test_data_that_is_no_json_when_it_is_joined_stays_beside_what_is():
    text = 'data: {"a": 1}\ndata: x\ndata: {"b": 2}\ndata:  y\n\n'
    assert read(text).value == {"sse": [{"a": 1}, {"b": 2}]}
    assert read("event: e\n" + text).value == {"sse": [{"a": 1}, {"b": 2}, {"event": "e", "data": "x\n y"}]}


def test_lines_that_end_in_carriage_returns():
    events = {"sse": [{"a": 1}, {"event": "x", "data": "text"}, {"event": None, "data": [2]}]}
    for end in ("\r", "\n", "\r\n"):
        text = f'event: x{end}data: {{"a": 1}}{end}data: text{end}{end}: ping{end}data: [2]{end}{end}'
        assert read(text).value == events


def test_a_broken_line_swallows_no_other():
    """Joined with commas the first two are one value and the third is two: as many values as lines."""
    lines = ['{"a": [{}', '{"b": 2}]}', '{"c": 3}, {"d": 4}', '{"e": 5}']
    assert read("\n".join(lines)) is None
    assert read("".join(f"data: {line}\n\n" for line in lines)).value == {
        "sse": [*({"event": None, "data": line} for line in lines[:3]), {"e": 5}]
    }


def test_the_last_event_of_a_long_stream_may_be_cut_off():
    events = [{"a": number} for number in range(60_000)]
    text = "".join(f"data: {json.dumps(event)}\n" for event in events)
    assert read(text + 'data: {"a": ').value == {"sse": [*events, {"event": None, "data": '{"a": '}]}


def test_a_stream_of_far_too_many_broken_events_is_text():
    event = 'data: {"a": 1}\n\n'
    assert read(event + "".join(f'data: {{"{number}":\n' for number in range(50_000))) is not None
    assert read(event + "".join(f'data: {{"{number}":\n' for number in range(50_001))) is None


@pytest.mark.parametrize("blanks", [1, 6, 7])
def test_a_line_of_text_behind_blanks_is_no_field(blanks):
    assert read('data: {"a": 1}\n' + " " * blanks) is not None
    assert read('data: {"a": 1}\n' + " " * blanks + "x") is None
    assert read('data: {"a": 1}\n' + " " * blanks + "data: x") is None


@given(st.text())
def test_any_text(text):
    read(text)


@given(st.text(alphabet="{}[]()\":,'\\ \nadetv:01-"))
def test_any_text_like_a_body(text):
    read(text)
