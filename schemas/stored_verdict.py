"""A verdict that was paid for, as the verdict store keeps it; and so an answer of the application under test."""

from dataclasses import dataclass

from beamjudge.schemas.assessment import Outcome, Rating, Verdict
from beamjudge.schemas.spend import Spend


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """One answer of a judge, or of the application, under its content key. Errors are never stored.

    An application's has no rating, but an `answer`: a JSON object. A judge's has no `answer`.
    `run_id` is the run that paid, `created` when (seconds since 1970). `request_ids` are the rows whose text was
    judged: the row that was asked for, those that waited for the same call, and those that found the verdict later.
    """

    key: str
    judge: str
    judge_hash: str
    model: str
    rating: Rating | None
    rationale: str | None
    score: float | None
    notes: tuple[str, ...]
    spend: Spend
    run_id: str
    created: float
    request_ids: tuple[str, ...]
    answer: str | None = None

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
