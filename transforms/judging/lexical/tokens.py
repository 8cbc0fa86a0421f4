"""Words of a text in any script as the rules compare them: normalised, lightly stemmed, numbers and names known."""

import re
import unicodedata
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from beamjudge.transforms.judging.lexical.stopwords import (
    FUNCTION_CHARACTERS,
    LANGUAGES_OF,
    NEGATING_CHARACTERS,
    NEGATIONS,
    STOPWORDS,
)


class Kind(Enum):
    """What a token is to the rules: numbers and names are facts on their own, function words carry none."""

    WORD = "word"
    NUMBER = "number"
    NAME = "name"
    FUNCTION = "function"


class Token(NamedTuple):
    """One token. `key` is what is compared, `surface` what a rationale shows."""

    surface: str
    key: str
    kind: Kind


class Words(NamedTuple):
    """A text's tokens in order, its language among those of the stopword lists, and how often it negates."""

    tokens: tuple[Token, ...]
    content: tuple[Token, ...]
    language: str | None
    negations: int

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(token.key for token in self.content)


# Scripts that are written without spaces between words: compared by pairs of characters.
_SPACELESS = (
    "\u0e01-\u0e4f\u0e80-\u0ecf\u1000-\u103f\u1050-\u109f\u1780-\u17d3\u2e80-\u2fdf\u3005\u3007\u3041-\u309f\u30a0-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Marks that belong to words but are no word characters to `re` (vowel signs, points, diacritics).
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0970-\u0de0"
    "\u0f71-\u0f84"
)
_LETTERS = rf"[^\W\d_{_SPACELESS}]"
_WORD_REST = rf"[^\W_{_SPACELESS}]{{0,60}}(?:[{_MARKS}][^\W_{_SPACELESS}]{{0,60}}){{0,30}}"
_WORD = rf"{_LETTERS}{_WORD_REST}(?:['’]{_LETTERS}{_WORD_REST}){{0,3}}"
# An endless word is cut, so that no cache holds a page.
# No alternative can fail after it has begun, so the scan never goes back: linear on any text.
_TOKEN = re.compile(rf"(?P<number>\d+(?:[.,:]\d+)*)(?P<unit>{_LETTERS}*)|(?P<word>{_WORD})|(?P<run>[{_SPACELESS}]+)")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_SENTENCE_END = re.compile(r"[.!?:;\n•*\"“”(]")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+(?:,\d+)?")
_ORDINAL_SUFFIXES = frozenset({"st", "nd", "rd", "th", "s", "e", "er", "ème"})
_ARABIC_SPELLINGS = str.maketrans("أإآٱىة", "اااايه", "ـًٌٍَُِّْٰ")
_ARABIC_ARTICLES = ("وال", "بال", "كال", "فال", "لل", "ال")
_NUMBER_WORDS = {
    word: str(number)
    for number, words in {
        2: "two zwei deux dos",
        3: "three drei trois tres",
        4: "four vier quatre cuatro",
        5: "five fünf cinq cinco",
        6: "six sechs seis",
        7: "seven sieben sept siete",
        8: "eight acht huit ocho",
        9: "nine neun neuf nueve",
        10: "ten zehn dix diez",
        11: "eleven elf onze once",
        12: "twelve zwölf douze doce",
        20: "twenty zwanzig vingt veinte",
    }.items()
    for word in words.split()
    if word != "once"
}
_IRREGULAR = {
    form: base
    for base, forms in {
        "win": "won", "write": "wrote written", "make": "made", "lead": "led", "say": "said", "take": "took taken",
        "begin": "began begun", "sing": "sang sung", "hold": "held", "find": "found", "build": "built",
        "go": "went gone", "know": "knew known", "give": "gave given", "grow": "grew grown", "fall": "fell fallen",
        "become": "became",
        "child": "children", "man": "men", "woman": "women", "bear": "born", "lose": "lost", "leave": "left",
        "speak": "spoke spoken", "rise": "rose risen", "drive": "drove driven", "fight": "fought", "buy": "bought",
        "bring": "brought", "teach": "taught", "think": "thought", "sell": "sold", "tell": "told", "send": "sent",
        "spend": "spent", "meet": "met", "run": "ran", "come": "came", "see": "saw seen", "eat": "ate eaten",
        "die": "died dying", "choose": "chose chosen", "break": "broke broken", "steal": "stole stolen",
        "draw": "drew drawn", "fly": "flew flown", "throw": "threw thrown", "wear": "wore worn", "keep": "kept",
        "feel": "felt", "stand": "stood", "understand": "understood", "sit": "sat", "swim": "swam", "pay": "paid",
    }.items()
    for form in forms.split()
}  # fmt: skip
_LANGUAGE_ORDER = {language: place for place, language in enumerate(STOPWORDS)}
# Texts beyond this are not kept in the cache, so that it stays small whatever the log holds.
_CACHED_LENGTH = 20_000


def words(text: str) -> Words:
    """The tokens of `text`; any text, the empty one included. Texts of ordinary length are remembered."""
    return _cached_words(text) if len(text) <= _CACHED_LENGTH else _words(text)


@lru_cache(maxsize=128)
def _cached_words(text: str) -> Words:
    return _words(text)


def _words(text: str) -> Words:
    normal = text if text.isascii() else _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    matches = list(_TOKEN.finditer(normal))
    language = _language([match.group() for match in matches if match.lastgroup == "word"])
    tokens: list[Token] = []
    negations = 0
    end = 0
    for match in matches:
        if match.lastgroup == "word":
            word = match.group()
            is_name = bool(tokens) and word[0].isupper() and not _SENTENCE_END.search(normal, end, match.start())
            token, negates = _word_token(word, language or "en", is_name)
            tokens.append(token)
            negations += negates
        elif match.lastgroup == "run":
            run = match.group()
            negations += sum(character in NEGATING_CHARACTERS for character in run)
            tokens.extend(_bigrams(run))
        else:
            number, unit = match["number"], match["unit"]
            tokens.append(Token(number, number_key(number), Kind.NUMBER))
            if unit and unit.casefold() not in _ORDINAL_SUFFIXES:
                tokens.append(Token(unit, stem(unit.casefold()), Kind.WORD))
        end = match.end()
    content = tuple(token for token in tokens if token.kind is not Kind.FUNCTION)
    return Words(tuple(tokens), content, language, negations)


def _language(found: list[str]) -> str | None:
    """The language whose function words are most frequent; English before others on a tie; null without any."""
    hits: dict[str, int] = {}
    for word in found:
        for language in _languages_of(word):
            hits[language] = hits.get(language, 0) + 1
    return max(hits, key=lambda language: (hits[language], -_LANGUAGE_ORDER[language])) if hits else None


@lru_cache(maxsize=32_768)
def _languages_of(word: str) -> tuple[str, ...]:
    return LANGUAGES_OF.get(word.casefold().replace("’", "'"), ())


@lru_cache(maxsize=32_768)
def _word_token(word: str, language: str, is_name: bool) -> tuple[Token, bool]:
    """The token of a word, and whether it negates."""
    folded = word.casefold().replace("’", "'")
    negates = folded in NEGATIONS or folded.endswith("n't")
    if folded in STOPWORDS[language]:
        return Token(word, folded, Kind.FUNCTION), negates
    if folded in _NUMBER_WORDS:
        return Token(word, _NUMBER_WORDS[folded], Kind.NUMBER), negates
    return Token(word, stem(folded), Kind.NAME if is_name else Kind.WORD), negates


def _bigrams(run: str) -> list[Token]:
    """Pairs of neighbouring characters, function words where one of them is grammatical.

    A character between two grammatical ones stands for itself; a run of nothing but grammar is kept as it is.
    """
    carries = [character not in FUNCTION_CHARACTERS for character in run]
    if len(run) == 1:
        return [Token(run, run, Kind.WORD if carries[0] else Kind.FUNCTION)]
    keep_all = not any(carries)
    tokens = []
    for i in range(len(run)):
        if carries[i] and not (i and carries[i - 1]) and not (i + 1 < len(run) and carries[i + 1]):
            tokens.append(_character_token(run[i], Kind.WORD))
        if i + 1 < len(run):
            is_word = keep_all or (carries[i] and carries[i + 1])
            tokens.append(_character_token(run[i : i + 2], Kind.WORD if is_word else Kind.FUNCTION))
    return tokens


@lru_cache(maxsize=32_768)
def _character_token(characters: str, kind: Kind) -> Token:
    return Token(characters, characters, kind)


def number_key(number: str) -> str:
    """One spelling for a number: 1,000 and 1.000 are 1000, 2.50 is 2.5, 007 is 7, 7:00 is 7; digits become ASCII."""
    if not number.isascii():
        number = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in number)
    if ":" in number:
        return number_key(number[:-3]) if number.endswith(":00") and number.count(":") == 1 else number
    if _GROUPED.fullmatch(number):
        first_separator = next(c for c in number if c in ",.")
        number = number.replace(first_separator, "").replace(",", ".")
    else:
        number = number.replace(",", ".")
    if number.count(".") > 1:
        return number
    whole, _, fraction = number.partition(".")
    fraction = fraction.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{fraction}" if fraction else "")


def is_negation(token: Token) -> bool:
    """Whether a token negates what follows ("not", "isn't", a character such as 不)."""
    folded = token.surface.casefold().replace("’", "'")
    return folded in NEGATIONS or folded.endswith("n't") or not NEGATING_CHARACTERS.isdisjoint(folded)


def stem(word: str) -> str:
    """The key of a casefolded word: no diacritics, no possessive, light English or Arabic endings removed."""
    if not word.isascii():
        if "\u0600" <= word[0] <= "\u06ff":
            return _arabic_stem(word)
        word = "".join(c for c in unicodedata.normalize("NFD", word) if not "\u0300" <= c <= "\u036f")
    if "'" in word:
        head, _, tail = word.partition("'")
        word = head if len(head) > 2 else word.replace("'", "")
        # Elided articles (l'homme, d'eau, dell'arte): the word comes after the apostrophe.
        if len(head) <= 2 or len(tail) > 3:
            word = tail or word
    return _english_stem(word) if word.isascii() else word


def _arabic_stem(word: str) -> str:
    word = word.translate(_ARABIC_SPELLINGS)
    for article in _ARABIC_ARTICLES:
        if word.startswith(article) and len(word) - len(article) >= 3:
            return word[len(article) :]
    return word


def _english_stem(word: str) -> str:
    word = _IRREGULAR.get(word, word)
    if len(word) <= 3:
        return word
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed", "ly"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= 3 and any(c in "aeiouy" for c in rest):
            word = rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "sl" else rest
            break
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    return word[:-1] + "y" if word.endswith("i") and len(word) > 3 else word
