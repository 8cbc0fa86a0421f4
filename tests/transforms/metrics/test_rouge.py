"""ROUGE: from the paper, against rouge-score, and on text in any script."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from beamjudge.transforms.metrics.text.rouge import ROUGE, rouge_scores, rouge_text

_TYPES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
_ORACLE = RougeScorer(_TYPES)
_TEXT = st.lists(st.sampled_from(["the ", "cat ", "cat. ", "Sat\n", "\n", "on-", "1.5 ", "a", "! "]), max_size=20)


def _row_scores(row):
    values = ROUGE.compute(row)
    assert list(values) == [f"response/text/{name}" for name in _TYPES]
    return tuple(values.values())


@pytest.mark.parametrize(
    ("response", "rouge2", "rouge_l"),
    [
        ("police kill the gunman", 1 / 3, 3 / 4),
        ("the gunman kill police", 1 / 3, 2 / 4),
        ("the gunman police killed", 2 / 3, 2 / 4),
    ],
)
def test_sentences_of_the_paper(make_row, response, rouge2, rouge_l):
    """Lin 2004, section 3.1; the lengths are equal, so precision, recall and F are."""
    scores = _row_scores(make_row(response, "police killed the gunman"))
    assert scores[1:] == pytest.approx((rouge2, rouge_l, rouge_l), abs=1e-9)


def test_union_of_the_paper(make_row):
    """Lin 2004, section 3.2: recall 4/5, here with precision 4/10."""
    *_, lsum = _row_scores(make_row("w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5"))
    assert lsum == pytest.approx(2 * 0.4 * 0.8 / 1.2, abs=1e-9)


@settings(max_examples=250, deadline=None)
@given(response=_TEXT, references=st.lists(_TEXT, min_size=1, max_size=3))
def test_equal_to_rouge_score(response, references):
    response, references = "".join(response), ["".join(reference) for reference in references]
    prediction = rouge_text(response, "13a")
    scores = [rouge_scores(prediction, rouge_text(reference, "13a")) for reference in references]
    library = _ORACLE.score_multi(references, response)
    for i, name in enumerate(_TYPES):
        assert max(score[i] for score in scores) == pytest.approx(library[name].fmeasure, abs=1e-9)


@pytest.mark.parametrize(
    "text",
    [
        *("สวัสดี", "今日は良い天気ですね", "你好，世界", "안녕하세요", "Привет", "مرحبا", "नमस्ते", "សួស្តី"),
        *("😀", "👍🏽❤️", "Καλημέρα κόσμε", "Xin chào thế giới", "naïve", "Größe"),
    ],
)
def test_identical_text_in_any_script_scores_1(make_row, text):
    decomposed = unicodedata.normalize("NFD", text)
    for response, expected in ((text, text), (decomposed, text), (text, decomposed)):
        assert _row_scores(make_row(response, expected)) == pytest.approx((1, 1, 1, 1), abs=1e-9)


def test_partial_overlap_beyond_ascii_by_hand(make_row):
    """Three of four words in order, one adjacent pair of three; case does not count."""
    scores = _row_scores(make_row("кошка сидит на столе", "Кошка лежит на столе"))
    assert scores == pytest.approx((3 / 4, 1 / 3, 3 / 4, 3 / 4), abs=1e-9)


@pytest.mark.parametrize(
    ("response", "expected", "scores"),
    [
        ("", "A reference.", (0.0, 0.0, 0.0, 0.0)),
        (" ", "Ein Maß.", (0.0, 0.0, 0.0, 0.0)),
        ("text", "", (None, None, None, None)),
        ("text", None, (None, None, None, None)),
        (None, "text", (None, None, None, None)),
        ("!?", "!?", (0.0, 0.0, 0.0, 0.0)),
        ("word", "word", (1.0, 0.0, 1.0, 1.0)),
        ("нет", "да", (0.0, 0.0, 0.0, 0.0)),
        ("one two", ["three", "one two"], (1.0, 1.0, 1.0, 1.0)),
        ("one two", [" ", "one two"], (1.0, 1.0, 1.0, 1.0)),
    ],
)
def test_rows(make_row, response, expected, scores):
    assert _row_scores(make_row(response, expected)) == scores


def test_each_score_takes_its_best_reference(make_row):
    """The library's own example: "text first" has all words of the first reference, in the other order."""
    scores = _row_scores(make_row("text first", ["first text", "first something"]))
    assert scores == pytest.approx((1.0, 0.0, 0.5, 0.5), abs=1e-9)


def test_long_texts_need_no_recursion(make_row):
    assert _row_scores(make_row("aaa " * 1500, "bbb " * 1500)) == (0.0, 0.0, 0.0, 0.0)
    assert _row_scores(make_row("aaa " * 1500, "aaa " * 1500)) == (1.0, 1.0, 1.0, 1.0)
    assert _row_scores(make_row("aaa\nb " * 100, "b\naaa " * 100))[0] == 1.0


def test_names_and_range():
    assert [spec.names for spec in ROUGE.specs] == [((f"response/text/{name}/average", "value"),) for name in _TYPES]
    assert all((spec.low, spec.high) == (0.0, 1.0) for spec in ROUGE.specs)


def test_published_values(make_row, shared_lines):
    checked = 0
    for case in shared_lines("data/reference_rouge/rouge_score_cases.jsonl"):
        if case["use_stemmer"]:
            continue
        texts = [rouge_text(text, "13a") for text in (case["prediction"], *case["targets"])]
        position = _TYPES.index(case["metric"])
        score = max(rouge_scores(texts[0], target)[position] for target in texts[1:])
        assert score == pytest.approx(case["expected"]["fmeasure"], abs=case["tolerance"]), case
        checked += 1
    assert checked == 22


def test_library_values_on_other_scripts(shared_lines):
    """With the library's own tokenizer every text scores as the library has it, whatever its script."""
    for case in shared_lines("data/reference_rouge/rouge_multilingual_computed.jsonl"):
        scores = rouge_scores(rouge_text(case["prediction"], "13a"), rouge_text(case["target"], "13a"))
        expected = [case["expected"][name]["fmeasure"] for name in _TYPES]
        assert scores == pytest.approx(expected, abs=1e-9), case


def test_reported_fault_b61(make_row, reported_fault):
    texts = reported_fault("B61")
    assert _row_scores(make_row(texts["response"], texts["expected_response"])) == (1.0, 1.0, 1.0, 1.0)
