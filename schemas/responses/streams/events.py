"""What a stream is made of: events, out of the wrappers in which they are logged."""

import base64
import binascii
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, TypeAlias

from beamjudge.schemas.json_text import decode_container, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.logged_text import EVENT_FIELDS

Event: TypeAlias = dict[str, Json]
_WRAPPER = frozenset({"event", "data", "id", "retry"})
_CODED = frozenset({"chunk", "bytes"})
_DONE = "[DONE]"
_DATA = "data:"


class Joined(NamedTuple):
    """A stream as the response that it stands for, and whether it came to its end."""

    value: Json
    ended: bool


@dataclass(frozen=True, slots=True)
class StreamFormat:
    """One format of streams, told by any of its events.

    `alone` says that one event is a stream by itself; without it a list of one is read as the one response.
    """

    name: str
    claims: Callable[[Event], bool]
    join: Callable[[list[Event]], Joined]
    alone: bool = True


def unwrap(item: Json) -> Json:
    """The event in an item of a logged stream: `{"event", "data"}`, JSON text, the same as the data of a server-sent
    event, or Bedrock's base64 chunk.
    """
    if isinstance(item, dict):
        if "data" in item:
            if item.keys() <= _WRAPPER and not is_text_event(item):
                return unwrap(item["data"])
        elif len(item) == 1 and not _CODED.isdisjoint(item):
            chunk = item.get("chunk", item)
            if isinstance(chunk, dict) and isinstance(coded := chunk.get("bytes"), str):
                return _decoded_chunk(coded)
    elif isinstance(item, str):
        text = item.strip().removeprefix(_DATA)
        decoded = decode_container(text)
        return unwrap(decoded.value) if decoded else text.strip()
    return item


def is_event_text(item: Json) -> bool:
    """Whether an item is the text of server-sent events: lines that each begin with a field's name."""
    return isinstance(item, str) and item.lstrip().startswith(EVENT_FIELDS)


def _split(items: list[Json]) -> Iterator[Json]:
    """The items of a stream; text of server-sent events, as it came over the network, is its lines."""
    for item in items:
        if isinstance(item, str) and "\n" in item and is_event_text(item):
            yield from item.split("\n")
        else:
            yield item


def is_text_event(item: dict[str, Json]) -> bool:
    """An event of Replicate's: its data is a piece of text."""
    return item.get("event") == "output" and isinstance(item["data"], str)


def _decoded_chunk(coded: str) -> Json:
    try:
        text = base64.b64decode(coded, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    decoded = decode_container(text)
    return decoded.value if decoded else None


def events_of(items: list[Json]) -> tuple[list[Event], bool]:
    """The events of a stream that are objects, and whether the mark of its end is among them."""
    if str in set(map(type, items)):  # few streams are text
        items = [*_split(items)]
    unwrapped = [unwrap(item) for item in items]
    return [event for event in unwrapped if isinstance(event, dict)], _DONE in unwrapped


def candidates(items: list[Json], most: int) -> Iterator[Event]:
    """The first events of a list that may be a stream; none where it holds something that is no event."""
    if not set(map(type, items)) <= {dict, str}:
        return
    for item in islice(_split(items), most):
        if is_object(event := unwrap(item)):
            yield event


def last_object(events: list[Event], name: str) -> Event | None:
    """The last object that an event has under `name`."""
    return next((found for event in reversed(events) if is_object(found := event.get(name))), None)


def text_of(value: Json) -> str:
    return value if isinstance(value, str) else ""


def strings(value: Json) -> list[str]:
    return [item for item in value if isinstance(item, str)] if is_list(value) else []
