"""Batches: one logged request that holds several, as model servers take them, and the responses that pair with them.

Sources: mlflow.org/docs/latest (`dataframe_records`, `dataframe_split`, `inputs`, `instances`), Vertex AI's
`instances` and `predictions`, OpenAI's completions with a list of prompts.
"""

from typing import NamedTuple

from beamjudge.schemas.json_text import as_list, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.logged_text import read_body
from beamjudge.schemas.requests.table import REQUESTS


class Batch(NamedTuple):
    """The single requests in their order. `of_prompts` says that their answers are choices of one completion."""

    requests: list[Json]
    of_prompts: bool = False


def read_batch(request: Json) -> Batch | None:
    """The requests of a batch; null for a request that is none.

    Batches are `dataframe_records`, `dataframe_split`, `instances`, `inputs`, whose one value may stand alone, and a
    `prompt` that is a list of several texts.
    """
    if not is_object(request) or REQUESTS.claim(request) is not None:
        return None
    for name in ("dataframe_records", "instances"):
        if is_list(records := request.get(name)):
            return Batch(records)
    if is_object(split := request.get("dataframe_split")):
        columns = [str(column) for column in as_list(split.get("columns"))]
        rows = as_list(split.get("data"))
        return Batch([dict(zip(columns, row, strict=False)) if isinstance(row, list) else {} for row in rows])
    prompts = request.get("prompt")
    if is_list(prompts) and len(prompts) > 1 and all(isinstance(prompt, str) for prompt in prompts):
        return Batch(prompts, of_prompts=True)
    inputs = request.get("inputs")
    if is_list(inputs):
        return Batch(inputs)
    if inputs is None:
        return None
    return Batch(_records_of(inputs) if is_object(inputs) else [inputs])


def _records_of(inputs: dict[str, Json]) -> list[Json]:
    """`inputs` by column, where every column is a list of the same length; else the one record that it is."""
    columns = [column for column in inputs.values() if is_list(column)]
    lengths = {len(column) for column in columns}
    if len(columns) < len(inputs) or len(lengths) != 1 or REQUESTS.claim(inputs) is not None:
        return [inputs]
    return [dict(zip(inputs, row, strict=True)) for row in zip(*columns, strict=True)]


def pair_responses(response: Json, batch: Batch) -> list[Json] | None:
    """The responses of a batch, one per request; null where their number differs. No response is a null for each."""
    if isinstance(response, str) and (decoded := read_body(response, _is_batch)) is not None:
        response = decoded.value
    count = len(batch.requests)
    if response is None:
        return [None] * count
    if batch.of_prompts:
        return _choices_of(response, count)
    made = response.get("predictions") if is_object(response) else response
    if is_list(made) and len(made) == count:
        return made
    return [response] if count == 1 else None


def _is_batch(value: Json) -> bool:
    return is_list(value) or (is_object(value) and (is_list(value.get("predictions")) or is_list(value.get("choices"))))


def _choices_of(response: Json, count: int) -> list[Json] | None:
    """A completion's choices are those of the first prompt, then of the second, and so on, n for each."""
    if is_list(response) and len(response) == count:
        return response
    choices = as_list(response.get("choices")) if is_object(response) else []
    choices = sorted(choices, key=_index)
    each, left = divmod(len(choices), count)
    if left or not each:
        return None
    return [{"choices": choices[start : start + each]} for start in range(0, len(choices), each)]


def _index(choice: Json) -> int:
    """The place of a choice; the sort is stable where none is given."""
    index = choice.get("index") if is_object(choice) else None
    return index if isinstance(index, int) else 0
