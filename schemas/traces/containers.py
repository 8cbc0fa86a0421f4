"""Where a trace has its spans. Every trace has one place alone, so that no two formats claim it."""

from enum import Enum

from beamjudge.schemas.json_text import as_list, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.traces.mlflow import is_mlflow


class Place(Enum):
    MLFLOW = "mlflow"
    OTLP = "resourceSpans"
    SPANS = "spans"
    OBSERVATIONS = "observations"
    BATCH = "post and patch"
    INTAKE = "data.attributes.spans"
    DATA = "data"
    ITSELF = "the trace"


def place_of(trace: dict[str, Json]) -> Place:
    """The first of the places that the trace has; a trace without any is one span or run itself."""
    if is_mlflow(trace):
        return Place.MLFLOW
    if is_list(trace.get("resourceSpans")) or is_list(trace.get("resource_spans")):
        return Place.OTLP
    if is_list(trace.get("spans")):
        return Place.SPANS
    if is_list(trace.get("observations")):
        return Place.OBSERVATIONS
    if is_list(trace.get("post")) or is_list(trace.get("patch")):
        return Place.BATCH
    data = trace.get("data")
    if is_object(data) and is_object(attributes := data.get("attributes")) and is_list(attributes.get("spans")):
        return Place.INTAKE
    return Place.DATA if is_list(data) else Place.ITSELF


def objects(value: Json) -> list[dict[str, Json]]:
    """The objects of a list that say anything."""
    return [item for item in filter(None, as_list(value)) if isinstance(item, dict)]
