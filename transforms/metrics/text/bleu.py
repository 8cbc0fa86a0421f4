"""BLEU (Papineni et al., ACL 2002) as sacrebleu computes it: per row, and per run from summed statistics."""

import math
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_

from beamjudge.schemas.assessment import MetricValue
from beamjudge.schemas.metric import Column, ColumnType, MetricKind, MetricSpec, mean_spec
from beamjudge.schemas.row import Row
from beamjudge.transforms.metrics.family import MetricFamily
from beamjudge.transforms.metrics.text.ngrams import count_ngrams, shared_ngrams
from beamjudge.transforms.metrics.text.scored_text import ScoredText, scored_text
from beamjudge.transforms.metrics.text.tokenizers import TOKENIZERS, bleu_tokens

_COLUMN = "response/text/bleu"
_ORDERS = range(1, 5)
_CORPUS_KEYS = {
    tokenizer: f"{_COLUMN}/corpus" if tokenizer == "13a" else f"{_COLUMN}/corpus@{tokenizer}"
    for tokenizer in TOKENIZERS
}


def bleu_statistics(response: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """What BLEU needs of a row; statistics of rows add up, number by number, to those of the corpus.

    Matched n-grams of the response for n = 1 to 4, all its n-grams for n = 1 to 4, its length, and the length of the
    reference that is nearest to it (the shorter of two). An n-gram matches as often as some reference has it.
    """
    correct = [0, 0, 0, 0]
    for n in _ORDERS:
        wanted = reduce(or_, [count_ngrams(reference, n) for reference in references])
        correct[n - 1] = shared_ngrams(count_ngrams(response, n), wanted)
        if not correct[n - 1]:
            break  # a longer match would contain a match of this length
    length = len(response)
    nearest = min((abs(length - len(reference)), len(reference)) for reference in references)[1]
    return (*correct, *(max(0, length - n + 1) for n in _ORDERS), length, nearest)


def corpus_bleu(statistics: Sequence[int]) -> float:
    """BLEU of summed statistics in [0, 100], equal to sacrebleu's `corpus_score` with its default settings."""
    return _bleu(statistics, effective_order=False)


def row_bleu(statistics: Sequence[int]) -> float:
    """BLEU of one row's statistics in [0, 100], equal to sacrebleu's `sentence_bleu`.

    Orders for which the response is too short are left out (effective order), so that short identical texts score 100.
    """
    return _bleu(statistics, effective_order=True)


def _bleu(statistics: Sequence[int], *, effective_order: bool) -> float:
    """The geometric mean of the precisions times the brevity penalty.

    The k-th order without a match gets the precision 1 / (2^k * n-grams): smoothing method 3 of Chen and Cherry (WMT
    2014), which sacrebleu calls `exp`. Without any match at all the score is 0.
    """
    correct, total, (length, reference_length) = statistics[:4], statistics[4:8], statistics[8:]
    if not correct[0]:
        return 0.0
    if not total[-1] and not effective_order:
        return 0.0
    log_precisions = []
    smoothing = 1
    for matched, ngrams in zip(correct, total, strict=True):
        if not ngrams:
            break
        if matched:
            log_precisions.append(math.log(100.0 * matched / ngrams))
        else:
            smoothing *= 2
            log_precisions.append(math.log(100.0 / (smoothing * ngrams)))
    brevity_penalty = math.exp(1 - reference_length / length) if length < reference_length else 1.0
    # The rounding of logarithm and exponential may end a little above the range that intervals are clipped to.
    return min(100.0, brevity_penalty * math.exp(sum(log_precisions) / len(log_precisions)))


def _statistics(texts: ScoredText) -> tuple[int, ...]:
    references = [bleu_tokens(reference, texts.tokenizer) for reference in texts.references]
    return bleu_statistics(bleu_tokens(texts.response, texts.tokenizer), references)


def _compute(row: Row) -> Mapping[str, MetricValue]:
    """The row's score, and its statistics under the corpus metric of its tokenizer; never under two."""
    values: dict[str, MetricValue] = dict.fromkeys((_COLUMN, *_CORPUS_KEYS.values()))
    texts = scored_text(row)
    if texts is not None:
        statistics = _statistics(texts)
        values[_COLUMN] = row_bleu(statistics)
        values[_CORPUS_KEYS[texts.tokenizer]] = statistics
    return values


def _corpus_spec(tokenizer: str) -> MetricSpec:
    key = _CORPUS_KEYS[tokenizer]
    return MetricSpec(
        key,
        MetricKind.CORPUS,
        names=((key, "value"),),
        low=0.0,
        high=100.0,
        scorer="bleu",
        optional=tokenizer != "13a",
    )


BLEU = MetricFamily(
    name="bleu",
    columns=(Column(_COLUMN, ColumnType.FLOAT),),
    specs=(mean_spec(_COLUMN, low=0.0, high=100.0), *(_corpus_spec(tokenizer) for tokenizer in TOKENIZERS)),
    compute=_compute,
)
