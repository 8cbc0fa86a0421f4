"""The GenAI semantic conventions of OpenTelemetry, in all versions, and OpenLLMetry's attributes before them.

Source: github.com/open-telemetry/semantic-conventions, docs/gen-ai. Messages are, from the newest to the oldest:
`gen_ai.input.messages` and `gen_ai.output.messages` (JSON, on the span or on its event
`gen_ai.client.inference.operation.details`), the events `gen_ai.user.message`, `gen_ai.choice` and their like, the
events `gen_ai.content.prompt` and `gen_ai.content.completion`, and numbered attributes `gen_ai.prompt.0.content`
(github.com/traceloop/openllmetry). Frameworks write what an application took and gave into attributes of their own.
"""

from collections.abc import Iterable
from itertools import chain

from beamjudge.schemas.json_text import as_list, first_of, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.traces.attribute_spans import Attributes, AttributeSpan, SpanEvent, any_begins, numbered
from beamjudge.schemas.traces.spans import Exchange, Span, Speaks
from beamjudge.schemas.traces.values import decoded
from beamjudge.schemas.usage import read_usage

PREFIXES = ("gen_ai.", "traceloop.", "ai.prompt", "ai.response", "langfuse.", "llm.request.", "llm.usage.")
_INPUTS = ("traceloop.entity.input", "langfuse.trace.input", "langfuse.observation.input", "gen_ai.prompt")
_OUTPUTS = ("traceloop.entity.output", "langfuse.trace.output", "langfuse.observation.output", "gen_ai.completion")
# What names of content begin with.
_CONTENT = (
    *("gen_ai.input.", "gen_ai.output.", "gen_ai.prompt", "gen_ai.completion", "gen_ai.retrieval."),
    *("ai.prompt", "ai.response.", "traceloop.entity.", "langfuse."),
)
_SILENT = frozenset({"execute_tool", "embeddings", "retrieval", "rerank", "create_agent", "tool", "retriever"})
_KINDS = ("gen_ai.operation.name", "traceloop.span.kind", "langfuse.observation.type")
_RETRIEVALS = frozenset({"retrieval", "retriever", "retrieve"})
_MESSAGE_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_COUNTS = {
    "prompt_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "ai.usage.promptTokens"),
    "completion_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "ai.usage.completionTokens"),
    "total_tokens": ("gen_ai.usage.total_tokens", "llm.usage.total_tokens"),
}
_COUNTED = frozenset(chain.from_iterable(_COUNTS.values()))


def read_gen_ai(span: AttributeSpan) -> Span:
    """A span with these attributes and events. The outputs of a retrieval are its documents in rank order."""
    attributes = span.attributes
    for event in span.events:
        if event.name == "gen_ai.client.inference.operation.details":
            attributes = {**event.attributes, **attributes}
    kinds = {str(kind).lower() for name in _KINDS if (kind := attributes.get(name)) is not None}
    is_retriever = not kinds.isdisjoint(_RETRIEVALS)
    is_agent = not kinds.isdisjoint({"invoke_agent", "agent", "workflow", "invoke_workflow"})
    speaks = Speaks.AGENT if is_agent else Speaks.NO if not kinds.isdisjoint(_SILENT) else Speaks.YES
    return Span(
        span.id,
        span.parent,
        span.name,
        is_retriever,
        None if _COUNTED.isdisjoint(attributes) else read_usage(_counts(attributes)),
        span.times,
        lambda: _exchange(span, attributes, is_retriever),
        speaks,
    )


def _counts(attributes: Attributes) -> Json:
    return {name: first_of(attributes, names) for name, names in _COUNTS.items()}


def _exchange(span: AttributeSpan, attributes: Attributes, is_retriever: bool) -> Exchange:
    if not is_retriever and not span.events and not any_begins(attributes, _CONTENT):  # it was not captured
        return Exchange()
    outputs = _retrieved(attributes, span) if is_retriever else _outputs(attributes, span.events)
    return Exchange(_inputs(attributes, span.events), outputs)


def _retrieved(attributes: Attributes, span: AttributeSpan) -> Json:
    documents = decoded(attributes.get("gen_ai.retrieval.documents"))
    found = _outputs(attributes, span.events) if documents is None else documents
    return [] if found is None and not span.failed else found


def _inputs(attributes: Attributes, events: Iterable[SpanEvent]) -> Json:
    messages = as_list(decoded(attributes.get("gen_ai.input.messages")))
    if not messages:
        messages = [_event_message(event, role) for event in events if (role := _MESSAGE_EVENTS.get(event.name))]
    if not messages:
        messages = _numbered_messages(attributes, "gen_ai.prompt")
    if messages:
        return {"messages": [*_system(attributes), *messages]}
    for event in events:
        if event.name == "gen_ai.content.prompt":
            return decoded(event.attributes.get("gen_ai.prompt"))
    prompt = decoded(attributes.get("ai.prompt.messages", attributes.get("ai.prompt")))  # the AI SDK
    if prompt is not None:
        return {"messages": prompt} if is_list(prompt) else prompt
    query = attributes.get("gen_ai.retrieval.query.text")
    return decoded(first_of(attributes, _INPUTS)) if query is None else query


def _outputs(attributes: Attributes, events: Iterable[SpanEvent]) -> Json:
    messages = as_list(decoded(attributes.get("gen_ai.output.messages")))
    if not messages:
        messages = [_choice_message(event) for event in events if event.name == "gen_ai.choice"]
    if not messages:
        messages = _numbered_messages(attributes, "gen_ai.completion")
    if messages:
        return {"choices": [{"message": _assistant(message)} for message in messages if is_object(message)]}
    for event in events:
        if event.name == "gen_ai.content.completion":
            return _completion(decoded(event.attributes.get("gen_ai.completion")))
    said = attributes.get("ai.response.text")
    return _completion(decoded(first_of(attributes, _OUTPUTS))) if said is None else said


def _completion(value: Json) -> Json:
    """A list of messages is a list of choices."""
    if is_list(value) and value and all(is_object(item) and "role" in item for item in value):
        return {"choices": [{"message": _assistant(item)} for item in value if is_object(item)]}
    return value


def _assistant(message: dict[str, Json]) -> Json:
    """A message with `parts` in the form of a choice's message."""
    if message.get("content") is None and message.get("parts") is not None:
        rest = {name: value for name, value in message.items() if name not in ("parts", "content")}
        return {**rest, "role": "assistant", "content": message["parts"]}
    return {**message, "role": message.get("role") or "assistant"}


def _system(attributes: Attributes) -> list[Json]:
    instructions = decoded(attributes.get("gen_ai.system_instructions"))
    return [] if instructions in (None, [], "") else [{"role": "system", "content": instructions}]


def _event_message(event: SpanEvent, role: str) -> Json:
    """A message's body is in the event's attributes, or as JSON in one of them."""
    body = _body(event)
    content = body.get("content", body.get(f"gen_ai.{'prompt' if role != 'assistant' else 'completion'}"))
    message: dict[str, Json] = {"role": body.get("role") or role, "content": content}
    if (calls := decoded(body.get("tool_calls"))) is not None:
        message["tool_calls"] = calls
    return message


def _choice_message(event: SpanEvent) -> Json:
    body = _body(event)
    message = decoded(body.get("message"))
    if is_object(message):
        return {"role": "assistant", **message}
    nested = {name[8:]: value for name, value in body.items() if name.startswith("message.")}
    if isinstance(message, str):
        nested["content"] = message
    return {"role": "assistant", **(nested or {"content": body.get("content")})}


def _body(event: SpanEvent) -> dict[str, Json]:
    whole = decoded(event.attributes.get("gen_ai.event.content", event.attributes.get("event_body")))
    return {**event.attributes, **whole} if is_object(whole) else event.attributes


def _numbered_messages(attributes: Attributes, name: str) -> list[Json]:
    """OpenLLMetry's numbered messages. Calls of tools are numbered once more."""
    messages: list[Json] = []
    for logged in numbered(attributes, name) or ():
        default = "user" if name.endswith("prompt") else "assistant"
        content = logged.get("content")
        message: dict[str, Json] = {"role": logged.get("role") or default, "content": _parts(content)}
        if calls := numbered(logged, "tool_calls"):
            message["tool_calls"] = [
                {"type": "function", "function": {key: call.get(key) for key in ("name", "arguments")}}
                for call in calls
            ]
        messages.append(message)
    return messages


def _parts(content: Json) -> Json:
    """Content parts are written as JSON text; any other text is what was said, JSON or not."""
    parts = decoded(content)
    if is_list(parts) and parts and all(is_object(part) and "type" in part for part in parts):
        return parts
    return content
