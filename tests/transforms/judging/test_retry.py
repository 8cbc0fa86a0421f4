"""What is repeated, after which wait, and until when."""

import asyncio
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest

from beamjudge.transforms.judging.failures import CallFailed, Failure, Stop, timed_out
from beamjudge.transforms.judging.retry import RetryPolicy, call_with_retries
from beamjudge.transforms.judging.retry_after import retry_after_seconds

PASSING = Failure("http_500: server error", status=500, retryable=True)
LIMITED = Failure("http_429: rate limited", status=429, retryable=True)


class Waits:
    """A sleep that only notes how long it was asked to take."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def run(failures: list[Failure], policy: RetryPolicy) -> int:
    """The number of the attempt that passes after `failures`."""

    async def call(attempt: int) -> int:
        if attempt <= len(failures):
            raise CallFailed(failures[attempt - 1])
        return attempt

    return asyncio.run(call_with_retries(call, policy))


def test_waits_double_up_to_a_maximum_with_up_to_half_as_much_again() -> None:
    waits = Waits()
    assert run([LIMITED] * 8, RetryPolicy(first_wait=1.0, max_wait=20.0, sleep=waits)) == 9
    for seconds, least in zip(waits.seconds, [1, 2, 4, 8, 16, 20, 20, 20], strict=True):
        assert least <= seconds <= 1.5 * least


def test_never_returns_before_the_server_said() -> None:
    waits = Waits()
    failure = Failure("http_429: rate limited", status=429, retryable=True, retry_after=7.0)
    assert run([failure], RetryPolicy(first_wait=1.0, sleep=waits)) == 2
    assert 7.0 <= waits.seconds[0] <= 7.5


@pytest.mark.parametrize(("failure", "attempts"), [(PASSING, 6), (LIMITED, 12), (timed_out(5, False).failure, 2)])
def test_gives_up_and_says_how_often_it_tried(failure: Failure, attempts: int) -> None:
    waits = Waits()
    with pytest.raises(CallFailed) as raised:
        run([failure] * 100, RetryPolicy(sleep=waits))
    assert len(waits.seconds) == attempts - 1
    assert raised.value.failure.attempts == attempts
    assert raised.value.failure.message == f"{failure.text} after {attempts} attempts"


@pytest.mark.parametrize(
    "failure",
    [
        Failure("http_400: the endpoint rejected the request", status=400),
        Failure("stopped:quota", status=429, stop=Stop.QUOTA),
        Failure("invalid_reply: not JSON", billed=True),
    ],
)
def test_other_failures_are_final_at_once(failure: Failure) -> None:
    waits = Waits()
    with pytest.raises(CallFailed) as raised:
        run([failure], RetryPolicy(sleep=waits))
    assert not waits.seconds
    assert raised.value.failure.message == failure.text


def test_waits_end_where_patience_does() -> None:
    waits = Waits()
    day = Failure("http_429: rate limited", status=429, retryable=True, retry_after=86_400.0)
    with pytest.raises(CallFailed, match="http_429: rate limited"):
        run([day], RetryPolicy(sleep=waits))
    assert not waits.seconds
    with pytest.raises(CallFailed, match="after 3 attempts"):
        # 0.5 to 0.75 s, 1 to 1.5 s; a third wait of 2 s or more would exceed 3 s.
        run([PASSING] * 6, RetryPolicy(patience=3.0, sleep=waits))
    assert len(waits.seconds) == 2


def test_other_errors_and_cancellation_pass_through() -> None:
    async def broken(attempt: int) -> int:
        raise ZeroDivisionError

    async def cancelled(attempt: int) -> int:
        raise asyncio.CancelledError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(call_with_retries(broken, RetryPolicy()))
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(call_with_retries(cancelled, RetryPolicy()))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "3"}, 3.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "later"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m30s"}, 90.0),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20ms"}, 0.02),
        ({"x-ratelimit-remaining-tokens": "5", "x-ratelimit-reset-tokens": "20ms"}, None),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "1s",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "6m0s",
            },
            360.0,
        ),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "whenever"}, None),
    ],
)
def test_when_the_server_says_to_return(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers) == (seconds if seconds is None else pytest.approx(seconds))


def test_an_http_date_is_read_as_a_time() -> None:
    later = datetime.now(timezone.utc) + timedelta(hours=1)
    seconds = retry_after_seconds({"retry-after": format_datetime(later, usegmt=True)})
    assert seconds is not None
    assert 3500 < seconds <= 3600
