"""Exact match and token F1 as question answering has them (Rajpurkar et al., "SQuAD", EMNLP 2016).

Answers are compared without case, punctuation, articles and extra white space, as SQuAD's own evaluation script does.
"""

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex

from beamjudge.schemas.assessment import MetricValue
from beamjudge.schemas.metric import Column, ColumnType, mean_spec
from beamjudge.schemas.row import Row
from beamjudge.transforms.metrics.family import MetricFamily
from beamjudge.transforms.metrics.text.scored_text import AUTO, ScoredText, scored_text
from beamjudge.transforms.metrics.text.signatures import library_signature
from beamjudge.transforms.metrics.text.tokenizers import split_unspaced

_EXACT_MATCH = "response/text/exact_match"
_TOKEN_F1 = "response/text/token_f1"
_SCRIPT = "2.0"  # of SQuAD's evaluation script; unlike the first one it says what two empty answers score

_ARTICLES = frozenset(("a", "an", "the"))
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_ASCII_PUNCTUATION = string.punctuation.encode()
_NO_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)
_PUNCTUATION = regex.compile(r"\p{P}")


@lru_cache(maxsize=16)  # the texts of the last rows: exact match and F1 look at the same ones
def answer_words(text: str, *, ascii_rules: bool) -> tuple[str, ...]:
    """The words that count. With `ascii_rules` those of SQuAD's script, for which only ASCII punctuation is punctuation
    and words stand between white space; else any punctuation is left out, case is folded, and in scripts that are
    written without spaces each letter is a word."""
    if ascii_rules:
        if text.isascii():  # bytes lose characters ten times as fast
            bare = text.lower().encode().translate(None, _ASCII_PUNCTUATION).decode()
        else:
            bare = text.lower().translate(_NO_ASCII_PUNCTUATION)
        words = bare.split()
        if "".join(words).isalnum():  # then words end where white space does, and articles are words
            return tuple([word for word in words if word not in _ARTICLES])
        return tuple(_ARTICLE.sub(" ", bare).split())
    folded = _PUNCTUATION.sub("", text.translate(_NO_ASCII_PUNCTUATION)).casefold()
    return tuple(split_unspaced(_ARTICLE.sub(" ", folded)))


def token_f1(response: Sequence[str], reference: Sequence[str]) -> float:
    """The F-measure of the words in common, in [0, 1]. Two answers without words agree, one and none do not."""
    if not response or not reference:
        return float(response == reference)
    left = Counter(reference)
    common = 0
    for word in response:
        if left.get(word):
            left[word] -= 1
            common += 1
    if not common:
        return 0.0
    precision, recall = common / len(response), common / len(reference)
    return 2 * precision * recall / (precision + recall)


def _words(texts: ScoredText) -> list[tuple[str, ...]]:
    return [answer_words(text, ascii_rules=texts.is_compatible) for text in texts.texts]


@dataclass(frozen=True, slots=True)
class _ExactMatch:
    """1 when any reference is matched, else 0."""

    setting: str

    def __call__(self, row: Row) -> Mapping[str, MetricValue]:
        texts = scored_text(row, self.setting)
        if texts is None:
            return {_EXACT_MATCH: None}
        response, *references = _words(texts)
        return {_EXACT_MATCH: float(response in references)}


@dataclass(frozen=True, slots=True)
class _TokenF1:
    """The best score that any reference gives."""

    setting: str

    def __call__(self, row: Row) -> Mapping[str, MetricValue]:
        texts = scored_text(row, self.setting)
        if texts is None:
            return {_TOKEN_F1: None}
        response, *references = _words(texts)
        return {_TOKEN_F1: max([token_f1(response, reference) for reference in references])}


def _signature(setting: str) -> str:
    return library_signature(_SCRIPT, norm="squad-if-ascii-else-unicode" if setting == AUTO else "squad")


def exact_match_family(setting: str) -> MetricFamily:
    return MetricFamily(
        name="exact_match",
        columns=(Column(_EXACT_MATCH, ColumnType.FLOAT),),
        specs=(mean_spec(_EXACT_MATCH, low=0.0, high=1.0),),
        compute=_ExactMatch(setting),
        signatures={f"{_EXACT_MATCH}/average": _signature(setting)},
    )


def token_f1_family(setting: str) -> MetricFamily:
    return MetricFamily(
        name="token_f1",
        columns=(Column(_TOKEN_F1, ColumnType.FLOAT),),
        specs=(mean_spec(_TOKEN_F1, low=0.0, high=1.0),),
        compute=_TokenF1(setting),
        signatures={f"{_TOKEN_F1}/average": _signature(setting)},
    )
