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
_EVENT_FIELDS = ("data:", "event:", "id:", "retry:", ":")
# A dict's first key, also inside lists; quotes of either kind, as repr chooses them.
_REPR_START = re.compile(r"[\s\[({]{1,8}(['\"])\w{1,64}\1\s{0,4}:")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_PYTHON_ESCAPES = frozenset("\\'\"abfnrtvxuUN01234567\n")


def read_body(text: str, accepts: Callable[[Json], bool]) -> DecodedJson | None:
    """The JSON value that `text` is, in one of the forms above, with its note codes.

    Null for plain text, and for a value that `accepts` refuses.
    """
    if text[:1] not in _STARTS and not text[:1].isspace():
        return None
    layers = 0
    while (first := text.lstrip("\ufeff \t\r\n")[:1]) == '"' and layers < _MOST_LAYERS:
        quoted = decode_container(f"[{text}]")
        inner = as_list(quoted.value) if quoted else []
        if len(inner) != 1 or not isinstance(inner[0], str):
            return None
        text = inner[0]
        layers += 1
    for note, read in _READERS.get(first, _LINE_READERS):
        decoded = read(text)
        if decoded is not None:
            if not accepts(decoded.value):
                return None
            return DecodedJson(decoded.value, (note, *decoded.notes))
    return None


def _json_lines(text: str) -> DecodedJson | None:
    """One JSON object a line, at least two lines, as Ollama streams them: `{"ndjson": [...]}`."""
    values: list[Json] = []
    notes: list[str] = []
    for line in text.split("\n"):
        if not line or line.isspace():
            continue
        decoded = decode_container(line)
        if decoded is None or not is_object(decoded.value):
            return None
        values.append(decoded.value)
        notes += decoded.notes
    return DecodedJson({"ndjson": values}, tuple(dict.fromkeys(notes))) if len(values) > 1 else None


def _server_sent_events(text: str) -> DecodedJson | None:
    """The events of a text stream as `{"sse": [{"event", "data"}]}`; data that is no JSON stays text.

    Source: html.spec.whatwg.org/multipage/server-sent-events.html. Logs often lose the blank lines between events, so
    that a line of data that is JSON by itself is an event of its own.
    """
    events: list[Json] = []
    pending: list[str] = []
    notes: list[str] = []
    name: str | None = None
    is_stream = False
    for line in [*text.lstrip("\ufeff").replace("\r\n", "\n").split("\n"), ""]:
        if not line.strip():
            if pending:
                events.append({"event": name, "data": "\n".join(pending)})
            pending, name = [], None
        elif not line.startswith(_EVENT_FIELDS):
            return None
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif line.startswith("data:"):
            data = line[5:].strip()
            if (decoded := decode_container(data)) is None:
                pending.append(data)
                continue
            is_stream = True
            notes += decoded.notes
            events.append({"event": name, "data": decoded.value})
    return DecodedJson({"sse": events}, tuple(dict.fromkeys(notes))) if is_stream else None


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
    ("parsed_event_stream", _json_lines),
)
_LINE_READERS = (("parsed_event_stream", _server_sent_events),)
_READERS = {"{": _CONTAINER_READERS, "[": _CONTAINER_READERS[:2], "(": _CONTAINER_READERS[1:2]}
