"""A table of logged calls as a platform writes it: how it is told by its columns, and which column holds what."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from beamjudge.schemas.durations import read_seconds
from beamjudge.schemas.json_text import is_absent, is_list
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.logged_text import read_text_body
from beamjudge.schemas.paths import lookup
from beamjudge.schemas.responses.faults import (
    BLOCKED,
    FIRST_ERROR_STATUS,
    UPSTREAM_ERROR,
    ResponseFault,
    find_fault,
    http_status,
)
from beamjudge.schemas.row import TokenUsage
from beamjudge.schemas.timestamps import read_timestamp
from beamjudge.schemas.traces.values import decoded, unwrapped_request, unwrapped_response
from beamjudge.schemas.usage import read_usage

WHOLE_RECORD = "."  # in the place of a path: the record itself
_JSON_START = re.compile(r"\s{0,8}(?:\{\s{0,8}\"|\[\s{0,8}\{)")
_BODIES = ("request", "response")
_NO_ERROR = frozenset({"", "none", "null", "nan", "false", "0", "no", "n/a", "[]", "{}", "no error"})
_NOTHING = ("", "[]", "{}", "null", "None")


class TableRecord(NamedTuple):
    """One record of a table: its input columns, and what else it says of the call.

    `values` holds the columns that the table maps, null where the record has nothing; bodies are decoded. `fault` says
    that the call failed, `is_unanswered` that its response is missing, `trace_first` that the trace's request
    and response come before the table's.
    """

    values: dict[str, Json]
    usage: TokenUsage | None
    latency_seconds: float | None
    fault: ResponseFault | None
    is_unanswered: bool
    notes: tuple[str, ...]
    trace_first: bool


@dataclass(frozen=True)
class LogTable:
    """One kind of table. `matches` sees the column names and must accept no record that another table accepts.

    Columns, usage and times are dotted paths into a record, the first that is not null counts. `read` has the columns
    that need more than their JSON text decoded. Times are in milliseconds but for `seconds`, whose unit is the name's,
    and for `span`, the times at which a call began and ended. `empty_is_error` says that a missing response means a
    failed call, as it does beside an `error` in any table, `is_plain` that text in a request or response is what was
    said, even where it is JSON, and `trace_first` that these two columns may be cut copies of what the trace has.
    """

    name: str
    matches: Callable[[Mapping[str, Json]], bool]
    columns: Mapping[str, tuple[str, ...]]
    read: Mapping[str, Callable[[Json], Json]] = field(default_factory=dict)
    status: tuple[str, ...] = ()
    failed: Callable[[dict[str, Json]], bool] | None = None
    usage: tuple[str, str, str] | None = None
    milliseconds: tuple[str, ...] = ()
    seconds: tuple[str, ...] = ()
    span: tuple[str, str] | None = None
    empty_is_error: bool = True
    is_plain: bool = False
    trace_first: bool = False

    def record(self, data: dict[str, Json]) -> TableRecord:
        """Reads a record that `matches` accepts. Never raises."""
        notes: list[str] = []
        values: dict[str, Json] = {}
        for column, paths in self.columns.items():
            is_nothing = _is_blank if column not in _BODIES else _is_no_text if self.is_plain else is_empty
            value = first_value(data, paths, is_nothing)
            if (own := self.read.get(column)) is not None:
                value = own(value)
            values[column] = body_of(value, notes) if column in _BODIES and not self.is_plain else value
        usage = None
        if self.usage is not None:
            names = ("input_tokens", "output_tokens", "total_tokens")
            usage = read_usage({name: lookup(data, path) for name, path in zip(names, self.usage, strict=True)})
        response = values.get("response")
        return TableRecord(
            values,
            usage,
            self._latency(data),
            self._fault(data, response),
            self._needs_response(data) and not is_empty(values.get("request")) and is_empty(response),
            tuple(dict.fromkeys(notes)),
            self.trace_first,
        )

    def _needs_response(self, data: dict[str, Json]) -> bool:
        return self.empty_is_error or (names_error(data) and data.get("trace") is None)

    def _fault(self, data: dict[str, Json], response: Json) -> ResponseFault | None:
        status = http_status(first_value(data, self.status))
        if (status is not None and status >= FIRST_ERROR_STATUS) or (self.failed is not None and self.failed(data)):
            fault = find_fault(response)
            if fault is not None and fault.code == BLOCKED:
                return fault
            how = "failed" if status is None else f"ended with status {status}"
            return ResponseFault(UPSTREAM_ERROR, f"the logged call {how}")
        return None

    def _latency(self, data: dict[str, Json]) -> float | None:
        for paths, per_second in ((self.milliseconds, 1000), (self.seconds, 1)):
            if (seconds := read_seconds(first_value(data, paths), per_second)) is not None:
                return seconds
        if self.span is not None:
            begun, ended = (read_timestamp(lookup(data, path)) for path in self.span)
            if begun is not None and ended is not None and ended >= begun:
                return (ended - begun) / 1_000_000
        return None


def _is_blank(value: Json) -> bool:
    return value in ({}, "")


def first_value(data: dict[str, Json], paths: tuple[str, ...], is_nothing: Callable[[Json], bool] = _is_blank) -> Json:
    """The first value at one of the paths that is neither null nor nothing: an empty object or text, where it is not
    said what else is.
    """
    for path in paths:
        value = data if path == WHOLE_RECORD else lookup(data, path)
        if value is not None and not is_nothing(value):
            return value
    return None


def _is_no_text(value: Json) -> bool:
    """What cannot have been said: any text can, an empty one too."""
    return value == {}


def is_empty(value: Json) -> bool:
    """Whether a body is nothing at all, in the spellings that tables have for it."""
    if isinstance(value, str):
        return value.strip() in _NOTHING
    return value is None or value in ([], {})


def body_of(value: Json, notes: list[str]) -> Json:
    """A logged body: its JSON decoded, whatever it is. That it was text is how the table is made, so has no note."""
    if not isinstance(value, str):
        return value
    body = read_text_body(value)
    if body is None:
        if _JSON_START.match(value):
            notes.append("body_unreadable")
        return value
    notes += body.notes
    return body.value


def traced_request(value: Json) -> Json:
    """The request in what a traced function took, as it is or as JSON text."""
    return unwrapped_request(body_of(_told(value), []))


def traced_response(value: Json) -> Json:
    """The response in what a traced function gave, as it is or as JSON text."""
    return unwrapped_response(body_of(_told(value), []))


def _told(value: Json) -> Json:
    """What JSON text says; an empty text and a word such as `true` stay the text that they are."""
    found = decoded(value)
    return value if value == "" or isinstance(found, bool) else found


def has(*columns: str) -> Callable[[Mapping[str, Json]], bool]:
    """Accepts records with all of these columns."""

    def matches(data: Mapping[str, Json]) -> bool:
        return all(column in data for column in columns)

    return matches


def names_error(data: Mapping[str, Json]) -> bool:
    """Whether the column `error` says that there was one."""
    error = data.get("error")
    if isinstance(error, str):
        return error.strip().lower() not in _NO_ERROR
    if is_list(error):
        return any(item is not None for item in error)
    return bool(error) and not is_absent(error)
