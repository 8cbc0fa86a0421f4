"""MLflow traces of schema 2 and 3, and bare lists of MLflow spans.

Attributes are JSON strings inside JSON. Ids are hex in schema 2, base64 in schema 3, and both in traces that were
written in between. Previews, and the copies of inputs and outputs in tags and metadata, are cut and never read.
"""

import base64
import binascii
import re

from beamjudge.schemas.json_text import as_list, decode_container, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.row import TokenUsage
from beamjudge.schemas.traces.attribute_spans import AttributeSpan
from beamjudge.schemas.traces.documents import read_documents, retriever_schema
from beamjudge.schemas.traces.facts import TraceError, TraceFacts, TraceFormat
from beamjudge.schemas.traces.spans import Span, last_retrieval, root_of, seconds_of, total_usage
from beamjudge.schemas.traces.values import decoded, unwrapped_request, unwrapped_response, whole_nanoseconds
from beamjudge.schemas.usage import read_usage, response_usage

_HEX_ID = re.compile(r"(?:0x)?([0-9a-fA-F]{16})")
_BASE64_ID = re.compile(r"[A-Za-z0-9+/_-]{11}=")
_LONGEST_MS = 1e15
_SECONDS = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)s")


def _info(trace: dict[str, Json]) -> dict[str, Json]:
    info = trace.get("info")
    return info if is_object(info) else {}


def _data(trace: dict[str, Json]) -> dict[str, Json]:
    """The part with the spans, which is the trace itself where they are at its top."""
    data = trace.get("data")
    text = decode_container(data) if isinstance(data, str) else None
    inner = text.value if text else data
    return inner if is_object(inner) else trace


def _is_v3(trace: dict[str, Json]) -> bool:
    return _info(trace).get("trace_id") is not None


def _is_v2(trace: dict[str, Json]) -> bool:
    if _is_v3(trace):
        return False
    data = trace.get("data")
    requested = is_object(data) and data.get("request") is not None
    return requested or _info(trace).get("request_id") is not None


def _is_bare(trace: dict[str, Json]) -> bool:
    """Spans without the trace's info: at the top or under `data`, with MLflow's attributes."""
    spans = as_list(_data(trace).get("spans"))
    if _is_v3(trace) or _is_v2(trace) or not spans:
        return False
    attributes = [span.get("attributes") for span in spans if is_object(span)]
    return any(is_object(each) and any(key.startswith("mlflow.") for key in each) for each in attributes)


def _read_mlflow(trace: dict[str, Json]) -> TraceFacts:
    info, data = _info(trace), _data(trace)
    logged = decoded(data.get("spans"))
    if logged is not None and not is_list(logged):
        raise TraceError("the MLflow trace's spans are not a list")
    spans = [_read_span(span) for span in as_list(logged) if is_object(span)]
    root = root_of(spans)
    request, response = (None, None) if root is None else (root.inputs, root.outputs)
    if _is_v2(trace):  # schema 2 has them in full beside the spans
        request = request if (own := decoded(data.get("request"))) is None else own
        response = response if (own := decoded(data.get("response"))) is None else own
    tags = info.get("tags")
    retrieval = last_retrieval(spans)
    found = None
    if retrieval is not None:
        schema = retriever_schema(tags.get("retrievers") if is_object(tags) else None, retrieval.name)
        found = read_documents(retrieval.outputs, schema)
    latency = _duration(info)
    return TraceFacts(
        unwrapped_request(request),
        unwrapped_response(response),
        found.documents if found else None,
        total_usage(spans),
        seconds_of(root) if latency is None else latency,
        found.notes if found else (),
    )


def _read_span(span: dict[str, Json]) -> Span:
    logged = span.get("attributes")
    attributes = logged if is_object(logged) else {}
    context = span.get("context")
    own_id = span.get("span_id") or (context.get("span_id") if is_object(context) else None)
    outputs = decoded(attributes.get("mlflow.spanOutputs"))
    usage = read_usage(decoded(attributes.get("mlflow.chat.tokenUsage"))) or _reported(outputs)
    name = span.get("name")
    return Span(
        _span_id(own_id),
        _span_id(span.get("parent_span_id") or span.get("parent_id")),
        name if isinstance(name, str) else None,
        decoded(attributes.get("mlflow.spanType")) == "RETRIEVER",
        whole_nanoseconds(span.get("start_time_unix_nano"), span.get("start_time")),
        whole_nanoseconds(span.get("end_time_unix_nano"), span.get("end_time")),
        decoded(attributes.get("mlflow.spanInputs")),
        outputs,
        usage,
    )


def read_mlflow_attributes(span: AttributeSpan) -> Span:
    """A span with MLflow's attributes that another exporter has written, as MLflow's export to OTLP is."""
    read = _read_span({"name": span.name, "attributes": span.attributes})
    return read._replace(id=span.id, parent=span.parent, start=span.start, end=span.end)


def is_mlflow(trace: dict[str, Json]) -> bool:
    """Whether a trace has one of MLflow's own formats."""
    return _is_v3(trace) or _is_v2(trace) or _is_bare(trace)


def _reported(outputs: Json) -> TokenUsage | None:
    return response_usage(outputs) if is_object(outputs) else None


def _span_id(value: Json) -> str | None:
    """An id in one spelling, 16 hex digits, so that hex and base64 ids of one trace find each other."""
    if value is None or value == "":
        return None
    text = str(value)
    if hexadecimal := _HEX_ID.fullmatch(text):
        return hexadecimal.group(1).lower()
    if _BASE64_ID.fullmatch(text):
        try:
            return base64.b64decode(text, altchars=b"-_" if "-" in text or "_" in text else None, validate=True).hex()
        except binascii.Error:
            return text
    return text


def _duration(info: dict[str, Json]) -> float | None:
    """The trace's own duration in seconds: milliseconds, or text such as `0.5s`."""
    for name in ("execution_duration_ms", "execution_time_ms", "execution_duration"):
        value = info.get(name)
        if isinstance(value, str) and (seconds := _SECONDS.fullmatch(value)):
            return float(seconds.group(1))
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= _LONGEST_MS:
            return value / 1000
    return None


MLFLOW_FORMATS: tuple[TraceFormat, ...] = (
    TraceFormat("MLflow 2", _is_v2, _read_mlflow),
    TraceFormat("MLflow 3", _is_v3, _read_mlflow),
    TraceFormat("MLflow spans", _is_bare, _read_mlflow),
)
