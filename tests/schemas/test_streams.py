import json

import pytest
from streams import ANSWER, LANGCHAIN_STREAMS, REASONED, STREAMS, block, chat, message_chunk

from beamjudge.schemas.responses import RESPONSES, normalize_response
from beamjudge.schemas.responses.streams import STREAM_FORMATS
from beamjudge.schemas.responses.streams.events import candidates, unwrap


def as_text(events):
    return "".join(f"event: message\ndata: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"


def as_lines(events):
    return "\n".join(json.dumps(event) for event in events) + "\n"


def wrapped(events):
    return [{"event": "message", "data": event} for event in events]


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize(
    ("pack", "parsed"),
    [
        (list, ()),
        (wrapped, ()),
        (lambda events: {"sse": [*wrapped(events), {"data": "[DONE]"}]}, ()),
        (lambda events: {"sse": [{"data": json.dumps(event)} for event in events]}, ()),
        (lambda events: {"ndjson": events}, ()),
        (json.dumps, ("parsed_json_string",)),
        (as_text, ("parsed_event_stream",)),
        (lambda events: as_text(events).replace("\n\n", "\n"), ("parsed_event_stream",)),
        (lambda events: as_text(events).replace("\n", "\r\n"), ("parsed_event_stream",)),
        (as_lines, ("parsed_event_stream",)),
    ],
)
def test_a_stream_is_joined(name, pack, parsed):
    events, tokens = STREAMS[name]
    form = normalize_response(pack(events))
    assert form.text == ANSWER
    assert form.notes == (*parsed, *(("reasoning_not_shown",) if name in REASONED else ()))
    assert (form.usage and (form.usage.input_tokens, form.usage.output_tokens)) == tokens


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_without_its_end_is_cut_off(name):
    form = normalize_response({"sse": STREAMS[name][0][:-1]})
    assert "cut_stream" in form.notes
    assert form.text.startswith("At")


@pytest.mark.parametrize("name", STREAMS)
def test_an_event_is_of_one_format(name):
    for event in STREAMS[name][0]:
        assert len([form.name for form in STREAM_FORMATS if form.claims(unwrap(event))]) <= 1
    assert RESPONSES.claims(STREAMS[name][0]) == ["stream"]


def test_bytes_are_an_event_only_where_there_is_nothing_else():
    coded = "eyJhIjogMX0="  # {"a": 1}
    assert unwrap({"bytes": coded}) == unwrap({"chunk": {"bytes": coded}}) == {"a": 1}
    for other in ({"bytes": coded, "name": "photo"}, {"chunk": {"bytes": coded}, "name": "photo"}):
        assert unwrap(other) == other


@pytest.mark.parametrize("no_event", [None, 5, ["a"]])
def test_a_list_that_holds_something_that_is_no_event_is_no_stream(no_event):
    assert [*candidates([{"a": 1}, '{"b": 2}'], 5)] == [{"a": 1}, {"b": 2}]
    assert [*candidates([{"a": 1}, no_event], 5)] == []


def test_choices_are_joined_apart():
    chunks = [
        {"choices": [{"index": 1, "delta": {"content": "b"}}, {"index": 0, "delta": {"content": "a"}}]},
        {"choices": [{"index": 1, "delta": {"content": "b"}, "finish_reason": "stop"}]},
    ]
    form = normalize_response(chunks)
    assert (form.text, form.notes) == ("a", ("several_choices",))


def test_a_streamed_refusal():
    form = normalize_response([chat(refusal="No,"), chat(refusal=" thanks.", reason="stop")])
    assert (form.text, form.notes) == ("No, thanks.", ("refusal",))


def test_a_streamed_function_call():
    pieces = [{"name": "hours", "arguments": ""}, {"arguments": '{"station":'}, {"arguments": "12}"}]
    form = normalize_response([*(chat(function_call=piece) for piece in pieces), chat(reason="function_call")])
    assert (form.text, form.notes) == ('{"arguments":"{\\"station\\":12}","name":"hours"}', ("tool_calls_only",))


def test_a_streamed_transcript():
    form = normalize_response([chat(audio={"transcript": "At"}), chat(audio={"transcript": " six."}, reason="stop")])
    assert (form.text, form.notes) == (ANSWER, ("audio_transcript",))


def test_streamed_arguments_of_anthropic_and_converse():
    anthropic = [
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "name": "hours", "input": {}},
        },
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"a":'}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "1}"}},
        {"type": "message_stop"},
    ]
    assert normalize_response(anthropic).text == '[{"input":{"a":1},"name":"hours","type":"tool_use"}]'
    converse = [
        {"contentBlockStart": {"start": {"toolUse": {"name": "hours"}}, "contentBlockIndex": 0}},
        {"contentBlockDelta": {"delta": {"toolUse": {"input": '{"a":'}}, "contentBlockIndex": 0}},
        {"contentBlockDelta": {"delta": {"toolUse": {"input": "1}"}}, "contentBlockIndex": 0}},
        {"messageStop": {"stopReason": "tool_use"}},
    ]
    assert normalize_response(converse).text == '[{"input":{"a":1},"name":"hours"}]'


def test_streamed_calls_of_cohere_and_of_an_assistant():
    cohere = [
        {
            "type": "tool-call-start",
            "index": 0,
            "delta": {"message": {"tool_calls": {"id": "c", "function": {"name": "f", "arguments": ""}}}},
        },
        {
            "type": "tool-call-delta",
            "index": 0,
            "delta": {"message": {"tool_calls": {"function": {"arguments": "{}"}}}},
        },
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
    ]
    assert normalize_response(cohere).text == '[{"function":{"arguments":"{}","name":"f"},"id":"c"}]'
    step = {"object": "thread.run.step.delta"}
    assistant = [
        {
            **step,
            "delta": {
                "step_details": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": ""}}]}
            },
        },
        {**step, "delta": {"step_details": {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}}},
    ]
    form = normalize_response(assistant)
    assert form.text == '[{"function":{"arguments":"{}","name":"f"},"id":"c"}]'
    assert form.notes == ("cut_stream", "tool_calls_only")


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ({"type": "response.output_text.done", "item_id": "m", "text": ANSWER}, ANSWER),
        ({"type": "response.refusal.done", "item_id": "m", "refusal": "No."}, "No."),
        (
            {"type": "response.content_part.done", "item_id": "m", "part": {"type": "output_text", "text": ANSWER}},
            ANSWER,
        ),
        ({"type": "response.completed", "response": {"output": [{"type": "message", "content": ANSWER}]}}, ANSWER),
    ],
)
def test_one_event_alone(event, text):
    assert normalize_response(event).text == text


def test_an_error_in_the_place_of_a_stream():
    for events in (
        [{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, {"type": "message_stop"}],
        [{"type": "response.created", "response": {}}, {"type": "error", "message": "no"}],
        [
            {
                "type": "response.failed",
                "response": {"status": "failed", "error": {"code": "server_error"}, "output": []},
            }
        ],
    ):
        assert normalize_response({"sse": events}).fault.code == "upstream_error"


def test_an_error_in_the_middle_of_a_stream_cuts_it_off():
    events = [*STREAMS["responses agent"][0][:2], {"type": "error", "message": "no"}]
    form = normalize_response(events)
    assert (form.text, form.notes) == (ANSWER, ("cut_stream",))


def test_broken_data_is_left_out():
    events = [{"data": '{"a": 1}}'}, *({"data": event} for event in STREAMS["assistants"][0]), {"data": "[DONE]"}]
    assert normalize_response({"sse": events}).text == ANSWER
    assert normalize_response('data: {"a": 1}}\n\n' + as_text(STREAMS["chat"][0])).text == ANSWER


def test_a_whole_response_as_the_only_event():
    body = {"candidates": [{"content": {"parts": [{"text": ANSWER}]}, "finishReason": "STOP"}]}
    assert normalize_response({"sse": [{"data": body}]})[1:4:2] == (ANSWER, ())
    assert normalize_response([body]).text == ANSWER


def test_a_writers_pieces():
    assert normalize_response({"sse": [{"data": {"value": "At"}}, {"data": {"value": " six."}}]}).text == ANSWER


@pytest.mark.parametrize("name", LANGCHAIN_STREAMS)
@pytest.mark.parametrize(
    ("pack", "parsed"),
    [
        (list, ()),
        (lambda chunks: {"output": chunks}, ()),
        (lambda chunks: {"response": chunks}, ()),
        (wrapped, ()),
        (json.dumps, ("parsed_json_string",)),
        (as_lines, ("parsed_event_stream",)),
    ],
)
def test_message_chunks_of_langchain_are_joined(name, pack, parsed):
    """They mark no end, so that none of them counts as cut off."""
    chunks, text, tokens = LANGCHAIN_STREAMS[name]
    form = normalize_response(pack(chunks))
    assert (form.text, form.notes) == (text, parsed)
    assert (form.usage and (form.usage.input_tokens, form.usage.output_tokens)) == tokens
    assert normalize_response(form.canonical).canonical == form.canonical


@pytest.mark.parametrize("name", LANGCHAIN_STREAMS)
def test_message_chunks_are_of_one_format(name):
    chunks = LANGCHAIN_STREAMS[name][0]
    assert RESPONSES.claims(chunks) == ["stream"]
    for chunk in chunks:
        assert len([form.name for form in STREAM_FORMATS if form.claims(chunk)]) <= 1


def test_a_conversation_may_end_with_a_chunk():
    assert normalize_response([{"type": "human", "content": "When?"}, message_chunk(ANSWER)])[1:4] == (ANSWER, None, ())


def call_chunk(args, **fields):
    return message_chunk("", tool_call_chunks=[{"args": args, "type": "tool_call_chunk", **fields}])


@pytest.mark.parametrize(
    ("chunks", "text"),
    [
        (
            [call_chunk("", name="hours", id="c", index=0), call_chunk('{"a":', index=0), call_chunk("1}", index=0)],
            '[{"function":{"arguments":"{\\"a\\":1}","name":"hours"},"id":"c"}]',
        ),
        (  # without an index each is a whole call
            [call_chunk("{}", name="f", id="c", index=None), call_chunk("{}", name="g", id="d", index=None)],
            '[{"function":{"arguments":"{}","name":"f"},"id":"c"},{"function":{"arguments":"{}","name":"g"},"id":"d"}]',
        ),
        (
            [
                message_chunk("", additional_kwargs={"tool_calls": [{"index": 0, "id": "c", "function": piece}]})
                for piece in ({"name": "f", "arguments": "{"}, {"arguments": "}"})
            ],
            '[{"function":{"arguments":"{}","name":"f"},"id":"c"}]',
        ),
    ],
)
def test_streamed_calls_of_langchain(chunks, text):
    form = normalize_response(chunks)
    assert (form.text, form.notes) == (text, ("tool_calls_only",))


def test_parts_of_langchain_that_are_no_text():
    thought = {"type": "thinking", "thinking": "Hm.", "index": 0}
    form = normalize_response([message_chunk([thought]), message_chunk([thought]), message_chunk([block("At", 1)])])
    assert (form.text, form.notes) == ("At", ("reasoning_not_shown",))
    call = {"type": "input_json_delta", "partial_json": "{}", "index": 1}
    form = normalize_response([message_chunk([block("At")]), message_chunk([call]), message_chunk(" six.")])
    assert (form.text, form.notes) == (ANSWER, ())


def test_a_filter_stops_a_stream_of_langchain():
    end = message_chunk("", response_metadata={"finish_reason": "content_filter"})
    assert normalize_response([message_chunk("At"), end]).notes == ("content_filtered",)
    assert normalize_response([message_chunk(""), end]).fault.code == "blocked"


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize(
    "pack",
    [
        lambda events: [f"data: {json.dumps(event)}" for event in events],
        lambda events: [f"data:{json.dumps(event)}\n\n" for event in events],
        lambda events: [line for event in events for line in ("event: x", f"data: {json.dumps(event)}", "")],
        lambda events: [as_text(events[:1]).removesuffix("data: [DONE]\n\n"), as_text(events[1:])],
        lambda events: [as_text(events)],
    ],
)
def test_lines_of_events_are_joined(name, pack):
    events, tokens = STREAMS[name]
    form = normalize_response(pack(events))
    assert (form.text, form.notes) == (ANSWER, ("reasoning_not_shown",) if name in REASONED else ())
    assert (form.usage and (form.usage.input_tokens, form.usage.output_tokens)) == tokens


def test_lines_end_with_the_mark_of_the_end():
    lines = ["data: " + json.dumps(chat("At")), "data: " + json.dumps(chat(" six."))]
    assert normalize_response(lines)[1:4] == (ANSWER, None, ("cut_stream",))
    assert normalize_response([*lines, "data: [DONE]"])[1:4] == (ANSWER, None, ())
    assert normalize_response(json.dumps([*lines, "data: [DONE]"])).notes == ("parsed_json_string",)


@pytest.mark.parametrize("lines", [["data: a", "data: b"], ["data: {}", "data: {"], ["id: 1"], ["a", "data: [DONE]"]])
def test_lines_of_something_else_are_kept(lines):
    form = normalize_response(lines)
    assert form.text == (lines[0] if len(lines) == 1 else json.dumps(lines, separators=(",", ":")))
