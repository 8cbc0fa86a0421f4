"""A chat completion as it came over the wire, read with care: endpoints differ in more than they should."""

import json
from dataclasses import dataclass
from typing import Any

from beamjudge.schemas.json_value import Json
from beamjudge.transforms.judging.failures import from_error_body, not_a_completion
from beamjudge.transforms.judging.reply import Reply


@dataclass(frozen=True, slots=True)
class Completion:
    """The judge's reply, and the `usage` object as the endpoint reported it."""

    reply: Reply
    usage: Json


def read_completion(body: Any) -> Completion:
    """The completion in a decoded body of status 200, or in a body that was text. Raises CallFailed."""
    if isinstance(body, (str, bytes)):
        body = _decode(body)
    if not isinstance(body, dict):
        raise not_a_completion("not a JSON object")
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        if body.get("error"):
            raise from_error_body(body)
        raise not_a_completion("no choices")
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise not_a_completion("a choice without a message")
    reply = Reply(
        content=_text(message.get("content")),
        finish_reason=_string(choice.get("finish_reason")),
        refusal=_string(message.get("refusal")),
        has_tool_calls=bool(message.get("tool_calls")),
    )
    return Completion(reply, body.get("usage"))


def _decode(text: str | bytes) -> Any:
    """JSON that was sent with another content type is read all the same."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        start = text[:200].lstrip()
        is_html = start.startswith("<") if isinstance(start, str) else start.startswith(b"<")
        raise not_a_completion("HTML instead of JSON" if is_html else "not JSON") from None


def _text(content: object) -> str | None:
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return _string(content)


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None
