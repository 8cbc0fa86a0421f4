"""Spans of a trace as a tree, and the questions that every format asks of it. All in linear time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import compress
from operator import itemgetter
from typing import NamedTuple

from beamjudge.schemas.json_value import Json
from beamjudge.schemas.lazy import lazy
from beamjudge.schemas.row import TokenUsage
from beamjudge.schemas.usage import LARGEST_COUNT


class Speaks(Enum):
    """Whether what a span took and gave can stand for the whole trace: `NO` for tools, retrievers and embeddings."""

    AGENT = 1
    YES = 2
    NO = 3


class Exchange(NamedTuple):
    """What was asked and what was answered, as logged."""

    request: Json = None
    response: Json = None


class Times(NamedTuple):
    """When a step began and ended, in nanoseconds since the epoch."""

    start: int | None = None
    end: int | None = None


@dataclass
class Span:
    """One step of a trace; `parent` is null for a root.

    What a step took and gave, and when, is decoded when it is asked for, which it is of few of them.
    """

    id: str | None
    parent: str | None
    name: str | None
    is_retriever: bool
    usage: TokenUsage | None
    read_times: Callable[[], Times]
    read_exchange: Callable[[], Exchange]
    speaks: Speaks = Speaks.YES
    failed: bool = False

    @lazy
    def times(self) -> Times:
        return self.read_times()

    @lazy
    def exchange(self) -> Exchange:
        return self.read_exchange()

    @property
    def has_content(self) -> bool:
        return self.exchange != (None, None)


def exchange_of(spans: Sequence[Span]) -> Exchange:
    """The request and response of a trace whose root may be a step of the server around the application.

    They are the root's; where it has neither, those of the first agent; where no agent has any, the request of the
    first and the response of the last of the outermost steps that have some. A retriever answers nothing.
    """
    root = root_of(spans)
    if root is not None and root.has_content:
        return root.exchange if root.speaks is not Speaks.NO else root.exchange._replace(response=None)
    speaking = [span.speaks is not Speaks.NO and span.has_content for span in spans]
    outer = _outermost(spans, speaking)
    agents = [span for span, speaks in zip(spans, speaking, strict=True) if speaks and span.speaks is Speaks.AGENT]
    if agents:
        outer = [min(agents, key=_start)]
    asked = (span.exchange.request for span in sorted(outer, key=_start))
    answered = (span.exchange.response for span in sorted(outer, key=_end, reverse=True))
    return Exchange(
        next((request for request in asked if request is not None), None),
        next((response for response in answered if response is not None), None),
    )


def _start(span: Span) -> int:
    return span.times.start or 0


def _end(span: Span) -> int:
    return span.times.end or span.times.start or 0


def root_of(spans: Sequence[Span]) -> Span | None:
    """The first span without a parent, but for a tool, retriever or embedding beside one that says something; where
    every parent is named but some are missing, the first such orphan.
    """
    tops = [span for span in spans if span.parent is None]
    if tops and tops[0].speaks is not Speaks.NO:
        return tops[0]
    if tops:
        return next((span for span in tops if span.speaks is not Speaks.NO and span.has_content), tops[0])
    known = {span.id for span in spans if span.id is not None}
    return next((span for span in spans if span.parent not in known), None)


def last_retrieval(spans: Sequence[Span]) -> Span | None:
    """The retriever that started last among those without a retriever above them; ties go to the later in the list."""
    steps = _outermost(spans, [span.is_retriever for span in spans])
    if not steps:
        return None
    begun = [-1 if span.times.start is None else span.times.start for span in steps]
    return max(zip(begun, range(len(steps)), steps, strict=True), key=itemgetter(0, 1))[2]


def total_usage(spans: Sequence[Span]) -> TokenUsage | None:
    """Token counts over the spans, without those below a span that already reports usage; null if none reports.

    A count that one of the summed spans does not report is null, since a part is not the sum.
    """
    reporting = _outermost(spans, [span.usage is not None for span in spans])
    counted = [_whole_usage(span.usage, span.speaks) for span in reporting if span.usage is not None]
    if not counted:
        return None
    return TokenUsage(
        _sum([usage.input_tokens for usage in counted]),
        _sum([usage.output_tokens for usage in counted]),
        _sum([usage.total_tokens for usage in counted]),
    )


def _whole_usage(usage: TokenUsage, speaks: Speaks) -> TokenUsage:
    """A span's counts. What an embedding or a tool makes has no tokens, so that none are missing."""
    if speaks is not Speaks.NO or usage.output_tokens is not None or usage.input_tokens is None:
        return usage
    return TokenUsage(usage.input_tokens, 0, usage.input_tokens if usage.total_tokens is None else usage.total_tokens)


def seconds_of(span: Span | None) -> float | None:
    """The time that a span took, in seconds; null where it is not known."""
    start, end = Times() if span is None else span.times
    return None if start is None or end is None or end < start else (end - start) / 1e9


def _sum(counts: Sequence[int | None]) -> int | None:
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    # Counts are written as 64-bit integers; no trace that can be trusted has more tokens.
    return total if total <= LARGEST_COUNT else None


def _outermost(spans: Sequence[Span], flagged: Sequence[bool]) -> list[Span]:
    """The flagged spans that have no flagged one above them."""
    chosen = [*compress(spans, flagged)]
    parents = {span.parent for span in spans}
    if parents.isdisjoint([span.id for span in chosen]):
        return chosen  # as in most traces: what retrieves or calls a model has no steps below
    inner = compress(_below(spans, flagged), flagged)
    return [span for span, is_inner in zip(chosen, inner, strict=True) if not is_inner]


def _below(spans: Sequence[Span], flagged: Sequence[bool]) -> list[bool]:
    """For each span whether a flagged one is above it. Missing parents and cycles end the way up."""
    positions = {span.id: index for index, span in enumerate(spans) if span.id is not None}
    known: dict[int, bool] = {}
    for index in range(len(spans)):
        path: list[int] = []
        on_path: set[int] = set()
        at: int | None = index
        while at is not None and at not in known and at not in on_path:
            path.append(at)
            on_path.add(at)
            parent = spans[at].parent
            at = positions.get(parent) if parent is not None else None
        above = at is not None and (flagged[at] or known.get(at, False))
        for step in reversed(path):
            known[step] = above
            above = above or flagged[step]
    return [known[index] for index in range(len(spans))]
