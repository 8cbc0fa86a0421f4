"""The response shapes that are known. Adding one is adding an entry that claims no value of another entry.

Null fields count as absent, since a Parquet struct has every field of every row. Among the fields of one object the
first of `choices`, `output` (items), `content` (parts), `messages`, `message` decides; plain text fields come last.
"""

from beamjudge.schemas.json_text import as_list, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.messages import ASSISTANT_ROLES, is_message, message_role
from beamjudge.schemas.responses.chunks import is_chunk_list, join_chunks
from beamjudge.schemas.shapes import Shape

_TEXT_FIELDS = ("content", "text", "output", "output_text")


def assistant(content: Json) -> Json:
    """The normal form of a response that is `content`."""
    return {"choices": [{"message": {"role": "assistant", "content": content}}]}


def _choice(message: Json) -> Json:
    return {"choices": [{"message": message}]}


def _is_string(value: Json) -> bool:
    return isinstance(value, str)


def _first_choice(value: Json) -> dict[str, Json] | None:
    """The first choice of an object with choices; an empty one where the list is empty."""
    if not is_object(value) or not is_list(choices := value.get("choices")):
        return None
    first = choices[0] if choices else {}
    return first if is_object(first) else None


def _is_normal(value: Json) -> bool:
    first = _first_choice(value)
    return first is not None and (not first or is_object(first.get("message")))


def _is_text_choice(value: Json) -> bool:
    first = _first_choice(value)
    return first is not None and not is_object(first.get("message")) and isinstance(first.get("text"), str)


def _text_choices(value: dict[str, Json]) -> Json:
    choices: list[Json] = [
        {"message": {"role": "assistant", "content": choice.get("text")}}
        for choice in as_list(value["choices"])
        if is_object(choice)
    ]
    return {**value, "choices": choices}


def _is_delta(value: Json) -> bool:
    first = _first_choice(value)
    if first is None or is_object(first.get("message")) or isinstance(first.get("text"), str):
        return False
    return is_object(first.get("delta"))


def _one_chunk(value: Json) -> Json:
    return join_chunks([value])


def _has_choices(value: Json) -> bool:
    return _is_normal(value) or _is_text_choice(value) or _is_delta(value)


def _are_typed(value: Json) -> bool:
    return (
        is_list(value) and bool(value) and all(is_object(part) and isinstance(part.get("type"), str) for part in value)
    )


def _has_output_items(value: Json) -> bool:
    return is_object(value) and not _has_choices(value) and _are_typed(value.get("output"))


def _last_output_message(value: dict[str, Json]) -> Json:
    """The last message of a Responses API output; where there is none, its calls."""
    items = [item for item in as_list(value["output"]) if is_object(item)]
    for item in reversed(items):
        if item["type"] == "message" and item.get("role") in (None, "assistant"):
            return assistant(item.get("content"))
    calls: list[Json] = [item for item in items if str(item["type"]).endswith("_call")]
    return _choice({"role": "assistant", "content": None, "tool_calls": calls})


def _has_content_parts(value: Json) -> bool:
    if not is_object(value) or _has_choices(value) or _has_output_items(value):
        return False
    return _are_typed(value.get("content"))


def _content_parts(value: dict[str, Json]) -> Json:
    return assistant(value["content"])


def _last_assistant(messages: Json) -> dict[str, Json] | None:
    spoken = (item for item in reversed(as_list(messages)) if is_object(item))
    return next((message for message in spoken if message_role(message) in ASSISTANT_ROLES), None)


def _has_messages(value: Json) -> bool:
    if not is_object(value) or _has_choices(value) or _has_output_items(value) or _has_content_parts(value):
        return False
    return _last_assistant(value.get("messages")) is not None


def _last_of_messages(value: dict[str, Json]) -> Json:
    return _choice(_last_assistant(value["messages"]))


def _is_message_list(value: Json) -> bool:
    if not is_list(value) or len(value) < 2 or is_chunk_list(value) or not all(is_message(item) for item in value):
        return False
    return _last_assistant(value) is not None


def _last_of_list(value: list[Json]) -> Json:
    return _choice(_last_assistant(value))


def _is_structured(value: Json) -> bool:
    return _has_choices(value) or _has_output_items(value) or _has_content_parts(value) or _has_messages(value)


def _has_message(value: Json) -> bool:
    return is_object(value) and not _is_structured(value) and is_object(value.get("message"))


def _its_message(value: dict[str, Json]) -> Json:
    return _choice(value["message"])


def _is_bare_message(value: Json) -> bool:
    return is_message(value) and not _is_structured(value) and not _has_message(value)


def _text_field(value: dict[str, Json]) -> str | None:
    """The one plain text field; null where there is none, or where several disagree."""
    texts = {text for name in _TEXT_FIELDS if isinstance(text := value.get(name), str)}
    return texts.pop() if len(texts) == 1 else None


def _has_text_field(value: Json) -> bool:
    if not is_object(value) or _is_structured(value) or _has_message(value) or _is_bare_message(value):
        return False
    return _text_field(value) is not None


def _its_text(value: dict[str, Json]) -> Json:
    return assistant(_text_field(value))


def _is_one_prediction(value: Json) -> bool:
    if not is_object(value) or _is_structured(value) or _has_message(value) or _is_bare_message(value):
        return False
    return not _has_text_field(value) and is_list(made := value.get("predictions")) and len(made) == 1


def _its_prediction(value: dict[str, Json]) -> Json:
    return as_list(value["predictions"])[0]


def _is_list_of_one(value: Json) -> bool:
    return is_list(value) and len(value) == 1


def _its_item(value: list[Json]) -> Json:
    return value[0]


RESPONSE_SHAPES: tuple[Shape, ...] = (
    Shape("string", _is_string, assistant),
    Shape("choices", _is_normal, None),
    Shape("text_choices", _is_text_choice, _text_choices),
    Shape("chunk", _is_delta, _one_chunk),
    Shape("chunk_list", is_chunk_list, join_chunks),
    Shape("responses_api", _has_output_items, _last_output_message),
    Shape("anthropic", _has_content_parts, _content_parts),
    Shape("messages", _has_messages, _last_of_messages),
    Shape("message_list", _is_message_list, _last_of_list),
    Shape("message_field", _has_message, _its_message),
    Shape("message", _is_bare_message, _choice),
    Shape("text_field", _has_text_field, _its_text),
    Shape("one_prediction", _is_one_prediction, _its_prediction),
    Shape("list_of_one", _is_list_of_one, _its_item),
)


def is_response_envelope(value: Json) -> bool:
    """Whether a decoded string is certainly a provider's response and not JSON that an application answered with."""
    if is_list(value):
        return is_chunk_list(value)
    if not is_object(value):
        return False
    if is_list(value.get("choices")) or _are_typed(value.get("output")) or _are_typed(value.get("content")):
        return True
    return isinstance(value.get("object"), str) and isinstance(value.get("id"), str)
