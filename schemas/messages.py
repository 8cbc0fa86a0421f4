"""Chat messages in their common form `{"role", "content"}`: whose turn it is, and what it says.

Other forms of messages are put into this one by `foreign_messages`.
"""

from collections.abc import Collection
from typing import NamedTuple

from beamjudge.schemas.json_text import is_object
from beamjudge.schemas.json_value import Json, canonical_json
from beamjudge.schemas.parts import MessageText, content_text, holds_results_only, read_content

__all__ = ["MessageText", "MessageTurn", "content_text", "is_message", "message_role", "message_text", "message_turn"]

SYSTEM_ROLES = frozenset({"system", "developer"})
USER_ROLES = frozenset({"user"})
ASSISTANT_ROLES = frozenset({"assistant"})

# Roles by their other names: LangChain, ShareGPT, Cohere, Gemini, PaLM and Dialogflow.
_ROLES = {
    "human": "user",
    "customer": "user",
    "ai": "assistant",
    "model": "assistant",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bot": "assistant",
    "chatbot": "assistant",
    "function": "tool",
}
COMMON_ROLES = frozenset({"user", "assistant", "system", "developer", "tool"})
_CONTENT_FIELDS = frozenset({"content", "tool_calls", "parts", "blocks", "function_call", "message", "text"})
_HIDDEN_FIELDS = frozenset({"reasoning_content", "reasoning", "thinking"})
_BESIDE_CONTENT = _HIDDEN_FIELDS | {"tool_calls", "function_call", "refusal", "audio"}
# A message with none of these says nothing.
_TOLD_BY = _BESIDE_CONTENT | {"role", "content", "text"}


class MessageTurn(NamedTuple):
    """Whose turn a message is and what it says, with the note codes of what its text leaves out."""

    role: str
    text: str
    notes: tuple[str, ...] = ()


_NOTHING_SAID = MessageTurn("user", "")


def is_message(value: Json) -> bool:
    """Whether `value` is a chat message by itself: a role with content or tool calls."""
    return isinstance(value, dict) and isinstance(value.get("role"), str) and not _CONTENT_FIELDS.isdisjoint(value)


def is_spoken_by(value: Json, roles: Collection[str]) -> bool:
    """Whether `value` is a message by itself, of one of these roles."""
    return is_object(value) and is_message(value) and common_role(value["role"]) in roles


def common_role(role: Json) -> str:
    """A role under its common name; one that is not known stays as it is, and a missing one is the user's."""
    if isinstance(role, str) and role in COMMON_ROLES:
        return role
    if not isinstance(role, str) or not role:
        return "user"
    lowered = role.lower()
    return _ROLES.get(lowered, lowered if lowered in COMMON_ROLES else role)


def message_role(message: dict[str, Json]) -> str:
    """Whose turn a message is: `user` where no role is given, `tool` for a user's turn of nothing but tool results."""
    role = common_role(message.get("role"))
    if role == "user" and isinstance(content := message.get("content"), list) and holds_results_only(content):
        return "tool"
    return role


def message_turn(message: dict[str, Json]) -> MessageTurn:
    """A message's role, text and notes, as `message_role` and `message_text` give them."""
    if _TOLD_BY.isdisjoint(message):
        return _NOTHING_SAID
    role, content = message.get("role"), message.get("content")
    if len(message) == 2 and isinstance(content, str) and isinstance(role, str) and role in COMMON_ROLES:
        return MessageTurn(role, content)  # by far the most frequent form, without the detour
    said, is_result = _said(message)
    role = common_role(role)
    return MessageTurn("tool" if is_result and role == "user" else role, *said)


def message_text(message: dict[str, Json]) -> MessageText:
    """The message's content; where that is blank, its refusal, its audio's transcript, or its tool calls as JSON."""
    return _said(message)[0]


def _said(message: dict[str, Json]) -> tuple[MessageText, bool]:
    """A message's text, and whether its content is nothing but results of tools."""
    content = message.get("content")
    said, is_result = read_content(message.get("text") if content is None else content)
    is_result = is_result and content is not None
    return said if _BESIDE_CONTENT.isdisjoint(message) else _with_the_rest(message, said), is_result


def _with_the_rest(message: dict[str, Json], said: MessageText) -> MessageText:
    """What a message says whose content says this, by what it has beside its content."""
    calls = message.get("tool_calls") or message.get("function_call")
    hidden = not _HIDDEN_FIELDS.isdisjoint(message) and any(
        isinstance(thought := message.get(name), str) and thought for name in _HIDDEN_FIELDS
    )
    notes = [*said.notes, *(("reasoning_not_shown",) if hidden else ())]
    if said.text.strip():
        notes += ("tool_calls_not_shown",) if calls else ()
        return MessageText(said.text, tuple(dict.fromkeys(notes)))
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        return MessageText(refusal, (*notes, "refusal"))
    if is_object(audio := message.get("audio")):
        transcript = audio.get("transcript")
        spoken = transcript if isinstance(transcript, str) and transcript else "[audio]"
        return MessageText(spoken, (*notes, "non_text_part" if spoken == "[audio]" else "audio_transcript"))
    if calls:
        return MessageText(canonical_json(calls), (*notes, "tool_calls_only"))
    return MessageText(said.text, tuple(notes))
