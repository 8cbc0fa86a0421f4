"""Spans in MLflow's attributes: JSON strings inside JSON, whoever has written the span.

Ids are hex in schema 2, base64 in schema 3, and both in traces that were written in between.
"""

import binascii
import re
from collections.abc import Callable
from functools import lru_cache

from beamjudge.schemas.json_text import is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.row import TokenUsage
from beamjudge.schemas.traces.attribute_spans import Attributes, AttributeSpan
from beamjudge.schemas.traces.spans import Exchange, Span, Times
from beamjudge.schemas.traces.values import decoded
from beamjudge.schemas.usage import WORDS_OF_COUNTS, read_usage, response_usage

PREFIX = "mlflow."
_TYPE, _USAGE = "mlflow.spanType", "mlflow.chat.tokenUsage"
_INPUTS, _OUTPUTS = "mlflow.spanInputs", "mlflow.spanOutputs"
_RETRIEVERS = ('"RETRIEVER"', "RETRIEVER")  # as JSON, like all attributes, or as it is
_HEX_ID = re.compile(r"(?:0x)?([0-9a-fA-F]{16})")
_BASE64_ID = re.compile(r"[A-Za-z0-9+/_-]{11}=")
_LONGEST_ID = 18
_URL_SAFE = str.maketrans("-_", "+/")


def read_mlflow(span: AttributeSpan) -> Span:
    """A span with these attributes."""
    return mlflow_span(span.id, span.parent, span.name, span.times, span.attributes)


def mlflow_span(
    own_id: str | None, parent: str | None, name: str | None, times: Callable[[], Times], attributes: Attributes
) -> Span:
    """What `read_mlflow` makes of a span, from its parts."""
    inputs, outputs = attributes.get(_INPUTS), attributes.get(_OUTPUTS)
    return Span(
        own_id,
        parent,
        name,
        attributes.get(_TYPE) in _RETRIEVERS,
        read_usage(decoded(attributes.get(_USAGE))) or _reported(outputs),
        times,
        lambda: Exchange(decoded(inputs), decoded(outputs)),
    )


def has_content(attributes: Attributes) -> bool:
    """Whether a span says under these names what it took or gave."""
    return _INPUTS in attributes or _OUTPUTS in attributes


def span_id(value: Json) -> str | None:
    """An id in one spelling, 16 hex digits, so that hex and base64 ids of one trace find each other."""
    if value is None or value == "":
        return None
    text = str(value)
    return _spelled(text) if len(text) <= _LONGEST_ID else text


@lru_cache(maxsize=1024)  # all children of a span repeat its id
def _spelled(text: str) -> str:
    if hexadecimal := _HEX_ID.fullmatch(text):
        return hexadecimal.group(1).lower()
    if _BASE64_ID.fullmatch(text):
        return binascii.a2b_base64(text.translate(_URL_SAFE)).hex()
    return text


def _reported(outputs: Json) -> TokenUsage | None:
    """The counts in the outputs. Most have none, which their text shows before it is decoded."""
    if isinstance(outputs, str) and not any(word in outputs for word in WORDS_OF_COUNTS):
        return None
    found = decoded(outputs)
    return response_usage(found) if is_object(found) else None
