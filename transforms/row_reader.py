"""One record read into a row: columns in all their spellings, and from the trace what the record does not give."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from beamjudge.schemas.columns import (
    BadType,
    Strings,
    read_context,
    read_expected_context,
    read_guidelines,
    read_id,
    read_references,
    read_strings,
    type_name,
)
from beamjudge.schemas.durations import first_seconds
from beamjudge.schemas.hashing import feed
from beamjudge.schemas.json_text import decode_container, is_absent
from beamjudge.schemas.json_value import Json, canonical_json, compact_json
from beamjudge.schemas.lazy import lazy
from beamjudge.schemas.log_tables import recognise_table
from beamjudge.schemas.paths import column_of, lookup
from beamjudge.schemas.record import Reject, SourceRecord
from beamjudge.schemas.requests import RequestForm, decode_request, normalize_request
from beamjudge.schemas.responses import ResponseForm, normalize_response
from beamjudge.schemas.row import Document, Guidelines, Row, SliceValue, TokenUsage
from beamjudge.schemas.run_config import INPUT_COLUMNS, RunConfig
from beamjudge.schemas.timestamps import read_timestamp
from beamjudge.schemas.traces import TraceError, TraceFacts, read_trace
from beamjudge.schemas.usage import read_usage
from beamjudge.transforms.reading.faults import raw_text
from beamjudge.transforms.sample import is_sampled
from beamjudge.transforms.slices import slice_values, value_text

_LATENCY_COLUMNS = ("execution_duration_ms", "execution_time_ms", "latency_ms")
_NO_FACTS = TraceFacts()
_NO_USAGE = TokenUsage()
_NO_STRINGS = Strings(None)
_NO_REQUEST = (
    "no request with text, neither in the record nor in its trace; name its column with --columns request=COLUMN"
)
_Read = TypeVar("_Read")


class Rejected(Exception):
    """A row that cannot be evaluated: a reject code and a one-line reason that repeats no text of the row."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason


@dataclass(frozen=True)
class InputRules:
    """What of a configuration decides how records are read.

    `paths` has the path of every input column, `mapped` the columns whose path the user named: there the columns of a
    recognised table do not count. `asks_app` says that there is an application to ask where a row has no response.
    """

    paths: dict[str, str]
    mapped: frozenset[str]
    slice_by: tuple[str, ...]
    cluster_by: str | None
    sample_rate: float
    keep_extra: bool
    store_text: bool
    asks_app: bool

    @classmethod
    def of(cls, config: RunConfig) -> "InputRules":
        paths = {column: config.columns.get(column, column) for column in INPUT_COLUMNS}
        return cls(
            paths,
            frozenset(config.columns),
            tuple(config.slice_by),
            config.cluster_by,
            config.sample_rate,
            config.keep_extra,
            config.store_text == "full",
            config.app is not None,
        )


def text_columns(config: RunConfig) -> frozenset[str]:
    """The columns of the log that are read as text: a row with something else in them is lost."""
    paths = InputRules.of(config).paths.values()
    return frozenset((*paths, *(path.partition(".")[0] for path in paths)))


class _Expectations(NamedTuple):
    response: str | None
    further: tuple[str, ...]
    facts: tuple[str, ...] | None


_NO_EXPECTATIONS = _Expectations(None, (), None)


class RowReader:
    """Reads the rows of one record. Every method may raise Rejected and nothing else."""

    def __init__(self, record: SourceRecord, rules: InputRules) -> None:
        self._record = record
        self._data = record.data
        self._rules = rules
        self._notes: list[str] = []  # of the columns that all rows of the record share
        self._trace_error: str | None = None
        table = recognise_table(record.data)
        # Who names both columns has said what the record is, where only these columns tell it.
        is_named = table is not None and table.is_plain and rules.mapped.issuperset(("request", "response"))
        self._table = None if is_named else table
        self._logged = self._table.record(record.data) if self._table is not None else None

    def field(self, column: str) -> Json:
        """The logged value of an input column, wherever the record has it."""
        if column == "response" and self._asks_anew:
            return None  # tables have several spellings of nothing
        if self._logged is not None and column not in self._rules.mapped and column in self._logged.values:
            logged = self._logged.values[column]
            if self._logged.trace_first and column in ("request", "response"):
                told = self._facts.request if column == "request" else self._facts.response
                return logged if is_absent(told) or isinstance(told, (bool, int, float)) else told
            return logged
        path = self._rules.paths[column]
        return self._data.get(path) if path == column else lookup(self._data, path)

    def check_call(self) -> None:
        """Rejects a record of a table whose call failed, so that there is no answer to judge.

        One that merely has no response is left to an application, if there is one.
        """
        if self._logged is None:
            return
        if self._logged.fault is not None:
            raise Rejected(self._logged.fault.code, self._logged.fault.reason)
        if self._lacks_response and not self._asks_anew:
            raise Rejected("upstream_error", "the table has no response for the call")
        self._notes += self._logged.notes

    @property
    def _lacks_response(self) -> bool:
        """Whether the record is of a table that should have a response and has none."""
        return self._logged is not None and self._logged.is_unanswered and "response" not in self._rules.mapped

    @lazy
    def _asks_anew(self) -> bool:
        """Whether an application makes the call of a table again: usage and latency of the first say nothing of it."""
        return self._rules.asks_app and self._lacks_response and not self._has_trace

    @lazy
    def request_id(self) -> str:
        """The logged id, or one that is made of the row's content and its position in the file."""
        logged, notes = self._typed("request_id", read_id) or (None, ())
        self._notes += notes
        return content_id(self._record) if logged is None else logged

    def row(
        self, request_id: str, request: Json, response: Json, can_score: Callable[[Row], bool], *, in_batch: bool
    ) -> Row:
        """The row of one request and its response. In a batch the trace tells nothing of a single one of them."""
        _check_body("response", response)
        given = normalize_response(response)
        facts = _NO_FACTS if in_batch else self._facts
        if given is not None and given.trace is not None and not self._has_trace:
            facts = self._embedded_facts(given.trace)
        notes = [*self._record.notes]
        asked = self._request(request, facts, notes)
        answered = self._response(given, facts, notes)
        context = self._retrieved
        if context is None and facts.retrieved_context is not None:
            context = facts.retrieved_context
            notes += ("context_from_trace", *facts.notes)
        if context is None and answered is not None and answered.documents is not None:
            context = answered.documents
            notes.append("context_from_response")
        if context is None and self._has_trace and self._trace_error is None and not in_batch:
            notes.append("no_context_in_trace")
        is_open = answered is None and self._rules.asks_app and not self._has_trace
        if answered is None and facts.failed:
            raise Rejected("upstream_error", "the trace failed and has no response")
        # Read before the row is made, since reading them leaves notes.
        expected, guidelines, wanted, timestamp = self._expectations, self._guidelines, self._wanted, self._timestamp
        row = Row(
            request_id=request_id,
            timestamp=timestamp,
            request=canonical_json(asked.canonical),
            response=None if answered is None else canonical_json(answered.canonical),
            request_text=asked.text,
            history=asked.history,
            response_text=None if answered is None else answered.text,
            expected_response=expected.response,
            expected_responses=expected.further,
            expected_facts=expected.facts,
            guidelines=guidelines,
            retrieved_context=context,
            expected_retrieved_context=wanted,
            usage=self._usage(facts, answered, in_batch),
            latency_seconds=self._latency(facts),
            notes=tuple(dict.fromkeys((*notes, *self._notes))),
            source_file=self._record.source_file,
            source_position=self._record.source_position,
            sampled=is_sampled(request_id, self._rules.sample_rate),
            cluster=self._cluster,
            slices=self._slices if self._rules.slice_by else (),
            extra=self._extra if self._rules.keep_extra else None,
            unanswered=_to_send(request, asked) if is_open else None,
        )
        if answered is None and not is_open and not can_score(row):
            self._need_trace("no response of its own, without which nothing selected can run")
            if not self._has_trace:
                raise Rejected("no_response", "neither a response nor a trace, and nothing selected can run without")
        return row

    @lazy
    def _has_trace(self) -> bool:
        trace = self.field("trace")
        return trace.strip() not in ("", "null") if isinstance(trace, str) else not is_absent(trace)

    @lazy
    def _facts(self) -> TraceFacts:
        """What the trace says; of a trace that cannot be read only the reason is kept, for rows that need it."""
        if not self._has_trace:
            return _NO_FACTS
        try:
            return read_trace(self.field("trace"))
        except TraceError as error:
            self._trace_error = str(error)
            self._notes.append("trace_unreadable")
            return _NO_FACTS

    def _embedded_facts(self, trace: Json) -> TraceFacts:
        """What the trace inside a response says."""
        try:
            return read_trace(trace)
        except TraceError:
            self._notes.append("trace_unreadable")
            return _NO_FACTS

    def _request(self, logged: Json, facts: TraceFacts, notes: list[str]) -> RequestForm:
        _check_body("request", logged)
        form = normalize_request(logged)
        if form is None:
            self._need_trace("no request of its own")
            form = normalize_request(facts.request)
            if form is None:
                raise Rejected("no_request", _NO_REQUEST)
            notes.append("request_from_trace")
        notes += form.notes
        return form

    def _response(self, form: ResponseForm | None, facts: TraceFacts, notes: list[str]) -> ResponseForm | None:
        """The logged response's form, or that of the trace's response."""
        if form is None:
            form = normalize_response(facts.response)
            if form is None:
                return None
            notes.append("response_from_trace")
        if form.fault is not None:
            raise Rejected(form.fault.code, form.fault.reason)
        notes += form.notes
        return form

    def _need_trace(self, why: str) -> None:
        if self._trace_error is not None:
            raise Rejected("bad_trace", f"{self._trace_error}, and the row has {why}")

    def _typed(self, column: str, read: Callable[[Json], _Read]) -> _Read | None:
        """What a typed column holds; null where nothing is logged, as in most columns of most rows."""
        logged = self.field(column)
        if logged is None:
            return None
        try:
            return read(logged)
        except BadType as error:
            raise Rejected(f"bad_type:{column}", str(error)) from error

    @lazy
    def _expectations(self) -> _Expectations:
        references = self._typed("expected_response", read_references)
        facts = self._typed("expected_facts", read_strings)
        if references is None and facts is None:
            return _NO_EXPECTATIONS
        references, facts = references or _NO_STRINGS, facts or _NO_STRINGS
        self._notes += (*references.notes, *facts.notes)
        if _any_text(references.values) and _any_text(facts.values):
            raise Rejected("both_expectations", "both expected_response and expected_facts; give one of them")
        if references.values and not (facts.values and not _any_text(references.values)):
            return _Expectations(references.values[0], references.values[1:], None)
        return _Expectations(None, (), facts.values)

    @lazy
    def _guidelines(self) -> Guidelines | None:
        read = self._typed("guidelines", read_guidelines)
        if read is None:
            return None
        self._notes += read.notes
        return read.guidelines

    @lazy
    def _retrieved(self) -> tuple[Document, ...] | None:
        read = self._typed("retrieved_context", read_context)
        if read is None:
            return None
        self._notes += read.notes
        return read.documents

    @lazy
    def _wanted(self) -> tuple[Document, ...] | None:
        read = self._typed("expected_retrieved_context", read_expected_context)
        if read is None:
            return None
        self._notes += read.notes
        return read.documents

    @lazy
    def _timestamp(self) -> int | None:
        logged = self.field("timestamp")
        if logged is None or logged == "":
            return None
        if isinstance(logged, (bool, list, dict)):
            raise Rejected("bad_type:timestamp", f"{type_name(logged)}, where a number or a string is expected")
        timestamp = read_timestamp(logged)
        if timestamp is None:
            self._notes.append("bad_timestamp")
        return timestamp

    def _usage(self, facts: TraceFacts, answered: ResponseForm | None, in_batch: bool) -> TokenUsage:
        """The trace's counts, else the response's, else a `usage` column's (in a batch, that is all rows' sum)."""
        if self._asks_anew:
            return _NO_USAGE
        usage = facts.usage or (answered.usage if answered is not None else None)
        if usage is None and not in_batch and self._logged is not None:
            usage = self._logged.usage
        if usage is None and not in_batch:
            logged = self._data.get("usage")
            decoded = decode_container(logged) if isinstance(logged, str) else None
            usage = read_usage(decoded.value if decoded else logged)
        return usage or _NO_USAGE

    def _latency(self, facts: TraceFacts) -> float | None:
        if self._asks_anew:
            return None
        if facts.latency_seconds is not None:
            return facts.latency_seconds
        if self._logged is not None and self._logged.latency_seconds is not None:
            return self._logged.latency_seconds
        return first_seconds(self._data, _LATENCY_COLUMNS)

    @lazy
    def _cluster(self) -> str | None:
        value = None if self._rules.cluster_by is None else lookup(self._data, self._rules.cluster_by)
        return None if value is None else value_text(value)

    @lazy
    def _slices(self) -> tuple[SliceValue, ...]:
        return slice_values(self._data, self._rules.slice_by)

    @lazy
    def _raw(self) -> str:
        """The record as rejects show it; all rejects of a batch share it."""
        return raw_text(canonical_json(self._data))

    def reject(self, rejected: Rejected, request_id: str | None) -> Reject:
        raw = self._raw if self._rules.store_text else None
        source = self._record
        return Reject(source.source_file, source.source_position, rejected.code, rejected.reason, raw, request_id)

    @lazy
    def _extra(self) -> str:
        paths = [*self._rules.paths.values()]
        if self._table is not None:
            paths += (path for sources in self._table.columns.values() for path in sources)
        taken = {column_of(self._data, path) for path in paths}
        return canonical_json({column: value for column, value in self._data.items() if column not in taken})


def _to_send(logged: Json, form: RequestForm) -> str:
    """The JSON object that asks an application what was logged: an object as it was, its keys in their order, and
    anything else as chat messages."""
    request = decode_request(logged)[0]
    if not isinstance(request, dict):
        is_chat = isinstance(form.canonical, dict)
        request = form.canonical if is_chat else {"messages": [{"role": "user", "content": form.text}]}
    return compact_json(request)


def _check_body(column: str, logged: Json) -> None:
    if isinstance(logged, (bool, int, float)):
        raise Rejected(f"bad_type:{column}", f"{type_name(logged)}, where a string or an object is expected")


def content_id(record: SourceRecord) -> str:
    """The id of a row without one: 32 hex digits over its content and its position in the file, never the path."""
    data = {name: value for name, value in record.data.items() if name not in record.from_path}
    content = canonical_json([data, record.source_position])
    digest = hashlib.blake2b(digest_size=16)
    feed(digest, content.encode("utf-8", "replace"))
    return digest.hexdigest()


def _any_text(values: Sequence[str] | None) -> bool:
    """Whether there is an expectation in the list: blank ones count as absent, as they do for the judges."""
    return any(value.strip() for value in values or ())
