"""Streams in every known format, written for these tests; each says ANSWER and comes to its end."""

import base64
import json

ANSWER = "At six."


def chat(content=None, reason=None, **fields):
    delta = {} if content is None else {"content": content}
    return {"choices": [{"index": 0, "delta": {**delta, **fields}, "finish_reason": reason}]}


def coded(event):
    return {"chunk": {"bytes": base64.b64encode(json.dumps(event).encode()).decode()}}


# name: (events, tokens). The last event is the end: without it the stream is cut off.
STREAMS = {
    "chat": ([chat("At", role="assistant"), chat(" six."), chat(reason="stop")], None),
    "chat with usage": (
        [chat("At"), chat(" six."), {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}],
        (3, 2),
    ),
    "chat of groq": (
        [
            chat("At"),
            chat(" six."),
            {**chat(reason="stop"), "x_groq": {"usage": {"prompt_tokens": 3, "completion_tokens": 2}}},
        ],
        (3, 2),
    ),
    "azure": ([{"choices": [], "prompt_filter_results": []}, chat("At"), chat(" six."), chat(reason="stop")], None),
    "completion": (
        [
            {"choices": [{"text": "At", "index": 0}]},
            {"choices": [{"text": " six.", "index": 0, "finish_reason": "stop"}]},
        ],
        None,
    ),
    "chat agent": (
        [
            {"delta": {"role": "assistant", "content": "Let me see.", "id": "1"}},
            {"delta": {"role": "tool", "content": "6:00", "id": "2"}},
            {"delta": {"role": "assistant", "content": "At", "id": "3"}},
            {"delta": {"role": "assistant", "content": " ", "id": "3"}},
            {"delta": {"role": "assistant", "content": "six.", "id": "3"}, "finish_reason": "stop"},
        ],
        None,
    ),
    "responses": (
        [
            {"type": "response.created", "response": {"id": "r", "output": []}},
            {"type": "response.output_text.delta", "item_id": "m", "delta": "At"},
            {"type": "response.output_text.delta", "item_id": "m", "delta": " six."},
            {
                "type": "response.completed",
                "response": {
                    "output": [{"type": "message", "content": [{"type": "output_text", "text": ANSWER}]}],
                    "usage": {"input_tokens": 3, "output_tokens": 2},
                },
            },
        ],
        (3, 2),
    ),
    "responses agent": (
        [
            {"type": "response.output_text.delta", "item_id": "m", "delta": "At"},
            {"type": "response.output_text.delta", "item_id": "m", "delta": " six."},
            {
                "type": "response.output_item.done",
                "item": {"type": "message", "id": "m", "content": [{"type": "output_text", "text": ANSWER}]},
            },
        ],
        None,
    ),
    "assistants": (
        [
            {"object": "thread.run", "status": "in_progress"},
            {"object": "thread.message", "role": "assistant", "content": []},
            {"object": "thread.message.delta", "id": "m", "delta": {"content": [{"text": {"value": "At"}}]}},
            {"object": "thread.message.delta", "id": "m", "delta": {"content": [{"text": {"value": " six."}}]}},
            {"object": "thread.run", "status": "completed", "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
        ],
        (3, 2),
    ),
    "anthropic": (
        [
            {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 3}}},
            {"type": "ping"},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
            {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "At"}},
            {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": " six."}},
            {"type": "content_block_stop", "index": 1},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        ],
        (3, 2),
    ),
    "anthropic completion": (
        [
            {"type": "completion", "completion": "At", "stop_reason": None},
            {"type": "completion", "completion": " six.", "stop_reason": None},
            {"type": "completion", "completion": "", "stop_reason": "stop_sequence"},
        ],
        None,
    ),
    "gemini": (
        [
            {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hm.", "thought": True}]}}]},
            {"candidates": [{"content": {"role": "model", "parts": [{"text": "At"}]}}]},
            {"candidates": [{"content": {"role": "model", "parts": [{"text": " six."}]}}]},
            {
                "candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}],
                "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2},
            },
        ],
        (3, 2),
    ),
    "interaction": (
        [
            {"event_type": "interaction.created", "interaction": {"object": "interaction"}},
            {"event_type": "step.start", "index": 0, "step": {"type": "thought"}},
            {"event_type": "step.start", "index": 1, "step": {"type": "model_output"}},
            {"event_type": "step.delta", "index": 1, "delta": {"type": "text", "text": "At"}},
            {"event_type": "step.delta", "index": 1, "delta": {"type": "text", "text": " six."}},
            {
                "event_type": "interaction.completed",
                "interaction": {"usage": {"total_input_tokens": 3, "total_output_tokens": 2}},
            },
        ],
        (3, 2),
    ),
    "converse": (
        [
            {"messageStart": {"role": "assistant"}},
            {"contentBlockDelta": {"delta": {"text": "At"}, "contentBlockIndex": 0}},
            {"contentBlockDelta": {"delta": {"text": " six."}, "contentBlockIndex": 0}},
            {"contentBlockStop": {"contentBlockIndex": 0}},
            {"metadata": {"usage": {"inputTokens": 3, "outputTokens": 2}}},
            {"messageStop": {"stopReason": "end_turn"}},
        ],
        (3, 2),
    ),
    "titan in chunks": (
        [
            coded({"outputText": "At", "index": 0, "totalOutputTextTokenCount": None, "inputTextTokenCount": 3}),
            coded({"outputText": " six.", "index": 0, "completionReason": "FINISH", "inputTextTokenCount": 3}),
        ],
        (3, None),
    ),
    "llama": (
        [
            {"generation": "At", "prompt_token_count": 3, "generation_token_count": 1, "stop_reason": None},
            {"generation": " six.", "prompt_token_count": 3, "generation_token_count": 2, "stop_reason": "stop"},
        ],
        (3, 2),
    ),
    "mistral": (
        [{"outputs": [{"text": "At", "stop_reason": None}]}, {"outputs": [{"text": " six.", "stop_reason": "stop"}]}],
        None,
    ),
    "cohere": (
        [
            {"event_type": "stream-start", "is_finished": False},
            {"event_type": "text-generation", "is_finished": False, "text": "At"},
            {"event_type": "text-generation", "is_finished": False, "text": " six."},
            {
                "event_type": "stream-end",
                "is_finished": True,
                "response": {"text": ANSWER, "meta": {"tokens": {"input_tokens": 3, "output_tokens": 2}}},
            },
        ],
        (3, 2),
    ),
    "cohere 2": (
        [
            {"type": "message-start", "delta": {"message": {"role": "assistant"}}},
            {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}},
            {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "At"}}}},
            {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": " six."}}}},
            {"type": "message-end", "delta": {"usage": {"tokens": {"input_tokens": 3, "output_tokens": 2}}}},
        ],
        (3, 2),
    ),
    "ollama": (
        [
            {"message": {"role": "assistant", "content": "At"}, "done": False},
            {"message": {"role": "assistant", "content": " six."}, "done": False},
            {"message": {"content": ""}, "done": True, "prompt_eval_count": 3, "eval_count": 2},
        ],
        (3, 2),
    ),
    "ollama generate": (
        [
            {"response": "At", "done": False},
            {"response": " six.", "done": False},
            {"response": "", "done": True, "prompt_eval_count": 3, "eval_count": 2},
        ],
        (3, 2),
    ),
    "text generation": (
        [
            {"token": {"text": "At", "special": False}, "generated_text": None},
            {"token": {"text": " six.", "special": False}, "generated_text": None},
            {"token": {"text": "</s>", "special": True}, "generated_text": ANSWER, "details": {"generated_tokens": 2}},
        ],
        (None, 2),
    ),
    "replicate": (
        [
            {"event": "output", "data": "At"},
            {"event": "output", "data": " six."},
            {"event": "done", "data": {}},
        ],
        None,
    ),
    "watsonx": (
        [
            {"results": [{"generated_text": "At", "input_token_count": 3, "generated_token_count": 1}]},
            {"results": [{"generated_text": " six.", "input_token_count": 0, "stop_reason": "not_finished"}]},
            {
                "results": [
                    {
                        "generated_text": "",
                        "input_token_count": 0,
                        "generated_token_count": 2,
                        "stop_reason": "eos_token",
                    }
                ]
            },
        ],
        (3, 2),
    ),
    "ai sdk": (
        [
            {"type": "text-start", "id": "0"},
            {"type": "text-delta", "id": "0", "delta": "At"},
            {"type": "text-delta", "id": "0", "delta": " six."},
            {"type": "finish"},
        ],
        None,
    ),
}
REASONED = {"anthropic", "gemini", "interaction"}
# Message chunks of LangChain: (chunks, their text, input and output tokens). Most mark no end.
_IN_TWO_PLACES = [
    {"usage_metadata": {"input_tokens": 3, "output_tokens": 0, "total_tokens": 3}},
    {"usage_metadata": {"input_tokens": 0, "output_tokens": 2, "total_tokens": 2}},
]


def dumped(content, **kwargs):
    path = ["langchain", "schema", "messages", "AIMessageChunk"]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": {"content": content, **kwargs}}


def message_chunk(content, **fields):
    return {"content": content, "type": "AIMessageChunk", **fields}


def block(text, index=0):
    return {"type": "text", "text": text, "index": index}


LANGCHAIN_STREAMS = {
    "texts": ([message_chunk("At"), message_chunk(" six."), message_chunk("")], ANSWER, None),
    "usage": (
        [message_chunk("At"), message_chunk(" six.", usage_metadata={"input_tokens": 3, "output_tokens": 2})],
        ANSWER,
        (3, 2),
    ),
    "usage of each direction": (
        [message_chunk("At", **_IN_TWO_PLACES[0]), message_chunk(" six.", **_IN_TWO_PLACES[1])],
        ANSWER,
        (3, 2),
    ),
    "dumps": ([dumped("At"), dumped(" six.", usage_metadata={"input_tokens": 3, "output_tokens": 2})], ANSWER, (3, 2)),
    "dicts": ([{"type": "AIMessageChunk", "data": {"content": text}} for text in ("At", " six.")], ANSWER, None),
    "parts": ([message_chunk([]), message_chunk([block("At")]), message_chunk([block(" six.")])], ANSWER, None),
    "parts without numbers": (
        [message_chunk([{"type": "text", "text": text}]) for text in ("At", " six.")],
        ANSWER,
        None,
    ),
    "two blocks": ([message_chunk([block("At")]), message_chunk([block("six.", 1)])], "At\nsix.", None),
    "ids of the run and the provider": (
        [message_chunk("At", id="lc_run--1"), message_chunk(" six", id="msg_1"), message_chunk(".", id="lc_run--1")],
        ANSWER,
        None,
    ),
    "two messages": (
        [
            message_chunk("Let me", id="run-1"),
            message_chunk(" see.", id="run-1"),
            message_chunk("At", id="run-2"),
            message_chunk(" six.", id="run-2"),
        ],
        ANSWER,
        None,
    ),
    "an agent's": (
        [
            message_chunk("Let me see."),
            {"type": "tool", "content": "6:00", "tool_call_id": "c1"},
            message_chunk("At"),
            message_chunk(" six."),
        ],
        ANSWER,
        None,
    ),
    "a whole message after chunks": (
        [message_chunk("Let me see."), {"type": "ai", "content": ANSWER}],
        ANSWER,
        None,
    ),
    "a result after the answer": (
        [message_chunk("At"), message_chunk(" six."), {"role": "tool", "content": "6:00"}],
        ANSWER,
        None,
    ),
}
