"""Every way in which a call can fail, as a short stable text that never holds the prompt, the reply or the key."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import aiohttp

from beamjudge.schemas.assessment import stopped_message
from beamjudge.schemas.json_value import Json
from beamjudge.transforms.judging.context_limit import ContextLimit, read_context_limit
from beamjudge.transforms.judging.retry_after import retry_after_seconds

_QUOTA_CODES = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "insufficient_balance",
        "insufficient_credits",
        "budget_exceeded",
    }
)
_CONTENT_FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "responsibleaipolicyviolation"})
_REASONS = {408: "the endpoint timed out", 409: "conflict", 429: "rate limited"}
_SAFE_CODE = re.compile(r"[a-z_]{3,40}")
_MAX_ERROR_BYTES = 2**16


class Stop(str, Enum):
    """Why an endpoint cannot be asked any more; the value is the reason in `stopped:<reason>`."""

    QUOTA = "quota"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    UNREACHABLE = "unreachable"
    RATE_LIMITED = "rate_limited"


@dataclass(frozen=True)
class Failure:
    """Why one call failed.

    `text` is what the user sees. `changeable` means that another form of the request could pass, `too_long` what the
    endpoint said of its context, `unreachable` that no connection came about, `billed` that the call is likely to cost
    something all the same, with `usage` where it is known. `parameter` and `detail` come from the endpoint's own error:
    they serve to find out which parameter it rejects and are neither shown nor logged, as an endpoint may repeat the
    prompt in its errors.
    """

    text: str
    status: int | None = None
    retryable: bool = False
    retry_after: float | None = None
    stop: Stop | None = None
    changeable: bool = False
    too_long: ContextLimit | None = None
    unreachable: bool = False
    timed_out: bool = False
    billed: bool = False
    usage: Json = None
    parameter: str | None = None
    detail: str = ""
    attempts: int = 1

    @property
    def rate_limited(self) -> bool:
        return self.status == 429 and self.stop is None

    @property
    def message(self) -> str:
        return f"{self.text} after {self.attempts} attempts" if self.attempts > 1 and self.retryable else self.text


class CallFailed(Exception):
    """A call that did not give a completion."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure

    def after(self, attempts: int) -> "CallFailed":
        return CallFailed(replace(self.failure, attempts=attempts))


def timed_out(seconds: float, has_begun: bool) -> CallFailed:
    """A call that took too long; `has_begun` if a reply with status 200 had begun to come."""
    text = f"timeout: no complete reply in {seconds:g} s"
    return CallFailed(Failure(text, retryable=True, timed_out=True, billed=has_begun))


def not_a_completion(reason: str, billed: bool = True, usage: Json = None) -> CallFailed:
    """A reply with status 200 that is no chat completion. It may have been billed, so it is not asked for again."""
    return CallFailed(Failure(f"invalid_reply: {reason}", billed=billed, usage=usage))


def not_json(raw: bytes) -> CallFailed:
    """A body of status 200 that is no JSON. A page is what a proxy sends: no model has been asked."""
    if raw[:200].lstrip().startswith(b"<"):
        return not_a_completion("HTML instead of JSON", billed=False)
    return not_a_completion("not JSON")


def connection_failed(error: Exception, has_begun: bool) -> CallFailed:
    """What the HTTP library raised, as a failure; `has_begun` if a reply with status 200 had begun to come.

    Only the type of the error is used, as texts may name hosts and headers.
    """
    if isinstance(error, aiohttp.ClientSSLError):
        return CallFailed(Failure("connection: the server's certificate is not trusted", unreachable=True))
    if isinstance(error, (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.ClientHttpProxyError)):
        return CallFailed(Failure("connection: could not connect", retryable=True, unreachable=True))
    if isinstance(error, aiohttp.ClientResponseError):
        return CallFailed(Failure("invalid_reply: not HTTP"))
    return CallFailed(Failure("connection: connection lost", retryable=True, billed=has_begun))


def from_status(status: int, headers: Mapping[str, str], body: bytes) -> CallFailed:
    """A reply with another status than 200."""
    return CallFailed(_from_status(status, _error_object(body), headers))


def from_error_body(body: Mapping[str, Any]) -> CallFailed:
    """A failure that came as an error object with status 200, as some gateways send them."""
    error = body.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    try:
        status = int(code) if code is not None else 0
    except (TypeError, ValueError):
        status = 0
    if 400 <= status < 600:
        return CallFailed(_from_status(status, error, {}))
    return not_a_completion("an error object instead of a completion", billed=False)


def _error_object(body: bytes) -> object:
    """The error in a body: an object, a text, or the body's own text where it is no JSON."""
    text = body[:_MAX_ERROR_BYTES].decode("utf-8", "replace")
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(decoded, list) and len(decoded) == 1:
        decoded = decoded[0]
    return (decoded.get("error") or decoded) if isinstance(decoded, dict) else text


def _from_status(status: int, body: object, headers: Mapping[str, str]) -> Failure:
    error = body if isinstance(body, dict) else {}
    codes = {str(error.get(name) or "").lower() for name in ("code", "type")}
    inner = error.get("innererror")
    if isinstance(inner, dict):
        codes.add(str(inner.get("code") or "").lower())
    detail = str(error.get("message") or error.get("detail") or (body if isinstance(body, str) else ""))
    if codes & _CONTENT_FILTER_CODES or _is_moderation(status, error):
        return Failure("content_filter: the endpoint refused the request", status=status)
    stop = _stop_of(status, codes)
    if stop:
        return Failure(stopped_message(stop.value), status=status, stop=stop)
    parameter = error.get("param") if isinstance(error.get("param"), str) else None
    too_long = read_context_limit(status, codes, parameter, detail, error)
    if too_long:
        text = "context_too_long: the request does not fit the model's context"
        return Failure(text, status=status, too_long=too_long)
    retryable = status in (408, 409, 429) or status >= 500
    reason = _REASONS.get(status) or ("server error" if status >= 500 else "the endpoint rejected the request")
    named = next((code for code in sorted(codes) if _SAFE_CODE.fullmatch(code) and not retryable), None)
    return Failure(
        f"http_{status}: {reason}" + (f" ({named})" if named else ""),
        status=status,
        retryable=retryable,
        retry_after=retry_after_seconds(headers) if retryable else None,
        changeable=status in (400, 422),
        parameter=parameter,
        detail=detail,
    )


def _stop_of(status: int, codes: set[str]) -> Stop | None:
    if codes & _QUOTA_CODES or status == 402:
        return Stop.QUOTA
    if status == 404 or "model_not_found" in codes:
        return Stop.NOT_FOUND
    if status == 401:
        return Stop.UNAUTHORIZED
    return Stop.FORBIDDEN if status == 403 else None


def _is_moderation(status: int, error: Mapping[str, Any]) -> bool:
    """OpenRouter's moderation: a 403 with the reasons for which the input was flagged."""
    metadata = error.get("metadata")
    return status == 403 and isinstance(metadata, dict) and "flagged_input" in metadata
