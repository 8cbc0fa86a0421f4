"""Text to tokens, for text in any script.

BLEU's tokenizers give what sacrebleu's tokenizers of the same name give. They are written anew because sacrebleu's keep
the last 65,536 texts in caches that nobody can bound, and because this is the hot path of a run.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import regex

from beamjudge.transforms.metrics.text.analyzers import flores200_pieces, japanese_morphemes, korean_morphemes

# Those that the script of a text may choose.
TOKENIZERS: Final = ("13a", "intl", "zh", "char")

# Scripts that are written without spaces between words. The prolonged sound marks belong to no script of their own.
_HAN = r"\p{Script=Han}"
_NOT_HAN = (
    "".join(
        rf"\p{{Script={script}}}"
        for script in (
            *("Hiragana", "Katakana", "Bopomofo", "Thai", "Lao", "Khmer", "Myanmar"),
            *("Tai_Le", "New_Tai_Lue", "Tai_Tham", "Tai_Viet", "Javanese", "Balinese", "Yi"),
        )
    )
    + "\u30fc\uff70"
)
_UNSPACED = rf"[[\p{{L}}\p{{N}}]&&[{_HAN}{_NOT_HAN}]]"
_SPACED = rf"[[\p{{L}}\p{{N}}]--[{_HAN}{_NOT_HAN}]]"

_HAN_LETTER = regex.compile(rf"[\p{{L}}\p{{N}}&&{_HAN}]", regex.V1)
_UNSPACED_LETTER = regex.compile(_UNSPACED, regex.V1)
_SPACED_LETTER = regex.compile(_SPACED, regex.V1)
_LATIN_LETTER = regex.compile(r"\p{Script=Latin}")
# The micro sign and its like are letters of no script.
_OTHER_LETTER = regex.compile(rf"[\p{{L}}--[\p{{Script=Latin}}\p{{Script=Common}}{_HAN}{_NOT_HAN}]]", regex.V1)
# A letter of an unspaced script with its marks; a word of another script; a symbol (an emoji, for one) beyond ASCII.
# Joiners do not end a word (Unicode Standard Annex 29, rule WB4).
_UNICODE_WORD = regex.compile(
    rf"{_UNSPACED}\p{{M}}*|{_SPACED}(?:{_SPACED}|[\p{{M}}\u200c\u200d])*|[\p{{S}}--[\x00-\x7f]]", regex.V1
)
_UNSPACED_OR_SPACED = regex.compile(rf"{_UNSPACED}\p{{M}}*|(?:(?!{_UNSPACED})\S)+", regex.V1)
_ASCII_WORD = re.compile("[a-z0-9]+")
# Each ASCII character as rouge-score sees it: a letter in lower case, a digit, or else a space.
_LOWER_OR_SPACE = "".join(chr(i).lower() if chr(i).isalnum() and i < 128 else " " for i in range(256)).encode("latin-1")


def to_nfc(text: str) -> str:
    """The text in Unicode's composed form, so that two spellings of the same characters are the same text."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def choose_tokenizer(texts: Sequence[str]) -> str:
    """The tokenizer for texts that are to be compared; they are looked at together, so their order does not matter.

    An unspaced script, when it has at least a quarter of the letters: `zh` for Han, `char` when a tenth or more of it
    is kana, Thai, Khmer and the like. Text without any letter or digit (emoji) is `char` as well. Where most letters
    are Cyrillic, Arabic, Devanagari, Hangul and the like it is `intl`, which knows their punctuation; everything else
    is `13a`, sacrebleu's default: English with an accent or a typographic quote is in one corpus with plain English,
    and French is scored as papers score it.
    """
    if all(text.isascii() for text in texts):
        return "13a"
    unspaced = _count(_UNSPACED_LETTER, texts)
    spaced = _count(_SPACED_LETTER, texts)
    if unspaced and 3 * unspaced >= spaced:
        han = _count(_HAN_LETTER, texts)
        return "zh" if 10 * (unspaced - han) < unspaced else "char"
    if not spaced:
        return "char"
    return "intl" if _count(_OTHER_LETTER, texts) > _count(_LATIN_LETTER, texts) else "13a"


def _count(letter: "regex.Pattern[str]", texts: Sequence[str]) -> int:
    return sum(len(letter.findall(text)) for text in texts)


def bleu_tokens(text: str, tokenizer: str) -> list[str]:
    """The tokens of sacrebleu's tokenizer of that name."""
    return _BLEU_TOKENIZERS[tokenizer](text.rstrip())


def ascii_words(text: str) -> list[str]:
    """The words of rouge-score's default tokenizer: lower-cased runs of a-z and 0-9."""
    if text.isascii():
        return text.encode().translate(_LOWER_OR_SPACE).decode().split()
    return _ASCII_WORD.findall(text.lower())


def unicode_words(text: str) -> list[str]:
    """Case-folded words of Unicode text (letters, marks, digits), letter by letter in unspaced scripts; and each symbol
    beyond ASCII."""
    words: list[str] = _UNICODE_WORD.findall(text.casefold())
    return words


def split_unspaced(text: str) -> list[str]:
    """The words between white space; in unspaced scripts each letter, with its marks, is a word."""
    if text.isascii():
        return text.split()
    words: list[str] = _UNSPACED_OR_SPACED.findall(text)
    return words


def count_words(text: str) -> int:
    """Words between white space; in unspaced scripts each letter counts as a word."""
    if text.isascii():
        return len(text.split())
    letters = len(_UNSPACED_LETTER.findall(text))
    if not letters:
        return len(text.split())
    others = _UNSPACED_LETTER.sub(" ", text).split()
    return letters + sum(_SPACED_LETTER.search(word) is not None for word in others)


# The rules of NIST's mteval-v13a.pl, as sacrebleu has them: every ASCII punctuation mark but ' , - . stands alone ...
_PUNCTUATION = re.compile(r"([!-&(-+/:-@\[-`{-~])")
_PUNCTUATION_MARKS = "".join(chr(code) for code in range(128) if _PUNCTUATION.match(chr(code)))
# ... and so do full stop and comma unless within a number, and a dash after a digit.
_AFTER_NON_DIGIT = re.compile(r"([^0-9])([.,])")
_BEFORE_NON_DIGIT = re.compile(r"([.,])([^0-9])")
_DASH_AFTER_DIGIT = re.compile(r"([0-9])(-)")
_STOP_COMMA_DASH = re.compile(r"[.,\-]")


def _set_apart(text: str, marks: str) -> str:
    """White space around each of the marks; by far faster than a substitution, because few texts have many of them."""
    for mark in marks:
        if mark in text:
            text = text.replace(mark, f" {mark} ")
    return text


def _split_numbers(text: str) -> str:
    text = _AFTER_NON_DIGIT.sub(r"\1 \2 ", text)
    text = _BEFORE_NON_DIGIT.sub(r" \1 \2", text)
    return _DASH_AFTER_DIGIT.sub(r"\1 \2 ", text)


def _13a(text: str) -> list[str]:
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    if "&" in text:
        text = text.replace("&quot;", '"').replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
    text = _set_apart(text, _PUNCTUATION_MARKS)
    if not any(digit in text for digit in "0123456789"):
        return _set_apart(text, ".,").split()
    tokens: list[str] = []
    # The rules for numbers only on chunks that they concern. White space around a chunk gives the rules the context
    # that they look at.
    for chunk in text.split():
        if chunk.isalnum():
            tokens.append(chunk)
            continue
        mark = _STOP_COMMA_DASH.search(chunk)
        if mark is None:
            tokens.append(chunk)
        elif mark.end() == len(chunk) > 1 and chunk[-1] != "-":
            tokens += (chunk[:-1], chunk[-1])
        else:
            tokens += _split_numbers(f" {chunk} ").split()
    return tokens


_INTL_RULES = (
    (regex.compile(r"(\P{N})(\p{P})"), r"\1 \2 "),
    (regex.compile(r"(\p{P})(\P{N})"), r" \1 \2"),
    (regex.compile(r"(\p{S})"), r" \1 "),
)


def _intl(text: str) -> list[str]:
    """The rules of NIST's mteval-v14.pl for international text: punctuation, except within numbers, and symbols."""
    for rule, replacement in _INTL_RULES:
        text = rule.sub(replacement, text)
    return text.split()


# sacrebleu's ranges of Chinese characters. Its two ranges beyond U+FFFF are spelled with four digits and so cover
# U+2001-2A6D and U+2F81-2FA1 in effect; scores are only comparable when that is kept.
_ZH_CHARACTER = re.compile(
    "([\u3400-\u4db5\u4e00-\u9fa5\u9fa6-\u9fbb\uf900-\ufa2d\ufa30-\ufa6a\ufa70-\ufad9\u2001-\u2a6d\u2f81-\u2fa1"
    "\uff00-\uffef\u2e80-\u2eff\u3000-\u303f\u31c0-\u31ef\u2f00-\u2fdf\u2ff0-\u2fff\u3100-\u312f\u31a0-\u31bf"
    "\ufe10-\ufe1f\ufe30-\ufe4f\u2600-\u26ff\u2700-\u27bf\u3200-\u32ff\u3300-\u33ff])"
)


def _zh(text: str) -> list[str]:
    """Each Chinese character alone, the rest as in `13a` but without its treatment of entities and line ends."""
    spaced = " ".join(_ZH_CHARACTER.split(text.strip()))
    return _split_numbers(" ".join(_PUNCTUATION.split(spaced))).split()


def _char(text: str) -> list[str]:
    return list("".join(text.split()))


_BLEU_TOKENIZERS: Mapping[str, Callable[[str], list[str]]] = {
    "13a": _13a,
    "intl": _intl,
    "zh": _zh,
    "char": _char,
    "ja-mecab": japanese_morphemes,
    "ko-mecab": korean_morphemes,
    "flores200": flores200_pieces,
}
