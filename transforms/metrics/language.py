"""The language of a response, and whether it is the request's: told offline, by the model that py3langid ships.

Lui and Baldwin, "langid.py: an off-the-shelf language identification tool", ACL 2012 (system demonstrations).
"""

from collections.abc import Mapping
from functools import lru_cache
from importlib import metadata
from itertools import islice
from typing import Any, Final

import regex

from beamjudge.schemas.assessment import MetricValue
from beamjudge.schemas.metric import Column, ColumnType, share_spec
from beamjudge.schemas.row import Row
from beamjudge.transforms.metrics.family import MetricFamily

_LANGUAGE = "response/text/language"
_MATCHES = "response/text/language_matches_request"

# The model knows 139 languages. Among them are varieties that it takes short texts of their larger relatives for, and
# that hardly any application answers in: they are left out.
LANGUAGES: Final = frozenset(
    (
        *("af", "am", "ar", "as", "az", "be", "bg", "bn", "ca", "cs", "cy", "da", "de", "el", "en", "eo", "es", "et"),
        *("eu", "fa", "fi", "fr", "ga", "gl", "gu", "ha", "he", "hi", "hr", "ht", "hu", "hy", "id", "ig", "is", "it"),
        *("ja", "jv", "ka", "kk", "km", "kn", "ko", "ku", "ky", "la", "lb", "lo", "lt", "lv", "mg", "mk", "ml", "mn"),
        *("mr", "ms", "mt", "my", "ne", "nl", "no", "om", "or", "pa", "pl", "ps", "pt", "ro", "ru", "rw", "si", "sk"),
        *("sl", "sn", "so", "sq", "sr", "st", "sv", "sw", "ta", "te", "tg", "th", "tk", "tl", "tr", "tt", "ug", "uk"),
        *("ur", "uz", "vi", "xh", "yo", "zh", "zu"),
    )
)
_NO_LANGUAGE: Final = "zxx"  # numbers, markup, identifiers
_LOOKED_AT: Final = 300  # characters; more tell no more
_FEWEST_LETTERS: Final = 20
_FEWEST_DENSE: Final = 7
# Scripts of syllables or words, and others that are written without spaces: few characters of them say much.
_DENSE: Final = "".join(
    rf"\p{{{script}}}" for script in ("Han", "Hiragana", "Katakana", "Hangul", "Thai", "Lao", "Khmer", "Myanmar")
)
_ENOUGH_LETTERS = regex.compile(rf"(?:[^\p{{L}}\p{{M}}]*+[\p{{L}}\p{{M}}]){{{_FEWEST_LETTERS}}}")
_ENOUGH_DENSE = regex.compile(rf"(?:[^{_DENSE}]*+[{_DENSE}]){{{_FEWEST_DENSE}}}")
_LEAST_PROBABILITY: Final = 0.2
_LEAST_LEAD: Final = 3.0


def language_of(text: str) -> str | None:
    """ISO 639-1 code of the text's language; null where the text is too short or too mixed to tell.

    Too short is one of less than 20 letters, or less than 7 of Chinese, Japanese, Korean, Thai and the like. Too mixed
    is one whose likeliest language is not three times as likely as any other.
    """
    sample = text[:_LOOKED_AT]
    if not _ENOUGH_LETTERS.match(sample) and not _ENOUGH_DENSE.match(sample):
        return None
    ranked = _identifier().rank(sample)
    if ranked[0][0] == _NO_LANGUAGE:
        return None
    (best, probability), (_, second) = islice((pair for pair in ranked if pair[0] in LANGUAGES), 2)
    return str(best) if probability >= max(_LEAST_PROBABILITY, _LEAST_LEAD * second) else None


@lru_cache(maxsize=1)
def _identifier() -> Any:
    """Loaded once a process and on first use: it takes a second and 100 MB."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _compute(row: Row) -> Mapping[str, MetricValue]:
    language = language_of(row.response_text) if row.response_text else None
    if language is None:
        return {_LANGUAGE: None, _MATCHES: None}
    asked_in = language_of(row.request_text)
    return {_LANGUAGE: language, _MATCHES: None if asked_in is None else language == asked_in}


LANGUAGE = MetricFamily(
    name="language",
    columns=(Column(_LANGUAGE, ColumnType.STRING), Column(_MATCHES, ColumnType.BOOLEAN)),
    specs=(share_spec(_MATCHES),),
    compute=_compute,
    signatures={f"{_MATCHES}/percentage": f"model:py3langid|version:{metadata.version('py3langid')}"},
)
