"""Datadog's LLM Observability: spans as they are sent to its API and as they are exported from it.

Source: docs.datadoghq.com/llm_observability/instrumentation/api (`{"data": {"attributes": {"spans"}}}`, fields under
`meta`) and .../evaluations/export_api (`{"data": [{"type": "span", "attributes"}]}`, fields at the top).
"""

from beamjudge.schemas.json_text import as_list, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.paths import lookup
from beamjudge.schemas.traces.attribute_spans import has_attributes
from beamjudge.schemas.traces.containers import Place, objects, place_of
from beamjudge.schemas.traces.facts import TraceFacts, TraceFormat
from beamjudge.schemas.traces.langfuse import is_observation
from beamjudge.schemas.traces.langsmith import is_run
from beamjudge.schemas.traces.opentelemetry import facts_of
from beamjudge.schemas.traces.spans import Exchange, Span, Speaks, Times
from beamjudge.schemas.traces.values import text_of, time_nanoseconds, whole_nanoseconds
from beamjudge.schemas.usage import read_usage

_SILENT = frozenset({"retrieval", "tool", "embedding"})
_NO_PARENT = (None, "", "undefined", "0", 0)


def datadog_spans(trace: dict[str, Json]) -> list[dict[str, Json]]:
    """The spans in any of the wrappings; none for what is not Datadog's."""
    place = place_of(trace)
    listed = [trace] if place is Place.ITSELF else objects(trace.get(place.value))
    if place is Place.INTAKE:
        listed = objects(lookup(trace, place.value))
    if not listed or not all(_is_span(_inner(span)) for span in listed):
        return []
    return [_inner(span) for span in listed]


def _inner(span: dict[str, Json]) -> dict[str, Json]:
    attributes = span.get("attributes")
    return attributes if span.get("type") == "span" and is_object(attributes) else span


def _is_span(span: dict[str, Json]) -> bool:
    if span.get("span_id") is None or "parent_id" not in span:
        return False
    if has_attributes(span) or is_run(span) or is_observation(span):
        return False
    return _kind(span) is not None and ("start_ns" in span or "duration" in span)


def _meta(span: dict[str, Json]) -> dict[str, Json]:
    meta = span.get("meta")
    return meta if is_object(meta) else span


def _kind(span: dict[str, Json]) -> str | None:
    meta = _meta(span)
    return text_of(span.get("span_kind") or meta.get("kind") or meta.get("span.kind"))


def _is_datadog(trace: dict[str, Json]) -> bool:
    return bool(datadog_spans(trace))


def _read(trace: dict[str, Json]) -> TraceFacts:
    return facts_of([_read_span(span) for span in datadog_spans(trace)])


def _read_span(span: dict[str, Json]) -> Span:
    meta, kind = _meta(span), str(_kind(span)).lower()
    is_retriever = kind == "retrieval"
    parent = span.get("parent_id")
    return Span(
        text_of(span.get("span_id")),
        None if parent in _NO_PARENT else text_of(parent),
        text_of(span.get("name")),
        is_retriever,
        read_usage(span.get("metrics")),
        lambda: _times(span),
        lambda: Exchange(
            _messages(_side(meta.get("input"))),
            _retrieved(span, meta.get("output")) if is_retriever else _choice(_side(meta.get("output"))),
        ),
        Speaks.AGENT if kind == "agent" else Speaks.NO if kind in _SILENT else Speaks.YES,
        span.get("status") == "error",
    )


def _times(span: dict[str, Json]) -> Times:
    start, duration = time_nanoseconds(span.get("start_ns")), _whole(span.get("duration"))
    return Times(start, None if start is None or duration is None else start + duration)


def _retrieved(span: dict[str, Json], output: Json) -> Json:
    documents = output.get("documents") if is_object(output) else None
    found = documents if is_list(documents) else _side(output)
    return [] if found is None and span.get("status") != "error" else found


def _side(side: Json) -> Json:
    """An input or output: its value, or its messages in a list."""
    if not is_object(side):
        return side
    value = side.get("value")
    return as_list(side.get("messages")) or None if value in (None, "") else value


def _messages(inputs: Json) -> Json:
    return {"messages": inputs} if is_list(inputs) else inputs


def _choice(outputs: Json) -> Json:
    """A model's messages are choices; their text may have no role."""
    if not is_list(outputs):
        return outputs
    return {"choices": [{"message": {"role": "assistant", **item}} for item in outputs if is_object(item)]}


def _whole(value: Json) -> int | None:
    """A duration in nanoseconds, which the export has as a float."""
    if isinstance(value, float) and 0 <= value < 2**62:
        return round(value)
    return whole_nanoseconds(value)


DATADOG_FORMATS: tuple[TraceFormat, ...] = (TraceFormat("Datadog", _is_datadog, _read),)
