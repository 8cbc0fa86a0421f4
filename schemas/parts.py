"""The parts of a message's content, in the spellings of all providers, and the text that they make.

Typed parts are those of OpenAI (chat completions, Responses, Assistants), Anthropic, LlamaIndex and the OpenTelemetry
conventions; parts that one key names are those of Gemini (`{"text"}`, `{"functionCall"}`) and of Bedrock's Converse
(`{"toolUse"}`, `{"guardContent"}`). Sources: platform.openai.com/docs/api-reference,
docs.anthropic.com/en/api/messages, ai.google.dev/api/caching#Part,
docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html.

Text parts are joined with newlines. Another part leaves a placeholder such as `[image]` and the note `non_text_part`.
Reasoning is left out, since the user never saw it; so are tool calls and their results beside text.
"""

import re
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from beamjudge.schemas.json_text import is_list, is_object
from beamjudge.schemas.json_value import Json, canonical_json


class MessageText(NamedTuple):
    """What a message says, with the note codes of what its text leaves out."""

    text: str
    notes: tuple[str, ...] = ()


class PartKind(Enum):
    TEXT = "text"
    REFUSAL = "refusal"
    REASONING = "reasoning"
    CALL = "call"
    RESULT = "result"
    OTHER = "other"
    NOTHING = "nothing"


class Part(NamedTuple):
    """One part: `text` is its text or its placeholder, `value` the call or result as logged."""

    kind: PartKind
    text: str = ""
    value: Json = None


_NOTHING = Part(PartKind.NOTHING)
_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "text_block", "paragraph"})
_REASONING_TYPES = frozenset(
    {"thinking", "redacted_thinking", "reasoning", "reasoning_content", "reasoning_text", "summary_text", "thought"}
)
_CALL_TYPES = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "mcp_list_tools", "mcp_approval_request"})
_RESULT_TYPES = frozenset({"tool_result", "tool_call_response", "tool_response"})
_PLACEHOLDERS = {
    "image_url": "image",
    "input_image": "image",
    "image_generation_call": "image",
    "input_audio": "audio",
    "output_audio": "audio",
    "audio_url": "audio",
    "video_url": "video",
    "input_file": "file",
    "image_file": "image",
    "document": "file",
}
_LONGEST_NAME = 64
_TYPE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
# Parts that are named by their one key, and what the key makes of them.
_KEYS: dict[str, PartKind] = {
    "functionCall": PartKind.CALL,
    "function_call": PartKind.CALL,
    "toolUse": PartKind.CALL,
    "executableCode": PartKind.CALL,
    "executable_code": PartKind.CALL,
    "functionResponse": PartKind.RESULT,
    "function_response": PartKind.RESULT,
    "toolResult": PartKind.RESULT,
    "codeExecutionResult": PartKind.RESULT,
    "code_execution_result": PartKind.RESULT,
    "reasoningContent": PartKind.REASONING,
    "image": PartKind.OTHER,
    "audio": PartKind.OTHER,
    "video": PartKind.OTHER,
    "document": PartKind.OTHER,
    "inlineData": PartKind.OTHER,
    "inline_data": PartKind.OTHER,
    "fileData": PartKind.OTHER,
    "file_data": PartKind.OTHER,
    "image_url": PartKind.OTHER,
    "cachePoint": PartKind.NOTHING,
}
_WRAPPERS = frozenset({"guardContent", "citationsContent"})
# A part with none of these is of no known kind.
_TOLD_BY = frozenset({*_KEYS, *_WRAPPERS, "text", "refusal", "type", "block_type"})


def read_part(part: Json) -> Part:
    """What one part is. A part that is no object is its text, as JSON where it is no string."""
    if not isinstance(part, dict):
        if part is None:
            return _NOTHING
        return Part(PartKind.TEXT, part if isinstance(part, str) else canonical_json(part))
    if _TOLD_BY.isdisjoint(part):
        return _UNKNOWN
    kind = _type_of(part)
    return _typed_part(part, kind) if isinstance(kind, str) else _keyed_part(part)


def _type_of(part: dict[str, Json]) -> Json:
    kind = part.get("type")
    return kind if isinstance(kind, str) else part.get("block_type")  # LlamaIndex


def _typed_part(part: dict[str, Json], kind: str) -> Part:
    if kind in _TEXT_TYPES:
        text = _typed_text(part)
        return Part(PartKind.TEXT, text) if text is not None else _other(kind)
    if kind == "refusal":
        refusal = part.get("refusal")
        return Part(PartKind.REFUSAL, refusal) if isinstance(refusal, str) else _other(kind)
    if kind in _REASONING_TYPES:
        return Part(PartKind.REASONING)
    if kind == "reference":  # Mistral's marks of citations
        return _NOTHING
    if kind in _RESULT_TYPES or kind.endswith(("_tool_result", "_call_output")):
        return Part(PartKind.RESULT, _result_text(part), part)
    if kind in _CALL_TYPES or (kind.endswith("_call") and kind != "image_generation_call"):
        return Part(PartKind.CALL, value=part)
    return _other(kind)


def _typed_text(part: dict[str, Json]) -> str | None:
    """A text part's text: `text`, in Assistants `text.value`; `content` in OpenTelemetry, `data` at Aleph Alpha."""
    text = part.get("text")
    if isinstance(text, str):
        return text
    if is_object(text):
        text = text.get("value")
    if text is None:
        text = part.get("content")
    if text is None:
        text = part.get("data")
    return text if isinstance(text, str) else None


def _keyed_part(part: dict[str, Json]) -> Part:
    text = part.get("text")
    if isinstance(text, str):
        return Part(PartKind.REASONING) if part.get("thought") is True else Part(PartKind.TEXT, text)
    if isinstance(text, dict) and isinstance(inner := text.get("text"), str):  # ApplyGuardrail
        return Part(PartKind.TEXT, inner)
    if not _WRAPPERS.isdisjoint(part):
        for name, value in part.items():
            if name in _WRAPPERS and is_object(value):
                return _wrapped_text(value)
    for name, value in part.items():
        kind = _KEYS.get(name)
        if kind is None or value is None:
            continue
        if kind is PartKind.OTHER:
            return _other(name, value)
        if kind is PartKind.RESULT:
            return Part(kind, _result_text(value) if is_object(value) else canonical_json(value), value)
        return _NOTHING if kind is PartKind.NOTHING else Part(kind, value=value)
    refusal = part.get("refusal")
    return Part(PartKind.REFUSAL, refusal) if isinstance(refusal, str) else _other("part")


def _wrapped_text(wrapped: dict[str, Json]) -> Part:
    """Converse's `guardContent` holds one text or image, its `citationsContent` a list of text parts."""
    content = wrapped.get("content")
    if is_list(content):
        texts = [item["text"] for item in content if is_object(item) and isinstance(item.get("text"), str)]
        return Part(PartKind.TEXT, "".join(str(text) for text in texts))
    text = wrapped.get("text")
    if is_object(text) and isinstance(inner := text.get("text"), str):
        return Part(PartKind.TEXT, inner)
    return _other("image" if wrapped.get("image") is not None else "part")


def _result_text(result: dict[str, Json]) -> str:
    """What a tool gave: its content's text, or the JSON of what it returned."""
    for name in ("content", "output", "response", "result"):
        value = result.get(name)
        if isinstance(value, str):
            return value
        if is_list(value):
            return "\n".join(filter(None, (_json_or_text(item) for item in value)))
        if value is not None:
            return canonical_json(value)
    return ""


def _json_or_text(item: Json) -> str:
    if is_object(item) and is_object(item.get("json")):  # Converse
        return canonical_json(item["json"])
    return read_part(item).text


def _other(name: str, value: Json = None) -> Part:
    """A placeholder, named after the part's type or, for inline data, after its MIME type."""
    if is_object(value):
        mime = value.get("mimeType") or value.get("mime_type")
        if isinstance(mime, str) and name not in ("image", "audio", "video"):
            family = mime.partition("/")[0]
            name = family if family in ("image", "audio", "video") else "file"
    return _placeholder(name if len(name) <= _LONGEST_NAME else "part")


@lru_cache
def _placeholder(name: str) -> Part:
    if not _TYPE_NAME.fullmatch(name):
        name = "part"
    return Part(PartKind.OTHER, f"[{_PLACEHOLDERS.get(name, name)}]")


_NO_TEXT = MessageText("")
_UNKNOWN = _placeholder("part")


def content_text(content: Json) -> MessageText:
    """The text of a message's content: a string, a list of parts, one part, or null (no text).

    Content that is nothing but tool calls is their canonical JSON; nothing but results of tools, their text.
    """
    return read_content(content)[0]


def _plain_part(part: Json) -> str | None:
    """The text of a part that is text, or has a text and nothing that could make it something else."""
    if not isinstance(part, dict):
        return part if isinstance(part, str) else None
    if len(part) == 1:
        said = part.get("text")
        return said if isinstance(said, str) else None
    return _typed_text(part) if _type_of(part) == "text" else None


def read_content(content: Json) -> tuple[MessageText, bool]:
    """The text of a message's content, and what `holds_results_only` says of it."""
    if isinstance(content, str):
        return MessageText(content), False
    if content is None:
        return _NO_TEXT, False
    others = False
    texts: list[str] = []
    calls: list[Json] = []
    results: list[str] = []
    notes: dict[str, None] = {}
    for part in content if is_list(content) else [content]:
        said = _plain_part(part)
        if said is not None:  # by far the most frequent parts, without the detour
            if said:
                texts.append(said)
            others = True
            continue
        kind, text, value = read_part(part)
        if kind is PartKind.OTHER:
            texts.append(text)
            notes["non_text_part"] = None
        elif kind is PartKind.CALL:
            calls.append(value)
        elif kind is PartKind.RESULT:
            results.append(text)
            continue
        elif kind is PartKind.REASONING:
            notes["reasoning_not_shown"] = None
        elif kind is PartKind.NOTHING:
            continue
        else:
            texts += (text,) if text else ()
            if kind is PartKind.REFUSAL:
                notes["refusal"] = None
        others = True
    if texts:
        if calls or results:
            notes["tool_calls_not_shown"] = None
    elif calls:
        texts.append(canonical_json(calls))
        notes["tool_calls_only"] = None
    else:
        texts = results
    is_result = bool(results) and not others and is_list(content)
    return MessageText("\n".join(texts), tuple(notes)), is_result


def holds_results_only(content: Json) -> bool:
    """Whether content is nothing but results of tools, as Anthropic, Gemini and Converse put into a user's turn."""
    if not is_list(content) or not content:
        return False
    is_result = False
    for part in content:
        kind = read_part(part).kind
        if kind is PartKind.RESULT:
            is_result = True
        elif kind is not PartKind.NOTHING:
            return False
    return is_result
