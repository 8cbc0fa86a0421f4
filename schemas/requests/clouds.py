"""Requests of Gemini and Vertex AI, of Bedrock's models and agents, and of Cohere.

Sources: ai.google.dev/api/generate-content, docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html and
.../APIReference/API_agent-runtime_RetrieveAndGenerate.html, docs.cohere.com/v1/reference/chat.
"""

from beamjudge.schemas.foreign_messages import to_message
from beamjudge.schemas.json_text import as_list, has_any, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.messages import common_role
from beamjudge.schemas.requests.forms import are_messages, is_text, request, system, user
from beamjudge.schemas.shapes import Shape


def _is_contents(value: dict[str, Json]) -> bool:
    contents = value["contents"]
    return is_text(contents) or (is_object(contents) and "parts" in contents) or _are_contents(contents)


def _are_contents(contents: Json) -> bool:
    if not is_list(contents) or not contents or not {dict, str}.issuperset(map(type, contents)):
        return False
    return all("parts" in item or "text" in item for item in contents if isinstance(item, dict))


def _contents_messages(value: dict[str, Json]) -> Json:
    """`contents` may be one text, one turn, or turns; what a client library takes as text is the user's turn."""
    contents = value["contents"]
    given = value.get("systemInstruction") or value.get("system_instruction")
    instruction = given.get("parts") if is_object(given) else given
    turns = contents if is_list(contents) else [contents]
    return request(*system(instruction), *(_content_message(turn) for turn in turns))


def _content_message(turn: Json) -> Json:
    if not isinstance(turn, dict) or "parts" not in turn:
        return user([turn] if is_object(turn) else turn)
    parts = turn["parts"]
    if not isinstance(parts, list):
        parts = [parts]
    role = turn.get("role")
    if len(turn) == (1 if role is None else 2):  # by far the most frequent forms, without the detour
        return {"role": common_role(role) if role else "user", "content": parts}
    return to_message({**turn, "role": role or "user", "parts": parts})


def _is_titan(value: dict[str, Json]) -> bool:
    return is_text(value["inputText"])


def _titan(value: dict[str, Json]) -> Json:
    return request(user(value["inputText"]))


def _is_text_input(value: dict[str, Json]) -> bool:
    """Bedrock's RetrieveAndGenerate, and Amazon Lex."""
    return is_object(given := value["input"]) and is_text(given.get("text"))


def _text_input(value: dict[str, Json]) -> Json:
    given = value["input"]
    return request(user(given.get("text"))) if is_object(given) else None


def _is_retrieval(value: dict[str, Json]) -> bool:
    return is_object(query := value["retrievalQuery"]) and is_text(query.get("text"))


def _retrieval(value: dict[str, Json]) -> Json:
    query = value["retrievalQuery"]
    return request(user(query.get("text"))) if is_object(query) else None


_COHERE_FIELDS = (
    "chat_history",
    "preamble",
    "conversation_id",
    "connectors",
    "documents",
    "model",
    "prompt_truncation",
)


def _is_cohere(value: dict[str, Json]) -> bool:
    if not is_text(value["message"]) or not has_any(value, _COHERE_FIELDS):
        return False
    history = value.get("chat_history")
    return history is None or are_messages(history)


def _cohere_messages(value: dict[str, Json]) -> Json:
    history = [to_message(item) for item in as_list(value.get("chat_history"))]
    return request(*system(value.get("preamble")), *history, user(value["message"]))


CLOUD_SHAPES: tuple[Shape, ...] = (
    Shape("gemini", "contents", _is_contents, _contents_messages),
    Shape("titan", "inputText", _is_titan, _titan),
    Shape("text_input", "input", _is_text_input, _text_input),
    Shape("knowledge_base", "retrievalQuery", _is_retrieval, _retrieval),
    Shape("cohere", "message", _is_cohere, _cohere_messages),
)
