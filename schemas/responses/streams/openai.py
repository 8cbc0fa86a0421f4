"""Event streams of OpenAI's Responses (and Realtime) and Assistants interfaces, and of Databricks' ResponsesAgent.

Sources: platform.openai.com/docs/api-reference/responses-streaming and .../assistants-streaming.
"""

from beamjudge.schemas.json_text import as_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.parts import PartKind, read_part
from beamjudge.schemas.responses.streams.chat import Calls, add_call, joined_calls
from beamjudge.schemas.responses.streams.events import Event, Joined, StreamFormat, last_object, text_of

_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed", "response.done"})
_TEXT_DELTAS = frozenset({"response.output_text.delta", "response.text.delta"})
_TEXT_DONE = frozenset({"response.output_text.done", "response.text.done"})
_TRANSCRIPT_DELTAS = frozenset(
    {
        "response.output_audio_transcript.delta",
        "response.audio_transcript.delta",
        "response.audio.transcript.delta",
    }
)
_ANSWER_EVENTS = (
    _ENDS
    | _TEXT_DELTAS
    | _TEXT_DONE
    | _TRANSCRIPT_DELTAS
    | {"response.refusal.delta", "response.refusal.done", "response.content_part.done", "response.output_item.done"}
)


def _kind(event: Event) -> str:
    return text_of(event.get("type"))


def is_response_event(event: Event) -> bool:
    return _kind(event).startswith("response.")


def holds_answer(event: Event) -> bool:
    """Whether one event alone says anything of an answer."""
    kind = _kind(event)
    return kind in _ANSWER_EVENTS and (kind not in _ENDS or is_object(event.get("response")))


class _Pending:
    """The pieces of an output item that is not done: by content index the text, and the arguments of a call."""

    def __init__(self) -> None:
        self.item: dict[str, Json] = {"type": "message", "role": "assistant"}
        self.texts: dict[str, list[str]] = {}
        self.refusal: list[str] = []
        self.arguments: list[str] = []

    def as_item(self) -> Json:
        if self.item.get("type") not in (None, "message"):
            return {**self.item, "arguments": "".join(self.arguments)} if self.arguments else self.item
        parts: list[Json] = [{"type": "output_text", "text": "".join(text)} for _, text in sorted(self.texts.items())]
        if self.refusal:
            parts.append({"type": "refusal", "refusal": "".join(self.refusal)})
        return {**self.item, "content": parts}


def _join_response(events: list[Event]) -> Joined:
    """The finished response where the stream has it; else its finished items, and what there is of the others."""
    for event in reversed(events):
        if _kind(event) in _ENDS and is_object(response := event.get("response")):
            if as_list(response.get("output")) or response.get("status") == "failed":
                return Joined(_with_databricks(response, events), True)
            break
    done: list[Json] = []
    pending: dict[str, _Pending] = {}
    ended = False
    for event in events:
        kind = _kind(event)
        item = event.get("item")
        item_id = text_of(event.get("item_id"))
        if kind == "response.output_item.done" and is_object(item):
            done.append(item)
            pending.pop(text_of(item.get("id")), None)
            pending.pop("", None)
            ended = True
        elif kind == "response.output_item.added" and is_object(item):
            pending.setdefault(text_of(item.get("id")), _Pending()).item = item
        elif _add_piece(event, kind, pending, item_id):
            ended = False
        ended = ended or kind in _ENDS
    items = [*done, *(left.as_item() for left in pending.values())]
    value: dict[str, Json] = {"object": "response", "output": items}
    if is_object(response := last_object(events, "response")) and is_object(usage := response.get("usage")):
        value["usage"] = usage
    error = next((event for event in events if _kind(event) == "error"), None)
    if error is not None and not items:
        return Joined({"error": error.get("error") or error}, True)
    return Joined(_with_databricks(value, events), ended and error is None)


def _add_piece(event: Event, kind: str, pending: dict[str, _Pending], item_id: str) -> bool:
    """Adds a delta to its item; whether there was one."""
    delta, index = event.get("delta"), str(event.get("content_index") or 0)
    if (kind in _TEXT_DELTAS or kind in _TRANSCRIPT_DELTAS) and isinstance(delta, str):
        pending.setdefault(item_id, _Pending()).texts.setdefault(index, []).append(delta)
    elif kind in _TEXT_DONE and isinstance(text := event.get("text"), str):
        pending.setdefault(item_id, _Pending()).texts[index] = [text]
    elif kind == "response.content_part.done" and is_object(part := event.get("part")):
        said = read_part(part)
        target = pending.setdefault(item_id, _Pending())
        if said.kind is PartKind.REFUSAL:
            target.refusal = [said.text]
        elif said.kind is PartKind.TEXT:
            target.texts[index] = [said.text]
    elif kind == "response.refusal.delta" and isinstance(delta, str):
        pending.setdefault(item_id, _Pending()).refusal.append(delta)
    elif kind == "response.refusal.done" and isinstance(refusal := event.get("refusal"), str):
        pending.setdefault(item_id, _Pending()).refusal = [refusal]
    elif kind == "response.function_call_arguments.delta" and isinstance(delta, str) and item_id in pending:
        pending[item_id].arguments.append(delta)
    else:
        return False
    return True


def _with_databricks(response: dict[str, Json], events: list[Event]) -> Json:
    output = last_object(events, "databricks_output")
    return response if output is None else {**response, "databricks_output": output}


_FINISHED_RUN = frozenset({"completed", "requires_action", "failed", "incomplete", "cancelled", "expired"})


def is_assistants_event(event: Event) -> bool:
    kind = text_of(event.get("object"))
    return kind.startswith("thread.run") or kind == "thread.message.delta"


def _join_assistants(events: list[Event]) -> Joined:
    """The last message of the run: as completed, or joined from its deltas; the run itself where it said nothing."""
    message: Json = None
    texts: dict[str, list[str]] = {}
    calls: Calls = {}
    run: Event = {}
    ended = False
    for event in events:
        kind = event.get("object")
        if kind == "thread.message" and event.get("role") == "assistant":
            if as_list(event.get("content")):
                message = event
                ended = True
        elif kind == "thread.message.delta" and is_object(delta := event.get("delta")):
            pieces = texts.setdefault(text_of(event.get("id")), [])
            for part in as_list(delta.get("content")):
                if is_object(part) and is_object(text := part.get("text")):
                    pieces.append(text_of(text.get("value")))
        elif kind == "thread.run.step.delta" and is_object(delta := event.get("delta")):
            _add_step_calls(calls, delta)
        elif kind == "thread.run":
            run = event
            ended = ended or text_of(event.get("status")) in _FINISHED_RUN
    if message is None and texts:
        message = {"role": "assistant", "content": "".join(list(texts.values())[-1])}
    if message is None and calls and run.get("required_action") is None:
        wanted: list[Json] = [*joined_calls(calls)]
        message = {"role": "assistant", "content": None, "tool_calls": wanted}
    if message is None or not is_object(message):
        return Joined(run or None, ended)
    usage = last_object(events, "usage") if not is_object(run.get("usage")) else run["usage"]
    return Joined({**message, "usage": usage} if usage is not None else message, ended)


def _add_step_calls(calls: Calls, delta: dict[str, Json]) -> None:
    details = delta.get("step_details")
    pieces = as_list(details.get("tool_calls")) if is_object(details) else []
    for position, piece in enumerate(pieces):
        if is_object(piece) and is_object(piece.get("function")):
            add_call(calls, piece, position)


OPENAI_STREAMS: tuple[StreamFormat, ...] = (
    StreamFormat("response_events", is_response_event, _join_response),
    StreamFormat("assistants_events", is_assistants_event, _join_assistants),
)
