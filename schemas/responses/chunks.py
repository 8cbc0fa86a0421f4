"""Streamed chat completions: the deltas of the first choice joined into one message."""

from typing import TypeAlias

from beamjudge.schemas.json_text import as_list, is_list, is_object
from beamjudge.schemas.json_value import Json

# By index: the call's own fields, its function's fields, and the pieces of its arguments.
_Calls: TypeAlias = dict[int, tuple[dict[str, Json], dict[str, Json], list[str]]]


def is_chunk_list(value: Json) -> bool:
    """A list of at least two chunks with `choices`, at least one of which holds a delta or a piece of text."""
    if not is_list(value) or len(value) < 2:
        return False
    if not all(is_object(chunk) and is_list(chunk.get("choices")) for chunk in value):
        return False
    return any(is_object(choice) and _piece(choice) is not None for choice in _choices(value))


def join_chunks(chunks: list[Json]) -> Json:
    """The normal form of a stream. Its last chunk may have no choices and only the usage, which is kept."""
    content: list[str] = []
    refusal: list[str] = []
    calls: _Calls = {}
    for choice in _choices(chunks):
        if not is_object(choice) or choice.get("index") not in (None, 0) or (delta := _piece(choice)) is None:
            continue
        if isinstance(text := delta.get("content"), str):
            content.append(text)
        if isinstance(text := delta.get("refusal"), str):
            refusal.append(text)
        for position, call in enumerate(as_list(delta.get("tool_calls"))):
            if is_object(call):
                _add_call(calls, call, position)
    message: dict[str, Json] = {"role": "assistant", "content": "".join(content)}
    if refusal:
        message["refusal"] = "".join(refusal)
    if calls:
        message["tool_calls"] = _joined_calls(calls)
    joined: dict[str, Json] = {"choices": [{"message": message}]}
    usage = [chunk["usage"] for chunk in chunks if is_object(chunk) and is_object(chunk.get("usage"))]
    return {**joined, "usage": usage[-1]} if usage else joined


def _choices(chunks: list[Json]) -> list[Json]:
    return [choice for chunk in chunks if is_object(chunk) for choice in as_list(chunk.get("choices"))]


def _piece(choice: dict[str, Json]) -> dict[str, Json] | None:
    """What a chunk adds: its delta, or the text of a streamed legacy completion as a delta."""
    if is_object(delta := choice.get("delta")):
        return delta
    text = choice.get("text")
    return {"content": text} if isinstance(text, str) else None


def _add_call(calls: _Calls, call: dict[str, Json], position: int) -> None:
    """Adds a piece of a tool call: names and ids come once, arguments in pieces."""
    given = call.get("index")
    fields, function, arguments = calls.setdefault(given if isinstance(given, int) else position, ({}, {}, []))
    fields.update({name: item for name, item in call.items() if name not in ("index", "function") and item is not None})
    if is_object(piece := call.get("function")):
        function.update({name: item for name, item in piece.items() if name != "arguments" and item is not None})
        if isinstance(more := piece.get("arguments"), str):
            arguments.append(more)


def _joined_calls(calls: _Calls) -> list[Json]:
    return [
        {**fields, "function": {**function, "arguments": "".join(arguments)}}
        for _, (fields, function, arguments) in sorted(calls.items())
    ]
