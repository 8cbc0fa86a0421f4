"""Requests in every known shape, put into the normal form `{"messages": [{"role", "content", ...}]}`."""

from collections.abc import Callable
from typing import NamedTuple

from beamjudge.schemas.json_text import as_list, is_absent, is_container, is_object, without_collections
from beamjudge.schemas.json_value import Json, canonical_json
from beamjudge.schemas.logged_text import read_body
from beamjudge.schemas.messages import SYSTEM_ROLES, USER_ROLES, message_role, message_text, message_turn
from beamjudge.schemas.requests.table import REQUESTS, is_request_envelope
from beamjudge.schemas.row import Turn
from beamjudge.schemas.shapes import Noted, Shape

__all__ = ["REQUESTS", "RequestForm", "decode_request", "is_known_request", "normalize_request"]


# No model takes a conversation of more turns, and no person has had one.
_MOST_TURNS = 10_000


class RequestForm(NamedTuple):
    """A request in normal form, the text of its last user turn, the turns before that, and note codes."""

    canonical: Json
    text: str
    history: tuple[Turn, ...] = ()
    notes: tuple[str, ...] = ()


def decode_request(value: Json) -> tuple[Json, tuple[str, ...]]:
    """A string that is a full request envelope as JSON, with its notes; any other value as it is."""
    return _open(value)[:2] if isinstance(value, str) else (value, ())


def _open(text: str) -> tuple[Json, tuple[str, ...], Shape | None]:
    """What `decode_request` makes of a text, and the shape of that, which is known by then."""
    shape: Shape | None = None

    def accepts(body: Json) -> bool:
        nonlocal shape
        shape = REQUESTS.claim(body)
        return is_request_envelope(body, shape)

    decoded = read_body(text, accepts, streams=False)
    return (text, (), None) if decoded is None else (*decoded, shape)


def is_known_request(value: Json) -> bool:
    """Whether `value` is a string or has one of the known shapes."""
    return isinstance(value, str) or REQUESTS.claim(value) is not None


def normalize_request(value: Json) -> RequestForm | None:
    """The normal form of a logged request; null when there is none: null, an empty list or object, or no turn.

    A blank string is a request, and an empty one. An object or list of no known shape is kept as it is and its text
    is its canonical JSON. Idempotent: the canonical form of a canonical form is itself.
    """
    return without_collections(_normalize, value)


def _normalize(value: Json) -> RequestForm | None:
    value, notes, shape = _open(value) if isinstance(value, str) else (value, (), REQUESTS.claim(value))
    # Every rewrite unwraps a level or gives the normal form, so that it ends.
    while shape is not None:
        if shape.rewrite is None:
            return _read_messages(value, notes) if is_object(value) else None
        rewritten = shape.rewrite(value)
        if isinstance(rewritten, Noted):
            value, notes = rewritten.value, (*notes, *rewritten.notes)
        else:
            value = rewritten
        shape = REQUESTS.claim(value)
    if isinstance(value, str):
        return RequestForm({"messages": [{"role": "user", "content": value}]}, value, notes=notes)
    if is_absent(value):
        return None
    text = canonical_json(value)
    if not is_container(value):  # a number that a traced function took
        value = {"messages": [{"role": "user", "content": text}]}
    return RequestForm(value, text, notes=(*notes, "other_request_shape"))


def _read_messages(request: dict[str, Json], notes: tuple[str, ...]) -> RequestForm | None:
    logged = as_list(request["messages"])
    messages = [message for message in logged if isinstance(message, dict)]
    found = list(notes)
    if len(messages) < len(logged):
        found.append("null_elements_dropped")
        request = {**request, "messages": list(messages)}
    asked = _last(messages, lambda role: role in USER_ROLES)
    if asked is None:
        asked = _last(messages, lambda role: role not in SYSTEM_ROLES)
        found.append("no_user_turn")
    elif asked < len(messages) - 1:
        found.append("later_turns_not_shown")
    if asked is None:
        return None
    if asked > _MOST_TURNS:
        found.append("truncated:history")
    history: list[Turn] = []
    for message in messages[max(asked - _MOST_TURNS, 0) : asked]:
        role, said, noted = message_turn(message)
        found += noted
        if said or role != "assistant":  # whose turn of nothing but reasoning says nothing
            history.append(Turn(role, said))
    text, noted = message_text(messages[asked])
    return RequestForm(request, text, tuple(history), tuple(dict.fromkeys((*found, *noted))))


def _last(messages: list[dict[str, Json]], wanted: Callable[[str], bool]) -> int | None:
    return next((index for index in range(len(messages) - 1, -1, -1) if wanted(message_role(messages[index]))), None)
