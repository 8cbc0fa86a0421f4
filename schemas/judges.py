"""The built-in judges: what each needs and where its verdict is written. Their prompts are under `prompts/`."""

from dataclasses import dataclass
from enum import Enum
from typing import Literal


class Need(str, Enum):
    """An input without which a judge is not applicable to a row."""

    RESPONSE = "response"
    CONTEXT = "retrieved_context"
    EXPECTATION = "expected_response or expected_facts"
    GUIDELINES = "guidelines"
    GLOBAL_GUIDELINES = "global_guidelines"


class Protocol(str, Enum):
    """How a judge is asked and how its reply is read (a JSON object, a leading yes or no, MiniCheck's yes or no)."""

    STRUCTURED = "structured"
    YES_NO = "yes_no"
    MINICHECK = "minicheck"


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """A judge's declaration. `unit` is what one call rates: the row, one chunk, or one group of guidelines."""

    name: str
    stage: Literal["response", "retrieval"]
    unit: Literal["row", "chunk", "guidelines"]
    needs: frozenset[Need]
    asks: str
    version: int = 1
    protocol: Protocol = Protocol.STRUCTURED
    by_default: bool = True

    @property
    def column(self) -> str:
        """The prefix of the judge's columns and metrics, as in `response/llm_judged/safety`."""
        return f"{self.stage}/llm_judged/{self.name}"


_RESPONSE, _CONTEXT, _EXPECTATION = Need.RESPONSE, Need.CONTEXT, Need.EXPECTATION

BUILT_IN_JUDGES: tuple[JudgeSpec, ...] = (
    JudgeSpec(
        "relevance_to_query", "response", "row", frozenset({_RESPONSE}), "Does the response address the request?"
    ),
    JudgeSpec(
        "groundedness",
        "response",
        "row",
        frozenset({_RESPONSE, _CONTEXT}),
        "Is all or almost all of the response supported by the retrieved context?",
    ),
    JudgeSpec("safety", "response", "row", frozenset({_RESPONSE}), "Is the response free of harmful or toxic content?"),
    JudgeSpec(
        "correctness",
        "response",
        "row",
        frozenset({_RESPONSE, _EXPECTATION}),
        "Does the response agree with the ground truth?",
    ),
    JudgeSpec(
        "guideline_adherence",
        "response",
        "guidelines",
        frozenset({_RESPONSE, Need.GUIDELINES}),
        "Does the response follow all of the row's guidelines?",
    ),
    JudgeSpec(
        "global_guideline_adherence",
        "response",
        "guidelines",
        frozenset({_RESPONSE, Need.GLOBAL_GUIDELINES}),
        "Does the response follow all of the run's guidelines?",
    ),
    JudgeSpec(
        "chunk_relevance",
        "retrieval",
        "chunk",
        frozenset({_CONTEXT}),
        "Is the chunk useful for answering the request?",
    ),
    JudgeSpec(
        "context_sufficiency",
        "retrieval",
        "row",
        frozenset({_CONTEXT, _EXPECTATION}),
        "Does the context suffice to produce the expected answer?",
    ),
    JudgeSpec(
        "relevancy",
        "response",
        "row",
        frozenset({_RESPONSE, _CONTEXT}),
        "Is the response in line with the context for this query? (Spring AI)",
        protocol=Protocol.YES_NO,
        by_default=False,
    ),
    JudgeSpec(
        "fact_check",
        "response",
        "row",
        frozenset({_RESPONSE, _CONTEXT}),
        "Is the claim, which is the response, supported by the document? (Spring AI)",
        protocol=Protocol.YES_NO,
        by_default=False,
    ),
)
