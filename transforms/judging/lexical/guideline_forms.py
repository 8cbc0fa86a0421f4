"""The forms of guidelines that rules can check, each a pattern for the whole clause and a check of the response."""

import json
import re
from collections.abc import Callable

from beamjudge.transforms.judging.lexical.language import LANGUAGE_NAMES, is_in_language
from beamjudge.transforms.judging.lexical.stopwords import word_list
from beamjudge.transforms.judging.lexical.tokens import words
from beamjudge.transforms.judging.sentences import split_sentences

Form = tuple[re.Pattern[str], Callable[[re.Match[str], str], "bool | None"]]

_NUMBERS = dict(
    zip(
        word_list(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen twenty"
        ),
        range(21),
        strict=True,
    )
) | {"a": 1, "an": 1, "single": 1, "no": 0}
_NUMBER = rf"(?:\d[\d,]*|{'|'.join(_NUMBERS)})"
_UNIT = r"(?P<unit>words?|sentences?|characters?|letters?|paragraphs?|lines?|bullet points?|bullets|items|questions?)"
_WRITTEN = (
    r"(?:be |use |have |has |contain |containing |consist of |with |keep (?:it |the (?:response|answer) )?|stay |"
    r"written |write |answer |respond |in )*"
)
_QUOTED = r"(?:'[^']*'|\"[^\"]*\"|“[^”]*”|‘[^’]*’|`[^`]*`)"
_QUOTED_LIST = rf"(?P<quoted>{_QUOTED}(?:(?:,? (?:and|or) |, ?){_QUOTED})*)"
_THING = (
    r"(?:(?:the|a|an|any|exact|following|single|specific) )*(?P<thing>characters?|letters?|words?|phrases?|terms?|"
    r"strings?|texts?|names?|sentences?|symbols?)?:? ?"
)
_BULLET = re.compile(r"(?m)^[ \t]*(?:[-*+•◦▪‣–—]|\(?\d{1,3}[.)])[ \t\u3000]+\S")
_WORD_CHARACTER = re.compile(r"\w")
_EMOJI = re.compile("[\u2600-\u27bf\u2b50\u2b55\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff]")
_FEATURES: dict[str, re.Pattern[str]] = {
    "emoji": _EMOJI,
    "url": re.compile(r"https?://\S|\bwww\.\S"),
    "email": re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}\.\w"),
    "digit": re.compile(r"\d"),
    "code": re.compile(r"```|~~~"),
    "html": re.compile(r"<[a-zA-Z/][^<>]{0,200}>"),
    "markdown": re.compile(r"(?m)^#{1,6} \S|\*\*\S|^[ \t]*[-*+] \S|```|\[[^\[\]]{1,200}\]\("),
    "table": re.compile(r"(?m)^[ \t]*\|.*\|"),
    "list": _BULLET,
    "question": re.compile(r"[?？؟]"),
    "exclamation": re.compile("[!！]"),
    "comma": re.compile("[,，、،]"),
}
_FEATURE_NAMES = (
    r"(?:(?:any|an?|at least one|some|or) )*(?:(?P<emoji>emojis?|emoticons?)|(?P<url>urls?|links?|hyperlinks?)|"
    r"(?P<email>e-?mail address(?:es)?)|(?P<digit>digits?|numbers?|numerals?)|(?P<code>code ?blocks?|code fences?)|"
    r"(?P<html>html(?: tags?)?)|(?P<markdown>markdown(?: formatting)?)|(?P<table>tables?)|"
    r"(?P<list>bullets|bullet(?:ed)? (?:points?|lists?)|numbered lists?|lists?)|(?P<question>questions?(?: marks?)?)|"
    r"(?P<exclamation>exclamation (?:marks?|points?))|(?P<comma>commas?))"
)


def _language(match: re.Match[str], response: str) -> bool | None:
    return is_in_language(response, match["language"].lower())


def _texts(quoted: str) -> list[str]:
    return [text[1:-1] for text in re.findall(_QUOTED, quoted)]


def _has(text: str, thing: str, response: str) -> bool:
    """Characters and texts are looked for as they are, whatever the case; words only as whole words."""
    text, response = text.casefold(), response.casefold()
    if thing.startswith(("word", "name", "term")):
        return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", response) is not None
    return text in response


def _contains(match: re.Match[str], response: str) -> bool:
    found = [_has(text, (match["thing"] or "").lower(), response) for text in _texts(match["quoted"])]
    return any(found) if _is_choice(match["quoted"]) else all(found)


def _is_choice(quoted: str) -> bool:
    return re.search(rf" or (?={_QUOTED}$)", quoted) is not None


def _plain_words(text: str) -> list[str]:
    """What stands between spaces and is not only punctuation: words as a reader counts them."""
    return [word for word in text.split() if _WORD_CHARACTER.search(word)]


def _count(unit: str, text: str) -> int:
    if unit.startswith("word"):
        found = words(text).tokens
        spaceless = sum(not token.surface.isascii() and len(token.surface) == 2 for token in found)
        return len(_plain_words(text)) if spaceless <= len(found) // 2 else len(found)
    if unit.startswith("sentence"):
        return len(split_sentences(text))
    if unit.startswith("character"):
        return len(text.strip())
    if unit.startswith("letter"):
        return sum(character.isalpha() for character in text)
    if unit.startswith("paragraph"):
        return len([part for part in re.split(r"\n[ \t]*\n", text) if part.strip()])
    if unit.startswith("line"):
        return len([line for line in text.splitlines() if line.strip()])
    return len(_FEATURES["question"].findall(text)) if unit.startswith("question") else len(_BULLET.findall(text))


def _number(text: str) -> int:
    text = text.lower().replace(",", "")
    # A number of more digits than any text has characters is as good as this one.
    return _NUMBERS[text] if text in _NUMBERS else int(text[:12])


def _bounded(match: re.Match[str], response: str) -> bool:
    found = _count(match["unit"].lower(), response)
    groups = match.groupdict()
    if groups.get("high") is not None:
        return _number(match["low"]) <= found <= _number(match["high"])
    number = _number(match["number"])
    bound = (groups.get("bound") or groups.get("after") or "exactly").lower()
    if bound in ("fewer than", "less than", "under", "below", "shorter than"):
        return found < number
    if bound in ("more than", "over", "longer than", "above", "exceed"):
        return found > number
    if bound in ("at least", "a minimum of", "minimum", "no fewer than", "no less than", "or more", "minimum of"):
        return found >= number
    if bound in ("exactly", "precisely", "only", "just"):
        return found == number
    if bound in ("about", "around", "approximately", "roughly"):
        return abs(found - number) <= max(1, number // 5)
    return found <= number


def _is_json(_match: re.Match[str], response: str) -> bool:
    text = response.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text.strip("`").removeprefix("json")
    try:
        json.loads(text, parse_int=str)
    except (ValueError, RecursionError):
        return False
    return True


def _feature(match: re.Match[str], response: str) -> bool | None:
    name = next(name for name in _FEATURES if match[name] is not None)
    return _FEATURES[name].search(response) is not None


def _starts(match: re.Match[str], response: str) -> bool:
    opening = response.strip().casefold()
    return any(opening.startswith(text.casefold()) for text in _texts(match["quoted"]))


def _ends(match: re.Match[str], response: str) -> bool:
    closing = response.strip().casefold()
    texts = [text.casefold() for text in _texts(match["quoted"])]
    return any(closing.endswith(text) or closing.rstrip(".!?\"'”’)").endswith(text) for text in texts)


def _ends_as_question(_match: re.Match[str], response: str) -> bool:
    return response.strip().rstrip("\"'”’)*_").endswith(("?", "？", "؟"))


def _upper(_match: re.Match[str], response: str) -> bool | None:
    return None if response.upper() == response.lower() else response == response.upper()


def _lower(_match: re.Match[str], response: str) -> bool | None:
    return None if response.upper() == response.lower() else response == response.lower()


def _words_at(match: re.Match[str], response: str) -> bool:
    """The nth words, counted from 1 ("last" is the last), are the quoted ones, whatever the case."""
    found = [re.sub(r"^\W+|\W+$", "", word).casefold() for word in _plain_words(response)]
    wanted = [text.casefold() for text in _texts(match["quoted"])]
    places = re.findall(r"\d+|first|last|second|third", match["places"].lower())
    named = {"first": 0, "second": 1, "third": 2, "last": -1}
    if len(places) != len(wanted):
        return False
    for place, word in zip(places, wanted, strict=True):
        index = named[place] if place in named else int(place[:9]) - 1
        if index >= len(found) or not found or found[index] != word:
            return False
    return True


def _form(pattern: str, check: Callable[[re.Match[str], str], "bool | None"]) -> Form:
    return re.compile(pattern, re.IGNORECASE), check


_BOUND = (
    r"(?P<bound>exactly|precisely|only|just|at most|at least|no more than|not more than|no longer than|fewer than|"
    r"less than|shorter than|more than|longer than|over|above|under|below|up to|within|a maximum of|maximum of|maximum|"
    r"a minimum of|minimum of|minimum|no fewer than|no less than|limited to|exceed|about|around|approximately|roughly)"
)
_LENGTH = r"(?:longer |shorter |short |brief |concise )?"
_RANGE = rf"(?:between )?(?P<low>{_NUMBER})(?: and | to | ?[-–] ?)(?P<high>{_NUMBER})"
_NAMED = "|".join(sorted(LANGUAGE_NAMES))
_IN_LANGUAGE = r"(?:be |is |only |entirely |always |use |written |write |respond |reply |answer |speak |in |the )*"
_PLACE = r"(?:first|last|second|third|\d+(?:st|nd|rd|th)?)"
_IN_CASE = r"(?:be |use |in |write |written |respond |answer |entirely |all |only )*"
_AS_JSON = r"(?:be |use |in |a |an |formatted as |returned as |return |output |only |valid |well-formed )*"
_HAVING = r"(?:contain|include|use|have|be|ask|give|provide|containing|including|using|with|as|in|formatted as| )*"
# The first form that matches a clause as a whole and can tell decides.
FORMS: tuple[Form, ...] = (
    _form(rf"{_IN_LANGUAGE}(?P<language>{_NAMED})(?: language| only)*", _language),
    _form(rf"{_WRITTEN}{_LENGTH}(?:{_BOUND} )?(?P<number>{_NUMBER}) {_UNIT}(?: long| in length)?", _bounded),
    _form(
        rf"{_WRITTEN}(?P<number>{_NUMBER}) {_UNIT} (?P<after>or (?:fewer|less|more)|at most|at least|maximum)", _bounded
    ),
    _form(rf"{_WRITTEN}{_RANGE} {_UNIT}(?: long| in length)?", _bounded),
    _form(rf"{_AS_JSON}json(?: object| format)?", _is_json),
    _form(
        rf"(?:contain|include|mention|use|say|have|containing|including|mentioning|using|with) {_THING}{_QUOTED_LIST}",
        _contains,
    ),
    _form(rf"(?:start|begin|open|starting|beginning)s? with {_THING}{_QUOTED_LIST}", _starts),
    _form(rf"(?:end|finish|close|ending)s? with {_THING}{_QUOTED_LIST}", _ends),
    _form(r"(?:end|finish|close|ending)s? with a question(?: mark)?|be (?:phrased as )?a question", _ends_as_question),
    _form(
        rf"(?:with |have )?the (?P<places>{_PLACE}(?:(?:,? and |, ?){_PLACE})*) words? (?:to be|being|must be|is|are) "
        rf"{_QUOTED_LIST}(?: respectively)?",
        _words_at,
    ),
    _form(rf"{_IN_CASE}(?:upper-?\s?case|capital letters|all caps|capitals)(?: letters)?", _upper),
    _form(rf"{_IN_CASE}(?:lower-?\s?case|small letters)(?: letters)?", _lower),
    _form(rf"{_HAVING} ?{_FEATURE_NAMES}", _feature),
)
