"""Verdicts of the rules: each says that rules made it."""

from beamjudge.schemas.assessment import Verdict

MARK = "Lexical rules:"


def good(reason: str, score: float | None = None) -> Verdict:
    return Verdict.scored("yes", f"{MARK} {reason}", _rounded(score))


def bad(reason: str, score: float | None = None) -> Verdict:
    return Verdict.scored("no", f"{MARK} {reason}", _rounded(score))


def undecided(reason: str) -> Verdict:
    """The rules cannot tell: counted apart from errors, and neither as good nor as bad."""
    return Verdict.not_applicable(f"{MARK} {reason}")


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 4)
