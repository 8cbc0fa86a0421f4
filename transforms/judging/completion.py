"""A chat completion as it came over the wire, read with care: endpoints differ in more than they should."""

import json
from dataclasses import dataclass
from typing import Any

from beamjudge.schemas.json_value import Json
from beamjudge.transforms.judging.failures import from_error_body, not_a_completion, not_json
from beamjudge.transforms.judging.reply import Reply


@dataclass(frozen=True, slots=True)
class Completion:
    """The judge's reply, and the `usage` object as the endpoint reported it."""

    reply: Reply
    usage: Json


def read_completion(raw: bytes) -> Completion:
    """The completion in a body of status 200, whatever its content type says. Raises CallFailed."""
    body = _decode(raw)
    if not isinstance(body, dict):
        raise not_a_completion("not a JSON object")
    choices, usage = body.get("choices"), body.get("usage")
    if not isinstance(choices, list) or not choices:
        if body.get("error"):
            raise from_error_body(body)
        raise not_a_completion("no choices", usage=usage)
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise not_a_completion("a choice without a message", usage=usage)
    reply = Reply(
        content=_text(message.get("content")),
        finish_reason=_string(choice.get("finish_reason")),
        refusal=_string(message.get("refusal")),
        has_tool_calls=bool(message.get("tool_calls")),
    )
    return Completion(reply, usage)


def _decode(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        raise not_json(raw) from None


def _text(content: object) -> str | None:
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return _string(content)


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None
