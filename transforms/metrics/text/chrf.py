"""chrF (Popović, WMT 2015) and chrF++ (Popović, WMT 2017) as sacrebleu computes them: per row, and per run."""

import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from beamjudge.schemas.assessment import MetricValue
from beamjudge.schemas.metric import Column, ColumnType, corpus_spec, mean_spec
from beamjudge.schemas.row import Row
from beamjudge.transforms.metrics.family import MetricFamily
from beamjudge.transforms.metrics.text.ngrams import code_characters, intern_words, matched_ngrams
from beamjudge.transforms.metrics.text.scored_text import scored_text
from beamjudge.transforms.metrics.text.signatures import sacrebleu_signature

_CHARACTER_ORDER = 6
_WORD_ORDER = 2
_BETA = 2
_PUNCTUATION = frozenset(string.punctuation)


def chrf_statistics(response: str, reference: str, word_order: int = 0) -> tuple[int, ...]:
    """Three numbers for each order: n-grams of the response, of the reference, and those that match.

    First character n-grams for n = 1 to 6, without white space; then word n-grams for n = 1 to `word_order`. As in
    sacrebleu the response's n-grams of an order count only where the reference has some. Statistics of rows add up.
    """
    statistics = _character_statistics(response, reference)
    return statistics + _word_statistics(response, reference, word_order) if word_order else statistics


def chrf_score(statistics: Sequence[int], beta: int = _BETA) -> float:
    """chrF of one row's or of summed statistics in [0, 100], equal to sacrebleu's with its default settings.

    The F-score of the mean precision and the mean recall over the orders that both sides have.
    """
    precision = recall = 0.0
    orders = 0
    for n_response, n_reference, matched in _by_order(statistics):
        if n_response and n_reference:
            precision += matched / n_response
            recall += matched / n_reference
            orders += 1
    if not precision + recall:
        return 0.0
    precision /= orders
    recall /= orders
    factor = beta**2
    return 100 * ((1 + factor) * precision * recall / (factor * precision + recall))


def _by_order(statistics: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return zip(statistics[::3], statistics[1::3], statistics[2::3], strict=True)


# chrF and chrF++ of a row follow each other, and count the same characters; several references take a place each.
@lru_cache(maxsize=16)
def _character_statistics(response: str, reference: str) -> tuple[int, ...]:
    first, other = "".join(response.split()), "".join(reference.split())
    matched = matched_ngrams(code_characters(first, [other]), _CHARACTER_ORDER)
    return _statistics(len(first), len(other), matched)


def _word_statistics(response: str, reference: str, order: int) -> tuple[int, ...]:
    first, other = _words(response), _words(reference)
    matched = matched_ngrams(intern_words(first, [other]).coded(), order)
    return _statistics(len(first), len(other), matched)


def _statistics(n_response: int, n_reference: int, matched: Sequence[int]) -> tuple[int, ...]:
    statistics: list[int] = []
    for shorter_by, hits in enumerate(matched):
        in_reference = max(0, n_reference - shorter_by)
        statistics += (max(0, n_response - shorter_by) if in_reference else 0, in_reference, hits)
    return tuple(statistics)


def _words(text: str) -> list[str]:
    """Words between white space; a punctuation mark at the end, or else at the beginning, is a word of its own."""
    words: list[str] = []
    for word in text.split():
        if len(word) == 1:
            words.append(word)
        elif word[-1] in _PUNCTUATION:
            words += (word[:-1], word[-1])
        elif word[0] in _PUNCTUATION:
            words += (word[0], word[1:])
        else:
            words.append(word)
    return words


@dataclass(frozen=True, slots=True)
class _Chrf:
    """The score with the reference that gives the best one, and its statistics for the corpus."""

    setting: str
    column: str
    word_order: int

    def __call__(self, row: Row) -> Mapping[str, MetricValue]:
        corpus = f"{self.column}/corpus"
        texts = scored_text(row, self.setting)
        if texts is None:
            return {self.column: None, corpus: None}
        scored = [chrf_statistics(texts.response, reference, self.word_order) for reference in texts.references]
        best = max(scored, key=chrf_score)
        return {self.column: chrf_score(best), corpus: best}


def _family(setting: str, name: str, word_order: int) -> MetricFamily:
    column = f"response/text/{name}"
    signature = sacrebleu_signature(case="mixed", eff="yes", nc=str(_CHARACTER_ORDER), nw=str(word_order), space="no")
    return MetricFamily(
        name=name,
        columns=(Column(column, ColumnType.FLOAT),),
        specs=(
            mean_spec(column, low=0.0, high=100.0),
            corpus_spec(f"{column}/corpus", scorer="chrf", low=0.0, high=100.0),
        ),
        compute=_Chrf(setting, column, word_order),
        signatures={f"{column}/average": signature, f"{column}/corpus": signature},
    )


def chrf_family(setting: str) -> MetricFamily:
    """chrF, over characters."""
    return _family(setting, "chrf", 0)


def chrfpp_family(setting: str) -> MetricFamily:
    """chrF++, over characters and words."""
    return _family(setting, "chrfpp", _WORD_ORDER)
