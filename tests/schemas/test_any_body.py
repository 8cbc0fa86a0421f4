"""Nothing that can be logged breaks the reading of a body, and reading takes time in proportion to its length."""

import copy
import json
import sys
from pathlib import Path

import pytest
from bodies import REQUESTS, RESPONSES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from log_tables import TABLES
from streams import STREAMS

from beamjudge.schemas import requests, responses
from beamjudge.schemas.log_tables import LOG_TABLES, recognise_table
from beamjudge.schemas.record import NOTE_CODES, REJECT_CODES, Reject, SourceRecord
from beamjudge.schemas.requests import normalize_request
from beamjudge.schemas.responses import normalize_response
from beamjudge.schemas.run_config import INPUT_COLUMNS, RunConfig
from beamjudge.transforms.normalize import normalize_record
from beamjudge.transforms.row_reader import InputRules

SHARED = Path(__file__).parents[2] / "../shared/data"
RULES = InputRules.of(RunConfig(input=["logs"], output="out", keep_extra=True))
BODIES = [
    *(body for body, *_ in REQUESTS.values()),
    *(body for body, *_ in RESPONSES.values()),
    *(events for events, _ in STREAMS.values()),
]


def names_in(value):
    """All keys, and all short strings, of some bodies: what a shape may look for."""
    if isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from names_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from names_in(item)
    elif isinstance(value, str) and len(value) < 24:
        yield value


WORDS = sorted({word for body in BODIES for word in names_in(body)})
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6)
    | st.sampled_from(WORDS)
    | st.sampled_from(BODIES)
    | st.sampled_from(BODIES).map(json.dumps)
)
ANY = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=12,
)
MANY = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def places(value, path=()):
    """The paths to all values in a body."""
    yield path
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def mutated(body, place, change):
    """The body with another value at one place."""
    if not place:
        return change
    changed = copy.deepcopy(body)
    target = changed
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = change
    return changed


@st.composite
def mutations(draw, bodies):
    body = draw(st.sampled_from(bodies))
    return mutated(body, draw(st.sampled_from(list(places(body)))), draw(ANY))


def check(body):
    for normalize, shapes in ((normalize_request, requests.REQUESTS), (normalize_response, responses.RESPONSES)):
        form = normalize(body)
        claims = shapes.claims(body)
        fields = [shape.field for shape in shapes.shapes if shape.name in claims]
        assert len(fields) == len(set(fields)), claims
        if form is None:
            continue
        assert isinstance(form.text, str)
        assert {note.partition(":")[0] for note in form.notes} <= set(NOTE_CODES)
        again = normalize(form.canonical)
        if isinstance(form.canonical, (dict, list)):
            assert (again.canonical, again.text) == (form.canonical, form.text)


@MANY
@given(ANY)
def test_any_body(body):
    check(body)


@MANY
@given(mutations(BODIES))
def test_mutated_bodies(body):
    check(body)


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data is not here")
def test_mutated_recordings():
    names = ("bedrock", "chat", "chat_stream", "completions_legacy", "gemini")
    paths = [SHARED / "http_recordings" / f"{name}.jsonl" for name in names]
    lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    bodies = [json.loads(line)[side] for line in lines for side in ("request", "response") if len(line) < 4000]

    @MANY
    @given(mutations(bodies))
    def run(body):
        check(body)

    run()


@MANY
@given(st.dictionaries(st.sampled_from([*INPUT_COLUMNS, "usage", "model"]), ANY))
def test_any_value_in_any_column(data):
    check_record(data)


@MANY
@given(mutations([data for data, *_ in TABLES.values()]))
def test_mutated_tables(data):
    if isinstance(data, dict):
        check_record(data)
        assert len([table.name for table in LOG_TABLES if table.matches(data)]) <= 1


def check_record(data):
    outcomes = list(normalize_record(SourceRecord("a.jsonl", "0", data), RULES, lambda row: True))
    assert outcomes
    for outcome in outcomes:
        if isinstance(outcome, Reject):
            assert outcome.code.partition(":")[0] in REJECT_CODES
            assert "\n" not in outcome.reason


@pytest.mark.parametrize(
    "wrap",
    [
        lambda inner: {"request": inner},
        lambda inner: {"response": inner},
        lambda inner: {"output": inner},
        lambda inner: {"messages": [inner]},
        lambda inner: {"input": inner, "body": {"input": 1}},
        lambda inner: {"choices": [{"message": inner}]},
        lambda inner: [inner],
        lambda inner: {"data": inner},
    ],
)
def test_deep_nesting(wrap):
    body = {"messages": [{"role": "user", "content": "a"}]}
    for _ in range(90):
        body = wrap(body)
    check(body)


def calls_of(body):
    """How many functions reading a body calls: a measure of time that every machine gives alike."""
    count = 0

    def tick(_frame, event, _argument):
        nonlocal count
        count += event in ("call", "c_call")

    previous = sys.getprofile()
    sys.setprofile(tick)
    try:
        normalize_request(body)
        normalize_response(body)
    finally:
        sys.setprofile(previous)
    return count


LONG = {
    "braces": lambda n: "{" * n,
    "brackets": lambda n: "[" * n,
    "nested": lambda n: '{"a":' * n,
    "blanks": lambda n: " " * n + "{",
    "quotes": lambda n: '"' + '\\"' * n + '"',
    "text in text": lambda n: json.dumps(json.dumps("x" * n)),
    "repr": lambda n: "{'messages': [" + "{'role': 'user', 'content': 'x'}, " * (n // 10) + "]}",
    "repr that is none": lambda n: "{'messages': " + "-" * n,
    "lines": lambda n: '{"a": 1}\n' * n,
    "data": lambda n: "data: x\n" * n,
    "events": lambda n: 'data: {"choices": [{"delta": {"content": "x"}}]}\n\n' * n,
    "broken events": lambda n: 'data: {"choices": [\n\n' * n,
    "chunks": lambda n: [{"choices": [{"delta": {"content": "x"}}]}] * n,
    "messages": lambda n: {"messages": [{"role": "user", "content": "x"}] * n},
    "items": lambda n: {"output": [{"type": "message", "content": [{"type": "output_text", "text": "x"}]}] * n},
    "parts": lambda n: {"content": [{"type": "text", "text": "x"}] * n},
    "calls": lambda n: [
        {"choices": [{"delta": {"tool_calls": [{"index": i, "function": {"arguments": "x"}}]}}]} for i in range(n)
    ],
    "blocks": lambda n: [{"contentBlockDelta": {"contentBlockIndex": i, "delta": {"text": "x"}}} for i in range(n)],
    "citations": lambda n: {"answer": "a", "context": ["x"] * n},
    "objects": lambda n: [{}] * n,
    "fields": lambda n: {f"field{i}": i for i in range(n)},
}


# What shows in its first events that it is no body: the rest is not looked at piece by piece.
SOON_REFUSED = {
    "lines of JSON": '{"a": 1}\n',
    "empty objects": "{}\n",
    "events of something else": 'data: {"a": 1}\n\n',
    "named events": 'event: x\ndata: {"a": 1}\n\n',
    "data that is no JSON": "data: x\n",
    "comments": ":\n",
    "ids": "id: 1\n",
}


@pytest.mark.parametrize("name", SOON_REFUSED)
def test_what_is_no_stream_costs_little(name):
    short, long = calls_of(SOON_REFUSED[name] * 2_000), calls_of(SOON_REFUSED[name] * 20_000)
    assert long < short + 200, (short, long)


@pytest.mark.parametrize(
    "before", [": comment\n" * 2_000, "data: text\n\n" * 2_000, "event: x\ndata: text\n\n" * 2_000, "\n" * 2_000]
)
def test_a_stream_may_begin_late(before):
    """Refused is only what shows a hundred events and no known one among them; text without a name is no event."""
    stream = 'data: {"choices": [{"delta": {"content": "x"}}]}\n\ndata: [DONE]\n\n'
    assert normalize_response("data: {}\n\n" + "\n" * 2_000 + stream).text == "x"
    assert (normalize_response(before + stream).text == "x") == ("event" not in before)


@pytest.mark.parametrize("name", LONG)
def test_reading_is_linear(name):
    """Twice the length takes at most about twice the calls."""
    short, long = calls_of(LONG[name](1_000)), calls_of(LONG[name](2_000))
    assert long < 2.2 * short + 200, (short, long)


@pytest.mark.parametrize("before", ["", "id: 1\n"])
@pytest.mark.parametrize("data", ['{"a":NaN}', '{"a":', "[1]", "x", "[DONE]"])
def test_what_a_stream_repeats_is_read_once(before, data):
    """Whether blank lines stand between events or not: twenty times the lines, at most forty calls for each."""
    line = f"{before}data: {data}\n"
    text = 'data: {"choices": [{"delta": {"content": "x"}}]}\n\n' + line * 50_000
    assert calls_of(text) < 40 * 50_000 * (2 if before else 1)
    assert normalize_response(text).text == "x"


def test_no_table_is_told_by_a_value_alone():
    """Records of the demo's kind never pay for the tables."""
    assert recognise_table({"request": "q", "response": "a", "request_id": "r", "model": "m"}) is None
