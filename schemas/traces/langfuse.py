"""Langfuse: a trace with its observations, and lists of observations.

Source: api.reference.langfuse.com (GET /api/public/traces/{traceId}) and langfuse.com/docs/api-and-data-platform,
exports to blob storage, whose names are in snake case.
"""

from beamjudge.schemas.durations import read_seconds
from beamjudge.schemas.json_text import as_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.row import TokenUsage
from beamjudge.schemas.traces.attribute_spans import has_attributes
from beamjudge.schemas.traces.containers import Place, objects, place_of
from beamjudge.schemas.traces.facts import TraceFacts, TraceFormat
from beamjudge.schemas.traces.langsmith import is_run
from beamjudge.schemas.traces.opentelemetry import facts_of
from beamjudge.schemas.traces.spans import Exchange, Span, Speaks, Times
from beamjudge.schemas.traces.values import (
    decoded,
    text_of,
    time_nanoseconds,
    unwrapped_request,
    unwrapped_response,
)
from beamjudge.schemas.usage import read_usage

_TYPES = frozenset(
    {"SPAN", "GENERATION", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"}
)
_SILENT = frozenset({"TOOL", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL", "EVENT"})
_COUNTS = {
    "input_tokens": ("input", "promptTokens", "prompt_tokens"),
    "output_tokens": ("output", "completionTokens", "completion_tokens"),
    "total_tokens": ("total", "totalTokens", "total_tokens"),
}


def is_observation(value: Json) -> bool:
    """Whether a record is an observation: its type, its trace and when it began."""
    return (
        is_object(value)
        and isinstance(kind := value.get("type"), str)
        and kind in _TYPES
        and ("startTime" in value or "start_time" in value)
        and observation_trace_id(value) is not None
        and not has_attributes(value)
        and not is_run(value)
    )


def observation_trace_id(value: dict[str, Json]) -> str | None:
    return text_of(value.get("traceId") or value.get("trace_id"))


def _is_trace(trace: dict[str, Json]) -> bool:
    """A trace of nothing but itself has an empty list of observations, or one of their ids."""
    if place_of(trace) is not Place.OBSERVATIONS or trace.get("id") is None:
        return False
    observations = as_list(trace.get("observations"))
    if all(isinstance(item, str) for item in observations):
        return "input" in trace and "timestamp" in trace
    return all(is_observation(item) for item in observations)


def _is_langfuse(trace: dict[str, Json]) -> bool:
    place = place_of(trace)
    if place is Place.SPANS:
        spans = as_list(trace.get("spans"))
        return bool(spans) and all(is_observation(span) for span in spans)
    return _is_trace(trace) or (place is Place.ITSELF and is_observation(trace))


def _read(trace: dict[str, Json]) -> TraceFacts:
    place = place_of(trace)
    logged = [trace] if place is Place.ITSELF else objects(trace.get(place.value))
    facts = facts_of([_read_observation(item) for item in logged])
    if place is not Place.OBSERVATIONS:
        return facts
    request, response = decoded(trace.get("input")), decoded(trace.get("output"))
    seconds = read_seconds(trace.get("latency"))
    return facts._replace(
        request=facts.request if request is None else unwrapped_request(request),
        response=facts.response if response is None else unwrapped_response(response),
        latency_seconds=facts.latency_seconds if seconds is None else seconds,
    )


def _read_observation(item: dict[str, Json]) -> Span:
    kind = str(item.get("type"))
    return Span(
        text_of(item.get("id")),
        text_of(item.get("parentObservationId") or item.get("parent_observation_id")),
        text_of(item.get("name")),
        kind == "RETRIEVER",
        _usage(item),
        lambda: Times(
            time_nanoseconds(item.get("startTime"), item.get("start_time")),
            time_nanoseconds(item.get("endTime"), item.get("end_time")),
        ),
        lambda: _exchange(item, kind),
        Speaks.AGENT if kind == "AGENT" else Speaks.NO if kind in _SILENT else Speaks.YES,
        item.get("level") == "ERROR",
    )


def _exchange(item: dict[str, Json], kind: str) -> Exchange:
    outputs = decoded(item.get("output"))
    if kind == "RETRIEVER" and outputs is None and item.get("level") != "ERROR":
        outputs = []
    return Exchange(decoded(item.get("input")), outputs)


def _usage(item: dict[str, Json]) -> TokenUsage | None:
    """The counts of an observation; older ones, and those of anything but models, have zeros for nothing counted."""
    for name in ("usageDetails", "usage_details", "usage"):
        if (logged := item.get(name)) is not None and is_object(usage := decoded(logged)):
            counts = {
                count: next((usage[key] for key in keys if key in usage), None) for count, keys in _COUNTS.items()
            }
            if any(counts.values()):
                return read_usage(counts)
    return None


LANGFUSE_FORMATS: tuple[TraceFormat, ...] = (TraceFormat("Langfuse", _is_langfuse, _read),)
