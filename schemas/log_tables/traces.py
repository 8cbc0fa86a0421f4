"""Files with one trace a line, or with spans that are not grouped: the record itself is the trace. And MLflow's table
of traces (mlflow.org/docs/latest/api_reference, `mlflow.search_traces`), which has columns beside each, and the records
of an application that TruLens wrote before it had spans (trulens.org, `trulens.core.schema.record.Record`).

Their formats, and where each is written down, are those of `schemas/traces`.
"""

from collections.abc import Mapping

from beamjudge.schemas.json_text import as_list, first_of, is_container, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.log_tables.table import WHOLE_RECORD, LogTable, has, is_empty, traced_request, traced_response
from beamjudge.schemas.paths import lookup
from beamjudge.schemas.traces.attribute_spans import is_error
from beamjudge.schemas.traces.containers import objects
from beamjudge.schemas.traces.documents import RetrieverSchema, read_documents
from beamjudge.schemas.traces.grouping import holds_one_trace, spans_of_record

_ROW_COLUMNS = ("request", "response", "messages")


def _is_trace(data: Mapping[str, Json]) -> bool:
    if "main_input" in data or any(data.get(column) is not None for column in _ROW_COLUMNS):
        return False
    record = dict(data)
    if spans_of_record(record) is not None:
        return True
    return data.get("trace") is None and holds_one_trace(record)


def _is_search_result(data: Mapping[str, Json]) -> bool:
    if "messages" in data or "main_input" in data:
        return False
    if data.get("trace") is None and not ("request" in data and "response" in data and _holds_spans(data.get("spans"))):
        return False
    if data.get("trace_id") is not None:
        return sum(column in data for column in _SEARCHED) >= _FEWEST_SEARCHED
    return data.get("request_id") is not None and sum(column in data for column in _SEARCHED_2) >= _FEWEST_SEARCHED


def _holds_spans(value: Json) -> bool:
    """An object or list with something in it, or text that begins like one."""
    if isinstance(value, str):
        return value.lstrip()[:1] in ("{", "[")
    return is_container(value) and bool(value)


def _failed_unread(data: dict[str, Json]) -> bool:
    """A failed trace that cannot be asked whether it has an answer all the same."""
    if not is_error(first_of(data, ("state", "status"))) or not is_empty(data.get("response")):
        return False
    return not _holds_spans(first_of(data, ("trace", "spans")))


# Which of them there are depends on the version, and on the columns that were asked for.
_SEARCHED = (
    "request_time",
    "state",
    "execution_duration",
    "trace_metadata",
    "client_request_id",
    "assessments",
    "spans",
)
_SEARCHED_2 = ("timestamp_ms", "execution_time_ms", "request_metadata")  # of MLflow 2
_FEWEST_SEARCHED = 2
SEARCH_RESULT = LogTable(
    name="mlflow_search_traces",
    matches=_is_search_result,
    columns={
        "request_id": ("trace_id", "request_id"),
        "timestamp": ("request_time", "timestamp_ms", "trace.info.request_time", "trace.info.timestamp_ms"),
        "request": ("request",),
        "response": ("response",),
        "trace": ("trace", "spans"),
    },
    read={"request": traced_request, "response": traced_response},
    failed=_failed_unread,
    milliseconds=("execution_duration", "execution_time_ms"),
    empty_is_error=False,
    is_plain=True,
    trace_first=True,
)


def _retrieved(calls: Json) -> Json:
    """What the retriever of a TruLens record gave: the last call of something that retrieves."""
    given = (call["rets"] for call in reversed(objects(calls)) if is_list(call.get("rets")) and _retrieves(call))
    found = read_documents(next(given, None), RetrieverSchema())
    if found is None:
        return None
    return [{"doc_uri": document.doc_uri, "content": document.content} for document in found.documents]


def _retrieves(call: dict[str, Json]) -> bool:
    """Whether the method that was called, the last of the stack, or what it is of has the name of a retriever."""
    step = next(iter(reversed(as_list(call.get("stack")))), None)
    return is_object(step) and any("retriev" in str(lookup(step, path)).lower() for path in ("method.name", "path"))


TRULENS_RECORD = LogTable(
    name="trulens_records",
    matches=has("record_id", "main_input", "main_output"),
    columns={
        "request_id": ("record_id",),
        "timestamp": ("perf.start_time", "ts"),
        "request": ("main_input",),
        "response": ("main_output",),
        "retrieved_context": ("calls",),
    },
    read={"retrieved_context": _retrieved},
    failed=lambda data: not is_empty(data.get("main_error")) and is_empty(data["main_output"]),
    usage=("cost.n_prompt_tokens", "cost.n_completion_tokens", "cost.n_tokens"),
    span=("perf.start_time", "perf.end_time"),
    empty_is_error=False,
    is_plain=True,
)
TRACE_TABLES: tuple[LogTable, ...] = (
    SEARCH_RESULT,
    TRULENS_RECORD,
    LogTable(
        name="traces",
        matches=_is_trace,
        columns={
            "request_id": (
                "info.trace_id",
                "info.request_id",
                "request_id",
                "span_id",
                "spanId",
                "context.span_id",
                "trace.span_id",
                "id",
            ),
            "timestamp": (
                "info.timestamp_ms",
                "info.request_time",
                "startTimeUnixNano",
                "start_time",
                "startTime",
                "start_timestamp",
                "start_ns",
                "timestamp",
            ),
            "trace": (WHOLE_RECORD,),
        },
        empty_is_error=False,
    ),
)
