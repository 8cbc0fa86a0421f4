"""The response shapes that are known. Adding one is adding an entry to its family.

An object that mixes the fields of several is read by the first of `_FIELDS` that makes a shape; plain text fields come
last.
"""

from collections.abc import Callable

from beamjudge.schemas.json_text import has_any, is_container, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.logged_text import read_body, read_text_body
from beamjudge.schemas.messages import is_message
from beamjudge.schemas.responses.clouds import CLOUD_SHAPES
from beamjudge.schemas.responses.faults import FIRST_ERROR_STATUS, find_failed_call, find_fault, is_http_answer
from beamjudge.schemas.responses.forms import are_typed, is_text
from beamjudge.schemas.responses.frameworks import FRAMEWORK_SHAPES
from beamjudge.schemas.responses.openai import OPENAI_SHAPES
from beamjudge.schemas.responses.other_calls import OTHER_CALL_SHAPES
from beamjudge.schemas.responses.streams import is_response_event, is_stream
from beamjudge.schemas.responses.streams.langchain import is_message_chunk
from beamjudge.schemas.shapes import Noted, Rewritten, Shape, ShapeTable

_FIELDS = (
    "choices",
    "sse",
    "ndjson",
    "candidates",
    "steps",
    "output",
    "messages",
    "conversations",
    "message",
    "content",
    "role",
    "required_action",
    "object",
    "status",
    "lc",
    "type",
    "generations",
    "response",
    "completion",
    "completions",
    "generation",
    "generated_text",
    "results",
    "retrievalResults",
    "outputs",
    "outputText",
    "answer",
    "result",
    "replies",
    "data",
    "body",
    "text",
    "output_text",
    "predictions",
    "embedding",
    "embeddings",
    "totalTokens",
    "total_tokens",
    "inputTokens",
    "input_tokens",
)
_ERROR_FIELDS = ("message", "code", "type")


def _is_http(value: dict[str, Json]) -> bool:
    """What clients and functions of HTTP note: the status, and the body as text."""
    if value.get("isBase64Encoded") is True or not is_text(value["body"]) or not is_http_answer(value):
        return False
    return find_failed_call(value) is None


def _http_body(value: dict[str, Json]) -> Rewritten:
    """The body, decoded where it is JSON or a stream."""
    body = value["body"]
    decoded = read_text_body(body, _is_known_or_json) if isinstance(body, str) else None
    return body if decoded is None else Noted(*decoded)


def _is_known_or_json(value: Json) -> bool:
    """Any JSON, but of streams only one of known events."""
    if is_object(value) and value.keys() in _READ_STREAMS:
        return RESPONSES.claim(value) is not None
    return is_container(value)


_READ_STREAMS = ({"sse"}, {"ndjson"})
_FAMILIES = (
    OPENAI_SHAPES,
    CLOUD_SHAPES,
    FRAMEWORK_SHAPES,
    OTHER_CALL_SHAPES,
    (Shape("http", "body", _is_http, _http_body),),
)
_DIRECT = ShapeTable(_FIELDS, *_FAMILIES)


def _holds_fault(envelope: dict[str, Json], inner: dict[str, Json]) -> bool:
    """Whether an envelope certainly holds a provider's fault: applications have a field `error` of their own."""
    status, error = envelope.get("status_code"), inner.get("error")
    is_told = is_object(error) and any(isinstance(error.get(name), str) for name in _ERROR_FIELDS)
    has_failed = isinstance(status, int) and status >= FIRST_ERROR_STATUS
    return (error is None or is_told or has_failed) and find_fault(inner) is not None


def _holds_response(field: str) -> Callable[[dict[str, Json]], bool]:
    def fits(value: dict[str, Json]) -> bool:
        inner = value[field]
        if is_list(inner):  # the chunks of a stream; items of `output` are a shape of their own
            return is_stream(inner) and (not are_typed(inner) or is_message_chunk(inner[0]))
        if not is_object(inner) or is_response_event(value):
            return False
        if _holds_fault(value, inner) or (field == "response" and find_failed_call(inner) is not None):
            return True
        if is_object(inner.get("body")) and "status_code" in inner:  # a line of a batch's output file
            return True
        if field == "output" and (is_object(inner.get("message")) or isinstance(inner.get("text"), str)):
            return False  # Bedrock's, which are shapes of their own
        return _DIRECT.claim(inner) is not None

    return fits


def _inner_response(field: str) -> Callable[[dict[str, Json]], Json]:
    def rewrite(value: dict[str, Json]) -> Json:
        return value[field]

    return rewrite


# The body inside what LangServe (`output`), a batch file (`response`, `body`) or an application wraps around it.
_NESTED_SHAPES = tuple(
    Shape(f"nested_{field}", field, _holds_response(field), _inner_response(field))
    for field in ("output", "response", "body")
)

RESPONSES = ShapeTable(_FIELDS, *_FAMILIES, _NESTED_SHAPES)

# Shapes that no application answers with by chance.
_ENVELOPES = frozenset(
    {
        "choices",
        "text_choices",
        "chunk",
        "responses_api",
        "empty_output",
        "message_page",
        "page_of_one",
        "response_event",
        "sse",
        "ndjson",
        "stream",
        "anthropic",
        "gemini",
        "interaction",
        "converse",
        "titan",
        "llama",
        "completion",
        "completions",
        "mistral_conversation",
        "langchain_message",
        "llm_result",
        "messages",
        "listing",
    }
)
# A provider's single message or text, by the field that stands beside it.
_MARKS = {
    "message_field": ("done", "finish_reason", "usage", "raw"),
    "response_text": ("done", "source_nodes"),
    "output_text_object": ("sessionId", "citations"),
    "generated_text": ("details",),
    "generations": ("meta", "prompt"),
    "langchain_typed": ("response_metadata", "additional_kwargs", "data"),
    "unfinished": ("status", "input_tokens"),
    "embedding_vectors": ("model", "usage", "id", "object", "inputTextTokenCount"),
    "embeddings_vectors": ("model", "usage", "id", "object"),
    "judgements": ("id", "model", "meta", "usage"),
    "message": ("response_metadata", "usage", "stop_reason"),
}


def is_response_envelope(value: Json) -> bool:
    """Whether a decoded string is certainly a provider's response and not JSON that an application answered with."""
    if is_list(value):
        if is_stream(value):
            return True
        if len(value) == 1 and is_object(value[0]):
            return is_response_envelope(value[0])
        return bool(value) and all(is_object(item) and "lc" in item for item in value)
    if not is_object(value):
        return False
    if are_typed(value.get("output")) or are_typed(value.get("content")):
        return True
    shape = RESPONSES.claim(value)
    if shape is not None and shape.name == "messages":
        return is_list(messages := value.get("messages")) and all(is_message(item) for item in messages)
    body = value["body"] if shape is not None and shape.name == "http" else None
    if isinstance(body, str) and read_body(body, is_response_envelope) is not None:
        return True
    if shape is not None and (shape.name in _ENVELOPES or has_any(value, _MARKS.get(shape.name, ()))):
        return True
    return isinstance(value.get("object"), str) and isinstance(value.get("id"), str)
