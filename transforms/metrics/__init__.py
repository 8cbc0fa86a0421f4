"""The metrics stage: deterministic scores of every row, no judge and no network."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import apache_beam as beam

from beamjudge.schemas.assessment import EvaluatedRow, MetricValue
from beamjudge.schemas.row import Row
from beamjudge.schemas.run_config import METRIC_GROUPS
from beamjudge.transforms.metrics.family import MetricFamily

if TYPE_CHECKING:  # a plan is made of families, which are in this package
    from beamjudge.transforms.plan import RunPlan

_OF_RESPONSE_TEXT = frozenset((*METRIC_GROUPS["text"], *METRIC_GROUPS["form"], "tokenizer", "rules"))


class Metrics(beam.PTransform[beam.PCollection[Row], beam.PCollection[EvaluatedRow]]):
    """Rows -> evaluated rows with the values of the plan's metric families, and no assessments yet."""

    def __init__(self, plan: "RunPlan") -> None:
        super().__init__()
        self._families = plan.families

    def expand(self, rows: beam.PCollection[Row]) -> beam.PCollection[EvaluatedRow]:
        evaluated: beam.PCollection[EvaluatedRow] = rows | "ComputeMetrics" >> beam.ParDo(
            _ComputeMetrics(self._families)
        )
        return evaluated


class TextMetrics(Metrics):
    """As `Metrics`, but only those of the plan's families that look at the response text (groups `text` and `form`,
    and the rules)."""

    def __init__(self, plan: "RunPlan") -> None:
        super().__init__(plan)
        self._families = tuple(family for family in plan.families if family.name in _OF_RESPONSE_TEXT)


def compute_metrics(families: tuple[MetricFamily, ...], row: Row) -> EvaluatedRow:
    """The row with every family's values."""
    values: dict[str, MetricValue] = {}
    for family in families:
        values.update(family.compute(row))
    return EvaluatedRow(row, values, {}, None)


class _ComputeMetrics(beam.DoFn):
    def __init__(self, families: tuple[MetricFamily, ...]) -> None:
        self._families = families

    def process(self, row: Row) -> Iterator[EvaluatedRow]:
        yield compute_metrics(self._families, row)
