"""A response beside its references, ready to be compared; every text metric begins here."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from beamjudge.schemas.assessment import MetricValue
from beamjudge.schemas.metric import Column, ColumnType
from beamjudge.schemas.row import Row
from beamjudge.transforms.metrics.family import MetricFamily
from beamjudge.transforms.metrics.text.tokenizers import choose_tokenizer, to_nfc

_COLUMN = "response/text/tokenizer"


@dataclass(frozen=True, slots=True)
class ScoredText:
    """Texts in NFC, at least one reference, and the name of the one tokenizer for all of them."""

    response: str
    references: tuple[str, ...]
    tokenizer: str


def scored_text(row: Row) -> ScoredText | None:
    """The texts to compare; null when the row has no response or no reference that is not blank.

    A blank reference is no ground truth: a score against it would be 0 whatever was answered. A blank response to a
    reference is an answer, and scores 0.
    """
    if row.response_text is None:
        return None
    references = (row.expected_response or "", *row.expected_responses)
    given = tuple(reference for reference in references if reference and not reference.isspace())
    return _prepare(row.response_text, given) if given else None


# The metrics of one row follow each other, so the last row's texts are all that is worth keeping. Two, for threads.
@lru_cache(maxsize=2)
def _prepare(response: str, references: tuple[str, ...]) -> ScoredText:
    texts = (to_nfc(response), *(to_nfc(reference) for reference in references))
    return ScoredText(texts[0], texts[1:], choose_tokenizer(texts))


def _compute(row: Row) -> Mapping[str, MetricValue]:
    texts = scored_text(row)
    return {_COLUMN: texts.tokenizer if texts else None}


# Not a metric to select: it comes with every text metric, so that the tokenizer is named beside the number.
TOKENIZER = MetricFamily(name="tokenizer", columns=(Column(_COLUMN, ColumnType.STRING),), specs=(), compute=_compute)
