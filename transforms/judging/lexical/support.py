"""Is the response supported by the context: groundedness, and Spring AI's relevancy and fact check."""

import re
from typing import NamedTuple

from beamjudge.schemas.assessment import Verdict
from beamjudge.transforms.judging.lexical.evidence import Evidence, evidence, listed, quoted
from beamjudge.transforms.judging.lexical.refusals import is_refusal
from beamjudge.transforms.judging.lexical.relevance import addresses
from beamjudge.transforms.judging.lexical.tokens import Kind, Token, Words, words
from beamjudge.transforms.judging.lexical.verdicts import bad, good, undecided
from beamjudge.transforms.judging.question import JudgeInputs
from beamjudge.transforms.judging.sentences import split_sentences

# A sentence below the first share is not supported; the whole response needs the second, weighted by length.
_SENTENCE_SUPPORT = 0.65
_RESPONSE_SUPPORT = 0.7
_STRICT_SUPPORT = 0.75
_IN_LINE = 0.5
# The support that is left to a sentence with a number that the context lacks, or that negates what the context says.
_CONTRADICTED = 0.5
# A sentence of the context says the same but for a "not" when it has this share of the words and not many more.
_SAME_WORDS = 0.8
_SAME_LENGTH = 1.5
# A sentence with fewer content words, no number and no name is a remark ("Great question!"), not a key claim.
_REMARK_WORDS = 2
_QUESTION_MARKS = ("?", "？", "؟", "¿")
# Questions that state what they ask.
_STATING_QUESTION = re.compile(
    r"\b(?:did|do) you know (?:that|how|what|who|[\w'’-]+ [\w'’-]+)|\b(?:right|isn't it|correct)\W*$", re.IGNORECASE
)
_REMARK = re.compile(
    r"(?:\W*)(?:hi|hello|hey|sure|certainly|of course|thanks?|thank you|you'?re welcome|great|good question|glad|sorry|"
    r"i hope|hope this|let me know|feel free|please let|if you have|is there anything|have a (?:nice|great|good))\b",
    re.IGNORECASE,
)


class Claim(NamedTuple):
    """One sentence of the response with what the context has of it."""

    sentence: str
    support: float
    size: int
    missing: list[Token]
    is_key: bool
    negated: str | None

    @property
    def missing_numbers(self) -> list[Token]:
        return [token for token in self.missing if token.kind is Kind.NUMBER]


def groundedness(inputs: JudgeInputs) -> Verdict:
    """No when a key claim or too much of the response is unsupported; an unsupported side remark passes."""
    return _judge(inputs, _SENTENCE_SUPPORT, _RESPONSE_SUPPORT, keys_only=True)


def fact_check(inputs: JudgeInputs) -> Verdict:
    """The strict one: no when any sentence is unsupported, or has a number that the document does not have."""
    return _judge(inputs, _STRICT_SUPPORT, _STRICT_SUPPORT, keys_only=False)


def relevancy(inputs: JudgeInputs) -> Verdict:
    """Yes when the response is about the request and in line with the context."""
    if is_refusal(inputs.response or ""):
        return bad("the response declines to answer, so it is not in line with the context.", 0.0)
    verdict = _judge(inputs, 0.0, _IN_LINE, keys_only=True)
    relevant, why, _ = addresses(inputs)
    if verdict.rating == "yes" and (verdict.score or 0.0) < _RESPONSE_SUPPORT and not relevant:
        return bad(f"the response is only loosely about the context and not about the request: {why}.", verdict.score)
    return verdict


def _judge(inputs: JudgeInputs, sentence_bar: float, response_bar: float, *, keys_only: bool) -> Verdict:
    context = evidence(inputs.context)
    claims = _claims(inputs.response or "", context)
    if not claims:
        return undecided("the response makes no statement that could be compared with the context.")
    if not context.keys:
        return bad(f"the context has no words that could support {quoted(claims[0].sentence)}.", 0.0)
    total = sum(claim.support * claim.size for claim in claims) / sum(claim.size for claim in claims)
    checked = [claim for claim in claims if claim.is_key or not keys_only]
    worst = min(checked, key=lambda claim: claim.support, default=None)
    if worst is not None and worst.support < sentence_bar:
        return bad(_unsupported(worst), total)
    if total < response_bar:
        return bad(_unsupported(min(claims, key=lambda claim: claim.support)), total)
    return good(f"the context has {total:.0%} of what the response says, sentence by sentence.", total)


def _claims(response: str, context: Evidence) -> list[Claim]:
    """The sentences that state something; questions, courtesies and refusals state nothing."""
    claims = []
    for sentence in split_sentences(response):
        said = words(sentence)
        content = said.content
        if not content or _is_remark(sentence):
            continue
        missing = context.missing(content)
        support = context.support(content)
        negated = _negated(said, context)
        if negated is not None or any(token.kind is Kind.NUMBER for token in missing):
            support = min(support, _CONTRADICTED)
        is_key = len(content) > _REMARK_WORDS or any(token.kind is not Kind.WORD for token in content)
        claims.append(Claim(sentence, support, len(content), missing, is_key, negated))
    return claims


def _negated(said: Words, context: Evidence) -> str | None:
    """The sentence of the context that says the same with a negation more or less; null if there is none."""
    share, number = context.best_sentence(said.content)
    if number is None or share < _SAME_WORDS:
        return None
    there = words(context.sentences[number])
    comparable = len(there.content) <= _SAME_LENGTH * len(said.content)
    return context.sentences[number] if comparable and bool(there.negations) != bool(said.negations) else None


def _is_remark(sentence: str) -> bool:
    if sentence.rstrip().endswith(_QUESTION_MARKS) and not _STATING_QUESTION.search(sentence):
        return True
    return _REMARK.match(sentence) is not None or is_refusal(sentence)


def _unsupported(claim: Claim) -> str:
    if claim.negated is not None:
        return f"{quoted(claim.sentence)} and the context's {quoted(claim.negated)} differ by a negation."
    if claim.missing_numbers:
        return f"{quoted(claim.sentence)} has {listed(claim.missing_numbers)}, which the context does not have."
    if claim.missing:
        return f"{quoted(claim.sentence)} is not supported: the context does not have {listed(claim.missing)}."
    return f"{quoted(claim.sentence)} is not supported: the context has its words, but not together."
