"""Messages of other forms than `{"role", "content"}`, put into it.

| form | source |
| --- | --- |
| `{"lc": 1, "id": [..., "HumanMessage"], "kwargs"}`, `{"type": "human", "content" or "data"}`, `["human", text]` | \
LangChain: python.langchain.com/docs/concepts/messages, `dumpd`, `messages_to_dict` |
| `{"from", "value"}` | ShareGPT: github.com/lm-sys/FastChat, docs/training |
| `{"role", "parts"}` | Gemini: ai.google.dev/api/caching#Content; OpenTelemetry `gen_ai.input.messages` |
| `{"role", "message"}` | Cohere v1: docs.cohere.com/v1/reference/chat |
| `{"role", "blocks"}` | LlamaIndex: docs.llamaindex.ai, ChatMessage |
| `{"author", "content"}` | PaLM: cloud.google.com/vertex-ai, chat-bison |
"""

from beamjudge.schemas.json_text import is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.messages import common_role

_LANGCHAIN_ROLES = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
    "developer": "developer",
}
_PAIR_ROLES = {**_LANGCHAIN_ROLES, "user": "user", "assistant": "assistant"}
_KEPT = ("tool_calls", "function_call", "refusal", "tool_call_id", "name")
_KEPT_FIELDS = frozenset(_KEPT)
# Where the content is, beside a role.
_CONTENT_FIELDS = ("parts", "blocks", "message")


def is_pair(value: list[Json]) -> bool:
    """Whether a list is a message, LangChain's `["human", text]`."""
    return (
        len(value) == 2 and isinstance(value[0], str) and value[0] in _PAIR_ROLES and isinstance(value[1], (str, list))
    )


def is_foreign_message(value: Json) -> bool:
    """Whether `value` is a message of another form."""
    return is_pair(value) if isinstance(value, list) else _in_common_form(value) is not None


def to_message(value: Json) -> Json:
    """A foreign message as `{"role", "content"}`; any other value as it is."""
    if isinstance(value, list):
        return {"role": _PAIR_ROLES[str(value[0])], "content": value[1]} if is_pair(value) else value
    made = _in_common_form(value)
    return value if made is None else made


def _in_common_form(value: Json) -> dict[str, Json] | None:
    """The message that a foreign object is; null for any other value."""
    if not isinstance(value, dict):
        return None
    role = value.get("role")
    is_dump = value.get("lc") is not None or (role is None and "type" in value)
    if is_dump and (said_by := _langchain_role(value)) is not None:
        return _langchain_message(value, said_by)
    if role is not None:
        return _with_content(value, role) if value.get("content") is None else None
    if ("from" in value or "author" in value) and (sender := _sender(value)) is not None:
        return {"role": common_role(sender), "content": value.get("value", value.get("content"))}
    return None


def _with_content(value: dict[str, Json], role: Json) -> dict[str, Json] | None:
    for name in _CONTENT_FIELDS:
        if (content := value.get(name)) is not None:
            if len(value) == 2:  # as most are
                return {"role": common_role(role), "content": content}
            rest = {field: item for field, item in value.items() if field not in (name, "content")}
            return {**rest, "role": common_role(role), "content": content}
    return None


def _sender(value: dict[str, Json]) -> str | None:
    """Who speaks in ShareGPT's and PaLM's form."""
    if isinstance(sender := value.get("from"), str) and "value" in value:
        return sender
    author = value.get("author")
    return author if isinstance(author, str) and "content" in value else None


def _langchain_role(value: dict[str, Json]) -> str | None:
    """The role of a LangChain message in any of its dumps; null for what is none."""
    if value.get("lc") is not None:
        path = value.get("id")
        name = path[-1] if is_list(path) and path else None
        if not isinstance(name, str) or not is_object(kwargs := value.get("kwargs")):
            return None
        return _class_role(name, kwargs)
    kind = value.get("type")
    if not isinstance(kind, str):
        return None
    data = value.get("data")
    held = data if is_object(data) else value
    if "content" not in held:
        return None
    return _LANGCHAIN_ROLES.get(kind) or _class_role(kind, held)


def _class_role(name: str, held: dict[str, Json]) -> str | None:
    kind = name.removesuffix("Chunk").removesuffix("Message").lower()
    if kind == "chat":
        return common_role(held.get("role"))
    return _LANGCHAIN_ROLES.get(kind) if name.endswith(("Message", "MessageChunk")) else None


def _langchain_message(value: dict[str, Json], role: str) -> dict[str, Json]:
    kwargs, data = value.get("kwargs"), value.get("data")
    held = kwargs if value.get("lc") is not None and is_object(kwargs) else data if is_object(data) else value
    message: dict[str, Json] = {"role": role, "content": held.get("content")}
    further = held.get("additional_kwargs")
    for source in (held, further):
        if is_object(source) and not _KEPT_FIELDS.isdisjoint(source):
            message |= {name: source[name] for name in _KEPT if source.get(name) and name not in message}
    return message
