"""Counting n-grams and what two texts share of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Ngrams: TypeAlias = "Counter[tuple[str, ...]]"


def count_ngrams(tokens: Sequence[str], n: int) -> Ngrams:
    """How often each n-gram occurs; there are `max(0, len(tokens) - n + 1)` in all."""
    return Counter(zip(*(tokens[i:] for i in range(n)), strict=False))


def shared_ngrams(first: Mapping[tuple[str, ...], int], second: Mapping[tuple[str, ...], int]) -> int:
    """The size of the multiset intersection: each n-gram counts as often as the text has it that has it less often."""
    return sum([min(first[ngram], second[ngram]) for ngram in first.keys() & second.keys()])
