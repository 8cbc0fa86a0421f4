"""What happens in the moment in which a reply has come and its slot is free."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from judge_harness import AT_ONCE, config_for, question
from multidict import CIMultiDict, CIMultiDictProxy

from beamjudge.schemas.assessment import Verdict
from beamjudge.transforms.judging import endpoint as endpoint_module
from beamjudge.transforms.judging.binding import bind_judges
from beamjudge.transforms.judging.connections import Connections, Response, Target
from beamjudge.transforms.judging.endpoint import EndpointClient, Shared
from beamjudge.transforms.judging.fitting import fit_prompt
from beamjudge.transforms.judging.limits import Slots, Throttling

YES = '{"rationale": "because", "rating": "yes"}'


class AnsweringConnections(Connections):
    """Connections on which each request is answered at once; `on_post` is called with each."""

    def __init__(self, on_post: Callable[[], object], content: str = YES, finish_reason: str = "stop") -> None:
        super().__init__(timeout=10.0)
        self._on_post, self.posts = on_post, 0
        choice = {"message": {"role": "assistant", "content": content}, "finish_reason": finish_reason}
        self._body = json.dumps({"choices": [choice]}).encode()

    async def post(self, target: Target, body: bytes) -> Response:
        self.posts += 1
        self._on_post()
        return Response(200, CIMultiDictProxy(CIMultiDict()), self._body)


async def ask(connections: Connections, questions: int = 1) -> list[Any]:
    """What the questions come to, each a verdict or an exception, with one call in flight at most."""
    (binding,) = bind_judges(config_for("http://127.0.0.1:9/v1"))
    shared = Shared(AT_ONCE, 1, Slots(1), Throttling(), connections)
    client = EndpointClient("default", binding.endpoint, shared, pytest.fail)
    tasks = []
    for number in range(questions):
        inputs = question(number).inputs
        prompt = fit_prompt(binding, inputs)
        assert prompt is not None
        tasks.append(asyncio.ensure_future(client.ask(binding, inputs, prompt)))
    return await asyncio.gather(*tasks, return_exceptions=True)


def test_the_next_call_leaves_before_the_reply_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    read_reply = endpoint_module.read_reply

    def read(*arguments: Any) -> Verdict:
        events.append("read")
        return read_reply(*arguments)

    monkeypatch.setattr(endpoint_module, "read_reply", read)
    verdicts = asyncio.run(ask(AnsweringConnections(lambda: events.append("sent")), questions=3))
    assert [verdict.rating for verdict in verdicts] == ["yes"] * 3
    assert events[:2] == ["sent", "sent"]
    assert sorted(events) == ["read"] * 3 + ["sent"] * 3


def cancel_soon() -> None:
    """Cancel the running task when it next lets others run."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().call_soon(task.cancel)


def test_a_reply_that_has_come_is_read_though_its_question_is_cancelled() -> None:
    connections = AnsweringConnections(cancel_soon)
    (verdict,) = asyncio.run(ask(connections))
    assert (verdict.rating, connections.posts) == ("yes", 1)


def test_nothing_is_asked_again_for_a_cancelled_question() -> None:
    connections = AnsweringConnections(cancel_soon, content='{"rationale": "bec', finish_reason="length")
    (error,) = asyncio.run(ask(connections))
    assert isinstance(error, asyncio.CancelledError)
    assert connections.posts == 1
