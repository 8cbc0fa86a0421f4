"""What the application under test says: an answer as a row has it, and what asking for it came to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from beamjudge.schemas.assessment import is_stopped
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.row import Document, TokenUsage
from beamjudge.schemas.spend import NO_SPEND, JudgeSpend, Spend

# The name under which the application's answers are stored and its spend is counted; no judge can have it.
APP = "(app)"


@dataclass(frozen=True, slots=True)
class Answer:
    """An application's answer in a row's normal form: `response` is canonical JSON. What it did not tell is null.

    `latency_seconds` is what its trace says, else how long the call took. `notes` are note codes for the row.
    """

    response: str
    response_text: str
    retrieved_context: tuple[Document, ...] | None
    usage: TokenUsage
    latency_seconds: float | None
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """The answer as it is stored."""
        context = self.retrieved_context
        return {
            "response": self.response,
            "response_text": self.response_text,
            "retrieved_context": None if context is None else [[each.doc_uri, each.content] for each in context],
            "usage": [self.usage.input_tokens, self.usage.output_tokens, self.usage.total_tokens],
            "latency_seconds": self.latency_seconds,
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Answer":
        """The answer that `to_json` gave."""
        context = stored["retrieved_context"]
        return cls(
            stored["response"],
            stored["response_text"],
            None if context is None else tuple(Document(*each) for each in context),
            TokenUsage(*stored["usage"]),
            stored["latency_seconds"],
            tuple(stored["notes"]),
        )


@dataclass(frozen=True, slots=True)
class Answered:
    """What asking the application came to: an answer, or why there is none; and what it cost, as in JudgeSpend.

    `error_message` never holds text of the row or of the reply.
    """

    answer: Answer | None = None
    error_message: str | None = None
    spend: Spend = NO_SPEND
    reused: Spend = NO_SPEND
    wasted: Spend = NO_SPEND

    @classmethod
    def failed(cls, error_message: str, wasted: Spend = NO_SPEND) -> "Answered":
        return cls(error_message=error_message, wasted=wasted)

    @property
    def cost(self) -> JudgeSpend:
        return JudgeSpend(self.spend, self.reused, self.wasted)

    @property
    def stopped(self) -> bool:
        """Whether it was not asked any more, because a quota was used up or its endpoint refuses."""
        return self.error_message is not None and is_stopped(self.error_message)
