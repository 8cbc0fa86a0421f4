"""How texts become comparable words: numbers, stems, scripts without spaces, names, negations."""

import pytest

from beamjudge.transforms.judging.lexical.evidence import evidence
from beamjudge.transforms.judging.lexical.tokens import Kind, number_key, stem, words


@pytest.mark.parametrize(
    ("number", "key"),
    [
        ("1,000", "1000"),
        ("1.000", "1000"),
        ("1,234.50", "1234.5"),
        ("1.234,50", "1234.5"),
        ("3,5", "3.5"),
        ("2.50", "2.5"),
        ("007", "7"),
        ("0", "0"),
        ("1.2.3", "1.2.3"),
        ("7:00", "7"),
        ("7:30", "7:30"),
        ("१२", "12"),
        ("٣", "3"),
    ],
)
def test_number_key(number: str, key: str) -> None:
    assert number_key(number) == key


@pytest.mark.parametrize(
    "forms",
    [
        ["play", "plays", "played", "playing"],
        ["city", "cities"],
        ["box", "boxes"],
        ["stop", "stopped", "stopping"],
        ["make", "makes", "made", "making"],
        ["write", "wrote", "written", "writing"],
        ["user", "users", "user's", "users'"],
        ["zürich", "zurich"],
        ["الكتاب", "كتاب"],
    ],
)
def test_forms_of_a_word_share_a_stem(forms: list[str]) -> None:
    assert len({stem(form.rstrip("'")) for form in forms}) == 1


@pytest.mark.parametrize(("one", "other"), [("sing", "sink"), ("bus", "business"), ("this", "thing")])
def test_different_words_keep_different_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_kinds_of_tokens() -> None:
    kinds = {
        token.surface: token.kind for token in words("Yesterday the mayor met Anna in 1999 and the 2nd of May").tokens
    }
    assert kinds["the"] is Kind.FUNCTION
    assert kinds["mayor"] is Kind.WORD
    assert kinds["Yesterday"] is Kind.WORD  # a capital at the start of a sentence makes no name
    assert kinds["Anna"] is Kind.NAME
    assert kinds["1999"] is Kind.NUMBER
    assert kinds["2"] is Kind.NUMBER


def test_scripts_without_spaces_become_pairs_of_characters() -> None:
    assert [token.key for token in words("北京大学").content] == ["北京", "京大", "大学"]
    assert [token.key for token in words("犬が公園").content] == ["犬", "公園"]
    assert [token.key for token in words("แมว").content] == ["แม", "มว"]


def test_vowel_signs_belong_to_their_word() -> None:
    assert [token.surface for token in words("हिन्दी किताब").tokens] == ["हिन्दी", "किताब"]


def test_compatibility_forms_and_case_do_not_matter() -> None:
    assert words("ＦＵＬＬ １２").keys == words("full 12").keys


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The dog is in the garden.", "en"),
        ("Der Hund ist nicht im Garten.", "de"),
        ("Le chien est dans le jardin.", "fr"),
        ("Собака не в саду, и это всё.", "ru"),
        ("12 34", None),
    ],
)
def test_the_language_is_told_by_function_words(text: str, language: str | None) -> None:
    assert words(text).language == language


@pytest.mark.parametrize(
    ("text", "negations"),
    [("It is not here.", 1), ("It isn't here.", 1), ("It isn’t, no.", 2), ("It is here.", 0), ("这不是书。", 1)],
)
def test_negations_are_counted(text: str, negations: int) -> None:
    assert words(text).negations == negations


def test_evidence_counts_words_and_neighbours() -> None:
    index = evidence(("A red car passed the old house. A dog slept.",))
    red_car = words("red car").content
    red_dog = words("red dog").content
    assert (index.coverage(red_car), index.together(red_car), index.support(red_car)) == (1.0, 1.0, 1.0)
    # Both words are there, but in two sentences: half in the best one, and no pair near each other.
    assert index.coverage(red_dog) == 1.0
    assert (index.best_sentence(red_dog), index.together(red_dog), index.support(red_dog)) == ((0.5, 0), 0.0, 0.25)


def test_a_number_with_a_space_after_its_comma_is_found() -> None:
    index = evidence(("It sold 12, 000 copies.",))
    assert not index.missing(words("12,000 copies").content)
    assert [token.surface for token in index.missing(words("12,500 copies").content)] == ["12,500"]
