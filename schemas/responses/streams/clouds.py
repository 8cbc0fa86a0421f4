"""Event streams of Gemini, of Bedrock, of Cohere and of watsonx.

Sources: ai.google.dev/api/generate-content#method:-models.streamgeneratecontent, ai.google.dev/api/interactions-api,
docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html and
.../userguide/model-parameters.html, docs.cohere.com/docs/streaming,
cloud.ibm.com/apidocs/watsonx-ai#text-generation-stream.
"""

from beamjudge.schemas.json_text import as_list, decode_container, first_of, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.responses.streams.events import Event, Joined, StreamFormat, last_object, text_of


def _is_gemini(event: Event) -> bool:
    found = event.get("candidates")
    return is_list(found) and any(is_object(item) and is_object(item.get("content")) for item in found)


def _join_gemini(events: list[Event]) -> Joined:
    """The first candidate. A chunk's first text goes on with the text before it."""
    parts: list[dict[str, Json]] = []
    texts: list[list[str]] = []  # the pieces of each part of `parts`
    reason: Json = None
    for event in events:
        candidate = next((item for item in as_list(event.get("candidates")) if is_object(item)), {})
        reason = reason if (own := first_of(candidate, ("finishReason", "finish_reason"))) is None else own
        content = candidate.get("content")
        own_parts = as_list(content.get("parts")) if is_object(content) else []
        for position, part in enumerate(own_parts):
            if not is_object(part):
                continue
            text = part.get("text")
            if not isinstance(text, str) and part.keys() <= _OF_TEXTS:  # which says nothing
                continue
            if position == 0 and parts and isinstance(text, str) and _goes_on(parts[-1], part):
                texts[-1].append(text)
            else:
                parts.append(part)
                texts.append([text_of(text)])
    whole: list[Json] = [
        {**part, "text": "".join(pieces)} if len(pieces) > 1 else part
        for part, pieces in zip(parts, texts, strict=True)
    ]
    answer: dict[str, Json] = {"content": {"role": "model", "parts": whole}, "finishReason": reason}
    value: dict[str, Json] = {"candidates": [answer]}
    for name in ("usageMetadata", "usage_metadata", "promptFeedback", "prompt_feedback"):
        if (last := last_object(events, name)) is not None:
            value[name] = last
    grounding = [
        found
        for event in events
        for item in as_list(event.get("candidates"))
        if is_object(item) and is_object(found := item.get("groundingMetadata"))
    ]
    if grounding:
        answer["groundingMetadata"] = grounding[-1]
    return Joined(value, reason is not None)


_OF_TEXTS = frozenset({"text", "thought", "thoughtSignature", "thought_signature"})


def _goes_on(last: dict[str, Json], part: dict[str, Json]) -> bool:
    return isinstance(last.get("text"), str) and last.get("thought") == part.get("thought")


_INTERACTION_EVENTS = ("interaction.", "step.", "content.")


def _is_interaction(event: Event) -> bool:
    return text_of(event.get("event_type")).startswith(_INTERACTION_EVENTS)


def _join_interaction(events: list[Event]) -> Joined:
    steps: dict[int, dict[str, Json]] = {}
    texts: dict[int, list[str]] = {}
    ended = False
    for event in events:
        given, kind = event.get("index"), event.get("event_type")
        index = given if isinstance(given, int) else 0
        if is_object(step := event.get("step")):
            steps[index] = step
        elif is_object(delta := event.get("delta")):
            texts.setdefault(index, []).append(text_of(delta.get("text")))
        ended = ended or kind == "interaction.completed"
    whole: list[Json] = []
    for index in sorted({*steps, *texts}):
        text = "".join(texts.get(index, []))
        step = steps.get(index, {"type": "model_output"})
        whole.append({**step, "content": [{"type": "text", "text": text}]} if text else step)
    value: dict[str, Json] = {"object": "interaction", "steps": whole}
    if (last := last_object(events, "interaction")) is not None and is_object(usage := last.get("usage")):
        value["usage"] = usage
    return Joined(value, ended)


_CONVERSE_EVENTS = frozenset(
    {"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop"}
)


def _is_converse(event: Event) -> bool:
    return any(is_object(event.get(name)) for name in _CONVERSE_EVENTS)


def _join_converse(events: list[Event]) -> Joined:
    blocks: dict[int, dict[str, Json]] = {}
    pieces: dict[int, list[str]] = {}
    reason: Json = None
    for event in events:
        if is_object(start := event.get("contentBlockStart")) and is_object(begun := start.get("start")):
            blocks[_block_index(start)] = begun
        elif is_object(change := event.get("contentBlockDelta")) and is_object(delta := change.get("delta")):
            index = _block_index(change)
            use = delta.get("toolUse")
            piece = use.get("input") if is_object(use) else delta.get("text")
            pieces.setdefault(index, []).append(text_of(piece))
            if "reasoningContent" in delta:
                blocks[index] = {"reasoningContent": {}}
        elif is_object(stop := event.get("messageStop")):
            reason = stop.get("stopReason") or "end_turn"
    content: list[Json] = []
    for index in sorted({*blocks, *pieces}):
        block, text = blocks.get(index, {}), "".join(pieces.get(index, []))
        if is_object(use := block.get("toolUse")):
            decoded = decode_container(text)
            content.append({"toolUse": {**use, "input": decoded.value if decoded else text}})
        else:
            content.append(block or {"text": text})
    value: dict[str, Json] = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": reason}
    metadata = last_object(events, "metadata")
    if metadata is not None and is_object(usage := metadata.get("usage")):
        value["usage"] = usage
    return Joined(value, reason is not None)


def _block_index(event: dict[str, Json]) -> int:
    index = event.get("contentBlockIndex")
    return index if isinstance(index, int) else 0


# Chunks of models under Bedrock's InvokeModelWithResponseStream: their field of text, and what else tells them.
_MODEL_CHUNKS = {
    "outputText": ("index", "completionReason"),  # Titan
    "generation": ("prompt_token_count", "generation_token_count", "stop_reason"),  # Llama
    "text": ("is_finished",),  # Cohere
}


def _is_model_chunk(event: Event) -> bool:
    if is_list(outputs := event.get("outputs")):  # Mistral
        return any(is_object(item) and isinstance(item.get("text"), str) for item in outputs)
    return any(
        isinstance(event.get(name), str) and any(mark in event for mark in marks)
        for name, marks in _MODEL_CHUNKS.items()
    ) and not isinstance(event.get("event_type"), str)


def _join_model_chunks(events: list[Event]) -> Joined:
    pieces: list[str] = []
    ended = False
    counts: dict[str, Json] = {}
    for event in events:
        outputs = event.get("outputs")
        for source in as_list(outputs) if is_list(outputs) else [event]:
            if not is_object(source):
                continue
            pieces.append(next((text for name in _MODEL_CHUNKS if (text := text_of(source.get(name)))), ""))
            reasons = [source.get(name) for name in ("completionReason", "stop_reason", "finish_reason")]
            ended = ended or any(reason is not None for reason in reasons)
        counts.update({name: item for name, item in event.items() if name.endswith(_COUNTS) and item is not None})
        if is_object(metrics := event.get("amazon-bedrock-invocationMetrics")):
            counts["usage"] = {
                "inputTokens": metrics.get("inputTokenCount"),
                "outputTokens": metrics.get("outputTokenCount"),
            }
    return Joined({"text": "".join(pieces), **counts}, ended)


_COUNTS = ("_token_count", "TokenCount")


def _is_watsonx(event: Event) -> bool:
    first = next(iter(as_list(event.get("results"))), None)
    return is_object(first) and isinstance(first.get("generated_text"), str)


def _join_watsonx(events: list[Event]) -> Joined:
    """The counts grow from event to event; the prompt is counted in the first alone."""
    pieces: list[str] = []
    whole: dict[str, Json] = {}
    for event in events:
        result = next((item for item in as_list(event.get("results")) if is_object(item)), {})
        pieces.append(text_of(result.get("generated_text")))
        given = result.get("input_token_count") or whole.get("input_token_count")
        whole = {**result, "input_token_count": given}
    ended = whole.get("stop_reason") not in (None, "not_finished", "NOT_FINISHED")
    return Joined({"results": [{**whole, "generated_text": "".join(pieces)}]}, ended)


_COHERE_1 = frozenset(
    {
        "stream-start",
        "text-generation",
        "citation-generation",
        "tool-calls-generation",
        "tool-calls-chunk",
        "search-queries-generation",
        "search-results",
        "stream-end",
    }
)
_COHERE_2 = frozenset(
    {
        "message-start",
        "content-start",
        "content-delta",
        "content-end",
        "message-end",
        "tool-plan-delta",
        "tool-call-start",
        "tool-call-delta",
        "tool-call-end",
    }
)


def _is_cohere(event: Event) -> bool:
    return text_of(event.get("event_type")) in _COHERE_1 or text_of(event.get("type")) in _COHERE_2


def _join_cohere(events: list[Event]) -> Joined:
    if any(text_of(event.get("event_type")) in _COHERE_1 for event in events):
        last = next((event for event in events if event.get("event_type") == "stream-end"), None)
        text = "".join(text_of(event.get("text")) for event in events if event.get("event_type") == "text-generation")
        whole = last.get("response") if last is not None else None
        return Joined({**whole, "text": text} if is_object(whole) else {"text": text}, last is not None)
    contents: dict[int, list[str]] = {}
    calls: dict[int, tuple[dict[str, Json], list[str]]] = {}
    end: Event = {}
    for event in events:
        given, kind = event.get("index"), text_of(event.get("type"))
        index = given if isinstance(given, int) else 0
        delta = event.get("delta")
        message = delta.get("message") if is_object(delta) else None
        if kind == "message-end" and is_object(delta):
            end = delta
        elif is_object(message) and kind.startswith("content") and is_object(content := message.get("content")):
            contents.setdefault(index, []).append(text_of(content.get("text")))
        elif is_object(message) and is_object(call := message.get("tool_calls")):
            _add_cohere_call(calls, index, call)
    parts: list[Json] = [{"type": "text", "text": "".join(pieces)} for _, pieces in sorted(contents.items())]
    said: dict[str, Json] = {"role": "assistant", "content": parts}
    if calls:
        said["tool_calls"] = [_cohere_call(call, pieces) for _, (call, pieces) in sorted(calls.items())]
    return Joined({"message": said, **end}, bool(end))


def _add_cohere_call(calls: dict[int, tuple[dict[str, Json], list[str]]], index: int, call: dict[str, Json]) -> None:
    _, pieces = calls.setdefault(index, (call, []))
    function = call.get("function")
    if is_object(function):
        pieces.append(text_of(function.get("arguments")))


def _cohere_call(call: dict[str, Json], pieces: list[str]) -> Json:
    function = call.get("function")
    return {**call, "function": {**(function if is_object(function) else {}), "arguments": "".join(pieces)}}


CLOUD_STREAMS: tuple[StreamFormat, ...] = (
    StreamFormat("gemini_chunks", _is_gemini, _join_gemini, alone=False),
    StreamFormat("interaction_events", _is_interaction, _join_interaction),
    StreamFormat("converse_events", _is_converse, _join_converse),
    StreamFormat("model_chunks", _is_model_chunk, _join_model_chunks, alone=False),
    StreamFormat("watsonx_events", _is_watsonx, _join_watsonx, alone=False),
    StreamFormat("cohere_events", _is_cohere, _join_cohere),
)
