"""GroupSpans: records that are single spans into one record per trace; all others pass without a shuffle."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, islice
from typing import Literal, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput
from apache_beam.typehints.decorators import no_annotations

from beamjudge.schemas.json_value import Json
from beamjudge.schemas.record import InputFile, SourceRecord
from beamjudge.schemas.run_config import RunConfig
from beamjudge.schemas.traces.grouping import root_index, spans_of_record, start_of
from beamjudge.schemas.traces.langsmith import is_run, joined_runs, run_id
from beamjudge.transforms.reading.ranges import plan_ranges, read_range
from beamjudge.transforms.row_reader import text_columns

_SPANS: Literal["spans"] = "spans"
_COUNTS: Literal["counts"] = "counts"
_FIRST_FILES = 5
_FIRST_RECORDS = 20
_KeyedRecord = tuple[str, SourceRecord]


class Grouped(NamedTuple):
    """Records, one per trace where they were spans. `counts` has `expanded`, the spans beyond one per record, and
    `grouped`, the spans beyond one per trace."""

    records: beam.PCollection[SourceRecord]
    counts: beam.PCollection[tuple[str, int]]


class GroupSpans(beam.PTransform[beam.PCollection[SourceRecord], Grouped]):
    """PCollection[SourceRecord] -> Grouped. Only spans are shuffled, by the ids of their traces."""

    @no_annotations  # type: ignore[untyped-decorator]  # Beam warns of a result of several collections
    def expand(self, records: beam.PCollection[SourceRecord]) -> Grouped:
        split_spans, join_spans = _SplitSpans(), _JoinSpans()  # type: ignore[no-untyped-call]  # Beam's constructors
        split = records | "SplitSpans" >> beam.ParDo(split_spans).with_output_types(
            SourceRecord, spans=_KeyedRecord, counts=tuple[str, int]
        ).with_outputs(_SPANS, _COUNTS, main="records")
        joined = (
            split[_SPANS]
            | "SpansOfTrace" >> beam.GroupByKey()
            | "JoinSpans"
            >> beam.ParDo(join_spans)
            .with_output_types(SourceRecord, counts=tuple[str, int])
            .with_outputs(_COUNTS, main="traces")
        )
        return Grouped(
            (split["records"], joined["traces"]) | "RowsAndTraces" >> beam.Flatten(),
            (split[_COUNTS], joined[_COUNTS]) | "CountsOfSpans" >> beam.Flatten(),
        )


class _SplitSpans(beam.DoFn):
    def process(
        self, record: SourceRecord
    ) -> Iterator[
        SourceRecord | TaggedOutput[Literal["spans"], _KeyedRecord] | TaggedOutput[Literal["counts"], tuple[str, int]]
    ]:
        keyed = keyed_spans(record)
        if keyed is None:
            yield record
            return
        for item in keyed:
            yield TaggedOutput(_SPANS, item)
        if len(keyed) > 1:
            yield TaggedOutput(_COUNTS, ("expanded", len(keyed) - 1))


class _JoinSpans(beam.DoFn):
    def process(
        self, element: tuple[str, Iterable[SourceRecord]]
    ) -> Iterator[SourceRecord | TaggedOutput[Literal["counts"], tuple[str, int]]]:
        trace_id, spans = element
        listed = list(spans)
        yield trace_record(trace_id, listed)
        if len(listed) > 1:
            yield TaggedOutput(_COUNTS, ("grouped", len(listed) - 1))


def keyed_spans(record: SourceRecord) -> list[_KeyedRecord] | None:
    """The spans of a record as records by the ids of their traces; null for a record that is none."""
    found = spans_of_record(record.data)
    if found is None:
        return None
    folders = {name: record.data[name] for name in record.from_path}
    return [(keyed.trace_id, replace(record, data={**folders, **keyed.span})) for keyed in found]


def trace_record(trace_id: str, spans: Sequence[SourceRecord]) -> SourceRecord:
    """The record of one trace: the root span's columns and place, its spans as `trace`, the trace's id as the row's.

    Spans are in the order in which they began, so that the record does not depend on who read what.
    """
    ordered = _whole_runs(sorted(spans, key=_order))
    root = ordered[root_index([span.data for span in ordered])]
    data: dict[str, Json] = {**root.data, "trace": {"spans": [span.data for span in ordered]}}
    if data.get("request_id") is None:
        data["request_id"] = trace_id
    if (start := start_of(root.data)) is not None:
        data["timestamp"] = start
    notes = tuple(dict.fromkeys(note for span in ordered for note in span.notes))
    return replace(root, data=data, notes=notes)


def _whole_runs(spans: list[SourceRecord]) -> list[SourceRecord]:
    """The spans with those of one LangSmith run, its post and its patch, put together in the place of the first."""
    parts: dict[str, list[SourceRecord]] = {}
    for index, span in enumerate(spans):
        own = run_id(span.data) if is_run(span.data) else None
        parts.setdefault(f"#{index}" if own is None else own, []).append(span)
    if len(parts) == len(spans):
        return spans
    # A patch has when the run ended. Few have when it began, so that they stand before what they belong to.
    ended_last = (sorted(run, key=lambda span: span.data.get("end_time") is not None) for run in parts.values())
    whole = (
        replace(
            run[0],
            data=joined_runs(part.data for part in run),
            notes=tuple(note for part in run for note in part.notes),
        )
        for run in ended_last
    )
    return sorted(whole, key=_order)


def group_locally(records: Iterable[SourceRecord]) -> Iterator[SourceRecord]:
    """The same over a few records in memory."""
    keyed: list[_KeyedRecord] = []
    for record in records:
        found = keyed_spans(record)
        if found is None:
            yield record
        else:
            keyed += found
    for trace_id, members in groupby(sorted(keyed, key=_trace_id), key=_trace_id):
        yield trace_record(trace_id, [record for _, record in members])


def groups_spans(config: RunConfig, files: Sequence[InputFile]) -> bool:
    """Whether spans are grouped: as `--group_spans` says, else if there are any among the first records."""
    if config.group_spans != "auto":
        return config.group_spans == "on"
    limit, columns = int(config.max_record_mb * (1 << 20)), text_columns(config)
    for file in files[:_FIRST_FILES]:
        items = chain.from_iterable(read_range(part, limit, columns) for part in plan_ranges(file))
        records = (item for item in items if isinstance(item, SourceRecord))
        if any(spans_of_record(record.data) for record in islice(records, _FIRST_RECORDS)):
            return True
    return False


def _trace_id(keyed: _KeyedRecord) -> str:
    return keyed[0]


def _order(record: SourceRecord) -> tuple[int, str, list[int]]:
    start = start_of(record.data)
    place = [int(number) for number in record.source_position.split(":")]
    return -1 if start is None else start, record.source_file, place
