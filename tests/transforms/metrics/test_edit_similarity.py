"""Edit similarity: by hand, against the table of the textbook, and on text in any script."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_texts import SCRIPTS

from beamjudge.transforms.metrics.text.edit_similarity import edit_similarity, edit_similarity_family

_COLUMN = "response/text/edit_similarity"


def _distance(first, second):
    """Wagner and Fischer, "The string-to-string correction problem", JACM 21(1), 1974."""
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(second, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]


@settings(max_examples=200, deadline=None)
@given(texts=st.tuples(*[st.text("abcé漢😀", max_size=15)] * 2))
def test_equal_to_the_table(texts):
    longest = max(map(len, texts))
    expected = 1 - _distance(*texts) / longest if longest else 1.0
    assert edit_similarity(*texts) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("response", "expected", "score"),
    [
        ("kitten", "sitting", 1 - 3 / 7),
        ("", "abc", 0.0),
        ("abc", "abc", 1.0),
        ("ABC", "abc", 0.0),
        ("sitting", ["kitten", "sittin"], 1 - 1 / 7),
        ("text", " ", None),
        (None, "text", None),
    ],
)
def test_rows(make_row, response, expected, score):
    values = edit_similarity_family("auto").compute(make_row(response, expected))
    assert values == {_COLUMN: score if score is None else pytest.approx(score, abs=1e-12)}


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_identical_text_in_any_script_scores_1(make_row, text):
    decomposed = unicodedata.normalize("NFD", text)
    for response, expected in ((text, text), (decomposed, text), (text, decomposed)):
        assert edit_similarity_family("auto").compute(make_row(response, expected)) == {_COLUMN: 1.0}


def test_a_named_tokenizer_takes_texts_as_they_are(make_row):
    assert edit_similarity_family("13a").compute(make_row("é", "e\u0301")) == {_COLUMN: 0.0}
