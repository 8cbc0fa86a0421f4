"""Every trace format but MLflow's own: what is read from small traces that were written for these tests."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamjudge.schemas.requests import normalize_request
from beamjudge.schemas.responses import normalize_response
from beamjudge.schemas.row import Document, TokenUsage
from beamjudge.schemas.traces import TRACE_FORMATS, TraceError, read_trace
from beamjudge.schemas.traces.attribute_spans import read_attribute_span
from beamjudge.schemas.traces.values import time_nanoseconds

DATA = Path(__file__).parents[2] / "../shared/data"
START = 1_795_997_595_073_160_449
SECOND = 1_000_000_000


def _any(value):
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_any(item) for item in value]}}
    return {"stringValue": value}


def otlp_span(own, parent=None, start=0, seconds=1, events=(), **attributes):
    logged = [{"key": key.replace("__", "."), "value": _any(value)} for key, value in attributes.items()]
    return {
        "traceId": "5b8aa5a2d2c872e8321cf37308d69df2",
        "spanId": own,
        "parentSpanId": parent or "",
        "name": own,
        "startTimeUnixNano": str(START + start),
        "endTimeUnixNano": str(START + start + seconds * SECOND),
        "attributes": logged,
        "events": [
            {"name": name, "attributes": [{"key": key, "value": _any(value)} for key, value in said.items()]}
            for name, said in events
        ],
        "status": {},
    }


def otlp(*spans):
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def flat_span(own, parent=None, start=0, seconds=1, attributes=None):
    return {
        "name": own,
        "context": {"trace_id": "0x1", "span_id": own},
        "parent_id": parent,
        "start_time": f"2026-11-29T10:00:{start:02d}.000000Z",
        "end_time": f"2026-11-29T10:00:{start + seconds:02d}.000000Z",
        "attributes": attributes or {},
        "events": [],
    }


def texts(facts):
    request, response = normalize_request(facts.request), normalize_response(facts.response)
    return (request and request.text, response and response.text)


MESSAGES = [
    {"role": "user", "parts": [{"type": "text", "content": "earlier"}]},
    {"role": "assistant", "parts": [{"type": "text", "content": "reply"}]},
    {"role": "user", "parts": [{"type": "text", "content": "Which tea?"}]},
]
ANSWER = [{"role": "assistant", "parts": [{"type": "text", "content": "Green tea."}], "finish_reason": "stop"}]
USAGE = {"gen_ai__usage__input_tokens": 7, "gen_ai__usage__output_tokens": 3}


def test_gen_ai_messages_of_the_present_conventions():
    chat = otlp_span(
        "b",
        "a",
        1,
        gen_ai__operation__name="chat",
        gen_ai__input__messages=json.dumps(MESSAGES),
        gen_ai__output__messages=json.dumps(ANSWER),
        gen_ai__system_instructions=json.dumps([{"type": "text", "content": "Be brief."}]),
        **USAGE,
    )
    server = otlp_span("a", seconds=3, http__request__method="POST")
    facts = read_trace(otlp(chat, server))
    assert texts(facts) == ("Which tea?", "Green tea.")
    assert [turn.role for turn in normalize_request(facts.request).history] == ["system", "user", "assistant"]
    assert facts.usage == TokenUsage(7, 3, 10)
    assert (facts.latency_seconds, facts.retrieved_context) == (3.0, None)


def test_gen_ai_messages_on_the_details_event():
    said = {"gen_ai.input.messages": json.dumps(MESSAGES), "gen_ai.output.messages": json.dumps(ANSWER)}
    event = ("gen_ai.client.inference.operation.details", said)
    facts = read_trace(otlp(otlp_span("a", events=[event], gen_ai__operation__name="chat")))
    assert texts(facts) == ("Which tea?", "Green tea.")


def test_gen_ai_message_events():
    events = [
        ("gen_ai.system.message", {"content": "Be brief."}),
        ("gen_ai.user.message", {"content": "Which tea?"}),
        ("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": '{"content": "Green tea."}'}),
    ]
    facts = read_trace(otlp(otlp_span("a", events=events, gen_ai__usage__prompt_tokens=5)))
    assert texts(facts) == ("Which tea?", "Green tea.")
    assert facts.usage == TokenUsage(5, None, None)


def test_gen_ai_content_events_of_the_first_conventions():
    events = [
        ("gen_ai.content.prompt", {"gen_ai.prompt": '[{"role": "user", "content": "Which tea?"}]'}),
        ("gen_ai.content.completion", {"gen_ai.completion": '[{"role": "assistant", "content": "Green tea."}]'}),
    ]
    assert texts(read_trace(otlp(otlp_span("a", events=events, gen_ai__system="openai")))) == (
        "Which tea?",
        "Green tea.",
    )


def test_numbered_messages_of_openllmetry_in_numeric_order():
    turns = {f"gen_ai.prompt.{number}.content": f"turn {number}" for number in (10, 9, 2)}
    roles = {f"gen_ai.prompt.{number}.role": "user" for number in (10, 9, 2)}
    attributes = {
        **turns,
        **roles,
        "gen_ai.completion.0.content": "Green tea.",
        "gen_ai.completion.0.role": "assistant",
    }
    span = otlp_span("a", **{key.replace(".", "__"): value for key, value in attributes.items()})
    facts = read_trace(otlp(span))
    assert texts(facts) == ("turn 10", "Green tea.")
    assert [turn.text for turn in normalize_request(facts.request).history] == ["turn 2", "turn 9"]


def test_the_workflow_of_openllmetry_is_the_application():
    chat = otlp_span("b", "a", 1, gen_ai__prompt__0__content="inner", gen_ai__completion__0__content="inner answer")
    root = otlp_span(
        "a",
        traceloop__span__kind="workflow",
        traceloop__entity__input='{"question": "Which tea?"}',
        traceloop__entity__output='{"answer": "Green tea."}',
    )
    assert texts(read_trace(otlp(chat, root))) == ("Which tea?", "Green tea.")


def test_an_agent_speaks_for_a_root_that_says_nothing():
    agent = otlp_span(
        "b",
        "a",
        2,
        gen_ai__operation__name="invoke_agent",
        gen_ai__input__messages=json.dumps(MESSAGES),
        gen_ai__output__messages=json.dumps(ANSWER),
    )
    earlier = otlp_span("c", "a", 1, gen_ai__operation__name="chat", gen_ai__prompt__0__content="route this")
    assert texts(read_trace(otlp(otlp_span("a"), earlier, agent))) == ("Which tea?", "Green tea.")


def test_a_chain_of_calls_asks_first_and_answers_last():
    call = [{"role": "assistant", "parts": [{"type": "tool_call", "id": "1", "name": "tea", "arguments": {}}]}]
    first = otlp_span(
        "b", "a", 1, gen_ai__input__messages=json.dumps(MESSAGES), gen_ai__output__messages=json.dumps(call)
    )
    tool = otlp_span("c", "a", 2, gen_ai__operation__name="execute_tool", gen_ai__prompt="{}")
    last = otlp_span(
        "d",
        "a",
        3,
        gen_ai__input__messages=json.dumps([*MESSAGES, *call]),
        gen_ai__output__messages=json.dumps(ANSWER),
    )
    assert texts(read_trace(otlp(last, tool, first, otlp_span("a", seconds=9)))) == ("Which tea?", "Green tea.")


def test_a_retrieval_span_of_the_conventions():
    found = [{"id": "d1", "score": 0.9, "content": "Tea is a drink."}, {"id": "d2", "score": 0.5}]
    retrieval = otlp_span("b", "a", gen_ai__operation__name="retrieval", gen_ai__retrieval__documents=json.dumps(found))
    facts = read_trace(otlp(otlp_span("a"), retrieval))
    assert facts.retrieved_context == (Document("d1", "Tea is a drink."), Document("d2", None))


def test_usage_of_an_agent_counts_once():
    agent = otlp_span("a", gen_ai__operation__name="invoke_agent", **USAGE)
    chat = otlp_span("b", "a", gen_ai__operation__name="chat", **USAGE)
    orphan = otlp_span("c", "missing", gen_ai__operation__name="chat", **USAGE)
    assert read_trace(otlp(chat, agent, orphan)).usage == TokenUsage(14, 6, 20)


def test_openinference_documents_come_in_numeric_order():
    retriever = flat_span(
        "r",
        attributes={
            "openinference.span.kind": "RETRIEVER",
            "retrieval.documents.0.document.content": "A",
            "retrieval.documents.0.document.id": "d1",
            "retrieval.documents.10.document.content": "K",
            "retrieval.documents.2.document.content": "C",
            "retrieval.documents.2.document.metadata": '{"doc_uri": "d3"}',
        },
    )
    expected = (Document("d1", "A"), Document("d3", "C"), Document(None, "K"))
    assert read_trace({"spans": [retriever]}).retrieved_context == expected
    assert read_trace([retriever]).retrieved_context == expected
    assert read_trace({"attributes": retriever["attributes"]}).retrieved_context == expected


def _openinference(kind, **attributes):
    return {"openinference.span.kind": kind, **{key.replace("__", "."): value for key, value in attributes.items()}}


def _rag_spans():
    usage = {"llm__token_count__prompt": 11, "llm__token_count__completion": 4, "llm__token_count__total": 15}
    chain = _openinference(
        "CHAIN",
        input__value='{"question": "Which tea?"}',
        input__mime_type="application/json",
        output__value="Green tea.",
    )
    return [
        flat_span("chain", seconds=5, attributes=chain),
        flat_span(
            "late",
            "chain",
            3,
            attributes={**_openinference("RETRIEVER"), "retrieval.documents.0.document.content": "L"},
        ),
        flat_span(
            "inner",
            "late",
            4,
            attributes={**_openinference("RETRIEVER"), "retrieval.documents.0.document.content": "I"},
        ),
        flat_span(
            "early",
            "chain",
            1,
            attributes={**_openinference("RETRIEVER"), "retrieval.documents.0.document.content": "E"},
        ),
        flat_span("llm", "chain", 4, attributes=_openinference("LLM", input__value="prompt", **usage)),
    ]


def test_openinference_root_retrieval_and_tokens():
    facts = read_trace({"spans": _rag_spans()})
    assert texts(facts) == ("Which tea?", "Green tea.")
    assert facts.retrieved_context == (Document(None, "L"),)
    assert facts.usage == TokenUsage(11, 4, 15)
    assert facts.latency_seconds == 5.0


def test_phoenix_exports_have_a_column_for_each_attribute():
    rows = []
    for span in _rag_spans():
        row = {f"attributes.{key}": value for key, value in span["attributes"].items()}
        row.pop("attributes.retrieval.documents.0.document.content", None)
        documents = span["attributes"].get("retrieval.documents.0.document.content")
        rows.append(
            {
                "name": span["name"],
                "span_kind": row.pop("attributes.openinference.span.kind"),
                "parent_id": span["parent_id"],
                "start_time": span["start_time"],
                "end_time": span["end_time"],
                "context.span_id": span["name"],
                "context.trace_id": "1",
                **row,
                "attributes.retrieval.documents": documents and [{"document.content": documents}],
                "attributes.openinference.span.kind": span["attributes"]["openinference.span.kind"],
            }
        )
    assert read_trace({"spans": rows}) == read_trace({"spans": _rag_spans()})


def test_attributes_nested_into_objects():
    nested = {
        "openinference": {"span": {"kind": "RETRIEVER"}},
        "input": {"value": "Which tea?"},
        "retrieval": {"documents": [{"document": {"content": "A", "id": "d1", "metadata": {"source": "s"}}}]},
    }
    facts = read_trace({"spans": [flat_span("r", attributes=nested)]})
    assert (facts.request, facts.retrieved_context) == ("Which tea?", (Document("d1", "A"),))
    assert facts.response is None


def test_a_retriever_that_found_nothing_and_one_that_failed():
    empty = flat_span("r", attributes=_openinference("RETRIEVER", input__value="q"))
    assert read_trace([empty]).retrieved_context == ()
    assert read_trace([{**empty, "status": {"status_code": "ERROR"}}]).retrieved_context is None
    none = flat_span("r", attributes=_openinference("LLM", input__value="q"))
    assert read_trace([none]).retrieved_context is None


def test_openinference_messages_of_a_model_alone():
    attributes = {
        **_openinference("LLM", input__value="User: Which tea?", output__value="x"),
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": "Be brief.",
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.1.message.contents.0.message_content.type": "text",
        "llm.input_messages.1.message.contents.0.message_content.text": "Which tea?",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Green tea.",
    }
    assert texts(read_trace([flat_span("a", attributes=attributes)])) == ("Which tea?", "Green tea.")


def test_attributes_that_are_columns_and_spans_of_javascript():
    attributes = {"openinference.span.kind": "LLM", "input.value": "Which tea?", "output.value": "Green tea."}
    assert texts(read_trace(attributes)) == ("Which tea?", "Green tea.")
    root = {"_spanContext": {"traceId": "t", "spanId": "a"}, "startTime": [1, 5], "endTime": [3, 5]}
    inner = {"spanContext": {"traceId": "t", "spanId": "b"}, "parentSpanContext": {"spanId": "a"}, "attributes": {}}
    facts = read_trace([inner, {**root, "attributes": attributes}])
    assert (*texts(facts), facts.latency_seconds) == ("Which tea?", "Green tea.", 2.0)


def trulens_span(own, parent, kind, start, **attributes):
    named = {"ai.observability." + key.replace("__", "."): value for key, value in attributes.items()}
    return {
        "event_id": own,
        "record": {"kind": 1, "name": own, "parent_span_id": parent},
        "record_type": "SPAN",
        "record_attributes": {"ai.observability.span_type": kind, "ai.observability.record_id": "r1", **named},
        "start_timestamp": f"2026-11-29 10:00:{start:02d}.000000",
        "timestamp": f"2026-11-29 10:00:{start + 2:02d}.000000",
        "trace": {"parent_id": parent, "span_id": own, "trace_id": "38"},
    }


def test_trulens_without_its_evaluations():
    cost = {"cost__num_prompt_tokens": 336, "cost__num_completion_tokens": 93, "cost__num_tokens": 429}
    spans = [
        trulens_span("9", "", "eval_root", 8, call__kwargs__x="judge"),
        trulens_span("1", "", "record_root", 0, record_root__input="Which tea?", record_root__output="Green tea."),
        trulens_span("2", "1", "retrieval", 1, retrieval__retrieved_contexts=["A", "B"]),
        trulens_span("3", "1", "generation", 1, call__return="Green tea.", **cost),
        trulens_span("4", "1", "eval", 9, call__return="0.5", **cost),
    ]
    facts = read_trace({"spans": spans})
    assert texts(facts) == ("Which tea?", "Green tea.")
    assert facts.retrieved_context == (Document(None, "A"), Document(None, "B"))
    assert (facts.usage, facts.latency_seconds) == (TokenUsage(336, 93, 429), 2.0)


def _run(own, parent, kind, start, inputs, outputs, **more):
    return {
        "id": own,
        "trace_id": "t",
        "parent_run_id": parent,
        "name": own,
        "run_type": kind,
        "start_time": f"2026-11-29T10:00:{start:02d}.500000",
        "end_time": f"2026-11-29T10:00:{start + 1:02d}.000000",
        "inputs": inputs,
        "outputs": outputs,
        **more,
    }


def _runs():
    documents = [{"page_content": "A", "metadata": {"source": "s1"}, "type": "Document"}]
    return [
        _run("retriever", "root", "retriever", 1, {"query": "tea"}, {"documents": documents}),
        _run("llm", "root", "llm", 2, {"messages": []}, {}, prompt_tokens=3, completion_tokens=2, total_tokens=5),
        _run("root", None, "chain", 0, {"question": "Which tea?"}, {"answer": "Green tea."}),
    ]


def test_langsmith_runs_in_a_list_in_a_tree_and_as_text():
    facts = read_trace(_runs())
    assert texts(facts) == ("Which tea?", "Green tea.")
    assert facts.retrieved_context == (Document("s1", "A"),)
    assert (facts.usage, facts.latency_seconds) == (TokenUsage(3, 2, 5), 0.5)
    *children, root = _runs()
    assert read_trace({**root, "child_runs": children}) == facts
    exported = [{**run, "inputs": json.dumps(run["inputs"]), "outputs": json.dumps(run["outputs"])} for run in _runs()]
    assert read_trace(exported) == facts


def test_a_langsmith_batch_is_its_posts_and_patches():
    *children, root = _runs()
    begun = {**root, "outputs": {}, "end_time": None}
    order = "20261129T100000000000Zroot"
    ended = {"id": "root", "trace_id": "t", "dotted_order": order, "outputs": root["outputs"]}
    ended["end_time"] = root["end_time"]
    assert read_trace({"post": [begun, *children], "patch": [ended]}) == read_trace(_runs())


def test_langsmith_parents_from_the_dotted_order():
    inner = _run("b", None, "retriever", 1, {}, {"documents": []}, dotted_order="20261129T1Za.20261129T2Zb")
    root = _run("a", None, "chain", 2, {"input": "q"}, {"output": "a"}, dotted_order="20261129T1Za")
    facts = read_trace([inner, root])
    assert (texts(facts), facts.retrieved_context) == (("q", "a"), ())


def _observations():
    return [
        {
            "id": "g",
            "traceId": "t",
            "type": "GENERATION",
            "parentObservationId": "s",
            "startTime": "2026-11-29T10:00:01.000Z",
            "endTime": "2026-11-29T10:00:02.000Z",
            "input": [{"role": "user", "content": "Which tea?"}],
            "output": {"role": "assistant", "content": "Green tea."},
            "usageDetails": {"input": 8, "output": 4, "total": 12},
            "usage": {"input": 0, "output": 0, "total": 0},
        },
        {
            "id": "r",
            "traceId": "t",
            "type": "RETRIEVER",
            "parentObservationId": "s",
            "startTime": "2026-11-29T10:00:00.500Z",
            "output": [{"content": "A", "id": "d1"}],
        },
        {
            "id": "s",
            "traceId": "t",
            "type": "SPAN",
            "parentObservationId": None,
            "startTime": "2026-11-29T10:00:00.000Z",
            "endTime": "2026-11-29T10:00:03.000Z",
            "input": {"question": "Which tea?"},
            "output": "Green tea.",
        },
    ]


def test_langfuse_trace_and_observations():
    facts = read_trace(_observations())
    assert texts(facts) == ("Which tea?", "Green tea.")
    assert facts.retrieved_context == (Document("d1", "A"),)
    assert (facts.usage, facts.latency_seconds) == (TokenUsage(8, 4, 12), 3.0)
    trace = {"id": "t", "timestamp": "2026-11-29T10:00:00Z", "input": None, "output": None, "latency": 3.25}
    assert read_trace({**trace, "observations": _observations()}) == facts._replace(latency_seconds=3.25)
    whole = {**trace, "input": "Asked", "output": {"answer": "Said"}, "observations": []}
    assert texts(read_trace(whole)) == ("Asked", "Said")


@pytest.mark.parametrize(
    "span",
    [
        {"context": {"span_id": "b", "parent_id": "a"}},
        {"trace": {"span_id": "b"}, "record": {"parent_span_id": "a"}},
        {"spanContext": {"spanId": "b"}, "parentSpanContext": {"spanId": "a"}},
        {"spanId": 0, "context": {"span_id": "b"}, "parent_id": "a"},
        {"spanId": False, "_spanContext": {"spanId": "b"}, "parentSpanId": "a"},
    ],
)
def test_ids_in_every_place(span):
    """The child's answer is the parent's no more than its question is."""
    parent = {"spanId": "a", "attributes": {"gen_ai.prompt": "q"}}
    child = {**span, "attributes": {"gen_ai.prompt": "inner", "gen_ai.completion": "a"}}
    facts = read_trace([parent, child])
    assert (facts.request, facts.response) == ("q", None), "the root alone speaks"
    assert read_attribute_span(child)[:2] == ("b", "a")


CONTENT = {
    "gen_ai.input.messages": ("request", '[{"role":"user","content":"x"}]'),
    "gen_ai.prompt": ("request", "x"),
    "gen_ai.prompt.0.content": ("request", "x"),
    "gen_ai.retrieval.query.text": ("request", "x"),
    "ai.prompt.messages": ("request", '[{"role":"user","content":"x"}]'),
    "ai.prompt": ("request", "x"),
    "traceloop.entity.input": ("request", "x"),
    "langfuse.trace.input": ("request", "x"),
    "langfuse.observation.input": ("request", "x"),
    "gen_ai.output.messages": ("response", '[{"role":"assistant","content":"x"}]'),
    "gen_ai.completion": ("response", "x"),
    "gen_ai.completion.0.content": ("response", "x"),
    "ai.response.text": ("response", "x"),
    "traceloop.entity.output": ("response", "x"),
    "langfuse.trace.output": ("response", "x"),
    "langfuse.observation.output": ("response", "x"),
}


@pytest.mark.parametrize("name", CONTENT)
def test_each_name_of_content_alone(name):
    side, value = CONTENT[name]
    facts = read_trace([flat_span("a", attributes={"gen_ai.system": "x", name: value})])
    found = getattr(facts, side)
    form = normalize_request(found) if side == "request" else normalize_response(found)
    assert form.text == "x"


@pytest.mark.parametrize(
    ("name", "usage"),
    [
        ("gen_ai.usage.input_tokens", TokenUsage(3, None, None)),
        ("gen_ai.usage.prompt_tokens", TokenUsage(3, None, None)),
        ("ai.usage.promptTokens", TokenUsage(3, None, None)),
        ("gen_ai.usage.output_tokens", TokenUsage(None, 3, None)),
        ("gen_ai.usage.completion_tokens", TokenUsage(None, 3, None)),
        ("ai.usage.completionTokens", TokenUsage(None, 3, None)),
        ("gen_ai.usage.total_tokens", TokenUsage(None, None, 3)),
        ("llm.usage.total_tokens", TokenUsage(None, None, 3)),
    ],
)
def test_each_count_alone(name, usage):
    assert read_trace([flat_span("a", attributes={"gen_ai.system": "x", name: 3})]).usage == usage


def test_a_retriever_of_the_conventions_without_content_found_nothing():
    retriever = flat_span("a", attributes={"gen_ai.operation.name": "retrieval"})
    assert read_trace([retriever]).retrieved_context == ()


def test_empty_spans_are_none():
    root = flat_span("a", attributes={"gen_ai.prompt": "q", "gen_ai.completion": "a"})
    assert read_trace([{}, root]) == read_trace([root])
    assert read_trace(otlp({}, otlp_span("a", gen_ai__prompt="q"))).request == "q"
    with pytest.raises(TraceError, match="no span"):
        read_trace(otlp({}))


def _side_by_side(kind, start, seconds, asked, answered, **more):
    return {
        "id": kind,
        "traceId": "t",
        "type": kind.partition(" ")[0],
        "parentObservationId": None,
        "startTime": f"2026-11-29T10:00:0{start}Z",
        "endTime": f"2026-11-29T10:00:0{start + seconds}Z",
        "input": asked,
        "output": answered,
        **more,
    }


def test_steps_side_by_side_without_a_root():
    """The first of them that is no tool, retriever or embedding is asked, and answers."""
    found = _side_by_side("EMBEDDING", 0, 1, "vector of it", [0.5], usage={"input": 5})
    told = _side_by_side("GENERATION 1", 4, 3, "Which tea?", "Green tea.", usage={"input": 12, "output": 3})
    titled = _side_by_side("GENERATION 2", 8, 1, "A title for it?", "Tea")
    for spans in ([found, told], [found, told, titled], [told, found, titled]):
        facts = read_trace(spans)
        assert texts(facts) == ("Which tea?", "Green tea.")
        assert (facts.latency_seconds, facts.failed) == (3.0, False)
    alone = read_trace([found])
    assert (alone.request, alone.response) == ("vector of it", None)
    # An embedding makes no tokens: 5 + 12, 0 + 3, 5 + 15.
    assert read_trace([found, told]).usage == TokenUsage(17, 3, 20)
    failed = {**found, "level": "ERROR"}
    assert [read_trace(spans).failed for spans in ([failed, told], [found, {**told, "level": "ERROR"}])] == [
        False,
        True,
    ]


def test_arguments_in_the_envelopes_of_tracers():
    args = flat_span("a", attributes={"traceloop.entity.input": json.dumps({"args": ["Which tea?"], "kwargs": {}})})
    assert read_trace([args]).request == "Which tea?"
    named = {"args": [], "kwargs": {"question": "Which tea?"}}
    assert read_trace([{**_observations()[0], "input": named}]).request == "Which tea?"
    both = {"args": ["x"], "kwargs": {"question": "Which tea?"}}
    assert read_trace([{**_observations()[0], "input": both}]).request == both
    text = {"args": "('x',)", "kwargs": {"temperature": 1}}
    assert read_trace([{**_observations()[0], "input": text}]).request == text
    of_langchain = {
        "traceloop.entity.input": json.dumps(
            {"inputs": {"messages": [["user", "Which tea?"]]}, "tags": [], "metadata": {}, "kwargs": {"name": "g"}}
        ),
        "traceloop.entity.output": json.dumps({"outputs": {"answer": "Green tea."}, "kwargs": {"tags": []}}),
    }
    assert texts(read_trace([flat_span("a", attributes=of_langchain)])) == ("Which tea?", "Green tea.")


def _in_mlflow(spans, encode):
    """The spans as MLflow keeps what another tracer has sent: its own ids and times, all attributes JSON."""
    kept = []
    for span in spans:
        attributes = {**span["attributes"], "mlflow.traceRequestId": "tr-1"}
        kept.append(
            {
                "name": span["name"],
                "span_id": span["context"]["span_id"],
                "parent_span_id": span["parent_id"],
                "start_time_unix_nano": time_nanoseconds(span["start_time"]),
                "end_time_unix_nano": time_nanoseconds(span["end_time"]),
                "status": {"code": "STATUS_CODE_OK"},
                "attributes": {name: encode(value) for name, value in attributes.items()},
            }
        )
    return {"info": {"trace_id": "tr-1"}, "data": {"spans": kept}}


@pytest.mark.parametrize("encode", [json.dumps, lambda value: value])
def test_openinference_in_an_mlflow_trace(encode):
    assert read_trace(_in_mlflow(_rag_spans(), encode)) == read_trace({"spans": _rag_spans()})


def test_gen_ai_attributes_in_an_mlflow_trace():
    attributes = {
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Which tea?"}]}]),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Green."}]}]),
        "gen_ai.usage.input_tokens": 5,
        "gen_ai.usage.output_tokens": 2,
    }
    facts = read_trace(_in_mlflow([flat_span("a", attributes=attributes)], json.dumps))
    assert texts(facts) == ("Which tea?", "Green.")
    assert facts.usage == TokenUsage(5, 2, 7)
    assert facts.retrieved_context is None


def test_mlflow_attributes_win_in_an_mlflow_trace():
    """MLflow writes its own beside those that it was sent; its own are the ones that people see there."""
    trace = _in_mlflow(_rag_spans()[:1], json.dumps)
    trace["data"]["spans"][0]["attributes"] |= {"mlflow.spanInputs": '"Asked"', "mlflow.spanOutputs": '"Said"'}
    assert texts(read_trace(trace)) == ("Asked", "Said")


def _datadog_spans():
    def span(own, parent, kind, start, given, gave, **more):
        return {
            "span_id": own,
            "trace_id": "t",
            "parent_id": parent,
            "name": own,
            "start_ns": START + start * SECOND,
            "duration": SECOND,
            "meta": {"kind": kind, "input": given, "output": gave},
            **more,
        }

    asked, said = [{"role": "user", "content": "Which tea?"}], [{"content": "Green tea.", "role": "assistant"}]
    usage = {"metrics": {"input_tokens": 6, "output_tokens": 2, "total_tokens": 8}}
    documents = {"documents": [{"text": "A", "id": "d1", "name": "n", "score": 0.4}]}
    return [
        span("llm", "agent", "llm", 2, {"messages": asked}, {"messages": said}, **usage),
        span("search", "agent", "retrieval", 1, {"value": "tea"}, documents),
        span("agent", "undefined", "agent", 0, {"value": "Which tea?"}, {"value": "Green tea."}),
    ]


def test_datadog_as_sent_and_as_exported():
    sent = {"data": {"type": "span", "attributes": {"ml_app": "tea", "spans": _datadog_spans()}}}
    facts = read_trace(sent)
    assert texts(facts) == ("Which tea?", "Green tea.")
    assert facts.retrieved_context == (Document("d1", "A"),)
    assert (facts.usage, facts.latency_seconds) == (TokenUsage(6, 2, 8), 1.0)
    exported = []
    for span in _datadog_spans():
        meta = span.pop("meta")
        kind = meta.pop("kind")
        exported.append({"id": span["span_id"], "type": "span", "attributes": {**span, **meta, "span_kind": kind}})
    assert read_trace({"data": exported}) == facts
    assert read_trace(exported) == facts
    assert texts(read_trace([_datadog_spans()[0]])) == ("Which tea?", "Green tea.")


@pytest.mark.parametrize("kind", ['"RETRIEVER"', "RETRIEVER"])
def test_mlflow_spans_in_otlp(kind):
    root = otlp_span(
        "a",
        mlflow__spanType='"CHAIN"',
        mlflow__spanInputs='{"question": "Which tea?"}',
        mlflow__spanOutputs='"Green tea."',
    )
    retriever = otlp_span("b", "a", mlflow__spanType=kind, mlflow__spanOutputs='[{"page_content": "A"}]')
    for trace in (otlp(root, retriever), {"spans": [root, retriever]}):
        facts = read_trace(trace)
        assert texts(facts) == ("Which tea?", "Green tea.")
        assert facts.retrieved_context == (Document(None, "A"),)


def test_the_root_that_failed_fails_the_trace():
    def datadog(status):
        return [
            {**span, "status": status if span["parent_id"] == "undefined" else "error"} for span in _datadog_spans()
        ]

    def langfuse(level):
        return [
            {**span, "level": "ERROR" if span["parentObservationId"] else level, "output": None}
            for span in _observations()
        ]

    def langsmith(error):
        return [{**run, "error": "boom" if run["parent_run_id"] else error} for run in _runs()]

    def open_telemetry(code):
        root = {**otlp_span("a", gen_ai__system="x"), "status": {"code": code}}
        return otlp(root, {**otlp_span("b", "a"), "status": {"code": "STATUS_CODE_ERROR"}})

    failed = [datadog("error"), langfuse("ERROR"), langsmith("boom"), open_telemetry(2)]
    failed += [{"id": "t", "observations": langfuse("ERROR")}, open_telemetry("STATUS_CODE_ERROR")]
    assert [read_trace(trace).failed for trace in failed] == [True] * 6
    fine = [datadog("ok"), langfuse("DEFAULT"), langsmith(None), open_telemetry(1), open_telemetry(0)]
    assert [read_trace(trace).failed for trace in fine] == [False] * 5


GEN_AI = [flat_span("a", attributes={"gen_ai.prompt.0.content": "q", "gen_ai.completion.0.content": "a"})]
EXAMPLES = {
    "OTLP JSON": [otlp(otlp_span("a", gen_ai__system="x")), otlp(otlp_span("a", openinference__span__kind="LLM"))],
    "spans of OpenTelemetry (OpenInference, TruLens, GenAI, MLflow)": [
        *[{"spans": _rag_spans()}, _rag_spans()[0], {"spans": [*_rag_spans(), *GEN_AI]}],
        *[{"spans": [trulens_span("1", "", "record_root", 0)]}, trulens_span("1", "", "record_root", 0)],
        *[{"spans": GEN_AI}, GEN_AI[0], {"spans": [otlp_span("a", gen_ai__system="x")]}],
        {"spans": [otlp_span("a", mlflow__spanType='"LLM"')]},
    ],
    "MLflow spans": [{"spans": [flat_span("a", attributes={"mlflow.spanType": '"LLM"', "gen_ai.system": "x"})]}],
    "MLflow 3": [
        {"info": {"trace_id": "tr-1"}, "data": {"spans": GEN_AI}},
        {"info": {"trace_id": "1"}, "spans": GEN_AI},
    ],
    "MLflow 2": [{"info": {"request_id": "tr-1"}, "data": {"spans": _rag_spans()}}],
    "Langfuse": [{"spans": _observations()}, _observations()[0], {"id": "t", "observations": _observations()}],
    "LangSmith": [{"spans": _runs()}, _runs()[0], {"post": _runs(), "patch": []}],
    "Datadog": [
        {"spans": _datadog_spans()},
        _datadog_spans()[0],
        {"data": {"attributes": {"spans": _datadog_spans()}}},
    ],
}


def test_every_format_is_recognised_and_by_one_alone():
    assert set(EXAMPLES) == {trace_format.name for trace_format in TRACE_FORMATS}
    for name, traces in EXAMPLES.items():
        for trace in traces:
            assert [each.name for each in TRACE_FORMATS if each.matches(trace)] == [name]


_NAMES = """
spans attributes data info observations run_type type id trace_id resourceSpans scopeSpans events context key value
kvlistValue gen_ai.prompt.0.content openinference.span.kind meta input output documents start_time post patch
child_runs dotted_order span_id parent_id kind start_ns
"""
_KEYS = st.sampled_from(_NAMES.split())
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=5),
    max_leaves=30,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(_KEYS, _JSON, max_size=8))
def test_no_value_raises_anything_but_a_trace_error(trace):
    assert sum(each.matches(trace) for each in TRACE_FORMATS) <= 1
    with contextlib.suppress(TraceError):
        read_trace(trace)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_mutated_traces_raise_nothing_but_trace_errors(data):
    trace = json.loads(
        json.dumps(data.draw(st.sampled_from([trace for traces in EXAMPLES.values() for trace in traces])))
    )
    place = trace
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys)) if keys else None
        if key is None:
            break
        if not isinstance(place[key], (dict, list)) or not place[key] or data.draw(st.booleans()):
            place[key] = data.draw(_JSON)
            break
        place = place[key]
    try:
        facts = read_trace(trace)
    except TraceError:
        return
    normalize_request(facts.request)
    normalize_response(facts.response)


def test_a_long_name_over_many_values_is_not_repeated_for_each():
    leaves = {f"k{number}": number for number in range(20_000)}
    span = {"attributes": {"openinference.span.kind": "LLM", "input.value": "q", "x" * 1_000_000: leaves}}
    assert read_trace(span).request == "q"  # 20 GB of names otherwise


def test_recorded_langsmith_batches():
    path = DATA / "langsmith_runs/runs.jsonl"
    if not path.exists():
        pytest.skip("../shared/data is not there")
    documents = [json.loads(line)["document"] for line in path.open(encoding="utf-8")]
    batches = [document for document in documents if isinstance(document, dict)]
    assert len(batches) == 8
    for batch in batches:
        facts = read_trace(batch)
        (run,), (patch,) = batch["post"], batch["patch"]
        expected = patch["outputs"]["choices"][0]
        message = expected.get("message") or expected["index"]["message"]
        request, response = texts(facts)
        assert request == run["inputs"]["messages"][-1]["content"]
        assert response == message["content"]
        counted = patch["outputs"].get("usage_metadata") or patch["outputs"].get("usage")
        assert (facts.usage is not None) == (counted is not None)
        assert facts.latency_seconds is not None
        assert facts.latency_seconds > 0


def test_recorded_trulens_spans():
    path = DATA / "trulens_otel/spans.jsonl"
    if not path.exists():
        pytest.skip("../shared/data is not there")
    rows = [json.loads(line) for line in path.open(encoding="utf-8")]
    spans = {Path(row["source"]).stem: row["document"] for row in rows if "test_otel_spans" in row["source"]}
    assert len(spans) == 6
    facts = read_trace(list(spans.values()))
    root = spans["record_root_span"]["record_attributes"]
    found = spans["retrieval_span"]["record_attributes"]["ai.observability.retrieval.retrieved_contexts"]
    assert texts(facts) == (root["ai.observability.record_root.input"], root["ai.observability.record_root.output"])
    assert facts.retrieved_context == tuple(Document(None, text) for text in found)
    assert facts.usage == TokenUsage(336, 93, 429 + 101)
    assert facts.latency_seconds == pytest.approx(58.166175 - 55.993955)
