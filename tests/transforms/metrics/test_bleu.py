"""BLEU: by hand, from the paper, against sacrebleu, and on text in any script."""

import math
import unicodedata

import pytest
import sacrebleu.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_texts import ANY_TEXT, SCRIPTS
from nltk.translate import bleu_score

from beamjudge.schemas.metric import ColumnType, MetricKind
from beamjudge.transforms.metrics.text.bleu import bleu_family, bleu_statistics, corpus_bleu, row_bleu
from beamjudge.transforms.metrics.text.tokenizers import TOKENIZERS, bleu_tokens

_BLEU = bleu_family("auto")


def _statistics(response, references, tokenizer="13a"):
    return bleu_statistics(
        bleu_tokens(response, tokenizer), [bleu_tokens(reference, tokenizer) for reference in references]
    )


def _row_score(row):
    return _BLEU.compute(row)["response/text/bleu"]


def test_by_hand():
    """Matches 5/6, 3/5, 1/4, 0/3; the order without a match counts as 1 / (2 * 3)."""
    statistics = _statistics("the cat sat on the mat", ["the cat is on the mat"])
    assert statistics == (5, 3, 1, 0, 6, 5, 4, 3, 6, 6)
    assert row_bleu(statistics) == pytest.approx(100 * (5 / 6 * 3 / 5 * 1 / 4 * 1 / 6) ** 0.25, abs=1e-9)


def test_brevity_penalty_by_hand():
    statistics = _statistics("a b c d", ["a b c d e f g h"])
    assert statistics == (4, 3, 2, 1, 4, 3, 2, 1, 4, 8)
    assert row_bleu(statistics) == pytest.approx(100 * math.exp(1 - 8 / 4), abs=1e-9)


@pytest.mark.parametrize(
    ("candidate", "unigrams", "bigrams"),
    [
        (
            "It is a guide to action which ensures that the military always obeys the commands of the party",
            (17, 18),
            (10, 17),
        ),
        (
            "It is to insure the troops forever hearing the activity guidebook that party direct",
            (8, 14),
            (1, 13),
        ),
    ],
)
def test_modified_precisions_of_the_paper(candidate, unigrams, bigrams):
    """Papineni et al., ACL 2002, section 2.1, examples 1 and 2."""
    references = [
        "It is a guide to action that ensures that the military will forever heed Party commands",
        "It is the guiding principle which guarantees the military forces always being under the command of the Party",
        "It is the practical guide for the army always to heed the directions of the party",
    ]
    statistics = _statistics(candidate, references)
    assert (statistics[0], statistics[4]) == unigrams
    assert (statistics[1], statistics[5]) == bigrams


def test_matches_are_clipped():
    """Papineni et al., example 2 of section 2.1: two of seven."""
    statistics = _statistics("the the the the the the the", ["the cat is on the mat", "there is a cat on the mat"])
    assert (statistics[0], statistics[4]) == (2, 7)


def test_of_two_references_equally_near_in_length_the_shorter_counts():
    assert _statistics("a b c d", ["a b c d e", "a b c"])[-1] == 3


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@settings(max_examples=80, deadline=None)
@given(rows=st.lists(st.tuples(ANY_TEXT, ANY_TEXT, ANY_TEXT), min_size=1, max_size=4))
def test_equal_to_sacrebleu(tokenizer, rows):
    sentence = sacrebleu.metrics.BLEU(effective_order=True, force=True, tokenize=tokenizer)
    corpus = sacrebleu.metrics.BLEU(force=True, tokenize=tokenizer)
    statistics = [_statistics(response, references, tokenizer) for response, *references in rows]
    for (response, *references), ours in zip(rows, statistics, strict=True):
        assert row_bleu(ours) == pytest.approx(sentence.sentence_score(response, references).score, abs=1e-9)
    responses, first, second = zip(*rows, strict=True)
    summed = [sum(column) for column in zip(*statistics, strict=True)]
    assert corpus_bleu(summed) == pytest.approx(corpus.corpus_score(responses, [first, second]).score, abs=1e-9)


@pytest.mark.parametrize("setting", ["13a", "intl", "zh", "char", "rouge"])
@settings(max_examples=40, deadline=None)
@given(response=ANY_TEXT, references=st.lists(ANY_TEXT.filter(str.strip), min_size=1, max_size=3))
def test_rows_are_sacrebleus_where_a_tokenizer_is_named(make_row, setting, response, references):
    tokenizer = "13a" if setting == "rouge" else setting
    library = sacrebleu.metrics.BLEU(effective_order=True, force=True, tokenize=tokenizer)
    values = bleu_family(setting).compute(make_row(response, references))
    assert values["response/text/bleu"] == pytest.approx(library.sentence_score(response, references).score, abs=1e-9)
    key = "response/text/bleu/corpus" if tokenizer == "13a" else f"response/text/bleu/corpus@{tokenizer}"
    assert set(values) == {"response/text/bleu", key}


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_identical_text_in_any_script_scores_100(make_row, text):
    assert _row_score(make_row(text, text)) == pytest.approx(100, abs=1e-9)
    decomposed = unicodedata.normalize("NFD", text)
    assert _row_score(make_row(decomposed, text)) == pytest.approx(100, abs=1e-9)
    assert _row_score(make_row(text, decomposed)) == pytest.approx(100, abs=1e-9)


@pytest.mark.parametrize(
    ("response", "expected", "score"),
    [
        ("left right", "left right", 100.0),
        ("abd", "abc", 0.0),
        ("", "The dog bit the man.", 0.0),
        ("  ", "Der Hund biß den Mann.", 0.0),
        ("aaa " * 1500, "bbb " * 1500, 0.0),
        ("text", "", None),
        ("text", " \n", None),
        ("text", None, None),
        (None, "text", None),
        ("right", ["wrong", "right"], 100.0),
        ("right", ["", "right"], 100.0),
    ],
)
def test_rows(make_row, response, expected, score):
    values = _BLEU.compute(make_row(response, expected))
    assert values["response/text/bleu"] == (score if score is None else pytest.approx(score, abs=1e-9))
    statistics = [value for name, value in values.items() if name.startswith("response/text/bleu/corpus")]
    assert len(statistics) == len(TOKENIZERS)
    assert sum(value is not None for value in statistics) == (score is not None)


def test_statistics_are_under_the_tokenizer_that_gave_them(make_row):
    plain = _BLEU.compute(make_row("a cat", "a cat"))
    chinese = _BLEU.compute(make_row("猫", "猫"))
    assert plain["response/text/bleu/corpus"] == (2, 1, 0, 0, 2, 1, 0, 0, 2, 2)
    assert chinese["response/text/bleu/corpus"] is None
    assert chinese["response/text/bleu/corpus@zh"] == (1, 0, 0, 0, 1, 0, 0, 0, 1, 1)


def test_only_the_default_tokenizer_is_always_written():
    mean, *corpora = _BLEU.specs
    assert mean.names == (("response/text/bleu/average", "value"),)
    assert [(spec.key, spec.optional) for spec in corpora] == [
        ("response/text/bleu/corpus", False),
        ("response/text/bleu/corpus@intl", True),
        ("response/text/bleu/corpus@zh", True),
        ("response/text/bleu/corpus@char", True),
    ]
    assert all(spec.kind is MetricKind.CORPUS and spec.scorer == "bleu" for spec in corpora)
    assert [(column.name, column.type) for column in _BLEU.columns] == [("response/text/bleu", ColumnType.FLOAT)]


def test_corpus_of_nothing_is_zero():
    assert corpus_bleu([0] * 10) == 0.0


@pytest.mark.parametrize(
    ("name", "n_cases"), [("sacrebleu_cases", 38), ("sacrebleu_multilingual_computed", 138)], ids=["own", "computed"]
)
def test_published_values(shared_lines, name, n_cases):
    """sacrebleu's own tests. Our statistics serve for every setting; of the smoothing methods `exp` is ours."""
    cases = [case for case in shared_lines(f"data/reference_bleu_chrf_ter/{name}.jsonl") if case["metric"] == "bleu"]
    for case in cases:
        score = _score_with(case["params"], case["hypotheses"], case["references"])
        scale = 0.01 if case["scale"] == "0-1" else 1.0
        assert score * scale == pytest.approx(case["expected"], abs=case["tolerance"]), case
    assert len(cases) == n_cases


def _score_with(wanted, hypotheses, references):
    order = wanted.get("max_ngram_order", 4)
    tokenize = str.split if wanted["tokenize"] == "none" else lambda text: bleu_tokens(text, wanted["tokenize"])
    texts = [hypotheses, *references]
    if wanted.get("lowercase"):
        texts = [[text.lower() for text in stream] for stream in texts]
    rows = [[tokenize(text) for text in row] for row in zip(*texts, strict=True)]
    statistics = [bleu_statistics(response, others, order) for response, *others in rows]
    summed = [sum(column) for column in zip(*statistics, strict=True)]
    effective_order = wanted.get("effective_order", False)
    if wanted["smooth_method"] == "exp":
        return row_bleu(summed) if effective_order else corpus_bleu(summed)
    return sacrebleu.metrics.BLEU.compute_bleu(
        correct=summed[:order],
        total=summed[order:-2],
        sys_len=summed[-2],
        ref_len=summed[-1],
        smooth_method=wanted["smooth_method"],
        smooth_value=wanted.get("smooth_value"),
        effective_order=effective_order,
        max_ngram_order=order,
    ).score


@pytest.mark.filterwarnings("ignore:[\\s\\S]*The hypothesis contains 0 counts")
def test_published_values_of_nltk(shared_lines):
    """nltk's documentation: its smoothing methods, applied to our statistics."""
    cases = [case for case in shared_lines("data/reference_nltk/nltk_cases.jsonl") if case["metric"] == "sentence_bleu"]
    for case in cases:
        weights = case["params"].get("weights", [0.25] * 4)
        order = len(weights)
        statistics = bleu_statistics(case["hypothesis"], case["references"], order)
        precisions = [
            bleu_score.Fraction(matched, max(1, total), _normalize=False)
            for matched, total in zip(statistics[:order], statistics[order:-2], strict=True)
        ]
        smooth = getattr(bleu_score.SmoothingFunction(), case["params"].get("smoothing", "method0"))
        smoothed = smooth(
            precisions, references=case["references"], hypothesis=case["hypothesis"], hyp_len=statistics[-2]
        )
        penalty = bleu_score.brevity_penalty(statistics[-1], statistics[-2])
        logs = (weight * math.log(precision) for weight, precision in zip(weights, smoothed, strict=True))
        assert penalty * math.exp(math.fsum(logs)) == pytest.approx(case["expected"], abs=case["tolerance"]), case
    assert len(cases) == 12


@pytest.mark.parametrize(
    ("fault", "score"), [("B64", None), ("B65", 0.0), ("B67", 100.0), ("B68", 0.0)], ids=["B64", "B65", "B67", "B68"]
)
def test_reported_faults(make_row, reported_fault, fault, score):
    given_texts = reported_fault(fault)
    row = make_row(given_texts["response"], given_texts["expected_response"])
    assert _row_score(row) == (score if score is None else pytest.approx(score, abs=1e-9))
