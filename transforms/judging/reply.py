"""From a judge model's reply to a verdict. Strict and honest: what is not plainly a verdict is an error, never a guess.

Error messages say what was wrong with a reply and never repeat it: it may quote the text that was judged.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from beamjudge.schemas.assessment import Rating, Verdict
from beamjudge.schemas.json_value import Json, canonical_json
from beamjudge.schemas.judges import Protocol
from beamjudge.transforms.judging.reply_json import BrokenObjectError, find_objects, without_surrogates

REFUSED: Final = "the judge refused to answer"
FILTERED: Final = "the judge's reply was stopped by a content filter"
TOOL_CALLS: Final = "the judge called a tool instead of answering"
EMPTY: Final = "the judge's reply is empty"
CUT_OFF: Final = "the judge's reply was cut off at the output limit before a verdict"
UNCLOSED_THINKING: Final = "the judge's reply ends within its thinking"
HTML: Final = "the judge's reply is an HTML page"
NO_VERDICT: Final = "the judge's reply holds no verdict"
BROKEN: Final = "the judge's reply holds an object that is not valid JSON"
NO_RATING: Final = "the judge's reply has no rating"
BAD_RATING: Final = "the judge's rating is neither yes nor no"
DISAGREE: Final = "the judge's reply holds verdicts that disagree"

_THINKING = r"think|thinking|thought|thoughts|reasoning|analysis|reflection|scratchpad"
_OPENING = re.compile(rf"\s*(?:<(?:{_THINKING})>|\[think\])", re.IGNORECASE)
_OPENING_LINE = re.compile(rf"^[ \t]*(?:<(?:{_THINKING})>|\[think\])", re.IGNORECASE | re.MULTILINE)
_CLOSING = re.compile(rf"</(?:{_THINKING})>|\[/think\]", re.IGNORECASE)
_HTML = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_PAIRED = "*_`~\"'“”„«»‘’「」"
_MARKUP = _PAIRED + "#> \t\r\n\u3000"
_WORD = re.compile(r"[^\W_]+(?:['’_-][^\W_]+)*")
_SEPARATOR = re.compile(r"[*_`~\"'”’»」.,:;!?。、，：；！？)\]–—-]*\s*(?:[-–—:|]+\s+)?")
_RATINGS: dict[str, Rating] = {"yes": "yes", "no": "no"}


@dataclass(frozen=True, slots=True)
class Reply:
    """What an endpoint answered. Reasoning that comes in a field of its own is no part of it."""

    content: str | None
    finish_reason: str | None = None
    refusal: str | None = None
    has_tool_calls: bool = False


class _NoVerdictError(Exception):
    """Why a reply gives no verdict, in words of our own."""


def read_reply(reply: Reply, protocol: Protocol) -> Verdict:
    """The verdict in `reply`, or a failed verdict that says what was wrong with it."""
    try:
        text = _answer(reply)
        if protocol is Protocol.STRUCTURED:
            return _read_structured(text, reply.finish_reason)
        return _read_yes_no(text, reply.finish_reason, with_rationale=protocol is Protocol.YES_NO)
    except _NoVerdictError as error:
        return Verdict.failed(str(error))


def _answer(reply: Reply) -> str:
    """The text to look for a verdict in: the reply without byte-order mark and thinking."""
    if reply.refusal and reply.refusal.strip():
        raise _NoVerdictError(REFUSED)
    if reply.finish_reason == "content_filter":
        raise _NoVerdictError(FILTERED)
    text = without_surrogates(reply.content or "").lstrip("\ufeff").strip()
    if text and not _HTML.match(text):
        text = _without_thinking(text)
    if not text:
        if reply.finish_reason == "length":
            raise _NoVerdictError(CUT_OFF)
        raise _NoVerdictError(TOOL_CALLS if reply.has_tool_calls else EMPTY)
    if _HTML.match(text):
        raise _NoVerdictError(HTML)
    return text


def _without_thinking(text: str) -> str:
    """What follows the thinking at the head of a reply.

    Chat templates that open the thinking themselves leave a closing tag alone. It is taken for one only where nothing
    before it could be a verdict, since in a verdict it is a quotation.
    """
    at = 0
    while opening := _OPENING.match(text, at) or _OPENING_LINE.search(text, at):
        if _may_hold_verdict(text[at : opening.start()]):
            break
        closing = _CLOSING.search(text, opening.end())
        if closing is None:
            raise _NoVerdictError(UNCLOSED_THINKING)
        at = closing.end()
    text = text[at:].strip()
    closings = list(_CLOSING.finditer(text))
    if not closings:
        return text
    head, tail = text[: closings[-1].start()], text[closings[-1].end() :].strip()
    if not _may_hold_verdict(head):
        return tail
    first, last = _leading_rating(head), _leading_rating(tail)
    if first and last and first.rating != last.rating:
        raise _NoVerdictError(DISAGREE)
    return text


def _may_hold_verdict(text: str) -> bool:
    return "{" in text or _leading_rating(text) is not None


def _read_structured(text: str, finish_reason: str | None) -> Verdict:
    """The verdict of a JSON object: all objects with a rating, nested ones too, have to agree.

    A reply that is nothing but the word yes or no is plain enough to be taken as well, without a rationale.
    """
    cut_off = finish_reason == "length"
    try:
        objects = find_objects(text)
    except BrokenObjectError as error:
        raise _NoVerdictError(CUT_OFF if cut_off else BROKEN) from error
    verdicts = [verdict for value in objects for verdict in _verdict_objects(value)]
    if not verdicts:
        leading = None if cut_off else _leading_rating(text)
        if leading and not leading.rest:
            return Verdict.scored(leading.rating, None)
        raise _NoVerdictError(CUT_OFF if cut_off else NO_RATING if objects else NO_VERDICT)
    ratings = {_as_rating(value) for verdict in verdicts for value in _fields(verdict, "rating")}
    if len(ratings) > 1:
        raise _NoVerdictError(DISAGREE)
    rationales = [value for verdict in verdicts for value in _fields(verdict, "rationale") if value is not None]
    rationale = rationales[-1] if rationales else None
    scores = [value for verdict in verdicts for value in _fields(verdict, "score") if isinstance(value, float)]
    return Verdict.scored(
        ratings.pop(),
        rationale if rationale is None or isinstance(rationale, str) else canonical_json(rationale),
        score=scores[-1] if scores else None,
    )


def _verdict_objects(value: Json) -> Iterator[dict[str, Json]]:
    """The objects in `value` that have a rating, outer ones first."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if _fields(value, "rating"):
                yield value
            waiting.extend(reversed(value.values()))
        elif isinstance(value, list):
            waiting.extend(reversed(value))


def _fields(value: dict[str, Json], name: str) -> list[Json]:
    """The values under `name` in any case: more than one when it is spelled in several ways."""
    return [field for key, field in value.items() if key.strip().casefold() == name]


def _as_rating(value: Json) -> Rating:
    rating = _RATINGS.get(value.strip().casefold()) if isinstance(value, str) else None
    if rating is None:
        raise _NoVerdictError(BAD_RATING)
    return rating


class _LeadingRating(NamedTuple):
    """A yes or no that a text begins with, and the text after it."""

    rating: Rating
    rest: str


def _read_yes_no(text: str, finish_reason: str | None, *, with_rationale: bool) -> Verdict:
    """The verdict of a reply whose first word is yes or no in any case; the rest is the rationale.

    "Yes and no" and the like are an error. So is a single word that was cut off: "no" may be the head of "nothing".
    """
    leading = _leading_rating(text)
    cut_off = finish_reason == "length" and (leading is None or not leading.rest)
    if leading is None or cut_off:
        raise _NoVerdictError(CUT_OFF if cut_off else NO_VERDICT)
    if _takes_back(leading):
        raise _NoVerdictError(DISAGREE)
    return Verdict.scored(leading.rating, leading.rest if with_rationale and leading.rest else None)


def _leading_rating(text: str) -> _LeadingRating | None:
    stripped = text.lstrip(_MARKUP)
    word = _WORD.match(stripped)
    rating = _RATINGS.get(word.group().casefold()) if word else None
    if word is None or rating is None or unicodedata.combining(stripped[word.end() : word.end() + 1] or " "):
        return None
    separator = _SEPARATOR.match(stripped, word.end())
    rest = stripped[separator.end() if separator else word.end() :].rstrip()
    # Quotation marks or emphasis around the whole reply are closed at its end, those around the word right after it.
    around_all = text[: len(text) - len(stripped)].rstrip(" #>\t\r\n\u3000")
    closed = stripped[word.end() : word.end() + 1] in tuple(_PAIRED)
    return _LeadingRating(rating, rest.rstrip(_PAIRED) if around_all and not closed else rest)


def _takes_back(leading: _LeadingRating) -> bool:
    """Whether the other rating follows at once: "yes and no", "yes/no", or nothing but it ("Yes. No.")."""
    rest = leading.rest.lstrip("/|& \t")
    words = [word.group().casefold() for word in islice(_WORD.finditer(rest), 3)]
    joined = len(rest) < len(leading.rest) or words[:1] in (["and"], ["or"])
    if words[:1] in (["and"], ["or"]):
        words = words[1:]
    return words[:1] in (["yes"], ["no"]) and words[0] != leading.rating and (joined or len(words) == 1)
