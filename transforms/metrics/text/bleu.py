"""BLEU (Papineni et al., ACL 2002) as sacrebleu computes it: per row, and per run from summed statistics."""

import math
from collections.abc import Sequence
from functools import partial

from beamjudge.schemas.metric import Column, ColumnType
from beamjudge.transforms.metrics.family import MetricFamily
from beamjudge.transforms.metrics.text.corpus_score import CorpusScore, corpus_keys
from beamjudge.transforms.metrics.text.ngrams import intern_words, matched_ngrams
from beamjudge.transforms.metrics.text.scored_text import AUTO, ScoredText
from beamjudge.transforms.metrics.text.signatures import sacrebleu_signature, tokenizer_name, tokenizer_signature
from beamjudge.transforms.metrics.text.tokenizers import TOKENIZERS

_COLUMN = "response/text/bleu"
_ORDER = 4


def bleu_statistics(
    response: Sequence[str], references: Sequence[Sequence[str]], order: int = _ORDER
) -> tuple[int, ...]:
    """What BLEU needs of a row; statistics of rows add up, number by number, to those of the corpus.

    Matched n-grams of the response for n = 1 to 4, all its n-grams for n = 1 to 4, its length, and the length of the
    reference that is nearest to it (the shorter of two). An n-gram matches as often as some reference has it.
    """
    matched = matched_ngrams(intern_words(response, references).coded(), order)
    length = len(response)
    nearest = min([(abs(length - len(reference)), len(reference)) for reference in references])[1]
    return (*matched, *[max(0, length - n) for n in range(order)], length, nearest)


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
    order = len(statistics) // 2 - 1
    correct, total, (length, reference_length) = statistics[:order], statistics[order:-2], statistics[-2:]
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


def _statistics(texts: ScoredText) -> tuple[str, tuple[int, ...]]:
    response, *references = texts.tokens
    return texts.tokenizer, bleu_statistics(response, references)


def bleu_family(setting: str) -> MetricFamily:
    """BLEU with the tokenizer that the texts' script chooses (`auto`), or with a named one."""
    tokenizers = TOKENIZERS if setting == AUTO else (tokenizer_name(setting),)
    score = CorpusScore(_COLUMN, setting, corpus_keys(_COLUMN, tokenizers, plain="13a"), _statistics, row_bleu)
    return MetricFamily(
        name="bleu",
        columns=(Column(_COLUMN, ColumnType.FLOAT),),
        specs=score.specs("bleu", high=100.0),
        compute=score,
        signatures=score.signatures(_signature(setting, eff="yes"), partial(_signature, eff="no")),
    )


def _signature(tokenizer: str, *, eff: str) -> str:
    return sacrebleu_signature(case="mixed", eff=eff, tok=tokenizer_signature(tokenizer), smooth="exp")
