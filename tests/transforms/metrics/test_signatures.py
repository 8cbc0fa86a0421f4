"""Signatures: sacrebleu's own, settings that are ours, and every text metric has one that was made with a library."""

from importlib import metadata

import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from beamjudge.schemas.run_config import RunConfig
from beamjudge.transforms.metrics.registry import signatures
from beamjudge.transforms.metrics.text.signatures import NLTK, ROUGE_SCORE, SACREBLEU
from beamjudge.transforms.plan import plan_run


def _signatures(**settings):
    return signatures(plan_run(RunConfig(input=["log.jsonl"], output="out", judges=["none"], **settings)))


def _library(metric):
    metric.corpus_score(["a b", "c"], [["a b", "c"], ["x", None]])  # rows with two references and with one
    return str(metric.get_signature())


@pytest.mark.parametrize("tokenizer", ["13a", "intl", "zh", "char"])
def test_bleu(tokenizer):
    key = "response/text/bleu/corpus" if tokenizer == "13a" else f"response/text/bleu/corpus@{tokenizer}"
    expected = _library(BLEU(tokenize=tokenizer))
    assert expected.startswith("nrefs:var|")
    assert _signatures(metrics=["bleu"])[key] == expected
    named = _signatures(metrics=["bleu"], text_tokenizer=tokenizer)
    assert named == {
        key: expected,
        "response/text/bleu/average": _library(BLEU(tokenize=tokenizer, effective_order=True)),
    }


def test_chrf():
    made = _signatures(metrics=["chrf", "chrfpp"])
    for name, word_order in (("chrf", 0), ("chrfpp", 2)):
        expected = _library(CHRF(word_order=word_order))
        assert made[f"response/text/{name}/corpus"] == made[f"response/text/{name}/average"] == expected


def test_ter():
    assert _signatures(metrics=["ter"])["response/text/ter/corpus"] == _library(TER())
    assert "|tok:zh|" in _signatures(metrics=["ter"])["response/text/ter/corpus@zh"]
    assert _signatures(metrics=["ter"], text_tokenizer="13a")["response/text/ter/average"] == _library(TER())


def test_rouge_stands_for_the_libraries_defaults():
    assert _signatures(metrics=["bleu"], text_tokenizer="rouge")["response/text/bleu/corpus"] == _library(BLEU())
    assert "|tok:rouge|" in _signatures(metrics=["rouge"], text_tokenizer="rouge")["response/text/rouge1/average"]
    assert "|stem:porter|" in _signatures(metrics=["rouge"], rouge_stemmer=True)["response/text/rougeL/average"]


def test_the_releases_are_those_that_tests_compare_with():
    released = {name: metadata.version(name) for name in ("sacrebleu", "rouge-score", "nltk")}
    assert released == {"sacrebleu": SACREBLEU, "rouge-score": ROUGE_SCORE, "nltk": NLTK}


def test_text_metrics_of_libraries_have_one_each():
    made = _signatures(metrics=["text", "ter"])
    for name in ("bleu", "chrf", "chrfpp", "ter"):
        assert {f"response/text/{name}/average", f"response/text/{name}/corpus"} <= made.keys()
    for name in ("rouge1", "rouge2", "rougeL", "rougeLsum", "meteor", "exact_match", "token_f1"):
        assert f"response/text/{name}/average" in made
    without = [name for name, signature in made.items() if "|version:" not in signature]
    assert without == ["response/text/edit_similarity/average"]  # of no library


def test_edit_similarity_says_whether_texts_were_composed():
    key = "response/text/edit_similarity/average"
    for tokenizer, norm in (("auto", "nfc"), ("13a", "no"), ("rouge", "no")):
        made = _signatures(metrics=["edit_similarity"], text_tokenizer=tokenizer)
        assert made == {key: f"distance:levenshtein|norm:{norm}"}
