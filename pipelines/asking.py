"""Asking judges a few questions outside of a pipeline."""

import threading
from collections.abc import Sequence

from beamjudge.schemas.assessment import Verdict
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.judging.client import acquire, release
from beamjudge.transforms.judging.question import Question
from beamjudge.transforms.plan import RunPlan


def ask_all(plan: RunPlan, questions: Sequence[tuple[JudgeBinding, Question]]) -> list[Verdict]:
    """The verdicts on all questions, in order; what would end a run is an error in each. Nothing is stored."""
    client = acquire(plan)
    try:
        verdicts: list[Verdict | None] = [None] * len(questions)
        missing = threading.Semaphore(0)
        for index, (binding, question) in enumerate(questions):

            def done(verdict: Verdict, index: int = index) -> None:
                verdicts[index] = verdict
                missing.release()

            client.submit(binding, question, done)
        for _ in questions:
            missing.acquire()
        fatal = client.fatal
        return [Verdict.failed(fatal) if fatal else verdict for verdict in verdicts if verdict is not None]
    finally:
        release(client)
