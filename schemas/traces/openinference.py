"""OpenInference attributes, which Phoenix and its instrumentations write.

Source: github.com/Arize-ai/openinference, spec/semantic_conventions.md. Lists are flattened into numbered names, so
that a list of nothing leaves none: a retriever that ended without an error and without documents found nothing.
"""

from beamjudge.schemas.json_text import is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.requests import is_known_request
from beamjudge.schemas.responses import is_known_response
from beamjudge.schemas.traces.attribute_spans import Attributes, AttributeSpan, numbered
from beamjudge.schemas.traces.spans import Exchange, Span, Speaks
from beamjudge.schemas.traces.values import decoded, text_of
from beamjudge.schemas.usage import read_usage

KIND = "openinference.span.kind"
_SILENT = frozenset({"RETRIEVER", "RERANKER", "TOOL", "EMBEDDING", "EVALUATOR", "GUARDRAIL"})
_COUNTS = {
    "prompt_tokens": "llm.token_count.prompt",
    "completion_tokens": "llm.token_count.completion",
    "total_tokens": "llm.token_count.total",
}
_COUNTED = frozenset(_COUNTS.values())


def read_openinference(span: AttributeSpan) -> Span:
    """A span with these attributes. The outputs of a retriever are its documents in rank order."""
    attributes = span.attributes
    kind = str(attributes.get(KIND)).upper()
    speaks = Speaks.AGENT if kind == "AGENT" else Speaks.NO if kind in _SILENT else Speaks.YES
    return Span(
        span.id,
        span.parent,
        span.name,
        kind == "RETRIEVER",
        None if _COUNTED.isdisjoint(attributes) else read_usage(_counts(attributes)),
        span.times,
        lambda: _exchange(span, kind),
        speaks,
    )


def _counts(attributes: Attributes) -> Json:
    return {name: attributes.get(ours) for name, ours in _COUNTS.items()}


def _exchange(span: AttributeSpan, kind: str) -> Exchange:
    inputs, outputs = _value(span.attributes, "input"), _value(span.attributes, "output")
    if kind == "LLM":
        return Exchange(_asked(span.attributes, inputs), _answered(span.attributes, outputs))
    return Exchange(inputs, _retrieved(span, outputs) if kind == "RETRIEVER" else outputs)


def _value(attributes: Attributes, side: str) -> Json:
    """`input.value` or `output.value`: text, unless the media type says that it is JSON."""
    value = attributes.get(f"{side}.value")
    media_type = text_of(attributes.get(f"{side}.mime_type")) or ""
    return decoded(value) if "json" in media_type.lower() else value


def _asked(attributes: Attributes, inputs: Json) -> Json:
    """A model's inputs: as sent where that is a known body, else the messages that were taken from it."""
    messages = _messages(attributes, "llm.input_messages")
    return {"messages": messages} if messages and not (is_object(inputs) and is_known_request(inputs)) else inputs


def _answered(attributes: Attributes, outputs: Json) -> Json:
    messages = _messages(attributes, "llm.output_messages")
    if not messages or (is_object(outputs) and is_known_response(outputs)):
        return outputs
    return {"choices": [{"message": message} for message in messages]}


def _messages(attributes: Attributes, name: str) -> list[Json]:
    messages: list[Json] = []
    for logged in numbered(attributes, name) or ():
        message = {key.removeprefix("message."): value for key, value in logged.items()}
        content = message.get("content")
        if content is None and (parts := numbered(message, "contents")) is not None:
            content = [_part(part) for part in parts]
        calls = numbered(message, "tool_calls")
        made: dict[str, Json] = {"role": message.get("role"), "content": content}
        if calls:
            made["tool_calls"] = [_call(call) for call in calls]
        messages.append(made)
    return messages


def _part(part: Attributes) -> Json:
    kind = text_of(part.get("message_content.type")) or "text"
    return {"type": kind, "text": part.get("message_content.text")} if kind == "text" else {"type": kind}


def _call(call: Attributes) -> Json:
    function: dict[str, Json] = {}
    for name in ("name", "arguments"):
        function[name] = call.get(f"tool_call.function.{name}", call.get(f"function.{name}"))
    return {"type": "function", "function": function}


def _retrieved(span: AttributeSpan, outputs: Json) -> Json:
    documents = numbered(span.attributes, "retrieval.documents")
    if documents is not None:
        return [_document(document) for document in documents]
    found = decoded(outputs)
    if found is not None:
        return found
    return None if span.failed else []


def _document(logged: Attributes) -> Json:
    fields = {key.removeprefix("document."): value for key, value in logged.items()}
    metadata: dict[str, Json] = {}
    for key, value in fields.items():
        if key.startswith("metadata."):
            metadata[key.removeprefix("metadata.")] = value
    known: dict[str, Json] = {"content": fields.get("content"), "id": fields.get("id")}
    known["metadata"] = metadata or fields.get("metadata")
    return known
