"""Tables of gateways and serving platforms that log whole calls.

Databricks: docs.databricks.com/aws/en/ai-gateway/inference-tables and
.../machine-learning/model-serving/inference-tables (the older table, and the agents' request logs).
LiteLLM: docs.litellm.ai/docs/proxy/logging_spec, LiteLLM_SpendLogs. Azure API Management:
learn.microsoft.com/azure/azure-monitor/reference/tables/apimanagementgatewayllmlog and .../apimanagementgatewaylogs.
"""

from collections.abc import Mapping

from beamjudge.schemas.json_text import is_object
from beamjudge.schemas.json_value import Json, compact_json
from beamjudge.schemas.log_tables.table import LogTable, has, is_empty, names_error
from beamjudge.schemas.responses.faults import http_status

_AGENT_COLUMN = "request_raw"


def _is_databricks_gateway(data: Mapping[str, Json]) -> bool:
    if "databricks_request_id" not in data or "request" not in data or _AGENT_COLUMN in data:
        return False
    return "timestamp_ms" not in data and "execution_time_ms" not in data


def _is_databricks_serving(data: Mapping[str, Json]) -> bool:
    if "databricks_request_id" not in data or "request" not in data or _AGENT_COLUMN in data:
        return False
    return "timestamp_ms" in data or "execution_time_ms" in data


DATABRICKS_GATEWAY = LogTable(
    name="databricks_ai_gateway",
    matches=_is_databricks_gateway,
    columns={
        "request_id": ("databricks_request_id",),
        "timestamp": ("request_time", "request_date"),
        "request": ("request",),
        "response": ("response",),
    },
    status=("status_code",),
    milliseconds=("execution_duration_ms",),
)
DATABRICKS_SERVING = LogTable(
    name="databricks_model_serving",
    matches=_is_databricks_serving,
    columns={
        "request_id": ("databricks_request_id",),
        "timestamp": ("timestamp_ms", "timestamp", "date"),
        "request": ("request",),
        "response": ("response",),
    },
    status=("status_code",),
    milliseconds=("execution_time_ms", "execution_duration_ms"),
)
DATABRICKS_AGENT = LogTable(
    name="databricks_agent_requests",
    matches=has("databricks_request_id", _AGENT_COLUMN),
    columns={
        "request_id": ("databricks_request_id",),
        "timestamp": ("timestamp_ms", "timestamp", "date"),
        "request": (_AGENT_COLUMN, "request"),
        "response": ("response_raw", "response"),
        "trace": ("trace",),
    },
    status=("status_code",),
    milliseconds=("execution_time_ms",),
)
DATABRICKS_UNITY = LogTable(
    name="databricks_unity_gateway",
    matches=has("invocation_id", "event_time", "request", "response"),
    columns={
        "request_id": ("invocation_id", "request_id"),
        "timestamp": ("event_time",),
        "request": ("request",),
        "response": ("response",),
    },
    status=("status_code",),
    milliseconds=("latency_ms",),
)


def _request_of_litellm(value: Json) -> Json:
    """The body as the proxy got it, out of what it notes beside it."""
    body = value.get("body") if is_object(value) else None
    return _unredacted(body if is_object(body) else value)


def _unredacted(value: Json) -> Json:
    """Nothing where the proxy was told to keep no messages, and wrote that into their places."""
    return None if _REDACTED in (value if isinstance(value, str) else compact_json(value)) else value


_REDACTED = '"redacted-by-litellm"'

LITELLM = LogTable(
    name="litellm_spend_logs",
    matches=has("call_type", "startTime", "endTime", "messages", "response"),
    columns={
        "request_id": ("request_id", "id"),
        "timestamp": ("startTime",),
        "request": ("messages", "proxy_server_request"),
        "response": ("response",),
    },
    read={"request": _request_of_litellm, "response": _unredacted},
    failed=lambda data: data.get("status") == "failure",
    usage=("prompt_tokens", "completion_tokens", "total_tokens"),
    milliseconds=("request_duration_ms",),
    seconds=("response_time",),
    span=("startTime", "endTime"),
)
APIM_LLM = LogTable(
    name="azure_apim_llm_log",
    matches=has("RequestMessages", "ResponseMessages"),
    columns={
        "request_id": ("CorrelationId",),
        "timestamp": ("TimeGenerated", "timestamp"),
        "request": ("RequestMessages",),
        "response": ("ResponseMessages",),
    },
    usage=("PromptTokens", "CompletionTokens", "TotalTokens"),
    # A call is logged in several entries, of which one alone has no response.
    empty_is_error=False,
)
APIM_GATEWAY = LogTable(
    name="azure_apim_gateway_log",
    matches=lambda data: "RequestBody" in data and "ResponseBody" in data and "RequestMessages" not in data,
    columns={
        "request_id": ("CorrelationId",),
        "timestamp": ("TimeGenerated", "timestamp"),
        "request": ("RequestBody", "BackendRequestBody"),
        "response": ("ResponseBody", "BackendResponseBody"),
    },
    status=("ResponseCode",),
    milliseconds=("TotalTime", "DurationMs"),
)
ACCESS_LOG = LogTable(
    name="access_log_with_bodies",
    matches=has("request_body", "response_body"),
    columns={
        "request_id": ("request_id", "x_request_id", "trace_id", "id"),
        "timestamp": ("timestamp", "time", "time_iso8601", "ts", "@timestamp", "start_time", "request_created_at"),
        "request": ("request_body",),
        "response": ("response_body",),
    },
    status=("status", "status_code", "response_code", "response_status"),
    milliseconds=("duration_ms", "latency_ms", "delay_ms", "upstream_duration_ms"),
    seconds=("request_time", "duration_seconds", "upstream_response_time"),
)
_VENDOR_COLUMNS = frozenset(
    {"databricks_request_id", "invocation_id", "call_type", "captureData", "request_body", "schemaType", "custom_id"}
)


def _is_exchange(data: Mapping[str, Json]) -> bool:
    """Request and response beside a status of HTTP, by the column's name or by what is logged beside it."""
    if "request" not in data or "response" not in data or not _VENDOR_COLUMNS.isdisjoint(data):
        return False
    if data["request"] is None and data.get("messages") is not None:  # it is there
        return False
    if "status_code" in data or "response_code" in data or "http_status" in data:
        return True
    return "status" in data and ("method" in data or "path" in data or "url" in data)


HTTP_EXCHANGE = LogTable(
    name="http_exchange",
    matches=_is_exchange,
    columns={
        "request_id": ("request_id", "id", "x_request_id"),
        "timestamp": ("timestamp", "time", "request_time", "created_at", "start_time"),
        "request": ("request",),
        "response": ("response",),
    },
    status=("status_code", "status", "response_code", "http_status"),
    milliseconds=("execution_duration_ms", "execution_time_ms", "latency_ms", "duration_ms"),
)


def _says_how_it_ended(data: Mapping[str, Json]) -> bool:
    """A plain request beside a column that is a status of HTTP by its value, or beside an error and no response."""
    if data.get("request") is None or not _VENDOR_COLUMNS.isdisjoint(data) or _is_exchange(data):
        return False
    if "response" in data and http_status(data.get("status")) is not None:
        return True
    return names_error(data) and is_empty(data.get("response")) and data.get("trace") is None


REQUEST_AND_STATUS = LogTable(
    name="request_and_status",
    matches=_says_how_it_ended,
    columns={"request": ("request",), "response": ("response",)},
    status=("status",),
    empty_is_error=False,
    is_plain=True,
)

GATEWAY_TABLES: tuple[LogTable, ...] = (
    DATABRICKS_GATEWAY,
    DATABRICKS_SERVING,
    DATABRICKS_AGENT,
    DATABRICKS_UNITY,
    LITELLM,
    APIM_LLM,
    APIM_GATEWAY,
    ACCESS_LOG,
    HTTP_EXCHANGE,
    REQUEST_AND_STATUS,
)
