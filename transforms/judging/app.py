"""The application under test as a run asks it: its endpoint, the request that it is sent, and what its reply says."""

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from beamjudge.schemas.answer import APP, Answer
from beamjudge.schemas.columns import BadType, read_context
from beamjudge.schemas.hashing import feed
from beamjudge.schemas.json_text import TooDeep, as_list, decode_json, is_object
from beamjudge.schemas.json_value import Json, canonical_json, compact_json
from beamjudge.schemas.parts import PartKind, read_part
from beamjudge.schemas.record import SourceRecord
from beamjudge.schemas.responses import decode_response, is_known_response
from beamjudge.schemas.row import Row, TokenUsage
from beamjudge.schemas.run_config import APP_ENDPOINT, INPUT_COLUMNS, Endpoint, RunConfig
from beamjudge.transforms.judging.failures import from_error_body, not_a_completion, not_json
from beamjudge.transforms.judging.fitting import ASCII_PER_TOKEN, estimate_tokens, reply_tokens
from beamjudge.transforms.row_reader import InputRules, Rejected, RowReader

# Raised whenever the reading of replies changes in a way that can change a row: it is part of the application's hash.
READER_VERSION = 2
# Whole answers are read, and one of a stream is the same.
_NOT_SENT = ("stream", "stream_options")


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
        body = compact_json({**kept, **self.endpoint.parameters, "model": self.endpoint.model})
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
    digest = hashlib.sha256(canonical_json([APP, app.endpoint.base_url, app.hash]).encode())
    feed(digest, request.body)
    return digest.hexdigest()


class AppReply(NamedTuple):
    """An answer, and the `usage` that the application reported for it, under the names of chat completions."""

    answer: Answer
    usage: Json


class _Reply(NamedTuple):
    """A reply as the record of a log that it is read like. `is_whole` if it is the response itself, `usage` as sent."""

    columns: dict[str, Json]
    notes: tuple[str, ...]
    is_whole: bool
    usage: Json


def read_app_reply(raw: bytes, seconds: float) -> AppReply:
    """The answer in a body of status 200, for which the application took `seconds`. Raises CallFailed.

    A response in any known shape, or one of any shape inside `{"response": ...}` or a trace. What is beside it
    (`retrieved_context`, `trace` or `databricks_output.trace`, `usage`) is read as the columns of a log are.
    A body of no known shape is no answer, nor is a response without text, unless that text is there and empty.
    """
    reply = _open(*_decode(raw))
    # The very reader of logged rows, so that an answer means the same whoever made it.
    reader = RowReader(SourceRecord("", "", {"request": "", **reply.columns}, reply.notes), _RULES)
    try:
        row = reader.row("", "", reply.columns.get("response"), _is_of_use, in_batch=False)
    except Rejected as rejected:
        raise not_a_completion(f"{rejected.code}: {rejected.reason}", usage=reply.usage) from None
    usage = reply.usage if _is_of_completions(reply.usage) else _usage(row.usage)
    if row.response is None or row.response_text is None:
        raise not_a_completion("no response", usage=usage)
    if reply.is_whole and "other_response_shape" in row.notes:
        raise not_a_completion("no known shape of a response", usage=usage)
    if not row.response_text and not _has_text(json.loads(row.response)):
        raise not_a_completion("a response without text", usage=usage)
    latency = seconds if row.latency_seconds is None else row.latency_seconds
    answer = Answer(row.response, row.response_text, row.retrieved_context, row.usage, latency, row.notes)
    return AppReply(answer, usage)


def _open(body: Json, notes: tuple[str, ...]) -> _Reply:
    if not is_object(body):
        return _Reply({"response": body}, notes, True, None)
    is_whole = "choices" in body or ("response" not in body and is_known_response(body))
    if body.get("error") and "response" not in body and "choices" not in body:
        raise from_error_body(body)
    names = ("response", "retrieved_context", "trace", "usage")
    columns: dict[str, Json] = {name: body[name] for name in names if name in body}
    if is_whole:
        columns["response"] = body
    elif columns.get("trace") is None:
        output = body.get("databricks_output")
        columns["trace"] = output.get("trace") if is_object(output) else None
    try:
        read_context(columns.get("retrieved_context"))
    except BadType:  # the response beside it is paid for, and good
        del columns["retrieved_context"]
        notes = (*notes, "context_unreadable")
    return _Reply(columns, notes, is_whole, body.get("usage"))


def _has_text(response: Json) -> bool:
    """Whether a response in normal form has text at all, if only an empty one."""
    choices = as_list(response.get("choices")) if is_object(response) else []
    message = choices[0].get("message") if choices and is_object(choices[0]) else None
    content = message.get("content") if is_object(message) else None
    return isinstance(content, str) or any(read_part(part).kind is PartKind.TEXT for part in as_list(content))


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


def _decode(raw: bytes) -> tuple[Json, tuple[str, ...]]:
    """The JSON value of a body, with its notes; the text itself where it is a stream of events or of JSON lines."""
    text = raw.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        return decode_json(text)
    except json.JSONDecodeError:
        if decode_response(text)[0] is text:
            raise not_json(raw) from None
        return text, ()
    except TooDeep:
        raise not_a_completion("nested too deep") from None


def _is_of_completions(usage: Json) -> bool:
    return isinstance(usage, dict) and "prompt_tokens" in usage


def _usage(usage: TokenUsage) -> Json:
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return {"prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens}
