"""Every way in which a call can fail, as a short stable text that never holds the prompt, the reply or the key."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import openai

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
_TOO_LONG_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"})
_TOO_LONG_TEXT = re.compile(r"maximum context length|context (length|window|size)|prompt is too long", re.I)
_REASONS = {408: "the endpoint timed out", 409: "conflict", 429: "rate limited"}
_SAFE_CODE = re.compile(r"[a-z_]{3,40}")


class Stop(str, Enum):
    """Why an endpoint cannot be asked any more; the value is the reason in `stopped:<reason>`."""

    QUOTA = "quota"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"


@dataclass(frozen=True)
class Failure:
    """Why one call failed.

    `text` is what the user sees. `changeable` means that another form of the request could pass. `parameter` and
    `detail` come from the endpoint's own error: they serve to find out which parameter it rejects and are neither shown
    nor logged, as an endpoint may repeat the prompt in its errors.
    """

    text: str
    status: int | None = None
    retryable: bool = False
    retry_after: float | None = None
    stop: Stop | None = None
    changeable: bool = False
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


def timed_out(seconds: float) -> CallFailed:
    return CallFailed(Failure(f"timeout after {seconds:g} s"))


def not_a_completion(reason: str) -> CallFailed:
    """A reply with status 200 that is no chat completion. It may have been billed, so it is not asked for again."""
    return CallFailed(Failure(f"invalid_reply: {reason}"))


def from_client_error(error: openai.APIError) -> CallFailed:
    """What the client library raised, as a failure."""
    if isinstance(error, openai.APIStatusError):
        return CallFailed(_from_status(error.status_code, error.body, error.response.headers))
    # The library wraps what its HTTP library raised; only the type is used, as texts may name hosts and headers.
    cause = type(error.__cause__).__name__
    text = "could not connect" if cause.startswith("Connect") else "connection lost"
    return CallFailed(Failure(f"connection: {text}", retryable=True))


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
    return not_a_completion("an error object instead of a completion")


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
        return Failure(f"stopped:{stop.value}", status=status, stop=stop)
    parameter = error.get("param") if isinstance(error.get("param"), str) else None
    says_too_long = parameter in (None, "messages") and _TOO_LONG_TEXT.search(detail)
    if status in (400, 413, 422) and (codes & _TOO_LONG_CODES or says_too_long):
        return Failure("context_too_long: the request does not fit the model's context", status=status)
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
