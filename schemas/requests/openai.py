"""Requests of OpenAI's other interfaces: Responses, completions, Assistants (platform.openai.com/docs/api-reference).

`{"query", "history"}` and `{"prompt"}` are what applications and older model servers take; LangChain has the history of
an `input` in `chat_history`.
"""

from itertools import groupby

from beamjudge.schemas.foreign_messages import is_foreign_message, to_message
from beamjudge.schemas.json_text import as_list, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.messages import is_message
from beamjudge.schemas.requests.forms import are_messages, are_objects, is_text, request, system, user
from beamjudge.schemas.shapes import Shape


def _is_query(value: dict[str, Json]) -> bool:
    if not is_text(value["query"]):
        return False
    history = value.get("history")
    return history is None or are_messages(history)


def _query_last(value: dict[str, Json]) -> Json:
    return request(*map(to_message, as_list(value.get("history"))), user(value["query"]))


def _is_input(value: dict[str, Json]) -> bool:
    given = value["input"]
    if is_text(given):
        return value.get("chat_history") is None
    return are_objects(given) and bool(given)


def _input_messages(value: dict[str, Json]) -> Json:
    """The Responses API: items are messages, calls or call results; `instructions` come first as a system message."""
    given, first = value["input"], system(value.get("instructions"))
    if not is_list(given):
        return request(*first, user(given))
    messages: list[Json] = [*first]
    for is_part, group in groupby(given, _is_input_part):
        items = list(group)
        messages += [user(items)] if is_part else map(_item_message, items)
    return {"messages": messages}


def _is_input_part(item: Json) -> bool:
    """Parts without a message around them: those that stand together are one."""
    kind = item.get("type") if is_object(item) and not isinstance(item.get("role"), str) else None
    return isinstance(kind, str) and kind in _INPUT_PARTS


def _item_message(item: Json) -> Json:
    if not isinstance(item, dict) or isinstance(item.get("role"), str):
        return item
    kind = item.get("type")
    if kind == "message" or not isinstance(kind, str) or is_foreign_message(item):
        return item
    if kind.endswith("_call_output"):
        return {"role": "tool", "content": item.get("output"), "tool_call_id": item.get("call_id")}
    if kind == "function_call":
        return {"role": "assistant", "content": None, "tool_calls": [item]}
    return {"role": "assistant", "content": [item]}


_INPUT_PARTS = frozenset({"input_text", "input_image", "input_file", "input_audio", "text"})


def _is_input_after_history(value: dict[str, Json]) -> bool:
    return is_text(value["input"]) and are_messages(value.get("chat_history"))


def _input_after_history(value: dict[str, Json]) -> Json:
    return request(*map(to_message, as_list(value["chat_history"])), user(value["input"]))


def _is_prompt(value: dict[str, Json]) -> bool:
    return is_text(value["prompt"])


def _prompt_message(value: dict[str, Json]) -> Json:
    given = value.get("system")
    return request(*system(given if is_text(given) else None), user(value["prompt"]))


def _is_one_prompt(value: dict[str, Json]) -> bool:
    prompts = value["prompt"]
    return is_list(prompts) and len(prompts) == 1 and is_text(prompts[0])


def _only_prompt(value: dict[str, Json]) -> Json:
    return {**value, "prompt": as_list(value["prompt"])[0]}


def _are_prompt_messages(value: dict[str, Json]) -> bool:
    prompt = value["prompt"]
    return is_list(prompt) and bool(prompt) and all(is_message(item) for item in prompt)


def _prompt_messages(value: dict[str, Json]) -> Json:
    return {"messages": value["prompt"]}


def _are_prompt_parts(value: dict[str, Json]) -> bool:
    """Aleph Alpha's multimodal prompt (docs.aleph-alpha.com): a list of typed parts."""
    prompt = value["prompt"]
    return (
        is_list(prompt)
        and bool(prompt)
        and all(isinstance(item, dict) and is_text(item.get("type")) for item in prompt)
        and not any(map(is_message, prompt))
    )


def _prompt_parts(value: dict[str, Json]) -> Json:
    return request(user(value["prompt"]))


def _is_prompt_list(value: dict[str, Json]) -> bool:
    prompts = value["prompts"]
    return is_list(prompts) and len(prompts) == 1 and is_text(prompts[0])


def _first_prompt(value: dict[str, Json]) -> Json:
    return as_list(value["prompts"])[0]


def _is_thread(value: dict[str, Json]) -> bool:
    return is_object(thread := value["thread"]) and are_objects(thread.get("messages"))


def _thread_messages(value: dict[str, Json]) -> Json:
    thread = value["thread"]
    messages = as_list(thread.get("messages")) if is_object(thread) else []
    return request(*system(value.get("instructions")), *messages)


def _has_additional_messages(value: dict[str, Json]) -> bool:
    return are_objects(value["additional_messages"]) and bool(value["additional_messages"])


def _additional_messages(value: dict[str, Json]) -> Json:
    return request(*system(value.get("instructions")), *as_list(value["additional_messages"]))


def _has_tool_outputs(value: dict[str, Json]) -> bool:
    return are_objects(value["tool_outputs"]) and bool(value["tool_outputs"])


def _tool_outputs(value: dict[str, Json]) -> Json:
    outputs = [item for item in as_list(value["tool_outputs"]) if is_object(item)]
    return request(
        *({"role": "tool", "content": item.get("output"), "tool_call_id": item.get("tool_call_id")} for item in outputs)
    )


OPENAI_SHAPES: tuple[Shape, ...] = (
    Shape("query_history", "query", _is_query, _query_last),
    Shape("responses_api", "input", _is_input, _input_messages),
    Shape("input_after_history", "input", _is_input_after_history, _input_after_history),
    Shape("prompt", "prompt", _is_prompt, _prompt_message),
    Shape("one_prompt", "prompt", _is_one_prompt, _only_prompt),
    Shape("prompt_messages", "prompt", _are_prompt_messages, _prompt_messages),
    Shape("prompt_parts", "prompt", _are_prompt_parts, _prompt_parts),
    Shape("prompts", "prompts", _is_prompt_list, _first_prompt),
    Shape("assistants_thread", "thread", _is_thread, _thread_messages),
    Shape("assistants_run", "additional_messages", _has_additional_messages, _additional_messages),
    Shape("assistants_tool_outputs", "tool_outputs", _has_tool_outputs, _tool_outputs),
)
