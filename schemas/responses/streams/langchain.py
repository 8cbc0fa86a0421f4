"""Streams of LangChain: message chunks, in any of their dumps.

Source: python.langchain.com/docs/concepts/streaming, AIMessageChunk and how two of them are added. The end of a stream
is marked by newer versions alone (`chunk_position`), so that its lack says nothing: no such stream counts as cut off.
"""

from typing import NamedTuple

from beamjudge.schemas.foreign_messages import to_message
from beamjudge.schemas.json_text import as_list, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.messages import ASSISTANT_ROLES, is_message, message_role
from beamjudge.schemas.parts import PartKind, read_part
from beamjudge.schemas.responses.streams.chat import Calls, add_call, joined_calls
from beamjudge.schemas.responses.streams.events import Event, Joined, StreamFormat, text_of
from beamjudge.schemas.row import TokenUsage
from beamjudge.schemas.usage import response_usage

_CHUNK = "AIMessageChunk"
# What a message gets for an id where its provider gives none; chunks of one message may have either.
_RUN_IDS = ("run-", "lc_run-")
_REASONS = ("finish_reason", "stop_reason")


def is_message_chunk(event: Json) -> bool:
    return is_object(event) and _held(event) is not None


def _held(event: Event) -> dict[str, Json] | None:
    """The fields of a chunk; null for any other event."""
    if event.get("type") == _CHUNK:
        data = event.get("data")
        held = data if is_object(data) else event
        return held if "content" in held else None
    if event.get("lc") is None:
        return None
    path, kwargs = event.get("id"), event.get("kwargs")
    return kwargs if is_list(path) and path and path[-1] == _CHUNK and is_object(kwargs) else None


class _Block(NamedTuple):
    """A part of the content, as its first chunk has it, with the pieces of its text where it is one."""

    kind: PartKind
    part: Json
    number: Json
    pieces: list[str]


class _Message:
    """The pieces of one message."""

    def __init__(self) -> None:
        self.blocks: list[_Block] = []
        self.calls: Calls = {}
        self.refusal: list[str] = []
        self.counts: list[TokenUsage] = []
        self.finish_reason: Json = None
        self._ids: dict[bool, str] = {}  # by whether it is a run's
        self._places: dict[int | str, int] = {}  # of the calls, by their index

    def takes(self, chunk: dict[str, Json]) -> bool:
        """Whether a chunk belongs to this message: another id of the same kind is another message's."""
        own_id = text_of(chunk.get("id"))
        return not own_id or self._ids.setdefault(own_id.startswith(_RUN_IDS), own_id) == own_id

    def add(self, chunk: dict[str, Json]) -> None:
        content = chunk.get("content")
        for part in content if isinstance(content, list) else (content,):
            if isinstance(part, str):
                self._add_text(part, None)
            elif is_object(part):
                self._add_part(part)
        further = chunk.get("additional_kwargs")
        if pieces := as_list(chunk.get("tool_call_chunks")):
            self._add_calls(pieces)
        elif is_object(further):  # as OpenAI's own chunks have them
            for position, call in enumerate(as_list(further.get("tool_calls"))):
                if is_object(call):
                    add_call(self.calls, call, position)
        if is_object(further):
            self.refusal.append(text_of(further.get("refusal")))
        if chunk.get("usage_metadata") or chunk.get("response_metadata"):
            self._add_end(chunk)

    def _add_text(self, piece: str, index: Json) -> None:
        """Text goes on with the text before it, unless their numbers say that they are two blocks."""
        last = self.blocks[-1] if self.blocks else None
        if last is not None and last.kind is PartKind.TEXT and (index is None or last.number == index):
            last.pieces.append(piece)
        elif piece:
            self.blocks.append(_Block(PartKind.TEXT, None, index, [piece]))

    def _add_part(self, part: dict[str, Json]) -> None:
        kind, text, _ = read_part(part)
        if kind is PartKind.TEXT:
            self._add_text(text, part.get("index"))
        elif kind is PartKind.REFUSAL:
            self.refusal.append(text)
        elif kind is PartKind.REASONING:
            if not self.blocks or self.blocks[-1].kind is not kind:
                self.blocks.append(_Block(kind, {"type": "reasoning"}, None, []))
        elif kind is PartKind.OTHER and part.get("type") not in _PIECES_OF_CALLS:
            self.blocks.append(_Block(kind, part, None, []))

    def _add_calls(self, pieces: list[Json]) -> None:
        """Pieces with one index make one call; without an index each is a whole one."""
        for piece in pieces:
            if not is_object(piece):
                continue
            index = piece.get("index")
            place = len(self._places)
            key = index if isinstance(index, (int, str)) else f"call {place}"
            function: dict[str, Json] = {"name": piece.get("name"), "arguments": piece.get("args")}
            place = self._places.setdefault(key, place)
            add_call(self.calls, {"index": place, "id": piece.get("id"), "function": function}, place)

    def _add_end(self, chunk: dict[str, Json]) -> None:
        if (counted := response_usage(chunk)) is not None:
            self.counts.append(counted)
        if is_object(metadata := chunk.get("response_metadata")):
            given = (reason for name in _REASONS if (reason := metadata.get(name)) is not None)
            self.finish_reason = next(given, self.finish_reason)

    def joined(self) -> Json:
        """The normal form. Counts are added up, as LangChain does it: some providers report each direction apart."""
        message: dict[str, Json] = {"role": "assistant", "content": self._content()}
        if self.calls:
            message["tool_calls"] = [*joined_calls(self.calls)]
        if refusal := "".join(self.refusal):
            message["refusal"] = refusal
        finish: dict[str, Json] = {} if self.finish_reason is None else {"finish_reason": self.finish_reason}
        value: dict[str, Json] = {"choices": [{"message": message, **finish}]}
        if self.counts:
            value["usage"] = {
                name: sum(numbers)
                for name, column in zip(TokenUsage._fields, zip(*self.counts, strict=True), strict=True)
                if (numbers := [number for number in column if number is not None])
            }
        return value

    def _content(self) -> Json:
        if all(block.kind is PartKind.TEXT for block in self.blocks) and len(self.blocks) < 2:
            return "".join(self.blocks[0].pieces) if self.blocks else ""
        return [
            {"type": "text", "text": "".join(block.pieces)} if block.kind is PartKind.TEXT else block.part
            for block in self.blocks
        ]


# Calls among the parts are those of `tool_call_chunks` again.
_PIECES_OF_CALLS: tuple[Json, ...] = ("input_json_delta", "tool_call_chunk")


def _join(events: list[Event]) -> Joined:
    """The last message. Between chunks may stand whole messages, as an agent's stream has results of tools."""
    message: _Message | None = None
    answer: Json = None
    for event in events:
        if (chunk := _held(event)) is not None:
            if message is None or not message.takes(chunk):
                message = _Message()
                message.takes(chunk)
            message.add(chunk)
        elif is_object(whole := to_message(event)) and is_message(whole):
            if message is not None:
                answer = message.joined()
            if message_role(whole) in ASSISTANT_ROLES:
                answer = {"choices": [{"message": whole}]}
            message = None
    return Joined(answer if message is None else message.joined(), True)


LANGCHAIN_STREAMS: tuple[StreamFormat, ...] = (StreamFormat("message_chunks", is_message_chunk, _join, alone=False),)
