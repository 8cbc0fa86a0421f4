"""Tables of clouds and providers.

Vertex AI: cloud.google.com/vertex-ai/generative-ai/docs/multimodal/request-response-logging. SageMaker:
docs.aws.amazon.com/sagemaker/latest/dg/model-monitor-data-capture-endpoint.html. Bedrock:
docs.aws.amazon.com/bedrock/latest/userguide/model-invocation-logging.html. OpenAI:
platform.openai.com/docs/guides/evals (stored completions) and .../guides/batch.
"""

import base64
import binascii
from collections.abc import Mapping

from beamjudge.schemas.json_text import is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.log_tables.table import WHOLE_RECORD, LogTable, body_of, has


def _is_vertex(data: Mapping[str, Json]) -> bool:
    return "logging_time" in data and ("full_request" in data or "request_payload" in data)


def _vertex_requests(value: Json) -> Json:
    """A payload is a list of texts, one per instance of the call."""
    return _one_or("instances", value)


def _vertex_responses(value: Json) -> Json:
    return _one_or("predictions", value)


def _one_or(name: str, value: Json) -> Json:
    if not is_list(value) or not value or not all(isinstance(item, str) for item in value):
        return value
    items: list[Json] = [body_of(item, []) for item in value]
    return items[0] if len(items) == 1 else {name: items}


VERTEX = LogTable(
    name="vertex_request_response",
    matches=_is_vertex,
    columns={
        "request_id": ("request_id",),
        "timestamp": ("logging_time",),
        "request": ("full_request", "request_payload"),
        "response": ("full_response", "response_payload"),
    },
    read={"request": _vertex_requests, "response": _vertex_responses},
)


def _captured(value: Json) -> Json:
    """The body of one direction: base64, or text as it is."""
    if not is_object(value):
        return None
    data = value.get("data")
    if not isinstance(data, str) or value.get("encoding") != "BASE64":
        return data
    try:
        return base64.b64decode(data, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return data


def _captured_request(value: Json) -> Json:
    return _lines_as("instances", value)


def _captured_response(value: Json) -> Json:
    return _lines_as("predictions", value)


def _lines_as(name: str, value: Json) -> Json:
    """JSON lines hold one instance, or one prediction, a line."""
    body = _captured(value)
    kind = value.get("observedContentType") if is_object(value) else None
    if isinstance(kind, str) and "jsonlines" in kind:
        read = body_of(body, [])
        lines = read.get("ndjson") if is_object(read) else None
        if is_list(lines):
            return {name: lines}
    return body


SAGEMAKER = LogTable(
    name="sagemaker_data_capture",
    matches=has("captureData", "eventMetadata"),
    columns={
        "request_id": ("eventMetadata.inferenceId", "eventMetadata.eventId"),
        "timestamp": ("eventMetadata.inferenceTime",),
        "request": ("captureData.endpointInput", "captureData.batchTransformInput"),
        "response": ("captureData.endpointOutput", "captureData.batchTransformOutput"),
    },
    read={"request": _captured_request, "response": _captured_response},
)
BEDROCK = LogTable(
    name="bedrock_invocation_log",
    matches=lambda data: data.get("schemaType") == "ModelInvocationLog",
    columns={
        "request_id": ("requestId",),
        "timestamp": ("timestamp",),
        "request": ("input.inputBodyJson",),
        "response": ("output.outputBodyJson",),
    },
    failed=lambda data: data.get("errorCode") is not None,
    usage=("input.inputTokenCount", "output.outputTokenCount", "totalTokenCount"),
)


def _is_stored(data: Mapping[str, Json]) -> bool:
    """A completion or response object as it is stored, with what it was asked beside it."""
    if data.get("object") not in ("chat.completion", "response", "text_completion") or data.get("request") is not None:
        return False
    return is_list(data.get("choices")) or is_list(data.get("output"))


def _stored_request(record: Json) -> Json:
    """What was asked: messages, the input of a response with its instructions, or a prompt."""
    if not is_object(record):
        return None
    asked = {name: record[name] for name in _ASKED if record.get(name) is not None}
    return asked if asked.keys() - {"instructions"} else None


def _stored_response(record: Json) -> Json:
    return {name: record[name] for name in _ANSWERED if name in record} if is_object(record) else None


_ASKED = ("messages", "input", "instructions", "prompt")
_ANSWERED = ("object", "id", "choices", "output", "usage", "status", "error", "incomplete_details")
STORED_COMPLETION = LogTable(
    name="openai_stored_completions",
    matches=_is_stored,
    columns={
        "request_id": ("id",),
        "timestamp": ("created", "created_at"),
        "request": (WHOLE_RECORD,),
        "response": (WHOLE_RECORD,),
    },
    read={"request": _stored_request, "response": _stored_response},
)


def _batch_failed(data: dict[str, Json]) -> bool:
    return is_object(data.get("error")) and bool(data["error"])


BATCH = LogTable(
    name="openai_batch",
    matches=lambda data: data.get("custom_id") is not None and ("response" in data or "body" in data),
    columns={
        "request_id": ("custom_id",),
        "timestamp": ("response.body.created", "response.body.created_at"),
        "request": ("body", "request"),
        "response": ("response.body", "response"),
    },
    status=("response.status_code",),
    failed=_batch_failed,
)

CLOUD_TABLES: tuple[LogTable, ...] = (VERTEX, SAGEMAKER, BEDROCK, STORED_COMPLETION, BATCH)
