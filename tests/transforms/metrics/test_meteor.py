"""METEOR: by hand, nltk's own examples, nltk as the oracle with and without synonyms, and text in any script."""

import unicodedata
import warnings

import nltk
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_texts import ANY_TEXT, ANY_WORDS, SCRIPTS
from nltk.corpus.reader import WordNetCorpusReader
from nltk.translate.meteor_score import meteor_score

from beamjudge.transforms.metrics.text import meteor as meteor_module
from beamjudge.transforms.metrics.text import synonyms as synonyms_module
from beamjudge.transforms.metrics.text.meteor import meteor, meteor_family
from beamjudge.transforms.metrics.text.tokenizers import bleu_tokens

_COLUMN = "response/text/meteor"


class _NoWordNet:
    """nltk's third stage without data: no word has a synonym."""

    def synsets(self, word):
        return []


@pytest.fixture(scope="module")
def small_wordnet(tmp_path_factory):
    """A WordNet of three synsets, written by this test in WordNet's own format."""
    data = tmp_path_factory.mktemp("nltk_data")
    folder = data / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    synsets = [["car", "automobile", "motor_car"], ["couch", "sofa"], ["run", "sprint"]]
    lines, offset, index = [], 0, {}
    for words in synsets:
        entries = " ".join(f"{word} 0" for word in words)
        line = f"{offset:08d} 03 n {len(words):02x} {entries} 000 | a gloss\n"
        for word in words:
            index.setdefault(word, []).append(offset)
        lines.append(line)
        offset += len(line)
    (folder / "data.noun").write_text("".join(lines))
    (folder / "index.noun").write_text(
        "".join(
            f"{word} n {len(offsets)} 0 {len(offsets)} 0 {' '.join(f'{at:08d}' for at in offsets)}\n"
            for word, offsets in sorted(index.items())
        )
    )
    for part in ("verb", "adj", "adv"):
        (folder / f"data.{part}").write_text("")
        (folder / f"index.{part}").write_text("")
    for part in ("noun", "verb", "adj", "adv"):
        (folder / f"{part}.exc").write_text("")
    (folder / "index.sense").write_text("")
    (folder / "lexnames").write_text("".join(f"{n:02d}\tname{n}\t1\n" for n in range(4)))
    nltk.data.path.insert(0, str(data))  # nltk reads nowhere else
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has one language only
        reader = WordNetCorpusReader(str(folder), None)
    yield reader
    nltk.data.path.remove(str(data))


def _words(text):
    return text.split()


def test_by_hand():
    """Four of five words, of four, in two runs: `the cat` and `on mats`, which stems match."""
    response, reference = _words("the cat sat on mats"), _words("the cat on mat")
    precision, recall = 4 / 5, 4 / 4
    mean = precision * recall / (0.9 * precision + 0.1 * recall)
    assert meteor(response, reference) == pytest.approx((1 - 0.5 * (2 / 4) ** 3) * mean, abs=1e-12)


@settings(max_examples=250, deadline=None)
@given(response=ANY_WORDS, reference=ANY_WORDS)
def test_equal_to_nltk_without_synonyms(response, reference):
    assert meteor(response, reference) == pytest.approx(
        meteor_score([reference], response, wordnet=_NoWordNet()), abs=1e-12
    )


@settings(max_examples=150, deadline=None)
@given(
    texts=st.tuples(
        *[
            st.lists(
                st.sampled_from(_words("car automobile motor_car couch sofa Sofas run sprint running x")), max_size=9
            )
        ]
        * 2
    )
)
def test_equal_to_nltk_with_synonyms(with_small_wordnet, small_wordnet, texts):
    response, reference = texts
    library = meteor_score([reference], response, wordnet=small_wordnet)
    assert meteor(response, reference, with_synonyms=True) == pytest.approx(library, abs=1e-12)


@pytest.fixture(scope="module")
def with_small_wordnet(small_wordnet):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(synonyms_module, "_wordnet", lambda: small_wordnet)
        synonyms_module.synonyms.cache_clear()
        yield
    synonyms_module.synonyms.cache_clear()


def test_synonyms_match_only_where_wordnet_is(with_small_wordnet):
    assert meteor(["couch"], ["sofa"]) == 0.0
    assert meteor(["couch"], ["sofa"], with_synonyms=True) == pytest.approx(0.5, abs=1e-12)
    # As in nltk it is the stem that is looked up, and no word is spelled automobil.
    assert meteor(["automobile"], ["car"], with_synonyms=True) == 0.0


@settings(max_examples=60, deadline=None)
@given(response=ANY_TEXT, references=st.lists(ANY_TEXT.filter(str.strip), min_size=1, max_size=3))
def test_rows_take_the_best_reference(make_row, response, references):
    tokens = [bleu_tokens(text, "13a") for text in (response, *references)]
    library = meteor_score(tokens[1:], tokens[0], wordnet=_NoWordNet())
    assert meteor_family("13a").compute(make_row(response, references))[_COLUMN] == pytest.approx(library, abs=1e-12)


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_identical_text_in_any_script_is_near_1(make_row, text):
    """One chunk of n words costs 0.5 / n^3: half the score of a single word."""
    decomposed = unicodedata.normalize("NFD", text)
    for response, expected in ((text, text), (decomposed, text), (text, decomposed)):
        score = meteor_family("auto").compute(make_row(response, expected))[_COLUMN]
        assert score in [pytest.approx(1 - 0.5 / n**3, abs=1e-12) for n in range(1, len(text) + 1)]


@pytest.mark.parametrize(
    ("response", "expected", "score"), [("", "text", 0.0), ("text", " ", None), (None, "text", None), ("a", "b", 0.0)]
)
def test_rows(make_row, response, expected, score):
    assert meteor_family("auto").compute(make_row(response, expected)) == {_COLUMN: score}


@pytest.mark.parametrize(("installed", "stages"), [(False, "exact+stem"), (True, "exact+stem+wordnet")])
def test_the_signature_says_which_words_match(monkeypatch, installed, stages):
    monkeypatch.setattr(meteor_module, "wordnet_is_installed", lambda: installed)
    family = meteor_family("auto")
    assert f"|match:{stages}|" in family.signatures[f"{_COLUMN}/average"]
    assert family.compute.with_synonyms is installed


@pytest.mark.parametrize("name", ["wordnet", "wordnet.zip"])
def test_wordnet_is_found_where_nltk_looks(monkeypatch, tmp_path, name):
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    monkeypatch.setattr(synonyms_module.sys, "prefix", str(tmp_path / "nowhere"))
    assert not synonyms_module.wordnet_is_installed()
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora" / name).touch()
    assert synonyms_module.wordnet_is_installed()


def test_published_values(shared_lines):
    """nltk's documentation; these words match the same with and without WordNet."""
    cases = [case for case in shared_lines("data/reference_nltk/nltk_cases.jsonl") if case["metric"] == "meteor"]
    for case in cases:
        score = max(meteor(case["hypothesis"], reference) for reference in case["references"])
        assert score == pytest.approx(case["expected"], abs=case["tolerance"]), case
    assert len(cases) == 3
