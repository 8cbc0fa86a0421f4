"""How long a request may be, as an endpoint says when it rejects one that is too long.

There is no common form. What is read are the messages and fields of OpenAI, Azure, vLLM, llama.cpp, Anthropic, Gemini,
Mistral and Text Generation Inference; a test holds one of each.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

_STATUSES = (400, 413, 422)
_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"})
_TEXT = re.compile(
    r"maximum context length|context (length|window|size)|(prompt|input|request) is too (long|large)"
    r"|maximum number of tokens|`?inputs`? (tokens|must have)|too large for model",
    re.I,
)
_NUMBER = r"(\d[\d,]*)"
# The limit and what was sent, in the words of one endpoint or another; the first that is found counts.
_LIMITS = (
    rf"maximum context length (?:is|of) {_NUMBER}",
    rf"maximum context length \({_NUMBER}\)",
    rf"{_NUMBER} maximum context length",
    rf"tokens > {_NUMBER} maximum",
    rf"maximum number of tokens allowed \(?{_NUMBER}",
    rf"(?:less than|must be <=) {_NUMBER}",
    rf"context (?:window|length|size)(?: is| of|:)? \(?{_NUMBER}",
)
_SENT = (
    rf"\({_NUMBER} in the (?:messages|input|prompt)",
    rf"resulted in {_NUMBER} tokens",
    rf"{_NUMBER} tokens > ",
    rf"token count \(?{_NUMBER}",
    rf"[Ii]nput length \({_NUMBER}",
    rf"[Rr]equested tokens \({_NUMBER}",
    rf"contains {_NUMBER} tokens",
    rf"Given: {_NUMBER}",
    rf"requested {_NUMBER} tokens",
    rf"\({_NUMBER} tokens\)",
)
# Numbers outside these are no context of a model: the message may quote the text that was sent.
_LEAST, _MOST = 128, 100_000_000


class ContextLimit(NamedTuple):
    """Tokens that the model's context holds, and tokens of the prompt that was sent; null where they are not said."""

    tokens: int | None = None
    sent: int | None = None


def read_context_limit(
    status: int, codes: set[str], parameter: str | None, detail: str, error: Mapping[str, Any]
) -> ContextLimit | None:
    """What the error of a rejected request says of the context; null if it was not about that."""
    says_so = status in _STATUSES and parameter in (None, "messages", "input") and _TEXT.search(detail)
    if not codes & _CODES and not says_so:
        return None
    tokens = _plausible(error.get("n_ctx")) or _first(_LIMITS, detail)
    sent = _plausible(error.get("n_prompt_tokens")) or _first(_SENT, detail)
    return ContextLimit(tokens, sent)


def _first(patterns: tuple[str, ...], detail: str) -> int | None:
    for pattern in patterns:
        found = re.search(pattern, detail)
        if found:
            return _plausible(int(found[1].replace(",", "")))
    return None


def _plausible(value: object) -> int | None:
    return value if isinstance(value, int) and _LEAST <= value <= _MOST else None
