"""The judge stage: every judge of a row is asked, with many rows on their way at once."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import apache_beam as beam
from apache_beam.metrics import Metrics

from beamjudge.schemas.assessment import NOT_SAMPLED, Assessment, EvaluatedRow, Outcome, Verdict
from beamjudge.transforms.in_flight import NAMESPACE, AskingDoFn, Begun
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.judging.question import Question
from beamjudge.transforms.judging.questions import assemble, plan_questions
from beamjudge.transforms.plan import RunPlan

# What a judge makes of a row before anything is asked: its assessment already, or the questions to ask.
_Planned: TypeAlias = "Assessment | tuple[Question, ...]"


class Judge(beam.PTransform[beam.PCollection[EvaluatedRow], beam.PCollection[EvaluatedRow]]):
    """PCollection[EvaluatedRow] -> PCollection[EvaluatedRow]: each row once, with an assessment of every judge.

    Rows come out in the order in which their last verdicts arrive, in their own windows and with their own timestamps.
    Every failure of a call is a verdict; RunFailed is raised only when an endpoint cannot be used at all.
    """

    def __init__(self, plan: RunPlan) -> None:
        super().__init__()
        self._plan = plan

    def expand(self, rows: beam.PCollection[EvaluatedRow]) -> beam.PCollection[EvaluatedRow]:
        if not self._plan.judges:
            return rows
        judged: beam.PCollection[EvaluatedRow] = rows | "AskJudges" >> beam.ParDo(
            JudgeDoFn(self._plan)
        ).with_output_types(EvaluatedRow)
        return judged


class JudgeDoFn(AskingDoFn[EvaluatedRow, Verdict]):
    """Asks all judges of a row together."""

    def __init__(self, plan: RunPlan) -> None:
        super().__init__(plan)
        self._global_guidelines = plan.config.guidelines
        self._judged = Metrics.counter(NAMESPACE, "rows_judged")
        self._errors = Metrics.counter(NAMESPACE, "judge_errors")

    def begin(self, element: EvaluatedRow) -> Begun[EvaluatedRow, Verdict]:
        planned = tuple(self._plan_questions(judge, element) for judge in self._plan.judges)
        submit, request_id = self.client().submit, element.row.request_id
        asks = [
            partial(submit, judge, question, request_id=request_id)
            for judge, plan in zip(self._plan.judges, planned, strict=True)
            if not isinstance(plan, Assessment)
            for question in plan
        ]
        return Begun(asks, partial(self._finish, element, planned))

    def _plan_questions(self, judge: JudgeBinding, row: EvaluatedRow) -> _Planned:
        if not row.row.sampled:
            return Assessment(NOT_SAMPLED)
        return plan_questions(judge, row.row, self._global_guidelines)

    def _finish(self, row: EvaluatedRow, planned: Sequence[_Planned], verdicts: Sequence[Verdict]) -> EvaluatedRow:
        assessments = dict(row.assessments)
        arrived = iter(verdicts)
        for judge, plan in zip(self._plan.judges, planned, strict=True):
            assessments[judge.spec.name] = (
                plan
                if isinstance(plan, Assessment)
                else assemble(judge, row.row, self._global_guidelines, plan, [next(arrived) for _ in plan])
            )
        notes = [note for verdict in verdicts for note in verdict.notes]
        # Counted here and not where verdicts arrive: counters of another thread than the bundle's are lost.
        self._errors.inc(sum(verdict.outcome is Outcome.ERROR for verdict in verdicts))
        self._judged.inc()
        noted = replace(row.row, notes=tuple(dict.fromkeys((*row.row.notes, *notes)))) if notes else row.row
        return replace(row, row=noted, assessments=assessments)
