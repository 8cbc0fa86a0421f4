"""Does the response follow the guidelines: yes or no for forms that rules can check, "cannot tell" for all others."""

import re

from beamjudge.schemas.assessment import Verdict
from beamjudge.transforms.judging.lexical.evidence import evidence, quoted
from beamjudge.transforms.judging.lexical.guideline_forms import FORMS
from beamjudge.transforms.judging.lexical.tokens import words
from beamjudge.transforms.judging.lexical.verdicts import bad, good, undecided
from beamjudge.transforms.judging.question import JudgeInputs

_LONGEST = 2_000  # characters of a guideline that are read; longer ones are no simple form
# "The response must be ...", "Answer ...", "Please write ...": what is left is the form.
_SUBJECT = re.compile(
    r"(?:please\s+|always\s+)*(?:(?:(?:the|your|its?|this|each|every)\s+)?(?:response|answer|output|reply|text|message|"
    r"assistant|model|it|you)s?\s+)?(?:(?:must|should|shall|has\s+to|have\s+to|needs?\s+to|ought\s+to|may|can|is|are|will)\b"
    r"(?:\s+always)?\s*)?",
    re.IGNORECASE,
)
_ONE = re.compile(
    r"(?:be\s+)?(?:one|an?\s+(?:response|answer|text|reply))\s+(?:that|which|(?=with|containing|not|including|ending|starting))\s*",
    re.IGNORECASE,
)
# What must not contain 'a' and 'b' must contain neither.
_LISTED = re.compile(r"(?<=['\"”’`])(?:,? and |, )(?=['\"“‘`])")
_NOT = re.compile(
    r"(?:not|never|does\s+not|do\s+not|don['’]t|must\s+not|should\s+not|may\s+not|cannot|avoid|without|be\s+free\s+of|"
    r"(?:use|contain|include|have|ask|with)?\s*no)\s+",
    re.IGNORECASE,
)
_TOPIC = re.compile(
    r"(?:mention|name|cite|mentioning|refer to|include|contain) (?:the |an? )?([^'\"“”,;]{2,80})", re.IGNORECASE
)
_QUOTED_TEXT = re.compile(r"'[^']*'(?!\w)|\"[^\"]*\"|“[^”]*”|‘[^’]*’|`[^`]*`")
_CONNECTIVE = re.compile(r",?\s+\b(and|or|but)\b\s+(?:it\s+)?(?:must\s+|should\s+)?", re.IGNORECASE)


def guideline_adherence(inputs: JudgeInputs) -> Verdict:
    """No when a guideline is broken, yes when all are kept; not applicable when one of them cannot be checked."""
    response = inputs.response or ""
    if not response.strip():
        return bad("the response is empty.", 0.0)
    if not inputs.guidelines:
        return undecided("there is no guideline.")
    results = [(guideline, follows(guideline, response)) for guideline in inputs.guidelines]
    broken = [guideline for guideline, kept in results if kept is False]
    unknown = [guideline for guideline, kept in results if kept is None]
    if broken:
        return bad(f"the response breaks {quoted(broken[0])}.", 1 - len(broken) / len(results))
    if unknown:
        return undecided(f"cannot check {quoted(unknown[0])}.")
    return good(
        f"the response keeps {'the guideline' if len(results) == 1 else f'all {len(results)} guidelines'}.", 1.0
    )


def follows(guideline: str, response: str) -> bool | None:
    """Whether `response` keeps `guideline`; null for one that the rules do not understand or cannot tell."""
    if len(guideline) > _LONGEST:
        return None
    body = " ".join(guideline.strip().rstrip(".!。").split())
    subject = _SUBJECT.match(body)
    body = body[subject.end() :] if subject else body
    one = _ONE.match(body)
    return _evaluate(body[one.end() :] if one else body, response)


def _evaluate(body: str, response: str) -> bool | None:
    """The form of the whole body, else its parts joined by and / or, each read on its own."""
    whole = _clause(body, response)
    if whole is not None:
        return whole
    parts, connectives = _parts(body)
    if len(parts) < 2 or len(connectives) > 1:
        return None
    values = [_clause(part, response) for part in parts]
    if connectives == {"or"}:
        return True if True in values else (None if None in values else False)
    return False if False in values else (None if None in values else True)


def _parts(body: str) -> tuple[list[str], set[str]]:
    """The clauses of a body and the words that join them; what is in quotation marks is not looked into."""
    hidden = _QUOTED_TEXT.sub(_mask, body)
    parts, connectives, start = [], set(), 0
    for match in _CONNECTIVE.finditer(hidden):
        parts.append(body[start : match.start()])
        connectives.add("or" if match[1].lower() == "or" else "and")
        start = match.end()
    return [*parts, body[start:]], connectives


def _mask(match: re.Match[str]) -> str:
    return "x" * len(match.group())


def _clause(clause: str, response: str) -> bool | None:
    negation = _NOT.match(clause)
    if negation:
        clause = _LISTED.sub(" or ", clause[negation.end() :])
    for pattern, check in FORMS:
        match = pattern.fullmatch(clause)
        if match is not None:
            kept = check(match, response)
            if kept is not None:
                return kept is (negation is None)
    topic = _TOPIC.fullmatch(clause)
    return _mentions(topic[1], response, negation is not None) if topic else None


def _mentions(topic: str, response: str, is_forbidden: bool) -> bool | None:
    """Whether a topic is mentioned or, when forbidden, is not: by its words, as far as they tell.

    All of its words there: mentioned. None of them: not mentioned, but a forbidden topic without a proper name (say,
    competitors) may still be there in other words.
    """
    content = words(topic).content
    share = evidence((response,)).coverage(content)
    if not content or 0 < share < 1:
        return None
    if is_forbidden and not share and not any(map(str.isupper, topic)):
        return None
    return (share == 1) is not is_forbidden
