import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamjudge.schemas.requests import REQUESTS, normalize_request
from beamjudge.schemas.responses import RESPONSES, normalize_response
from beamjudge.schemas.row import TokenUsage
from beamjudge.schemas.usage import response_usage

ANSWER = {"choices": [{"message": {"role": "assistant", "content": "a"}}]}
PARTS = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
DELTAS = [
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hel"}}]},
    {"choices": [{"index": 0, "delta": {"content": "lo"}}]},
    {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}},
]

# Each logged shape with its text.
CASES = {
    "string": ("a", "a"),
    "choices": (ANSWER, "a"),
    "choices without role": ({"choices": [{"message": {"content": "a"}}]}, "a"),
    "legacy text": ({"choices": [{"text": "a", "index": 0}]}, "a"),
    "one chunk": ({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]}, "a"),
    "chunks": (DELTAS, "Hello"),
    "responses api": (
        {
            "output": [
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "a"}, {"type": "output_text", "text": "b"}],
                },
            ]
        },
        "a\nb",
    ),
    "anthropic": ({"role": "assistant", "content": PARTS}, "a\nb"),
    "messages": ({"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}, "a"),
    "message list": ([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}], "a"),
    "message field": ({"model": "m", "message": {"role": "assistant", "content": "a"}}, "a"),
    "message": ({"role": "assistant", "content": "a"}, "a"),
    "content": ({"content": "a"}, "a"),
    "text": ({"text": "a", "score": 1}, "a"),
    "output": ({"output": "a"}, "a"),
    "output_text": ({"output_text": "a", "output": None}, "a"),
    "one prediction": ({"predictions": [{"content": "a"}]}, "a"),
    "list of one": (["a"], "a"),
    "list of one object": ([{"message": {"content": "a"}}], "a"),
    "struct with null fields": ({"choices": None, "content": "a", "text": None, "messages": None}, "a"),
}


@pytest.mark.parametrize("name", CASES)
def test_known_shapes_become_a_choice(name):
    logged, text = CASES[name]
    form = normalize_response(logged)
    assert (form.text, form.notes) == (text, ())
    assert "message" in form.canonical["choices"][0]


@pytest.mark.parametrize("name", CASES)
def test_every_fixture_is_claimed_by_exactly_one_shape(name):
    assert isinstance(CASES[name][0], str) or len(RESPONSES.claims(CASES[name][0])) == 1


def test_no_combination_of_fields_is_claimed_twice():
    choices = {
        "choices": [None, [], ANSWER["choices"], [{"text": "t"}], [{"delta": {}}], [{"index": 0}]],
        "output": [None, "o", [{"type": "message"}]],
        "content": [None, "c", PARTS],
        "messages": [None, [{"role": "assistant", "content": "m"}]],
        "message": [None, {"content": "m"}],
        "role": [None, "assistant"],
        "text": [None, "t"],
        "predictions": [None, ["p"]],
    }
    for values in itertools.product(*choices.values()):
        value = dict(zip(choices, values, strict=True))
        for each in (value, [value, value]):
            claims = [shape.field for shape in RESPONSES.shapes if shape.name in RESPONSES.claims(each)]
            assert len(claims) == len(set(claims)), (each, claims)


def test_string_is_one_choice():
    assert normalize_response("a").canonical == ANSWER


def test_first_of_several_choices_is_judged():
    form = normalize_response({"choices": [{"message": {"content": "a"}}, {"message": {"content": "b"}}]})
    assert (form.text, form.notes) == ("a", ("several_choices",))


def test_refusal_is_the_text():
    form = normalize_response({"choices": [{"message": {"content": None, "refusal": "I cannot help."}}]})
    assert (form.text, form.notes) == ("I cannot help.", ("refusal",))


def test_tool_calls_alone_are_canonical_json():
    calls = [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]
    form = normalize_response({"choices": [{"message": {"content": None, "tool_calls": calls}}]})
    assert form.text == '[{"function":{"arguments":"{}","name":"f"},"id":"1"}]'
    assert form.notes == ("tool_calls_only",)


def test_streamed_tool_calls_are_joined():
    pieces = [
        {"index": 0, "id": "c", "function": {"name": "f", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"a":'}},
        {"index": 0, "function": {"arguments": "1}"}},
    ]
    end = {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}
    form = normalize_response([*({"choices": [{"delta": {"tool_calls": [piece]}}]} for piece in pieces), end])
    assert form.text == '[{"function":{"arguments":"{\\"a\\":1}","name":"f"},"id":"c"}]'
    assert form.notes == ("tool_calls_only",)


@pytest.mark.parametrize("value", [{"choices": [{"message": {"content": None}}]}, {"choices": []}, ""])
def test_nothing_said_is_an_empty_response(value):
    form = normalize_response(value)
    assert (form.text, form.notes) == ("", ())


@pytest.mark.parametrize("nothing", [None, [], {}, [None], {"choices": None, "content": None}])
def test_no_response(nothing):
    assert normalize_response(nothing) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 2, "a": "x"}, '{"a":"x","b":2}'),
        (["a", "b"], '["a","b"]'),
        ({"text": "a", "output": "b"}, '{"output":"b","text":"a"}'),
        ({"predictions": ["a", "b"]}, '{"predictions":["a","b"]}'),
    ],
)
def test_other_values_are_kept_as_canonical_json(value, text):
    form = normalize_response(value)
    assert (form.canonical, form.text, form.notes) == (value, text, ("other_response_shape",))


@pytest.mark.parametrize(("value", "text"), [(42, "42"), (0.5, "0.5"), (True, "true"), ([False], "false")])
def test_a_number_that_a_function_returned_is_its_text(value, text):
    form = normalize_response(value)
    assert form.canonical == {"choices": [{"message": {"role": "assistant", "content": text}}]}
    assert (form.text, form.notes) == (text, ("other_response_shape",))
    assert normalize_response(form.canonical).canonical == form.canonical


@pytest.mark.parametrize(
    "text",
    [
        '{"choices": [{"message": {"content": "a"}}]}',
        '{"output": [{"type": "message", "content": [{"type": "output_text", "text": "a"}]}]}',
        '{"content": [{"type": "text", "text": "a"}]}',
        '{"object": "x", "id": "1", "text": "a"}',
        '[{"choices": [{"delta": {"content": "a"}}]}, {"choices": [], "usage": {"prompt_tokens": 1}}]',
    ],
)
def test_envelopes_in_strings_are_parsed(text):
    form = normalize_response(text)
    assert (form.text, form.notes) == ("a", ("parsed_json_string",))


@pytest.mark.parametrize("text", ['{"content": "a"}', '{"answer": 1}', "[]", '["a"]', '{"choices": ["a"', '"a"', "42"])
def test_json_that_an_application_answered_stays_the_text(text):
    form = normalize_response(text)
    assert (form.text, form.notes) == (text, ())
    assert form.canonical == {"choices": [{"message": {"role": "assistant", "content": text}}]}


_COUNTED = {"content": "a", "response_metadata": {"token_usage": {"prompt_tokens": 3, "completion_tokens": 2}}}
_CONSTRUCTOR = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"]}
LANGCHAIN_DUMPS = [
    {"type": "ai", **_COUNTED},
    {**_CONSTRUCTOR, "kwargs": _COUNTED},
    {"type": "ai", "data": _COUNTED},
    {"generations": [[{"text": "a", "message": {**_CONSTRUCTOR, "kwargs": _COUNTED}}]]},
]


@pytest.mark.parametrize(
    ("response", "usage"),
    [
        ({**ANSWER, "usage": {"prompt_tokens": 3, "completion_tokens": 2}}, TokenUsage(3, 2, 5)),
        ({"content": PARTS, "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 9}}, TokenUsage(3, 2, 9)),
        (DELTAS, TokenUsage(3, 1, 4)),
        ({**ANSWER, "usage": {"prompt_tokens": 3.0}}, TokenUsage(3, None, None)),
        ({**ANSWER, "usage": {"prompt_tokens": "3", "completion_tokens": -1, "total_tokens": True}}, None),
        (ANSWER, None),
        ("a", None),
        *((dump, TokenUsage(3, 2, 5)) for dump in LANGCHAIN_DUMPS),
    ],
)
def test_usage(response, usage):
    assert normalize_response(response).usage == usage


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "role", "content", "output", "text", "delta", "messages", "type", "predictions"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=300, deadline=None)
@given(JSON)
def test_normalising_a_normal_form_changes_nothing(value):
    form = normalize_response(value)
    if form is not None:
        assert isinstance(form.text, str)
        again = normalize_response(form.canonical)
        assert (again.canonical, again.text) == (form.canonical, form.text)


@settings(max_examples=300, deadline=None)
@given(JSON)
def test_at_most_one_shape_of_a_field_claims_a_value(value):
    names = RESPONSES.claims(value)
    fields = [shape.field for shape in RESPONSES.shapes if shape.name in names]
    assert len(fields) == len(set(fields)), names


@pytest.mark.parametrize(
    "body",
    [
        {"usage_metadata": {"prompt_token_count": 3, "candidates_token_count": 2, "total_token_count": 5}},
        {"messages": [{"type": "ai", "content": "x", "usage_metadata": {"input_tokens": 3, "output_tokens": 2}}]},
    ],
)
def test_counts_of_client_libraries(body):
    """Gemini's for Python, and the state of a LangGraph application."""
    assert response_usage(body) == TokenUsage(3, 2, 5)


FLAGGED = {"flagged": False, "categories": {"hate": False}, "category_scores": {"hate": 0.1}}
RANKED = {"index": 0, "relevance_score": 0.9}
# What calls return that ask a model for no answer.
OTHER_CALLS = {
    "embeddings": {"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": [0.1]}], "model": "m"},
    "embeddings in base64": {"object": "list", "data": [{"object": "embedding", "embedding": "AAAA"}]},
    "embeddings of gemini": {"embeddings": [{"values": [0.1, 0.2]}]},
    "embedding of gemini": {"embedding": {"values": [0.1, 0.2]}},
    "embeddings of vertex": {"predictions": [{"embeddings": {"values": [0.1], "statistics": {"token_count": 3}}}]},
    "embeddings of cohere": {"id": "e", "embeddings": [[0.1]], "texts": ["a"], "meta": {"billed_units": {}}},
    "embeddings of cohere by type": {"id": "e", "embeddings": {"int8": [[1]], "float": None}, "texts": ["a"]},
    "embedding of titan": {"embedding": [0.1], "inputTextTokenCount": 3},
    "embeddings of ollama": {"model": "m", "embeddings": [[0.1]], "total_duration": 5, "prompt_eval_count": 3},
    "models": {"object": "list", "data": [{"id": "m", "object": "model"}]},
    "moderations": {"id": "modr-1", "model": "m", "results": [FLAGGED]},
    "moderations of mistral": {"id": "1", "model": "m", "results": [{"categories": {}, "category_scores": {"pii": 0}}]},
    "ranking": {"results": [RANKED]},
    "ranking of cohere": {"id": "r", "results": [{**RANKED, "document": {"text": "a"}}], "meta": {}},
    "ranking of bedrock": {"results": [{"index": 0, "relevanceScore": 1}]},
    "ranking of voyage": {"object": "list", "data": [RANKED], "model": "m", "usage": {"total_tokens": 3}},
    "count": {"totalTokens": 3},
    "count with details": {"totalTokens": 3, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 3}]},
    "count of the client": {"total_tokens": 3, "cached_content_token_count": None},
    "count of anthropic": {"input_tokens": 3},
    "count of bedrock": {"inputTokens": 3},
    "count of openai": {"object": "response.input_tokens", "input_tokens": 3},
}


# What a model may have been asked to answer in JSON is no provider's body by itself, where it is text.
COULD_BE_SAID = {"ranking", "ranking of bedrock", *(name for name in OTHER_CALLS if name.startswith("count"))}
COULD_BE_SAID = COULD_BE_SAID - {"count of openai"} | {"embeddings of gemini", "embedding of gemini"}


@pytest.mark.parametrize("name", OTHER_CALLS)
@pytest.mark.parametrize("pack", [lambda body: body, lambda body: {**body, "answer": None}, lambda body: [body]])
def test_what_asks_no_model_for_an_answer_has_none(name, pack):
    body = pack(OTHER_CALLS[name])
    assert normalize_response(body) is None
    text = json.dumps(body)
    if name in COULD_BE_SAID or "predictions" in OTHER_CALLS[name]:
        assert normalize_response(text).text == text
    else:
        assert normalize_response(text) is None
    assert len(RESPONSES.claims(body)) == 1


@pytest.mark.parametrize(
    "body",
    [
        {**OTHER_CALLS["count"], "score": 1},
        {**OTHER_CALLS["ranking"], "summary": "a"},
        {**OTHER_CALLS["moderations"], "verdict": "a"},
        {**OTHER_CALLS["embedding of titan"], "caption": "a"},
        {"object": "list", "data": [{"object": "embedding"}, {"summary": "a"}]},
        {"object": "list", "data": []},
        {"total_tokens": "three"},
        {"total_tokens": True},
        {"results": [{"index": 0}]},
        {"results": [{"categories": {}}]},
        {"embedding": ["a"]},
        {"embeddings": []},
    ],
)
def test_what_only_looks_like_another_call_is_kept(body):
    text = json.dumps(body)
    assert normalize_response(body).notes == ("other_response_shape",)
    assert normalize_response(text).text == text


def test_an_answer_beside_what_another_call_returns():
    assert normalize_response({**OTHER_CALLS["ranking"], "text": "a"}).text == "a"
    assert normalize_response({**OTHER_CALLS["count"], "content": "a"}).text == "a"


EVENTS = "".join(f"data: {json.dumps(delta)}\n\n" for delta in DELTAS)


@pytest.mark.parametrize(
    ("envelope", "text", "notes"),
    [
        ({"statusCode": 200, "headers": {}, "body": json.dumps(ANSWER)}, "a", ()),
        ({"status": 200, "body": EVENTS}, "Hello", ("parsed_event_stream",)),
        ({"status_code": 200.0, "body": json.dumps({"answer": "a", "sources": []})}, "a", ()),
        ({"status": 200, "body": "a"}, "a", ()),
        ({"status": 200, "body": ""}, "", ()),
        ({"status": 200, "body": '{"b": 2}'}, '{"b":2}', ("other_response_shape",)),
        ({"status": 200, "body": 'data: {"b": 2}\n\n' * 2}, 'data: {"b": 2}\n\n' * 2, ()),
        ({"status": 200, "body": json.dumps({"status": 200, "body": json.dumps(ANSWER)})}, "a", ()),
        ({"response": {"status": 200, "body": json.dumps(ANSWER)}}, "a", ()),
        ({"status": 200, "body": json.dumps({**ANSWER, "error": None})}, "a", ()),
    ],
)
def test_the_body_of_an_http_answer(envelope, text, notes):
    form = normalize_response(envelope)
    assert (form.text, form.notes) == (text, notes)
    assert len(RESPONSES.claims(envelope)) == 1
    assert normalize_response(form.canonical).text == text


def test_an_http_answer_in_a_string():
    """Told by a body that is an envelope itself; else it may be what an application answered."""
    for envelope in (
        {"statusCode": 200, "headers": {}, "body": json.dumps(ANSWER)},
        {"status": 200, "body": json.dumps(ANSWER)},
    ):
        assert normalize_response(json.dumps(envelope))[1:4] == ("a", None, ("parsed_json_string",))
    typed = json.dumps({"status": 200, "body": "a"})
    assert normalize_response(typed).text == typed


@pytest.mark.parametrize(
    "body",
    [
        {"body": "a", "subject": "b"},
        {"body": "a", "status": "sent"},
        {"body": "YQ==", "statusCode": 200, "isBase64Encoded": True},
        {"body": "a", "headers": {"from": "b"}},
    ],
)
def test_a_body_without_a_status_is_no_http_answer(body):
    assert normalize_response(body).notes == ("other_response_shape",)


def test_usage_in_the_body_of_an_http_answer():
    body = json.dumps({**ANSWER, "usage": {"prompt_tokens": 3, "completion_tokens": 2}})
    assert normalize_response({"statusCode": 200, "body": body}).usage == TokenUsage(3, 2, 5)
    assert normalize_response({"status": 200, "body": EVENTS}).usage == TokenUsage(3, 1, 4)


MESSAGES = {"messages": [{"role": "user", "content": "q"}]}


@pytest.mark.parametrize(
    ("envelope", "text", "notes"),
    [
        ({"method": "POST", "body": json.dumps(MESSAGES)}, "q", ()),
        ({"httpMethod": "POST", "path": "/", "headers": {}, "body": json.dumps({"prompt": "q"})}, "q", ()),
        ({"request": {"method": "post", "url": "/", "body": json.dumps(MESSAGES)}}, "q", ()),
        ({"method": "POST", "body": "q"}, "q", ()),
        ({"method": "POST", "body": '{"b": 2}'}, '{"b":2}', ("other_request_shape",)),
        (json.dumps({"method": "POST", "url": "/", "body": json.dumps(MESSAGES)}), "q", ("parsed_json_string",)),
        ({"method": "POST", "body": "hello", "prompt": "q"}, "q", ()),
        ('{"method": "POST", "headers": {}, "body": "{}"}', '{"method": "POST", "headers": {}, "body": "{}"}', ()),
    ],
)
def test_the_body_of_an_http_request(envelope, text, notes):
    form = normalize_request(envelope)
    assert (form.text, form.notes) == (text, notes)
    assert normalize_request(form.canonical).text == text
    assert isinstance(envelope, str) or len(REQUESTS.claims(envelope)) == 1


@pytest.mark.parametrize(
    "body", [{"body": "q", "subject": "s"}, {"body": "q", "method": "phone"}, {"body": "q", "url": "u"}]
)
def test_a_body_without_a_method_is_no_http_request(body):
    assert normalize_request(body).notes == ("other_request_shape",)
