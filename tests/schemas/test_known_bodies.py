import json

import pytest
from bodies import ANSWER, ANSWERED, ASK, ASKED, REQUESTS, RESPONSES

from beamjudge.schemas import requests, responses
from beamjudge.schemas.record import NOTE_CODES
from beamjudge.schemas.requests import normalize_request
from beamjudge.schemas.responses import normalize_response


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_asks_its_last_question(name):
    body, before, notes = REQUESTS[name]
    form = normalize_request(body)
    assert form.text == ASKED.get(name, ASK)
    assert [(turn.role, turn.text) for turn in form.history] == before
    assert form.notes == notes
    assert set(notes) <= set(NOTE_CODES)


@pytest.mark.parametrize("name", RESPONSES)
def test_a_response_says_its_answer(name):
    body, notes, tokens = RESPONSES[name]
    form = normalize_response(body)
    assert form.text == ANSWERED.get(name, ANSWER)
    assert form.notes == notes
    assert form.fault is None
    assert (form.usage and (form.usage.input_tokens, form.usage.output_tokens)) == tokens
    assert set(notes) <= set(NOTE_CODES)


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_is_claimed_by_one_shape(name):
    assert len(requests.REQUESTS.claims(REQUESTS[name][0])) == 1


@pytest.mark.parametrize("name", RESPONSES)
def test_a_response_is_claimed_by_one_shape(name):
    assert len(responses.RESPONSES.claims(RESPONSES[name][0])) == 1


@pytest.mark.parametrize("name", REQUESTS)
def test_the_normal_form_of_a_request_is_stable(name):
    form = normalize_request(REQUESTS[name][0])
    again = normalize_request(form.canonical)
    assert (again.canonical, again.text, again.history) == (form.canonical, form.text, form.history)


@pytest.mark.parametrize("name", RESPONSES)
def test_the_normal_form_of_a_response_is_stable(name):
    form = normalize_response(RESPONSES[name][0])
    again = normalize_response(form.canonical)
    assert (again.canonical, again.text) == (form.canonical, form.text)


@pytest.mark.parametrize("name", RESPONSES)
def test_null_fields_count_as_absent(name):
    """What a Parquet file gives: a struct has every field of every row."""
    body, notes, _ = RESPONSES[name]
    if not isinstance(body, dict):
        return
    fields = {field: None for other, _, _ in RESPONSES.values() if isinstance(other, dict) for field in other}
    form = normalize_response({**fields, **body})
    # The marks that stand beside a text are told by their presence.
    assert (form.text, form.notes) == (ANSWERED.get(name, ANSWER), notes)


# Texts that are one body, and nothing that a user types or reads.
ENVELOPES = {"chat", "anthropic", "responses", "gemini", "converse", "sharegpt", "langchain dumps", "cohere"}


@pytest.mark.parametrize("name", sorted(ENVELOPES & REQUESTS.keys()))
@pytest.mark.parametrize(
    ("encode", "note"),
    [
        (json.dumps, "parsed_json_string"),
        (lambda body: json.dumps(json.dumps(body)), "parsed_json_string"),
        (lambda body: json.dumps(body, indent=2), "parsed_json_string"),
        (repr, "parsed_python_repr"),
    ],
)
def test_a_request_in_a_string(name, encode, note):
    body, before, notes = REQUESTS[name]
    form = normalize_request(encode(body))
    assert (form.text, form.notes) == (ASK, (note, *notes))
    assert len(form.history) == len(before)


@pytest.mark.parametrize(
    "name", ["chat", "anthropic", "responses", "gemini", "converse", "cohere 2", "ollama", "llama"]
)
@pytest.mark.parametrize(
    ("encode", "note"),
    [
        (json.dumps, "parsed_json_string"),
        (lambda body: json.dumps(json.dumps(body)), "parsed_json_string"),
        (repr, "parsed_python_repr"),
    ],
)
def test_a_response_in_a_string(name, encode, note):
    body, notes, _ = RESPONSES[name]
    form = normalize_response(encode(body))
    assert (form.text, form.notes) == (ANSWERED.get(name, ANSWER), (note, *notes))


@pytest.mark.parametrize(
    "text",
    [
        '{"content": "a"}',
        "{'content': 'a'}",
        '{"answer": 1}',
        '{"text": "a", "score": 1}',
        '[{"type": "text", "text": "a"}]',
        '{"generated_text": "a"}',
        '{"role": "assistant", "content": "a"}',
        '"{}"',
        "{'choices': [",
        "{'choices': open('x')}",
        "data: none of this is JSON",
        "id: 12 is the station",
        '{"a": 1}\n{"b": 2}',
    ],
)
def test_what_an_application_answers_stays_its_text(text):
    assert normalize_response(text)[:2] == ({"choices": [{"message": {"role": "assistant", "content": text}}]}, text)


@pytest.mark.parametrize(
    "text", ['{"prompt": "a"}', "{'query': 'a'}", '{"message": "a"}', '{"role": "user", "content": "a"}', '["a"]']
)
def test_what_a_user_types_stays_the_text(text):
    assert normalize_request(text).text == text


@pytest.mark.parametrize(
    "body",
    [
        {"object": "thread.run", "status": "queued", "required_action": None},
        {"object": "response", "status": "in_progress", "output": []},
        {"object": "interaction", "status": "in_progress"},
        {"object": "thread.message", "role": "user", "content": [{"type": "text", "text": {"value": "a"}}]},
        {"role": "user", "content": "a"},
        {"retrievalResults": []},
        {"id": "thread_1", "object": "thread", "created_at": 1, "metadata": {}},
        {"id": "asst_1", "object": "assistant", "model": "m", "instructions": "Be brief.", "tools": []},
        {"object": "response.input_tokens", "input_tokens": 11},
    ],
)
def test_what_is_no_answer_yet(body):
    assert normalize_response(body) is None


@pytest.mark.parametrize("kind", [[], {"a": 1}, 5, True])
def test_an_object_field_that_is_no_name_tells_nothing(kind):
    assert normalize_response({"object": kind, "b": 1}).notes == ("other_response_shape",)


@pytest.mark.parametrize(
    "body",
    [
        {"role": "admin", "content": "a"},
        {"type": "chat", "content": "a"},
        {"type": "tool", "content": "a"},
        {"turns": [1]},
    ],
)
def test_requests_that_only_look_like_a_message(body):
    assert normalize_request(body).notes == ("other_request_shape",)


@pytest.mark.parametrize(
    "body", [{"message": {"station": 12}}, {"type": "human", "content": "a"}, {"output": ["a", "b"]}]
)
def test_responses_that_only_look_like_an_answer(body):
    assert normalize_response(body).notes == ("other_response_shape",)
