"""ROUGE: from the paper, against rouge-score, and on text in any script."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_texts import ANY_TEXT
from rouge_score.rouge_scorer import RougeScorer

from beamjudge.transforms.metrics.text.rouge import rouge_family, rouge_scores, rouge_text

_TYPES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
_ORACLES = {stemmed: RougeScorer(_TYPES, use_stemmer=stemmed) for stemmed in (False, True)}
_ROUGE = rouge_family("auto", stemmed=False)


def _row_scores(row):
    values = _ROUGE.compute(row)
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


@pytest.mark.parametrize("stemmed", [False, True])
@settings(max_examples=150, deadline=None)
@given(response=ANY_TEXT, references=st.lists(ANY_TEXT, min_size=1, max_size=3))
def test_equal_to_rouge_score(stemmed, response, references):
    """Precision, recall and F-measure, on text in any script, with the library's own words."""
    prediction = rouge_text(response, ascii_only=True, stemmed=stemmed)
    for reference in references:
        scores = rouge_scores(prediction, rouge_text(reference, ascii_only=True, stemmed=stemmed))
        library = _ORACLES[stemmed].score(reference, response)
        for score, name in zip(scores, _TYPES, strict=True):
            assert score == pytest.approx(library[name], abs=1e-9)


@pytest.mark.parametrize("stemmed", [False, True])
@settings(max_examples=80, deadline=None)
@given(response=ANY_TEXT, references=st.lists(ANY_TEXT.filter(str.strip), min_size=1, max_size=3))
def test_rows_are_the_librarys_where_it_is_asked_for(make_row, stemmed, response, references):
    family = rouge_family("rouge", stemmed=stemmed)
    values = family.compute(make_row(response, references))
    library = _ORACLES[stemmed].score_multi(references, response)
    assert list(values.values()) == pytest.approx([library[name].fmeasure for name in _TYPES], abs=1e-9)


def test_stems_by_hand(make_row):
    """`cats` and `running` lose their endings."""
    row = make_row("the cats like running", "cat run bus")
    plain, stemmed = (
        rouge_family("auto", stemmed=stemmed).compute(row)["response/text/rouge1"] for stemmed in (False, True)
    )
    assert plain == 0.0
    assert stemmed == pytest.approx(2 * (2 / 4) * (2 / 3) / (2 / 4 + 2 / 3), abs=1e-9)


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
    assert [spec.names for spec in _ROUGE.specs] == [((f"response/text/{name}/average", "value"),) for name in _TYPES]
    assert all((spec.low, spec.high) == (0.0, 1.0) for spec in _ROUGE.specs)


def test_published_values(shared_lines):
    """The package's own tests and, with several targets, its rule for them: the best F-measure."""
    checked = 0
    for case in shared_lines("data/reference_rouge/rouge_score_cases.jsonl"):
        response, *targets = (
            rouge_text(text, ascii_only=True, stemmed=case["use_stemmer"])
            for text in (case["prediction"], *case["targets"])
        )
        position = _TYPES.index(case["metric"])
        scores = [rouge_scores(response, target)[position] for target in targets]
        best = max(scores, key=lambda score: score.fmeasure)
        for part, value in case["expected"].items():
            assert getattr(best, part) == pytest.approx(value, abs=case["tolerance"]), case
        checked += 1
    assert checked == 28


def test_library_values_on_other_scripts(shared_lines):
    """With the library's own tokenizer every text scores as the library has it, whatever its script."""
    cases = shared_lines("data/reference_rouge/rouge_multilingual_computed.jsonl")
    assert len(cases) == 70
    for case in cases:
        texts = (rouge_text(case[name], ascii_only=True) for name in ("prediction", "target"))
        for score, name in zip(rouge_scores(*texts), _TYPES, strict=True):
            assert score._asdict() == pytest.approx(case["expected"][name], abs=1e-9), case


def test_reported_fault_b61(make_row, reported_fault):
    texts = reported_fault("B61")
    assert _row_scores(make_row(texts["response"], texts["expected_response"])) == (1.0, 1.0, 1.0, 1.0)
