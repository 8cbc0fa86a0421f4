"""ROUGE (Lin, ACL 2004 workshop) as rouge-score computes it: 1, 2, L and Lsum."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from beamjudge.schemas.assessment import MetricValue
from beamjudge.schemas.metric import Column, ColumnType, mean_spec
from beamjudge.schemas.row import Row
from beamjudge.transforms.metrics.family import MetricFamily
from beamjudge.transforms.metrics.text.lcs import lcs_positions, positions_of
from beamjudge.transforms.metrics.text.ngrams import intern_words, matched_ngrams
from beamjudge.transforms.metrics.text.scored_text import AUTO, ScoredText, scored_text
from beamjudge.transforms.metrics.text.signatures import ROUGE_SCORE, library_signature
from beamjudge.transforms.metrics.text.stems import stem
from beamjudge.transforms.metrics.text.tokenizers import ascii_words, unicode_words

_COLUMNS = tuple(f"response/text/{name}" for name in ("rouge1", "rouge2", "rougeL", "rougeLsum"))
_SHORTEST_STEMMED = 4  # letters: rouge-score leaves shorter words alone, as ROUGE-1.5.5 did


class RougeScore(NamedTuple):
    """Precision, recall and F-measure in [0, 1]."""

    precision: float
    recall: float
    fmeasure: float


@dataclass(frozen=True, slots=True)
class RougeText:
    """A text as ROUGE sees it: words by line, and all words. Lines are the sentences of ROUGE-Lsum."""

    lines: tuple[list[str], ...]
    words: list[str]


def rouge_text(text: str, *, ascii_only: bool, stemmed: bool = False) -> RougeText:
    """`ascii_only` words are those of rouge-score's tokenizer; `stemmed` ones those of its `use_stemmer`."""
    tokenize = ascii_words if ascii_only else unicode_words
    lines = tuple([tokenize(line) for line in text.split("\n") if line])
    if stemmed:
        lines = tuple([[stem(word) if len(word) >= _SHORTEST_STEMMED else word for word in line] for line in lines])
    words = lines[0] if len(lines) == 1 else [word for line in lines for word in line]
    return RougeText(lines, words)


def rouge_scores(
    response: RougeText, reference: RougeText, *, effective_order: bool = False
) -> tuple[RougeScore, RougeScore, RougeScore, RougeScore]:
    """ROUGE-1, ROUGE-2, ROUGE-L and ROUGE-Lsum; 0 where either text has no words.

    ROUGE-2 of two single words is 0 in rouge-score, equal words included; with `effective_order` it is their ROUGE-1.
    """
    n_response, n_reference = len(response.words), len(reference.words)
    if not n_response or not n_reference:
        return (_score(0, 1, 1),) * 4
    words = intern_words(response.words, [reference.words])
    unigrams, bigrams = matched_ngrams(words.coded(), 2)
    longest: int = LCSseq.similarity(words.first, words.others[0])
    one_line = len(response.lines) == len(reference.lines) == 1
    union = longest if one_line else _union_lcs_hits(response.lines, reference.lines)
    both_single = effective_order and n_response == n_reference == 1
    return (
        _score(unigrams, n_response, n_reference),
        _score(unigrams, 1, 1) if both_single else _score(bigrams, n_response - 1, n_reference - 1),
        _score(longest, n_response, n_reference),
        _score(union, n_response, n_reference),
    )


def _score(hits: int, n_response: int, n_reference: int) -> RougeScore:
    if not hits:
        return RougeScore(0.0, 0.0, 0.0)
    precision, recall = hits / n_response, hits / n_reference
    return RougeScore(precision, recall, 2 * precision * recall / (precision + recall))


def _union_lcs_hits(response: Sequence[list[str]], reference: Sequence[list[str]]) -> int:
    """The words of all reference lines that are in the longest common subsequence with some response line.

    A word is a hit at most as often as it occurs in the response (ROUGE-1.5.5; section 3.2 of the paper lacks this).
    """
    left = Counter(word for line in response for word in line)
    hits = 0
    for line in reference:
        positions = positions_of(line)
        union = 0
        for other in response:
            if not positions.keys().isdisjoint(other):
                union |= lcs_positions(positions, line, other)
        while union:
            lowest = union & -union
            word = line[lowest.bit_length() - 1]
            union ^= lowest
            if left[word] > 0:
                left[word] -= 1
                hits += 1
    return hits


@dataclass(frozen=True, slots=True)
class _Rouge:
    """F-measures. With several references each score is the best that any of them gives (`score_multi`)."""

    setting: str
    stemmed: bool

    def __call__(self, row: Row) -> Mapping[str, MetricValue]:
        texts = scored_text(row, self.setting)
        if texts is None:
            return dict.fromkeys(_COLUMNS)
        response = self._words(texts, texts.response)
        # Beyond ASCII rouge-score is no guide, and equal texts have to score 1.
        scores = [
            rouge_scores(response, self._words(texts, reference), effective_order=not texts.is_compatible)
            for reference in texts.references
        ]
        best = [max([score.fmeasure for score in of_type]) for of_type in zip(*scores, strict=True)]
        return dict(zip(_COLUMNS, best, strict=True))

    def _words(self, texts: ScoredText, text: str) -> RougeText:
        return rouge_text(text, ascii_only=texts.is_compatible, stemmed=self.stemmed)


def rouge_family(setting: str, *, stemmed: bool) -> MetricFamily:
    """ROUGE over rouge-score's words or, where the script of the texts decides, over the words of Unicode text."""
    signature = library_signature(
        ROUGE_SCORE,
        score="fmeasure",
        stem="porter" if stemmed else "no",
        tok="rouge-if-ascii-else-unicode" if setting == AUTO else "rouge",
    )
    return MetricFamily(
        name="rouge",
        columns=tuple(Column(name, ColumnType.FLOAT) for name in _COLUMNS),
        specs=tuple(mean_spec(name, low=0.0, high=1.0) for name in _COLUMNS),
        compute=_Rouge(setting, stemmed),
        signatures={f"{name}/average": signature for name in _COLUMNS},
    )
