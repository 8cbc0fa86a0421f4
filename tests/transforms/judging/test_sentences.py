"""Sentence borders, worked out by hand for many scripts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamjudge.transforms.judging.sentences import split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One is red. Two is blue! Is it? Yes.", ["One is red.", "Two is blue!", "Is it?", "Yes."]),
        ("Dr. Smith paid $3.50 to J. K. Moe. He left.", ["Dr. Smith paid $3.50 to J. K. Moe.", "He left."]),
        ("See Fig. 3 of v1.2.3 at example.com. Done!!!", ["See Fig. 3 of v1.2.3 at example.com.", "Done!!!"]),
        (
            "The U.S. Army came. He lives in the U.S. The end.",
            ["The U.S. Army came.", "He lives in the U.S.", "The end."],
        ),
        ("Bring pens, e.g. two red ones, etc. and paper.", ["Bring pens, e.g. two red ones, etc. and paper."]),
        (
            "The answer is no. The ship No. 5 sank on Jan. 7 then.",
            ["The answer is no.", "The ship No. 5 sank on Jan. 7 then."],
        ),
        ("Am 3. Oktober kam z. B. ein Brief. Er war kurz.", ["Am 3. Oktober kam z. B. ein Brief.", "Er war kurz."]),
        ('"Really?" she asked. "Yes." Then he left.', ['"Really?" she asked.', '"Yes."', "Then he left."]),
        ("Wait... what? I see… Then go.", ["Wait... what?", "I see…", "Then go."]),
        ("It is big.[1] It is old. [2] It is wet.", ["It is big.[1]", "It is old. [2]", "It is wet."]),
        ("**Bold claim.** Next one.", ["**Bold claim.**", "Next one."]),
        (
            "今日は晴れ。「そうだ。」と言った。本当？はい！",
            ["今日は晴れ。", "「そうだ。」と言った。", "本当？", "はい！"],
        ),
        ("这是一句.那是另一句。圆周率是３．１４。", ["这是一句.", "那是另一句。", "圆周率是３．１４。"]),
        ("यह एक है। वह दो है॥ ठीक।", ["यह एक है।", "वह दो है॥", "ठीक।"]),
        ("هل هذا صحيح؟ نعم. انتهى", ["هل هذا صحيح؟", "نعم.", "انتهى"]),
        ("یہ ایک ہے۔ وہ دو ہیں۔", ["یہ ایک ہے۔", "وہ دو ہیں۔"]),
        ("នេះជាផ្ទះ។ វាធំ។", ["នេះជាផ្ទះ។", "វាធំ។"]),
        ("Это дом. Он стоит на ул. Мира.", ["Это дом.", "Он стоит на ул. Мира."]),
        ("สวัสดีครับ ผมชื่อเอ\nยินดีที่ได้รู้จัก", ["สวัสดีครับ ผมชื่อเอ", "ยินดีที่ได้รู้จัก"]),
        (
            "# Title\n\n- one\n* two\n1. First. Second\n---\n> cited",
            ["Title", "one", "two", "First.", "Second", "cited"],
        ),
        ("```python\nx = 1\n```", ["x = 1"]),
        (
            "This line of prose was wrapped at the margin\nand goes on here.\nNext",
            ["This line of prose was wrapped at the margin and goes on here.", "Next"],
        ),
        ("apples\npears", ["apples", "pears"]),
        ("...", ["..."]),
        ("👍", ["👍"]),
        ("", []),
        (" \n\t", []),
    ],
)
def test_borders(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@settings(max_examples=100)
@given(st.text())
def test_a_text_that_is_not_blank_has_a_sentence_and_none_is_blank(text: str) -> None:
    sentences = split_sentences(text)
    assert bool(sentences) == bool(text.strip())
    assert all(sentence == sentence.strip() and sentence for sentence in sentences)


@pytest.mark.parametrize("unit", [".", "a. ", "[1", "- ", '."', "。[1] ", "\n", "1. ", "().)]", ". - ", "Aa. - "])
def test_hostile_text_is_split_in_one_pass(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    assert bool(split_sentences(text)) == bool(text.strip())  # a quadratic splitter would take minutes
