"""Requests of Gemini and Vertex AI, of Bedrock's models and agents, and of Cohere.

Sources: ai.google.dev/api/generate-content, docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html and
.../APIReference/API_agent-runtime_RetrieveAndGenerate.html, docs.cohere.com/v1/reference/chat.
"""

from itertools import groupby

from beamjudge.schemas.foreign_messages import to_message
from beamjudge.schemas.json_text import as_list, first_of, has_any, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.messages import common_role
from beamjudge.schemas.requests.forms import are_messages, is_text, request, system, user
from beamjudge.schemas.shapes import Shape


def _is_contents(value: dict[str, Json]) -> bool:
    contents = value["contents"]
    return is_text(contents) or _are_contents([contents] if is_object(contents) else contents)


def _are_contents(contents: Json) -> bool:
    if not is_list(contents) or not contents:
        return False
    kinds = set(map(type, contents))
    if not kinds <= {dict, str}:
        return False
    return dict not in kinds or not any(
        isinstance(item, dict) and _CONTENT_FIELDS.isdisjoint(item) for item in contents
    )


# A turn has `parts`, a part one of the other fields. Client libraries take both, and both spellings.
_MODEL_PARTS = frozenset(
    {"functionCall", "function_call", "executableCode", "executable_code"}
    | {"codeExecutionResult", "code_execution_result"}
)
_PART_FIELDS = _MODEL_PARTS | {
    *("text", "inlineData", "inline_data", "fileData", "file_data", "fileUri", "file_uri", "uri"),
    *("functionResponse", "function_response"),
}
_CONTENT_FIELDS = _PART_FIELDS | {"parts"}
_INSTRUCTION = ("systemInstruction", "system_instruction")


def _contents_messages(value: dict[str, Json]) -> Json:
    """`contents` may be one text, one turn, or a list of texts, parts and turns. Texts and parts that stand together
    are one turn of the user, calls of functions one of the model (github.com/googleapis/python-genai, README).
    """
    contents = value["contents"]
    config = value.get("config")  # of the client libraries
    given = first_of(value, _INSTRUCTION) or (first_of(config, _INSTRUCTION) if is_object(config) else None)
    instruction = given.get("parts") if is_object(given) else given
    messages: list[Json] = [*system(instruction)]
    for role, group in groupby(contents if is_list(contents) else [contents], _role_of_part):
        items = list(group)
        if role is None:
            messages += [_content_message(item) for item in items if is_object(item)]
        else:
            only = items[0] if len(items) == 1 and isinstance(items[0], str) else None
            messages.append({"role": role, "content": items if only is None else only})
    return {"messages": messages}


def _role_of_part(item: Json) -> str | None:
    """Whose turn a text or part is of; null for a whole turn."""
    if not isinstance(item, dict):
        return "user"
    if "parts" in item or "role" in item:
        is_part = item.get("parts") is None and not isinstance(item.get("role"), str) and has_any(item, _PART_FIELDS)
        if not is_part:
            return None
    return "assistant" if has_any(item, _MODEL_PARTS) else "user"


def _content_message(turn: dict[str, Json]) -> Json:
    role, parts = turn.get("role"), turn.get("parts")
    if parts is None and has_any(turn, _PART_FIELDS):  # a part with a role of its own
        part = {name: item for name, item in turn.items() if name not in ("role", "parts")}
        return {"role": common_role(role), "content": [part]}
    if not isinstance(parts, list):
        parts = [parts]
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
