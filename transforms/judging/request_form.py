"""The form of a request: what is sent at first, and what an endpoint teaches by rejecting it."""

import re
from collections.abc import Sequence
from typing import Any, TypeAlias

from beamjudge.schemas.json_value import Json
from beamjudge.schemas.judges import Protocol
from beamjudge.schemas.run_config import Endpoint
from beamjudge.transforms.judging.binding import requested_parameters
from beamjudge.transforms.judging.failures import Failure
from beamjudge.transforms.judging.render import REPLY_SCHEMA, Message

# One departure from the first form of a request, such as `drop temperature`; also the words of the log.
Change: TypeAlias = str

JSON_OBJECT: Change = "use response_format json_object"
PLAIN_TEXT: Change = "use no response_format"
RENAME_MAX_TOKENS: Change = "use max_completion_tokens for max_tokens"
RENAME_MAX_COMPLETION_TOKENS: Change = "use max_tokens for max_completion_tokens"
_DROP = "drop "
_JSON_SCHEMA: dict[str, Json] = {"type": "json_schema", "json_schema": REPLY_SCHEMA}
_FORMAT_WORDS = re.compile(r"response_format|json_schema|json_object|json mode|structured output|grammar", re.I)
_REPLY_LIMITS = ("max_tokens", "max_completion_tokens")
# After a reply that was cut off: enough for a model that thinks before it answers.
_MORE = 4
_USUAL_REPLY_TOKENS = 1024
_KEPT = frozenset({"model", "messages", "response_format"})


def request_body(
    endpoint: Endpoint,
    messages: Sequence[Message],
    protocol: Protocol,
    changes: frozenset[Change],
    reply_room: int | None = None,
) -> dict[str, Any]:
    """The JSON body of a chat completion request with `changes` applied to its first form.

    `reply_room` are the tokens to ask for where the reply needs more than the configuration or the endpoint gives it.
    """
    body = requested_parameters(endpoint)
    if reply_room is not None:
        body[next((name for name in _REPLY_LIMITS if name in body), _REPLY_LIMITS[0])] = reply_room
    if protocol is Protocol.STRUCTURED:
        body.setdefault("response_format", _JSON_SCHEMA)
        if PLAIN_TEXT in changes:
            del body["response_format"]
        elif JSON_OBJECT in changes:
            body["response_format"] = {"type": "json_object"}
    if RENAME_MAX_TOKENS in changes and "max_tokens" in body:
        body["max_completion_tokens"] = body.pop("max_tokens")
    elif RENAME_MAX_COMPLETION_TOKENS in changes and "max_completion_tokens" in body:
        body["max_tokens"] = body.pop("max_completion_tokens")
    for change in changes:
        if change.startswith(_DROP):
            body.pop(change[len(_DROP) :], None)
    body["model"] = endpoint.model
    body["messages"] = [message._asdict() for message in messages]
    return body


def more_room(body: dict[str, Any], output_tokens: int) -> int:
    """Tokens to ask for after a reply to `body` was cut off, when it had `output_tokens`."""
    given = next((body[name] for name in _REPLY_LIMITS if isinstance(body.get(name), int)), output_tokens)
    return max(_MORE * given, _MORE * _USUAL_REPLY_TOKENS)


def next_change(failure: Failure, body: dict[str, Any], changes: frozenset[Change]) -> Change | None:
    """The change to try after `failure` of `body`, which was sent with `changes`; null if none suggests itself.

    The parameter that the endpoint names is believed first, then the words of its message. An endpoint may repeat the
    judged text in its message, so a change is only a guess until a request with it passes.
    """
    if not failure.changeable:
        return None
    named = (failure.parameter or "").split(".")[0].split("[")[0]
    if named in body and named not in _KEPT:
        return _change_of_parameter(named, body, failure.detail)
    about_format = named == "response_format" or (not named and _FORMAT_WORDS.search(failure.detail))
    if "response_format" in body and about_format:
        return PLAIN_TEXT if JSON_OBJECT in changes else JSON_OBJECT
    for parameter in body:
        if parameter not in _KEPT and re.search(rf"(?<![\w-]){re.escape(parameter)}(?![\w-])", failure.detail):
            return _change_of_parameter(parameter, body, failure.detail)
    return None


def _change_of_parameter(parameter: str, body: dict[str, Any], detail: str) -> Change:
    for old, new, rename in (
        ("max_tokens", "max_completion_tokens", RENAME_MAX_TOKENS),
        ("max_completion_tokens", "max_tokens", RENAME_MAX_COMPLETION_TOKENS),
    ):
        if parameter == old and new not in body and re.search(rf"\b{new}\b", detail):
            return rename
    return _DROP + parameter
