"""Requests with `messages`, and messages alone.

OpenAI chat completions and everything that follows them (Mistral, Groq, vLLM, Together, Ollama chat, Cohere v2, MLflow
ChatAgent: platform.openai.com/docs/api-reference/chat), Anthropic (docs.anthropic.com/en/api/messages) and Bedrock's
Converse (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html) with a `system` of their own,
LangChain's `messages` in a list of lists, ShareGPT's `conversations`.
"""

from typing import Any

from beamjudge.schemas.foreign_messages import is_foreign_message, to_message
from beamjudge.schemas.json_text import as_list, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.messages import COMMON_ROLES, is_message, is_spoken_by
from beamjudge.schemas.requests.forms import are_messages, request, system
from beamjudge.schemas.shapes import LIST, Shape


def _is_normal(value: dict[str, Json]) -> bool:
    if value.get("system") is not None or not is_list(messages := value["messages"]):
        return False
    for item in messages:
        if isinstance(item, dict):
            # What has a role and content is none, nor is {}; a long history is gone through faster without asking.
            if item and (item.get("role") is None or item.get("content") is None) and is_foreign_message(item):
                return False
        elif item is not None:
            return False
    return True


def _is_foreign(value: dict[str, Json]) -> bool:
    messages = value["messages"]
    if value.get("system") is not None or not are_messages(messages):
        return False
    return any(is_foreign_message(item) for item in as_list(messages))


def _common_messages(value: dict[str, Json]) -> Json:
    return {**value, "messages": [to_message(item) for item in as_list(value["messages"])]}


def _has_system(value: dict[str, Json]) -> bool:
    return value.get("system") is not None and are_messages(value["messages"])


def _system_first(value: dict[str, Json]) -> Json:
    rest = {name: item for name, item in value.items() if name != "system"}
    return {**rest, "messages": [*system(value["system"]), *as_list(value["messages"])]}


def _is_nested_list(messages: Json) -> bool:
    """LangChain's batch of one: a list with one list of messages in it."""
    if not is_list(messages) or len(messages) != 1 or is_foreign_message(messages[0]):
        return False
    return is_list(inner := messages[0]) and bool(inner) and are_messages(inner)


def _has_nested_list(value: dict[str, Json]) -> bool:
    return _is_nested_list(value["messages"])


def _inner_messages(value: dict[str, Json]) -> Json:
    return {**value, "messages": as_list(value["messages"])[0]}


def _is_conversation(field: str) -> Any:
    def fits(value: dict[str, Json]) -> bool:
        turns = value[field]
        return is_list(turns) and bool(turns) and all(map(_is_turn, turns))

    return fits


def _is_turn(value: Json) -> bool:
    return is_message(value) or is_foreign_message(value)


def _turns(field: str) -> Any:
    def rewrite(value: dict[str, Json]) -> Json:
        return {"messages": [to_message(turn) for turn in as_list(value[field])]}

    return rewrite


def _is_question_list(value: dict[str, Json]) -> bool:
    """MT-Bench's questions of one dialogue, without the answers between them."""
    turns = value["turns"]
    return is_list(turns) and bool(turns) and all(isinstance(turn, str) for turn in turns)


def _questions(value: dict[str, Json]) -> Json:
    return request(*({"role": "user", "content": turn} for turn in as_list(value["turns"])))


def _is_one_message(value: dict[str, Json]) -> bool:
    return is_spoken_by(value, COMMON_ROLES)


def _one_message(value: dict[str, Json]) -> Json:
    return request(to_message(value))


def _holds_message(value: dict[str, Json]) -> bool:
    return is_spoken_by(value["message"], COMMON_ROLES)


def _its_message(value: dict[str, Json]) -> Json:
    return request(to_message(value["message"]))


def _is_langchain_dump(value: dict[str, Json]) -> bool:
    return is_foreign_message(value)


def _is_langchain_typed(value: dict[str, Json]) -> bool:
    return value["type"] == "human" and value.get("lc") is None and is_foreign_message(value)


def _is_langchain_prompt(value: dict[str, Json]) -> bool:
    """A dumped ChatPromptValue or StringPromptValue."""
    return is_object(kwargs := value.get("kwargs")) and (is_list(kwargs.get("messages")) or "text" in kwargs)


def _langchain_prompt(value: dict[str, Json]) -> Json:
    kwargs = value["kwargs"]
    if not is_object(kwargs):
        return None
    text = kwargs.get("text")
    return text if isinstance(text, str) else {"messages": kwargs.get("messages")}


def _is_message_list(value: list[Json]) -> bool:
    return bool(value) and all(map(_is_turn, value))


def _message_list(value: list[Json]) -> Json:
    return {"messages": [to_message(item) for item in value]}


def _only_list(value: list[Json]) -> Json:
    return value[0]


def _is_one_text(value: list[Json]) -> bool:
    return len(value) == 1 and isinstance(value[0], str)


MESSAGE_SHAPES: tuple[Shape, ...] = (
    Shape("messages", "messages", _is_normal, None),
    Shape("foreign_messages", "messages", _is_foreign, _common_messages),
    Shape("system_and_messages", "messages", _has_system, _system_first),
    Shape("nested_messages", "messages", _has_nested_list, _inner_messages),
    Shape("conversations", "conversations", _is_conversation("conversations"), _turns("conversations")),
    Shape("conversation", "conversation", _is_conversation("conversation"), _turns("conversation")),
    Shape("question_turns", "turns", _is_question_list, _questions),
    Shape("message_field", "message", _holds_message, _its_message),
    Shape("langchain_message", "lc", _is_langchain_dump, _one_message),
    Shape("langchain_prompt", "lc", _is_langchain_prompt, _langchain_prompt),
    Shape("langchain_typed", "type", _is_langchain_typed, _one_message),
    Shape("message", "role", _is_one_message, _one_message),
    Shape("message_list", LIST, _is_message_list, _message_list),
    Shape("list_of_messages", LIST, _is_nested_list, _only_list),
    Shape("list_of_one_text", LIST, _is_one_text, _only_list),
)
