"""Responses in every known shape, in the normal form `{"choices": [{"message": {"role": "assistant", "content"}}]}`."""

from dataclasses import dataclass

from beamjudge.schemas.json_text import as_list, decode_container, is_absent, is_object
from beamjudge.schemas.json_value import Json, canonical_json
from beamjudge.schemas.messages import message_text
from beamjudge.schemas.responses.shapes import RESPONSE_SHAPES, assistant, is_response_envelope
from beamjudge.schemas.row import TokenUsage
from beamjudge.schemas.shapes import recognise
from beamjudge.schemas.usage import response_usage

__all__ = ["RESPONSE_SHAPES", "ResponseForm", "decode_response", "is_known_response", "normalize_response"]


@dataclass(frozen=True, slots=True)
class ResponseForm:
    """A response in normal form, its text, the token usage that it reports, and note codes."""

    canonical: Json
    text: str
    usage: TokenUsage | None = None
    notes: tuple[str, ...] = ()


def decode_response(value: Json) -> tuple[Json, tuple[str, ...]]:
    """A string that is a full response envelope as JSON, with its notes; any other value as it is."""
    if isinstance(value, str) and (decoded := decode_container(value)) and is_response_envelope(decoded.value):
        return decoded.value, ("parsed_json_string", *decoded.notes)
    return value, ()


def is_known_response(value: Json) -> bool:
    """Whether a recogniser claims `value`."""
    return any(shape.matches(value) for shape in RESPONSE_SHAPES)


def normalize_response(value: Json) -> ResponseForm | None:
    """The normal form of a logged response; null when there is none: null, an empty list or object, or only nulls.

    A blank string is a response, and an empty one. A value of no known shape is kept and its text is its canonical
    JSON. Idempotent: the canonical form of a canonical form is itself.
    """
    value, notes = decode_response(value)
    if isinstance(value, str):  # by far the most frequent shape, without the detour
        return ResponseForm(assistant(value), value)
    usage = response_usage(value)
    recognised = recognise(value, RESPONSE_SHAPES)
    value = recognised.value
    if recognised.is_normal and is_object(value):
        return _read_choices(value, usage or response_usage(value), notes)
    if is_absent(value):
        return None
    return ResponseForm(value, canonical_json(value), usage, (*notes, "other_response_shape"))


def _read_choices(response: dict[str, Json], usage: TokenUsage | None, notes: tuple[str, ...]) -> ResponseForm:
    choices = as_list(response["choices"])
    found = [*notes, "several_choices"] if len(choices) > 1 else list(notes)
    message = choices[0].get("message") if choices and is_object(choices[0]) else None
    if not is_object(message):  # no choice at all: the model answered nothing
        return ResponseForm(response, "", usage, tuple(found))
    said = message_text(message)
    return ResponseForm(response, said.text, usage, tuple(dict.fromkeys((*found, *said.notes))))
