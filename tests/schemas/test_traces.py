import base64
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamjudge.schemas.requests import normalize_request
from beamjudge.schemas.responses import normalize_response
from beamjudge.schemas.row import Document, TokenUsage
from beamjudge.schemas.traces import TRACE_FORMATS, TraceError, read_trace

SHARED = Path(__file__).parents[2] / "../shared/data/mlflow_traces/traces_v3.jsonl"
START = 1_795_997_595_073_160_449  # above 2**53
IDS = ["00f067aa0ba902b7", "53995c3f42cd8ad8", "a3ce929d0e0e4736", "1d5ac7e4b2f09c31"]


def _base64(hexadecimal):
    return base64.b64encode(bytes.fromhex(hexadecimal)).decode()


def _attributes(kind, inputs, outputs, usage=None):
    attributes = {"mlflow.spanType": json.dumps(kind)}
    if inputs is not None:
        attributes["mlflow.spanInputs"] = json.dumps(inputs)
    if outputs is not None:
        attributes["mlflow.spanOutputs"] = json.dumps(outputs)
    if usage:
        attributes["mlflow.chat.tokenUsage"] = json.dumps(usage)
    return attributes


def span_v2(own, parent, kind="CHAIN", inputs=None, outputs=None, start=START, usage=None, name="step"):
    return {
        "name": name,
        "context": {"span_id": f"0x{IDS[own]}", "trace_id": "0x1"},
        "parent_id": None if parent is None else f"0x{IDS[parent]}",
        "start_time": start,
        "end_time": start + 2_500_000_000,
        "attributes": _attributes(kind, inputs, outputs, usage),
    }


def span_v3(own, parent, kind="CHAIN", inputs=None, outputs=None, start=START, usage=None, name="step"):
    return {
        "name": name,
        "span_id": _base64(IDS[own]),
        "parent_span_id": None if parent is None else _base64(IDS[parent]),
        "start_time_unix_nano": start,
        "end_time_unix_nano": start + 2_500_000_000,
        "attributes": _attributes(kind, inputs, outputs, usage),
    }


def trace_v2(spans, info=None, **data):
    return {"info": {"request_id": "tr-1", **(info or {})}, "data": {"spans": spans, **data}}


def trace_v3(spans, **info):
    return {"info": {"trace_id": "tr-1", **info}, "data": {"spans": spans}}


DOC = {"page_content": "text", "metadata": {"doc_uri": "d1"}, "id": "x"}


def test_v2_reads_the_full_request_beside_the_spans():
    request = {"messages": [{"role": "user", "content": "q"}]}
    info = {"execution_time_ms": 1500, "request_metadata": {"mlflow.traceInputs": '{"messages": [{"ro...'}}
    facts = read_trace(trace_v2([span_v2(0, None)], info, request=json.dumps(request), response='"a"'))
    assert (facts.request, facts.response, facts.latency_seconds) == (request, "a", 1.5)


def test_v2_falls_back_to_the_root_span():
    facts = read_trace(trace_v2([span_v2(1, 0, inputs="inner"), span_v2(0, None, inputs="q", outputs="a")]))
    assert (facts.request, facts.response) == ("q", "a")


def test_v3_reads_the_root_span_and_never_the_previews():
    spans = [span_v3(0, None, inputs={"messages": [{"role": "user", "content": "How do I do it?"}]}, outputs="a")]
    cut = '{"messages": [{"role": "user", "content": "How do I..."}'
    trace = trace_v3(spans, request_preview="How", response_preview="x", trace_metadata={"mlflow.traceInputs": cut})
    facts = read_trace(trace)
    assert normalize_request(facts.request).text == "How do I do it?"
    assert facts.response == "a"
    assert read_trace(json.dumps(trace)) == facts


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ({"question": "q"}, "q"),
        ({"request": "q"}, "q"),
        ({"input": "q"}, "q"),
        ({"inputs": {"question": "q"}}, "q"),
        ([{"role": "user", "content": [{"text": "q"}]}], "q"),
        ("q", "q"),
        ({"question": "q", "k": 3}, '{"k":3,"question":"q"}'),
    ],
)
def test_the_only_argument_of_a_traced_function_is_the_request(inputs, text):
    assert normalize_request(read_trace(trace_v3([span_v3(0, None, inputs=inputs)])).request).text == text


@pytest.mark.parametrize("outputs", [{"response": "a"}, "a", {"answer": {"choices": [{"message": {"content": "a"}}]}}])
def test_the_only_field_of_the_outputs_is_the_response(outputs):
    assert normalize_response(read_trace(trace_v3([span_v3(0, None, outputs=outputs)])).response).text == "a"


@pytest.mark.parametrize(
    ("info", "seconds"),
    [
        ({"execution_duration_ms": 7}, 0.007),
        ({"execution_duration": "0.5s"}, 0.5),
        ({"execution_duration_ms": 0}, 0.0),
        ({}, 2.5),
    ],
)
def test_latency(info, seconds):
    assert read_trace(trace_v3([span_v3(0, None)], **info)).latency_seconds == seconds


@pytest.mark.parametrize(
    ("info", "root", "failed"),
    [
        ({"state": "ERROR"}, {}, True),
        ({"status": "ERROR"}, {}, True),
        ({"state": "OK"}, {"status": {"code": "STATUS_CODE_ERROR", "message": "boom"}}, True),
        ({}, {"status": {"status_code": "ERROR"}}, True),
        ({"state": "OK"}, {"status": {"code": "STATUS_CODE_OK"}}, False),
        ({"state": "IN_PROGRESS"}, {"status": {"code": "STATUS_CODE_UNSET"}}, False),
        ({}, {}, False),
    ],
)
def test_a_trace_or_its_root_failed(info, root, failed):
    inner = {**span_v3(1, 0), "status": {"code": "STATUS_CODE_ERROR"}}  # which the application got over
    spans = [{**span_v3(0, None, inputs="q"), **root}, inner]
    assert read_trace(trace_v3(spans, **info)).failed is failed
    assert read_trace(trace_v2(spans, info)).failed is failed


@pytest.mark.parametrize("span", [span_v2, span_v3])
def test_the_chronologically_last_outer_retriever_counts(span):
    spans = [
        span(0, None),
        span(1, 0, "RETRIEVER", outputs=[{"content": "later", "doc_uri": "b"}], start=START + 200),
        span(2, 1, "RETRIEVER", outputs=[{"content": "inner", "doc_uri": "c"}], start=START + 300),
        span(3, 0, "RETRIEVER", outputs=[{"content": "earlier", "doc_uri": "a"}], start=START + 100),
    ]
    assert read_trace(trace_v3(spans)).retrieved_context == (Document("b", "later"),)


def test_one_nanosecond_decides():
    spans = [
        span_v3(1, None, "RETRIEVER", outputs=["late"], start=START + 1),
        span_v3(2, None, "RETRIEVER", outputs=["early"], start=START),
    ]
    assert read_trace(trace_v3(spans)).retrieved_context == (Document(None, "late"),)


def test_ids_in_hex_and_base64_find_each_other():
    inner = {**span_v3(2, 1, "RETRIEVER", outputs=["inner"], start=START + 9), "parent_span_id": f"0x{IDS[1]}"}
    spans = [span_v3(0, None), span_v3(1, 0, "RETRIEVER", outputs=["outer"]), inner]
    assert read_trace(trace_v3(spans)).retrieved_context == (Document(None, "outer"),)


def test_a_span_whose_parent_is_missing_still_counts():
    spans = [span_v3(0, None), span_v3(1, 3, "RETRIEVER", outputs=[DOC])]
    assert read_trace(trace_v3(spans)).retrieved_context == (Document("d1", "text"),)


def test_a_cycle_of_parents_ends():
    spans = [span_v3(0, 1, "RETRIEVER", outputs=[DOC]), span_v3(1, 0)]
    assert read_trace(trace_v3(spans)).retrieved_context in (None, (Document("d1", "text"),))


def test_no_retriever_is_null_and_nothing_found_is_empty():
    assert read_trace(trace_v3([span_v3(0, None)])).retrieved_context is None
    assert read_trace(trace_v3([span_v3(0, None, "RETRIEVER", outputs=[])])).retrieved_context == ()
    assert read_trace(trace_v3([span_v3(0, None, "RETRIEVER")])).retrieved_context is None


@pytest.mark.parametrize(
    ("outputs", "documents"),
    [
        ([DOC], (Document("d1", "text"),)),
        ({"documents": [DOC]}, (Document("d1", "text"),)),
        ([{"content": "c", "text": "t", "source": "s"}], (Document("s", "c"),)),
        ([{"text": "t", "metadata": {"id": "i", "source": "s"}}], (Document("i", "t"),)),
        ([{"text": "t", "metadata": {}}], (Document(None, "t"),)),
        (["a", "b"], (Document(None, "a"), Document(None, "b"))),
        ([{"text": "t", "id": 7}], (Document("7", "t"),)),
    ],
)
def test_documents(outputs, documents):
    assert read_trace(trace_v3([span_v3(0, None, "RETRIEVER", outputs=outputs)])).retrieved_context == documents


def test_the_trace_tag_names_the_uri_key():
    schema = {"name": "retriever", "primary_key": "pk", "text_column": "body", "doc_uri": "url", "other_columns": []}
    document = {"body": "text", "metadata": {"doc_uri": "d", "url": "u"}}
    spans = [span_v3(0, None, "RETRIEVER", outputs=[document])]
    trace = trace_v3(spans, tags={"retrievers": json.dumps([schema])})
    assert read_trace(trace).retrieved_context == (Document("u", "text"),)
    other = trace_v3(spans, tags={"retrievers": '[{"na...'})
    assert read_trace(other).retrieved_context == (Document("d", None),)


def test_usage_below_a_reporting_span_is_not_counted_twice():
    spans = [
        span_v3(0, None),
        span_v3(1, 0, usage={"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}),
        span_v3(2, 1, outputs={"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 2}}),
        span_v3(3, 0, outputs={"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 1}}),
    ]
    assert read_trace(trace_v3(spans)).usage == TokenUsage(15, 3, 18)


def test_a_part_of_the_tokens_is_not_their_sum():
    spans = [span_v3(0, None), span_v3(1, 0, usage={"input_tokens": 10}), span_v3(2, 0, usage={"total_tokens": 3})]
    assert read_trace(trace_v3(spans)).usage == TokenUsage(None, None, None)
    assert read_trace(trace_v3([span_v3(0, None)])).usage is None


def test_bare_spans_are_read():
    spans = [{"parent_id": None, "attributes": {"mlflow.spanInputs": '{"messages": []}', "mlflow.spanOutputs": '"a"'}}]
    assert read_trace({"spans": spans}).response == "a"
    assert read_trace({"data": {"spans": spans}}).response == "a"


@pytest.mark.parametrize(
    "trace",
    ["", "{", "text", "[]", 5, [], {}, {"spans": []}, {"info": {}}, {"info": {"trace_id": "t"}, "data": {"spans": 5}}],
)
def test_unreadable_traces(trace):
    with pytest.raises(TraceError) as caught:
        read_trace(trace)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "trace",
    [trace_v2([], request="q"), trace_v3([]), {"spans": [span_v3(0, None)]}, {"data": {"request": "q", "spans": []}}],
)
def test_every_trace_is_claimed_by_exactly_one_format(trace):
    assert len([each.name for each in TRACE_FORMATS if each.matches(trace)]) == 1


def test_a_deep_chain_of_spans_takes_linear_time():
    spans = [
        {"span_id": str(index), "parent_id": str(index - 1) if index else None, "attributes": {"mlflow.spanType": "x"}}
        for index in range(20_000)
    ]
    assert read_trace(trace_v3(spans)).retrieved_context is None


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["attributes", "span_id", "parent_id", "start_time", "end_time", "name", "context"]), ANY
    ),
    ANY,
    ANY,
)
def test_any_span_is_read_or_a_trace_error(span, attribute, tag):
    kinds = {"mlflow.spanType": "RETRIEVER", "mlflow.spanOutputs": attribute, "mlflow.chat.tokenUsage": attribute}
    for each in (span, {**span, "attributes": kinds}):
        trace = {
            "info": {"trace_id": tag or 1, "tags": {"retrievers": tag}, "execution_duration_ms": tag},
            "data": {"spans": [each]},
        }
        read_trace(trace)


@pytest.mark.skipif(not SHARED.exists(), reason="the traces with known answers are not here")
def test_traces_with_known_answers():
    for line in SHARED.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        facts, expected = read_trace(record["trace"]), record["expected"]
        assert normalize_request(facts.request).text == expected["last_user_message"]
        assert normalize_response(facts.response).text == expected["response_text"]
        assert [document.doc_uri for document in facts.retrieved_context] == expected["retrieved_doc_uris"]
