"""What a run would take at most: calls, tokens and cost of each judge and of the application; nothing is asked."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import apache_beam as beam

from beamjudge.schemas.answer import APP
from beamjudge.schemas.assessment import Assessment
from beamjudge.schemas.row import Row
from beamjudge.schemas.spend import NO_SPEND, Spend
from beamjudge.transforms.judging.app import foreseen
from beamjudge.transforms.judging.price import PriceBound, app_bound
from beamjudge.transforms.judging.questions import plan_questions
from beamjudge.transforms.plan import RunPlan


class JudgeBound(NamedTuple):
    """The rows that need a call of a judge, or of the application, and what these calls use at most."""

    rows: int
    spend: Spend


class EstimateSpend(beam.PTransform[beam.PCollection[Row], beam.PCollection[tuple[str, JudgeBound]]]):
    """PCollection[Row] -> (judge, JudgeBound), one for each judge with a row to ask about, and for the application
    under its own name. Rules cost nothing."""

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
        self._app = plan.app

    def process(self, element: Row) -> Iterator[tuple[str, JudgeBound]]:
        if self._app is not None and element.unanswered is not None:
            yield APP, JudgeBound(1, app_bound(self._app, element.unanswered))
        if not element.sampled:
            return
        row = foreseen(element, self._app)
        for binding, bound in self._bounds:
            planned = plan_questions(binding, row, self._guidelines)
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
