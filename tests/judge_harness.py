"""What tests of the judge client share: configurations for a fake endpoint, questions, and waiting for verdicts."""

import asyncio
from collections.abc import Sequence
from queue import SimpleQueue
from typing import Any

from fake_endpoint import FakeEndpoint

from beamjudge.schemas.assessment import Verdict
from beamjudge.schemas.judges import Protocol
from beamjudge.schemas.run_config import Endpoint, JudgeSettings, RunConfig
from beamjudge.transforms.judging.binding import JudgeBinding, bind_judges
from beamjudge.transforms.judging.client import JudgeClient
from beamjudge.transforms.judging.question import JudgeInputs, Question
from beamjudge.transforms.judging.retry import RetryPolicy
from beamjudge.transforms.plan import RunPlan

WAIT_SECONDS = 20.0


async def no_sleep(seconds: float) -> None:
    """Retries at once: a wait of the tested code is a matter of its own tests."""
    await asyncio.sleep(0)


AT_ONCE = RetryPolicy(first_wait=0.0, max_wait=0.0, sleep=no_sleep)


def config_for(
    base_url: str, judges: Sequence[str] = ("safety",), protocol: Protocol | None = None, **settings: Any
) -> RunConfig:
    """A configuration whose judges ask the endpoint at `base_url`; `endpoint={...}` adds to the endpoint."""
    endpoint = Endpoint(base_url=base_url, model="judge-1", **settings.pop("endpoint", {}))
    own = {judge: JudgeSettings(protocol=protocol) for judge in judges} if protocol else {}
    return RunConfig(
        input=["in"], output="out", judges=list(judges), endpoints={"default": endpoint}, judge_settings=own, **settings
    )


def plan_for(config: RunConfig) -> RunPlan:
    return RunPlan(config, bind_judges(config), ())


def question(number: int = 0, judge: str = "safety", response: str = "Fine.", **inputs: Any) -> Question:
    return Question(judge, JudgeInputs(request=f"Question {number}?", response=response, **inputs))


class Asker:
    """A judge client for one judge, as a context manager that closes it."""

    def __init__(self, config: RunConfig, policy: RetryPolicy = AT_ONCE) -> None:
        self.client = JudgeClient(plan_for(config), policy)
        self.binding: JudgeBinding = bind_judges(config)[0]

    def __enter__(self) -> "Asker":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.client.close()

    def start(self, *questions: Question) -> "SimpleQueue[tuple[int, Verdict]]":
        """Submit the questions; their verdicts arrive in the queue, each with its question's index."""
        arrived: SimpleQueue[tuple[int, Verdict]] = SimpleQueue()
        for index, asked in enumerate(questions):
            self.client.submit(self.binding, asked, lambda verdict, index=index: arrived.put((index, verdict)))
        return arrived

    def ask(self, *questions: Question) -> list[Verdict]:
        """The verdicts of the questions, in their order; exactly one each."""
        arrived = self.start(*questions)
        verdicts = dict(arrived.get(timeout=WAIT_SECONDS) for _ in questions)
        assert arrived.empty()
        return [verdicts[index] for index in range(len(questions))]

    def ask_one(self, asked: Question | None = None) -> Verdict:
        return self.ask(asked or question())[0]


def ask_one(asked: FakeEndpoint, /, **config: Any) -> Verdict:
    """The verdict on one question from a client that asks the endpoint."""
    with Asker(config_for(asked.base_url, **config)) as asker:
        return asker.ask_one()
