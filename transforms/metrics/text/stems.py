"""English stems by Porter's algorithm, as nltk's PorterStemmer has them by default.

M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with the changes that nltk calls its extensions.
Written anew because nltk's takes 90 MB and a second to import and 15 microseconds a word, and METEOR and ROUGE need no
more of it than this.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

_VOWELS: Final = frozenset("aeiou")
_IRREGULAR: Final = {
    **{"sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news", "howe": "howe"},
    **{"inning": "inning", "innings": "inning", "outing": "outing", "outings": "outing"},
    **{"canning": "canning", "cannings": "canning", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed"},
}
# Of each step the suffixes in the order in which they are tried, with what takes their place.
_STEP_2: Final = (
    *(("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble")),
    *(("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate")),
    *(("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al")),
    *(("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful")),
)
_STEP_3: Final = (
    *(("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")),
)
_STEP_4: Final = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate"),
    *("iti", "ous", "ive", "ize"),
)


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """The stem of a lower-cased word."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    for step in _STEPS:
        word = step(word)
    return word


def _shape(word: str) -> str:
    """Each letter as `c` (consonant) or `v` (vowel); a y is a vowel behind a consonant."""
    shape: list[str] = []
    for letter in word:
        vowel = letter in _VOWELS or (letter == "y" and bool(shape) and shape[-1] == "c")
        shape.append("v" if vowel else "c")
    return "".join(shape)


def _measure(word: str) -> int:
    """How often consonants follow vowels: m of the paper."""
    return _shape(word).count("vc")


def _ends_short(word: str) -> bool:
    """Whether the word ends with consonant, vowel, consonant (not w, x, y), or is a vowel and a consonant."""
    shape = _shape(word)
    return shape == "vc" or (shape.endswith("cvc") and word[-1] not in "wxy")


def _plural(word: str) -> str:
    """Step 1a."""
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past_and_participle(word: str) -> str:
    """Step 1b."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for suffix in ("ed", "ing"):
        rest = word.removesuffix(suffix)
        if rest != word and "v" in _shape(rest):
            return _repair(rest)
    return word


def _repair(word: str) -> str:
    """Give a word without -ed or -ing its e, or take a doubled consonant from it."""
    if word.endswith(("at", "bl", "iz")):
        return f"{word}e"
    if word[-1:] == word[-2:-1] and _shape(word)[-1] == "c":
        return word if word[-1] in "lsz" else word[:-1]
    return f"{word}e" if _measure(word) == 1 and _ends_short(word) else word


def _final_y(word: str) -> str:
    """Step 1c."""
    return f"{word[:-1]}i" if word.endswith("y") and len(word) > 2 and _shape(word[:-1])[-1] == "c" else word


def _double_suffix(word: str) -> str:
    """Step 2."""
    if word.endswith("alli") and _measure(word[:-4]):
        return _double_suffix(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) else word
    return _replace(word, _STEP_2)


def _suffix(word: str) -> str:
    """Step 3."""
    return _replace(word, _STEP_3)


def _replace(word: str, rules: Sequence[tuple[str, str]]) -> str:
    """The first suffix that the word has is replaced if a measurable stem is left; no other is tried."""
    for suffix, replacement in rules:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + replacement if _measure(rest) else word
    return word


def _last_suffix(word: str) -> str:
    """Step 4."""
    for suffix in _STEP_4:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest if _measure(rest) > 1 and (suffix != "ion" or rest[-1] in "st") else word
    return word


def _final_e(word: str) -> str:
    """Step 5a."""
    if not word.endswith("e"):
        return word
    rest = word[:-1]
    measure = _measure(rest)
    return rest if measure > 1 or (measure == 1 and not _ends_short(rest)) else word


def _final_double_l(word: str) -> str:
    """Step 5b."""
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


_STEPS: Final[tuple[Callable[[str], str], ...]] = (
    *(_plural, _past_and_participle, _final_y, _double_suffix, _suffix, _last_suffix, _final_e, _final_double_l),
)
