"""Files with one trace a line, or with spans that are not grouped: the record itself is the trace.

Their formats, and where each is written down, are those of `schemas/traces`.
"""

from collections.abc import Mapping

from beamjudge.schemas.json_value import Json
from beamjudge.schemas.log_tables.table import WHOLE_RECORD, LogTable
from beamjudge.schemas.traces.grouping import holds_one_trace, spans_of_record

_ROW_COLUMNS = ("request", "response", "messages")


def _is_trace(data: Mapping[str, Json]) -> bool:
    if any(data.get(column) is not None for column in _ROW_COLUMNS):
        return False
    record = dict(data)
    if spans_of_record(record) is not None:
        return True
    return data.get("trace") is None and holds_one_trace(record)


TRACE_TABLES: tuple[LogTable, ...] = (
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
