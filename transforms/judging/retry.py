"""The one place that repeats a call: which failures, how often, after which wait, and until when."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from beamjudge.transforms.judging.failures import CallFailed, timed_out

T = TypeVar("T")


@dataclass(frozen=True)
class RetryPolicy:
    """How failed calls are repeated; times in seconds.

    The wait before attempt n + 1 is `first_wait` * 2^(n-1), at most `max_wait`, and up to half as much again at
    random, so that calls that failed together do not return together. Being rate limited is no fault of the
    endpoint's: it may happen more often before a question is given up.
    """

    attempts: int = 6
    rate_limited_attempts: int = 12
    first_wait: float = 0.5
    max_wait: float = 30.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def wait(self, attempt: int, retry_after: float | None) -> float:
        """Seconds before the attempt that follows `attempt` (from 1); never less than the server asked for."""
        wait = min(self.first_wait * 2.0 ** (attempt - 1), self.max_wait)
        return max(wait, retry_after or 0.0) + random.uniform(0.0, wait / 2)


class Deadline:
    """The time that one question may take, attempts and the waits between them; waiting for a free slot or for a
    rate limit does not count, or a long queue would look like a slow endpoint."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.remaining = seconds

    async def run(self, work: Awaitable[T]) -> T:
        """The result of `work`, which is cancelled when the time is over. Raises CallFailed (timeout)."""
        started = time.monotonic()
        try:
            return await asyncio.wait_for(work, max(self.remaining, 0.0))
        except asyncio.TimeoutError:
            raise timed_out(self.seconds) from None
        finally:
            self.remaining -= time.monotonic() - started


async def call_with_retries(call: Callable[[int], Awaitable[T]], policy: RetryPolicy, deadline: Deadline) -> T:
    """The result of `call(attempt)`, repeated while its failures can pass. Raises CallFailed with the attempts made.

    A wait that would outlast the deadline is not begun: the failure is final at once.
    """
    retrying = AsyncRetrying(
        sleep=partial(_sleep, policy, deadline),
        stop=partial(_is_over, policy, deadline),
        wait=partial(_wait, policy),
        retry=retry_if_exception(_can_pass),
        reraise=True,
    )
    attempts = 0
    try:
        async for attempt in retrying:
            with attempt:
                attempts += 1
                return await call(attempts)
    except CallFailed as error:
        raise error.after(attempts) from None
    raise AssertionError("tenacity ends with a result or an exception")


def _can_pass(error: BaseException) -> bool:
    return isinstance(error, CallFailed) and error.failure.retryable


def _failure_of(state: RetryCallState) -> CallFailed:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, CallFailed)
    return error


def _wait(policy: RetryPolicy, state: RetryCallState) -> float:
    return policy.wait(state.attempt_number, _failure_of(state).failure.retry_after)


def _is_over(policy: RetryPolicy, deadline: Deadline, state: RetryCallState) -> bool:
    limited = _failure_of(state).failure.rate_limited
    attempts = policy.rate_limited_attempts if limited else policy.attempts
    return state.attempt_number >= attempts or state.upcoming_sleep >= deadline.remaining


async def _sleep(policy: RetryPolicy, deadline: Deadline, seconds: float) -> None:
    await deadline.run(policy.sleep(seconds))
