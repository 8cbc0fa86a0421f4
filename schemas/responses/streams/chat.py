"""Streamed chat completions, and streamed legacy completions.

Source: platform.openai.com/docs/api-reference/chat-streaming. The deltas of each choice are joined into one message.
MLflow's ChatAgent streams a bare `delta` (mlflow.org/docs/latest, ChatAgentChunk).
"""

from typing import TypeAlias

from beamjudge.schemas.json_text import as_list, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.parts import content_text
from beamjudge.schemas.responses.streams.events import Event, Joined, StreamFormat

# By index: the call's own fields, its function's fields, and the pieces of its arguments.
Calls: TypeAlias = dict[int, tuple[dict[str, Json], dict[str, Json], list[str]]]
_TEXT_FIELDS = ("content", "refusal", "reasoning_content", "reasoning")


class _Choice:
    """The pieces of one choice."""

    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = {name: [] for name in _TEXT_FIELDS}
        self.transcript: list[str] = []
        self.calls: Calls = {}
        self.legacy_call: Calls = {}
        self.finish_reason: Json = None

    def add(self, delta: dict[str, Json]) -> None:
        for name, pieces in self.texts.items():
            piece = delta.get(name)
            if isinstance(piece, str):
                pieces.append(piece)
            elif is_list(piece):
                pieces.append(content_text(piece).text)
        for position, call in enumerate(as_list(delta.get("tool_calls"))):
            if is_object(call):
                add_call(self.calls, call, position)
        if is_object(call := delta.get("function_call")):
            add_call(self.legacy_call, {"function": call}, 0)
        if is_object(audio := delta.get("audio")) and isinstance(spoken := audio.get("transcript"), str):
            self.transcript.append(spoken)

    def message(self) -> dict[str, Json]:
        message: dict[str, Json] = {"role": "assistant"}
        for name, pieces in self.texts.items():
            if pieces or name == "content":
                message[name] = "".join(pieces)
        if self.calls:
            message["tool_calls"] = [*joined_calls(self.calls)]
        if self.legacy_call:
            message["function_call"] = joined_calls(self.legacy_call)[0]["function"]
        if self.transcript:
            message["audio"] = {"transcript": "".join(self.transcript)}
        return message


def _is_chunk(event: Event) -> bool:
    choices = event.get("choices")
    return is_list(choices) and any(is_object(choice) and _piece(choice) is not None for choice in choices)


def join_chunks(chunks: list[Event]) -> Joined:
    """The normal form of a stream. Its last chunk may have no choices and only the usage, which is kept."""
    by_index: dict[int, _Choice] = {}
    ended = False
    usage: Json = None
    for chunk in chunks:
        pieces = chunk.get("choices")
        for piece in pieces if isinstance(pieces, list) else ():
            if not isinstance(piece, dict):
                continue
            index = piece.get("index")
            place = index if isinstance(index, int) else 0
            joined = by_index.get(place)
            if joined is None:
                joined = by_index[place] = _Choice()
            delta = piece.get("delta")
            if not isinstance(delta, dict) or "message" in piece:
                delta = _piece(piece)
            # By far the most frequent piece, without the detour.
            if delta and len(delta) == 1 and isinstance(said := delta.get("content"), str):
                joined.texts["content"].append(said)
            elif delta:
                joined.add(delta)
            if (reason := piece.get("finish_reason")) is not None:
                joined.finish_reason = reason
                ended = True
        if ("usage" in chunk or "x_groq" in chunk) and (own := _usage(chunk)) is not None:
            ended = ended or pieces == []
            usage = own or usage
    choices: list[Json] = []
    for _, choice in sorted(by_index.items()):
        finish: dict[str, Json] = {} if choice.finish_reason is None else {"finish_reason": choice.finish_reason}
        choices.append({"message": choice.message(), **finish})
    value: dict[str, Json] = {"choices": choices}
    for name in ("usage", "databricks_output"):
        kept = usage if name == "usage" else _last(chunks, name)
        if kept is not None:
            value[name] = kept
    return Joined(value, ended)


def _usage(chunk: Event) -> Json:
    if isinstance(usage := chunk.get("usage"), dict):
        return usage
    groq = chunk.get("x_groq")
    return groq["usage"] if isinstance(groq, dict) and is_object(groq.get("usage")) else None


def _last(chunks: list[Event], name: str) -> Json:
    return next((chunk[name] for chunk in reversed(chunks) if chunk.get(name) is not None), None)


def _piece(choice: dict[str, Json]) -> dict[str, Json] | None:
    """What a chunk adds: its delta, or the text of a streamed legacy completion as a delta; null for a whole answer."""
    if isinstance(choice.get("message"), dict):
        return None
    if isinstance(delta := choice.get("delta"), dict):
        return delta
    text = choice.get("text")
    return {"content": text} if isinstance(text, str) else None


def add_call(calls: Calls, call: dict[str, Json], position: int) -> None:
    """Adds a piece of a tool call: names and ids come once, arguments in pieces."""
    given = call.get("index")
    fields, function, arguments = calls.setdefault(given if isinstance(given, int) else position, ({}, {}, []))
    fields.update({name: item for name, item in call.items() if name not in ("index", "function") and item is not None})
    if is_object(piece := call.get("function")):
        function.update({name: item for name, item in piece.items() if name != "arguments" and item is not None})
        if isinstance(more := piece.get("arguments"), str):
            arguments.append(more)


def joined_calls(calls: Calls) -> list[dict[str, Json]]:
    """The calls in their order, with their arguments in one piece."""
    return [
        {**fields, "function": {**function, "arguments": "".join(arguments)}}
        for _, (fields, function, arguments) in sorted(calls.items())
    ]


def _is_agent_chunk(event: Event) -> bool:
    delta = event.get("delta")
    return is_object(delta) and ("content" in delta or "tool_calls" in delta) and not {"type", "object"} & event.keys()


def _join_agent_chunks(chunks: list[Event]) -> Joined:
    """Messages of an agent come in pieces with one id; a new id is a new message, and the last one is the answer."""
    messages: dict[str, list[Event]] = {}
    for chunk in chunks:
        if is_object(delta := chunk.get("delta")) and delta.get("role") in (None, "assistant"):
            own_id = delta.get("id")
            messages.setdefault(own_id if isinstance(own_id, str) else "", []).append(delta)
    pieces = list(messages.values())[-1] if messages else []
    joined = join_chunks([{"choices": [{"delta": piece}]} for piece in pieces])
    finished = any(chunk.get("finish_reason") is not None for chunk in chunks)
    # Without reasons for their end, whole messages cannot be told from pieces.
    return Joined(joined.value, finished or len(pieces) == 1)


CHAT_STREAMS: tuple[StreamFormat, ...] = (
    StreamFormat("chat_chunks", _is_chunk, join_chunks, alone=False),
    StreamFormat("chat_agent_chunks", _is_agent_chunk, _join_agent_chunks),
)
