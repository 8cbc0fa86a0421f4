"""Characters, words, sentences and emptiness of a response."""

import unicodedata

import pytest

from beamjudge.schemas.metric import MetricKind
from beamjudge.transforms.metrics.form import LENGTH


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
