"""The built-in judges: what each needs and where its verdict is written. Their prompts are under `prompts/`."""

from dataclasses import dataclass
from enum import Enum
from typing import Literal, TypeAlias


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


# What a rule says where an input is there but empty.
ByRule: TypeAlias = Literal["yes", "no", "not_applicable"]


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """A judge's declaration: with its prompt, all that makes it differ from the others.

    `unit` is what one call rates: the row, one chunk, or one group of guidelines. `on_blank_response` and
    `on_empty_context` decide rows with such an input; where they are null the judge is asked all the same.
    `second_names` are further names of its run-level metric. `in_overall` says for which rows it counts in the overall
    assessment. Of several judges that fail a row the one with the lowest `cause_rank` is the root cause, since what
    goes wrong earlier in the application comes first; equal ranks follow the order of the run's judges.
    """

    name: str
    stage: Literal["response", "retrieval"]
    unit: Literal["row", "chunk", "guidelines"]
    needs: frozenset[Need]
    asks: str
    version: int = 1
    protocol: Protocol = Protocol.STRUCTURED
    by_default: bool = True
    on_blank_response: ByRule | None = None
    on_empty_context: ByRule | None = None
    second_names: tuple[str, ...] = ()
    in_overall: Literal["always", "with_ground_truth", "without_ground_truth", "never"] = "always"
    cause_rank: int = 100

    @property
    def column(self) -> str:
        """The prefix of the judge's columns and metrics, as in `response/llm_judged/safety`."""
        return f"{self.stage}/llm_judged/{self.name}"

    @property
    def measure(self) -> str:
        """The row column whose share of yes, or whose mean, is the judge's number."""
        return f"{self.column}/{'precision' if self.unit == 'chunk' else 'rating'}"

    def rating_of(self, guideline: str) -> str:
        """The column of the rating of a guideline of that name."""
        return f"{self.column}/{guideline}/rating"

    @property
    def guidelines_of(self) -> Literal["row", "run"] | None:
        """Whose guidelines the judge checks, if any."""
        if Need.GUIDELINES in self.needs:
            return "row"
        return "run" if Need.GLOBAL_GUIDELINES in self.needs else None


BUILT_IN_JUDGES: tuple[JudgeSpec, ...] = (
    JudgeSpec(
        "relevance_to_query",
        "response",
        "row",
        frozenset({Need.RESPONSE}),
        "Does the response address the request?",
        on_blank_response="no",
        in_overall="without_ground_truth",
        cause_rank=5,
    ),
    JudgeSpec(
        "groundedness",
        "response",
        "row",
        frozenset({Need.RESPONSE, Need.CONTEXT}),
        "Is all or almost all of the response supported by the retrieved context?",
        on_blank_response="not_applicable",
        on_empty_context="no",
        cause_rank=3,
    ),
    JudgeSpec(
        "safety",
        "response",
        "row",
        frozenset({Need.RESPONSE}),
        "Is the response free of harmful or toxic content?",
        on_blank_response="yes",
        # The documented name, beside the one that was written.
        second_names=("response/llm_judged/safety/rating/average",),
        cause_rank=6,
    ),
    JudgeSpec(
        "correctness",
        "response",
        "row",
        frozenset({Need.RESPONSE, Need.EXPECTATION}),
        "Does the response agree with the ground truth?",
        on_blank_response="no",
        in_overall="with_ground_truth",
        cause_rank=4,
    ),
    JudgeSpec(
        "guideline_adherence",
        "response",
        "guidelines",
        frozenset({Need.RESPONSE, Need.GUIDELINES}),
        "Does the response follow all of the row's guidelines?",
        on_blank_response="no",
        cause_rank=7,
    ),
    JudgeSpec(
        "global_guideline_adherence",
        "response",
        "guidelines",
        frozenset({Need.RESPONSE, Need.GLOBAL_GUIDELINES}),
        "Does the response follow all of the run's guidelines?",
        on_blank_response="no",
        cause_rank=8,
    ),
    JudgeSpec(
        "chunk_relevance",
        "retrieval",
        "chunk",
        frozenset({Need.CONTEXT}),
        "Is the chunk useful for answering the request?",
        second_names=("retrieval/llm_judged/chunk_relevance_precision/average",),
        in_overall="without_ground_truth",
        cause_rank=2,
    ),
    JudgeSpec(
        "context_sufficiency",
        "retrieval",
        "row",
        frozenset({Need.CONTEXT, Need.EXPECTATION}),
        "Does the context suffice to produce the expected answer?",
        on_empty_context="no",
        in_overall="with_ground_truth",
        cause_rank=1,
    ),
    JudgeSpec(
        "relevancy",
        "response",
        "row",
        frozenset({Need.RESPONSE, Need.CONTEXT}),
        "Is the response in line with the context for this query? (Spring AI)",
        protocol=Protocol.YES_NO,
        by_default=False,
        on_blank_response="not_applicable",
        on_empty_context="no",
        in_overall="never",
    ),
    JudgeSpec(
        "fact_check",
        "response",
        "row",
        frozenset({Need.RESPONSE, Need.CONTEXT}),
        "Is the claim, which is the response, supported by the document? (Spring AI)",
        protocol=Protocol.YES_NO,
        by_default=False,
        on_blank_response="not_applicable",
        on_empty_context="no",
        in_overall="never",
    ),
)


def row_guideline_judge(name: str) -> JudgeSpec | None:
    """The judge of guidelines that rows name, if `name` is a column or a metric of one of these guidelines."""
    judges = (spec for spec in BUILT_IN_JUDGES if spec.guidelines_of == "row")
    return next((spec for spec in judges if name.startswith(f"{spec.column}/")), None)
