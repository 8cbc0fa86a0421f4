"""TER: by hand, against sacrebleu with its beam, its ties and its limit, and on text in any script."""

import random
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_texts import ANY_TEXT, SCRIPTS
from sacrebleu.metrics import TER
from sacrebleu.metrics.lib_ter import translation_edit_rate

from beamjudge.schemas.metric import MetricKind
from beamjudge.transforms.metrics.text.ter import edits, ter_family, ter_score, ter_statistics, ter_words

_COLUMN = "response/text/ter"
_WORDS = st.text("abcdefg", max_size=40).map(list)
_AUTO = ter_family("auto")


def _row_score(row, setting="auto"):
    return ter_family(setting).compute(row)[_COLUMN]


@pytest.mark.parametrize(
    ("response", "reference", "n_edits"),
    [
        ("a b c", "a b c", 0),
        ("a b c", "a x c", 1),
        ("a b c d", "c d a b", 1),  # one shift, where words alone would take four
        ("a b", "", 2),
        ("", "a b c", 3),
        ("d a b c", "a b c d e", 2),  # a shift and a word to insert
    ],
)
def test_edits_by_hand(response, reference, n_edits):
    assert edits(response.split(), reference.split()) == n_edits


def test_a_sentence_of_the_paper():
    """Snover et al. 2006, section 3: a shift of `this week`, `Saudi Arabia` for `the Saudis`, `American` missing."""
    response = "this week the saudis denied information published in the new york times"
    reference = "saudi arabia denied this week information published in the american new york times"
    assert edits(response.split(), reference.split()) == 4


@settings(max_examples=250, deadline=None)
@given(response=_WORDS, reference=_WORDS)
def test_edits_are_those_of_sacrebleu(response, reference):
    assert edits(response, reference) == translation_edit_rate(response, reference)[0]


@settings(max_examples=100, deadline=None)
@given(words=_WORDS, seed=st.integers(0, 2**16))
def test_edits_of_shifted_and_changed_texts(words, seed):
    choose = random.Random(seed)
    response = list(words)
    for _ in range(choose.randint(0, 4)):
        start, length = choose.randint(0, len(response)), choose.randint(1, 5)
        moved = response[start : start + length]
        del response[start : start + length]
        target = choose.randint(0, len(response))
        response[target:target] = moved
    for _ in range(choose.randint(0, 4)):
        response.insert(choose.randint(0, len(response)), choose.choice("abz"))
    assert edits(response, words) == translation_edit_rate(response, words)[0]


@pytest.mark.parametrize(
    ("n_response", "n_reference"), [(120, 60), (60, 120), (200, 10), (2, 150), (1, 120), (90, 30), (3, 161)]
)
def test_the_beam_is_sacrebleus(n_response, n_reference):
    """On lengths so unequal the beam hides the cheapest way, and a true edit distance would be another number."""
    choose = random.Random(n_response)
    vocabulary = [f"w{i}" for i in range(400)]
    reference = choose.sample(vocabulary, n_reference)
    response = (reference + choose.sample(vocabulary, n_response))[:n_response]
    for i in choose.sample(range(n_response), n_response // 12):
        response[i] = choose.choice(vocabulary)
    assert edits(response, reference) == translation_edit_rate(response, reference)[0]


def test_the_limit_of_candidates_is_sacrebleus():
    """Texts of few words have more than 1,000 candidates in the first round: no shift is made at all."""
    choose = random.Random(1)
    response, reference = (choose.choices("abcd", k=n) for n in (60, 50))
    assert edits(response, reference) == translation_edit_rate(response, reference)[0]


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.tuples(ANY_TEXT, ANY_TEXT, ANY_TEXT), min_size=1, max_size=4))
def test_rows_and_corpus_are_sacrebleus(rows):
    library = TER()
    statistics = [
        ter_statistics(ter_words(response), [ter_words(reference) for reference in references])
        for response, *references in rows
    ]
    for (response, *references), ours in zip(rows, statistics, strict=True):
        assert ter_score(ours) == pytest.approx(library.sentence_score(response, references).score, abs=1e-9)
    responses, first, second = zip(*rows, strict=True)
    summed = [sum(column) for column in zip(*statistics, strict=True)]
    assert ter_score(summed) == pytest.approx(library.corpus_score(responses, [first, second]).score, abs=1e-9)


@pytest.mark.parametrize("n_references", [3, 7, 17, 18])
def test_the_mean_length_of_references_is_exact(make_row, n_references):
    references = [" ".join("x" * (i + 1)) for i in range(n_references)]
    library = TER().sentence_score("a x b", references).score
    assert _row_score(make_row("a x b", references)) == pytest.approx(library, abs=1e-12)


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_identical_text_in_any_script_scores_0(make_row, text):
    decomposed = unicodedata.normalize("NFD", text)
    for response, expected in ((text, text), (decomposed, text), (text, decomposed)):
        assert _row_score(make_row(response, expected)) == 0.0


def test_letters_are_words_in_scripts_without_spaces(make_row):
    """One of five characters differs; for sacrebleu the texts are a word each, and as far apart as can be."""
    row = make_row("我们明天去", "我们今天去")
    assert _row_score(row) == pytest.approx(20.0, abs=1e-9)
    assert _row_score(row, "13a") == TER().sentence_score("我们明天去", ["我们今天去"]).score == 100.0


@pytest.mark.parametrize(
    ("response", "expected", "score"),
    [("", "one two", 100.0), ("A B", "a b", 0.0), ("text", " ", None), (None, "text", None), ("a b c", "x", 300.0)],
)
def test_rows(make_row, response, expected, score):
    assert _row_score(make_row(response, expected)) == score


def test_statistics_are_under_the_tokenizer_that_gave_them(make_row):
    spaced, chinese = (_AUTO.compute(make_row(text, text)) for text in ("a cat", "猫"))
    assert [name for name, value in spaced.items() if value is not None] == [_COLUMN, f"{_COLUMN}/corpus"]
    assert [name for name, value in chinese.items() if value is not None] == [_COLUMN, f"{_COLUMN}/corpus@zh"]


def test_names_kinds_and_range():
    mean, *corpora = _AUTO.specs
    assert mean.names == ((f"{_COLUMN}/average", "value"),)
    assert [(spec.key, spec.optional) for spec in corpora] == [
        (f"{_COLUMN}/corpus", False),
        (f"{_COLUMN}/corpus@zh", True),
        (f"{_COLUMN}/corpus@char", True),
    ]
    assert all(
        (spec.kind, spec.scorer, spec.low, spec.high) == (MetricKind.CORPUS, "ter", 0.0, None) for spec in corpora
    )
    assert [spec.key for spec in ter_family("zh").specs] == [_COLUMN, f"{_COLUMN}/corpus"]


def test_published_values(shared_lines):
    cases = [
        case for case in shared_lines("data/reference_bleu_chrf_ter/sacrebleu_cases.jsonl") if case["metric"] == "ter"
    ]
    for case in cases:
        rows = zip(case["hypotheses"], *case["references"], strict=True)
        statistics = [ter_statistics(ter_words(row[0]), [ter_words(text) for text in row[1:]]) for row in rows]
        summed = [sum(column) for column in zip(*statistics, strict=True)]
        assert ter_score(summed) == pytest.approx(case["expected"], abs=case["tolerance"]), case
    assert len(cases) == 7
