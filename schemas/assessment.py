"""What judges and metrics say of a row. Every failure is a value here, so that no row is lost to a judge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal, NamedTuple, TypeAlias

from beamjudge.schemas.row import Row
from beamjudge.schemas.spend import NO_SPEND, JudgeSpend, Spend

Rating: TypeAlias = Literal["yes", "no"]

# How the error message begins of a verdict that was not asked for any more; the reason follows.
_STOPPED = "stopped:"


class Outcome(str, Enum):
    """How a judge or metric ended on a row. Only `scored` enters a denominator."""

    SCORED = "scored"
    NOT_APPLICABLE = "not_applicable"
    NOT_SAMPLED = "not_sampled"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One answer of a judge. `rating` is set exactly when scored, `error_message` exactly on an error.

    `spend`, `reused` and `wasted` are what it cost, as in JudgeSpend. `notes` are note codes for the row (for example
    `truncated:retrieved_context`). `stopped` is set when it, or a part of it, was not asked for any more, because the
    run's quota or budget was used up or its endpoint refuses.
    """

    outcome: Outcome
    rating: Rating | None = None
    rationale: str | None = None
    error_message: str | None = None
    score: float | None = None
    spend: Spend = NO_SPEND
    notes: tuple[str, ...] = ()
    reused: Spend = NO_SPEND
    wasted: Spend = NO_SPEND
    stopped: bool = False

    @classmethod
    def scored(
        cls, rating: Rating, rationale: str | None, score: float | None = None, spend: Spend = NO_SPEND
    ) -> "Verdict":
        return cls(Outcome.SCORED, rating=rating, rationale=rationale, score=score, spend=spend)

    @classmethod
    def failed(cls, error_message: str, wasted: Spend = NO_SPEND) -> "Verdict":
        """`error_message` never holds text of the row. One made by `stopped_message` marks the verdict as stopped."""
        return cls(Outcome.ERROR, error_message=error_message, wasted=wasted, stopped=is_stopped(error_message))

    @property
    def cost(self) -> JudgeSpend:
        return JudgeSpend(self.spend, self.reused, self.wasted)

    @classmethod
    def not_applicable(cls, reason: str | None = None) -> "Verdict":
        """`reason` only where a rule decides it; a row that merely lacks the inputs gets none."""
        return cls(Outcome.NOT_APPLICABLE, rationale=reason)


NOT_SAMPLED = Verdict(Outcome.NOT_SAMPLED)


class VerdictCounts(NamedTuple):
    """How many verdicts are ratings, and how many failed; those that are not applicable are neither."""

    rated: int = 0
    failed: int = 0

    def plus(self, other: "VerdictCounts") -> "VerdictCounts":
        return VerdictCounts(self.rated + other.rated, self.failed + other.failed)


def count_verdicts(verdicts: Sequence[Verdict]) -> VerdictCounts:
    outcomes = [verdict.outcome for verdict in verdicts]
    return VerdictCounts(outcomes.count(Outcome.SCORED), outcomes.count(Outcome.ERROR))


def stopped_message(reason: str) -> str:
    """The error message of what is not asked for any more: `stopped:<reason>`."""
    return f"{_STOPPED}{reason}"


def is_stopped(error_message: str) -> bool:
    """Whether an error message is one of `stopped_message`."""
    return error_message.startswith(_STOPPED)


@dataclass(frozen=True, slots=True)
class Assessment:
    """What one judge says of one row.

    `verdict` is the row's verdict. A chunk judge has in `chunks` one verdict per chunk in rank order (null when not
    applicable) and in `verdict` only the outcome of the row. A guideline judge with named guidelines has their
    verdicts in `named`, and their conjunction in `verdict`.
    """

    verdict: Verdict
    chunks: tuple[Verdict, ...] | None = None
    named: tuple[tuple[str, Verdict], ...] = ()

    @property
    def precision(self) -> float | None:
        """Relevant / rated chunks; null if none was rated."""
        rated = [chunk.rating for chunk in self.chunks or () if chunk.rating is not None]
        return rated.count("yes") / len(rated) if rated else None

    @property
    def precision_bounds(self) -> tuple[float, float] | None:
        """What the precision would be if every chunk that failed were a no, or a yes; null if none was asked for."""
        chunks = self.chunks or ()
        failed = sum(chunk.outcome is Outcome.ERROR for chunk in chunks)
        relevant = sum(chunk.rating == "yes" for chunk in chunks)
        asked = failed + sum(chunk.rating is not None for chunk in chunks)
        return (relevant / asked, (relevant + failed) / asked) if asked else None

    def parts(self) -> tuple[Verdict, ...]:
        """The verdicts that were asked for one by one: chunks, named guidelines, or the row's own."""
        return self.chunks or tuple(verdict for _, verdict in self.named) or (self.verdict,)


# A metric's value on a row: a number, a flag, a label, or the summable statistics of a corpus score.
MetricValue: TypeAlias = "float | int | bool | str | tuple[int, ...] | None"


@dataclass(frozen=True, slots=True)
class EvaluatedRow:
    """A row with what was found about it so far: metric values by column, assessments by judge."""

    row: Row
    values: Mapping[str, MetricValue]
    assessments: Mapping[str, Assessment]
    overall: Verdict | None = None

    def with_values(self, values: Mapping[str, MetricValue]) -> "EvaluatedRow":
        return replace(self, values={**self.values, **values})
