"""Strings that are logged bodies: JSON, JSON inside JSON strings, event streams, JSON lines, reprs of Python dicts.

Every step is linear in the text. Nothing is executed: a repr is read by `ast.literal_eval`, up to 256 KiB of it.
"""

import ast
import re
from collections.abc import Callable
from typing import TypeAlias

from beamjudge.schemas.json_text import DecodedJson, as_list, decode_container, decode_object, is_container, is_object
from beamjudge.schemas.json_value import Json, replace_surrogates

_Accepts: TypeAlias = Callable[[Json], bool]

_LONGEST_REPR = 256 * 1024
_MOST_LAYERS = 3
_STARTS = frozenset('{["(deri:\ufeff')
_MOST_BROKEN_LINES = 50_000
# A stream is told by its first events alone, so that a long text that is none is not read to its end.
FIRST_EVENTS = 100
_FIRST_LINES = 10 * FIRST_EVENTS
_DONE = "[DONE]"
_JSON_NOTE = "parsed_json_string"
_STREAM_NOTE = "parsed_event_stream"
_JSON_DATA = re.compile(r"^data:[ \t]*[{\[]", re.MULTILINE)
EVENT_FIELDS = ("data:", "event:", "id:", "retry:", ":")
# A dict's first key, also inside lists; quotes of either kind, as repr chooses them.
_REPR_START = re.compile(r"[\s\[({]{1,8}(['\"])\w{1,64}\1\s{0,4}:")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_PYTHON_ESCAPES = frozenset("\\'\"abfnrtvxuUN01234567\n")


def read_body(text: str, accepts: _Accepts, *, streams: bool = True) -> DecodedJson | None:
    """The JSON value that `text` is, in one of the forms above, with its note codes.

    Null for plain text, and for a value that `accepts` refuses. Event streams become `{"sse": [...]}`, JSON lines
    `{"ndjson": [...]}`; without `streams` they are plain text.
    """
    if text[:1] not in _STARTS and not text[:1].isspace():
        return None
    text = text.removeprefix("\ufeff")
    layers = 0
    while (first := text.lstrip()[:1]) == '"' and layers < _MOST_LAYERS:
        quoted = decode_container(f"[{text}]")
        inner = as_list(quoted.value) if quoted else []
        if len(inner) != 1 or not isinstance(inner[0], str):
            return None
        text = inner[0]
        layers += 1
    if first not in _STARTS:
        return None
    for note, read in _READERS.get(first, _LINE_READERS):
        if note == _STREAM_NOTE and not streams:
            continue
        decoded = read(text, accepts)
        if decoded is not None:
            return DecodedJson(decoded.value, (note, *decoded.notes)) if accepts(decoded.value) else None
    return None


def read_text_body(text: str, accepts: _Accepts = is_container, *, streams: bool = True) -> DecodedJson | None:
    """What `read_body` gives for the body of a call, by default any JSON. That it was text is how calls are made, and
    has no note.
    """
    body = read_body(text, accepts, streams=streams)
    return body and body._replace(notes=tuple(note for note in body.notes if note != _JSON_NOTE))


def _container(text: str, _accepts: _Accepts) -> DecodedJson | None:
    return decode_container(text)


def _json_lines(text: str, accepts: _Accepts) -> DecodedJson | None:
    """One JSON object a line, at least two lines, as Ollama streams them."""
    return None if _begins_otherwise(text, "ndjson", _objects, accepts) else _objects(text)


def _objects(text: str) -> DecodedJson | None:
    lines = [line for line in text.split("\n") if line and not line.isspace()]
    if len(lines) < 2:
        return None
    values: dict[str, Json] = {}
    notes: list[str] = []
    for line in dict.fromkeys(lines):
        decoded = decode_container(line)
        if decoded is None or not is_object(decoded.value):
            return None
        values[line] = decoded.value
        notes += decoded.notes
    return DecodedJson({"ndjson": [values[line] for line in lines]}, tuple(dict.fromkeys(notes)))


def _server_sent_events(text: str, accepts: _Accepts) -> DecodedJson | None:
    """The events of a text stream: objects are themselves, lists and text are `{"event", "data"}`, text with the name
    of its event. Text without a name is left out, but for the mark of the end.

    Source: html.spec.whatwg.org/multipage/server-sent-events.html. Logs often lose the blank lines between events, so
    that a line of data that is JSON by itself is an event of its own.
    """
    if not text.lstrip().startswith(EVENT_FIELDS):
        return None
    text = text.replace("\r\n", "\n") if "\n" in text else text.replace("\r", "\n")
    if not _JSON_DATA.search(text):
        return None
    return None if _begins_otherwise(text, "sse", _events, accepts) else _events(text)


def _begins_otherwise(text: str, field: str, read: Callable[[str], DecodedJson | None], accepts: _Accepts) -> bool:
    """Whether the first events of a long text already show that it is refused."""
    lines = text.split("\n", _FIRST_LINES)
    if len(lines) <= _FIRST_LINES or (first := read("\n".join(lines[:-1]))) is None or not is_object(first.value):
        return False
    return len(as_list(first.value[field])) >= FIRST_EVENTS and not accepts(first.value)


def _events(text: str) -> DecodedJson | None:
    reader = _EventReader()
    events: dict[str, list[Json]] = {}
    blocks = text.split("\n\n")
    for block in dict.fromkeys(blocks):  # whatever a stream repeats, often a million times, is read once
        lines = block.split("\n")
        if block[:1] == ":" or "\n:" in block:
            lines = [line for line in lines if line[:1] != ":"]  # comments, of which there may be millions
        read = reader.read(lines)
        if read is None:
            return None
        events[block] = read
    if not reader.has_json:
        return None
    return DecodedJson(
        {"sse": [event for block in blocks for event in events[block]]}, tuple(dict.fromkeys(reader.notes))
    )


class _EventReader:
    """Reads the events of lines between blank lines, and keeps what it saw in all of them."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.has_json = False
        self._unusual: dict[str, Json] = {}  # data that is no plain object, by its text
        self._broken = 0

    def read(self, lines: list[str]) -> list[Json] | None:
        """The events of these lines; null where one is no field of an event, or far too much JSON is broken."""
        found: list[Json] = []  # of each line of data, null where it is text
        for line in lines:
            if line[:5] == "data:":
                event: Json = decode_object(line[5:]) if line[5:6] == "{" or line[5:7] == " {" else None
                if event is None:
                    event = self._unusual_event(line[5:].strip())
                if self._broken > _MOST_BROKEN_LINES:
                    return None
                found.append(event)
            elif not line.startswith(EVENT_FIELDS) and line and not line.isspace():
                return None
        self.has_json = self.has_json or any(event is not None for event in found)
        return _with_text(lines, found) if None in found else found

    def _unusual_event(self, text: str) -> Json:
        """What `_json_event` makes of a text, which may stand in a stream again and again."""
        if text not in self._unusual:
            self._unusual[text] = self._json_event(text)
        return self._unusual[text]

    def _json_event(self, text: str) -> Json:
        """The event of data that is JSON by itself: a line that is cut off could otherwise swallow its neighbour."""
        if text[:1] not in ("{", "[") or text == _DONE:
            return None
        decoded = decode_container(text)
        if decoded is None:
            self._broken += 1
            return None
        self.notes += decoded.notes
        return decoded.value if is_object(decoded.value) else {"event": None, "data": decoded.value}


def _with_text(lines: list[str], found: list[Json]) -> list[Json]:
    """The events of lines that hold text: data in several lines may be JSON together, whatever each is by itself."""
    events: list[Json] = []
    data: list[str] = []  # of one event, and those of them that are not JSON by themselves
    loose: list[str] = []
    name: str | None = None
    remaining = iter(found)
    for line in (*lines, ""):
        if line[:5] == "data:":
            data.append(line)
            if (event := next(remaining)) is not None:
                events.append(event)
            else:
                loose.append(line)
        elif line[:6] == "event:":
            name = line[6:].strip()
        elif not line or line.isspace():
            if loose:
                whole = "\n".join(map(_data_text, data))
                if len(loose) < len(data):
                    if decode_container(whole) is not None:
                        del events[len(loose) - len(data) :]
                    else:
                        whole = "\n".join(map(_data_text, loose))
                # Text without a name is no event of any stream, but for the mark of its end.
                if name is not None or (text := whole.strip())[:1] in ("{", "[") or text == _DONE:
                    events.append({"event": name, "data": whole})
                loose = []
            data = []
            name = None
    return events


def _data_text(line: str) -> str:
    return line[5:].removeprefix(" ")


def _python_repr(text: str, _accepts: _Accepts) -> DecodedJson | None:
    """A repr of dicts and lists; null for anything that is not made of JSON's types alone (tuples are lists)."""
    if len(text) > _LONGEST_REPR or not _REPR_START.match(text):
        return None
    if any(found not in _PYTHON_ESCAPES for found in _ESCAPE.findall(text)):  # the parser would print a warning
        return None
    try:
        value = _as_json(ast.literal_eval(text.strip()))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    if not is_container(value):
        return None
    notes: list[str] = []
    return DecodedJson(replace_surrogates(value, notes), tuple(dict.fromkeys(notes)))


def _as_json(value: object) -> Json:
    if isinstance(value, (str, bool, int)) or value is None:
        return value
    if isinstance(value, float) and value - value == 0:  # finite
        return value
    if isinstance(value, (list, tuple)):
        return [_as_json(item) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _as_json(item) for key, item in value.items()}
    raise ValueError("not made of JSON's types")


_CONTAINER_READERS = (
    (_JSON_NOTE, _container),
    ("parsed_python_repr", _python_repr),
    (_STREAM_NOTE, _json_lines),
)
_LINE_READERS = ((_STREAM_NOTE, _server_sent_events),)
_READERS = {"{": _CONTAINER_READERS, "[": _CONTAINER_READERS[:2], "(": _CONTAINER_READERS[1:2]}
