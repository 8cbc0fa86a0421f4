"""The request shapes that are known. Adding one is adding an entry to its family.

An object with `messages` is read by them whatever else it holds; the other fields follow in the order of
`_FIELDS`.
"""

from collections.abc import Callable

from beamjudge.schemas.json_text import has_any, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.logged_text import read_body, read_text_body
from beamjudge.schemas.requests.clouds import CLOUD_SHAPES
from beamjudge.schemas.requests.forms import is_text
from beamjudge.schemas.requests.messages import MESSAGE_SHAPES
from beamjudge.schemas.requests.openai import OPENAI_SHAPES
from beamjudge.schemas.shapes import Noted, Rewritten, Shape, ShapeTable

_FIELDS = (
    "messages",
    "contents",
    "query",
    "input",
    "conversations",
    "conversation",
    "turns",
    "thread",
    "additional_messages",
    "tool_outputs",
    "inputText",
    "retrievalQuery",
    "message",
    "lc",
    "role",
    "type",
    "request",
    "body",
    "prompt",
    "prompts",
)
_METHODS = frozenset({"POST", "PUT", "PATCH"})


def _is_http(value: dict[str, Json]) -> bool:
    """What clients and functions of HTTP note: the method, and the body as text."""
    if not isinstance(value["body"], str) or value.get("isBase64Encoded") is True or is_text(value.get("prompt")):
        return False
    methods = (value.get("method"), value.get("httpMethod"))
    return any(isinstance(method, str) and method.upper() in _METHODS for method in methods)


def _http_body(value: dict[str, Json]) -> Rewritten:
    """The body, decoded where it is JSON."""
    body = value["body"]
    decoded = read_text_body(body, streams=False) if isinstance(body, str) else None
    return body if decoded is None else Noted(*decoded)


_FAMILIES = (MESSAGE_SHAPES, OPENAI_SHAPES, CLOUD_SHAPES, (Shape("http", "body", _is_http, _http_body),))
_DIRECT = ShapeTable(_FIELDS, *_FAMILIES)


def _holds_request(field: str) -> Callable[[dict[str, Json]], bool]:
    def fits(value: dict[str, Json]) -> bool:
        inner = value[field]
        return is_object(inner) and _DIRECT.claim(inner) is not None and not _is_text_part(inner)

    return fits


def _is_text_part(inner: dict[str, Json]) -> bool:
    """`{"input": {"text"}}` is a shape of its own."""
    return isinstance(inner.get("text"), str)


def _inner_request(field: str) -> Callable[[dict[str, Json]], Json]:
    def rewrite(value: dict[str, Json]) -> Json:
        return value[field]

    return rewrite


# The body inside what an application, a batch file (`body`), LangServe or Replicate (`input`) wraps around it.
_NESTED_SHAPES = tuple(
    Shape(f"nested_{field}", field, _holds_request(field), _inner_request(field))
    for field in ("request", "body", "input")
)

REQUESTS = ShapeTable(_FIELDS, *_FAMILIES, _NESTED_SHAPES)

# What only a provider's request has beside its `prompt` or `message`.
_COMPLETION_PARAMETERS = frozenset(
    {
        "model",
        "max_tokens",
        "max_tokens_to_sample",
        "max_gen_len",
        "maxTokens",
        "temperature",
        "stream",
        "options",
        "chat_history",
        "preamble",
    }
)


def is_request_envelope(value: Json, shape: Shape | None) -> bool:
    """Whether a decoded string, of this shape, is certainly a provider's request and not something that a user typed as
    JSON.
    """
    if is_list(value):
        # A list of plain messages may be what a user typed; a dump of LangChain's is not.
        return bool(value) and all(is_object(item) and "lc" in item for item in value)
    if not is_object(value):
        return False
    if is_list(value.get("dataframe_records")) or is_object(value.get("dataframe_split")):
        return True
    if shape is not None:
        if shape.field == "query":
            return "history" in value
        if shape.field in ("prompt", "message"):
            return has_any(value, _COMPLETION_PARAMETERS)
        if shape.name == "http":
            return isinstance(body := value["body"], str) and read_body(body, _is_envelope, streams=False) is not None
        if shape.field == "body":
            return "url" in value
        return shape.field not in ("role", "type", "turns", "conversation")
    return isinstance(value.get("object"), str) and isinstance(value.get("id"), str)


def _is_envelope(value: Json) -> bool:
    return is_request_envelope(value, REQUESTS.claim(value))
