"""Which tokenizer a text gets, and that each gives what the library of its name gives."""

import itertools
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score import tokenize as rouge_library
from sacrebleu.metrics import BLEU

from beamjudge.transforms.metrics.text.tokenizers import (
    TOKENIZERS,
    ascii_words,
    bleu_tokens,
    choose_tokenizer,
    count_words,
    split_unspaced,
    to_nfc,
    unicode_words,
)

_ORACLES = {name: BLEU(tokenize=name, force=True).tokenizer for name in TOKENIZERS}
# Pieces that the tokenizers treat in a way of their own, beside any text at all.
_PIECES = st.sampled_from(
    [
        *("the", "a", " ", "  ", "\n", "-\n", "\t", "1", "12.5", "1,000", "3-4", "x-y", ".", "..", ",", ".,", "-"),
        *("&amp;", "&quot;", "&lt;", "&", "<skipped>", "[", "\\", "]", "^", "_", "`", "{", "~", "$", "/", ":", "@"),
        *("'", '"', "!", "中", "文", "，", "。", "あ", "ก", "é", "“", "—", "€", "٣", "१", "😀", "\U00020000"),
        *("\u00a0", "\u2003", "\u3000"),
    ]
)
TEXT = st.one_of(st.lists(_PIECES, max_size=20).map("".join), st.text(max_size=20))


@pytest.mark.parametrize("name", TOKENIZERS)
@settings(max_examples=200, deadline=None)
@given(text=TEXT)
def test_bleu_tokens_are_those_of_sacrebleu(name, text):
    assert bleu_tokens(text, name) == _ORACLES[name](text.rstrip()).split()


@settings(max_examples=200, deadline=None)
@given(text=TEXT)
def test_rouge_tokens_are_those_of_rouge_score(text):
    assert ascii_words(text) == rouge_library.tokenize(text, None)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("It's 3.5% of 1,000-2,000.", ["It's", "3.5", "%", "of", "1,000", "-", "2,000", "."]),
        ("well-known, e.g. this", ["well-known", ",", "e", ".", "g", ".", "this"]),
        ("&lt;b&gt; &quot;x&quot;", ["<", "b", ">", '"', "x", '"']),
    ],
)
def test_13a_by_hand(text, tokens):
    assert bleu_tokens(text, "13a") == tokens


@pytest.mark.parametrize(
    ("texts", "tokenizer"),
    [
        (["plain ASCII", "more of it"], "13a"),
        (["", "ASCII"], "13a"),
        (["naïve", "naive"], "13a"),
        (["It’s “done” — and it costs 5 €.", "It is done."], "13a"),
        (["Où est la bibliothèque\u202f?", "L’école est fermée."], "13a"),
        (["Chúng tôi không biết điều đó."], "13a"),
        (["İstanbul'da güneş doğdu", "Zażółć gęślą jaźń"], "13a"),
        (["12 µm", "12 µ"], "13a"),
        (["42 €", "43 €"], "13a"),
        (["The word Москва means Moscow."], "13a"),
        (["Москва (Moscow) — столица России.", "Moscow"], "intl"),
        (["Ποιος είναι εκεί;"], "intl"),
        (["Привет, мир!"], "intl"),
        (["مرحبا بالعالم"], "intl"),
        (["नमस्ते दुनिया"], "intl"),
        (["안녕하세요 세계"], "intl"),
        (["你好，世界"], "zh"),
        (["使用 pandas 读取数据"], "zh"),
        (["今日はとても良い天気です"], "char"),
        (["東京タワー"], "char"),
        (["สวัสดี"], "char"),
        (["សួស្តីពិភពលោក"], "char"),
        (["ສະບາຍດີ"], "char"),
        (["မင်္ဂလာပါ"], "char"),
        (["😀👍🏽"], "char"),
        (["great 😀", "great"], "13a"),
        (["The word 你好 means hello in Chinese."], "13a"),
        (["An English answer of a few words", "这是一个用中文写成的参考答案，有很多字"], "zh"),
    ],
)
def test_the_tokenizer_follows_the_script(texts, tokenizer):
    assert {choose_tokenizer(order) for order in itertools.permutations(texts)} == {tokenizer}


@settings(max_examples=100, deadline=None)
@given(first=TEXT, second=TEXT)
def test_the_choice_is_symmetric(first, second):
    assert choose_tokenizer([first, second]) == choose_tokenizer([second, first])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Straße und CAFÉ, ja!", ["strasse", "und", "café", "ja"]),
        ("สวัสดี", ["ส", "วั", "ส", "ดี"]),
        ("用 Pandas 2 读取", ["用", "pandas", "2", "读", "取"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("안녕 세계", ["안녕", "세계"]),
        ("gut 👍🏽 ❤️ für 5 €", ["gut", "👍", "🏽", "❤", "für", "5", "€"]),
        ("می‌خواهم", ["می‌خواهم"]),
        ("«да» — нет…", ["да", "нет"]),
    ],
)
def test_words_of_unicode_text(text, words):
    assert unicode_words(to_nfc(text)) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("two words", ["two", "words"]),
        ("Ça va? bien", ["Ça", "va?", "bien"]),
        ("你好，世界", ["你", "好", "，", "世", "界"]),
        ("用 pandas3读取", ["用", "pandas3", "读", "取"]),
        ("สวัสดี ok", ["ส", "วั", "ส", "ดี", "ok"]),
    ],
)
def test_only_unspaced_scripts_are_taken_apart(text, words):
    assert split_unspaced(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("two words", 2),
        ("well-known - fact", 3),
        ("Ça va bien", 3),
        ("你好，世界", 4),
        ("你好 pandas 3.0。", 4),
        ("สวัสดี", 4),
        ("😀 👍", 2),
    ],
)
def test_count_words(text, words):
    assert count_words(text) == words


def test_nfc():
    assert to_nfc(unicodedata.normalize("NFD", "Ünïcode 각")) == "Ünïcode 각"
    ascii_text = "as it is"
    assert to_nfc(ascii_text) is ascii_text
