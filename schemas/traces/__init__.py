"""Traces in every known format: what a row lacks is read from them."""

from beamjudge.schemas.json_text import decode_container, is_list, is_object, without_collections
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.traces.datadog import DATADOG_FORMATS
from beamjudge.schemas.traces.facts import TraceError, TraceFacts, TraceFormat
from beamjudge.schemas.traces.langfuse import LANGFUSE_FORMATS
from beamjudge.schemas.traces.langsmith import LANGSMITH_FORMATS
from beamjudge.schemas.traces.mlflow import MLFLOW_FORMATS
from beamjudge.schemas.traces.opentelemetry import OPENTELEMETRY_FORMATS

__all__ = ["TRACE_FORMATS", "TraceError", "TraceFacts", "TraceFormat", "read_trace"]

# The order does not matter: no trace is claimed by two.
TRACE_FORMATS: tuple[TraceFormat, ...] = (
    *MLFLOW_FORMATS,
    *OPENTELEMETRY_FORMATS,
    *LANGFUSE_FORMATS,
    *LANGSMITH_FORMATS,
    *DATADOG_FORMATS,
)


def read_trace(value: Json) -> TraceFacts:
    """The facts of a trace: an object, a list of its spans, or the JSON text of either.

    Raises TraceError with a one-line reason.
    """
    return without_collections(_read_trace, value)


def _read_trace(value: Json) -> TraceFacts:
    notes: tuple[str, ...] = ()
    if isinstance(value, str):
        decoded = decode_container(value)
        if decoded is None:
            raise TraceError("the trace is a string, but not a JSON object")
        value, notes = decoded
    if is_list(value):
        if not any(is_object(item) for item in value):
            raise TraceError("the trace is a list without a JSON object in it")
        value = {"spans": value}
    if not is_object(value):
        raise TraceError("the trace is not a JSON object")
    for trace_format in TRACE_FORMATS:
        if trace_format.matches(value):
            facts = trace_format.read(value)
            return facts._replace(notes=tuple(dict.fromkeys((*notes, *facts.notes))))
    known = ", ".join(trace_format.name for trace_format in TRACE_FORMATS)
    raise TraceError(f"the trace has none of the known formats ({known})")
