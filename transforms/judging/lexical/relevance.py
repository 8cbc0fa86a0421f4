"""Is it about the request: the response (relevance to query), or one retrieved chunk (chunk relevance)."""

import re

from beamjudge.schemas.assessment import Verdict
from beamjudge.transforms.judging.lexical.evidence import evidence, listed, quoted
from beamjudge.transforms.judging.lexical.refusals import is_refusal
from beamjudge.transforms.judging.lexical.stopwords import word_list
from beamjudge.transforms.judging.lexical.tokens import Kind, Token, Words, stem, words
from beamjudge.transforms.judging.lexical.verdicts import bad, good, undecided
from beamjudge.transforms.judging.question import JudgeInputs

_RESPONSE_OVERLAP = 0.3
# Content words that a chunk must share with a request of n: 1 + n/4, for long requests have more words by the way.
_CHUNK_WORDS = 1
_CHUNK_WORDS_PER_WORD = 0.25
# Words of an answer that need not repeat the request: a fragment ("Paris, in 1987"), or a sentence about "it" or "he".
_FRAGMENT = 5
_SHORT_SENTENCE = 12
_POINTS_BACK = frozenset(
    word_list("it he she they this that these those yes no because er sie es ja nein il elle oui non")
)
# Words of tasks: what is asked to be done, not what it is about.
_TASK_WORDS = frozenset(
    stem(word)
    for word in word_list(
        """summarise summarize summary article text passage document context explain describe write list tell
        give please question answer following sentence paragraph translate rewrite paraphrase provide
        generate create mean name example discuss know find"""
    )
)
# A refusal that goes on after all.
_GOES_ON = re.compile(r"\b(?:however|but|nevertheless|that said|according to|based on)\b", re.IGNORECASE)

_ASKS_NUMBER = re.compile(
    r"\b(?:how (?:many|much|old|long|far|tall|high|big|large|fast|heavy)|what (?:year|date|percentage|number|time)|when"
    r"|wann|wie ?viele?|combien|quand|cuántos?|cuándo|kaç|сколько|когда|كم|متى)\b|多少|何年|いつ|いくつ|几|เมื่อไร|กี่",
    re.IGNORECASE,
)
_TIME_WORDS = re.compile(
    r"\b(?:never|always|yesterday|today|tomorrow|century|spring|summer|autumn|winter|morning|evening|monday|tuesday|"
    r"wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|"
    r"november|december|none|one|no|few|many|several|hundred|thousand|million)\b",
    re.IGNORECASE,
)


def relevance_to_query(inputs: JudgeInputs) -> Verdict:
    """Yes when the response takes up the request's content words, or is a short answer of the kind that was asked."""
    response = inputs.response or ""
    if not response.strip():
        return bad("the response is empty.", 0.0)
    relevant, why, score = addresses(inputs)
    return good(f"{why}.", score) if relevant else bad(f"{why}.", score)


def chunk_relevance(inputs: JudgeInputs) -> Verdict:
    """Yes when the chunk has enough of the request's content words."""
    chunk = evidence(inputs.context)
    if not chunk.keys:
        return bad("the chunk has no words.", 0.0)
    asked = _topic(inputs)
    if not asked:
        return undecided("the request has no content words to look for.")
    share = chunk.coverage(asked)
    missing = chunk.missing(asked)
    found = len(asked) - len(missing)
    if found >= min(len(asked), _CHUNK_WORDS + _CHUNK_WORDS_PER_WORD * len(asked)):
        return good(f"the chunk has {share:.0%} of the request's content words.", share)
    return bad(f"the chunk has {share:.0%} of the request's content words; it lacks {listed(missing)}.", share)


def addresses(inputs: JudgeInputs) -> tuple[bool, str, float | None]:
    """Whether the response is about the request, why (a clause without its full stop), and the overlap in [0, 1].

    A short answer that need not repeat the request has no overlap to tell.
    """
    response = inputs.response or ""
    said = words(response)
    asked = _topic(inputs)
    if is_refusal(response) and not _GOES_ON.search(response):
        return False, f"the response declines to answer: {quoted(response)}", 0.0
    if not asked:
        return bool(response.strip()), "the request has no content words, so any answer may fit", 1.0
    answer = evidence((response,))
    share = answer.coverage(asked)
    if share >= _RESPONSE_OVERLAP:
        return True, f"the response takes up {share:.0%} of the request's content words", share
    if _is_short_answer(said) and _fits(inputs.request, response, said.content):
        return True, f"the response is a short answer of the kind that was asked for: {quoted(response)}", None
    missing = answer.missing(asked)
    return False, f"the response takes up {share:.0%} of the request's content words; it lacks {listed(missing)}", share


def _is_short_answer(said: Words) -> bool:
    points_back = bool(said.tokens) and said.tokens[0].surface.casefold() in _POINTS_BACK
    return len(said.tokens) <= (_SHORT_SENTENCE if points_back else _FRAGMENT)


def _topic(inputs: JudgeInputs) -> list[Token]:
    """The request's content words, each once; a request with at most one borrows from the user's turn before it."""
    tokens = {token.key: token for token in words(inputs.request).content if token.key not in _TASK_WORDS}
    earlier = [turn.text for turn in inputs.history if turn.role == "user"]
    if len(tokens) < 2 and earlier:
        tokens.update((token.key, token) for token in words(earlier[-1]).content)
    return list(tokens.values())


def _fits(request: str, response: str, said: tuple[Token, ...]) -> bool:
    """Whether a short answer has what the question word asks for: a number or time, or else any content."""
    if _ASKS_NUMBER.search(request):
        return any(token.kind is Kind.NUMBER for token in said) or _TIME_WORDS.search(response) is not None
    return bool(response.strip())
