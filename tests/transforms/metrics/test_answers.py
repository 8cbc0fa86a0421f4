"""Exact match and token F1: by hand, by SQuAD's rules, and on text in any script."""

import re
import string
import unicodedata
from collections import Counter

import pytest
from hypothesis import given, settings
from metric_texts import ANY_TEXT, SCRIPTS

from beamjudge.transforms.metrics.text.answers import answer_words, exact_match_family, token_f1, token_f1_family

_EXACT_MATCH, _TOKEN_F1 = "response/text/exact_match", "response/text/token_f1"


def _scores(row, setting="auto"):
    exact, f1 = exact_match_family(setting).compute(row), token_f1_family(setting).compute(row)
    return exact[_EXACT_MATCH], f1[_TOKEN_F1]


def _squad_words(text):
    """The steps that SQuAD's evaluation script takes: lower case, punctuation, articles, white space."""
    kept = "".join(character for character in text.lower() if character not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", kept).split()


def _squad_f1(response, reference):
    theirs, ours = _squad_words(reference), _squad_words(response)
    if not theirs or not ours:
        return float(theirs == ours)
    common = sum((Counter(theirs) & Counter(ours)).values())
    return 2 * common / (len(ours) + len(theirs))


@settings(max_examples=300, deadline=None)
@given(response=ANY_TEXT, reference=ANY_TEXT)
def test_by_the_rules_of_squad(response, reference):
    ours, theirs = (answer_words(text, ascii_rules=True) for text in (response, reference))
    assert list(ours) == _squad_words(response)
    assert token_f1(ours, theirs) == pytest.approx(_squad_f1(response, reference), abs=1e-12)


@pytest.mark.parametrize(
    ("response", "expected", "exact", "f1"),
    [
        ("The Eiffel Tower.", "eiffel tower", 1.0, 1.0),
        ("It is the Eiffel Tower", "The Eiffel Tower", 0.0, 2 * (2 / 4) * (2 / 2) / (2 / 4 + 2 / 2)),
        ("blue", "red", 0.0, 0.0),
        ("the", "a", 1.0, 1.0),  # nothing is left of either
        ("the", "red", 0.0, 0.0),
        ("", "red", 0.0, 0.0),
        ("", " ", None, None),
        (None, "red", None, None),
        ("red", ["blue", "Red!"], 1.0, 1.0),
        ("red red", ["red"], 0.0, 2 * (1 / 2) * 1 / (3 / 2)),
        ("«Красный», да", "красный да", 1.0, 1.0),
        ("Größe: 12", "GRÖSSE 12", 1.0, 1.0),
        ("我们明天去。", "我们今天去", 0.0, 4 / 5),
    ],
)
def test_rows(make_row, response, expected, exact, f1):
    row = make_row(response, expected)
    assert _scores(row) == (exact, f1 if f1 is None else pytest.approx(f1, abs=1e-12))


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_identical_text_in_any_script_scores_1(make_row, text):
    decomposed = unicodedata.normalize("NFD", text)
    for response, expected in ((text, text), (decomposed, text), (text, decomposed)):
        assert _scores(make_row(response, expected)) == (1.0, 1.0)


def test_a_named_tokenizer_keeps_to_squad_on_all_text(make_row):
    """Its script knows no punctuation beyond ASCII, no case folding, and words only between white space."""
    assert _scores(make_row("我们明天去", "我们今天去"), "rouge") == (0.0, 0.0)
    assert _scores(make_row("да。", "да"), "13a") == (0.0, 0.0)
    assert _scores(make_row("é", "e\u0301"), "zh") == (0.0, 0.0)
    assert _scores(make_row("Да.", "да"), "intl") == (1.0, 1.0)


def test_names_and_range():
    for family, column in ((exact_match_family, _EXACT_MATCH), (token_f1_family, _TOKEN_F1)):
        (spec,) = family("auto").specs
        assert spec.names == ((f"{column}/average", "value"),)
        assert (spec.low, spec.high) == (0.0, 1.0)
