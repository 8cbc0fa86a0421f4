"""Normalize: logged records in, rows in normal form and rejects out. Every record becomes at least one of the two."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.window import GlobalWindows
from apache_beam.typehints.decorators import no_annotations

from beamjudge.schemas.json_value import Json
from beamjudge.schemas.log_tables import recognise_table
from beamjudge.schemas.record import Reject, SourceRecord
from beamjudge.schemas.requests import decode_request
from beamjudge.schemas.requests.batches import pair_responses, read_batch
from beamjudge.schemas.row import Row
from beamjudge.schemas.run_config import RunConfig
from beamjudge.transforms.row_reader import InputRules, Rejected, RowReader
from beamjudge.transforms.windows import in_one_window

REJECTS: Final = "rejects"
COUNTS: Final = "counts"


class Normalized(NamedTuple):
    """What Normalize gives. `counts` pairs names with numbers to add up: `rows`, `rejects`, `reject:<code>`,
    `table:<name>`, the records of a recognised table, and `expanded`, the rows and rejects beyond one per record."""

    rows: beam.PCollection[Row]
    rejects: beam.PCollection[Reject]
    counts: beam.PCollection[tuple[str, int]]


class Normalize(beam.PTransform[beam.PCollection[SourceRecord], Normalized]):
    """PCollection[SourceRecord] -> Normalized. `can_score` says whether a row without a response is of any use."""

    def __init__(self, config: RunConfig, can_score: Callable[[Row], bool]) -> None:
        super().__init__()
        self._rules = InputRules.of(config)
        self._can_score = can_score

    @no_annotations  # type: ignore[untyped-decorator]  # Beam warns of a result of several collections
    def expand(self, records: beam.PCollection[SourceRecord]) -> Normalized:
        normalize = beam.ParDo(_NormalizeDoFn(self._rules, self._can_score))
        outputs = in_one_window(records) | "NormalizeRecords" >> normalize.with_output_types(
            Row, rejects=Reject, counts=tuple[str, int]
        ).with_outputs(REJECTS, COUNTS, main="rows")
        return Normalized(outputs["rows"], outputs[REJECTS], outputs[COUNTS])


class _NormalizeDoFn(beam.DoFn):
    def __init__(self, rules: InputRules, can_score: Callable[[Row], bool]) -> None:
        self._rules = rules
        self._can_score = can_score

    def start_bundle(self) -> None:
        self._counts: Counter[str] = Counter()

    def process(self, record: SourceRecord) -> Iterator[Row | TaggedOutput[Literal["rejects"], Reject]]:
        outcomes = 0
        if (table := recognise_table(record.data)) is not None:
            self._counts[f"table:{table.name}"] += 1
        for outcome in normalize_record(record, self._rules, self._can_score):
            outcomes += 1
            if isinstance(outcome, Row):
                self._counts["rows"] += 1
                yield outcome
            else:
                self._counts.update(("rejects", f"reject:{outcome.code}"))
                yield TaggedOutput(REJECTS, outcome)
        self._counts["expanded"] += outcomes - 1

    def finish_bundle(self) -> Iterator[TaggedOutput[Literal["counts"], Any]]:
        for name, count in self._counts.items():
            if count:
                yield TaggedOutput(COUNTS, GlobalWindows.windowed_value_at_end_of_window((name, count)))


def normalize_record(
    record: SourceRecord, rules: InputRules, can_score: Callable[[Row], bool]
) -> Iterator[Row | Reject]:
    """The rows of a record, or a reject in the place of a row that cannot be evaluated. Never nothing, never an error.

    A record is one row, unless its request is a batch: then it is one row per request, with ids suffixed `#0`, `#1`...
    """
    reader = RowReader(record, rules)
    request_id: str | None = None
    try:
        request_id = reader.request_id
        parts = _parts(reader)
    except Rejected as rejected:
        yield reader.reject(rejected, request_id)
        return
    for part in parts:
        own_id = f"{request_id}{part.suffix}"
        try:
            yield reader.row(own_id, part.request, part.response, can_score, in_batch=part.in_batch)
        except Rejected as rejected:
            yield reader.reject(rejected, own_id)


class _Part(NamedTuple):
    request: Json
    response: Json
    suffix: str = ""
    in_batch: bool = False


def _parts(reader: RowReader) -> list[_Part]:
    reader.check_call()
    request, response = reader.field("request"), reader.field("response")
    # Only an object can be a batch, and most requests are strings that hold none.
    batch = read_batch(decode_request(request)[0]) if isinstance(request, dict) or _may_be_batch(request) else None
    if batch is None:
        return [_Part(request, response)]
    count = len(batch.requests)
    if not count:
        raise Rejected("no_request", "the batch holds no request")
    responses = pair_responses(response, batch)
    if responses is None:
        raise Rejected("batch_mismatch", f"the batch has {count} requests, and not as many responses")
    pairs = enumerate(zip(batch.requests, responses, strict=True))
    return [_Part(own, answer, f"#{index}", count > 1) for index, (own, answer) in pairs]


def _may_be_batch(request: Json) -> bool:
    """Whether a string may be the JSON of a batch: only these are told from what a user typed."""
    return isinstance(request, str) and "dataframe_" in request
