"""How many calls may be in flight, and how many per minute. Everything here lives on one event loop."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from beamjudge.transforms.judging.retry import RetryPolicy

MINUTE = 60.0
# Calls that left a minute apart may arrive a little closer together, as when the first of them had to connect.
_ON_THE_WAY = 1.0
# A wait is looked at again after this many seconds: it may have lost its point.
_LONGEST_SLEEP = 1.0


class Slots:
    """Calls in flight: a semaphore that can be resized, first come, first served, retries before new calls."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.in_flight = 0
        self._returning: deque[asyncio.Future[None]] = deque()
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def acquire(self, first: bool = False) -> None:
        """Take a slot, waiting for one; those that are `first` go before all others that wait."""
        if self._has_room() and not self._returning and (first or not self._waiting):
            self.in_flight += 1
            return
        ticket: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue = self._returning if first else self._waiting
        queue.append(ticket)
        try:
            await ticket
        except asyncio.CancelledError:
            if ticket.done() and not ticket.cancelled():
                self.release()  # the slot was handed over in the moment of cancellation
            elif ticket in queue:
                queue.remove(ticket)
            raise

    def release(self) -> None:
        self.in_flight -= 1
        self._admit()

    @asynccontextmanager
    async def taken(self, first: bool = False) -> AsyncIterator[None]:
        await self.acquire(first)
        try:
            yield
        finally:
            self.release()

    def _has_room(self) -> bool:
        return self.in_flight < self.limit

    def _admit(self) -> None:
        while (self._returning or self._waiting) and self._has_room():
            ticket = (self._returning or self._waiting).popleft()
            if not ticket.done():
                self.in_flight += 1
                ticket.set_result(None)


class AdaptiveSlots(Slots):
    """Slots of one endpoint whose number follows what the endpoint takes: down when it refuses, back up after.

    Outcomes are judged in rounds. A round ends with fewer slots (times `SHRINK`, at least 1) once `MIN_REFUSED` calls
    (or as many as there are slots) and more than `MAX_SHARE` of those finished in it were refused with 429; it ends
    with more (a tenth, at least 1) after twice as many calls as there are slots. Only calls that began in the round
    count, so the refusals of one moment shrink it once, and a few 429s among many good replies not at all.
    """

    SHRINK = 0.7
    MIN_REFUSED = 4
    MAX_SHARE = 0.2

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.most = limit
        self.round = 0
        self.is_paused = False
        self._finished = 0
        self._refused = 0

    def report(self, began_in: int, refused: bool) -> bool:
        """The outcome of a call that took its slot in round `began_in`; whether that round was refused too much."""
        if began_in != self.round:
            return False
        self._finished += 1
        self._refused += refused
        enough = min(self.MIN_REFUSED, self.limit)
        if self._refused >= enough and self._refused > self.MAX_SHARE * self._finished:
            self._next_round(max(1, int(self.limit * self.SHRINK)))
            return True
        if self._finished >= 2 * self.limit and self._finished > self._refused / self.MAX_SHARE:
            self._next_round(min(self.most, self.limit + max(1, self.limit // 10)))
        return False

    def pause(self) -> None:
        """Give out no slots until `resume`."""
        self.is_paused = True

    def resume(self) -> None:
        self.is_paused = False
        self._admit()

    def _has_room(self) -> bool:
        return not self.is_paused and super()._has_room()

    def _next_round(self, limit: int) -> None:
        self.limit = limit
        self.round += 1
        self._finished = self._refused = 0
        self._admit()


@dataclass(slots=True)
class Throttling:
    """How many calls are held back by a rate limit at the moment, ours or the endpoint's; any thread may read it."""

    held: int = 0


@dataclass(slots=True)
class Use:
    """An amount that was used at a time, for as long as the window holds it."""

    at: float
    amount: float
    in_window: bool = True


class RateWindow:
    """At most so many units in any minute (a moving window).

    `per_minute` is the endpoint's limit and `processes` how many worker processes share it. A share below one unit a
    minute is kept as one unit in a longer window. A single amount above the limit passes alone, when the window is
    empty, as it could not pass otherwise.
    """

    def __init__(self, per_minute: float, processes: int = 1, clock: Callable[[], float] = time.monotonic) -> None:
        share = per_minute / processes
        self._limit = max(share, 1.0)
        self._window = MINUTE * max(1.0 / share, 1.0) + _ON_THE_WAY
        self._clock = clock
        self._used = 0.0
        self._uses: deque[Use] = deque()

    def use(self, amount: float = 1.0) -> Use:
        """Use `amount` units now, whether or not they fit."""
        use = Use(self._clock(), amount)
        self._uses.append(use)
        self._used += amount
        return use

    def correct(self, use: Use, amount: float) -> None:
        """Replace an estimate by what the call really used."""
        if use.in_window:
            self._used += amount - use.amount
            use.amount = amount

    def seconds_until_free(self, amount: float = 1.0) -> float:
        """Seconds until the next use leaves the window; 0 once `amount` more units fit into it."""
        now = self._clock()
        while self._uses and self._uses[0].at <= now - self._window:
            gone = self._uses.popleft()
            gone.in_window = False
            self._used -= gone.amount
        if not self._uses:
            self._used = 0.0  # rounding must not add up over a long run
        if not self._uses or self._used + amount <= self._limit:
            return 0.0
        return max(self._uses[0].at + self._window - now, 0.001)


@dataclass(slots=True)
class Admission:
    """A call that was let through; it says afterwards whether it was refused with 429 (and until when, in seconds), and
    what tokens it used."""

    token_window: RateWindow | None = None
    token_use: Use | None = None
    refused: bool = False
    retry_after: float | None = None

    def used_tokens(self, tokens: int) -> None:
        if self.token_window and self.token_use:
            self.token_window.correct(self.token_use, tokens)


class EndpointLimits:
    """All limits that a call to one endpoint passes: the endpoint's slots and rates, and the slots of the process.

    An endpoint that refuses too much gets no calls for a while: as long as it asks, else the policy's `first_wait`,
    doubled with each pause until a call passes; `max_wait` at most.
    """

    def __init__(
        self,
        process_slots: Slots,
        throttling: Throttling,
        requests: RateWindow | None = None,
        tokens: RateWindow | None = None,
        policy: RetryPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.slots = AdaptiveSlots(process_slots.limit)
        self._process_slots = process_slots
        self._throttling = throttling
        self._requests, self._tokens = requests, tokens
        self._policy = policy or RetryPolicy()
        self._sleep = sleep
        self._turn = asyncio.Lock()
        self._pauses_in_a_row = 0
        self._pause: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def admitted(self, tokens: int, first: bool, check: Callable[[], None]) -> AsyncIterator[Admission]:
        """A place in flight for one call of about `tokens` tokens; one that is `first` goes before the others.

        `check` is called whenever the call has waited, and raises when waiting has lost its point. The slots of the
        process come last, so that an endpoint with a low rate does not keep them from other endpoints, and a rate is
        used in the moment in which the call may leave.
        """
        async with self.slots.taken(first):
            check()
            began_in = self.slots.round
            if self._requests or self._tokens:
                async with self._turn:
                    await self._until_rates_are_free(tokens, check)
                    await self._process_slots.acquire(first)
                    admission = self._use_rates(tokens)
            else:
                await self._process_slots.acquire(first)
                admission = Admission()
            try:
                check()
                yield admission
            finally:
                self._process_slots.release()
                self._note_outcome(began_in, admission)

    def end_pause(self) -> None:
        """Let through what waits, when waiting has lost its point."""
        if self._pause:
            self._pause.cancel()
            self._resume()

    def _note_outcome(self, began_in: int, admission: Admission) -> None:
        """Pause when too much was refused: every call would be, and would use up its attempts."""
        if not admission.refused:
            self._pauses_in_a_row = 0
        if not self.slots.report(began_in, admission.refused) or self._pause:
            return
        seconds = admission.retry_after
        if seconds is None:
            seconds = self._policy.first_wait * 2.0**self._pauses_in_a_row
            self._pauses_in_a_row += 1
        self.slots.pause()
        self._throttling.held += 1
        self._pause = asyncio.get_running_loop().call_later(min(seconds, self._policy.max_wait), self._resume)

    def _resume(self) -> None:
        self._pause = None
        self._throttling.held -= 1
        self.slots.resume()

    async def _until_rates_are_free(self, tokens: int, check: Callable[[], None]) -> None:
        check()
        if not self._wait(tokens):
            return
        self._throttling.held += 1
        try:
            while wait := self._wait(tokens):
                await self._sleep(min(wait, _LONGEST_SLEEP))
                check()
        finally:
            self._throttling.held -= 1

    def _wait(self, tokens: int) -> float:
        return max(
            self._requests.seconds_until_free() if self._requests else 0.0,
            self._tokens.seconds_until_free(tokens) if self._tokens else 0.0,
        )

    def _use_rates(self, tokens: int) -> Admission:
        if self._requests:
            self._requests.use()
        return Admission(self._tokens, self._tokens.use(tokens) if self._tokens else None)
