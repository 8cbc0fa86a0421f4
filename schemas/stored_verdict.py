"""A verdict that was paid for, as the verdict store keeps it."""

from dataclasses import dataclass

from beamjudge.schemas.assessment import Outcome, Rating, Verdict
from beamjudge.schemas.spend import Spend


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """One answer of a judge under its content key. Errors are never stored.

    `run_id` is the run that paid, `created` when (seconds since 1970). `request_ids` are the rows whose text was
    judged: the row that was asked for, those that waited for the same call, and those that found the verdict later.
    """

    key: str
    judge: str
    judge_hash: str
    model: str
    rating: Rating
    rationale: str | None
    score: float | None
    notes: tuple[str, ...]
    spend: Spend
    run_id: str
    created: float
    request_ids: tuple[str, ...]

    def verdict(self) -> Verdict:
        """The verdict as a judge gave it, with what was once spent on it."""
        return Verdict(
            Outcome.SCORED,
            rating=self.rating,
            rationale=self.rationale,
            score=self.score,
            spend=self.spend,
            notes=self.notes,
        )
