"""The form of a response: how long it is, whether there is one at all, whether it declines, whether it is JSON."""

import json
from collections.abc import Mapping

from beamjudge.schemas.assessment import MetricValue
from beamjudge.schemas.metric import Column, ColumnType, mean_spec, share_spec
from beamjudge.schemas.row import Row
from beamjudge.transforms.judging.lexical.refusals import is_refusal
from beamjudge.transforms.judging.sentences import split_sentences
from beamjudge.transforms.metrics.family import MetricFamily
from beamjudge.transforms.metrics.text.tokenizers import count_words, to_nfc

_CHARACTERS = "response/text/characters"
_WORDS = "response/text/words"
_SENTENCES = "response/text/sentences"
_IS_EMPTY = "response/text/is_empty"
_IS_REFUSAL = "response/text/is_refusal"
_IS_JSON = "response/text/is_json"
_REFUSED = "refusal"  # the note on rows whose response is the model's own refusal message


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


def _refusal(row: Row) -> Mapping[str, MetricValue]:
    """Whether the response opens by declining to answer or by not knowing, or is the model's refusal message."""
    if row.response_text is None:
        return {_IS_REFUSAL: None}
    return {_IS_REFUSAL: _REFUSED in row.notes or is_refusal(row.response_text)}


def _json(row: Row) -> Mapping[str, MetricValue]:
    if row.response_text is None:
        return {_IS_JSON: None}
    return {_IS_JSON: is_json_container(row.response_text)}


def is_json_container(text: str) -> bool:
    """Whether the whole text is one JSON object or list (RFC 8259); a bare number or word is an answer, not a format.

    Nesting deeper than Python reads, several hundred levels, is taken for no JSON.
    """
    if not text.lstrip(" \t\r\n").startswith(("{", "[")):
        return False
    try:
        # Numbers stay text: what an integer of 10,000 digits is worth does not matter here.
        json.loads(text, parse_int=str, parse_float=str, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


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

IS_REFUSAL = MetricFamily(
    name="is_refusal",
    columns=(Column(_IS_REFUSAL, ColumnType.BOOLEAN),),
    specs=(share_spec(_IS_REFUSAL),),
    compute=_refusal,
)

IS_JSON = MetricFamily(
    name="is_json",
    columns=(Column(_IS_JSON, ColumnType.BOOLEAN),),
    specs=(share_spec(_IS_JSON),),
    compute=_json,
)
