"""The last step of a run: counts, metrics and sinks come together, `run.json` is written when all else is."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import apache_beam as beam

from beamjudge.schemas.assessment import VerdictCounts
from beamjudge.schemas.metric import OVERALL_SLICE, MetricRow
from beamjudge.schemas.record import InputFile
from beamjudge.schemas.spend import JudgeSpend
from beamjudge.schemas.tables import utf8
from beamjudge.schemas.tables.files import INPUTS_SCHEMA, input_record
from beamjudge.transforms.attempt import Attempt, end_attempt, now
from beamjudge.transforms.judging.store.compaction import compact_after_run
from beamjudge.transforms.output_files import join, write_json, write_parquet
from beamjudge.transforms.plan import RunPlan
from beamjudge.transforms.run_record import run_record


class RunTotals(NamedTuple):
    """What is known of the whole run only: rows beyond the first of each id, what each judge's calls used, and how
    many of its verdicts failed."""

    duplicate_request_ids: int
    spend: Mapping[str, JudgeSpend]
    verdicts: Mapping[str, VerdictCounts]


class FinishRun(beam.DoFn):
    """Write `metrics.json`, `inputs.parquet`, the attempt's end and, last, `run.json`; gives that file's path.

    `tables` are the paths of all table files: nothing reads them, but they make this step wait for every sink.
    """

    def __init__(self, plan: RunPlan, files: Sequence[InputFile], attempt: Attempt) -> None:
        self._plan = plan
        self._files = tuple(files)
        self._attempt = attempt

    def process(
        self,
        element: None,
        counts: Mapping[str, int],
        records: Mapping[str, int],
        bad_files: Mapping[str, int],
        totals: Sequence[RunTotals],
        metrics: Sequence[MetricRow],
        *tables: Sequence[str],
    ) -> Iterator[str]:
        output = self._plan.config.output
        total = totals[0] if totals else RunTotals(0, {}, {})
        write_json(join(output, "metrics.json"), metrics_summary(self._plan.config.run_id, metrics))
        inputs = (input_record(file, records.get(str(utf8(file.path)), 0)) for file in self._files)
        write_parquet(join(output, "inputs.parquet"), inputs, INPUTS_SCHEMA)
        all_counts = {
            **counts,
            "bad_files": len(bad_files),
            "duplicate_request_ids": total.duplicate_request_ids,
        }
        run = run_record(self._plan, self._attempt, now(), all_counts, total.spend, total.verdicts, metrics)
        end_attempt(output, self._attempt, run["status"])
        compact_after_run(self._plan.config.verdict_folder)
        path = join(output, "run.json")
        write_json(path, run)
        yield path


def metrics_summary(run_id: str, metrics: Sequence[MetricRow]) -> dict[str, object]:
    """The content of `metrics.json`: every metric's value, overall and per slice."""
    slices: dict[str, dict[str, float | None]] = {}
    for metric in sorted(metrics, key=_slice_and_name):
        slices.setdefault(metric.slice, {})[metric.metric] = metric.value
    return {"run_id": run_id, "metrics": slices.pop(OVERALL_SLICE, {}), "slices": slices}


def _slice_and_name(metric: MetricRow) -> tuple[str, str]:
    return metric.slice, metric.metric
