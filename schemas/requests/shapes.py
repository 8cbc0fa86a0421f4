"""The request shapes that are known. Adding one is adding an entry that claims no value of another entry.

Null fields count as absent, since a Parquet struct has every field of every row. An object with `messages` is read by
them whatever else it holds; `query`, `input` and `prompt` count only without the ones before them.
"""

from beamjudge.schemas.json_text import as_list, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.messages import is_message
from beamjudge.schemas.shapes import Shape


def _user(content: Json) -> dict[str, Json]:
    return {"role": "user", "content": content}


def _request(*messages: Json) -> Json:
    return {"messages": list(messages)}


def _are_objects(value: Json) -> bool:
    """A list of objects; null elements are dropped later, with a note."""
    return is_list(value) and all(item is None or is_object(item) for item in value)


def _is_string(value: Json) -> bool:
    return isinstance(value, str)


def _one_user_message(value: Json) -> Json:
    return _request(_user(value))


def _has_messages(value: Json) -> bool:
    return is_object(value) and _are_objects(value.get("messages"))


def _is_normal(value: Json) -> bool:
    return is_object(value) and _has_messages(value) and value.get("system") is None


def _has_system(value: Json) -> bool:
    return is_object(value) and _has_messages(value) and value.get("system") is not None


def _system_first(value: dict[str, Json]) -> Json:
    rest = {name: item for name, item in value.items() if name != "system"}
    return {**rest, "messages": [{"role": "system", "content": value["system"]}, *as_list(value["messages"])]}


def _is_message_list(value: Json) -> bool:
    return is_list(value) and bool(value) and all(is_message(item) for item in value)


def _message_list(value: Json) -> Json:
    return {"messages": value}


def _is_query(value: Json) -> bool:
    if not is_object(value) or _has_messages(value) or not isinstance(value.get("query"), str):
        return False
    history = value.get("history")
    return history is None or _are_objects(history)


def _query_last(value: dict[str, Json]) -> Json:
    return _request(*as_list(value.get("history")), _user(value["query"]))


def _is_input(value: Json) -> bool:
    if not is_object(value) or _has_messages(value) or _is_query(value):
        return False
    given = value.get("input")
    return isinstance(given, str) or (_are_objects(given) and bool(given))


def _input_messages(value: dict[str, Json]) -> Json:
    """The Responses API: items are messages, calls or call results; `instructions` come first as a system message."""
    given, instructions = value["input"], value.get("instructions")
    first: list[Json] = [] if instructions is None else [{"role": "system", "content": instructions}]
    if not is_list(given):
        return _request(*first, _user(given))
    return _request(*first, *(_item_message(item) for item in given))


def _item_message(item: Json) -> Json:
    if not is_object(item) or isinstance(item.get("role"), str):
        return item
    match item.get("type"):
        case "function_call":
            return {"role": "assistant", "content": None, "tool_calls": [item]}
        case "function_call_output":
            return {"role": "tool", "content": item.get("output"), "tool_call_id": item.get("call_id")}
        case "message" | None:
            return item
        case _:
            return {"role": "assistant", "content": [item]}


def _is_nested_input(value: Json) -> bool:
    if not is_object(value) or _has_messages(value) or _is_query(value) or _is_input(value):
        return False
    return _is_input(value.get("request"))


def _nested_request(value: dict[str, Json]) -> Json:
    return value["request"]


def _is_prompt(value: Json) -> bool:
    if not is_object(value) or not isinstance(value.get("prompt"), str):
        return False
    return not (_has_messages(value) or _is_query(value) or _is_input(value) or _is_nested_input(value))


def _prompt_message(value: dict[str, Json]) -> Json:
    system = value.get("system")
    first: list[Json] = [{"role": "system", "content": system}] if isinstance(system, str) else []
    return _request(*first, _user(value["prompt"]))


REQUEST_SHAPES: tuple[Shape, ...] = (
    Shape("string", _is_string, _one_user_message),
    Shape("messages", _is_normal, None),
    Shape("anthropic", _has_system, _system_first),
    Shape("message_list", _is_message_list, _message_list),
    Shape("query_history", _is_query, _query_last),
    Shape("responses_api", _is_input, _input_messages),
    Shape("nested_responses_api", _is_nested_input, _nested_request),
    Shape("prompt", _is_prompt, _prompt_message),
)


def is_request_envelope(value: Json) -> bool:
    """Whether a decoded string is certainly a provider's request and not something that a user typed as JSON."""
    if not is_object(value):
        return False
    if _has_messages(value) or _is_input(value) or _is_nested_input(value):
        return True
    if _is_query(value) and "history" in value:
        return True
    if is_list(value.get("dataframe_records")) or is_object(value.get("dataframe_split")):
        return True
    return isinstance(value.get("object"), str) and isinstance(value.get("id"), str)
