"""The main path as one transform: logged records in; evaluated rows, rejects and run-level metrics out."""

from typing import NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsDict, AsSingleton

from beamjudge.schemas.assessment import EvaluatedRow
from beamjudge.schemas.metric import MetricRow
from beamjudge.schemas.record import Reject, SourceRecord
from beamjudge.schemas.row import Row
from beamjudge.transforms.aggregate import Aggregate
from beamjudge.transforms.aggregation.state import SliceState
from beamjudge.transforms.ask_application import AskApplication
from beamjudge.transforms.first_pass import ApplyFirstPass, FirstPassed, dropped_values
from beamjudge.transforms.judge import Judge
from beamjudge.transforms.judging.questions import can_judge
from beamjudge.transforms.metrics import Metrics
from beamjudge.transforms.metrics.registry import applies
from beamjudge.transforms.normalize import Normalize, Normalized
from beamjudge.transforms.overall import Overall
from beamjudge.transforms.plan import RunPlan


class Evaluated(NamedTuple):
    """What evaluating gives. `counts` are pairs of a name and a number that is to be summed per name."""

    rows: beam.PCollection[EvaluatedRow]
    rejects: beam.PCollection[Reject]
    metrics: beam.PCollection[MetricRow]
    states: beam.PCollection[tuple[str, SliceState]]
    counts: beam.PCollection[tuple[str, int]]


class CanScore:
    """Whether some judge or metric of the plan has something to say about a row that has no response.

    That it is not applicable because of what an input is (an empty list of expected documents) is something to say,
    that an input is missing is not.
    """

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan
        columns = (column.name for family in plan.families for column in family.columns)
        self._ranks = any(name.startswith("retrieval/") for name in columns)

    def __call__(self, row: Row) -> bool:
        guidelines = self._plan.config.guidelines
        return (
            applies(self._plan.families, row)
            or (self._ranks and row.retrieved_context is not None and row.expected_retrieved_context is not None)
            or any(can_judge(binding, row, guidelines) for binding in self._plan.judges)
        )


class NormalizeSampled(beam.PTransform[beam.PCollection[SourceRecord], Normalized]):
    """SourceRecord -> rows in normal form, with rejects and counts; `first` decides which rows are judged."""

    def __init__(self, plan: RunPlan, first: FirstPassed | None) -> None:
        super().__init__()
        self._plan = plan
        self._first = first

    def expand(self, records: beam.PCollection[SourceRecord]) -> "Normalized":
        normalized: Normalized = records | "Normalize" >> Normalize(self._plan.config, CanScore(self._plan))
        if self._first is None:
            return normalized
        rows = normalized.rows | "ApplyFirstPass" >> beam.ParDo(
            ApplyFirstPass(self._plan), AsDict(self._first.kept), AsSingleton(self._first.buckets)
        ).with_output_types(Row)
        return normalized._replace(rows=rows)


class Evaluate(beam.PTransform[beam.PCollection[SourceRecord], Evaluated]):
    """SourceRecord -> rows, rejects, metrics: one fused chain, in which a row visits each stage once.

    `first` is what a first pass over the same records found; without it slices, names of guidelines and calls
    are not capped.
    """

    def __init__(self, plan: RunPlan, first: FirstPassed | None = None) -> None:
        super().__init__()
        self._plan = plan
        self._first = first

    def expand(self, records: beam.PCollection[SourceRecord]) -> "Evaluated":
        normalized = records | "NormalizeSampled" >> NormalizeSampled(self._plan, self._first)
        rows = (
            normalized.rows
            | "AskApplication" >> AskApplication(self._plan)
            | "Metrics" >> Metrics(self._plan)
            | "Judge" >> Judge(self._plan)
            | "Overall" >> Overall(judge.spec for judge in self._plan.judges)
        )
        aggregated = rows | "Aggregate" >> Aggregate(self._plan)
        metrics = aggregated.metrics
        if self._first is not None:
            dropped = self._first.kept | "DroppedValues" >> beam.FlatMap(
                dropped_values, self._plan.config.run_id
            ).with_output_types(MetricRow)
            metrics = (metrics, dropped) | "AllMetrics" >> beam.Flatten()
        counts = (normalized.counts, aggregated.counts) | "CountsOfStages" >> beam.Flatten()
        return Evaluated(rows, normalized.rejects, metrics, aggregated.states, counts)
