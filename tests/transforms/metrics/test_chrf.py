"""chrF and chrF++: by hand, against sacrebleu, and on text in any script."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_texts import ANY_TEXT, ASCII_TEXT, SCRIPTS
from sacrebleu.metrics import CHRF

from beamjudge.schemas.metric import MetricKind
from beamjudge.transforms.metrics.text.chrf import chrf_family, chrf_score, chrf_statistics, chrfpp_family

_FAMILIES = {0: chrf_family, 2: chrfpp_family}
_COLUMNS = {0: "response/text/chrf", 2: "response/text/chrfpp"}
_REFERENCES = st.lists(ANY_TEXT.filter(str.strip), min_size=1, max_size=3)


def test_by_hand():
    """`abc d` against `abd`: three of four letters, one of three pairs, none of two and one longer ones."""
    statistics = chrf_statistics("abc d", "abd")
    assert statistics == (4, 3, 3, 3, 2, 1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    precision, recall = (3 / 4 + 1 / 3 + 0) / 3, (3 / 3 + 1 / 2 + 0) / 3
    assert chrf_score(statistics) == pytest.approx(100 * 5 * precision * recall / (4 * precision + recall), abs=1e-9)


def test_words_by_hand():
    """A mark at the end of a word, or else at its beginning, is a word; `x` and `.` are all that is alike."""
    assert chrf_statistics("x.", "(x .", word_order=2)[18:] == (2, 3, 2, 1, 2, 1)
    assert chrf_statistics("(hi)", "hi )", word_order=2)[18:] == (2, 2, 1, 1, 1, 0)


@pytest.mark.parametrize("word_order", [0, 2])
@settings(max_examples=120, deadline=None)
@given(response=ANY_TEXT, references=_REFERENCES)
def test_rows_are_sacrebleus_where_a_tokenizer_is_named(make_row, word_order, response, references):
    library = CHRF(word_order=word_order).sentence_score(response, references).score
    for setting in ("13a", "zh", "rouge"):
        values = _FAMILIES[word_order](setting).compute(make_row(response, references))
        assert values[_COLUMNS[word_order]] == pytest.approx(library, abs=1e-9)


@pytest.mark.parametrize("word_order", [0, 2])
@settings(max_examples=80, deadline=None)
@given(rows=st.lists(st.tuples(ASCII_TEXT, *[ASCII_TEXT.filter(str.strip)] * 2), min_size=1, max_size=4))
def test_ascii_rows_and_their_corpus_are_sacrebleus(make_row, word_order, rows):
    library = CHRF(word_order=word_order)
    family, column = _FAMILIES[word_order]("auto"), _COLUMNS[word_order]
    values = [family.compute(make_row(response, list(references))) for response, *references in rows]
    for (response, *references), ours in zip(rows, values, strict=True):
        assert ours[column] == pytest.approx(library.sentence_score(response, references).score, abs=1e-9)
    summed = [sum(numbers) for numbers in zip(*(ours[f"{column}/corpus"] for ours in values), strict=True)]
    responses, first, second = zip(*rows, strict=True)
    assert chrf_score(summed) == pytest.approx(library.corpus_score(responses, [first, second]).score, abs=1e-9)


@pytest.mark.parametrize("word_order", [0, 2])
@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_identical_text_in_any_script_scores_100(make_row, word_order, text):
    decomposed = unicodedata.normalize("NFD", text)
    for response, expected in ((text, text), (decomposed, text), (text, decomposed)):
        values = _FAMILIES[word_order]("auto").compute(make_row(response, expected))
        assert values[_COLUMNS[word_order]] == pytest.approx(100, abs=1e-9)


@pytest.mark.parametrize(
    ("response", "expected", "score"),
    [("", "text", 0.0), (" ", "text", 0.0), ("text", " ", None), (None, "text", None), ("abc", "xyz", 0.0)],
)
def test_rows(make_row, response, expected, score):
    values = chrf_family("auto").compute(make_row(response, expected))
    assert values["response/text/chrf"] == score
    assert (values["response/text/chrf/corpus"] is None) == (score is None)


def test_names_kinds_and_range():
    for word_order, family in _FAMILIES.items():
        column = _COLUMNS[word_order]
        mean, corpus = family("auto").specs
        assert mean.names == ((f"{column}/average", "value"),)
        assert corpus.names == ((f"{column}/corpus", "value"),)
        assert (corpus.kind, corpus.scorer, corpus.optional) == (MetricKind.CORPUS, "chrf", False)
        assert (mean.low, mean.high, corpus.low, corpus.high) == (0.0, 100.0, 0.0, 100.0)


def _with_epsilon(statistics, beta):
    """The smoothing of chrF++.py, as a formula over the same statistics: the mean of the orders' F-scores."""
    epsilon = 1e-16
    total = 0.0
    for n_response, n_reference, matched in zip(statistics[::3], statistics[1::3], statistics[2::3], strict=True):
        precision = matched / n_response if n_response else epsilon
        recall = matched / n_reference if n_reference else epsilon
        denominator = beta**2 * precision + recall
        total += (1 + beta**2) * precision * recall / denominator if denominator else epsilon
    return 100 * total / (len(statistics) / 3)


def test_published_values(shared_lines):
    """sacrebleu's own tests, with its smoothing of old beside the default."""
    cases = [
        case for case in shared_lines("data/reference_bleu_chrf_ter/sacrebleu_cases.jsonl") if case["metric"] == "chrf"
    ]
    for case in cases:
        wanted = case["params"]
        assert (wanted["char_order"], wanted["word_order"], len(case["references"])) == (6, 0, 1)
        rows = zip(case["hypotheses"], case["references"][0], strict=True)
        summed = [sum(column) for column in zip(*(chrf_statistics(*row) for row in rows), strict=True)]
        score = _with_epsilon if wanted["eps_smoothing"] else chrf_score
        scale = 0.01 if case["scale"] == "0-1" else 1.0
        assert score(summed, wanted["beta"]) * scale == pytest.approx(case["expected"], abs=case["tolerance"]), case
    assert len(cases) == 23
