import json
from pathlib import Path

import apache_beam as beam
import pytest
from apache_beam.testing.test_pipeline import TestPipeline as _TestPipeline
from apache_beam.testing.util import assert_that, equal_to
from log_tables import ANSWER, ASK, CHAT_REQUEST, CHAT_RESPONSE, ISO, SECOND, TABLES, captured, text

from beamjudge.schemas.log_tables import LOG_TABLES, describe_tables, recognise_table
from beamjudge.schemas.record import Reject, SourceRecord
from beamjudge.schemas.row import Document, Row, TokenUsage
from beamjudge.schemas.run_config import RunConfig
from beamjudge.transforms.normalize import Normalize, normalize_record
from beamjudge.transforms.row_reader import InputRules

SHARED = Path(__file__).parents[2] / "../shared/data"
needs_shared = pytest.mark.skipif(not SHARED.exists(), reason="the shared data is not here")
GATEWAY = TABLES["databricks_ai_gateway"][0]


def always(row):
    return True


def outcomes(data, can_score=always, **config):
    rules = InputRules.of(RunConfig(input=["logs"], output="out", **config))
    return list(normalize_record(SourceRecord("a.jsonl", "0", data), rules, can_score))


def row_of(data, **config):
    (outcome,) = outcomes(data, **config)
    assert isinstance(outcome, Row), outcome
    return outcome


def reject_of(data, **config):
    (outcome,) = outcomes(data, **config)
    assert isinstance(outcome, Reject), outcome
    return outcome


@pytest.mark.parametrize("name", TABLES)
def test_a_table_maps_itself(name):
    data, request_id, seconds, tokens = TABLES[name]
    assert recognise_table(data).name == name
    row = row_of(data)
    assert (row.request_id, row.request_text, row.response_text) == (request_id, ASK, ANSWER)
    assert row.timestamp == SECOND * 1_000_000
    assert row.latency_seconds == seconds
    assert (row.usage.input_tokens, row.usage.output_tokens) == tokens
    assert set(row.notes) <= {"id_to_string", "no_context_in_trace"}


@pytest.mark.parametrize("name", TABLES)
def test_a_record_is_of_one_table(name):
    assert [table.name for table in LOG_TABLES if table.matches(TABLES[name][0])] == [name]


def test_every_table_has_a_record_here():
    assert {table.name for table in LOG_TABLES} == {*TABLES, "mt_bench_questions", "traces"}


@pytest.mark.parametrize(
    "data",
    [
        {"request": "q", "response": "a", "request_id": "r"},
        {"request": "q", "response": "a", "status": "shipped"},
        {"request": {"messages": []}, "messages": []},
        {"choices": [], "object": "chair"},
        {"prompt": "q", "completion": "a", "request": "r"},
        {"prompt": "q"},
        {"question": "q", "answer": "gold", "response": "a"},
        {"instruction": "Shorten.", "input": "q", "output": "a"},
    ],
)
def test_records_in_columns_of_their_own(data):
    assert recognise_table(data) is None


@pytest.mark.parametrize(
    "data",
    [
        {"request": ASK, "response": None, "status": 500},
        {"request": ASK, "response": "Internal Server Error", "status": "500"},
        {"request": ASK, "response": "slow down", "status": 429.0},
        {"request": ASK, "response": "", "error": "timeout"},
        {"request": ASK, "response": None, "error": {"message": "no"}},
        {"request": ASK, "error": "timeout"},
        {"messages": CHAT_REQUEST["messages"], "response": None, "error": "timeout"},
        {"prompt": ASK, "completion": None, "error": "timeout"},
        {"prompt": ASK, "completion": "Internal Server Error", "status": 500},
    ],
)
def test_calls_that_failed_by_their_status_or_error(data):
    assert len([table.name for table in LOG_TABLES if table.matches(data)]) == 1
    assert reject_of(data).code == "upstream_error"


@pytest.mark.parametrize(
    "more",
    [
        {"status": 200},
        {"status": "201"},
        {"status": 4000},
        {"status": "4xx"},
        {"status": True},
        {"status": 99, "error": None},
        {"error": "a warning of the tracer"},
        {"error": "", "status": "done"},
    ],
)
def test_a_status_or_an_error_that_fails_no_call(more):
    row = row_of({"request": ASK, "response": ANSWER, **more})
    assert (row.request_text, row.response_text, row.notes) == (ASK, ANSWER, ())


@pytest.mark.parametrize("more", [{"status": 600}, {"status": 99}, {"error": "null"}, {"error": False}])
def test_a_row_without_a_response_that_did_not_fail(more):
    assert row_of({"request": ASK, "response": None, **more}).response is None


PAIRS = {
    "messages_and_answer": [
        {"messages": CHAT_REQUEST["messages"], "completion": ANSWER},
        {"messages": text(CHAT_REQUEST["messages"]), "answer": ANSWER},
        {"messages": CHAT_REQUEST["messages"], "prompt": None, "output": ANSWER},
    ],
    "prompt_and_completion": [
        {"prompt": ASK, "response": ANSWER},
        {"prompt": [ASK], "output": [ANSWER], "messages": None, "status": "done", "trace_id": "t"},
        {"prompt": CHAT_REQUEST["messages"], "completion": CHAT_RESPONSE, "request": None},
        {"prompt": ASK, "completion": ANSWER, "object": "chair"},
    ],
    "question_and_answer": [{"question": ASK, "answer": ANSWER, "output": "x", "response": None}],
    "input_and_output": [
        {"input": {"question": ASK}, "output": {"answer": ANSWER}, "type": "chat"},
        {
            "id": "t",
            "name": "ask",
            "userId": "u",
            "input": {"query": ASK},
            "output": ANSWER,
        },  # a trace of Langfuse alone
    ],
    "inputs_and_outputs": [
        {"inputs": ASK, "outputs": [ANSWER]},
        {"inputs": {"question": ASK}, "outputs": ANSWER, "expectations": {}},
        {"inputs": CHAT_REQUEST, "outputs": CHAT_RESPONSE, "id": "r"},
    ],
}


@pytest.mark.parametrize(("name", "data"), [(name, data) for name, listed in PAIRS.items() for data in listed])
def test_pairs_of_plain_columns(name, data):
    assert [table.name for table in LOG_TABLES if table.matches(data)] == [name]
    row = row_of(data)
    assert (row.request_text, row.response_text) == (ASK, ANSWER)


def test_records_of_several_tables_are_of_one():
    """Every table's columns, with those of every pair beside them."""
    for data, *_ in TABLES.values():
        for other in [pair for listed in PAIRS.values() for pair in listed]:
            for both in ({**data, **other}, {**other, **data}):
                claimed = [table.name for table in LOG_TABLES if table.matches(both)]
                assert len(claimed) < 2, (claimed, both)


def _trulens_call(method, path, gave):
    stack = [{"method": {"name": "query"}, "path": "app"}, {"method": {"name": method}, "path": path}]
    return {"args": {"query": ASK}, "rets": gave, "stack": stack}


def test_chunks_of_a_trulens_record():
    data = TABLES["trulens_records"][0]
    langchain = [{"page_content": "Opens 6:00.", "metadata": {"source": "s1"}}]
    calls = [
        _trulens_call("retrieve_chunks", "app.search", ["Too early."]),
        _trulens_call("invoke", "app.first.retriever", langchain),
        _trulens_call("retriever_name", "app", "no list"),
        _trulens_call("rerank", "app.reranker", ["Opens 6:00."]),
    ]
    assert row_of({**data, "calls": calls}).retrieved_context == (Document("s1", "Opens 6:00."),)
    assert row_of({**data, "calls": calls[:1]}).retrieved_context == (Document(None, "Too early."),)
    assert row_of({**data, "calls": calls[-1:]}).retrieved_context is None
    assert row_of({**data, "calls": [_trulens_call("retrieve", "app", [])]}).retrieved_context == ()
    assert row_of({**data, "calls": None}).retrieved_context is None
    assert reject_of({**data, "main_output": None, "main_error": "boom"}).code == "upstream_error"
    assert row_of({**data, "main_error": "boom"}).response_text == ANSWER


@needs_shared
def test_recorded_trulens_records():
    documents = [line["document"] for line in shared_lines("trulens_otel/spans.jsonl")]
    found = [data for data in documents if isinstance(data, dict) and "main_input" in data]
    for data in found:
        row = row_of(data)
        assert (row.request_id, row.request_text, row.response_text) == (
            data["record_id"],
            "hello",
            data["main_output"],
        )
        assert row.usage == TokenUsage(78, 76, 154)
        chunks = ("Relevant chunk: HELLO", "Relevant chunk: olleholleholleh")
        assert row.retrieved_context == tuple(Document(None, chunk) for chunk in chunks)
    assert len(found) == 2


SEARCHED = TABLES["mlflow_search_traces"][0]


def test_search_traces_by_their_columns_where_the_trace_does_not_tell():
    row = row_of({**SEARCHED, "trace": "{", "request": text({"question": ASK}), "response": {"answer": ANSWER}})
    assert (row.request_text, row.response_text, row.notes) == (ASK, ANSWER, ("trace_unreadable",))
    trace = {"info": {"trace_id": "tr-1", "request_time": ISO}, "data": {"spans": []}}
    data = {
        "trace_id": "tr-1",
        "trace": trace,
        "state": "OK",
        "spans": [],
        "request": ASK,
        "response": '{"a": 1, "b": 2}',
    }
    row = row_of(data)
    assert (row.request_text, row.timestamp) == (ASK, SECOND * 1_000_000)
    assert row.response_text == '{"a":1,"b":2}'


def test_a_failed_trace_among_search_traces():
    trace = {"info": {"trace_id": "tr-1", "state": "ERROR"}, "data": {"spans": []}}
    assert reject_of({**SEARCHED, "trace": trace, "response": None}).code == "upstream_error"


def test_search_traces_by_their_spans_and_state_alone():
    trace = json.loads(SEARCHED["trace"])
    data = {**SEARCHED, "trace": None, "spans": trace["data"]["spans"]}
    row = row_of(data)
    assert (row.request_id, row.request_text, row.response_text) == ("tr-1", ASK, ANSWER)
    assert (row.timestamp, row.latency_seconds) == (SECOND * 1_000_000, 0.25)
    no_answer = {**SEARCHED, "trace": "Trace(trace_id=tr-1)", "response": "null"}
    for state in ("ERROR", "TraceState.ERROR"):
        assert reject_of({**no_answer, "state": state}).code == "upstream_error"
        assert row_of({**no_answer, "state": state, "response": text(ANSWER)}).response_text == ANSWER
    plain = row_of({**SEARCHED, "trace": "Trace(trace_id=tr-1)", "request": text(ASK), "response": text(ANSWER)})
    assert (plain.request_text, plain.response_text) == (ASK, ANSWER)


def test_words_that_are_json_stay_answers():
    for said in ("true", "false", "True", "1"):
        row = row_of({**SEARCHED, "trace": "{", "request": text({"q": ASK}), "response": said})
        assert (row.request_text, row.response_text) == (ASK, said)
        row = row_of({"inputs": said, "outputs": said})
        assert (row.request_text, row.response_text) == (said, said)
    assert row_of({"inputs": ASK, "outputs": ""}).response_text == ""


def test_the_answer_in_a_failed_trace_counts():
    failed = {**SEARCHED, "state": "ERROR", "response": None}
    assert row_of(failed).response_text == ANSWER
    assert (
        row_of({**failed, "trace": None, "spans": json.loads(SEARCHED["trace"])["data"]["spans"]}).response_text
        == ANSWER
    )


def test_spans_beside_a_pair_are_the_pairs():
    data = {"trace_id": "t", "spans": [], "assessments": [], "prompt": ASK, "response": ANSWER}
    assert (row_of(data).request_text, row_of(data).response_text) == (ASK, ANSWER)


def test_null_columns_beside_messages():
    """A table of several kinds of rows has all columns in each."""
    data = {"messages": CHAT_REQUEST["messages"], "response": ANSWER}
    for more in ({"request": None}, {"call_type": "x"}, {"request": None, "status_code": 200}, {"custom_id": None}):
        row = row_of({**data, **more})
        assert (row.request_text, row.response_text) == (ASK, ANSWER), more


LITELLM = TABLES["litellm_spend_logs"][0]


@pytest.mark.parametrize("nothing", ["[]", [], "{}", {}, None, ""])
def test_litellm_keeps_the_request_in_one_of_two_columns(nothing):
    row = row_of({**LITELLM, "messages": nothing, "proxy_server_request": text(CHAT_REQUEST)})
    assert (row.request_text, row.response_text) == (ASK, ANSWER)


@pytest.mark.parametrize("dump", [text, lambda body: body])
def test_what_litellm_redacted_is_nothing(dump):
    asked = [{"role": "user", "content": "redacted-by-litellm"}]
    answered = {"choices": [{"message": {"role": "assistant", "content": "redacted-by-litellm"}}]}
    redacted = {**LITELLM, "messages": dump(asked), "response": dump(answered), "proxy_server_request": None}
    assert reject_of(redacted).code == "no_request"
    said = [{"role": "user", "content": 'What is "redacted-by-litellm"?'}]
    assert row_of({**LITELLM, "messages": text(said)}).request_text == 'What is "redacted-by-litellm"?'


@pytest.mark.parametrize(
    ("body", "notes"),
    [
        ('{"id": "c", "choices": [{"message": {"content": "At s', ("body_unreadable",)),
        (' [ {"type": "te', ("body_unreadable",)),
        ("{It opens} at six.", ()),
        ("[1] Opening hours", ()),
    ],
)
def test_a_body_that_was_cut_is_noted(body, notes):
    row = row_of({**TABLES["databricks_ai_gateway"][0], "response": body})
    assert (row.response_text, row.notes) == (body, notes)


def test_search_traces_of_mlflow_2():
    spans = [
        {
            "context": {"span_id": "s"},
            "parent_id": None,
            "attributes": {
                "mlflow.spanInputs": text({"question": ASK}),
                "mlflow.spanOutputs": text({"answer": ANSWER}),
            },
        }
    ]
    data = {
        "request_id": "r-1",
        "trace": text({"info": {"request_id": "r-1", "status": "OK"}, "data": {"spans": spans}}),
        "timestamp_ms": SECOND * 1000,
        "status": "TraceStatus.OK",
        "execution_time_ms": 250,
        "request": text({"question": ASK}),
        "response": text({"answer": ANSWER}),
        "request_metadata": {},
        "spans": spans,
        "tags": {},
    }
    for each in (data, {**data, "trace": "{"}):
        row = row_of(each)
        assert (row.request_id, row.request_text, row.response_text) == ("r-1", ASK, ANSWER)
        assert (row.timestamp, row.latency_seconds) == (SECOND * 1_000_000, 0.25)
    own = row_of({"request_id": "r-1", "request": ASK, "response": ANSWER, "timestamp_ms": SECOND * 1000})
    assert (own.request_text, own.timestamp) == (ASK, None), "a plain row"


def test_columns_of_the_first_ragas():
    data = {"question": ASK, "answer": ANSWER, "contexts": ["Opens 6:00."], "ground_truths": ["Six.", "At 6."]}
    row = row_of(data)
    assert row.retrieved_context == (Document(None, "Opens 6:00."),)
    assert (row.expected_response, row.expected_responses) == ("Six.", ("At 6.",))
    for name in ("ground_truth", "reference", "expected_answer"):
        assert row_of({"question": ASK, "answer": ANSWER, name: "Six."}).expected_response == "Six."
    row = row_of({"question": ASK, "answer": ANSWER, "context": "Opens 6:00.", "expected_facts": ["six"]})
    assert (row.retrieved_context, row.expected_facts) == ((Document(None, "Opens 6:00."),), ("six",))


def test_several_answers_of_a_pair():
    row = row_of({"messages": CHAT_REQUEST["messages"], "output": [ANSWER, "At seven."]})
    assert (row.response_text, row.notes) == (ANSWER, ("several_choices",))


def test_an_answer_of_a_pair_that_is_json_is_what_the_user_saw():
    row = row_of({"prompt": ASK, "completion": '{"b": 6, "a": "open"}'})
    assert (row.response_text, row.notes) == ('{"b": 6, "a": "open"}', ())


def test_a_conversation_that_ends_with_its_answer_has_a_reference_beside_it():
    turns = [*CHAT_REQUEST["messages"], {"role": "assistant", "content": ANSWER}]
    data = {"messages": turns, "answer": "reference"}
    assert recognise_table(data).name == "conversation"
    assert row_of(data).response_text == ANSWER


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"status_code": 400, "response": text({"error": {"message": "no"}})}, "upstream_error"),
        ({"status_code": 500, "response": None}, "upstream_error"),
        ({"status_code": 429.0, "response": "[]"}, "upstream_error"),
        ({"status_code": 200, "response": None}, "upstream_error"),
        ({"status_code": 200, "response": "[]"}, "upstream_error"),
        ({"status_code": 200, "response": ""}, "upstream_error"),
        ({"status_code": 200, "response": text({"error": {"message": "no"}})}, "upstream_error"),
        ({"status_code": 400, "response": text({"error": {"code": "content_filter"}})}, "blocked"),
        ({"status_code": 400, "response": text({"finishReason": "input_guardrail_triggered"})}, "blocked"),
        (
            {
                "status_code": 200,
                "response": text(
                    {"object": "response", "output": [{"type": "message", "id": "flagged", "content": "b"}]}
                ),
            },
            "blocked",
        ),
        ({"status_code": 200, "request": None, "logging_error_codes": ["MAX_REQUEST_SIZE_EXCEEDED"]}, "no_request"),
    ],
)
def test_calls_without_an_answer_are_rejects(changes, code):
    rejected = reject_of({**GATEWAY, **changes})
    assert (rejected.code, rejected.request_id) == (code, "d1")


def test_a_stream_that_was_cut_off_is_judged():
    deltas = [{"type": "response.output_text.delta", "item_id": "m", "delta": ANSWER}]
    row = row_of({**GATEWAY, "response": text(deltas)})
    assert (row.response_text, row.notes) == (ANSWER, ("cut_stream",))


def test_a_trace_inside_the_response_gives_the_context():
    retriever = {"mlflow.spanType": '"RETRIEVER"', "mlflow.spanOutputs": '[{"page_content": "Opens 6:00."}]'}
    trace = {"info": {"trace_id": "t"}, "data": {"spans": [{"span_id": "s", "attributes": retriever}]}}
    body = {**CHAT_RESPONSE, "databricks_output": {"trace": trace}}
    row = row_of({**GATEWAY, "response": text(body)})
    assert (row.response_text, row.retrieved_context) == (ANSWER, (Document(None, "Opens 6:00."),))
    assert row.notes == ("context_from_trace",)
    assert row_of({**GATEWAY, "response": text({**body, "databricks_output": {"trace": {}}})}).notes == (
        "trace_unreadable",
    )
    own = row_of({"request": "q", "response": body, "retrieved_context": []})
    assert own.retrieved_context == ()


def test_documents_in_the_response_give_the_context():
    body = {"answer": ANSWER, "context": [{"page_content": "Opens 6:00."}]}
    row = row_of({"request": ASK, "response": body})
    assert (row.retrieved_context, row.notes) == ((Document(None, "Opens 6:00."),), ("context_from_response",))


def test_columns_override_the_tables():
    row = row_of(
        {**GATEWAY, "mine": "own q", "status_code": 200}, columns={"request": "mine", "request_id": "requester"}
    )
    assert (row.request_text, row.response_text, row.request_id) == ("own q", ANSWER, "r")
    row = row_of({**GATEWAY, "response": None, "mine": "own a"}, columns={"response": "mine"})
    assert row.response_text == "own a"
    assert reject_of({**GATEWAY, "status_code": 500}, columns={"response": "requester"}).code == "upstream_error"


def test_a_tables_columns_are_no_extra():
    assert row_of(TABLES["azure_apim_gateway_log"][0], keep_extra=True).extra == '{"ResponseCode":200,"TotalTime":250}'


def test_a_batch_of_a_serving_table():
    data = TABLES["databricks_model_serving"][0]
    request = {"dataframe_records": [{"query": "q0"}, {"query": "q1"}]}
    rows = outcomes({**data, "request": text(request), "response": text({"predictions": ["a0", "a1"]})})
    assert [(row.request_id, row.request_text, row.response_text) for row in rows] == [
        ("d2#0", "q0", "a0"),
        ("d2#1", "q1", "a1"),
    ]


def test_completions_with_several_prompts():
    request = {"model": "m", "prompt": ["q0", "q1"], "n": 2}
    choices = [{"index": index, "text": f"a{index}"} for index in (3, 0, 1, 2)]
    first, second = outcomes(
        {"request_id": "r", "request": request, "response": {"choices": choices, "usage": {"total_tokens": 9}}}
    )
    assert (first.request_id, first.request_text, first.response_text) == ("r#0", "q0", "a0")
    assert (second.request_id, second.request_text, second.response_text) == ("r#1", "q1", "a2")
    assert (first.notes, first.usage) == (("several_choices",), TokenUsage())
    assert reject_of({"request": request, "response": {"choices": choices[:3]}}).code == "batch_mismatch"


def test_inputs_by_column():
    request = {"inputs": {"query": ["q0", "q1"]}}
    rows = outcomes({"request_id": "r", "request": request, "response": ["a0", "a1"]})
    assert [row.request_text for row in rows] == ["q0", "q1"]


def test_payloads_of_vertex():
    data = {key: value for key, value in TABLES["vertex_request_response"][0].items() if not key.startswith("full")}
    payload = {"request_payload": [text({"prompt": ASK})], "response_payload": [text({"content": ANSWER})]}
    assert row_of({**data, **payload}).response_text == ANSWER
    payload = {
        "request_payload": [text({"prompt": "q0"}), text({"prompt": "q1"})],
        "response_payload": [text({"content": "a0"}), text({"content": "a1"})],
    }
    assert [row.response_text for row in outcomes({**data, **payload})] == ["a0", "a1"]


def test_bodies_of_sagemaker():
    data = TABLES["sagemaker_data_capture"][0]
    plain = {
        "endpointInput": captured(CHAT_REQUEST, "INPUT", "JSON"),
        "endpointOutput": captured(CHAT_RESPONSE, "OUTPUT", "JSON"),
    }
    row = row_of({**data, "captureData": plain})
    assert (row.request_text, row.response_text, row.usage.input_tokens) == (ASK, ANSWER, 3)
    lines = {
        "endpointInput": {
            "observedContentType": "application/jsonlines",
            "data": '{"prompt":"q0"}\n{"prompt":"q1"}',
            "encoding": "JSON",
        },
        "endpointOutput": {
            "observedContentType": "application/jsonlines",
            "data": '{"text":"a0"}\n{"text":"a1"}',
            "encoding": "JSON",
        },
    }
    assert [row.response_text for row in outcomes({**data, "captureData": lines})] == ["a0", "a1"]
    broken = {
        "endpointInput": {"data": "?", "encoding": "BASE64"},
        "endpointOutput": {"data": "AA==", "encoding": "BASE64"},
    }
    assert row_of({**data, "captureData": broken}).request_text == "?"
    assert reject_of({**data, "captureData": {"endpointInput": plain["endpointInput"]}}).code == "upstream_error"


def test_a_stream_in_the_log_of_bedrock():
    data = TABLES["bedrock_invocation_log"][0]
    events = [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"delta": {"text": ANSWER}, "contentBlockIndex": 0}},
        {"messageStop": {"stopReason": "end_turn"}},
    ]
    row = row_of({**data, "output": {"outputBodyJson": events, "outputTokenCount": 2}})
    assert (row.response_text, row.notes, row.usage) == (ANSWER, (), TokenUsage(3, 2, 5))
    assert reject_of({**data, "errorCode": "ThrottlingException", "output": None}).code == "upstream_error"


def test_calls_of_a_proxy_that_stores_no_bodies():
    data = TABLES["litellm_spend_logs"][0]
    assert reject_of({**data, "messages": {}, "response": {}}).code == "no_request"
    assert reject_of({**data, "status": "failure", "response": {}}).code == "upstream_error"
    body = {"body": CHAT_REQUEST}
    assert row_of({**data, "messages": None, "proxy_server_request": body}).request_text == ASK


def test_stored_responses():
    data = {
        "object": "response",
        "id": "resp_1",
        "created_at": SECOND,
        "input": ASK,
        "instructions": "Be brief.",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": ANSWER}]}],
    }
    row = row_of(data)
    assert (row.request_text, row.response_text, [turn.text for turn in row.history]) == (ASK, ANSWER, ["Be brief."])
    assert (
        reject_of({key: value for key, value in data.items() if key not in ("input", "instructions")}).code
        == "no_request"
    )


def test_failed_lines_of_a_batch_file():
    data = {"custom_id": "o1", "body": CHAT_REQUEST, "response": None, "error": {"code": "batch_expired"}}
    assert reject_of(data).code == "upstream_error"
    response = {"status_code": 429, "body": {"error": {"message": "no"}}}
    assert reject_of({**data, "response": response, "error": None}).code == "upstream_error"


def test_conversations_end_with_the_answer():
    turns = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi!"},
        {"role": "user", "content": ASK},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]},
        {"role": "tool", "content": "6:00"},
        {"role": "assistant", "content": ANSWER},
    ]
    row = row_of({"messages": turns})
    assert (row.request_text, row.response_text, len(row.history)) == (ASK, ANSWER, 2)
    assert row.notes == ("later_turns_not_shown",)
    assert row_of({"messages": json.dumps(turns[:2])}).response_text == "Hi!"
    assert reject_of({"messages": turns[:1]}, can_score=lambda row: False).code == "no_response"


def test_the_transform_counts_the_records_of_a_table():
    records = [
        SourceRecord("a.jsonl", "0", GATEWAY),
        SourceRecord("a.jsonl", "1", {**GATEWAY, "status_code": 500}),
        SourceRecord("a.jsonl", "2", {"request": "q", "response": "a"}),
    ]
    with _TestPipeline() as pipeline:
        normalized = pipeline | beam.Create(records) | Normalize(RunConfig(input=["logs"], output="out"), always)
        sums = normalized.counts | "Sum" >> beam.CombinePerKey(sum)
        expected = [("rows", 2), ("rejects", 1), ("reject:upstream_error", 1), ("table:databricks_ai_gateway", 2)]
        assert_that(sums, equal_to(expected))


def test_tables_describe_themselves():
    described = describe_tables({"rows": 3, "table:databricks_ai_gateway": 2}, {"request"})
    assert described == {
        "databricks_ai_gateway": {
            "records": 2,
            "columns": {
                "request_id": "databricks_request_id",
                "timestamp": "request_time or request_date",
                "response": "response",
            },
        }
    }


def shared_lines(name):
    return [json.loads(line) for line in (SHARED / name).read_text(encoding="utf-8").splitlines()]


@needs_shared
def test_inference_tables():
    """Answers are read, blocked and failed calls are rejects, streams that were cut off are judged with a note."""
    outcome_of = {"predict_blocked": "blocked", "stream_blocked": "upstream_error"}
    count = 0
    for data in shared_lines("inference_table_shapes/inference_table.jsonl"):
        case, wanted = data.pop("case"), data.pop("expected")
        if case in outcome_of:
            assert reject_of(data).code == outcome_of[case]
        else:
            row = row_of(data)
            assert row.request_id == data["databricks_request_id"]
            assert row.request_text == wanted["request_text"]
            assert row.latency_seconds is not None
            assert row.timestamp is not None
            assert ("cut_stream" in row.notes) is not wanted["complete"]
            if wanted["complete"]:
                assert row.response_text == wanted["response_text"]
            if case == "predict_ok":
                trace = json.loads(data["response"])["databricks_output"]["trace"]
                assert row.retrieved_context == retrieved(trace)
        count += 1
    assert count == 40


def retrieved(trace):
    """What the trace's one retriever gave, straight from its span."""
    (outputs,) = [
        json.loads(span["attributes"]["mlflow.spanOutputs"])
        for span in trace["data"]["spans"]
        if span["attributes"]["mlflow.spanType"] == '"RETRIEVER"'
    ]
    return tuple(Document(item["metadata"]["doc_uri"], item["page_content"]) for item in outputs)


@needs_shared
def test_conversations_of_sharegpt():
    count = 0
    for data in shared_lines("mtbench/dummy_conversation.jsonl"):
        row = row_of(data)
        said = [turn["value"] for turn in data["conversations"]]
        assert (row.request_id, row.request_text, row.response_text) == (data["id"], said[-2], said[-1])
        assert [turn.text for turn in row.history] == said[:-2]
        count += 1
    assert count == 300


@needs_shared
def test_questions_and_answers_of_mt_bench():
    for data in shared_lines("mtbench/question.jsonl"):
        row = row_of(data)
        assert (row.request_id, row.request_text, row.response) == (str(data["question_id"]), data["turns"][-1], None)
    for data in shared_lines("mtbench/reference_answer_gpt4.jsonl"):
        row = row_of({"request": "q", "response": data})
        assert row.response_text == data["choices"][0]["turns"][-1]


@needs_shared
def test_samples_of_ragas():
    count = 0
    for name in ("annotated_data", "sample_annotated_summary"):
        for data in shared_lines(f"ragas_annotated/{name}.jsonl"):
            row = row_of(data)
            given = data["metric_input"]
            assert (row.request_text, row.response_text) == (given["user_input"], given["response"])
            count += 1
    assert count == 40


@needs_shared
def test_calls_with_a_reported_usage():
    """One call has nothing but a system message, and so no request."""
    count = 0
    for data in shared_lines("reference_token_usage/usage.jsonl"):
        if {message["role"] for message in data["messages"] or ()} == {"system"}:
            assert reject_of(data).code == "no_request"
            continue
        row = row_of(data)
        said = data["output"][0]
        if isinstance(said, str):
            assert row.response_text == said
        assert ("several_choices" in row.notes) is (len(data["output"]) > 1)
        usage = data["usage"]
        given = usage.get("prompt_tokens", usage.get("input_tokens"))
        made = usage.get("completion_tokens", usage.get("output_tokens"))
        assert (row.usage.input_tokens, row.usage.output_tokens) == (given, made)
        assert row.usage.total_tokens == usage.get("total_tokens", given + made)
        count += 1
    assert count == 128


@needs_shared
def test_bodies_of_langsmith_runs():
    read = 0
    for line in shared_lines("langsmith_runs/runs.jsonl"):
        batch = line["document"] if isinstance(line["document"], dict) else {}
        for run in batch.get("patch", []):
            if run.get("inputs") and run.get("outputs"):
                row = row_of({"request": run["inputs"], "response": run["outputs"]})
                assert row.request_text == run["inputs"]["messages"][-1]["content"]
                assert row.response_text == run["outputs"]["choices"][0]["message"]["content"]
                read += 1
    assert read == 4


@needs_shared
def test_mlflow_demo_data_by_named_columns():
    columns = {"request": "query", "response": "v1_response"}
    found = 0
    for data in shared_lines("mlflow_traces/mlflow_demo_data.jsonl"):
        row = row_of(data, columns=columns)
        assert (row.request_text, row.response_text) == (data["query"], data["v1_response"])
        assert row.expected_response == data["expected_response"]
        found += 1
    assert found == 17


APP = {"endpoints": {"default": {"model": "lexical"}, "app": {"model": "agent"}}}
SERVING = {
    "databricks_request_id": "1",
    "timestamp_ms": SECOND * 1000,
    "execution_time_ms": 30,
    "status_code": 200,
    "request": '{"messages":[{"role":"user","content":"q"}]}',
}


@pytest.mark.parametrize("nothing", [None, "", "null", "[]", "{}", [], {}])
def test_a_call_without_a_response_is_made_anew_by_an_application(nothing):
    data = {**SERVING, "response": nothing}
    assert reject_of(data).code == "upstream_error"
    row = row_of(data, **APP)
    assert (row.unanswered, row.response) == (SERVING["request"], None)
    assert (row.latency_seconds, row.usage) == (None, TokenUsage()), "those of another call"


def test_a_call_that_failed_and_one_with_an_answer_are_not_made_anew():
    failed = {**SERVING, "response": None, "status_code": 500}
    assert reject_of(failed, **APP).reason == "the logged call ended with status 500"
    answered = row_of({**SERVING, "response": '{"choices":[{"message":{"content":"a"}}]}'}, **APP)
    assert (answered.unanswered, answered.response_text, answered.latency_seconds) == (None, "a", 0.03)
    assert reject_of({**SERVING, "response": None, "trace": "{}", "request_raw": "q"}, **APP).code == "upstream_error"


def test_a_batch_of_a_table_without_a_response_is_asked_row_by_row():
    request = '{"dataframe_records":[{"query":"a"},{"query":"b"}]}'
    rows = outcomes({**SERVING, "request": request, "response": "null"}, **APP)
    assert [row.unanswered for row in rows] == ['{"query":"a"}', '{"query":"b"}']


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"response": "", "status": 200}, ""),
        ({"response": "None", "status": "200"}, "None"),
        ({"response": '{"b": 1, "a": 2}', "status": 200}, '{"b": 1, "a": 2}'),
        ({"response": "a", "status": 200, "id": {"$oid": "1"}, "time": ["x"]}, "a"),
        ({"response": "", "error": {"code": None, "message": None}}, ""),
        ({"response": "", "error": [None]}, ""),
        ({"response": "", "error": "No error"}, ""),
        ({"response": "", "error": False}, ""),
    ],
)
def test_a_status_or_an_error_that_says_nothing_leaves_a_plain_row_as_it_is(data, text):
    assert row_of({"request": "q", **data}).response_text == text


@pytest.mark.parametrize(
    "data",
    [
        {"response": "Internal Server Error", "status": 500},
        {"response": "", "error": "Timeout"},
        {"error": {"message": "no"}},
        {"response": None, "error": "None of the servers answered"},
    ],
)
def test_a_status_or_an_error_of_a_failed_call_is_no_answer(data):
    assert reject_of({"request": "q", **data}).code == "upstream_error"


NAMED = {"columns": {"request": "question", "response": "answer"}}


@pytest.mark.parametrize(
    "beside",
    [
        {"context": {"title": ["t"]}},
        {"ground_truth": {"x": 1}},
        {"id": {"$oid": "1"}},
        {"ts": {"$date": "2026-11-30"}},
        {"status": "404"},
    ],
)
def test_columns_beside_a_pair_that_the_user_has_named_reject_nothing(beside):
    row = row_of({"question": "q", "answer": "a", **beside}, **NAMED)
    assert (row.request_text, row.response_text, row.retrieved_context) == ("q", "a", None)


@pytest.mark.parametrize("beside", [{"context": {"title": ["t"]}}, {"reference": [{"x": 1}]}, {"id": {"$oid": "1"}}])
def test_columns_of_another_kind_beside_a_pair_are_not_its(beside):
    row = row_of({"question": "q", "answer": "a", **beside})
    assert (row.request_text, row.retrieved_context, row.expected_response) == ("q", None, None)


def test_a_blank_answer_of_a_pair_is_an_answer():
    assert row_of({"prompt": "q", "completion": ""}).response_text == ""


def test_a_number_beside_a_pair_is_its_reference():
    assert row_of({"question": "q", "answer": "6", "ground_truth": 5}).expected_response == "5"


@pytest.mark.parametrize(
    ("data", "response"),
    [
        ({"messages": CHAT_REQUEST["messages"], "response": "A", "choices": ["A", "B"]}, "A"),
        ({"messages": CHAT_REQUEST["messages"], "response": "A", "choices": None}, "A"),
        ({"prompt": "q", "messages": None, "response": "A"}, "A"),
    ],
)
def test_columns_beside_messages_or_a_prompt_change_nothing(data, response):
    assert row_of(data).response_text == response


@pytest.mark.parametrize("name", ["answer", "completion"])
def test_a_conversation_beside_a_reference_is_a_question(name):
    data = {"conversations": [{"from": "human", "value": "q"}], name: "42"}
    assert recognise_table(data).name == "conversation"


def test_a_trace_that_says_nothing_leaves_the_columns_of_search_traces():
    attributes = {"mlflow.spanInputs": "{}", "mlflow.spanOutputs": "[]"}
    span = {"name": "r", "span_id": "1", "parent_id": None, "attributes": attributes}
    trace = {"info": {"trace_id": "t", "state": "OK"}, "data": {"spans": [span]}}
    row = row_of({"trace_id": "t", "trace": trace, "request": "q", "response": "a", "state": "OK", "request_time": 1})
    assert (row.request_text, row.response_text) == ("q", "a")


@pytest.mark.parametrize(
    "own", [{"error": {"mean": 0.1}, "score": 0.9}, {"error": {}, "items": [1]}, {"error": "none"}]
)
@pytest.mark.parametrize("name", ["output", "response", "body"])
def test_a_field_error_of_an_application_is_no_fault(own, name):
    assert row_of({"request": "q", "response": {name: own}}).response is not None
