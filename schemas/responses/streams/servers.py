"""Event streams of model servers and of web frameworks: Ollama, text-generation-inference, Replicate, the AI SDK.

Sources: github.com/ollama/ollama/blob/main/docs/api.md, huggingface.co/docs/text-generation-inference,
replicate.com/docs/topics/predictions/streaming, ai-sdk.dev/docs/ai-sdk-ui/stream-protocol.
"""

from beamjudge.schemas.json_text import as_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.responses.streams.events import Event, Joined, StreamFormat, is_text_event, text_of


def _is_ollama(event: Event) -> bool:
    return isinstance(event.get("done"), bool) and (
        is_object(event.get("message")) or isinstance(event.get("response"), str)
    )


def _join_ollama(events: list[Event]) -> Joined:
    """The last line has the counts; the text is in all of them."""
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[Json] = []
    last: Event = {}
    for event in events:
        message = event.get("message")
        source = message if is_object(message) else event
        texts.append(text_of(source.get("content" if is_object(message) else "response")))
        thoughts.append(text_of(source.get("thinking")))
        calls += as_list(source.get("tool_calls"))
        last = event
    if isinstance(last.get("response"), str):
        return Joined({**last, "response": "".join(texts)}, last.get("done") is True)
    message = {"role": "assistant", "content": "".join(texts)}
    if thinking := "".join(thoughts):
        message["thinking"] = thinking
    said: dict[str, Json] = {**message, "tool_calls": calls} if calls else {**message}
    return Joined({**last, "message": said}, last.get("done") is True)


def _is_tgi(event: Event) -> bool:
    return is_object(token := event.get("token")) and isinstance(token.get("text"), str)


def _join_tgi(events: list[Event]) -> Joined:
    """The last event has the whole text; without it the tokens that are not special make it."""
    whole = next((event for event in reversed(events) if isinstance(event.get("generated_text"), str)), None)
    if whole is not None:
        return Joined({"generated_text": whole["generated_text"], "details": whole.get("details")}, True)
    tokens = [token for event in events if is_object(token := event.get("token"))]
    text = "".join(text_of(token.get("text")) for token in tokens if token.get("special") is not True)
    return Joined({"generated_text": text}, False)


def _is_ai_sdk(event: Event) -> bool:
    return event.get("type") == "text-delta" and (
        isinstance(event.get("delta"), str) or isinstance(event.get("textDelta"), str)
    )


def _join_ai_sdk(events: list[Event]) -> Joined:
    texts: dict[str, list[str]] = {}
    for event in events:
        if _is_ai_sdk(event):
            pieces = texts.setdefault(text_of(event.get("id")), [])
            pieces.append(text_of(event.get("delta")) + text_of(event.get("textDelta")))
    ended = any(event.get("type") == "finish" for event in events)
    parts: list[Json] = [{"type": "text", "text": "".join(pieces)} for pieces in texts.values()]
    return Joined({"role": "assistant", "content": parts}, ended)


def _is_replicate(event: Event) -> bool:
    return "data" in event and is_text_event(event)


def _join_replicate(events: list[Event]) -> Joined:
    pieces = [text_of(event.get("data")) for event in events if _is_replicate(event)]
    # The last event, `done`, has an object for its data.
    return Joined({"text": "".join(pieces)}, not _is_replicate(events[-1]))


def _is_writer(event: Event) -> bool:
    return event.keys() == {"value"} and isinstance(event["value"], str)


def _join_writer(events: list[Event]) -> Joined:
    """Writer's completions (dev.writer.com): bare pieces of text, without a mark of their end."""
    return Joined({"text": "".join(text_of(event.get("value")) for event in events)}, True)


SERVER_STREAMS: tuple[StreamFormat, ...] = (
    StreamFormat("ollama_lines", _is_ollama, _join_ollama, alone=False),
    StreamFormat("tgi_events", _is_tgi, _join_tgi),
    StreamFormat("replicate_events", _is_replicate, _join_replicate),
    StreamFormat("writer_events", _is_writer, _join_writer, alone=False),
    StreamFormat("ai_sdk_events", _is_ai_sdk, _join_ai_sdk),
)
