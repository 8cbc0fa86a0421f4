"""The judge stage: every judge of a row is asked, with many rows on their way at once."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from queue import Empty, SimpleQueue
from typing import NamedTuple, TypeAlias

import apache_beam as beam
from apache_beam.io.components.adaptive_throttler import ThrottlingSignaler
from apache_beam.metrics import Metrics
from apache_beam.transforms.window import BoundedWindow
from apache_beam.utils.timestamp import Timestamp
from apache_beam.utils.windowed_value import WindowedValue

from beamjudge.schemas.assessment import NOT_SAMPLED, Assessment, EvaluatedRow, Outcome, Verdict
from beamjudge.schemas.errors import RunFailed
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.judging.client import JudgeClient, acquire, release
from beamjudge.transforms.judging.question import Question
from beamjudge.transforms.judging.questions import assemble, plan_questions
from beamjudge.transforms.plan import RunPlan

_NAMESPACE = "beamjudge"
# Rows and questions on their way, per call that may be in flight: enough that no slot idles behind a slow row or at the
# end of a row with many questions, and little enough that memory stays flat.
_ROWS_PER_SLOT = 2
_QUESTIONS_PER_SLOT = 4

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


class _Answer(NamedTuple):
    """A verdict that has arrived, and where it belongs: the row's number, the judge's and the question's index."""

    row: int
    judge: int
    question: int
    verdict: Verdict


@dataclass(slots=True)
class _OpenRow:
    """A row on its way: what each judge planned, the verdicts so far, and how many are missing."""

    row: EvaluatedRow
    timestamp: Timestamp
    window: BoundedWindow
    planned: tuple[_Planned, ...]
    verdicts: tuple[list[Verdict | None], ...]
    missing: int


class JudgeDoFn(beam.DoFn):
    """Keeps a window of rows on their way: `process` submits a row and hands on whatever rows are complete."""

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan
        self._global_guidelines = plan.config.guidelines
        self._max_rows = _ROWS_PER_SLOT * plan.config.max_concurrency
        self._max_questions = _QUESTIONS_PER_SLOT * plan.config.max_concurrency
        self._client: JudgeClient | None = None
        self._judged = Metrics.counter(_NAMESPACE, "rows_judged")
        self._errors = Metrics.counter(_NAMESPACE, "judge_errors")
        self._throttling = ThrottlingSignaler(_NAMESPACE)
        self._throttled_seconds = 0.0

    def setup(self) -> None:
        self._client = acquire(self._plan)

    def teardown(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            release(client)

    def start_bundle(self) -> None:
        # A new queue each time: late answers to a bundle that broke off must not reach the next one.
        self._answers: SimpleQueue[_Answer] = SimpleQueue()
        self._open: dict[int, _OpenRow] = {}
        self._open_questions = 0
        self._submitted = 0

    def process(
        self,
        element: EvaluatedRow,
        timestamp: Timestamp = beam.DoFn.TimestampParam,  # type: ignore[assignment]
        window: BoundedWindow = beam.DoFn.WindowParam,  # type: ignore[assignment]
    ) -> Iterator[WindowedValue]:
        while len(self._open) >= self._max_rows or self._open_questions >= self._max_questions:
            yield from self._receive(self._next_answer())
        opened = self._submit(element, timestamp, window)
        if not opened.missing:
            yield self._finish(opened)
        while (answer := self._arrived_answer()) is not None:
            yield from self._receive(answer)

    def finish_bundle(self) -> Iterator[WindowedValue]:
        while self._open:
            yield from self._receive(self._next_answer())
        # Before the runner takes the bundle for done: it would not ask again for what was lost.
        self._used_client().flush()

    def _submit(self, row: EvaluatedRow, timestamp: Timestamp, window: BoundedWindow) -> _OpenRow:
        """Start all questions of a row together, whichever judges they belong to."""
        planned = tuple(self._plan_questions(judge, row) for judge in self._plan.judges)
        asked = [() if isinstance(plan, Assessment) else plan for plan in planned]
        missing = sum(map(len, asked))
        verdicts: tuple[list[Verdict | None], ...] = tuple([None] * len(questions) for questions in asked)
        opened = _OpenRow(row, timestamp, window, planned, verdicts, missing)
        if missing:
            self._open[self._submitted] = opened
            self._open_questions += missing
        for judge, questions in enumerate(asked):
            for index, question in enumerate(questions):
                done = partial(_put_answer, self._answers, self._submitted, judge, index)
                self._used_client().submit(self._plan.judges[judge], question, done, row.row.request_id)
        self._submitted += 1
        return opened

    def _plan_questions(self, judge: JudgeBinding, row: EvaluatedRow) -> _Planned:
        if not row.row.sampled:
            return Assessment(NOT_SAMPLED)
        return plan_questions(judge, row.row, self._global_guidelines)

    def _next_answer(self) -> _Answer:
        """The next answer, waiting for it. A client that fails answers everything, so the wait always ends."""
        self._raise_if_failed()
        started = time.monotonic()
        answer = self._answers.get()
        self._note_throttling(time.monotonic() - started)
        self._raise_if_failed()
        return answer

    def _note_throttling(self, waited: float) -> None:
        """Tell the runner that time has passed for want of a limit and not of work: more workers would not help."""
        if self._used_client().is_throttled:
            self._throttled_seconds += waited
            if self._throttled_seconds >= 1:
                self._throttling.signal_throttled(int(self._throttled_seconds))
                self._throttled_seconds %= 1

    def _arrived_answer(self) -> _Answer | None:
        self._raise_if_failed()
        try:
            return self._answers.get_nowait()
        except Empty:
            return None

    def _receive(self, answer: _Answer) -> Iterator[WindowedValue]:
        """Note an answer; its row, if that was the last one missing."""
        opened = self._open[answer.row]
        opened.verdicts[answer.judge][answer.question] = answer.verdict
        opened.missing -= 1
        self._open_questions -= 1
        if not opened.missing:
            del self._open[answer.row]
            yield self._finish(opened)

    def _finish(self, opened: _OpenRow) -> WindowedValue:
        assessments = dict(opened.row.assessments)
        notes = dict.fromkeys(opened.row.row.notes)
        for judge, planned, arrived in zip(self._plan.judges, opened.planned, opened.verdicts, strict=True):
            verdicts = tuple(verdict for verdict in arrived if verdict is not None)
            assessments[judge.spec.name] = (
                planned
                if isinstance(planned, Assessment)
                else assemble(judge, opened.row.row, self._global_guidelines, planned, verdicts)
            )
            notes.update(dict.fromkeys(note for verdict in verdicts for note in verdict.notes))
            # Counted here and not where verdicts arrive: counters of another thread than the bundle's are lost.
            self._errors.inc(sum(verdict.outcome is Outcome.ERROR for verdict in verdicts))
        self._judged.inc()
        row = replace(opened.row.row, notes=tuple(notes))
        evaluated = replace(opened.row, row=row, assessments=assessments)
        return WindowedValue(evaluated, opened.timestamp, (opened.window,))

    def _used_client(self) -> JudgeClient:
        assert self._client is not None, "setup has not run"
        return self._client

    def _raise_if_failed(self) -> None:
        fatal = self._used_client().fatal
        if fatal:
            raise RunFailed(fatal)


def _put_answer(answers: "SimpleQueue[_Answer]", row: int, judge: int, question: int, verdict: Verdict) -> None:
    answers.put(_Answer(row, judge, question, verdict))
