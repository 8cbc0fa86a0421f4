"""Streamed responses, as lists of events in any wrapper: told by their events, and joined."""

from beamjudge.schemas.json_text import is_list
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.logged_text import FIRST_EVENTS
from beamjudge.schemas.responses.streams.anthropic import ANTHROPIC_STREAMS
from beamjudge.schemas.responses.streams.chat import CHAT_STREAMS
from beamjudge.schemas.responses.streams.clouds import CLOUD_STREAMS
from beamjudge.schemas.responses.streams.events import StreamFormat, candidates, events_of, is_event_text
from beamjudge.schemas.responses.streams.langchain import LANGCHAIN_STREAMS
from beamjudge.schemas.responses.streams.openai import OPENAI_STREAMS, holds_answer, is_response_event
from beamjudge.schemas.responses.streams.servers import SERVER_STREAMS
from beamjudge.schemas.shapes import Noted, Rewritten

__all__ = ["STREAM_FORMATS", "holds_answer", "is_response_event", "is_stream", "join_stream", "stream_format"]

# The order does not matter: no event is claimed by two.
STREAM_FORMATS: tuple[StreamFormat, ...] = (
    *CHAT_STREAMS,
    *OPENAI_STREAMS,
    *ANTHROPIC_STREAMS,
    *CLOUD_STREAMS,
    *SERVER_STREAMS,
    *LANGCHAIN_STREAMS,
)


def stream_format(value: Json, *, certain: bool = False) -> StreamFormat | None:
    """The format of a list of events: that of the first event that any format claims, among its first hundred,
    so that a long list that is no stream costs nothing.

    Null for any other value. `certain` says that the list is known to be a stream, so that a single chunk is one too;
    lines of server-sent events tell it by themselves.
    """
    if not is_list(value) or not value:
        return None
    for event in candidates(value, FIRST_EVENTS):
        for form in STREAM_FORMATS:
            if form.claims(event):
                return form if form.alone or certain or len(value) > 1 or is_event_text(value[0]) else None
    return None


def is_stream(value: Json) -> bool:
    return stream_format(value) is not None


def join_stream(value: list[Json], *, certain: bool = False) -> Rewritten:
    """The response that a stream stands for; one that was cut off has the note `cut_stream`."""
    form = stream_format(value, certain=certain)
    events, done = events_of(value)
    if form is None:
        return events[0] if len(events) == 1 else None
    joined = form.join(events)
    if joined.ended or done:
        return joined.value
    return Noted(joined.value, ("cut_stream",))
