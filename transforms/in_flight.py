"""Elements on their way: what the stages have in common that ask endpoints and wait for the answers."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, NamedTuple, TypeVar

import apache_beam as beam
from apache_beam.io.components.adaptive_throttler import ThrottlingSignaler
from apache_beam.transforms.window import BoundedWindow
from apache_beam.utils.timestamp import Timestamp
from apache_beam.utils.windowed_value import WindowedValue

from beamjudge.schemas.errors import RunFailed
from beamjudge.transforms.judging.client import JudgeClient, acquire, release
from beamjudge.transforms.plan import RunPlan

NAMESPACE = "beamjudge"
# Elements and questions on their way, per call that may be in flight: enough that no slot idles behind a slow element
# or at the end of one with many questions, and little enough that memory stays flat.
_ELEMENTS_PER_SLOT = 2
_QUESTIONS_PER_SLOT = 4

Element = TypeVar("Element")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Begun(Generic[Element, Answer]):
    """What is to be asked about an element, and what becomes of the answers.

    Each of `asks` starts one question; it is given what to call with the answer, once and on any thread. `finish` makes
    the element that is handed on from all answers, in the order of `asks`.
    """

    asks: Sequence[Callable[[Callable[[Answer], None]], None]]
    finish: Callable[[Sequence[Answer]], Element]


class _Arrived(NamedTuple):
    """An answer, and where it belongs: the element's number and the question's index."""

    element: int
    question: int
    answer: Any


@dataclass(slots=True)
class _Open(Generic[Element, Answer]):
    """An element on its way: the answers so far, and how many are missing."""

    begun: Begun[Element, Answer]
    timestamp: Timestamp
    window: BoundedWindow
    answers: list[Any]
    missing: int


class AskingDoFn(beam.DoFn, Generic[Element, Answer]):
    """Keeps a window of elements on their way: `process` begins with one and hands on whatever is complete.

    Elements come out in the order in which their last answers arrive, in their own windows and with their own
    timestamps. A subclass says in `begin` what is asked about an element. Raises RunFailed when the client has failed.
    """

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan
        self._max_elements = _ELEMENTS_PER_SLOT * plan.config.max_concurrency
        self._max_questions = _QUESTIONS_PER_SLOT * plan.config.max_concurrency
        self._client: JudgeClient | None = None
        self._throttling = ThrottlingSignaler(NAMESPACE)
        self._throttled_seconds = 0.0

    def begin(self, element: Element) -> Begun[Element, Answer]:
        """What to ask about `element`; nothing where no question has to be asked."""
        raise NotImplementedError

    # A method, as Beam looks at every attribute of a DoFn when it puts it into a graph.
    def client(self) -> JudgeClient:
        """The process's client, from `setup` to `teardown`."""
        assert self._client is not None, "setup has not run"
        return self._client

    def setup(self) -> None:
        self._client = acquire(self._plan)

    def teardown(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            release(client)

    def start_bundle(self) -> None:
        # A new queue each time: late answers to a bundle that broke off must not reach the next one.
        self._arrivals: SimpleQueue[_Arrived] = SimpleQueue()
        self._open: dict[int, _Open[Element, Answer]] = {}
        self._open_questions = 0
        self._submitted = 0

    def process(
        self,
        element: Element,
        timestamp: Timestamp = beam.DoFn.TimestampParam,  # type: ignore[assignment]
        window: BoundedWindow = beam.DoFn.WindowParam,  # type: ignore[assignment]
    ) -> Iterator[WindowedValue]:
        while len(self._open) >= self._max_elements or self._open_questions >= self._max_questions:
            yield from self._receive(self._next_arrival())
        opened = self._submit(self.begin(element), timestamp, window)
        if not opened.missing:
            yield _finished(opened)
        while (arrived := self._arrived()) is not None:
            yield from self._receive(arrived)

    def finish_bundle(self) -> Iterator[WindowedValue]:
        while self._open:
            yield from self._receive(self._next_arrival())
        # Before the runner takes the bundle for done: it would not ask again for what was lost.
        self.client().flush()

    def _submit(
        self, begun: Begun[Element, Answer], timestamp: Timestamp, window: BoundedWindow
    ) -> _Open[Element, Answer]:
        """Start all questions of an element together, whichever endpoints they go to."""
        number, missing = self._submitted, len(begun.asks)
        self._submitted += 1
        opened = _Open(begun, timestamp, window, [None] * missing, missing)
        if missing:
            self._open[number] = opened
            self._open_questions += missing
        for index, ask in enumerate(begun.asks):
            ask(partial(_arrive, self._arrivals, number, index))
        return opened

    def _next_arrival(self) -> _Arrived:
        """The next answer, waiting for it. A client that fails answers everything, so the wait always ends."""
        self._raise_if_failed()
        started = time.monotonic()
        arrived = self._arrivals.get()
        self._note_throttling(time.monotonic() - started)
        self._raise_if_failed()
        return arrived

    def _note_throttling(self, waited: float) -> None:
        """Tell the runner that time has passed for want of a limit and not of work: more workers would not help."""
        if self.client().is_throttled:
            self._throttled_seconds += waited
            if self._throttled_seconds >= 1:
                self._throttling.signal_throttled(int(self._throttled_seconds))
                self._throttled_seconds %= 1

    def _arrived(self) -> _Arrived | None:
        self._raise_if_failed()
        try:
            return self._arrivals.get_nowait()
        except Empty:
            return None

    def _receive(self, arrived: _Arrived) -> Iterator[WindowedValue]:
        """Note an answer; its element, if that was the last one missing."""
        opened = self._open[arrived.element]
        opened.answers[arrived.question] = arrived.answer
        opened.missing -= 1
        self._open_questions -= 1
        if not opened.missing:
            del self._open[arrived.element]
            yield _finished(opened)

    def _raise_if_failed(self) -> None:
        fatal = self.client().fatal
        if fatal:
            raise RunFailed(fatal)


def _finished(opened: _Open[Element, Answer]) -> WindowedValue:
    return WindowedValue(opened.begun.finish(opened.answers), opened.timestamp, (opened.window,))


def _arrive(arrivals: "SimpleQueue[_Arrived]", element: int, question: int, answer: object) -> None:
    arrivals.put(_Arrived(element, question, answer))
