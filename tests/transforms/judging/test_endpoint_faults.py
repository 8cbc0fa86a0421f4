"""One endpoint that misbehaves, over a real socket: what is repeated, what is given up, when it is asked no more."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from fake_endpoint import NO, YES, Answer, Completion, Drip, FakeEndpoint, Hang, Held, Request, Reset, Step, error
from judge_harness import AT_ONCE, WAIT_SECONDS, Asker, ask_one, config_for, question

from beamjudge.schemas.assessment import Outcome, Verdict
from beamjudge.schemas.spend import JudgeSpend, Spend
from beamjudge.transforms.judging.reply import CUT_OFF, FILTERED, REFUSED

KEY = "sk-very-secret-0123456789"


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeEndpoint]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with FakeEndpoint() as running:
        yield running


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (error(400, "invalid_value"), "http_400: the endpoint rejected the request (invalid_value)"),
        (error(413), "http_413: the endpoint rejected the request (some_error)"),
        (error(400, "content_filter"), "content_filter: the endpoint refused the request"),
        (
            error(400, "context_length_exceeded", param="messages"),
            "context_too_long: the request does not fit the model's context",
        ),
        (
            Answer(400, {"error": {"message": "the request exceeds the available context size"}}),
            "context_too_long: the request does not fit the model's context",
        ),
        (Answer(200, "<html>Gateway</html>", content_type="text/html"), "invalid_reply: HTML instead of JSON"),
        (Answer(200, "<html>Gateway</html>"), "invalid_reply: HTML instead of JSON"),
        (Answer(200, {"error": {"message": "no"}}), "invalid_reply: an error object instead of a completion"),
    ],
)
def test_faults_that_are_not_repeated(endpoint: FakeEndpoint, step: Step, kind: str) -> None:
    endpoint.script(step)
    with Asker(config_for(endpoint.base_url)) as asker:
        assert asker.ask_one(question(1)) == Verdict.failed(kind)
        assert asker.ask_one(question(2)).rating == "yes", "the others go on"
    assert len(endpoint.requests) == 2


TOKENS_UNKNOWN = Spend(1, cost_usd=None)


@pytest.mark.parametrize(
    ("step", "kind", "wasted"),
    [
        (Answer(200, '{"choices": [{"mess'), "invalid_reply: not JSON", TOKENS_UNKNOWN),
        (Answer(200, "[" * 100_000), "invalid_reply: not JSON", TOKENS_UNKNOWN),
        (Answer(200, b"\xff\xfe\xfa"), "invalid_reply: not JSON", TOKENS_UNKNOWN),
        (Answer(200, []), "invalid_reply: not a JSON object", TOKENS_UNKNOWN),
        (Answer(200, ""), "invalid_reply: not JSON", TOKENS_UNKNOWN),
        (Answer(200, "x" * 17_000_000), "invalid_reply: longer than 16 MiB", TOKENS_UNKNOWN),
        (
            Answer(200, {"choices": [], "usage": {"prompt_tokens": 10}}),
            "invalid_reply: no choices",
            Spend(1, 10, 0, 0, 0, None),
        ),
        (Answer(200, {"choices": [{"text": "yes"}]}), "invalid_reply: a choice without a message", TOKENS_UNKNOWN),
        (Completion("perhaps"), "the judge's reply holds no verdict", Spend(1, 100, 0, 20, 0, None)),
        (Completion(finish_reason="content_filter"), FILTERED, Spend(1, 100, 0, 20, 0, None)),
        (Completion(None, message={"refusal": "no"}), REFUSED, Spend(1, 100, 0, 20, 0, None)),
    ],
)
def test_replies_that_are_paid_in_vain_are_wasted_and_not_repeated(
    endpoint: FakeEndpoint, step: Step, kind: str, wasted: Spend
) -> None:
    endpoint.script(step)
    assert ask_one(endpoint) == Verdict.failed(kind, wasted)
    assert len(endpoint.requests) == 1


def test_what_was_paid_before_the_verdict_is_wasted(endpoint: FakeEndpoint) -> None:
    endpoint.script(Reset(after_bytes=20), error(500), Completion())
    assert ask_one(endpoint).cost == JudgeSpend(spent=Spend(1, 100, 0, 20, 0, None), wasted=TOKENS_UNKNOWN)


@pytest.mark.parametrize(
    "step",
    [
        error(429),
        error(429, retry_after="0.01"),
        error(408),
        error(409),
        error(500),
        error(502),
        error(503),
        error(529),
        Answer(503, "<html>", content_type="text/html"),
        Answer(200, {"error": {"code": 502, "message": "upstream"}}),
        Reset(),
        Reset(after_bytes=20),
    ],
)
def test_faults_that_pass_are_repeated(endpoint: FakeEndpoint, step: Step) -> None:
    endpoint.script(step, step)
    assert ask_one(endpoint).rating == "yes"
    assert len(endpoint.requests) == 3
    assert endpoint.requests[0].body == endpoint.requests[2].body


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (error(429), "http_429: rate limited after 12 attempts"),
        (error(500), "http_500: server error after 6 attempts"),
        (error(408), "http_408: the endpoint timed out after 6 attempts"),
        (Reset(), "connection: connection lost after 6 attempts"),
        (Reset(after_bytes=20), "connection: connection lost after 6 attempts"),
    ],
)
def test_faults_that_remain(endpoint: FakeEndpoint, step: Step, message: str) -> None:
    endpoint.respond = lambda request: step
    assert ask_one(endpoint).error_message == message


@pytest.mark.parametrize("step", [Hang(), Drip()])
def test_a_call_that_does_not_end_is_ended(endpoint: FakeEndpoint, step: Step) -> None:
    endpoint.script(step, step)
    with Asker(config_for(endpoint.base_url, judge_timeout=0.4)) as asker:
        verdict = asker.ask_one(question(1))
    assert verdict.error_message == "timeout: no complete reply in 0.4 s after 2 attempts"
    endpoint.script(step)
    with Asker(config_for(endpoint.base_url, judge_timeout=2)) as asker:
        assert asker.ask_one(question(2)).rating == "yes", "a call that timed out is repeated once"
    assert len(endpoint.requests) == 4


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (error(401), "HTTP 401"),
        (error(403), "HTTP 403"),
        (error(404, "model_not_found"), "HTTP 404"),
        (Answer(404, "Not Found", content_type="text/plain"), "HTTP 404"),
        (error(400, "model_not_found"), "HTTP 404"),
    ],
)
def test_an_endpoint_that_refuses_from_the_start_is_fatal(endpoint: FakeEndpoint, step: Step, words: str) -> None:
    endpoint.respond = lambda request: step
    with Asker(config_for(endpoint.base_url)) as asker:
        verdict = asker.ask_one()
        fatal = asker.client.fatal
        assert asker.ask_one(question(2)).outcome is Outcome.ERROR
    assert verdict.outcome is Outcome.ERROR
    assert fatal is not None
    assert "\n" not in fatal
    assert words in fatal
    assert "endpoint default" in fatal
    assert endpoint.base_url in fatal
    assert KEY not in fatal
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (error(401), "unauthorized"),
        (error(403), "forbidden"),
        (error(404), "not_found"),
        (error(429, "insufficient_quota"), "quota"),
        (error(402), "quota"),
    ],
)
def test_an_endpoint_that_refuses_after_a_success_is_not_asked_again(
    endpoint: FakeEndpoint, step: Step, reason: str
) -> None:
    endpoint.script(Completion(), step)
    with Asker(config_for(endpoint.base_url)) as asker:
        verdicts = [asker.ask_one(question(number)) for number in range(4)]
        assert asker.client.fatal is None
    assert verdicts[0].rating == "yes"
    assert [verdict.error_message for verdict in verdicts[1:]] == [f"stopped:{reason}"] * 3
    assert len(endpoint.requests) == 2


def test_exhausted_quota_is_never_fatal(endpoint: FakeEndpoint) -> None:
    endpoint.respond = lambda request: error(429, "insufficient_quota")
    with Asker(config_for(endpoint.base_url)) as asker:
        assert [asker.ask_one(question(number)).error_message for number in range(2)] == ["stopped:quota"] * 2
        assert asker.client.fatal is None
    assert len(endpoint.requests) == 1


class Gate:
    """Replies from `respond` once all questions have been asked, so that they are on their way together."""

    def __init__(self, respond: Callable[[Request], Step]) -> None:
        self.respond, self.is_open = respond, threading.Event()

    def __call__(self, request: Request) -> Step:
        return Held(self.is_open, self.respond(request))  # type: ignore[arg-type]


def messages_of(endpoint: FakeEndpoint, count: int, respond: Callable[[Request], Step]) -> list[str | None]:
    """The error messages of questions that are asked together, one call at a time, without patience for 429."""
    endpoint.respond = gate = Gate(respond)
    with Asker(config_for(endpoint.base_url, max_concurrency=1), replace(AT_ONCE, patience=0.0)) as asker:
        arrived = asker.start(*[question(number) for number in range(count)])
        gate.is_open.set()
        verdicts = dict(arrived.get(timeout=WAIT_SECONDS) for _ in range(count))
        assert asker.client.fatal is None
    return [verdicts[number].error_message for number in range(count)]


LIMITED = "http_429: rate limited for 0 s"
LIMITED_BODY = {"error": {"code": 429, "message": "slow down"}}


@pytest.mark.parametrize("refusal", [error(429), Answer(200, LIMITED_BODY)])
def test_an_endpoint_that_refuses_everybody_for_too_long_is_not_asked_any_more(
    endpoint: FakeEndpoint, refusal: Step
) -> None:
    messages = messages_of(endpoint, 10, lambda request: refusal)
    assert messages == [LIMITED] * 7 + ["stopped:rate_limited"] * 3
    assert len(endpoint.requests) == 8


@pytest.mark.parametrize("reply", [Completion(), error(400)])
def test_another_reply_ends_a_time_of_refusals(endpoint: FakeEndpoint, reply: Step) -> None:
    messages = messages_of(endpoint, 12, lambda request: reply if "Question 5?" in request.text else error(429))
    assert messages[:5] + messages[6:] == [LIMITED] * 11


def test_refusals_before_a_time_without_calls_do_not_count(endpoint: FakeEndpoint) -> None:
    endpoint.respond = lambda request: error(429)
    with Asker(config_for(endpoint.base_url), replace(AT_ONCE, patience=0.0)) as asker:
        messages = [asker.ask_one(question(number)).error_message for number in range(10)]
    assert messages == [LIMITED] * 10


def test_flagged_input_is_no_refusal_of_the_key(endpoint: FakeEndpoint) -> None:
    moderated = {"error": {"code": 403, "message": "flagged", "metadata": {"flagged_input": "...", "reasons": ["x"]}}}
    endpoint.script(Answer(403, moderated))
    assert ask_one(endpoint).error_message == "content_filter: the endpoint refused the request"


def test_an_endpoint_to_which_no_connection_comes_about_is_fatal() -> None:
    with FakeEndpoint() as closed:
        base_url = closed.base_url
    with Asker(config_for(f"{base_url}?key=secret")) as asker:
        assert asker.ask_one().error_message == "connection: could not connect after 6 attempts"
        fatal = asker.client.fatal
    assert fatal == (
        f"endpoint default ({base_url}, model judge-1) cannot be reached: could not connect after 6 attempts; "
        "check --judge_base_url"
    )


def test_a_name_that_does_not_resolve_is_fatal() -> None:
    with Asker(config_for("http://no-such-host.invalid/v1")) as asker:
        assert asker.ask_one().outcome is Outcome.ERROR
        assert asker.client.fatal is not None
        assert "cannot be reached" in asker.client.fatal


def test_an_endpoint_that_goes_away_later_is_not_asked_any_more() -> None:
    with FakeEndpoint() as endpoint, Asker(config_for(endpoint.base_url, max_concurrency=3)) as asker:
        assert asker.ask_one().rating == "yes"
        endpoint.__exit__()
        messages = [asker.ask_one(question(number)).error_message for number in range(1, 8)]
        assert asker.client.fatal is None
    assert messages[0] == "connection: connection lost after 6 attempts" or "could not connect" in str(messages[0])
    assert messages[-1] == "stopped:unreachable"
    assert sum(message == "stopped:unreachable" for message in messages) >= 3


def test_a_reply_that_was_cut_off_is_asked_for_once_more_with_room(endpoint: FakeEndpoint) -> None:
    endpoint.respond = lambda request: (
        Completion() if request.body.get("max_tokens", 0) >= 2000 else Completion(YES[:20], finish_reason="length")
    )
    with Asker(config_for(endpoint.base_url, endpoint={"parameters": {"max_tokens": 500}})) as asker:
        first, second = (asker.ask_one(question(number)) for number in range(2))
    paid = Spend(1, 100, 0, 20, 0, None)
    assert (first.rating, first.cost) == ("yes", JudgeSpend(spent=paid, wasted=paid))
    assert second.cost == JudgeSpend(spent=paid), "the room is learned"
    assert [request.body["max_tokens"] for request in endpoint.requests] == [500, 4096, 4096]


def test_more_room_is_asked_for_in_the_name_that_the_model_takes(endpoint: FakeEndpoint) -> None:
    def respond(request: Request) -> Step:
        if "max_tokens" in request.body:
            return error(400, "unsupported_parameter", "Use 'max_completion_tokens' instead.", "max_tokens")
        has_room = request.body.get("max_completion_tokens", 0) > 4000
        return Completion(NO) if has_room else Completion("<think>hm", finish_reason="length", completion_tokens=2000)

    endpoint.respond = respond
    assert ask_one(endpoint).rating == "no"
    limits = [
        {name: value for name, value in request.body.items() if "tokens" in name} for request in endpoint.requests
    ]
    assert limits == [{}, {"max_tokens": 8000}, {"max_completion_tokens": 8000}]


@pytest.mark.parametrize(
    "answer", [error(400, param="max_tokens"), error(400, message="max_tokens is too large: 4096")]
)
def test_an_endpoint_that_takes_no_more_room_leaves_the_reply_cut_off(endpoint: FakeEndpoint, answer: Answer) -> None:
    endpoint.respond = lambda request: (
        answer if "max_tokens" in request.body else Completion(YES[:20], finish_reason="length")
    )
    verdict = ask_one(endpoint)
    assert verdict.error_message == CUT_OFF
    assert verdict.wasted == Spend(1, 100, 0, 20, 0, None)
    assert len(endpoint.requests) == 2, "the first form is not sent again"


def test_a_complete_verdict_is_read_though_the_reply_was_cut_off(endpoint: FakeEndpoint) -> None:
    endpoint.script(Completion(YES + " and", finish_reason="length"))
    assert ask_one(endpoint).rating == "yes"
    assert len(endpoint.requests) == 1
