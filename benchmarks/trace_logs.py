"""Traces of 20 spans in each format, for `normalize.py`: an agent, its retriever with 3 documents, calls of models."""

import base64
import json
from collections.abc import Callable

from beamjudge.schemas.json_value import Json

SPANS = 20
ASK = "How do I return a bike outside of a station after ten in the evening, and what does it cost? "
ANSWER = "Lock it to any public rack, take a picture, and end the ride in the app. It costs two euros. " * 3
_TRACE = "5b8aa5a2d2c872e8321cf37308d69df2"
_BEGUN = 1_764_460_800_000_000_000
_DOCUMENTS: list[Json] = [
    {"page_content": ANSWER, "metadata": {"doc_uri": f"help/{number}.md", "score": 0.5}} for number in range(3)
]
_ASKED: Json = {"messages": [{"role": "user", "content": ASK}]}
_ANSWERED: Json = {"choices": [{"index": 0, "message": {"role": "assistant", "content": ANSWER}}]}


def _span_id(number: int) -> str:
    return f"{number + 1:016x}"


def _base64_id(number: int) -> str:
    return base64.b64encode((number + 1).to_bytes(8, "big")).decode()


def _parent(number: int) -> str | None:
    return _span_id(0) if number else None


def _start(number: int) -> int:
    return _BEGUN + number * 1_000_000


def _kind(number: int) -> str:
    return "AGENT" if number == 0 else "RETRIEVER" if number == 1 else "LLM"


def mlflow() -> Json:
    """Schema 3, as `Trace.to_dict` gives it."""
    spans: list[Json] = []
    for number in range(SPANS):
        kind = _kind(number)
        attributes: dict[str, Json] = {
            "mlflow.traceRequestId": json.dumps("tr-" + _TRACE),
            "mlflow.spanType": json.dumps(kind),
            "mlflow.spanInputs": json.dumps({"query": ASK} if kind == "RETRIEVER" else _ASKED),
            "mlflow.spanOutputs": json.dumps(_DOCUMENTS if kind == "RETRIEVER" else _ANSWERED),
        }
        if kind == "LLM":
            counts = {"input_tokens": 30, "output_tokens": 60, "total_tokens": 90}
            attributes["mlflow.chat.tokenUsage"] = json.dumps(counts)
        spans.append(
            {
                "trace_id": "W4qlotLIcugyHPNzCNad8g==",
                "span_id": _base64_id(number),
                "parent_span_id": _base64_id(0) if number else "",
                "name": kind.lower(),
                "start_time_unix_nano": _start(number),
                "end_time_unix_nano": _start(number) + 500_000,
                "status": {"code": "STATUS_CODE_OK", "message": ""},
                "attributes": attributes,
                "events": [],
            }
        )
    info: Json = {
        "trace_id": "tr-" + _TRACE,
        "request_time": "2025-11-30T00:00:00Z",
        "execution_duration": "2.500s",
        "state": "OK",
        "trace_metadata": {"mlflow.trace_schema.version": "3"},
        "tags": {},
    }
    return {"info": info, "data": {"spans": spans}}


def otlp() -> Json:
    """OpenTelemetry's GenAI conventions, as an OTLP exporter writes JSON."""
    spans: list[Json] = []
    for number in range(SPANS):
        kind = _kind(number)
        operation = {"AGENT": "invoke_agent", "RETRIEVER": "retrieval", "LLM": "chat"}[kind]
        attributes: dict[str, Json] = {"gen_ai.operation.name": operation, "gen_ai.system": "openai"}
        if kind == "RETRIEVER":
            attributes["gen_ai.retrieval.documents"] = json.dumps(_DOCUMENTS)
        else:
            said = {"role": "user", "parts": [{"type": "text", "content": ASK}]}
            attributes["gen_ai.input.messages"] = json.dumps([said])
            said = {"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}
            attributes["gen_ai.output.messages"] = json.dumps([said])
        values: list[Json] = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
        if kind == "LLM":
            counts = {"gen_ai.usage.input_tokens": "30", "gen_ai.usage.output_tokens": "60"}
            values += [{"key": key, "value": {"intValue": value}} for key, value in counts.items()]
        spans.append(
            {
                "traceId": _TRACE,
                "spanId": _span_id(number),
                "parentSpanId": _parent(number) or "",
                "name": operation,
                "kind": 1,
                "startTimeUnixNano": str(_start(number)),
                "endTimeUnixNano": str(_start(number) + 500_000),
                "attributes": values,
                "status": {},
            }
        )
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {}, "spans": spans}]}]}


def openinference() -> Json:
    """Spans as Phoenix and OpenInference's file exporters have them."""
    spans: list[Json] = []
    for number in range(SPANS):
        kind = _kind(number)
        attributes: dict[str, Json] = {"openinference.span.kind": kind, "input.value": ASK, "output.value": ANSWER}
        if kind == "RETRIEVER":
            for place in range(3):
                name = f"retrieval.documents.{place}.document"
                attributes |= {f"{name}.content": ANSWER, f"{name}.id": str(place), f"{name}.score": 0.5}
        if kind == "LLM":
            attributes |= {
                "llm.model_name": "m",
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.content": ASK,
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": ANSWER,
                "llm.token_count.prompt": 30,
                "llm.token_count.completion": 60,
            }
        spans.append(
            {
                "name": kind.lower(),
                "context": {"trace_id": _TRACE, "span_id": _span_id(number)},
                "parent_id": _parent(number),
                "start_time": f"2025-11-30T00:00:00.{number:03d}000+00:00",
                "end_time": f"2025-11-30T00:00:01.{number:03d}000+00:00",
                "status_code": "OK",
                "attributes": attributes,
            }
        )
    return {"spans": spans}


def langfuse() -> Json:
    """A trace with its observations, as the API gives it."""
    observations: list[Json] = []
    for number in range(SPANS):
        kind = _kind(number)
        observation: dict[str, Json] = {
            "id": _span_id(number),
            "traceId": _TRACE,
            "parentObservationId": _parent(number),
            "type": "GENERATION" if kind == "LLM" else kind,
            "name": kind.lower(),
            "startTime": f"2025-11-30T00:00:00.{number:03d}Z",
            "endTime": f"2025-11-30T00:00:01.{number:03d}Z",
            "input": ASK if kind == "RETRIEVER" else _ASKED,
            "output": _DOCUMENTS if kind == "RETRIEVER" else {"role": "assistant", "content": ANSWER},
            "level": "DEFAULT",
        }
        if kind == "LLM":
            observation["usageDetails"] = {"input": 30, "output": 60, "total": 90}
        observations.append(observation)
    return {
        "id": _TRACE,
        "timestamp": "2025-11-30T00:00:00Z",
        "input": _ASKED,
        "output": ANSWER,
        "latency": 2.5,
        "observations": observations,
    }


def langsmith() -> Json:
    """A run with its child runs."""
    runs: list[dict[str, Json]] = []
    for number in range(SPANS):
        kind = _kind(number)
        run: dict[str, Json] = {
            "id": _span_id(number),
            "trace_id": _span_id(0),
            "parent_run_id": _parent(number),
            "run_type": {"AGENT": "chain", "RETRIEVER": "retriever", "LLM": "llm"}[kind],
            "name": kind.lower(),
            "start_time": f"2025-11-30T00:00:00.{number:03d}000",
            "end_time": f"2025-11-30T00:00:01.{number:03d}000",
            "inputs": {"query": ASK} if kind == "RETRIEVER" else _ASKED,
            "outputs": {"documents": _DOCUMENTS} if kind == "RETRIEVER" else _ANSWERED,
        }
        if kind == "LLM":
            run |= {"prompt_tokens": 30, "completion_tokens": 60, "total_tokens": 90}
        runs.append(run)
    return {**runs[0], "child_runs": [*runs[1:]]}


TRACES: dict[str, Callable[[], Json]] = {
    "MLflow": mlflow,
    "OTLP": otlp,
    "OpenInference": openinference,
    "Langfuse": langfuse,
    "LangSmith": langsmith,
}
