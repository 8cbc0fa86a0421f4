"""What holds of the lexical judge for any text: it answers, always the same, and without delay on hostile input."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamjudge.schemas.assessment import Outcome
from beamjudge.schemas.judges import BUILT_IN_JUDGES
from beamjudge.schemas.row import Turn
from beamjudge.transforms.judging.lexical import answer
from beamjudge.transforms.judging.question import JudgeInputs, Question

JUDGES = tuple(spec.name for spec in BUILT_IN_JUDGES)
# Any code point, lone surrogates too, and texts that come near to what the rules look for.
ANY_TEXT = st.text(alphabet=st.characters(), max_size=60)
PIECES = st.lists(
    st.sampled_from(
        [
            *("The response must ", "not ", "contain ", "'x'", '"', "“", " or ", " and ", "be in English", "no ", "- "),
            *(
                "12,000",
                "1:00:",
                "kill ",
                "my neighbour",
                "I cannot help",
                "北京",
                "は",
                "\n",
                "```",
                "{",
                "½",
                "²",
                "٣",
            ),
            *("İ", "ǆ", "'", "’s", "/", "?"),
        ]
    ),
    max_size=12,
).map("".join)
TEXTS = ANY_TEXT | PIECES
TUPLES = st.lists(TEXTS, max_size=3).map(tuple)
INPUTS = st.builds(
    JudgeInputs,
    request=TEXTS,
    history=st.lists(st.builds(Turn, role=st.just("user"), text=TEXTS), max_size=1).map(tuple),
    response=st.none() | TEXTS,
    context=TUPLES,
    expected_responses=TUPLES,
    expected_facts=TUPLES,
    guidelines=TUPLES,
)


@settings(max_examples=150, deadline=None)
@given(INPUTS)
def test_any_text_gets_a_verdict_of_the_rules_that_is_the_same_again(inputs: JudgeInputs) -> None:
    for judge in JUDGES:
        verdict = answer(Question(judge, inputs))
        assert verdict.outcome in (Outcome.SCORED, Outcome.NOT_APPLICABLE)
        assert verdict.rationale is not None
        assert verdict.rationale.startswith("Lexical rules: ")
        assert (verdict.rating is None) is (verdict.outcome is Outcome.NOT_APPLICABLE)
        assert verdict.score is None or 0 <= verdict.score <= 1
        assert answer(Question(judge, inputs)) == verdict


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="abcdefgh 北京大学мирكتاب.", min_size=1, max_size=80))
def test_a_response_is_supported_by_itself_and_agrees_with_itself(text: str) -> None:
    inputs = JudgeInputs("?", response=text, context=(text,), expected_responses=(text,))
    for judge in ("groundedness", "fact_check", "relevancy"):
        assert answer(Question(judge, inputs)).rating in ("yes", None)
    if text.strip():
        assert answer(Question("correctness", inputs)).rating == "yes"


# One judge each for the paths that a text can take; rules that went back over the text would take hours here.
@pytest.mark.parametrize("judge", ["groundedness", "correctness", "guideline_adherence", "safety"])
@pytest.mark.parametrize(
    "unit", [" ", "!", "'", "1,", "kill people ", "犬が", "\n   ", "\u0301", "a/b ", "<a", "\ud800"]
)
def test_a_long_hostile_text_completes(judge: str, unit: str) -> None:
    text = unit * (200_000 // len(unit))
    guidelines = ("Be " + text, "It must be JSON.", "Use at most 3 words.", "Use no tables.", "Do not use markdown.")
    inputs = JudgeInputs(
        text, response=text, context=("A short one.",), expected_responses=(text,), guidelines=guidelines
    )
    assert answer(Question(judge, inputs)).outcome is not Outcome.ERROR


def test_a_long_context_completes() -> None:
    context = ("the quick brown fox " * 10_000,)
    verdict = answer(Question("groundedness", JudgeInputs("?", response="The quick brown fox.", context=context)))
    assert verdict.rating == "yes"
