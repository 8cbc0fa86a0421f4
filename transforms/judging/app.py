"""The application under test as a run asks it: its endpoint, the request that it is sent, and what its reply says."""

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from beamjudge.schemas.answer import APP, Answer
from beamjudge.schemas.json_value import Json, canonical_json
from beamjudge.schemas.record import SourceRecord
from beamjudge.schemas.row import Row, TokenUsage
from beamjudge.schemas.run_config import APP_ENDPOINT, INPUT_COLUMNS, Endpoint, RunConfig
from beamjudge.transforms.judging.failures import from_error_body, not_a_completion
from beamjudge.transforms.judging.fitting import ASCII_PER_TOKEN, estimate_tokens, reply_tokens
from beamjudge.transforms.reading.faults import BadRecord
from beamjudge.transforms.reading.json_record import parse_record
from beamjudge.transforms.row_reader import InputRules, Rejected, RowReader

# Raised whenever the reading of replies changes in a way that can change a row: it is part of the application's hash.
READER_VERSION = 1
# Whole answers are read, and one of a stream is the same.
_NOT_SENT = ("stream", "stream_options")
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_PAGE = b"<"


@dataclass(frozen=True)
class AppBinding:
    """The application under test: the name and settings of its endpoint."""

    endpoint: Endpoint
    endpoint_name: str = APP_ENDPOINT

    @cached_property
    def hash(self) -> str:
        """16 hex digits over what makes an answer this answer, beside the request: how replies are read."""
        return hashlib.sha256(canonical_json([APP, READER_VERSION]).encode()).hexdigest()[:16]

    def request(self, unanswered: str) -> "AppRequest":
        """What to send for a row's logged request, a JSON object.

        What the configuration names wins over what was logged: `model` and `parameters`.
        """
        logged: dict[str, Any] = json.loads(unanswered)
        kept = {name: value for name, value in logged.items() if name not in _NOT_SENT}
        body = _ENCODER.encode({**kept, **self.endpoint.parameters, "model": self.endpoint.model})
        return AppRequest(body.encode("utf-8", "replace"), estimate_tokens(body))


class AppRequest(NamedTuple):
    """A request that is ready to be sent, and an upper guess of its tokens."""

    body: bytes
    tokens: int


def foreseen(row: Row, app: AppBinding | None) -> Row:
    """The row as it may be once the application has answered it, for counting beforehand; any other row as it is.

    The answer is as long as the application's parameters let it be, 1,024 tokens where they do not say.
    """
    if app is None or row.unanswered is None:
        return row
    text = "x" * (ASCII_PER_TOKEN * reply_tokens(app.endpoint))
    usage = TokenUsage(0, 0, 0) if row.usage == TokenUsage() else row.usage
    latency = 0.0 if row.latency_seconds is None else row.latency_seconds
    return replace(row, response="", response_text=text, usage=usage, latency_seconds=latency)


def bind_app(config: RunConfig) -> AppBinding | None:
    """The run's application under test; null where it has none."""
    return None if config.app is None else AppBinding(config.app)


def app_key(app: AppBinding, request: AppRequest) -> str:
    """The identity of a request, as `content_key` is that of a question: requests with the same key are made once."""
    digest = hashlib.sha256(canonical_json([APP, app.endpoint.base_url, app.hash]).encode("utf-8", "surrogatepass"))
    digest.update(request.body)
    return digest.hexdigest()


class AppReply(NamedTuple):
    """An answer, and the `usage` that the application reported for it, under the names of chat completions."""

    answer: Answer
    usage: Json


def read_app_reply(raw: bytes, seconds: float) -> AppReply:
    """The answer in a body of status 200, for which the application took `seconds`. Raises CallFailed.

    A chat completion, or any other known shape of a response, also inside `{"response": ...}`. What is beside it
    (`retrieved_context`, `trace` or `databricks_output.trace`, `usage`) is read as the columns of a log are.
    """
    body, notes = _decode(raw)
    is_envelope = "response" in body and "choices" not in body
    if body.get("error") and not is_envelope and "choices" not in body:
        raise from_error_body(body)
    usage = body.get("usage")
    columns = ("response", "retrieved_context", "trace", "usage")
    logged: dict[str, Json] = {name: body[name] for name in columns if name in body}
    if not is_envelope:
        logged = {**logged, "response": dict(body)}
    elif logged.get("trace") is None:
        output = body.get("databricks_output")
        logged["trace"] = output.get("trace") if isinstance(output, dict) else None
    # The very reader of logged rows, so that an answer means the same whoever made it.
    reader = RowReader(SourceRecord("", "", {"request": "", **logged}, notes), _RULES)
    try:
        row = reader.row("", "", logged["response"], _is_of_use, in_batch=False)
    except Rejected as rejected:
        raise not_a_completion(f"{rejected.code}: {rejected.reason}", usage=usage) from None
    if row.response is None or row.response_text is None:
        raise not_a_completion("no response", usage=usage)
    latency = seconds if row.latency_seconds is None else row.latency_seconds
    answer = Answer(row.response, row.response_text, row.retrieved_context, row.usage, latency, row.notes)
    return AppReply(answer, usage if _is_of_completions(usage) else _usage(row.usage))


# Nothing of a configuration counts here: it says how the log names things, and what becomes of its rows.
_RULES = InputRules(
    paths={column: column for column in INPUT_COLUMNS},
    mapped=frozenset(INPUT_COLUMNS),
    slice_by=(),
    cluster_by=None,
    sample_rate=1.0,
    keep_extra=False,
    store_text=False,
    asks_app=False,
)


def _is_of_use(_: object) -> bool:
    return True


def _decode(raw: bytes) -> tuple[dict[str, Json], tuple[str, ...]]:
    try:
        return parse_record(raw.decode("utf-8", "replace"))
    except BadRecord as error:
        if raw[:200].lstrip().startswith(_PAGE):
            raise not_a_completion("HTML instead of JSON", billed=False) from None
        what = {"not_an_object": "not a JSON object", "too_deep": "nested too deep"}.get(error.code, "not JSON")
        raise not_a_completion(what) from None


def _is_of_completions(usage: Json) -> bool:
    return isinstance(usage, dict) and "prompt_tokens" in usage


def _usage(usage: TokenUsage) -> Json:
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return {"prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens}
