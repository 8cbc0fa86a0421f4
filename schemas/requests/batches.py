"""Batches: one logged request that holds several, as model servers take them, and the responses that pair with them."""

from beamjudge.schemas.json_text import as_list, decode_container, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.requests.shapes import REQUEST_SHAPES


def batch_records(request: Json) -> list[Json] | None:
    """The single requests of a batch in their order; null for a request that is no batch.

    Batches are `dataframe_records`, `dataframe_split`, `instances` and `inputs`, whose one value may stand alone.
    """
    if not is_object(request) or any(shape.matches(request) for shape in REQUEST_SHAPES):
        return None
    for name in ("dataframe_records", "instances"):
        if is_list(records := request.get(name)):
            return records
    if is_object(split := request.get("dataframe_split")):
        columns = [str(column) for column in as_list(split.get("columns"))]
        return [dict(zip(columns, as_list(row), strict=False)) for row in as_list(split.get("data"))]
    inputs = request.get("inputs")
    if is_list(inputs):
        return inputs
    return None if inputs is None else [inputs]


def batch_responses(response: Json, count: int) -> list[Json] | None:
    """The responses of a batch of `count` requests; null where their number differs. No response is `count` nulls."""
    if isinstance(response, str) and (decoded := decode_container(response)) is not None:
        inner = decoded.value
        if is_list(inner) or (is_object(inner) and is_list(inner.get("predictions"))):
            response = inner
    if response is None:
        return [None] * count
    made = response.get("predictions") if is_object(response) else response
    if is_list(made) and len(made) == count:
        return made
    return [response] if count == 1 else None
