"""The one place that repeats a call: which failures, how often, after which wait, and until when."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from beamjudge.transforms.judging.failures import CallFailed, Failure

T = TypeVar("T")


@dataclass(frozen=True)
class RetryPolicy:
    """How failed calls are repeated; times in seconds.

    The wait before attempt n + 1 is `first_wait` * 2^(n-1), at most `max_wait`, and up to half as much again at
    random, so that calls that failed together do not return together. Being rate limited is no fault of the
    endpoint's: it may happen more often before a question is given up. A call that timed out has cost its whole time,
    and perhaps money, so it is repeated less. All waits of a question take at most `patience` together.
    """

    attempts: int = 6
    rate_limited_attempts: int = 12
    timed_out_attempts: int = 2
    first_wait: float = 0.5
    max_wait: float = 30.0
    patience: float = 300.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def wait(self, attempt: int, retry_after: float | None) -> float:
        """Seconds before the attempt that follows `attempt` (from 1); never less than the server asked for."""
        wait = min(self.first_wait * 2.0 ** (attempt - 1), self.max_wait)
        return max(wait, retry_after or 0.0) + random.uniform(0.0, wait / 2)

    def attempts_for(self, failure: Failure) -> int:
        if failure.rate_limited:
            return self.rate_limited_attempts
        return self.timed_out_attempts if failure.timed_out else self.attempts


async def call_with_retries(call: Callable[[int], Awaitable[T]], policy: RetryPolicy) -> T:
    """The result of `call(attempt)`, repeated while its failures can pass. Raises CallFailed with the attempts made.

    A wait that would outlast the policy's patience is not begun: the failure is final at once.
    """
    try:
        return await call(1)
    except CallFailed as error:
        if not error.failure.retryable:
            raise
        first = error
    retrying = AsyncRetrying(
        sleep=policy.sleep,
        stop=partial(_is_over, policy),
        wait=partial(_wait, policy),
        retry=retry_if_exception(_can_pass),
        reraise=True,
    )
    attempts = 0
    try:
        async for attempt in retrying:
            with attempt:
                attempts += 1
                # The first attempt is over; tenacity, which costs a call more than its request, sees it only now.
                if attempts == 1:
                    raise first
                return await call(attempts)
    except CallFailed as error:
        raise error.after(attempts) from None
    raise AssertionError("tenacity ends with a result or an exception")


def _can_pass(error: BaseException) -> bool:
    return isinstance(error, CallFailed) and error.failure.retryable


def _failure_of(state: RetryCallState) -> Failure:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, CallFailed)
    return error.failure


def _wait(policy: RetryPolicy, state: RetryCallState) -> float:
    return policy.wait(state.attempt_number, _failure_of(state).retry_after)


def _is_over(policy: RetryPolicy, state: RetryCallState) -> bool:
    waits = state.idle_for + state.upcoming_sleep
    return state.attempt_number >= policy.attempts_for(_failure_of(state)) or waits > policy.patience
