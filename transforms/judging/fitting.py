"""Cutting the retrieved context so that a prompt fits the model; the response and the question are never cut."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from beamjudge.schemas.run_config import Endpoint
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.judging.context_limit import ContextLimit
from beamjudge.transforms.judging.question import JudgeInputs
from beamjudge.transforms.judging.render import Message, render

TRUNCATED = "truncated:retrieved_context"
# Room for the reply where the endpoint's parameters set no maximum, and at most this share of the context.
_REPLY_TOKENS = 1024
_REPLY_SHARE = 4
_TOKENS_PER_MESSAGE = 8
# How few ASCII characters a token is taken to have.
ASCII_PER_TOKEN = 3
# Tokens do not spread evenly over a text: a cut leaves more of them than its share of characters.
_MARGIN = 0.95
# A chunk is never cut below this many characters: what is left has to mean something to the judge.
MIN_CHUNK_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class Prompt:
    """The messages of one question, and whether the context was cut for them."""

    messages: tuple[Message, ...]
    tokens: int
    truncated: bool = False


def estimate_tokens(text: str) -> int:
    """An upper guess of the tokens in `text`: three ASCII characters a token, and two tokens for three other bytes.

    English prose has four to five characters a token; code, numbers and ids come close to three. With the common
    byte-pair vocabularies a Chinese or Thai character (three bytes in UTF-8) takes one to two tokens.
    """
    if text.isascii():
        return -(-len(text) // ASCII_PER_TOKEN)
    size = len(text.encode("utf-8", "surrogatepass"))
    ascii_characters = len(text.encode("ascii", "ignore"))
    return -(-ascii_characters // ASCII_PER_TOKEN) + -(-2 * (size - ascii_characters) // 3)


def fit_prompt(binding: JudgeBinding, inputs: JudgeInputs, room: int | None = None) -> Prompt | None:
    """The prompt for `inputs`, cut to `room` estimated tokens; null if it cannot be made to fit.

    Without `room` it is the endpoint's `context_tokens` less the reply's, and unlimited where that is not known. The
    longest chunks are cut first: all are cut to the greatest common length with which the prompt fits.
    """
    prompt = _prompt(render(binding, inputs))
    room = _room(binding.endpoint) if room is None else room
    if room is None or prompt.tokens <= room:
        return prompt
    longest = max(map(len, inputs.context), default=0)
    best: Prompt | None = None
    low, high = min(MIN_CHUNK_CHARACTERS, longest), longest - 1
    while low <= high:
        length = (low + high) // 2
        cut = _prompt(render(binding, replace(inputs, context=tuple(chunk[:length] for chunk in inputs.context))))
        if cut.tokens <= room:
            best, low = replace(cut, truncated=True), length + 1
        else:
            high = length - 1
    return best


def _prompt(messages: Sequence[Message]) -> Prompt:
    tokens = sum(estimate_tokens(message.content) + _TOKENS_PER_MESSAGE for message in messages)
    return Prompt(tuple(messages), tokens)


def _room(endpoint: Endpoint) -> int | None:
    """Tokens for the prompt: the context less the reply's maximum."""
    if endpoint.context_tokens is None:
        return None
    return endpoint.context_tokens - reply_tokens(endpoint)


def configured_reply_tokens(endpoint: Endpoint) -> int | None:
    """The most tokens of a reply, if the endpoint's parameters set it."""
    given = (endpoint.parameters.get(name) for name in ("max_completion_tokens", "max_tokens"))
    return next((tokens for tokens in given if isinstance(tokens, int)), None)


def reply_tokens(endpoint: Endpoint) -> int:
    """Tokens to keep free for the reply: as configured, else 1,024 and at most a quarter of the context."""
    configured = configured_reply_tokens(endpoint)
    if configured is not None:
        return configured
    return min(_REPLY_TOKENS, (endpoint.context_tokens or _REPLY_TOKENS * _REPLY_SHARE) // _REPLY_SHARE)


def room_after(limit: ContextLimit, prompt: Prompt, endpoint: Endpoint) -> int:
    """Estimated tokens for a prompt after the endpoint rejected `prompt`, by what it said of its context.

    Where it said how long the prompt is, its tokens are translated into estimated ones. Half of the prompt is a guess
    for an endpoint that says nothing.
    """
    if limit.tokens is None:
        return prompt.tokens // 2
    room = limit.tokens - min(reply_tokens(endpoint), limit.tokens // _REPLY_SHARE)
    if limit.sent is not None:
        room = int(room * prompt.tokens / limit.sent * _MARGIN)
    return min(room, prompt.tokens - 1)
