"""What judging a log would take at most: calls, tokens and cost per judge, without asking anything."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import apache_beam as beam

from beamjudge.schemas.assessment import Assessment
from beamjudge.schemas.row import Row
from beamjudge.schemas.spend import NO_SPEND, Spend
from beamjudge.transforms.judging.price import PriceBound
from beamjudge.transforms.judging.questions import plan_questions
from beamjudge.transforms.plan import RunPlan


class JudgeBound(NamedTuple):
    """A judge's rows that need a call, and what its calls use at most."""

    rows: int
    spend: Spend


class EstimateSpend(beam.PTransform[beam.PCollection[Row], beam.PCollection[tuple[str, JudgeBound]]]):
    """PCollection[Row] -> (judge, JudgeBound), one for each judge with a row to ask about. Rules cost nothing."""

    def __init__(self, plan: RunPlan) -> None:
        super().__init__()
        self._plan = plan

    def expand(self, rows: beam.PCollection[Row]) -> beam.PCollection[tuple[str, JudgeBound]]:
        add = AddBounds()  # type: ignore[no-untyped-call]  # Beam's constructor
        bounds: beam.PCollection[tuple[str, JudgeBound]] = (
            rows
            | "BoundRows" >> beam.ParDo(_BoundRows(self._plan)).with_output_types(tuple[str, JudgeBound])
            | "AddBounds" >> beam.CombinePerKey(add)
        )
        return bounds


class _BoundRows(beam.DoFn):
    def __init__(self, plan: RunPlan) -> None:
        asked = [binding for binding in plan.judges if not binding.endpoint.is_lexical]
        self._bounds = [(binding, PriceBound.of(binding)) for binding in asked]
        self._guidelines = plan.config.guidelines

    def process(self, element: Row) -> Iterator[tuple[str, JudgeBound]]:
        if not element.sampled:
            return
        for binding, bound in self._bounds:
            planned = plan_questions(binding, element, self._guidelines)
            if not isinstance(planned, Assessment):
                spend = sum((bound.of_question(question) for question in planned), NO_SPEND)
                yield binding.spec.name, JudgeBound(1, spend)


class AddBounds(beam.CombineFn):
    """JudgeBound -> their sum."""

    def create_accumulator(self) -> JudgeBound:
        return JudgeBound(0, NO_SPEND)

    def add_input(self, mutable_accumulator: JudgeBound, element: JudgeBound) -> JudgeBound:
        return JudgeBound(mutable_accumulator.rows + element.rows, mutable_accumulator.spend + element.spend)

    def merge_accumulators(self, accumulators: Iterable[JudgeBound]) -> JudgeBound:
        total = self.create_accumulator()
        for accumulator in accumulators:
            total = self.add_input(total, accumulator)
        return total

    def extract_output(self, accumulator: JudgeBound) -> JudgeBound:
        return accumulator
