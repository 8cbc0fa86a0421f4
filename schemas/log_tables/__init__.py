"""Tables of logged calls, recognised by their columns and mapped by themselves."""

from collections.abc import Collection, Mapping

from beamjudge.schemas.json_value import Json
from beamjudge.schemas.log_tables.clouds import CLOUD_TABLES
from beamjudge.schemas.log_tables.datasets import DATASET_TABLES
from beamjudge.schemas.log_tables.gateways import GATEWAY_TABLES
from beamjudge.schemas.log_tables.pairs import pair_tables
from beamjudge.schemas.log_tables.table import LogTable, TableRecord
from beamjudge.schemas.log_tables.traces import TRACE_TABLES
from beamjudge.schemas.traces.attribute_spans import OWN_COLUMNS

__all__ = ["LOG_TABLES", "LogTable", "TableRecord", "describe_tables", "recognise_table", "table_columns"]

_NAMED_TABLES: tuple[LogTable, ...] = (*GATEWAY_TABLES, *CLOUD_TABLES, *DATASET_TABLES, *TRACE_TABLES)
# The order does not matter: no record is accepted by two.
LOG_TABLES: tuple[LogTable, ...] = (*_NAMED_TABLES, *pair_tables(_NAMED_TABLES))

# At least one of these columns is in every record of a table, so that most records are told to be none at once.
_MARKS = frozenset(
    {
        "databricks_request_id",
        "invocation_id",
        "call_type",
        "RequestMessages",
        "RequestBody",
        "request_body",
        "status_code",
        "response_code",
        "http_status",
        "status",
        "error",
        "logging_time",
        "captureData",
        "schemaType",
        "object",
        "custom_id",
        "conversations",
        "conversation",
        "messages",
        "prompt",
        "question",
        "input",
        "inputs",
        "turns",
        "user_input",
        "metric_input",
        "main_input",
        "resourceSpans",
        "resource_spans",
        "observations",
        "run_type",
        "post",
        "spans",
        "info",
        "attributes",
        "record_attributes",
        "attributes.openinference.span.kind",
        *OWN_COLUMNS,
        "traceId",
        "trace_id",
        "request_metadata",
        "execution_time_ms",
    }
)


def recognise_table(data: Mapping[str, Json]) -> LogTable | None:
    """The table that a record is of, by its columns; null for a record in the columns of its own."""
    if _MARKS.isdisjoint(data):
        return None
    return next((table for table in LOG_TABLES if table.matches(data)), None)


def table_columns(table: LogTable, mapped: Collection[str] = ()) -> dict[str, str]:
    """Which column of the log each input column is read from, without those that the user mapped."""
    return {column: " or ".join(paths) for column, paths in table.columns.items() if column not in mapped}


def describe_tables(counts: Mapping[str, int], mapped: Collection[str] = ()) -> dict[str, dict[str, object]]:
    """The tables that a run read, for its record: how many records, and from which columns.

    `counts` has `table:<name>` pairs, `mapped` the input columns that the user mapped.
    """
    return {
        table.name: {"records": counts[f"table:{table.name}"], "columns": table_columns(table, mapped)}
        for table in LOG_TABLES
        if counts.get(f"table:{table.name}")
    }
