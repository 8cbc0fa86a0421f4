"""What is read from a trace, whatever its format."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from beamjudge.schemas.json_value import Json
from beamjudge.schemas.row import Document, TokenUsage


class TraceError(ValueError):
    """A trace that cannot be read; the message is one line."""


class TraceFacts(NamedTuple):
    """What a trace says of its request; null where it does not say.

    `request` and `response` are as logged, not yet in normal form. `retrieved_context` is in rank order; it is empty
    where a retriever found nothing and null where none ran. `failed` is what the trace says of itself or of its root.
    """

    request: Json = None
    response: Json = None
    retrieved_context: tuple[Document, ...] | None = None
    usage: TokenUsage | None = None
    latency_seconds: float | None = None
    notes: tuple[str, ...] = ()
    failed: bool = False


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """One trace format. `matches` must claim no trace that another format claims; `read` may raise TraceError."""

    name: str
    matches: Callable[[dict[str, Json]], bool]
    read: Callable[[dict[str, Json]], TraceFacts]
