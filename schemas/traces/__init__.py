"""Traces in every known format: what a row lacks is read from them."""

from beamjudge.schemas.json_text import decode_container, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.traces.facts import TraceError, TraceFacts, TraceFormat
from beamjudge.schemas.traces.mlflow import MLFLOW_FORMATS

__all__ = ["TRACE_FORMATS", "TraceError", "TraceFacts", "TraceFormat", "read_trace"]

TRACE_FORMATS: tuple[TraceFormat, ...] = MLFLOW_FORMATS


def read_trace(value: Json) -> TraceFacts:
    """The facts of a trace, an object or its JSON text. Raises TraceError with a one-line reason."""
    notes: tuple[str, ...] = ()
    if isinstance(value, str):
        decoded = decode_container(value)
        if decoded is None:
            raise TraceError("the trace is a string, but not a JSON object")
        value, notes = decoded
    if not is_object(value):
        raise TraceError("the trace is not a JSON object")
    for trace_format in TRACE_FORMATS:
        if trace_format.matches(value):
            facts = trace_format.read(value)
            return facts._replace(notes=tuple(dict.fromkeys((*notes, *facts.notes))))
    known = ", ".join(trace_format.name for trace_format in TRACE_FORMATS)
    raise TraceError(f"the trace has none of the known formats ({known})")
