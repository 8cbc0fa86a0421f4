"""A response beside its references, ready to be compared; every text metric begins here."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from beamjudge.schemas.assessment import MetricValue
from beamjudge.schemas.metric import Column, ColumnType
from beamjudge.schemas.row import Row
from beamjudge.transforms.metrics.family import MetricFamily
from beamjudge.transforms.metrics.text.tokenizers import bleu_tokens, choose_tokenizer, to_nfc

# Longer texts are not compared: edit distance and longest common subsequence take time in the order of the lengths'
# product, and one huge row must not hold up a run.
MAX_CHARACTERS: Final = 100_000

AUTO = "auto"
_COLUMN = "response/text/tokenizer"


@dataclass(frozen=True)
class ScoredText:
    """Texts, at least one reference, and the name of the one tokenizer for all of them.

    Where `follows_script` is true the tokenizer was chosen by the texts' script, and texts are in NFC; else it was
    named in the configuration, texts are as they were logged, and every score is what its library gives.
    """

    response: str
    references: tuple[str, ...]
    tokenizer: str
    follows_script: bool = True

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.response, *self.references)

    @cached_property
    def tokens(self) -> tuple[list[str], ...]:
        """The tokens of BLEU and METEOR: the response's, then each reference's."""
        return tuple([bleu_tokens(text, self.tokenizer) for text in self.texts])

    @property
    def is_compatible(self) -> bool:
        """Whether words are the libraries' to the letter: on ASCII text, and where the configuration asks for it."""
        return not self.follows_script or all(text.isascii() for text in self.texts)


def scored_text(row: Row, setting: str) -> ScoredText | None:
    """The texts to compare; null when the row has no response, no reference that is not blank, or huge texts.

    `setting` is `auto` or a tokenizer's name. A blank reference is no ground truth: a score against it would be 0
    whatever was answered. A blank response to a reference is an answer, and scores 0.
    """
    if row.response_text is None:
        return None
    references = (row.expected_response or "", *row.expected_responses)
    given = tuple([reference for reference in references if reference and not reference.isspace()])
    if not given or max(map(len, (row.response_text, *given))) > MAX_CHARACTERS:
        return None
    return _prepare(row.response_text, given, setting)


# The metrics of one row follow each other, so the last row's texts are all that is worth keeping. Two, for threads.
@lru_cache(maxsize=2)
def _prepare(response: str, references: tuple[str, ...], setting: str) -> ScoredText:
    if setting != AUTO:
        return ScoredText(response, references, "13a" if setting == "rouge" else setting, follows_script=False)
    texts = [to_nfc(response), *map(to_nfc, references)]
    return ScoredText(texts[0], tuple(texts[1:]), choose_tokenizer(texts))


@dataclass(frozen=True, slots=True)
class _NameTokenizer:
    setting: str

    def __call__(self, row: Row) -> Mapping[str, MetricValue]:
        texts = scored_text(row, self.setting)
        return {_COLUMN: texts.tokenizer if texts else None}


def tokenizer_family(setting: str) -> MetricFamily:
    """Not a metric to select: it comes with every text metric, so that the tokenizer is named beside the number."""
    return MetricFamily(
        name="tokenizer",
        columns=(Column(_COLUMN, ColumnType.STRING),),
        specs=(),
        compute=_NameTokenizer(setting),
    )
