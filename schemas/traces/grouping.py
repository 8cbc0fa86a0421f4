"""Records that are single spans: told from rows and from whole traces, and put together into a trace again."""

from collections.abc import Sequence
from typing import NamedTuple

from beamjudge.schemas.json_text import is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.traces import trulens
from beamjudge.schemas.traces.attribute_spans import has_attributes, read_attributes, trace_id_of
from beamjudge.schemas.traces.containers import Place, place_of
from beamjudge.schemas.traces.datadog import datadog_spans
from beamjudge.schemas.traces.langfuse import is_observation, observation_trace_id
from beamjudge.schemas.traces.langsmith import batch_runs, is_batch, is_run, run_trace_id
from beamjudge.schemas.traces.opentelemetry import otlp_spans
from beamjudge.schemas.traces.values import text_of, time_nanoseconds

# What only a row of its own has, whatever ids of a tracer it was logged with.
_ROW_COLUMNS = ("request", "response")
_IDS = frozenset({"trace_id", "span_id", "parent_id", "traceId", "spanId"})
_PARENTS = (
    "parentSpanId",
    "parent_span_id",
    "parent_id",
    "parentId",
    "parentObservationId",
    "parent_observation_id",
    "parent_run_id",
)
_STARTS = ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "start_timestamp", "start_ns")
_NO_PARENT = (None, "", "undefined")


class KeyedSpan(NamedTuple):
    """A span as logged, and the id of its trace."""

    trace_id: str
    span: dict[str, Json]


def spans_of_record(data: dict[str, Json]) -> list[KeyedSpan] | None:
    """The spans that a record holds: it is one, or a batch of an exporter in which traces begin and end anywhere.

    Null for any other record: a row, a trace that is whole, or spans without the id of a trace.
    """
    if any(data.get(column) is not None for column in _ROW_COLUMNS) or _has_trace(data):
        return None
    place = place_of(data)
    if place is Place.OTLP:
        keyed = [(trace_id_of(span), span) for span in otlp_spans(data)]
    elif place is Place.BATCH and is_batch(data):
        keyed = [(run_trace_id(run), run) for run in batch_runs(data)]
    elif place in (Place.INTAKE, Place.DATA):
        keyed = [(text_of(span.get("trace_id")), span) for span in datadog_spans(data)]
    elif place is Place.ITSELF:
        keyed = [(_trace_id(data), data)]
    else:
        return None
    found = [KeyedSpan(trace_id, span) for trace_id, span in keyed if trace_id is not None]
    return found if found and len(found) == len(keyed) else None


def holds_one_trace(data: dict[str, Json]) -> bool:
    """Whether a record is a whole trace, so that it is a row without being put together with others."""
    return place_of(data) in (Place.MLFLOW, Place.SPANS, Place.OBSERVATIONS) or bool(data.get("child_runs"))


def parent_of(span: dict[str, Json]) -> str | None:
    """The id of the span above, null for a root."""
    names = next((span[name] for name in _PARENTS if span.get(name) not in _NO_PARENT), None)
    for held in (span.get("record"), span.get("trace")):
        if names is None and is_object(held):
            names = next((held[name] for name in _PARENTS if held.get(name) not in _NO_PARENT), None)
    text = text_of(names)
    return None if text is None or not text.strip("0") else text


def start_of(span: dict[str, Json]) -> int | None:
    """When a span began, in nanoseconds since the epoch."""
    return time_nanoseconds(*(span.get(name) for name in _STARTS))


def root_index(spans: Sequence[dict[str, Json]]) -> int:
    """Which of the spans stands for the trace: the first without a parent, else the first."""
    return next((index for index, span in enumerate(spans) if parent_of(span) is None), 0)


def _has_trace(data: dict[str, Json]) -> bool:
    trace = data.get("trace")
    return trace is not None and not (is_object(trace) and trace.keys() <= _IDS)


def _trace_id(data: dict[str, Json]) -> str | None:
    """The id of the trace that a single span is of; null for a record that is none."""
    if data.get("child_runs"):
        return None
    if is_run(data):
        return run_trace_id(data)
    if is_observation(data):
        return observation_trace_id(data)
    if has_attributes(data):
        # A record of TruLens is a trace, whatever called it; its evaluations come in traces of their own.
        own = read_attributes(data).get(trulens.RECORD_ID) if "record_attributes" in data else None
        return text_of(own) or (trace_id_of(data) if start_of(data) is not None else None)
    spans = datadog_spans(data)
    return text_of(spans[0].get("trace_id")) if spans else None
