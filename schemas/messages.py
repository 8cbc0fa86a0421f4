"""The text of a chat message: strings, content parts, refusals and tool calls.

Text parts are joined with newlines. A part that is not text leaves a placeholder such as `[image]`; reasoning is left
out, since the user never saw it; both leave the note `non_text_part`.
"""

import re
from typing import NamedTuple

from beamjudge.schemas.json_text import is_list, is_object
from beamjudge.schemas.json_value import Json, canonical_json

SYSTEM_ROLES = frozenset({"system", "developer"})
USER_ROLES = frozenset({"user", "human"})
ASSISTANT_ROLES = frozenset({"assistant", "ai", "model"})

_TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
_REASONING_TYPES = frozenset({"thinking", "redacted_thinking", "reasoning"})
_CALL_TYPES = frozenset({"tool_use", "tool_call", "function_call"})
_PLACEHOLDERS = {
    "image_url": "image",
    "input_image": "image",
    "input_audio": "audio",
    "audio_url": "audio",
    "video_url": "video",
    "input_file": "file",
    "document": "file",
}
_TYPE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")


class MessageText(NamedTuple):
    """What a message says, with the note codes of what its text leaves out."""

    text: str
    notes: tuple[str, ...] = ()


def is_message(value: Json) -> bool:
    """Whether `value` is a chat message by itself: a role with content or tool calls."""
    return is_object(value) and isinstance(value.get("role"), str) and ("content" in value or "tool_calls" in value)


def message_role(message: dict[str, Json]) -> str:
    """The message's role; `user` where none is given."""
    role = message.get("role")
    return role if isinstance(role, str) and role else "user"


def message_text(message: dict[str, Json]) -> MessageText:
    """The message's content; where that is blank, its refusal, or else its tool calls as canonical JSON."""
    content = message.get("content")
    if isinstance(content, str) and content.strip():
        return MessageText(content)
    said = content_text(content)
    if said.text.strip():
        return said
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        return MessageText(refusal, (*said.notes, "refusal"))
    calls = message.get("tool_calls") or message.get("function_call")
    if calls:
        return MessageText(canonical_json(calls), (*said.notes, "tool_calls_only"))
    return said


def content_text(content: Json) -> MessageText:
    """The text of a message's content: a string, a list of parts, one part, or null (no text)."""
    if content is None:
        return MessageText("")
    if isinstance(content, str):
        return MessageText(content)
    parts = content if is_list(content) else [content]
    calls = [part for part in parts if is_object(part) and _kind(part) in _CALL_TYPES]
    if calls and len(calls) == len(parts):
        return MessageText(canonical_json(list(calls)), ("tool_calls_only",))
    texts: list[str] = []
    notes: list[str] = []
    for part in parts:
        said = _part_text(part)
        notes += said.notes
        if said.text:
            texts.append(said.text)
    return MessageText("\n".join(texts), tuple(dict.fromkeys(notes)))


def _kind(part: dict[str, Json]) -> str | None:
    kind = part.get("type")
    return kind if isinstance(kind, str) else None


def _part_text(part: Json) -> MessageText:
    if part is None:
        return MessageText("")
    if isinstance(part, str):
        return MessageText(part)
    if not is_object(part):
        return MessageText(canonical_json(part))
    kind = _kind(part)
    text, refusal = part.get("text"), part.get("refusal")
    if isinstance(text, str) and (kind is None or kind in _TEXT_TYPES):
        return MessageText(text)
    if kind == "refusal" and isinstance(refusal, str):
        return MessageText(refusal, ("refusal",))
    if kind in _REASONING_TYPES:
        return MessageText("", ("non_text_part",))
    name = kind if kind and _TYPE_NAME.fullmatch(kind) else "part"
    return MessageText(f"[{_PLACEHOLDERS.get(name, name)}]", ("non_text_part",))
