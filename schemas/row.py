"""The normal form: one evaluated row, whatever shape it was logged in."""

from dataclasses import dataclass
from typing import NamedTuple

from beamjudge.schemas.json_value import Json
from beamjudge.schemas.spend import JudgeSpend


class Turn(NamedTuple):
    """One earlier turn of a conversation, as text."""

    role: str
    text: str


class Document(NamedTuple):
    """A retrieved or expected document: its uri and its text, either of which may be absent."""

    doc_uri: str | None
    content: str | None


@dataclass(frozen=True, slots=True)
class Guidelines:
    """The rules for a response: unnamed ones (`rules`), or named groups of rules (`named`); never both."""

    rules: tuple[str, ...] = ()
    named: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def to_json(self) -> Json:
        """The guidelines as they were given: a list, or an object name -> list."""
        if self.named:
            return {name: list(rules) for name, rules in self.named}
        return list(self.rules)


class TokenUsage(NamedTuple):
    """Tokens that the application under test used; a count that was not logged is null, never 0."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None


class SliceValue(NamedTuple):
    """The part of the log that a row falls into: `model`, `gpt-4.1` and, as the slice is called, `model=gpt-4.1`.

    The value of a crossed slice `model*locale` is what it is called: `model=a,locale=b`. A rare value is shown as
    `model=(other)`; `display` is null where the slice has too many values to be shown at all.
    """

    name: str
    value: str
    display: str | None


@dataclass(frozen=True, slots=True)
class Asked:
    """What asking the application under test about a row came to: `error_message` is null where it answered."""

    error_message: str | None
    cost: JudgeSpend
    stopped: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One row in normal form.

    `request` and `response` are canonical JSON. `timestamp` is in microseconds since the epoch, UTC. An expected or
    retrieved context that is null was not logged; an empty one was logged as empty, and so with `expected_facts`.
    `expected_responses` are the references beyond `expected_response`. `slices` are in the order of the
    configuration. `guideline_labels` says how names of `guidelines` are called in run-level metrics where that is not
    the name itself: `(other)` for rare ones, null where there are too many. `cluster` is what the row shares with rows
    that depend on it, such as a conversation. `extra` is a JSON object of the columns that are no input column.
    `unanswered` is the logged request, as JSON, of a row that the application under test is yet to answer; `asked` says
    what came of it.
    """

    request_id: str
    timestamp: int | None
    request: str
    response: str | None
    request_text: str
    history: tuple[Turn, ...]
    response_text: str | None
    expected_response: str | None
    expected_responses: tuple[str, ...]
    expected_facts: tuple[str, ...] | None
    guidelines: Guidelines | None
    retrieved_context: tuple[Document, ...] | None
    expected_retrieved_context: tuple[Document, ...] | None
    usage: TokenUsage
    latency_seconds: float | None
    notes: tuple[str, ...]
    source_file: str
    source_position: str
    sampled: bool = True
    slices: tuple[SliceValue, ...] = ()
    guideline_labels: tuple[tuple[str, str | None], ...] = ()
    cluster: str | None = None
    extra: str | None = None
    unanswered: str | None = None
    asked: Asked | None = None
