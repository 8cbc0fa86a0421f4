"""Objects out of a judge's reply: JSON as models write it, read in one pass and without recursion.

Accepted beyond JSON: single-quoted strings, line breaks and other control characters in strings, unknown escapes (kept
as they stand), trailing commas, Python's True, False and None. Text inside strings is never edited.
"""

import math
import re

from beamjudge.schemas.json_value import Json

MAX_DEPTH = 100

_SPACE = re.compile(r"\s+")
_UP_TO_QUOTE = {quote: re.compile(rf"[^{quote}\\]*(?:\\.[^{quote}\\]*)*", re.DOTALL) for quote in "\"'"}
_AFTER_STRING = re.compile(r"\s*[,:}\]]")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORD = re.compile(r"(?:true|false|null|True|False|None)(?!\w)")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\", "/": "/"}
_SURROGATE = re.compile("[\ud800-\udfff]")
_BEGINS_OBJECT = re.compile(r"\{\s*(?:[\"'“”‘’]|[A-Za-z_]\w*\s*:)")


class BrokenObjectError(Exception):
    """Text that begins like an object and cannot be read as one: where it ends and what it says is not known."""


class _MalformedError(Exception):
    """What stands at this place is not what has to stand there."""


def find_objects(text: str) -> list[dict[str, Json]]:
    """The outermost objects in `text` in order, whatever stands around them.

    A brace of prose or of a formula is passed over. Raises BrokenObjectError where something begins like an object and
    cannot be read, or has a key twice with two values: an object inside it may be a quotation, so none is taken.
    """
    objects: list[dict[str, Json]] = []
    at = 0
    while beginning := _BEGINS_OBJECT.search(text, at):
        try:
            value, at = _parse_object(text, beginning.start())
        except _MalformedError as error:
            raise BrokenObjectError from error
        objects.append(value)
    return objects


def without_surrogates(text: str) -> str:
    """`text` with surrogate pairs joined to their character and unpaired ones replaced by U+FFFD."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class _Open:
    """An object or array whose end, `closer`, has not been reached."""

    __slots__ = ("closer", "keys", "values")

    def __init__(self, closer: str) -> None:
        self.closer = closer
        self.keys: list[str] = []
        self.values: list[Json] = []

    def value(self) -> Json:
        if self.closer == "]":
            return self.values
        result: dict[str, Json] = {}
        for key, value in zip(self.keys, self.values, strict=True):
            if result.setdefault(key, value) != value:
                raise _MalformedError
        return result


def _parse_object(text: str, start: int) -> tuple[dict[str, Json], int]:
    """The object that begins at `start`, and where it ends."""
    open_values = [_Open("}")]
    at = _skip_space(text, start + 1)
    while True:
        top = open_values[-1]
        if text[at : at + 1] == top.closer:
            value = top.value()
            open_values.pop()
            if not open_values:
                assert isinstance(value, dict)
                return value, at + 1
            open_values[-1].values.append(value)
            at = _skip_space(text, at + 1)
        else:
            if top.closer == "}":
                key, at = _parse_string(text, at)
                top.keys.append(key)
                at = _skip_space(text, _expect(text, _skip_space(text, at), ":"))
            if text[at : at + 1] in ("{", "["):
                if len(open_values) == MAX_DEPTH:
                    raise _MalformedError
                open_values.append(_Open("}" if text[at] == "{" else "]"))
                at = _skip_space(text, at + 1)
                continue
            scalar, at = _parse_scalar(text, at)
            top.values.append(scalar)
            at = _skip_space(text, at)
        if text[at : at + 1] != open_values[-1].closer:
            at = _skip_space(text, _expect(text, at, ","))


def _parse_scalar(text: str, at: int) -> tuple[Json, int]:
    if text[at : at + 1] in ('"', "'"):
        return _parse_string(text, at)
    if word := _WORD.match(text, at):
        return _WORDS[word.group()], word.end()
    number = _NUMBER.match(text, at)
    if number is None or not math.isfinite(value := float(number.group())):
        raise _MalformedError
    return value, number.end()


def _parse_string(text: str, at: int) -> tuple[str, int]:
    """The string at `at`. An apostrophe inside a single-quoted one is told from its end by what follows it."""
    quote = text[at : at + 1]
    if quote not in _UP_TO_QUOTE:
        raise _MalformedError
    end = at
    while True:
        rest = _UP_TO_QUOTE[quote].match(text, end + 1)
        end = rest.end() if rest else end + 1
        if text[end : end + 1] != quote:
            raise _MalformedError
        if quote == '"' or _AFTER_STRING.match(text, end + 1):
            break
    string = text[at + 1 : end]
    return without_surrogates(_ESCAPE.sub(_unescape, string) if "\\" in string else string), end + 1


def _unescape(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return _ESCAPED.get(escape[2], escape[0])


def _expect(text: str, at: int, char: str) -> int:
    if text[at : at + 1] != char:
        raise _MalformedError
    return at + 1


def _skip_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at
