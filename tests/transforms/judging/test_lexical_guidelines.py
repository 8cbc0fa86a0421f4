"""The forms of guidelines that rules understand, and the honest answer for the others."""

import pytest

from beamjudge.schemas.assessment import Outcome
from beamjudge.transforms.judging.lexical import answer
from beamjudge.transforms.judging.lexical.guidelines import follows
from beamjudge.transforms.judging.lexical.language import is_in_language
from beamjudge.transforms.judging.question import JudgeInputs, Question


@pytest.mark.parametrize(
    ("guideline", "response", "kept"),
    [
        ("The response must be in English.", "The dog is in the garden.", True),
        ("The response must be in English.", "Der Hund ist im Garten.", False),
        ("The response must not be in English.", "Der Hund ist im Garten.", True),
        ("Always answer in French", "Le chat est sur la table.", True),
        ("Respond in Thai.", "สวัสดีครับ", True),
        ("Respond in Thai.", "Hello there, my friend", False),
        ("The answer must be at most 5 words.", "one two three four five six", False),
        ("The answer must be at most 5 words.", "one two three four five", True),
        ("Keep it under 3 words", "one two three", False),
        ("Answer in 3 words or less", "one two three", True),
        ("No more than 2 sentences.", "One. Two. Three.", False),
        ("The response must not exceed 10 characters", "abcdefghij", True),
        ("The response must not exceed 10 characters", "abcdefghijk", False),
        ("Use between 2 and 4 words", "a b c", True),
        ("Use between 2 and 4 words", "a b c d e", False),
        ("The response must be one sentence.", "Here I am.", True),
        ("The response should have exactly two paragraphs.", "One.\n\nTwo.", True),
        ("Exactly 3 bullet points", "- a\n- b\n- c", True),
        ("The response must be valid JSON.", '{"a": [1, 2]}', True),
        ("The response must be valid JSON.", '```json\n{"a": 1}\n```', True),
        ("The response must be valid JSON.", "{'a': 1}", False),
        ("Do not use emojis.", "Well done 🎉", False),
        ("Use no emojis", "Well done", True),
        ("The response must contain the phrase 'thank you'.", "Thank you, Ann!", True),
        ("The response must contain the word 'cat'", "A category", False),
        ("The response must contain 'cat'", "A category", True),
        ("It must not contain the character 'z'.", "Pizza", False),
        ("Must not contain 'foo' and 'bar'", "a bar", False),
        ("Must contain 'foo' or 'bar'", "a bar", True),
        ("The response must contain 'foo' or not contain 'bar'.", "neither", True),
        ("The response must contain 'foo' or not contain 'bar'.", "a bar", False),
        ("The response must start with 'Dear' and end with 'Regards'", "Dear Ann, hello. Regards", True),
        ("The response must start with 'Dear' and end with 'Regards'", "Hello Ann. Regards", False),
        ("The first word must be 'Well'", "Well, no.", True),
        ("The response must have the first and last words being 'well' and 'no'", "Well, no.", True),
        ("The response must be written in uppercase", "HELLO 1", True),
        ("Write in lowercase.", "Hello", False),
        ("The response must end with a question", "Is it so?", True),
        ("Do not ask questions", "Why?", False),
        ("The response must contain a URL", "See https://example.org", True),
        ("Do not mention Acme Corp.", "I like Acme Corp", False),
        ("Do not mention Acme Corp.", "I like tea", True),
        ("Mention the refund policy", "Our refund policy is simple", True),
        ("Mention the refund policy", "Hello", False),
        # What no rule can tell.
        ("Do not mention competitors.", "We are good", None),
        ("The response should be polite.", "Hello", None),
        ("The response must be concise and in English.", "It is the one.", None),
        ("", "Hello", None),
        ("The response must be in English.", "123", None),
    ],
)
def test_follows(guideline: str, response: str, kept: bool | None) -> None:
    assert follows(guideline, response) is kept


@pytest.mark.parametrize("judge", ["guideline_adherence", "global_guideline_adherence"])
@pytest.mark.parametrize(
    ("guidelines", "response", "outcome", "rating"),
    [
        (("Use no emojis.", "Be kind."), "Well 🎉", Outcome.SCORED, "no"),
        (("Use no emojis.", "Be kind."), "Well", Outcome.NOT_APPLICABLE, None),
        (("Use no emojis.", "Use at most 3 words."), "Well", Outcome.SCORED, "yes"),
        (("Be kind.",), " ", Outcome.SCORED, "no"),
        ((), "Well", Outcome.NOT_APPLICABLE, None),
    ],
)
def test_one_broken_guideline_is_a_no_and_an_unknown_one_is_not_applicable(
    judge: str, guidelines: tuple[str, ...], response: str, outcome: Outcome, rating: str | None
) -> None:
    verdict = answer(Question(judge, JudgeInputs("?", response=response, guidelines=guidelines)))
    assert (verdict.outcome, verdict.rating) == (outcome, rating)


def test_the_rationale_names_the_guideline_that_is_broken_or_not_understood() -> None:
    broken = answer(Question("guideline_adherence", JudgeInputs("?", response="🎉", guidelines=("Use no emojis.",))))
    assert broken.rationale == 'Lexical rules: the response breaks "Use no emojis.".'
    unknown = answer(Question("guideline_adherence", JudgeInputs("?", response="x", guidelines=("Be kind.",))))
    assert unknown.rationale == 'Lexical rules: cannot check "Be kind.".'


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Die Katze schläft auf dem Sofa.", "german", True),
        ("Kedi kanepede uyuyor ve çok mutlu.", "turkish", True),
        ("El gato duerme en el sofá.", "spanish", True),
        ("El gato duerme en el sofá.", "english", False),
        ("Кошка спит на диване, и это хорошо.", "russian", True),
        ("القطة تنام على الأريكة", "arabic", True),
        ("القطة تنام على الأريكة", "english", False),
        ("猫在沙发上睡觉。", "chinese", True),
        ("猫はソファで寝ています。", "chinese", False),
        ("猫はソファで寝ています。", "japanese", True),
        ("猫在沙发上睡觉，它非常喜欢这里。", "japanese", False),
        ("고양이가 소파에서 자고 있다.", "korean", True),
        ("Η γάτα κοιμάται.", "greek", True),
        ("बिल्ली सोफे पर सो रही है।", "hindi", True),
        ("42 %", "english", None),
        ("Xyzzy", "english", None),
        ("Kissa nukkuu sohvalla.", "finnish", None),  # no list of Finnish function words
    ],
)
def test_is_in_language(text: str, language: str, expected: bool | None) -> None:
    assert is_in_language(text, language) is expected
