"""MLflow traces of schema 2 and 3, and bare lists of MLflow spans.

Previews, and the copies of inputs and outputs in tags and metadata, are cut and never read.
"""

from beamjudge.schemas.durations import first_seconds
from beamjudge.schemas.json_text import as_list, decode_container, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.traces.attribute_spans import AttributeSpan, any_begins, events_of, is_error
from beamjudge.schemas.traces.documents import read_documents, retriever_schema
from beamjudge.schemas.traces.facts import TraceError, TraceFacts, TraceFormat
from beamjudge.schemas.traces.mlflow_spans import PREFIX, has_content, mlflow_span, span_id
from beamjudge.schemas.traces.spans import Exchange, Span, Times, last_retrieval, root_of, seconds_of, total_usage
from beamjudge.schemas.traces.values import decoded, unwrapped_request, unwrapped_response, whole_nanoseconds
from beamjudge.schemas.traces.vocabularies import vocabulary_of

_TOLD_BY = 100  # spans that are looked at, so that a long list of anything else costs nothing
_DURATIONS = ("execution_duration_ms", "execution_time_ms", "execution_duration")


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
    spans = as_list(_data(trace).get("spans"))[:_TOLD_BY]
    if _is_v3(trace) or _is_v2(trace) or not spans:
        return False
    attributes = [span.get("attributes") for span in spans if is_object(span)]
    return any(is_object(each) and any_begins(each, PREFIX) for each in attributes)


def _read_mlflow(trace: dict[str, Json]) -> TraceFacts:
    info, data = _info(trace), _data(trace)
    logged = decoded(data.get("spans"))
    if logged is not None and not is_list(logged):
        raise TraceError("the MLflow trace's spans are not a list")
    listed = [span for span in as_list(logged) if is_object(span)]
    spans = [_read_span(span) for span in listed]
    root = root_of(spans)
    failed = any(is_error(span.get("status")) for span, read in zip(listed, spans, strict=True) if read is root)
    request, response = Exchange() if root is None else root.exchange
    if _is_v2(trace):  # schema 2 has them in full beside the spans
        request = request if (own := decoded(data.get("request"))) is None else own
        response = response if (own := decoded(data.get("response"))) is None else own
    tags = info.get("tags")
    retrieval = last_retrieval(spans)
    found = None
    if retrieval is not None:
        schema = retriever_schema(tags.get("retrievers") if is_object(tags) else None, retrieval.name)
        found = read_documents(retrieval.exchange.response, schema)
    latency = first_seconds(info, _DURATIONS)
    return TraceFacts(
        unwrapped_request(request),
        unwrapped_response(response),
        found.documents if found else None,
        total_usage(spans),
        seconds_of(root) if latency is None else latency,
        found.notes if found else (),
        failed or is_error(info.get("state")) or is_error(info.get("status")),
    )


def _read_span(span: dict[str, Json]) -> Span:
    attributes = span.get("attributes")
    if not is_object(attributes):
        attributes = {}
    context = span.get("context")
    own_id = span.get("span_id") or (context.get("span_id") if is_object(context) else None)
    logged = span.get("name")
    name = logged if isinstance(logged, str) else None
    found, parent = span_id(own_id), span_id(span.get("parent_span_id") or span.get("parent_id"))

    def times() -> Times:
        return Times(
            whole_nanoseconds(span.get("start_time_unix_nano"), span.get("start_time")),
            whole_nanoseconds(span.get("end_time_unix_nano"), span.get("end_time")),
        )

    if has_content(attributes):
        return mlflow_span(found, parent, name, times, attributes)
    vocabulary = vocabulary_of([name for name in attributes if not name.startswith(PREFIX)])
    if vocabulary is None:
        return mlflow_span(found, parent, name, times, attributes)
    # A span that another tracer has sent to MLflow: its attributes are under their own names, and JSON as all are.
    values: dict[str, Json] = {name: _value(value) for name, value in attributes.items()}
    failed = is_error(span.get("status"))
    return vocabulary(AttributeSpan(found, parent, name, times, failed, values, events_of(span)))


def _value(logged: Json) -> Json:
    """An attribute's value; what is no JSON is itself."""
    listed = decode_container(f"[{logged}]") if isinstance(logged, str) else None
    values = as_list(listed.value) if listed is not None else []
    return values[0] if len(values) == 1 else logged


def is_mlflow(trace: dict[str, Json]) -> bool:
    """Whether a trace has one of MLflow's own formats."""
    return _is_v3(trace) or _is_v2(trace) or _is_bare(trace)


MLFLOW_FORMATS: tuple[TraceFormat, ...] = (
    TraceFormat("MLflow 2", _is_v2, _read_mlflow),
    TraceFormat("MLflow 3", _is_v3, _read_mlflow),
    TraceFormat("MLflow spans", _is_bare, _read_mlflow),
)
