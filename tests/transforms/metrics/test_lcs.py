"""The bit-parallel longest common subsequence against rouge-score's table, tie by tie."""

from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import lcs_ind

from beamjudge.transforms.metrics.text.lcs import lcs_positions, positions_of

_TOKENS = st.lists(st.sampled_from("abcd"), max_size=25)


def _positions(reference: list[str], response: list[str]) -> list[int]:
    bits = lcs_positions(positions_of(reference), reference, response)
    return [i for i in range(len(reference)) if bits >> i & 1]


@settings(max_examples=300, deadline=None)
@given(reference=_TOKENS, response=_TOKENS)
def test_equal_to_the_table(reference, response):
    assert _positions(reference, response) == lcs_ind(reference, response)


def test_by_hand():
    assert len(_positions(list("abcbdab"), list("bdcaba"))) == 4  # Cormen et al., Introduction to Algorithms, 15.4
    assert _positions(["a", "a"], ["a", "x"]) == [0]
    assert _positions([], ["a"]) == []
    assert positions_of(["a", "b", "a"]) == {"a": 0b101, "b": 0b010}


def test_texts_of_many_words_need_no_recursion():
    assert _positions(["a"] * 5000, ["b"] * 5000) == []
    assert len(_positions(["a", "b"] * 1000, ["b", "a"] * 1000)) == 1999
