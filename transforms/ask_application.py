"""The application stage: rows without a response are answered by the application under test before they are judged."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import apache_beam as beam
from apache_beam.metrics import Metrics

from beamjudge.schemas.answer import Answered
from beamjudge.schemas.row import Asked, Row, TokenUsage
from beamjudge.transforms.in_flight import NAMESPACE, AskingDoFn, Begun
from beamjudge.transforms.plan import RunPlan

ANSWERED = "answered_by_app"


class AskApplication(beam.PTransform[beam.PCollection[Row], beam.PCollection[Row]]):
    """PCollection[Row] -> PCollection[Row]: each row once; those that are `unanswered` with what the application said.

    Rows come out in the order in which they are answered, in their own windows and with their own timestamps. An
    application that fails on a row leaves it without a response, and the reason in `asked`; RunFailed is raised only
    when it cannot be used at all.
    """

    def __init__(self, plan: RunPlan) -> None:
        super().__init__()
        self._plan = plan

    def expand(self, rows: beam.PCollection[Row]) -> beam.PCollection[Row]:
        if self._plan.app is None:
            return rows
        answered: beam.PCollection[Row] = rows | "AskAboutRows" >> beam.ParDo(
            _AskApplicationDoFn(self._plan)
        ).with_output_types(Row)
        return answered


class _AskApplicationDoFn(AskingDoFn[Row, Answered]):
    """Asks about each row that is unanswered, and hands on the others at once."""

    def __init__(self, plan: RunPlan) -> None:
        super().__init__(plan)
        self._answered = Metrics.counter(NAMESPACE, "rows_answered")
        self._errors = Metrics.counter(NAMESPACE, "application_errors")

    def begin(self, element: Row) -> Begun[Row, Answered]:
        app = self._plan.app
        if app is None or element.unanswered is None:
            return Begun((), partial(_untouched, element))
        submit = partial(self.client().submit_request, app, element.unanswered, request_id=element.request_id)
        return Begun((submit,), partial(self._finish, element))

    def _finish(self, row: Row, answers: Sequence[Answered]) -> Row:
        (answered,) = answers
        (self._errors if answered.answer is None else self._answered).inc()
        return with_answer(row, answered)


def _untouched(row: Row, _: Sequence[Answered]) -> Row:
    return row


def with_answer(row: Row, answered: Answered) -> Row:
    """The row with what the application said, where the log does not say it itself."""
    asked = Asked(answered.error_message, answered.cost, answered.stopped)
    answer = answered.answer
    if answer is None:
        return replace(row, unanswered=None, asked=asked)
    return replace(
        row,
        unanswered=None,
        asked=asked,
        response=answer.response,
        response_text=answer.response_text,
        retrieved_context=answer.retrieved_context if row.retrieved_context is None else row.retrieved_context,
        usage=answer.usage if row.usage == TokenUsage() else row.usage,
        latency_seconds=answer.latency_seconds if row.latency_seconds is None else row.latency_seconds,
        notes=tuple(dict.fromkeys((*row.notes, ANSWERED, *answer.notes))),
    )
