"""`beamjudge evaluate`: a log in, judged rows and run-level metrics out."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import apache_beam as beam
import pyarrow as pa

from beamjudge.schemas.assessment import EvaluatedRow
from beamjudge.schemas.metric import OVERALL_SLICE, Column
from beamjudge.schemas.record import FileStats, InputFile, Reject
from beamjudge.schemas.tables import utf8
from beamjudge.schemas.tables.files import REJECTS_SCHEMA, reject_record
from beamjudge.schemas.tables.metrics import METRICS_SCHEMA
from beamjudge.schemas.tables.rows import row_record, rows_schema
from beamjudge.schemas.tables.state import STATE_SCHEMA
from beamjudge.transforms.aggregation.state import SliceState
from beamjudge.transforms.aggregation.state_table import state_records
from beamjudge.transforms.aggregation.summarize import duplicate_request_ids
from beamjudge.transforms.attempt import Attempt
from beamjudge.transforms.evaluate import CanScore, Evaluate
from beamjudge.transforms.finish_run import FinishRun, RunTotals
from beamjudge.transforms.first_pass import FirstPass, FirstPassed, needs_first_pass
from beamjudge.transforms.group_spans import GroupSpans, groups_spans
from beamjudge.transforms.normalize import Normalize
from beamjudge.transforms.output_files import join
from beamjudge.transforms.plan import RunPlan
from beamjudge.transforms.progress import PROGRESS
from beamjudge.transforms.read_logs import ReadLogs
from beamjudge.transforms.row_reader import text_columns
from beamjudge.transforms.write import WriteTable


def build(root: beam.Pipeline, plan: RunPlan, files: Sequence[InputFile], attempt: Attempt, reshuffle: bool) -> None:
    """Put the whole run on `root`: read, evaluate, write every table, and `run.json` last."""
    config, plan = plan.config, replace(plan, attempt=attempt)
    columns = text_columns(config)
    logs = root | "ReadLogs" >> ReadLogs(files, config.max_record_mb, columns, reshuffle)
    groups = groups_spans(config, files)
    records = logs.records
    span_counts: list[beam.PCollection[tuple[str, int]]] = []
    if groups:
        records, counted = records | "GroupSpans" >> GroupSpans()
        span_counts.append(counted)
    evaluated = records | "Evaluate" >> Evaluate(plan, first_pass(root, plan, files, groups))
    rejects = (logs.rejects, evaluated.rejects) | "AllRejects" >> beam.Flatten()

    tables = [
        evaluated.rows
        | "RowRecords" >> beam.ParDo(_RowRecords(plan))
        | "WriteRows" >> WriteTable(join(config.output, "rows"), plan_rows_schema(plan)),
        rejects
        | "RejectRecords" >> beam.Map(reject_record, config.store_text == "full").with_output_types(dict[str, Any])
        | "WriteRejects" >> WriteTable(join(config.output, "rejects"), REJECTS_SCHEMA),
        evaluated.metrics
        | "MetricRecords" >> beam.Map(asdict).with_output_types(dict[str, Any])
        | "WriteMetrics" >> WriteTable(join(config.output, "metrics"), METRICS_SCHEMA),
        evaluated.states
        | "StateRecords" >> beam.FlatMap(_state_records, config.run_id).with_output_types(dict[str, Any])
        | "WriteState" >> WriteTable(join(config.output, "state"), STATE_SCHEMA),
    ]
    counts = (
        evaluated.counts,
        *span_counts,
        logs.stats | "CountRecords" >> beam.FlatMap(_record_counts).with_output_types(tuple[str, int]),
        logs.rejects | "CountRejects" >> beam.FlatMap(_reject_counts).with_output_types(tuple[str, int]),
    ) | "AllCounts" >> beam.Flatten()
    records = logs.stats | "RecordsByFile" >> beam.Map(_records_of_file).with_output_types(tuple[str, int])
    bad_files = logs.stats | "BadFiles" >> beam.FlatMap(_bad_file).with_output_types(tuple[str, int])
    totals = evaluated.states | "RunTotals" >> beam.FlatMap(_run_totals).with_output_types(RunTotals)
    _ = (
        root
        | "Once" >> beam.Create([None])
        | "FinishRun"
        >> beam.ParDo(
            FinishRun(plan, files, attempt),
            beam.pvalue.AsDict(counts | "SumCounts" >> beam.CombinePerKey(sum)),
            beam.pvalue.AsDict(records | "SumRecords" >> beam.CombinePerKey(sum)),
            beam.pvalue.AsDict(bad_files | "SumBadFiles" >> beam.CombinePerKey(sum)),
            beam.pvalue.AsList(totals),
            beam.pvalue.AsList(evaluated.metrics),
            *(beam.pvalue.AsList(table) for table in tables),
        )
    )


def first_pass(root: beam.Pipeline, plan: RunPlan, files: Sequence[InputFile], groups: bool) -> FirstPassed | None:
    """What a first pass over the files finds, where the configuration asks for one; `groups` puts spans together."""
    config = plan.config
    if not needs_first_pass(plan):
        return None
    logs = root | "ReadLogsAhead" >> ReadLogs(files, config.max_record_mb, text_columns(config))
    records = (logs.records | "GroupSpansAhead" >> GroupSpans()).records if groups else logs.records
    normalized = records | "NormalizeAhead" >> Normalize(config, CanScore(plan))
    found: FirstPassed = normalized.rows | "FirstPass" >> FirstPass(plan)
    return found


def plan_rows_schema(plan: RunPlan) -> pa.Schema:
    """The Arrow schema of the plan's rows table."""
    return rows_schema(plan.config, *_layout(plan))


def _layout(plan: RunPlan) -> tuple[list[Any], list[Column], list[str]]:
    """What the rows table's columns follow from: judges, metric columns, names of the run's guidelines."""
    columns = [column for family in plan.families for column in family.columns]
    return [judge.spec for judge in plan.judges], columns, [name for name, _ in plan.config.guidelines.named]


class _RowRecords(beam.DoFn):
    def __init__(self, plan: RunPlan) -> None:
        self._config = plan.config
        self._columns = _layout(plan)

    def process(self, element: EvaluatedRow) -> Iterator[dict[str, Any]]:
        PROGRESS.add("rows_done", 1)
        yield row_record(element, self._config, *self._columns)


def _record_counts(stats: FileStats) -> Iterator[tuple[str, int]]:
    yield "records_read", stats.records
    yield "blank", stats.blank


def _reject_counts(reject: Reject) -> Iterator[tuple[str, int]]:
    yield "rejects", 1
    yield f"reject:{reject.code}", 1


def _records_of_file(stats: FileStats) -> tuple[str, int]:
    return str(utf8(stats.source_file)), stats.records - stats.blank


def _state_records(element: tuple[str, SliceState], run_id: str) -> Iterator[dict[str, Any]]:
    yield from state_records(run_id, *element)


def _bad_file(stats: FileStats) -> Iterator[tuple[str, int]]:
    # By file, since a file that vanishes while it is read fails once for each of its ranges.
    if stats.bad_files:
        yield str(utf8(stats.source_file)), stats.bad_files


def _run_totals(element: tuple[str, SliceState]) -> Iterator[RunTotals]:
    slice_name, state = element
    if slice_name == OVERALL_SLICE:
        yield RunTotals(duplicate_request_ids(state), state.spend, state.verdicts)
