"""Does it hold the expected answer: the response (correctness), or the retrieved context (context sufficiency)."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from beamjudge.schemas.assessment import Verdict
from beamjudge.transforms.judging.lexical.evidence import Evidence, evidence, listed, quoted
from beamjudge.transforms.judging.lexical.tokens import Kind, Token, Words, is_negation, words
from beamjudge.transforms.judging.lexical.verdicts import bad, good, undecided
from beamjudge.transforms.judging.question import JudgeInputs

_SHORT = 8  # content words up to which an expected response is an answer to find, not a text to compare with
_ANSWER_FOUND = 0.6  # share of a short answer's words that have to be there
_TEXT_FOUND = 0.5  # share of a longer expected response's words
_FACT_FOUND = 0.6
_DENIAL_REACH = 2  # tokens before an answer in which a "not" denies it
_MOST_ALTERNATIVES = 20  # parts beyond which an expected response is a text with many slashes
_ANSWER_IS_PART = 0.75  # share of a short response's words that the expected response has ("Einstein")
# Short expected answers often list alternatives: "colour/color", "Holland; the Netherlands".
# A slash between other digits than years is a date or a fraction.
_ALTERNATIVES = re.compile(r"(?:(?<=[^\W\d_.])|(?<=\d{4})|(?<= )) ?/ ?(?=[^\W\d_]|\d{4}\b)|[;；|]")
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")
_SQUEEZED = 6  # characters from which a text found without its spaces is no chance
_YES = re.compile(
    r"\W*(?:yes|yeah|yep|true|correct|ja|oui|sí|si|sì|sim|evet|да|نعم|是的?|对|はい|ใช่)(?!\w)", re.IGNORECASE
)
_NO = re.compile(r"\W*(?:no|nope|false|incorrect|nein|non|não|hayır|нет|لا|不是?|否|いいえ|ไม่)(?!\w)", re.IGNORECASE)


class _Response(NamedTuple):
    """A response as it is compared with each of the references."""

    text: str
    words: Words
    evidence: Evidence
    squeezed: str
    asked: frozenset[str]


def correctness(inputs: JudgeInputs) -> Verdict:
    """Yes when the response has every expected fact, or agrees with any of the expected responses."""
    text = inputs.response or ""
    if not text.strip():
        return bad("the response is empty.", 0.0)
    said = evidence((text,))
    if inputs.expected_facts:
        return _facts(inputs.expected_facts, said, "response")
    if not inputs.expected_responses:
        return undecided("there is no expected response to compare with.")
    response = _Response(text, words(text), said, _squeezed(text), words(inputs.request).keys)
    return _best([_agrees(reference, response) for reference in _references(inputs)])


def context_sufficiency(inputs: JudgeInputs) -> Verdict:
    """Yes when the context has every expected fact, or the words of any of the expected responses."""
    context = evidence(inputs.context)
    if not context.keys:
        return bad("the context is empty, so everything is missing.", 0.0)
    if inputs.expected_facts:
        return _facts(inputs.expected_facts, context, "context")
    if not inputs.expected_responses:
        return undecided("there is no expected response to look for.")
    asked = words(inputs.request).content
    return _best([_sufficient(reference, asked, context) for reference in _references(inputs)])


def _best(results: list[tuple[float, str, bool]]) -> Verdict:
    """The verdict of the reference that agrees, or else comes nearest."""
    score, reason, agrees = max(results, key=lambda result: (result[2], result[0]))
    return good(reason, score) if agrees else bad(reason, score)


def _references(inputs: JudgeInputs) -> list[str]:
    """The alternatives: the expected responses, and the parts of short ones that list several."""
    references: list[str] = []
    for expected in inputs.expected_responses:
        parts = [part for part in _ALTERNATIVES.split(expected) if part.strip()]
        short = 1 < len(parts) <= _MOST_ALTERNATIVES and all(len(words(part).content) <= _SHORT for part in parts)
        references.extend([expected, *parts] if short else [expected])
    return references


def _facts(expected: tuple[str, ...], text: Evidence, where: str) -> Verdict:
    """Yes when each fact's words are in the text, its numbers all of them."""
    missing = [fact for fact in expected if not _has_fact(fact, text)]
    score = 1 - len(missing) / len(expected)
    if not missing:
        return good(f"the {where} has the words of all expected facts ({len(expected)}).", score)
    tokens = text.missing(words(missing[0]).content)
    lacking = f" (no {listed(tokens)})" if tokens else ""
    return bad(f"the {where} lacks {len(missing)} of {len(expected)} facts: {quoted(missing[0])}{lacking}.", score)


def _has_fact(fact: str, text: Evidence) -> bool:
    content = words(fact).content
    return text.coverage(content) >= _FACT_FOUND and not _missing_numbers(content, text)


def _missing_numbers(tokens: Sequence[Token], text: Evidence) -> list[Token]:
    return [token for token in tokens if token.kind is Kind.NUMBER and not text.has_number(token)]


def _agrees(reference: str, response: _Response) -> tuple[float, str, bool]:
    """The share found, the reason, and whether the response agrees with this reference."""
    expected = words(reference)
    polarity, said_polarity = _polarity(reference), _polarity(response.text)
    if polarity is not None and said_polarity not in (None, polarity):
        return 0.0, f"the expected response is {quoted(reference)}, and the response says the opposite.", False
    if not expected.content:
        same = polarity == said_polarity is not None or _same_text(reference, response)
        return float(same), f"the response {'agrees' if same else 'does not agree'} with {quoted(reference)}.", same
    share = response.evidence.coverage(expected.content)
    if len(expected.content) > _SHORT:
        return _text_agrees(reference, share, response)
    if not expected.negations and _is_denied(expected, response.words):
        return 0.0, f"the response denies the expected {quoted(reference)}.", False
    lacking = _missing_numbers(expected.content, response.evidence)
    if share >= _ANSWER_FOUND and not lacking:
        return share, f"the response has the expected answer {quoted(reference)}.", True
    if len(_squeezed(reference)) >= _SQUEEZED and _squeezed(reference) in response.squeezed:
        return 1.0, f"the response has the expected answer {quoted(reference)}, spaced differently.", True
    if lacking and _same_year(expected, response):
        return share, f"the response has the year of the expected {quoted(reference)} and no other number.", True
    own = [token for token in response.words.content if token.key not in response.asked]
    part = evidence((reference,)).coverage(own)
    if own and len(response.words.content) <= _SHORT and part >= _ANSWER_IS_PART:
        return part, f"the response is the main part of the expected {quoted(reference)}.", True
    missing = listed(response.evidence.missing(expected.content))
    return share, f"the response does not have the expected {quoted(reference)}: no {missing}.", False


def _text_agrees(reference: str, share: float, response: _Response) -> tuple[float, str, bool]:
    """A longer text agrees by the share of its words, unless one of two texts of like length negates."""
    expected, given = words(reference), response.words
    part = evidence((reference,)).coverage(given.content)
    if share < _TEXT_FOUND and part < _ANSWER_IS_PART:
        missing = listed(response.evidence.missing(expected.content))
        return share, f"the response has {share:.0%} of the words of {quoted(reference)}; it lacks {missing}.", False
    comparable = len(given.content) <= 2 * len(expected.content)
    if comparable and bool(expected.negations) != bool(given.negations):
        return share, f"the response and the expected {quoted(reference)} differ by a negation.", False
    return share, f"the response has {share:.0%} of the words of the expected {quoted(reference)}.", True


def _is_denied(expected: Words, given: Words) -> bool:
    """Whether a negation stands right before the expected answer wherever the response has its first word."""
    first = expected.content[0].key
    places = [place for place, token in enumerate(given.tokens) if token.key == first]
    return bool(places) and all(
        any(is_negation(token) for token in given.tokens[max(0, place - _DENIAL_REACH) : place]) for place in places
    )


def _same_text(reference: str, response: _Response) -> bool:
    """Whether two texts without content words are one: letter by letter, or sign by sign where there are no letters."""
    squeezed = _squeezed(reference)
    return squeezed == response.squeezed if squeezed else reference.strip() == response.text.strip()


def _squeezed(text: str) -> str:
    return _NOT_ALPHANUMERIC.sub("", text.casefold())


def _same_year(expected: Words, response: _Response) -> bool:
    """Whether a date is only less exact: its year is there, and no number but those expected or asked about."""
    numbers = {token.key for token in expected.content if token.kind is Kind.NUMBER}
    told = {token.key for token in response.words.content if token.kind is Kind.NUMBER} - response.asked
    return any(len(number) == 4 for number in told) and told <= numbers


def _polarity(text: str) -> bool | None:
    """True for a text that begins with a yes, false for a no, null for neither."""
    if _YES.match(text):
        return True
    return False if _NO.match(text) else None


def _sufficient(reference: str, asked: Sequence[Token], context: Evidence) -> tuple[float, str, bool]:
    """The share found, the reason, and whether the context has this reference: a short one in one sentence."""
    expected = words(reference).content
    if not expected:
        share = context.coverage(asked)
        reason = f"{quoted(reference)} names nothing to look for; the context has {share:.0%} of the request's words."
        return share, reason, share >= _TEXT_FOUND
    is_short = len(expected) <= _SHORT
    share = context.best_sentence(expected)[0] if is_short else context.coverage(expected)
    if share >= (_ANSWER_FOUND if is_short else _TEXT_FOUND) and not _missing_numbers(expected, context):
        return share, f"the context has {share:.0%} of the expected {quoted(reference)}.", True
    missing = context.missing(expected)
    lacking = f"it lacks {listed(missing)}" if missing else "its words are not together"
    return share, f"the context does not have the expected {quoted(reference)}: {lacking}.", False
