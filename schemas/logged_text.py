"""Strings that are logged bodies: JSON, JSON inside JSON strings, event streams, JSON lines, reprs of Python dicts.

Every step is linear in the text. Nothing is executed: a repr is read by `ast.literal_eval`, up to 256 KiB of it.
"""

import ast
import re
from collections.abc import Callable

from beamjudge.schemas.json_text import DecodedJson, as_list, decode_container, is_list, is_object, replace_surrogates
from beamjudge.schemas.json_value import Json

_LONGEST_REPR = 256 * 1024
_MOST_LAYERS = 3
_STARTS = frozenset('{["(deri:\ufeff')
_MOST_BROKEN_LINES = 50_000
_STREAM_NOTE = "parsed_event_stream"
_EVENT_FIELDS = ("data:", "event:", "id:", "retry:", ":")
# A dict's first key, also inside lists; quotes of either kind, as repr chooses them.
_REPR_START = re.compile(r"[\s\[({]{1,8}(['\"])\w{1,64}\1\s{0,4}:")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_PYTHON_ESCAPES = frozenset("\\'\"abfnrtvxuUN01234567\n")


def read_body(text: str, accepts: Callable[[Json], bool], *, streams: bool = True) -> DecodedJson | None:
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
        decoded = read(text)
        if decoded is not None:
            return DecodedJson(decoded.value, (note, *decoded.notes)) if accepts(decoded.value) else None
    return None


def _decode_all(texts: list[str]) -> tuple[list[Json], tuple[str, ...]] | None:
    """The JSON objects and lists that all of these texts are; null where one is none. One decoding for all of them."""
    decoded = decode_container(f"[{','.join(texts)}]")
    values = as_list(decoded.value) if decoded else []
    if decoded is None or len(values) != len(texts):
        return None
    return values, decoded.notes


def _json_lines(text: str) -> DecodedJson | None:
    """One JSON object a line, at least two lines, as Ollama streams them."""
    lines = [line for line in text.split("\n") if line and not line.isspace()]
    if len(lines) < 2 or decode_container(lines[0]) is None:
        return None
    decoded = _decode_all(lines)
    if decoded is None or not all(is_object(value) for value in decoded[0]):
        return None
    return DecodedJson({"ndjson": decoded[0]}, decoded[1])


def _server_sent_events(text: str) -> DecodedJson | None:
    """The events of a text stream as `{"event", "data"}`; data that is no JSON stays text.

    Source: html.spec.whatwg.org/multipage/server-sent-events.html. Logs often lose the blank lines between events, so
    that a line of data that is JSON by itself is an event of its own.
    """
    lines = [*text.replace("\r\n", "\n").split("\n"), ""]
    if not all(line.startswith(_EVENT_FIELDS) or not line or line.isspace() for line in lines):
        return None
    notes: list[str] = []
    values = _data_values([line[5:].strip() for line in lines if line.startswith("data:")], notes)
    events: list[Json] = []
    pending: list[str] = []
    name: str | None = None
    for line in lines:
        if line.startswith("data:"):
            value = values.get(line[5:].strip())
            if value is None:
                pending.append(line[5:].removeprefix(" "))
            else:
                events.append({"event": name, "data": value})
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif not line.strip():
            if pending:
                events.append({"event": name, "data": "\n".join(pending)})
            pending, name = [], None
    return DecodedJson({"sse": events}, tuple(dict.fromkeys(notes))) if values else None


def _data_values(texts: list[str], notes: list[str]) -> dict[str, Json]:
    """The lines of data that are JSON, with what they are."""
    containers = list(dict.fromkeys(text for text in texts if text[:1] in ("{", "[") and text != "[DONE]"))
    decoded = _decode_all(containers)
    if decoded is not None:
        notes += decoded[1]
        return dict(zip(containers, decoded[0], strict=True))
    if len(containers) > _MOST_BROKEN_LINES:
        return {}
    values: dict[str, Json] = {}
    for text in containers:
        if (one := decode_container(text)) is not None:
            values[text] = one.value
            notes += one.notes
    return values


def _python_repr(text: str) -> DecodedJson | None:
    """A repr of dicts and lists; null for anything that is not made of JSON's types alone (tuples are lists)."""
    if len(text) > _LONGEST_REPR or not _REPR_START.match(text):
        return None
    if any(found not in _PYTHON_ESCAPES for found in _ESCAPE.findall(text)):  # the parser would print a warning
        return None
    try:
        value = _as_json(ast.literal_eval(text.strip()))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    if not is_object(value) and not is_list(value):
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
    ("parsed_json_string", decode_container),
    ("parsed_python_repr", _python_repr),
    (_STREAM_NOTE, _json_lines),
)
_LINE_READERS = ((_STREAM_NOTE, _server_sent_events),)
_READERS = {"{": _CONTAINER_READERS, "[": _CONTAINER_READERS[:2], "(": _CONTAINER_READERS[1:2]}
