"""The client as a whole: single-flight, concurrency, its life, and the registry of a process."""

import threading
import time
from collections.abc import Iterator
from queue import SimpleQueue

import pytest
from fake_endpoint import Completion, FakeEndpoint, Hang, Held, Request, Step, error
from judge_harness import WAIT_SECONDS, Asker, config_for, plan_for, question

from beamjudge.schemas.assessment import Outcome, Verdict
from beamjudge.schemas.run_config import RunConfig
from beamjudge.schemas.spend import NO_SPEND, Spend
from beamjudge.transforms.judging.binding import bind_judges
from beamjudge.transforms.judging.client import JudgeClient, acquire, fail_all, release
from beamjudge.transforms.judging.content_key import content_key
from beamjudge.transforms.judging.render import render
from beamjudge.transforms.judging.retry import RetryPolicy
from beamjudge.transforms.progress import PROGRESS

THREAD = "beamjudge-judges"


@pytest.fixture
def endpoint() -> Iterator[FakeEndpoint]:
    with FakeEndpoint() as running:
        yield running


def client_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == THREAD]


def test_equal_questions_in_flight_are_one_call_paid_by_one(endpoint: FakeEndpoint) -> None:
    release_all = threading.Event()
    endpoint.respond = lambda request: Held(release_all)
    with Asker(config_for(endpoint.base_url)) as asker:
        arrived = asker.start(*[question(1)] * 20, question(2))
        release_all.set()
        verdicts = [arrived.get(timeout=WAIT_SECONDS)[1] for _ in range(21)]
    assert [verdict.rating for verdict in verdicts] == ["yes"] * 21
    assert len(endpoint.requests) == 2
    paid = [verdict.spend for verdict in verdicts if verdict.spend != NO_SPEND]
    assert paid == [Spend(1, 100, 0, 20, 0, None)] * 2


def test_calls_in_flight_reach_the_limit_and_never_exceed_it(endpoint: FakeEndpoint) -> None:
    four_are_here = threading.Event()

    def respond(request: object) -> Held:
        if endpoint.in_flight == 4:
            four_are_here.set()
        return Held(four_are_here)

    endpoint.respond = respond
    with Asker(config_for(endpoint.base_url, max_concurrency=4)) as asker:
        verdicts = asker.ask(*[question(number) for number in range(60)])
    assert [verdict.rating for verdict in verdicts] == ["yes"] * 60
    assert endpoint.max_in_flight == 4


def test_the_limit_is_shared_by_endpoints(endpoint: FakeEndpoint) -> None:
    base = config_for(endpoint.base_url, max_concurrency=3)
    endpoints = {"default": base.endpoints["default"], "other": base.endpoints["default"]}
    config = base.model_copy(update={"endpoints": endpoints})
    with Asker(config) as asker:
        (binding,) = bind_judges(config)
        other = type(binding)(binding.spec, binding.prompt, binding.protocol, "other", binding.endpoint)
        arrived: SimpleQueue[Verdict] = SimpleQueue()
        for number in range(30):
            asker.client.submit(other if number % 2 else binding, question(number), arrived.put)
        assert [arrived.get(timeout=WAIT_SECONDS).rating for _ in range(30)] == ["yes"] * 30
    assert endpoint.max_in_flight <= 3


def test_a_few_refusals_cost_nothing_but_their_repetition(endpoint: FakeEndpoint) -> None:
    seen: set[str] = set()

    def respond(request: object) -> object:
        text = request.text  # type: ignore[attr-defined]
        fails = hash(text) % 10 == 0 and text not in seen
        seen.add(text)
        return error(429, retry_after="0.001") if fails else Completion()

    endpoint.respond = respond  # type: ignore[assignment]
    with Asker(config_for(endpoint.base_url)) as asker:
        verdicts = asker.ask(*[question(number) for number in range(100)])
    assert [verdict.rating for verdict in verdicts] == ["yes"] * 100
    assert len(endpoint.requests) == 100 + sum(hash(text) % 10 == 0 for text in seen)


class Bucket:
    """A rate limit as endpoints have it: a bucket that fills by `rate` tokens a second; a call without is refused."""

    def __init__(self, rate: float, size: int, says_when: bool) -> None:
        self._rate, self._size, self._says_when = rate, size, says_when
        self._tokens, self._at = float(size), time.monotonic()
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Step:
        with self._lock:
            now = time.monotonic()
            self._tokens = min(self._size, self._tokens + (now - self._at) * self._rate)
            self._at = now
            if self._tokens >= 1:
                self._tokens -= 1
                return Completion()
            missing = (1 - self._tokens) / self._rate
        return error(429, retry_after=f"{missing:.3f}") if self._says_when else error(429)


@pytest.mark.parametrize("says_when", [True, False])
def test_an_endpoint_that_takes_much_less_than_it_could_get_loses_no_question(
    endpoint: FakeEndpoint, says_when: bool
) -> None:
    """40 calls a second where hundreds could be made: without a pause every question would be refused 12 times."""
    endpoint.respond = Bucket(40, 5, says_when)
    policy = RetryPolicy(first_wait=0.01, max_wait=0.2)
    with Asker(config_for(endpoint.base_url, max_concurrency=32), policy) as asker:
        verdicts = asker.ask(*[question(number) for number in range(80)])
    assert [verdict.error_message for verdict in verdicts] == [None] * 80


def test_a_question_that_is_always_refused_holds_up_no_other(endpoint: FakeEndpoint) -> None:
    """As a request that is larger than the tokens per minute allow: the endpoint refuses it whenever it comes."""
    all_are_waiting = threading.Event()

    def respond(request: Request) -> Step:
        return Held(all_are_waiting, error(429)) if "Question 0?" in request.text else Completion()

    endpoint.respond = respond
    with Asker(config_for(endpoint.base_url, max_concurrency=1)) as asker:
        arrived = asker.start(*[question(number) for number in range(6)])
        all_are_waiting.set()
        messages = dict(arrived.get(timeout=WAIT_SECONDS) for _ in range(6))
    asked = [int(request.text.split("Question ")[1][0]) for request in endpoint.requests]
    assert asked == [0, 1, 2, 3, 4, 5] + [0] * 11
    assert messages[0].error_message == "http_429: rate limited after 12 attempts"
    assert [messages[number].rating for number in range(1, 6)] == ["yes"] * 5


def test_rules_are_answered_at_once_and_without_a_thread() -> None:
    with Asker(RunConfig(input=["in"], output="out", judges=["safety"])) as asker:
        verdicts: list[Verdict] = []
        asker.client.submit(asker.binding, question(), verdicts.append)
        assert len(verdicts) == 1
        assert verdicts[0].outcome is Outcome.SCORED
        assert not client_threads()


def test_closing_answers_what_is_in_flight_and_leaves_nothing(endpoint: FakeEndpoint) -> None:
    before = set(threading.enumerate())
    two_are_here = threading.Event()

    def respond(request: object) -> Hang:
        if len(endpoint.requests) == 2:
            two_are_here.set()
        return Hang()

    endpoint.respond = respond
    with Asker(config_for(endpoint.base_url, max_concurrency=2)) as asker:
        arrived = asker.start(*[question(number) for number in range(5)])
        assert two_are_here.wait(WAIT_SECONDS)
        asker.client.close()
        asker.client.close()
        assert [arrived.get(timeout=1)[1].error_message for _ in range(5)] == ["stopped:closed"] * 5
        assert asker.ask_one().error_message == "stopped:closed"
    left = {thread for thread in set(threading.enumerate()) - before if thread.name == THREAD or "AnyIO" in thread.name}
    assert not left


def test_a_fatal_answer_ends_all_waiting(endpoint: FakeEndpoint) -> None:
    two_are_here = threading.Event()
    endpoint.script(Held(two_are_here, error(401)), Hang(), Hang())
    with Asker(config_for(endpoint.base_url, max_concurrency=3)) as asker:
        arrived = asker.start(*[question(number) for number in range(10)])
        two_are_here.set()
        verdicts = [arrived.get(timeout=WAIT_SECONDS)[1] for _ in range(10)]
        assert asker.client.fatal is not None
    assert {verdict.outcome for verdict in verdicts} == {Outcome.ERROR}


def test_a_fault_of_ours_is_a_verdict(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def broken(*args: object) -> None:
        raise ZeroDivisionError("with the judged text")

    monkeypatch.setattr("beamjudge.transforms.judging.client.fit_prompt", broken)
    with Asker(config_for("http://127.0.0.1:1/v1")) as asker:
        assert asker.ask_one().error_message == "internal: ZeroDivisionError"
    assert "with the judged text" not in caplog.text


class BrokenStore:
    """A store that takes no verdict."""

    def get(self, key: str, request_id: str | None) -> None:
        return None

    def put(self, stored: object) -> None:
        raise RuntimeError("closed")

    def close(self) -> None: ...


def test_a_verdict_that_cannot_be_stored_is_an_error_and_not_a_wait(endpoint: FakeEndpoint) -> None:
    with Asker(config_for(endpoint.base_url)) as asker:
        asker.client._store = BrokenStore()  # type: ignore[assignment]
        assert asker.ask_one().error_message == "internal: RuntimeError"


def test_calls_are_counted_for_the_display(endpoint: FakeEndpoint) -> None:
    before = PROGRESS.snapshot()
    endpoint.script(error(400), Completion())
    with Asker(config_for(endpoint.base_url)) as asker:
        for number in range(2):
            asker.ask_one(question(number))
    after = PROGRESS.snapshot()
    assert after["calls_done"] - before["calls_done"] == 1
    assert after["calls_failed"] - before["calls_failed"] == 1


def test_one_client_per_configuration_as_long_as_it_is_used(endpoint: FakeEndpoint) -> None:
    plan, same = (plan_for(config_for(endpoint.base_url)) for _ in range(2))
    other = plan_for(config_for(endpoint.base_url, endpoint={"parameters": {"temperature": 1}}))
    first, second, third = acquire(plan), acquire(same), acquire(other)
    try:
        assert first is second
        assert first is not third
        arrived: SimpleQueue[Verdict] = SimpleQueue()
        release(first)
        second.submit(plan.judges[0], question(), arrived.put)
        assert arrived.get(timeout=WAIT_SECONDS).rating == "yes"
    finally:
        release(second)
        release(third)
    assert not client_threads()
    again = acquire(plan)
    assert again is not first
    release(again)


def test_a_failed_client_is_not_inherited(endpoint: FakeEndpoint) -> None:
    plan = plan_for(config_for(endpoint.base_url))
    first = acquire(plan)
    fail_all("interrupted")
    assert first.fatal == "interrupted"
    second = acquire(plan)
    assert second is not first
    assert second.fatal is None
    for client in (first, second):
        release(client)
    assert not client_threads()


def test_the_key_covers_what_makes_a_verdict() -> None:
    def key(judge: str = "safety", number: int = 1, **endpoint: object) -> str:
        (binding,) = bind_judges(config_for("http://h/v1", judges=[judge], endpoint=endpoint))
        return content_key(binding, render(binding, question(number, judge=judge).inputs))

    same = key()
    assert key(headers={"A": "b"}, requests_per_minute=3, api_key="env:OTHER") == same
    assert key(parameters={"temperature": 0}) == same
    different = {
        key(number=2),
        key("relevance_to_query"),
        key(parameters={"temperature": 1}),
        key(parameters={"seed": 1}),
    }
    assert len(different | {same}) == 5


def test_submit_after_close_does_not_start_anything(endpoint: FakeEndpoint) -> None:
    client = JudgeClient(plan_for(config_for(endpoint.base_url)))
    client.close()
    assert not client_threads()
