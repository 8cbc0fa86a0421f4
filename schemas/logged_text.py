"""Strings that are logged bodies: JSON, JSON inside JSON strings, event streams, JSON lines, reprs of Python dicts.

Every step is linear in the text. Nothing is executed: a repr is read by `ast.literal_eval`, up to 256 KiB of it.
"""

import ast
import re
from collections.abc import Callable, Iterable
from typing import TypeAlias

from beamjudge.schemas.json_text import DecodedJson, as_list, decode_container, decode_plain, is_list, is_object
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
_STREAM_NOTE = "parsed_event_stream"
_JSON_DATA = re.compile(r"^data:[ \t]*[{\[]", re.MULTILINE)
_FIELD = re.compile(r"data:|event:|id:|retry:|:")
_PREFIX = 6  # characters that tell a line's field
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


def _container(text: str, _accepts: _Accepts) -> DecodedJson | None:
    return decode_container(text)


def _json_lines(text: str, accepts: _Accepts) -> DecodedJson | None:
    """One JSON object a line, at least two lines, as Ollama streams them."""
    return None if _begins_otherwise(text, "ndjson", _objects, accepts) else _objects(text.split("\n"))


def _objects(lines: list[str]) -> DecodedJson | None:
    lines = [line for line in lines if line and not line.isspace()]
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
    """The events of a text stream as `{"event", "data"}`; an object without a name is itself, and
    text without a name is left out, but for the mark of the end.

    Source: html.spec.whatwg.org/multipage/server-sent-events.html. Logs often lose the blank lines between events, so
    that a line of data that is JSON by itself is an event of its own.
    """
    if not _FIELD.match(text.lstrip()):
        return None
    text = text.replace("\r\n", "\n") if "\n" in text else text.replace("\r", "\n")
    if not _JSON_DATA.search(text):
        return None
    return None if _begins_otherwise(text, "sse", _events, accepts) else _events(text.split("\n"))


def _begins_otherwise(
    text: str, field: str, read: Callable[[list[str]], DecodedJson | None], accepts: _Accepts
) -> bool:
    """Whether the first events of a long text already show that it is refused."""
    lines = text.split("\n", _FIRST_LINES)
    if len(lines) <= _FIRST_LINES or (first := read(lines[:-1])) is None or not is_object(first.value):
        return False
    return len(as_list(first.value[field])) >= FIRST_EVENTS and not accepts(first.value)


def _events(lines: list[str]) -> DecodedJson | None:
    lines = [line for line in lines if line[:1] != ":"]  # without comments
    distinct = dict.fromkeys(lines)
    if not _are_fields(distinct):
        return None
    notes: list[str] = []
    values = _data_values(distinct, notes)
    if not values:
        return None
    events: list[Json] = []
    data: list[str] = []  # the lines of one event, and those of them that are not JSON by themselves
    loose: list[str] = []
    name: str | None = None
    for line in (*lines, ""):
        if not line or line.isspace():
            if loose:
                # Data in several lines may be JSON only together, though some of them are by themselves.
                whole = _data_text(loose[0]) if len(data) == 1 else "\n".join(map(_data_text, data))
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
        elif (value := values.get(line)) is not None:
            events.append(value if name is None and isinstance(value, dict) else {"event": name, "data": value})
            data.append(line)
        elif line[:5] == "data:":
            data.append(line)
            loose.append(line)
        elif line[:6] == "event:":
            name = line[6:].strip()
    return DecodedJson({"sse": events}, tuple(dict.fromkeys(notes)))


def _data_text(line: str) -> str:
    return line[5:].removeprefix(" ")


def _are_fields(lines: Iterable[str]) -> bool:
    """Whether every line is a field of an event, a comment, or blank. Most lines begin like one that was seen."""
    prefixes = {line[:_PREFIX] for line in lines}
    if not all(_FIELD.match(prefix) or not prefix or prefix.isspace() for prefix in prefixes):
        return False
    # A field does not begin with a blank.
    return not any(map(str.isspace, prefixes)) or all(line.isspace() for line in lines if line[:1].isspace())


def _data_values(lines: Iterable[str], notes: list[str]) -> dict[str, Json]:
    """The lines of data that are JSON, with what they are. Each is decoded by itself: a line that is cut off could
    otherwise swallow its neighbour.
    """
    texts = {
        line: text
        for line in lines
        if line[:5] == "data:" and (text := line[5:].strip())[:1] in ("{", "[") and text != _DONE
    }
    if (plain := decode_plain(texts.values())) is not None:
        return dict(zip(texts, plain, strict=True))
    values: dict[str, Json] = {}
    broken = 0
    for line, text in texts.items():
        if (decoded := decode_container(text)) is not None:
            values[line] = decoded.value
            notes += decoded.notes
        else:
            broken += 1
            if broken > _MOST_BROKEN_LINES:
                return {}
    return values


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
    ("parsed_json_string", _container),
    ("parsed_python_repr", _python_repr),
    (_STREAM_NOTE, _json_lines),
)
_LINE_READERS = ((_STREAM_NOTE, _server_sent_events),)
_READERS = {"{": _CONTAINER_READERS, "[": _CONTAINER_READERS[:2], "(": _CONTAINER_READERS[1:2]}
