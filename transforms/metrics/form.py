"""The form of a response: how long it is, and whether there is one at all."""

from collections.abc import Mapping

from beamjudge.schemas.assessment import MetricValue
from beamjudge.schemas.metric import Column, ColumnType, mean_spec, share_spec
from beamjudge.schemas.row import Row
from beamjudge.transforms.judging.sentences import split_sentences
from beamjudge.transforms.metrics.family import MetricFamily
from beamjudge.transforms.metrics.text.tokenizers import count_words, to_nfc

_CHARACTERS = "response/text/characters"
_WORDS = "response/text/words"
_SENTENCES = "response/text/sentences"
_IS_EMPTY = "response/text/is_empty"


def _length(row: Row) -> Mapping[str, MetricValue]:
    """Characters are code points of the NFC text; a blank response is empty and has no words and no sentences."""
    if row.response_text is None:
        return {_CHARACTERS: None, _WORDS: None, _SENTENCES: None, _IS_EMPTY: None}
    text = to_nfc(row.response_text)
    return {
        _CHARACTERS: len(text),
        _WORDS: count_words(text),
        _SENTENCES: len(split_sentences(text)),
        _IS_EMPTY: not text.strip(),
    }


LENGTH = MetricFamily(
    name="length",
    columns=(
        Column(_CHARACTERS, ColumnType.INTEGER),
        Column(_WORDS, ColumnType.INTEGER),
        Column(_SENTENCES, ColumnType.INTEGER),
        Column(_IS_EMPTY, ColumnType.BOOLEAN),
    ),
    specs=(
        mean_spec(_CHARACTERS, low=0.0),
        mean_spec(_WORDS, low=0.0),
        mean_spec(_SENTENCES, low=0.0),
        share_spec(_IS_EMPTY),
    ),
    compute=_length,
)
