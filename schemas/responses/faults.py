"""Responses that are no answer: an error of the provider, or a block by a filter or guardrail.

Sources: platform.openai.com/docs/guides/error-codes, learn.microsoft.com/azure/ai-services/openai (content filter),
docs.databricks.com/aws/en/ai-gateway (guardrails), ai.google.dev/api/generate-content#FinishReason,
docs.aws.amazon.com/bedrock/latest/userguide/guardrails-use-converse-api.html.
"""

from collections.abc import Iterator
from typing import NamedTuple

from beamjudge.schemas.json_text import as_list, decode_container, has_any, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.messages import message_text

FIRST_ERROR_STATUS = 400  # of HTTP
UPSTREAM_ERROR = "upstream_error"
BLOCKED = "blocked"


class ResponseFault(NamedTuple):
    """Why a response is no answer: a reject code, and a reason that repeats no logged text."""

    code: str
    reason: str


_STATUS_FIELDS = ("status", "statusCode", "status_code")
_STATUS_DIGITS = 3
_STATUSES = range(100, 600)
_HTTP_FIELDS = frozenset(
    {*_STATUS_FIELDS, "statusText", "status_text", "reason", "ok", "body", "headers", "multiValueHeaders", "cookies"}
    | {"isBase64Encoded", "url", "method", "path", "request_id", "requestId", "elapsed", "error"}
)
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"})
_ANSWER_LISTS = ("choices", "output", "content", "candidates", "messages", "generations", "results")
_ANSWER_TEXTS = ("text", "generation", "response", "completion", "output_text", "answer")
_FILTERED = frozenset({"content_filter", "content_filtered", "guardrail_intervened", "refusal", "ERROR_TOXIC"})
# Gemini's reasons for a stop by a filter, and their numbers in the older client library's dumps.
_GEMINI_FILTERED: frozenset[Json] = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE", 3, 4, 6, 7, 8, 9}
)
_GUARDRAIL_SUFFIX = "_guardrail_triggered"


def find_fault(value: Json) -> ResponseFault | None:
    """The fault of a response in a provider's shape; null for an answer, and for what no provider sends."""
    return inspect_response(value).fault


class Inspection(NamedTuple):
    """`fault` says that a response is no answer, `is_filtered` that a filter cut or masked an answer."""

    fault: ResponseFault | None
    is_filtered: bool


_SOUND = Inspection(None, False)


def inspect_response(value: Json) -> Inspection:
    """What of a response in a provider's shape is wrong."""
    if not is_object(value):
        return _SOUND
    if _is_guardrail(value):
        return Inspection(ResponseFault(BLOCKED, "a guardrail of the gateway stopped the call"), True)
    is_filtered = _was_filtered(value)
    fault = _error(value) or _block(value, is_filtered)
    return Inspection(fault, is_filtered) if fault or is_filtered else _SOUND


def _was_filtered(value: dict[str, Json]) -> bool:
    if value.get("amazon-bedrock-guardrailAction") == "INTERVENED":
        return True
    return any(_is_filter_reason(reason) for reason in _stop_reasons(value))


def _stop_reasons(value: dict[str, Json]) -> Iterator[Json]:
    """The reasons that a response gives for its end, in whatever place it has for one."""
    for name in ("stopReason", "stop_reason", "finish_reason"):
        if (reason := value.get(name)) is not None:
            yield reason
    if is_object(details := value.get("incomplete_details")):
        yield details.get("reason")
    for name, field in (("choices", "finish_reason"), ("candidates", "finishReason")):
        if is_list(items := value.get(name)) and items and is_object(first := items[0]):
            yield first.get(field)


def _is_filter_reason(reason: Json) -> bool:
    return isinstance(reason, (str, int)) and (reason in _FILTERED or reason in _GEMINI_FILTERED)


def _error(value: dict[str, Json]) -> ResponseFault | None:
    error = value.get("error")
    if any(value.get(name) for name in _ANSWER_LISTS):
        return None
    if any(isinstance(value.get(name), str) for name in _ANSWER_TEXTS):
        return None
    if is_object(error):
        if _names_filter(error):
            return ResponseFault(BLOCKED, "the provider's content filter refused the request")
        return ResponseFault(UPSTREAM_ERROR, "the response is the provider's error and no answer")
    is_bare = (
        isinstance(error, str) and bool(error) and value.keys() <= {"error", "status", "code", "message", "detail"}
    )
    is_databricks = isinstance(value.get("error_code"), str) and "message" in value
    if is_bare or is_databricks or (value.get("object") == "error" and "message" in value):
        return ResponseFault(UPSTREAM_ERROR, "the response is the provider's error and no answer")
    return None


def _names_filter(error: Json) -> bool:
    if not is_object(error):
        return False
    return any(isinstance(code := error.get(name), str) and code in _FILTER_CODES for name in ("code", "type"))


def http_status(value: Json) -> int | None:
    """A status of HTTP, 100 to 599, as a number or as digits; null for any other value."""
    if isinstance(value, str):
        value = int(value) if len(value) == _STATUS_DIGITS and value.isascii() and value.isdigit() else None
    elif isinstance(value, float):  # data frames
        value = int(value) if value.is_integer() else None
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if value in _STATUSES else None


def status_of(value: dict[str, Json]) -> int | None:
    """The status of an answer of HTTP, as clients, proxies and functions note it beside its body; null for any other
    value.
    """
    found = (http_status(value.get(name)) for name in _STATUS_FIELDS)
    return next((status for status in found if status is not None), None)


def is_http_answer(value: dict[str, Json]) -> bool:
    """Whether an object is nothing but what clients, proxies and functions note of an answer of HTTP."""
    if status_of(value) is None or not has_any(value, ("body", "headers")):
        return False
    return all(name in _HTTP_FIELDS or item is None for name, item in value.items())


def find_failed_call(value: Json) -> ResponseFault | None:
    """The fault of an answer of HTTP with a status of 400 or more; null for any other value."""
    status = status_of(value) if is_object(value) else None
    if not is_object(value) or status is None or status < FIRST_ERROR_STATUS or not is_http_answer(value):
        return None
    body = value.get("body")
    if isinstance(body, str):
        decoded = decode_container(body)
        body = decoded.value if decoded else None
    if is_object(body) and (_names_filter(body.get("error")) or _is_guardrail(body)):
        return ResponseFault(BLOCKED, "the provider's filter refused the request")
    return ResponseFault(UPSTREAM_ERROR, f"the logged call ended with status {status}")


def _block(value: dict[str, Json], is_filtered: bool) -> ResponseFault | None:
    """A call that a filter stopped before anything was said."""
    feedback = value.get("promptFeedback") or value.get("prompt_feedback")
    if not as_list(value.get("candidates")) and is_object(feedback):
        return ResponseFault(BLOCKED, "the provider blocked the prompt") if "candidates" not in feedback else None
    if _is_flagged(value):
        return ResponseFault(BLOCKED, "the gateway flagged the call and answered in the model's place")
    if is_filtered and _says_nothing(value):
        return ResponseFault(BLOCKED, "the provider's filter stopped the answer before anything was said")
    return None


def _says_nothing(value: dict[str, Json]) -> bool:
    first = next(iter(as_list(value.get("choices"))), None)
    if is_object(first):
        message = first.get("message")
        return is_object(message) and not message_text(message).text.strip()
    candidate = next(iter(as_list(value.get("candidates"))), None)
    if is_object(candidate):
        content = candidate.get("content")
        return not (is_object(content) and message_text({"content": content.get("parts")}).text.strip())
    output = value.get("output")
    if is_object(output):
        message = output.get("message")
        return is_object(message) and not message_text(message).text.strip()
    if is_list(output):
        return not any(is_object(item) and item.get("type") == "message" for item in output)
    return is_list(content := value.get("content")) and not message_text({"content": content}).text.strip()


def _is_flagged(value: dict[str, Json]) -> bool:
    """Databricks puts a message with the id `flagged` in the place of the answer."""
    items = as_list(value.get("output"))
    last = next((item for item in reversed(items) if is_object(item) and item.get("type") == "message"), None)
    return is_object(last) and last.get("id") == "flagged"


def _is_guardrail(value: dict[str, Json]) -> bool:
    """A gateway's guardrail: as the body, or as JSON text inside an error's message."""
    for reason in (value.get("finishReason"), value.get("finish_reason")):
        if isinstance(reason, str) and reason.endswith(_GUARDRAIL_SUFFIX):
            return True
    message = value.get("message")
    if value.get("error_code") is None or not isinstance(message, str) or _GUARDRAIL_SUFFIX not in message:
        return False
    decoded = decode_container(message)
    return decoded is not None and is_object(decoded.value) and _is_guardrail(decoded.value)
