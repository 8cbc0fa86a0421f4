"""Recorded bodies of many providers, read in place: every one gives what simple rules of each interface give."""

import json
from collections import Counter
from pathlib import Path

import pytest
from recorded_rules import expected, responses, run

from beamjudge.schemas.requests import REQUESTS, normalize_request
from beamjudge.schemas.responses import RESPONSES, normalize_response

SHARED = Path(__file__).parents[2] / "../shared/data"
pytestmark = pytest.mark.skipif(not SHARED.exists(), reason="the shared data is not here")

# Recorded calls per file: those that are read, errors of the provider, and calls that are no question and answer.
RECORDED = {
    "http_recordings/assistants.jsonl": (2, 0, 15),
    "http_recordings/bedrock.jsonl": (25, 0, 0),
    "http_recordings/chat.jsonl": (74, 2, 0),
    "http_recordings/chat_stream.jsonl": (19, 0, 0),
    "http_recordings/completions_legacy.jsonl": (17, 0, 0),
    "http_recordings/gemini.jsonl": (1, 0, 0),
    "openinference/cassettes.jsonl": (165, 2, 13),
}


def lines(name):
    path = SHARED / name
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def said(text, answer):
    """Whether `text` is the expected answer; of streamed calls only the arguments are expected."""
    if isinstance(answer, tuple):
        return json.loads(text)[0]["function"]["arguments"] == answer[1]
    return text == answer


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_calls(name):
    outcomes = Counter()
    for number, recording in enumerate(lines(name)):
        where = f"{name}:{number}"
        answered = normalize_response(recording["response"])
        if recording["status"] >= 400:
            assert answered.fault.code == "upstream_error", where
            outcomes["error"] += 1
            continue
        found = expected(recording)
        if found is None:
            outcomes["none"] += 1
            continue
        question, answer, (given, made) = found
        if question is not None:
            assert normalize_request(recording["request"]).text == question, where
        if answer is None:
            assert answered is None, where
            outcomes["none"] += 1
            continue
        assert answered.fault is None, where
        assert said(answered.text, answer), (where, answered.text, answer)
        usage = answered.usage
        tokens = (None, None) if usage is None else (usage.input_tokens, usage.output_tokens)
        assert tokens == (given, made), where
        outcomes["read"] += 1
    assert (outcomes["read"], outcomes["error"], outcomes["none"]) == RECORDED[name]


@pytest.mark.parametrize("name", [*RECORDED, "openai_spec_examples/examples.jsonl"])
def test_no_recording_is_claimed_by_two_shapes(name):
    for number, recording in enumerate(lines(name)):
        assert len(REQUESTS.claims(recording["request"])) <= 1, number
        assert len(RESPONSES.claims(recording["response"])) <= 1, number


@pytest.mark.parametrize("name", [*RECORDED, "openai_spec_examples/examples.jsonl"])
def test_the_normal_form_of_a_recording_is_stable(name):
    for number, recording in enumerate(lines(name)):
        for body, normalize in ((recording["request"], normalize_request), (recording["response"], normalize_response)):
            form = normalize(body)
            if form is not None:
                again = normalize(form.canonical)
                assert (again.canonical, again.text) == (form.canonical, form.text), number


@pytest.mark.parametrize("name", RECORDED)
@pytest.mark.parametrize("encode", [json.dumps, lambda body: json.dumps(json.dumps(body)), repr])
def test_recorded_bodies_in_strings(name, encode):
    """As JSON, as JSON in JSON, and as the repr of a Python dict, a body says the same."""
    for number, recording in enumerate(lines(name)):
        if recording["status"] >= 400 or (found := expected(recording)) is None:
            continue
        question, answer, _ = found
        if question is not None and "variables" not in recording["request"]:
            assert normalize_request(encode(recording["request"])).text in (question, encode(recording["request"]))
        if answer is not None:
            text = encode(recording["response"])
            form = normalize_response(text)
            assert said(form.text, answer), number


def test_examples_of_the_openai_interface():
    read = Counter()
    for number, example in enumerate(lines("openai_spec_examples/examples.jsonl")):
        path, request, response = example["path"], example["request"], example["response"]
        answered = normalize_response(response)
        if path.startswith("/components/"):
            read["component"] += 1
        elif "responses" in path and request is not None and "input_tokens" not in path and "compact" not in path:
            question, answer, tokens = responses(request, response)
            assert (normalize_request(request).text, answered.text) == (question, answer), number
            assert (answered.usage.input_tokens, answered.usage.output_tokens) == tokens, number
            read["responses"] += 1
        elif "chat/completions" in path and request is not None and "messages" in request:
            message = response["choices"][0]["message"]
            assert normalize_request(request).text.startswith(("Hello!", "What is")), number
            assert answered.text == (message["content"] or json_text(message["tool_calls"])), number
            read["chat"] += 1
        elif path == "/paths//completions/post":
            assert (normalize_request(request).text, answered.text) == (
                "Say this is a test",
                response["choices"][0]["text"],
            )
            read["completions"] += 1
        elif "threads" in path and request is not None and isinstance(response, dict) and "sse" in response:
            question, answer, _ = run(request, response)
            if question is not None:
                assert normalize_request(request).text == question, number
            if answer is not None:
                assert answered.text == answer, number
            read["runs"] += 1
        else:
            read["other"] += 1
    assert read == {"component": 178, "responses": 16, "chat": 4, "completions": 1, "runs": 5, "other": 40}


def json_text(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def test_every_reported_usage_is_read():
    """The names differ (prompt_tokens or input_tokens), the numbers are the provider's own."""
    names = (("prompt_tokens", "completion_tokens"), ("input_tokens", "output_tokens"))
    count = 0
    for row in lines("reference_token_usage/usage.jsonl"):
        usage = row["usage"]
        given, made = next((usage[a], usage[b]) for a, b in names if a in usage)
        text = row["output"][0]
        form = normalize_response({"choices": [{"message": {"content": text}}], "usage": usage})
        shown = "".join(part.get("text", "") for part in text) if isinstance(text, list) else text or ""
        assert (form.text, form.usage.input_tokens, form.usage.output_tokens) == (shown, given, made)
        assert form.usage.total_tokens == usage.get("total_tokens", given + made)
        count += 1
    assert count == 129
