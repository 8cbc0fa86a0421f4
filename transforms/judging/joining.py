"""From the verdicts on a row's parts (chunks, named guidelines, sentences) to its own: failures, costs and notes."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from beamjudge.schemas.assessment import Verdict
from beamjudge.schemas.spend import NO_JUDGE_SPEND


def failed_whole(causes: Iterable[Verdict], failed: int, total: int, what: str) -> Verdict:
    """The error of a row on which `failed` of `total` parts, named by `what`, could not be rated.

    Each different error message among `causes` is told once. One that says that nothing more is asked goes first, so
    that the row's message begins as its parts' do.
    """
    failures = [verdict for verdict in causes if verdict.error_message is not None]
    stopped = dict.fromkeys(verdict.error_message or "" for verdict in failures if verdict.stopped)
    others = dict.fromkeys(verdict.error_message or "" for verdict in failures if not verdict.stopped)
    told = (*stopped, f"{failed} of {total} {what} could not be rated", "; ".join(others))
    return Verdict.failed(": ".join(text for text in told if text))


def with_costs(verdict: Verdict, parts: Sequence[Verdict]) -> Verdict:
    """`verdict` with what its parts cost, their notes, and whether one of them was not asked for any more."""
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    cost = sum((part.cost for part in parts), NO_JUDGE_SPEND)
    return replace(
        verdict,
        spend=cost.spent,
        reused=cost.reused,
        wasted=cost.wasted,
        notes=tuple(notes),
        stopped=any(part.stopped for part in parts),
    )
