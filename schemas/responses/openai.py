"""Responses of OpenAI's interfaces and of what follows them: chat completions, completions, Responses, Assistants.

Source: platform.openai.com/docs/api-reference. The Responses shape is also Databricks' and MLflow's ResponsesAgent.
"""

from collections.abc import Callable

from beamjudge.schemas.json_text import as_list, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.responses.forms import are_typed, assistant, choice, first_object, is_text
from beamjudge.schemas.responses.streams import holds_answer, is_stream, join_stream, stream_format
from beamjudge.schemas.responses.streams.chat import join_chunks
from beamjudge.schemas.responses.streams.events import events_of
from beamjudge.schemas.responses.streams.langchain import is_message_chunk
from beamjudge.schemas.shapes import LIST, Noted, Rewritten, Shape


def _first_choice(value: dict[str, Json]) -> dict[str, Json] | None:
    """The first choice; an empty one where the list is empty."""
    choices = value["choices"]
    return {} if choices == [] else first_object(choices)


def _is_normal(value: dict[str, Json]) -> bool:
    first = _first_choice(value)
    return first is not None and (not first or is_object(first.get("message")))


def _is_text_choice(value: dict[str, Json]) -> bool:
    first = _first_choice(value)
    if first is None or is_object(first.get("message")) or is_object(first.get("delta")):
        return False
    return is_text(first.get("text"))


def _text_choices(value: dict[str, Json]) -> Json:
    choices: list[Json] = [
        {**_kept(item), "message": {"role": "assistant", "content": item.get("text")}}
        for item in as_list(value["choices"])
        if is_object(item)
    ]
    return {**value, "choices": choices}


def _kept(item: dict[str, Json]) -> dict[str, Json]:
    reason = item.get("finish_reason")
    return {} if reason is None else {"finish_reason": reason}


def _is_delta(value: dict[str, Json]) -> bool:
    first = _first_choice(value)
    return first is not None and not is_object(first.get("message")) and is_object(first.get("delta"))


def _one_chunk(value: dict[str, Json]) -> Rewritten:
    joined = join_chunks([value])
    return joined.value if joined.ended else Noted(joined.value, ("cut_stream",))


def _is_turns(value: dict[str, Json]) -> bool:
    """MT-Bench's answers: the turns of one model."""
    first = _first_choice(value)
    return first is not None and is_list(turns := first.get("turns")) and bool(turns) and is_text(turns[-1])


def _last_turn(value: dict[str, Json]) -> Json:
    first = _first_choice(value)
    return assistant(as_list(first.get("turns"))[-1] if first else None)


def _has_output_items(value: dict[str, Json]) -> bool:
    items = value["output"]
    return (
        are_typed(items) and value.get("object") != "response.compaction" and not is_message_chunk(first_object(items))
    )


def _last_output_message(value: dict[str, Json]) -> Rewritten:
    """The last message of the output; where there is none, its pictures or its calls."""
    items = [item for item in as_list(value["output"]) if is_object(item)]
    messages = [item for item in items if item["type"] == "message" and item.get("role") in (None, "assistant")]
    notes = ["reasoning_not_shown"] if any(item["type"] == "reasoning" for item in items) else []
    calls: list[Json] = [item for item in items if str(item["type"]).endswith("_call")]
    if messages:
        notes += ["several_messages"] if len(messages) > 1 else []
        notes += ["tool_calls_not_shown"] if calls else []
        said: Json = {"role": "assistant", "content": messages[-1].get("content")}
    elif calls and all(is_object(call) and call["type"] == "image_generation_call" for call in calls):
        said = {"role": "assistant", "content": [{"type": "image_generation_call"}]}
    else:
        said = {"role": "assistant", "content": None, "tool_calls": calls}
    return Noted(choice(said), tuple(notes))


def _is_empty_output(value: dict[str, Json]) -> bool:
    return value["output"] == [] and value.get("object") == "response" and not _is_unfinished(value)


def _nothing_said(_value: dict[str, Json]) -> Json:
    return assistant("")


def _is_message_page(value: dict[str, Json]) -> bool:
    """A page of a thread's messages, the newest first."""
    page = value["data"]
    return value.get("object") == "list" and any(_is_answer(item) for item in as_list(page))


def _is_answer(item: Json) -> bool:
    return is_object(item) and (
        (item.get("object") == "thread.message" and item.get("role") == "assistant")
        or item.get("type") == "assistant_message"  # ChatKit
    )


def _newest_answer(value: dict[str, Json]) -> Json:
    answer = next(item for item in as_list(value["data"]) if _is_answer(item))
    return assistant(answer.get("content")) if is_object(answer) else None


def _is_page_of_one(value: dict[str, Json]) -> bool:
    page = value["data"]
    if value.get("object") != "list" or not is_list(page) or len(page) != 1 or not is_object(page[0]):
        return False
    return is_list(page[0].get("choices"))


def _only_of_page(value: dict[str, Json]) -> Json:
    return as_list(value["data"])[0]


def _is_lone_event(value: dict[str, Json]) -> bool:
    return holds_answer(value)


def _lone_event(value: dict[str, Json]) -> Rewritten:
    return join_stream([value])


def _holds_stream(field: str) -> Callable[[dict[str, Json]], bool]:
    """An event stream is kept under `sse`, JSON lines under `ndjson`: whole responses, or events."""

    def fits(value: dict[str, Json]) -> bool:
        events = value[field]
        if not is_list(events):
            return False
        if stream_format(events, certain=True) is not None:
            return True
        return len(events) < 3 and len(events_of(events)[0]) == 1  # a whole response, and the mark of the end

    return fits


def _its_stream(field: str) -> Callable[[dict[str, Json]], Rewritten]:
    def rewrite(value: dict[str, Json]) -> Rewritten:
        return join_stream(as_list(value[field]), certain=True)

    return rewrite


# What stands for no answer at all: a run or a response that is still to come, or what a call that asks nothing returns.
_UNFINISHED = frozenset({"queued", "in_progress", "cancelled", "cancelling"})
_NO_ANSWERS = frozenset({"response.compaction", "response.input_tokens", "thread", "assistant"})


def _is_unfinished(value: dict[str, Json]) -> bool:
    kind, status = value["object"], value.get("status")
    if kind == "thread.run":
        return value.get("required_action") is None
    if kind == "response":
        return isinstance(status, str) and status in _UNFINISHED and not as_list(value.get("output"))
    if kind == "interaction":
        return not is_list(value.get("steps"))
    return isinstance(kind, str) and kind in _NO_ANSWERS


def _no_answer(_value: dict[str, Json]) -> Json:
    return None


def _wants_calls(value: dict[str, Json]) -> bool:
    """A run of Assistants that waits for the results of tool calls."""
    return value.get("object") == "thread.run" and is_object(value["required_action"])


def _wanted_calls(value: dict[str, Json]) -> Json:
    action = value["required_action"]
    wanted = action.get("submit_tool_outputs") if is_object(action) else None
    calls = wanted.get("tool_calls") if is_object(wanted) else None
    return choice({"role": "assistant", "content": None, "tool_calls": calls})


OPENAI_SHAPES: tuple[Shape, ...] = (
    Shape("choices", "choices", _is_normal, None),
    Shape("text_choices", "choices", _is_text_choice, _text_choices),
    Shape("chunk", "choices", _is_delta, _one_chunk),
    Shape("turn_choices", "choices", _is_turns, _last_turn),
    Shape("responses_api", "output", _has_output_items, _last_output_message),
    Shape("empty_output", "output", _is_empty_output, _nothing_said),
    Shape("message_page", "data", _is_message_page, _newest_answer),
    Shape("page_of_one", "data", _is_page_of_one, _only_of_page),
    Shape("unfinished", "object", _is_unfinished, _no_answer),
    Shape("assistants_run", "required_action", _wants_calls, _wanted_calls),
    Shape("response_event", "type", _is_lone_event, _lone_event),
    Shape("sse", "sse", _holds_stream("sse"), _its_stream("sse")),
    Shape("ndjson", "ndjson", _holds_stream("ndjson"), _its_stream("ndjson")),
    Shape("stream", LIST, is_stream, join_stream),
)
