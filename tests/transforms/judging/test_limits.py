"""Slots and rates: order, limits, adaption, cancellation."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamjudge.transforms.judging.limits import AdaptiveSlots, EndpointLimits, RateWindow, Slots, Throttling


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


def go_on() -> None:
    """Waiting has a point."""


def test_slots_admit_in_order_and_retries_first() -> None:
    async def main() -> list[str]:
        slots, order = Slots(1), []

        async def enter(name: str, first: bool = False) -> None:
            async with slots.taken(first):
                order.append(name)
                await asyncio.sleep(0)

        await slots.acquire()
        tasks = [asyncio.ensure_future(enter(name)) for name in "ab"]
        await asyncio.sleep(0)
        tasks.append(asyncio.ensure_future(enter("retry", first=True)))
        await asyncio.sleep(0)
        slots.release()
        await asyncio.gather(*tasks)
        assert slots.in_flight == 0
        return order

    assert asyncio.run(main()) == ["retry", "a", "b"]


def test_a_cancelled_wait_gives_its_slot_on() -> None:
    async def main() -> int:
        slots = Slots(1)
        await slots.acquire()
        waiting = [asyncio.ensure_future(slots.acquire()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()  # while it waits
        await asyncio.sleep(0)
        slots.release()  # hands the slot to the second ...
        waiting[1].cancel()  # ... which is cancelled before it can use it
        await asyncio.gather(*waiting, return_exceptions=True)
        assert waiting[2].done()
        assert not waiting[2].cancelled()
        return slots.in_flight

    assert asyncio.run(main()) == 1


def test_a_wait_that_is_cancelled_just_before_its_turn() -> None:
    async def main() -> int:
        slots = Slots(1)
        await slots.acquire()
        waiting = [asyncio.ensure_future(slots.acquire()) for _ in range(2)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        slots.release()
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert isinstance(results[0], asyncio.CancelledError)
        assert results[1] is None
        return slots.in_flight

    assert asyncio.run(main()) == 1


def test_a_few_refusals_do_not_shrink() -> None:
    slots = AdaptiveSlots(32)
    for number in range(1000):
        slots.report(slots.round, refused=number % 20 == 0)
    assert slots.limit == 32


def test_a_burst_of_refusals_shrinks_once() -> None:
    slots = AdaptiveSlots(32)
    began = slots.round
    for _ in range(32):
        slots.report(began, refused=True)
    assert slots.limit == 22  # 32 * 0.7


def test_shrinks_to_one_and_comes_back() -> None:
    slots = AdaptiveSlots(8)
    for _ in range(200):
        slots.report(slots.round, refused=True)
    assert slots.limit == 1
    for _ in range(200):
        slots.report(slots.round, refused=False)
    assert slots.limit == 8


def test_settles_near_what_the_endpoint_takes() -> None:
    """An endpoint that serves 8 calls at a time and refuses those beyond."""
    slots = AdaptiveSlots(64)
    for _ in range(200):
        began, calls = slots.round, slots.limit
        for call in range(calls):
            slots.report(began, refused=call >= 8)
    assert 6 <= slots.limit <= 12


@settings(max_examples=50, deadline=None)
@given(
    amounts=st.lists(st.integers(1, 30), min_size=1, max_size=60),
    per_minute=st.integers(5, 100),
    processes=st.integers(1, 4),
)
def test_no_minute_holds_more_than_the_limit(amounts: list[int], per_minute: int, processes: int) -> None:
    async def main() -> list[tuple[float, int]]:
        clock = Clock()
        window = RateWindow(per_minute, processes, clock)
        limits = EndpointLimits(Slots(8), Throttling(), tokens=window, sleep=clock.sleep)
        passed = []
        for amount in amounts:
            async with limits.admitted(amount, False, go_on):
                passed.append((clock.now, amount))
        return passed

    passed = asyncio.run(main())
    limit = max(per_minute / processes, 1.0)
    for index, (start, first) in enumerate(passed):
        # A second more than a minute: the first of them may have been on the way for longer.
        total = sum(amount for at, amount in passed[index:] if at < start + 61)
        assert total <= max(limit, first)


def test_a_share_below_one_call_a_minute() -> None:
    async def main() -> float:
        clock = Clock()
        limits = EndpointLimits(Slots(8), Throttling(), RateWindow(2, 4, clock), sleep=clock.sleep)
        for _ in range(3):
            async with limits.admitted(1, False, go_on):
                pass
        return clock.now

    assert asyncio.run(main()) == pytest.approx(242.0)  # half a call a minute: at 0, 121 and 242 s


def test_estimates_are_replaced_by_what_was_used() -> None:
    clock = Clock()
    window = RateWindow(100, 1, clock)
    use = window.use(90)
    assert window.seconds_until_free(90) == 61
    window.correct(use, 10)
    assert window.seconds_until_free(90) == 0
    window.use(90)
    clock.now = 61.0
    assert window.seconds_until_free(100) == 0
    window.correct(use, 1000)  # too late: that minute is over
    assert window.seconds_until_free(100) == 0


def test_a_rate_is_used_when_the_call_may_leave() -> None:
    """While the process's only slot is taken, nothing of the rate is: the call would leave in another minute."""

    async def main() -> list[float]:
        clock, process = Clock(), Slots(1)
        window = RateWindow(1, 1, clock)
        limits = EndpointLimits(process, Throttling(), window, sleep=clock.sleep)
        left = []

        async def call() -> None:
            async with limits.admitted(1, False, go_on):
                left.append(clock.now)

        await process.acquire()
        calls = [asyncio.ensure_future(call()) for _ in range(2)]
        await asyncio.sleep(0)
        clock.now = 100.0
        process.release()
        await asyncio.gather(*calls)
        return left

    assert asyncio.run(main()) == [100.0, 161.0]


def test_calls_that_a_rate_holds_back_are_counted() -> None:
    async def main() -> list[int]:
        clock, throttling, seen = Clock(), Throttling(), []

        async def sleep(seconds: float) -> None:
            seen.append(throttling.held)
            await clock.sleep(seconds)

        limits = EndpointLimits(Slots(4), throttling, RateWindow(1, 1, clock), sleep=sleep)
        for _ in range(2):
            async with limits.admitted(1, False, go_on):
                pass
        assert throttling.held == 0
        return seen

    assert set(asyncio.run(main())) == {1}


def test_a_call_whose_wait_has_lost_its_point_ends_without_using_the_rate() -> None:
    async def main() -> float:
        clock = Clock()
        limits = EndpointLimits(Slots(1), Throttling(), RateWindow(1, 1, clock), sleep=clock.sleep)

        def closed() -> None:
            raise ConnectionError

        for _ in range(3):  # would take two minutes if the rate were used
            with pytest.raises(ConnectionError):
                async with limits.admitted(10, False, closed):
                    pass
        assert limits.slots.in_flight == 0
        async with limits.admitted(10, False, go_on):
            pass

        def closed_in_a_while() -> None:
            if clock.now >= 5:
                raise ConnectionError

        with pytest.raises(ConnectionError):
            async with limits.admitted(10, False, closed_in_a_while):
                pass
        return clock.now

    assert asyncio.run(main()) == 5.0


def test_returning_calls_go_first_and_in_their_order() -> None:
    async def main() -> list[str]:
        slots, order = Slots(1), []

        async def enter(name: str, first: bool) -> None:
            async with slots.taken(first):
                order.append(name)
                await asyncio.sleep(0)

        await slots.acquire()
        tasks = [
            asyncio.ensure_future(enter(name, first))
            for name, first in (("new 1", False), ("back 1", True), ("new 2", False), ("back 2", True))
        ]
        await asyncio.sleep(0)
        slots.release()
        await asyncio.gather(*tasks)
        return order

    assert asyncio.run(main()) == ["back 1", "back 2", "new 1", "new 2"]


@pytest.mark.parametrize("ends_early", [False, True])
def test_too_many_refusals_pause_the_endpoint(ends_early: bool) -> None:
    async def main() -> None:
        throttling = Throttling()
        limits = EndpointLimits(Slots(1), throttling)
        async with limits.admitted(1, False, go_on) as admission:
            admission.refused, admission.retry_after = True, 60.0 if ends_early else 0.01
        assert limits.slots.is_paused
        assert throttling.held == 1
        entered = asyncio.Event()

        async def call() -> None:
            async with limits.admitted(1, False, go_on):
                entered.set()

        waiting = asyncio.ensure_future(call())
        await asyncio.sleep(0)
        assert not entered.is_set()
        if ends_early:
            limits.end_pause()
        await asyncio.wait_for(waiting, 20)
        assert throttling.held == 0
        assert not limits.slots.is_paused

    asyncio.run(main())


def test_pauses_that_the_endpoint_does_not_time_double_until_a_call_passes() -> None:
    async def main() -> list[float]:
        loop, pauses = asyncio.get_running_loop(), []
        limits = EndpointLimits(Slots(1), Throttling())

        async def call(refused: bool) -> None:
            before = loop.time()
            async with limits.admitted(1, False, go_on) as admission:
                admission.refused = refused
            if limits.slots.is_paused:
                assert limits._pause is not None
                pauses.append(round(limits._pause.when() - before, 1))
                limits.end_pause()

        for refused in (True, True, True, False, True):
            await call(refused)
        return pauses

    assert asyncio.run(main()) == [0.5, 1.0, 2.0, 0.5]
