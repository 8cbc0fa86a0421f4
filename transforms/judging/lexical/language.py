"""Is a text in a named language: told by its script, its letters and its function words, without a model."""

import re
import unicodedata
from collections import Counter

from beamjudge.transforms.judging.lexical.stopwords import LANGUAGES_OF, STOPWORDS, word_list

# Names of languages as guidelines write them, with the scripts that each is written in.
_SCRIPTS_OF = {
    **dict.fromkeys(
        word_list(
            """english german french spanish italian portuguese dutch turkish polish swedish danish norwegian
            finnish czech hungarian romanian vietnamese indonesian malay croatian slovak catalan swahili tagalog
            latin"""
        ),
        ("LATIN",),
    ),
    **dict.fromkeys(word_list("russian ukrainian bulgarian serbian macedonian belarusian"), ("CYRILLIC",)),
    **dict.fromkeys(["arabic", "persian", "farsi", "urdu"], ("ARABIC",)),
    **dict.fromkeys(["hindi", "marathi", "nepali", "sanskrit"], ("DEVANAGARI",)),
    **dict.fromkeys(["chinese", "mandarin", "cantonese"], ("CJK",)),
    "japanese": ("HIRAGANA", "KATAKANA", "CJK"),
    "korean": ("HANGUL", "CJK"),
    "thai": ("THAI",),
    "greek": ("GREEK",),
    "hebrew": ("HEBREW",),
    "khmer": ("KHMER",),
    "lao": ("LAO",),
    "burmese": ("MYANMAR",),
    "bengali": ("BENGALI",),
    "tamil": ("TAMIL",),
    "telugu": ("TELUGU",),
    "gujarati": ("GUJARATI",),
    "punjabi": ("GURMUKHI",),
    "georgian": ("GEORGIAN",),
    "armenian": ("ARMENIAN",),
    "amharic": ("ETHIOPIC",),
}
LANGUAGE_NAMES = frozenset(_SCRIPTS_OF)
_CODES = {
    "english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt",
    "dutch": "nl", "turkish": "tr", "polish": "pl", "swedish": "sv", "russian": "ru", "arabic": "ar", "hindi": "hi",
}  # fmt: skip
# Letters that few of the Latin-script languages use: each speaks for its languages and against the others.
_LETTERS = {
    "ß": "de", "ä": "de sv", "ö": "de sv tr", "ü": "de tr", "ğ": "tr", "ı": "tr", "ş": "tr", "ç": "fr pt tr",
    "ñ": "es", "¿": "es", "¡": "es", "ã": "pt", "õ": "pt", "å": "sv", "ł": "pl", "ą": "pl", "ę": "pl", "ś": "pl",
    "ż": "pl", "ź": "pl", "ć": "pl", "ń": "pl", "œ": "fr", "ê": "fr pt", "è": "fr it", "à": "fr it pt", "ò": "it",
    "ù": "fr it", "á": "es pt", "í": "es pt", "ó": "es pt pl", "ú": "es pt", "é": "fr es pt it", "â": "fr pt tr",
    "î": "fr tr", "ô": "fr pt", "û": "fr tr",
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_LOOKED_AT = 20_000  # characters that suffice to tell a language
_WITHOUT_KANA = 10  # letters: a name may be written without kana, but no Japanese sentence is
_FOREIGN_SHARE = 0.5  # letters outside the language's scripts beyond which a text is not in it


def is_in_language(text: str, language: str) -> bool | None:
    """Whether `text` is in `language` (one of LANGUAGE_NAMES); null where nothing in it tells.

    Letters in a script of the language's own decide; Latin, Cyrillic and Arabic letters are shared, so there function
    words and particular letters have to speak for one language.
    """
    sample = unicodedata.normalize("NFC", text[:_LOOKED_AT])
    scripts = _scripts(sample)
    letters = sum(scripts.values())
    if not letters:
        return None
    own = _SCRIPTS_OF[language]
    if 1 - sum(scripts[script] for script in own) / letters > _FOREIGN_SHARE:
        return False
    if language == "japanese":
        has_kana = bool(scripts["HIRAGANA"] + scripts["KATAKANA"])
        return has_kana if has_kana or letters > _WITHOUT_KANA else None
    if own == ("CJK",):
        return not scripts["HIRAGANA"] and not scripts["HANGUL"]
    if own in (("LATIN",), ("CYRILLIC",), ("ARABIC",), ("DEVANAGARI",)):
        return _by_words(sample, language)
    return True


def _scripts(text: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for character, times in Counter(text).items():
        if character.isalpha():
            counts[unicodedata.name(character, "UNKNOWN").split()[0]] += times
    return counts


def _by_words(text: str, language: str) -> bool | None:
    scores: Counter[str] = Counter()
    for word in _WORD.findall(text.casefold()):
        for code in LANGUAGES_OF.get(word.replace("’", "'"), ()):
            scores[code] += 1
    for character, times in Counter(text.casefold()).items():
        for code in _LETTERS.get(character, "").split():
            scores[code] += times
    if not scores:
        return None
    best = max(scores.values())
    own = _CODES.get(language)
    if own is None:
        return None
    leaders = [candidate for candidate in STOPWORDS if scores[candidate] == best]
    return None if own in leaders and len(leaders) > 1 and best < 2 else own in leaders
