"""What the application under test is sent, and what is read from its reply."""

import json
from dataclasses import replace
from typing import Any

import pytest

from beamjudge.schemas.answer import Answer
from beamjudge.schemas.row import Document, Row, TokenUsage
from beamjudge.schemas.run_config import Endpoint
from beamjudge.schemas.spend import Spend
from beamjudge.schemas.stored_verdict import StoredVerdict
from beamjudge.transforms.judging.app import AppBinding, AppReply, app_key, foreseen, read_app_reply
from beamjudge.transforms.judging.asks import AppAsk
from beamjudge.transforms.judging.failures import CallFailed
from beamjudge.transforms.judging.fitting import estimate_tokens
from beamjudge.transforms.judging.price import app_bound


def app(**settings: Any) -> AppBinding:
    return AppBinding(Endpoint(model="agent", base_url="http://localhost:1/v1", **settings))


def sent(logged: dict[str, Any], **settings: Any) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(app(**settings).request(json.dumps(logged)).body)
    return body


def read(body: Any) -> AppReply:
    return read_app_reply(body if isinstance(body, bytes) else json.dumps(body).encode(), 0.25)


def completion(content: str = "Hi.", **extra: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], **extra}


def message(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", **fields}}]}


def trace(latency_ms: int, output: str = "traced") -> dict[str, Any]:
    """An MLflow trace with a retriever that found one document."""
    root = {"mlflow.spanInputs": '"q"', "mlflow.spanOutputs": json.dumps(output)}
    found = [{"page_content": "From the trace.", "metadata": {"doc_uri": "t"}}]
    retriever = {"mlflow.spanType": '"RETRIEVER"', "mlflow.spanOutputs": json.dumps(found)}
    spans = [
        {"span_id": "r", "parent_id": None, "attributes": root},
        {"span_id": "s", "parent_id": "r", "attributes": retriever},
    ]
    return {"info": {"trace_id": "tr-1", "execution_duration_ms": latency_ms}, "data": {"spans": spans}}


def test_the_logged_request_is_sent_with_the_model_and_parameters_that_the_configuration_names() -> None:
    logged = {"messages": [{"role": "user", "content": "q"}], "model": "logged", "temperature": 0.7, "seed": 3}
    assert sent(logged) == {**logged, "model": "agent"}
    assert sent(logged, parameters={"temperature": 0, "max_tokens": 9}) == {
        **logged, "model": "agent", "temperature": 0, "max_tokens": 9,
    }  # fmt: skip


def test_whole_answers_are_asked_for_and_other_objects_are_sent_as_they_are() -> None:
    assert sent({"query": "q", "stream": True, "stream_options": {}}) == {"query": "q", "model": "agent"}


def test_keys_stay_in_their_order() -> None:
    assert app().request('{"z":1,"tools":[{"y":1,"a":2}]}').body == b'{"z":1,"tools":[{"y":1,"a":2}],"model":"agent"}'


def test_the_key_covers_address_model_parameters_and_request() -> None:
    def key(binding: AppBinding, logged: str = '{"q":1}') -> str:
        return app_key(binding, binding.request(logged))

    others = [
        key(AppBinding(Endpoint(model="agent", base_url="http://localhost:2/v1"))),
        key(AppBinding(Endpoint(model="other", base_url="http://localhost:1/v1"))),
        key(app(parameters={"seed": 1})),
        key(app(), '{"q":2}'),
    ]
    assert key(app()) == key(app(headers={"X-Team": "a"}, requests_per_minute=5))
    assert len({key(app()), *others}) == 5
    assert all(len(each) == 64 for each in others)


def test_a_chat_completion() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    assert read(completion(usage=usage)) == AppReply(
        Answer(
            '{"choices":[{"finish_reason":"stop","index":0,"message":{"content":"Hi.","role":"assistant"}}],'
            '"usage":{"completion_tokens":3,"prompt_tokens":7,"total_tokens":10}}',
            "Hi.",
            None,
            TokenUsage(7, 3, 10),
            0.25,
        ),
        usage,
    )


def test_an_object_with_what_the_application_knows() -> None:
    reply = read(
        {
            "response": "Hi.",
            "retrieved_context": ["One.", {"doc_uri": "b", "content": "Two."}],
            "usage": {"input_tokens": 5, "output_tokens": 2},
        }
    )
    assert reply.answer.response_text == "Hi."
    assert reply.answer.response == '{"choices":[{"message":{"content":"Hi.","role":"assistant"}}]}'
    assert reply.answer.retrieved_context == (Document(None, "One."), Document("b", "Two."))
    assert reply.answer.usage == TokenUsage(5, 2, 7)
    assert reply.usage == {"prompt_tokens": 5, "completion_tokens": 2}, "as the price is reckoned by"
    assert read({"response": completion("Inner.")}).answer.response_text == "Inner."
    assert read({"response": "", "retrieved_context": []}).answer.retrieved_context == ()


@pytest.mark.parametrize(
    "body",
    [
        completion("Hi.", databricks_output={"trace": trace(1500)}),
        {"response": "Hi.", "trace": trace(1500)},
        {"response": "Hi.", "trace": json.dumps(trace(1500))},
        {"response": "Hi.", "databricks_output": {"trace": trace(1500)}},
    ],
)
def test_the_trace_gives_what_the_reply_does_not(body: dict[str, Any]) -> None:
    answer = read(body).answer
    assert answer.response_text == "Hi."
    assert answer.retrieved_context == (Document("t", "From the trace."),)
    assert answer.latency_seconds == 1.5
    assert "context_from_trace" in answer.notes


def test_a_trace_may_hold_the_response_and_an_unreadable_one_is_noted() -> None:
    for body in (
        {"response": None, "trace": trace(10)},
        {"trace": trace(10)},
        {"retrieved_context": [], "trace": json.dumps(trace(10))},
        {"databricks_output": {"trace": trace(10)}},
        {"id": "1", "status": "done", "trace": trace(10)},
    ):
        answer = read(body).answer
        assert (answer.response_text, answer.latency_seconds) == ("traced", 0.01)
        assert "response_from_trace" in answer.notes
    answer = read({"response": "Hi.", "trace": {"what": "ever"}}).answer
    assert (answer.response_text, answer.notes) == ("Hi.", ("trace_unreadable",))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html>", "invalid_reply: HTML instead of JSON"),
        (b"Secret", "invalid_reply: not JSON"),
        (b"Secret: data: {}", "invalid_reply: not JSON"),
        (b"5", "invalid_reply: bad_type:response: a number, where a string or an object"),
        (b"null", "invalid_reply: no response"),
        (b"[]", "invalid_reply: no response"),
        (b'[{"detail": "Secret"}]', "invalid_reply: no known shape of a response"),
        (b"[" * 300, "invalid_reply: nested too deep"),
        ({"response": None, "secret": "Secret"}, "invalid_reply: no response"),
        ({}, "invalid_reply: no response"),
        ({"error": {"message": "Secret"}}, "invalid_reply: an error object instead of a completion"),
        ({"error": {"code": 429, "message": "Secret"}}, "http_429: rate limited"),
        ({"trace": {}, "error": {"code": 429, "message": "Secret"}}, "http_429: rate limited"),
        ({"error": "", "detail": "Secret"}, "invalid_reply: no response"),
        ({"status": "failed", "output": []}, "invalid_reply: no"),
        ({"predictions": ["Secret", "b"]}, "invalid_reply: no response"),
        ({"trace": {"what": "Secret"}}, "invalid_reply: no response"),
        ({"choices": [{"message": None}]}, "invalid_reply: no known shape of a response"),
        ({"choices": []}, "invalid_reply: a response without text"),
        ({"response": {"choices": []}}, "invalid_reply: a response without text"),
        (message(content=None), "invalid_reply: a response without text"),
        (message(content=[]), "invalid_reply: a response without text"),
        (message(content=None, reasoning_content="Secret"), "invalid_reply: a response without text"),
        (message(content=[{"type": "thinking", "thinking": "Secret"}]), "invalid_reply: a response without text"),
        ({"output": [{"type": "reasoning", "summary": []}]}, "invalid_reply: a response without text"),
    ],
)
def test_a_reply_that_is_no_answer_is_a_failure_that_repeats_nothing_of_it(body: Any, message: str) -> None:
    with pytest.raises(CallFailed) as failed:
        read(body)
    assert failed.value.failure.message.startswith(message)
    assert "Secret" not in str(failed.value)


CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("body", "text", "notes"),
    [
        (message(content=None, refusal="No."), "No.", ("refusal",)),
        (
            message(content=None, tool_calls=[CALL]),
            '[{"function":{"arguments":"{}","name":"f"},"id":"1","type":"function"}]',
            ("tool_calls_only",),
        ),
        (message(content=""), "", ()),
        (message(content=[{"type": "text", "text": ""}]), "", ()),
        ({"text": ""}, "", ()),
        ({"response": ""}, "", ()),
        (b'""', "", ()),
        ({"response": {"city": "Bonn"}}, '{"city":"Bonn"}', ("other_response_shape",)),
    ],
)
def test_refusals_calls_empty_texts_and_whatever_is_named_a_response_are_answers(
    body: Any, text: str, notes: tuple[str, ...]
) -> None:
    answer = read(body).answer
    assert (answer.response_text, answer.notes) == (text, notes)


CHUNKS = [{"choices": [{"delta": {"content": "Hi"}}]}, {"choices": [{"delta": {"content": "."}}]}]
END = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
USAGE = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}}
STREAM = [*CHUNKS, END, USAGE]


@pytest.mark.parametrize(
    "body",
    [
        "Hi.",
        ["Hi."],
        json.dumps(message(content="Hi.")),
        STREAM,
        "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in STREAM).encode() + b"data: [DONE]\n\n",
        "\n".join(map(json.dumps, STREAM)).encode(),
        b"\xef\xbb\xbf" + json.dumps(message(content="Hi.")).encode(),
    ],
)
def test_replies_that_are_no_json_objects_are_read_as_those_of_a_log(body: Any) -> None:
    assert read(body).answer.response_text == "Hi."


def test_a_stream_tells_what_it_has_cost() -> None:
    reply = read(STREAM)
    assert reply.answer.usage == TokenUsage(7, 2, 9)
    assert reply.usage == {"prompt_tokens": 7, "completion_tokens": 2}


@pytest.mark.parametrize("context", [5, {"Secret": 3}, ["a", ["b"]], [{"content": ["a"]}]])
@pytest.mark.parametrize("response", [{"response": "Hi."}, completion("Hi.")])
def test_a_context_that_cannot_be_read_does_not_cost_the_response(context: Any, response: dict[str, Any]) -> None:
    answer = read({**response, "retrieved_context": context}).answer
    assert (answer.response_text, answer.retrieved_context) == ("Hi.", None)
    assert answer.notes == ("context_unreadable",)


def test_what_was_billed_for_a_reply_that_is_no_answer_is_known() -> None:
    with pytest.raises(CallFailed) as failed:
        read({"response": None, "usage": {"prompt_tokens": 4, "completion_tokens": 1}})
    assert failed.value.failure.billed
    assert failed.value.failure.usage == {"prompt_tokens": 4, "completion_tokens": 1}


def test_numbers_that_json_does_not_have_are_read_as_those_of_a_log() -> None:
    answer = read(b'{"response": "Hi.", "x": NaN}').answer
    assert answer.notes == ("non_finite_to_null",)


@pytest.mark.parametrize(
    "answer",
    [
        Answer('"r"', "r", None, TokenUsage(), None),
        Answer("{}", "ü\n", (Document(None, "a"), Document("b", None)), TokenUsage(1, 2, 3), 0.5, ("refusal",)),
        Answer("{}", "", (), TokenUsage(None, 2, None), 0.0),
    ],
)
def test_an_answer_is_the_same_once_it_was_stored(answer: Answer) -> None:
    assert Answer.from_json(json.loads(json.dumps(answer.to_json()))) == answer


ROW = Row(
    request_id="1", timestamp=None, request="{}", response=None, request_text="q", history=(), response_text=None,
    expected_response=None, expected_responses=(), expected_facts=None, guidelines=None, retrieved_context=None,
    expected_retrieved_context=None, usage=TokenUsage(), latency_seconds=None, notes=(), source_file="f",
    source_position="0",
)  # fmt: skip


def test_the_answer_that_is_foreseen_is_as_long_as_it_may_be() -> None:
    unanswered = replace(ROW, unanswered='{"messages":[]}')
    assert foreseen(ROW, app()) is ROW
    assert foreseen(unanswered, None) is unanswered
    for settings, tokens in (({}, 1024), ({"parameters": {"max_tokens": 50}}, 50)):
        text = foreseen(unanswered, app(**settings)).response_text
        assert text is not None
        assert estimate_tokens(text) == tokens


def test_what_an_answer_takes_at_most() -> None:
    """The body `{"messages":[],"model":"agent"}` has 31 characters: 11 tokens at three characters each."""
    binding = app(price_per_million={"input": 2, "output": 4}, parameters={})
    bound = app_bound(binding, '{"messages":[]}')
    assert (bound.calls, bound.input_tokens, bound.output_tokens) == (1, 11, 1024)
    assert bound.cost_usd == pytest.approx((11 * 2 + 1024 * 4) / 1e6)


@pytest.mark.parametrize("stored", [None, "", "[]", "{", '{"response": "r"}', '{"response": "r", "usage": 5}'])
def test_a_stored_answer_that_cannot_be_read_is_none(stored: str | None) -> None:
    ask = AppAsk("0" * 64, app(), app().request("{}"), keeps_answer=True)
    row = StoredVerdict("0" * 64, "(app)", "h", "agent", None, None, None, (), Spend(1), "run", 0.0, (), answer=stored)
    assert ask.recalled(row) is None
