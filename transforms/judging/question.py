"""What a judge is asked about a row, rendered inputs in and verdict out: the interface that every judge shares."""

from dataclasses import dataclass

from beamjudge.schemas.row import Turn


@dataclass(frozen=True, slots=True)
class JudgeInputs:
    """The inputs of one question, as plain text; what a judge does not use is empty.

    `context` holds the contents of the retrieved chunks in rank order (a chunk judge gets the one chunk that it
    rates). `expected_responses` are alternatives: agreeing with any of them is enough.
    """

    request: str
    history: tuple[Turn, ...] = ()
    response: str | None = None
    context: tuple[str, ...] = ()
    expected_responses: tuple[str, ...] = ()
    expected_facts: tuple[str, ...] = ()
    guidelines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """One call to one judge. Hashable: equal questions are asked once."""

    judge: str
    inputs: JudgeInputs
