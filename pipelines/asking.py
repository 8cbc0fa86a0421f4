"""Asking judges, or the application under test, a few questions outside of a pipeline."""

import threading
from collections.abc import Callable, Sequence
from functools import partial

from beamjudge.schemas.answer import Answered
from beamjudge.schemas.assessment import Verdict
from beamjudge.transforms.judging.app import AppBinding
from beamjudge.transforms.judging.asks import A
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.judging.client import JudgeClient, acquire, release
from beamjudge.transforms.judging.question import Question
from beamjudge.transforms.plan import RunPlan


def ask_all(plan: RunPlan, questions: Sequence[tuple[JudgeBinding, Question]]) -> list[Verdict]:
    """The verdicts on all questions, in order; what would end a run is an error in each. Nothing is stored."""

    def submit(client: JudgeClient, index: int, done: Callable[[Verdict], None]) -> None:
        client.submit(*questions[index], done)

    return _ask_each(plan, len(questions), submit, Verdict.failed)


def ask_app(plan: RunPlan, app: AppBinding, unanswered: str) -> Answered:
    """The application's answer to a request, a JSON object; what would end a run is an error. Nothing is stored."""

    def submit(client: JudgeClient, _: int, done: Callable[[Answered], None]) -> None:
        client.submit_request(app, unanswered, done)

    return _ask_each(plan, 1, submit, Answered.failed)[0]


def _ask_each(
    plan: RunPlan,
    count: int,
    submit: Callable[[JudgeClient, int, Callable[[A], None]], None],
    failed: Callable[[str], A],
) -> list[A]:
    client = acquire(plan)
    try:
        answers: list[A | None] = [None] * count
        missing = threading.Semaphore(0)
        for index in range(count):
            submit(client, index, partial(_take, answers, missing, index))
        for _ in range(count):
            missing.acquire()
        fatal = client.fatal
        return [failed(fatal) if fatal else answer for answer in answers if answer is not None]
    finally:
        release(client)


def _take(answers: list[A | None], missing: threading.Semaphore, index: int, answer: A) -> None:
    answers[index] = answer
    missing.release()
