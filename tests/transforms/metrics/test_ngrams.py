"""Matched n-grams against counting them one by one."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_texts import ANY_TEXT

from beamjudge.transforms.metrics.text.ngrams import code_characters, intern_words, matched_ngrams

_FEW_SYMBOLS = st.text("abc", max_size=12)


def _counted(first, others, order):
    matched = []
    for n in range(1, order + 1):
        ours, *theirs = (Counter(tuple(text[i : i + n]) for i in range(len(text) - n + 1)) for text in (first, *others))
        matched.append(sum(min(count, max(other[ngram] for other in theirs)) for ngram, count in ours.items()))
    return matched


@settings(max_examples=400, deadline=None)
@given(
    first=st.one_of(_FEW_SYMBOLS, ANY_TEXT),
    others=st.lists(st.one_of(_FEW_SYMBOLS, ANY_TEXT), min_size=1, max_size=4),
    order=st.integers(1, 6),
)
def test_characters_and_words(first, others, order):
    expected = _counted(first, others, order)
    assert matched_ngrams(code_characters(first, others), order) == expected
    words = intern_words(list(first), [list(other) for other in others])
    assert matched_ngrams(words.coded(), order) == expected


@pytest.mark.parametrize("n_symbols", [1020, 1021, 1022, 1023, 1024, 5000])
def test_texts_of_many_symbols(n_symbols):
    """Six symbols of more than ten bits do not fit one integer."""
    first = "".join(map(chr, range(0x4E00, 0x4E00 + n_symbols))) * 2
    second = first[n_symbols // 2 :][::-1][:n_symbols] + first[:n_symbols]
    assert matched_ngrams(code_characters(first, [second]), 6) == _counted(first, [second], 6)


def test_by_hand():
    """`aaab` has a three times and aa twice; `aaca` has them three times and once."""
    assert matched_ngrams(code_characters("aaab", ["aaca"]), 2) == [3, 1]
    assert matched_ngrams(code_characters("", ["a"]), 3) == [0, 0, 0]
    assert matched_ngrams(code_characters("a", [""]), 3) == [0, 0, 0]
    assert matched_ngrams(code_characters("\ud800a", ["a\ud800"]), 2) == [2, 0]


def test_words_become_characters_that_are_equal_where_words_are():
    words = intern_words(["the", "cat", "dog", "the"], [["a", "cat"], ["the", "a"]])
    first, (second, third) = words.first, words.others
    assert first[0] == first[3] == third[0]
    assert first[1] == second[1]
    assert second[0] == third[1]
    assert first[2] not in second + third
    assert len({first[0], first[1], first[2], second[0]}) == 4
