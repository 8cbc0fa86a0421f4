"""ReadLogs: files into records with positions, rejects, and counts per range; no bad file stops a run."""

from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple

import apache_beam as beam
from apache_beam.metrics import Metrics
from apache_beam.pvalue import PBegin, TaggedOutput

from beamjudge.schemas.record import FileRange, FileStats, InputFile, Reject, SourceRecord
from beamjudge.schemas.run_config import INPUT_COLUMNS
from beamjudge.transforms.progress import PROGRESS
from beamjudge.transforms.reading.ranges import plan_ranges, read_range

_REJECTS: Literal["rejects"] = "rejects"
_STATS: Literal["stats"] = "stats"


class LogRead(NamedTuple):
    """What reading gives: SourceRecord, Reject and FileStats (one for each range of a file)."""

    records: beam.PCollection[SourceRecord]
    rejects: beam.PCollection[Reject]
    stats: beam.PCollection[FileStats]


class ReadLogs(beam.PTransform[PBegin, LogRead]):
    """Reads JSONL and Parquet `files` (from `match_files`), as many ranges at a time as there are workers.

    A line over `max_record_mb` (2**20 bytes each) is a reject. `reshuffle_rows` spreads the rows of few, large ranges
    over all workers, at the price of a shuffle of their text.
    """

    def __init__(
        self,
        files: Sequence[InputFile],
        max_record_mb: float,
        text_columns: Collection[str] = INPUT_COLUMNS,
        reshuffle_rows: bool = False,
    ) -> None:
        super().__init__()
        self._files = tuple(files)
        self._max_record_bytes = int(max_record_mb * (1 << 20))
        self._text_columns = frozenset(text_columns)
        self._reshuffle_rows = reshuffle_rows

    def expand(self, pbegin: PBegin) -> "LogRead":
        read = (
            pbegin
            | "Files" >> beam.Create(self._files).with_output_types(InputFile)
            | "PlanRanges" >> beam.FlatMap(plan_ranges).with_output_types(FileRange)
            | "ReshuffleRanges" >> beam.Reshuffle()
            | "ReadRanges"
            >> beam.ParDo(ReadRanges(self._max_record_bytes, self._text_columns))
            .with_output_types(SourceRecord, rejects=Reject, stats=FileStats)
            .with_outputs(_REJECTS, _STATS, main="records")
        )
        records = read.records
        if self._reshuffle_rows:
            records = records | "ReshuffleRows" >> beam.Reshuffle()
        return LogRead(records, read[_REJECTS], read[_STATS])


class ReadRanges(beam.DoFn):
    """FileRange -> SourceRecord, with rejects and counts beside it: what `read_range` gives."""

    def __init__(self, max_record_bytes: int, text_columns: Collection[str]) -> None:
        self._max_record_bytes = max_record_bytes
        self._text_columns = text_columns
        self._records = Metrics.counter("beamjudge", "records_read")
        self._rejects = Metrics.counter("beamjudge", "records_rejected_by_reader")

    def process(
        self, element: FileRange
    ) -> Iterator[SourceRecord | TaggedOutput[Literal["rejects"], Reject] | TaggedOutput[Literal["stats"], FileStats]]:
        for item in read_range(element, self._max_record_bytes, self._text_columns):
            if isinstance(item, SourceRecord):
                PROGRESS.add("rows_read", 1)
                yield item
            elif isinstance(item, Reject):
                self._rejects.inc()
                yield TaggedOutput(_REJECTS, item)
            else:
                self._records.inc(item.records)
                yield TaggedOutput(_STATS, item)
