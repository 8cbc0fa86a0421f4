"""Anthropic's event streams of messages, and its older streamed completions.

Source: docs.anthropic.com/en/docs/build-with-claude/streaming.
"""

from beamjudge.schemas.json_text import decode_container, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.responses.streams.events import Event, Joined, StreamFormat, text_of

_EVENTS = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    }
)


def _is_event(event: Event) -> bool:
    return event.get("type") in _EVENTS if isinstance(event.get("type"), str) else False


class _Block:
    """One content block: what it began as, and the pieces of its text and of a call's arguments."""

    def __init__(self, start: dict[str, Json]) -> None:
        self.start = start
        self.text: list[str] = [text_of(start.get("text"))]
        self.arguments: list[str] = []

    def finished(self) -> Json:
        if self.start.get("type") == "text":
            return {**self.start, "text": "".join(self.text)}
        if self.arguments:
            text = "".join(self.arguments)
            decoded = decode_container(text)
            return {**self.start, "input": decoded.value if decoded else text}
        return self.start


def _join_message(events: list[Event]) -> Joined:
    message: dict[str, Json] = {"type": "message", "role": "assistant"}
    usage: dict[str, Json] = {}
    blocks: dict[int, _Block] = {}
    ended = False
    for event in events:
        kind, delta = event.get("type"), event.get("delta")
        given = event.get("index")
        index = given if isinstance(given, int) else 0
        if kind == "message_start" and is_object(start := event.get("message")):
            message.update(start)
            _update(usage, start.get("usage"))
        elif kind == "content_block_start" and is_object(start := event.get("content_block")):
            blocks[index] = _Block(start)
        elif kind == "content_block_delta" and is_object(delta):
            block = blocks.setdefault(index, _Block({"type": "text"}))
            block.text.append(text_of(delta.get("text")))
            if piece := text_of(delta.get("partial_json")):
                block.arguments.append(piece)
        elif kind == "message_delta":
            _update(message, delta)
            _update(usage, event.get("usage"))
            ended = ended or message.get("stop_reason") is not None
        elif kind == "message_stop":
            ended = True
        elif kind == "error" and not blocks:
            return Joined({"error": event.get("error")}, True)
    message["content"] = [block.finished() for _, block in sorted(blocks.items())]
    if usage:
        message["usage"] = usage
    return Joined(message, ended)


def _update(target: dict[str, Json], source: Json) -> None:
    if is_object(source):
        target.update({name: item for name, item in source.items() if item is not None})


def _is_completion(event: Event) -> bool:
    return event.get("type") == "completion" and isinstance(event.get("completion"), str)


def _join_completion(events: list[Event]) -> Joined:
    pieces = [text_of(event.get("completion")) for event in events]
    reason = next((event["stop_reason"] for event in reversed(events) if event.get("stop_reason") is not None), None)
    return Joined({"type": "completion", "completion": "".join(pieces), "stop_reason": reason}, reason is not None)


ANTHROPIC_STREAMS: tuple[StreamFormat, ...] = (
    StreamFormat("anthropic_events", _is_event, _join_message),
    StreamFormat("anthropic_completions", _is_completion, _join_completion, alone=False),
)
