"""Responses in every known shape, in the normal form `{"choices": [{"message": {"role": "assistant", "content"}}]}`."""

from typing import NamedTuple

from beamjudge.schemas.json_text import as_list, is_absent, is_container, is_object, without_collections
from beamjudge.schemas.json_value import Json, canonical_json
from beamjudge.schemas.logged_text import read_body
from beamjudge.schemas.messages import message_text
from beamjudge.schemas.responses.evidence import response_documents
from beamjudge.schemas.responses.faults import ResponseFault, find_failed_call, find_fault, inspect_response
from beamjudge.schemas.responses.forms import assistant
from beamjudge.schemas.responses.table import RESPONSES, is_response_envelope
from beamjudge.schemas.row import Document, TokenUsage
from beamjudge.schemas.shapes import Noted
from beamjudge.schemas.usage import response_usage

__all__ = ["RESPONSES", "ResponseFault", "ResponseForm", "decode_response", "is_known_response", "normalize_response"]


class ResponseForm(NamedTuple):
    """A response in normal form, its text, and what else the body holds.

    `fault` says that it is no answer but an error or a block; its text is then empty. `trace` is the trace that an
    application of Databricks sends along.
    """

    canonical: Json
    text: str
    usage: TokenUsage | None = None
    notes: tuple[str, ...] = ()
    fault: ResponseFault | None = None
    documents: tuple[Document, ...] | None = None
    trace: Json = None


def decode_response(value: Json) -> tuple[Json, tuple[str, ...]]:
    """A string that is a full response envelope as JSON, with its notes; any other value as it is."""
    if isinstance(value, str) and (decoded := read_body(value, _is_envelope)) is not None:
        return decoded
    return value, ()


def _is_envelope(value: Json) -> bool:
    return is_response_envelope(value) or find_fault(value) is not None


def is_known_response(value: Json) -> bool:
    """Whether `value` is a string or has one of the known shapes."""
    return isinstance(value, str) or RESPONSES.claim(value) is not None


def normalize_response(value: Json) -> ResponseForm | None:
    """The normal form of a logged response; null when there is none: null, an empty list or object, or only nulls.

    A blank string is a response, and an empty one. A value of no known shape is kept and its text is its canonical
    JSON. Idempotent: the canonical form of a canonical form is itself.
    """
    return without_collections(_normalize, value)


def _normalize(value: Json) -> ResponseForm | None:
    value, notes = decode_response(value)
    if isinstance(value, str):  # by far the most frequent shape, without the detour
        return ResponseForm(assistant(value), value)
    usage: TokenUsage | None = None
    documents: tuple[Document, ...] | None = None
    trace: Json = None
    filtered = False
    # Every rewrite unwraps a level or gives the normal form, so that it ends.
    while not isinstance(value, str):
        fault, is_filtered = inspect_response(value)
        fault = fault or find_failed_call(value)
        if fault is not None:
            return ResponseForm(value, "", usage, notes, fault)
        filtered = filtered or is_filtered
        if usage is None and is_object(value):  # a stream reports it in pieces
            usage = response_usage(value)
        documents = response_documents(value) if documents is None else documents
        trace = _embedded_trace(value) if trace is None else trace
        shape = RESPONSES.claim(value)
        if shape is None or shape.rewrite is None:
            break
        rewritten = shape.rewrite(value)
        if isinstance(rewritten, Noted):
            value, notes = rewritten.value, (*notes, *rewritten.notes)
        else:
            value = rewritten
    if filtered:
        notes = (*notes, "content_filtered")
    if isinstance(value, str):
        return ResponseForm(assistant(value), value, usage, notes, None, documents, trace)
    if shape is not None:
        text, said = _read_choices(value)
        return ResponseForm(value, text, usage, tuple(dict.fromkeys((*notes, *said))), None, documents, trace)
    if is_absent(value):
        return None
    text = canonical_json(value)
    if not is_container(value):  # a number that a traced function returned
        value = assistant(text)
    return ResponseForm(value, text, usage, (*notes, "other_response_shape"), None, documents, trace)


def _read_choices(response: Json) -> tuple[str, tuple[str, ...]]:
    """The text of a normal form, and its notes."""
    choices = as_list(response.get("choices")) if is_object(response) else []
    found = ("several_choices",) if len(choices) > 1 else ()
    message = choices[0].get("message") if choices and is_object(choices[0]) else None
    if not is_object(message):  # no choice at all: the model answered nothing
        return "", found
    said = message_text(message)
    return said.text, (*found, *said.notes)


def _embedded_trace(value: Json) -> Json:
    output = value.get("databricks_output") if is_object(value) else None
    return output.get("trace") if is_object(output) else None
