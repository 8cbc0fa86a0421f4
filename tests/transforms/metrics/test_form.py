"""The form of a response: its length, emptiness, refusals, JSON."""

import dataclasses
import unicodedata

import pytest

from beamjudge.schemas.metric import MetricKind
from beamjudge.transforms.metrics.form import IS_JSON, IS_REFUSAL, LENGTH, is_json_container


def _length(row):
    values = LENGTH.compute(row)
    assert list(values) == [column.name for column in LENGTH.columns]
    return tuple(values.values())


@pytest.mark.parametrize(
    ("response", "characters", "words", "sentences", "is_empty"),
    [
        ("Hello there. How are you?", 25, 5, 2, False),
        ("", 0, 0, 0, True),
        (" \n\t ", 4, 0, 0, True),
        ("今日は晴れ。", 6, 5, 1, False),
        ("用 pandas 读取", 11, 4, 1, False),
        ("Привет, мир!", 12, 2, 1, False),
    ],
)
def test_length(make_row, response, characters, words, sentences, is_empty):
    assert _length(make_row(response)) == (characters, words, sentences, is_empty)


def test_no_response_is_not_an_empty_one(make_row):
    assert _length(make_row(None)) == (None, None, None, None)


def test_composed_and_decomposed_spellings_are_equally_long(make_row):
    decomposed = unicodedata.normalize("NFD", "Müller isst Crêpes.")
    assert len(decomposed) == 21
    assert _length(make_row(decomposed)) == (19, 3, 1, False)


def test_counts_are_averaged_and_emptiness_is_a_share():
    assert [spec.kind for spec in LENGTH.specs] == [MetricKind.MEAN] * 3 + [MetricKind.SHARE]
    assert LENGTH.specs[0].names == (("response/text/characters/average", "value"),)
    assert LENGTH.specs[3].names == (("response/text/is_empty/percentage", "value"),)


@pytest.mark.parametrize(
    ("response", "refused"),
    [
        ("I'm sorry, but I can't help with that.", True),
        ("I do not know.", True),
        ("Ich kann Ihnen dabei leider nicht helfen.", True),
        ("対応できません。申し訳ありません。", True),
        ("The valve cannot be opened by hand.", False),
        ("Yes.", False),
        ("", False),
    ],
)
def test_refusals(make_row, response, refused):
    assert IS_REFUSAL.compute(make_row(response)) == {"response/text/is_refusal": refused}


def test_a_models_own_refusal_message_is_one_whatever_it_says(make_row):
    row = dataclasses.replace(make_row("No."), notes=("several_choices", "refusal"))
    assert IS_REFUSAL.compute(row) == {"response/text/is_refusal": True}


@pytest.mark.parametrize(
    ("text", "is_json"),
    [
        ('{"a": [1, 2.5e3, null, "x"]}', True),
        (" \n[]\n", True),
        ("{}", True),
        ('{"a": ' + "9" * 10_000 + ', "b": 1e999}', True),
        ("42", False),  # an answer, not a format
        ('"text"', False),
        ("null", False),
        ("", False),
        ("plain text", False),
        ('{"a": 1', False),
        ("{'a': 1}", False),
        ('{"a": NaN}', False),
        ("[Infinity]", False),
        ('{"a": 1} and more', False),
        ('```json\n{"a": 1}\n```', False),
        ("\ufeff{}", False),
        ("[" * 100_000, False),
        ("[" * 100_000 + "]" * 100_000, False),
    ],
)
def test_json(make_row, text, is_json):
    assert is_json_container(text) is is_json
    assert IS_JSON.compute(make_row(text)) == {"response/text/is_json": is_json}


@pytest.mark.parametrize("family", [IS_REFUSAL, IS_JSON])
def test_they_are_shares_of_the_rows_with_a_response(make_row, family):
    (column,), (spec,) = family.columns, family.specs
    assert family.compute(make_row(None)) == {column.name: None}
    assert spec.kind is MetricKind.SHARE
    assert spec.names == ((f"{column.name}/percentage", "value"),)
