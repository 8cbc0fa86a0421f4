"""Bodies in every known shape, written for these tests: what a request asks, and what a response answers."""

ASK = "When does station 12 open?"
ANSWER = "At six."
CALL = {"id": "c1", "type": "function", "function": {"name": "hours", "arguments": '{"station":12}'}}


def turn(role, content):
    return {"role": role, "content": content}


def langchain(name, content, **kwargs):
    return {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", name],
        "kwargs": {"content": content, **kwargs},
    }


BEFORE = [("system", "Be brief."), ("user", "Hello"), ("assistant", "Hi!")]
PLAIN_BEFORE = [turn(role, text) for role, text in BEFORE]

# name: (body, turns before the question, notes); every one asks ASK.
REQUESTS = {
    "chat": ({"model": "m", "messages": [*PLAIN_BEFORE, turn("user", ASK)]}, BEFORE, ()),
    "chat parts": (
        {"messages": [turn("user", [{"type": "text", "text": "When does"}, {"type": "text", "text": "it open?"}])]},
        [],
        (),
    ),
    "chat with a picture": (
        {
            "messages": [
                turn("user", [{"type": "text", "text": ASK}, {"type": "image_url", "image_url": {"url": "https://x"}}])
            ]
        },
        [],
        ("non_text_part",),
    ),
    "chat after tool calls": (
        {
            "messages": [
                turn("user", ASK),
                {"role": "assistant", "content": None, "tool_calls": [CALL]},
                {"role": "tool", "content": "6:00", "tool_call_id": "c1"},
            ]
        },
        [],
        ("later_turns_not_shown",),
    ),
    "developer": (
        {"messages": [turn("developer", "Be brief."), turn("user", ASK)]},
        [("developer", "Be brief.")],
        (),
    ),
    "anthropic": (
        {
            "system": [{"type": "text", "text": "Be brief."}],
            "messages": [turn("user", [{"type": "text", "text": ASK}])],
        },
        [("system", "Be brief.")],
        (),
    ),
    "anthropic tool result": (
        {
            "messages": [
                turn("user", ASK),
                turn("assistant", [{"type": "tool_use", "id": "t", "name": "hours", "input": {}}]),
                turn("user", [{"type": "tool_result", "tool_use_id": "t", "content": "6:00"}]),
            ]
        },
        [],
        ("later_turns_not_shown",),
    ),
    "responses": ({"model": "m", "instructions": "Be brief.", "input": ASK}, [("system", "Be brief.")], ()),
    "responses items": (
        {
            "input": [
                turn("user", "Hello"),
                {"type": "reasoning", "id": "r", "summary": [], "content": []},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi!"}]},
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ASK}]},
            ]
        },
        [("user", "Hello"), ("assistant", "Hi!")],
        ("reasoning_not_shown",),
    ),
    "responses input part": ({"input": [{"type": "input_text", "text": ASK}]}, [], ()),
    "responses input parts": (
        {
            "input": [
                turn("assistant", "Hi!"),
                {"type": "input_text", "text": "When does"},
                {"type": "input_text", "text": "it open?"},
                {"type": "input_image", "image_url": "https://x"},
            ]
        },
        [("assistant", "Hi!")],
        ("non_text_part",),
    ),
    "agent": ({"request": {"input": [turn("user", ASK)]}, "custom_inputs": {}}, [], ()),
    "chat agent": (
        {"messages": [{"role": "user", "content": ASK, "id": "1"}], "context": {"conversation_id": "c"}},
        [],
        (),
    ),
    "assistants thread": (
        {"assistant_id": "a", "instructions": "Be brief.", "thread": {"messages": [turn("user", ASK)]}},
        [("system", "Be brief.")],
        (),
    ),
    "assistants run": ({"assistant_id": "a", "additional_messages": [turn("user", ASK)]}, [], ()),
    "assistants message": ({"role": "user", "content": ASK, "attachments": []}, [], ()),
    "thread message": (
        {
            "object": "thread.message",
            "role": "user",
            "content": [{"type": "text", "text": {"value": ASK, "annotations": []}}],
        },
        [],
        (),
    ),
    "tool outputs": (
        {"tool_outputs": [{"tool_call_id": "c1", "output": ASK}]},
        [],
        ("no_user_turn",),
    ),
    "completion": ({"model": "m", "prompt": ASK}, [], ()),
    "completion of one prompt": ({"model": "m", "prompt": [ASK], "stream": True}, [], ()),
    "converse": (
        {
            "system": [{"text": "Be brief."}],
            "messages": [turn("user", [{"text": ASK}, {"cachePoint": {"type": "default"}}])],
        },
        [("system", "Be brief.")],
        (),
    ),
    "converse guarded": (
        {"messages": [turn("user", [{"guardContent": {"text": {"text": ASK, "qualifiers": ["query"]}}}])]},
        [],
        (),
    ),
    "titan": ({"inputText": ASK, "textGenerationConfig": {}}, [], ()),
    "llama": ({"prompt": ASK, "max_gen_len": 9}, [], ()),
    "knowledge base": ({"input": {"text": ASK}, "retrieveAndGenerateConfiguration": {}}, [], ()),
    "retrieval": ({"retrievalQuery": {"text": ASK}}, [], ()),
    "gemini": (
        {
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "Hello"}]},
                {"role": "model", "parts": [{"text": "Hi!"}]},
                {"role": "user", "parts": [{"text": ASK}]},
            ],
        },
        BEFORE,
        (),
    ),
    "gemini after a call": (
        {
            "contents": [
                {"role": "user", "parts": [{"text": ASK}]},
                {"role": "model", "parts": [{"functionCall": {"name": "hours", "args": {}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "hours", "response": {"open": "6:00"}}}]},
            ]
        },
        [],
        ("later_turns_not_shown",),
    ),
    "gemini text": ({"contents": ASK}, [], ()),
    "gemini texts": ({"contents": [ASK]}, [], ()),
    "gemini texts and parts": (
        {
            "contents": [
                {"role": "user", "parts": [{"text": "Hello"}]},
                {"functionCall": {"name": "hours", "args": {}}},
                {"functionResponse": {"name": "hours", "response": {"opens": 6}}},
                {"role": "model", "parts": [{"text": "Hi!"}]},
                ASK,
                {"file_data": {"file_uri": "gs://b/f.jpg", "mime_type": "image/jpeg"}},
            ]
        },
        [
            ("user", "Hello"),
            ("assistant", '[{"args":{},"name":"hours"}]'),
            ("tool", '{"opens":6}'),
            ("assistant", "Hi!"),
        ],
        ("tool_calls_only", "non_text_part"),
    ),
    "gemini one turn": ({"contents": {"role": "user", "parts": [{"text": ASK}]}}, [], ()),
    "gemini picture": (
        {"contents": [{"parts": [{"text": ASK}, {"inlineData": {"mimeType": "image/png", "data": "AA=="}}]}]},
        [],
        ("non_text_part",),
    ),
    "cohere": (
        {
            "message": ASK,
            "preamble": "Be brief.",
            "chat_history": [{"role": "USER", "message": "Hello"}, {"role": "CHATBOT", "message": "Hi!"}],
        },
        BEFORE,
        (),
    ),
    "cohere 2": ({"model": "command", "messages": [turn("user", ASK)], "documents": []}, [], ()),
    "ollama": ({"model": "m", "messages": [turn("user", ASK)], "options": {"seed": 1}, "stream": False}, [], ()),
    "ollama generate": ({"model": "m", "prompt": ASK, "system": "Be brief."}, [("system", "Be brief.")], ()),
    "langchain dumps": (
        {
            "messages": [
                [
                    langchain("SystemMessage", "Be brief."),
                    langchain("HumanMessage", "Hello"),
                    langchain("AIMessage", "Hi!"),
                    langchain("HumanMessage", ASK),
                ]
            ]
        },
        BEFORE,
        (),
    ),
    "langchain types": (
        {"messages": [{"type": "ai", "content": "Hi!"}, {"type": "human", "content": ASK}]},
        [("assistant", "Hi!")],
        (),
    ),
    "langchain dicts": ([{"type": "human", "data": {"content": ASK}}], [], ()),
    "langchain pairs": ([["system", "Be brief."], ["human", ASK]], [("system", "Be brief.")], ()),
    "langchain prompt value": (
        {"lc": 1, "id": ["langchain", "ChatPromptValue"], "kwargs": {"messages": [langchain("HumanMessage", ASK)]}},
        [],
        (),
    ),
    "langchain string prompt": ({"lc": 1, "id": ["langchain", "StringPromptValue"], "kwargs": {"text": ASK}}, [], ()),
    "langchain prompts": ({"prompts": [ASK]}, [], ()),
    "langchain history": (
        {"input": ASK, "chat_history": [langchain("HumanMessage", "Hello"), langchain("AIMessage", "Hi!")]},
        BEFORE[1:],
        (),
    ),
    "langserve": ({"input": {"messages": [turn("user", ASK)]}, "config": {}}, [], ()),
    "replicate": ({"version": "v", "input": {"prompt": ASK, "top_k": 1}}, [], ()),
    "batch file": (
        {"custom_id": "1", "method": "POST", "url": "/v1", "body": {"messages": [turn("user", ASK)]}},
        [],
        (),
    ),
    "llama index": (
        {"messages": [{"role": "user", "blocks": [{"block_type": "text", "text": ASK}], "additional_kwargs": {}}]},
        [],
        (),
    ),
    "sharegpt": (
        {
            "conversations": [
                {"from": "system", "value": "Be brief."},
                {"from": "human", "value": "Hello"},
                {"from": "gpt", "value": "Hi!"},
                {"from": "human", "value": ASK},
            ]
        },
        BEFORE,
        (),
    ),
    "conversation": ({"conversation": [turn("user", ASK)]}, [], ()),
    "dialogue questions": ({"turns": ["Hello", ASK]}, [("user", "Hello")], ()),
    "palm": ({"messages": [{"author": "user", "content": ASK}]}, [], ()),
    "aleph alpha": ({"model": "m", "prompt": [{"type": "text", "data": ASK}]}, [], ()),
    "open telemetry": ([{"role": "user", "parts": [{"type": "text", "content": ASK}]}], [], ()),
    "list of one text": ([ASK], [], ()),
    "message in a field": ({"message": turn("user", ASK)}, [], ()),
    "query": ({"query": ASK, "history": [["user", "Hello"], ["assistant", "Hi!"]]}, BEFORE[1:], ()),
    "prompt messages": ({"prompt": [turn("user", ASK)]}, [], ()),
}
ASKED = {
    "chat parts": "When does\nit open?",
    "gemini texts and parts": f"{ASK}\n[image]",
    "responses input parts": "When does\nit open?\n[image]",
    "chat with a picture": f"{ASK}\n[image]",
    "gemini picture": f"{ASK}\n[image]",
}

OPENAI_USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
PARTS = [{"type": "text", "text": "At"}, {"type": "text", "text": "six."}]

# name: (body, notes, tokens: input, output); every one answers ANSWER but for ANSWERED.
RESPONSES = {
    "chat": (
        {"object": "chat.completion", "choices": [{"message": turn("assistant", ANSWER)}], "usage": OPENAI_USAGE},
        (),
        (3, 2),
    ),
    "several choices": (
        {"choices": [{"message": turn("assistant", ANSWER)}, {"message": turn("assistant", "No.")}]},
        ("several_choices",),
        None,
    ),
    "refusal": ({"choices": [{"message": {"content": None, "refusal": ANSWER}}]}, ("refusal",), None),
    "audio": (
        {"choices": [{"message": {"content": None, "audio": {"id": "a", "data": "AA==", "transcript": ANSWER}}}]},
        ("audio_transcript",),
        None,
    ),
    "text beside calls": (
        {"choices": [{"message": {"content": ANSWER, "tool_calls": [CALL]}}]},
        ("tool_calls_not_shown",),
        None,
    ),
    "reasoning content": (
        {"choices": [{"message": {"content": ANSWER, "reasoning_content": "Hm."}}]},
        ("reasoning_not_shown",),
        None,
    ),
    "tool calls": ({"choices": [{"message": {"content": None, "tool_calls": [CALL]}}]}, ("tool_calls_only",), None),
    "function call": (
        {"choices": [{"message": {"content": None, "function_call": {"name": "hours", "arguments": "{}"}}}]},
        ("tool_calls_only",),
        None,
    ),
    "completion": ({"object": "text_completion", "choices": [{"text": ANSWER, "index": 0}]}, (), None),
    "responses": (
        {
            "object": "response",
            "status": "completed",
            "output": [
                {"type": "reasoning", "summary": []},
                {"type": "function_call", "name": "hours", "arguments": "{}"},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me see."}]},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]},
            ],
            "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
        },
        ("reasoning_not_shown", "several_messages", "tool_calls_not_shown"),
        (3, 2),
    ),
    "responses refusal": (
        {"output": [{"type": "message", "content": [{"type": "refusal", "refusal": ANSWER}]}]},
        ("refusal",),
        None,
    ),
    "responses picture": ({"output": [{"type": "image_generation_call", "result": "AA=="}]}, ("non_text_part",), None),
    "output items": (
        [
            {"type": "reasoning"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]},
        ],
        ("reasoning_not_shown",),
        None,
    ),
    "assistants message": (
        {
            "object": "thread.message",
            "role": "assistant",
            "content": [{"type": "text", "text": {"value": ANSWER, "annotations": []}}],
        },
        (),
        None,
    ),
    "assistants page": (
        {
            "object": "list",
            "data": [
                {
                    "object": "thread.message",
                    "role": "assistant",
                    "content": [{"type": "text", "text": {"value": ANSWER}}],
                },
                {
                    "object": "thread.message",
                    "role": "assistant",
                    "content": [{"type": "text", "text": {"value": "Hi!"}}],
                },
                {"object": "thread.message", "role": "user", "content": [{"type": "text", "text": {"value": "Hello"}}]},
            ],
        },
        (),
        None,
    ),
    "assistants action": (
        {
            "object": "thread.run",
            "status": "requires_action",
            "required_action": {"submit_tool_outputs": {"tool_calls": [CALL]}},
        },
        ("tool_calls_only",),
        None,
    ),
    "anthropic": (
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "Hm."}, *PARTS, {"type": "tool_use", "name": "hours"}],
            "usage": {"input_tokens": 3, "cache_read_input_tokens": 7, "output_tokens": 2},
        },
        ("reasoning_not_shown", "tool_calls_not_shown"),
        (3, 2),
    ),
    "anthropic citations": (
        {"content": [PARTS[0], {**PARTS[1], "citations": [{"type": "char_location", "cited_text": "6:00"}]}]},
        (),
        None,
    ),
    "anthropic completion": ({"type": "completion", "completion": ANSWER, "stop_reason": "stop_sequence"}, (), None),
    "converse": (
        {
            "output": {"message": {"role": "assistant", "content": [{"text": ANSWER}]}},
            "stopReason": "end_turn",
            "usage": {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5},
        },
        (),
        (3, 2),
    ),
    "converse call": (
        {"output": {"message": {"role": "assistant", "content": [{"toolUse": {"name": "hours", "input": {}}}]}}},
        ("tool_calls_only",),
        None,
    ),
    "converse masked": (
        {"output": {"message": {"content": [{"text": ANSWER}]}}, "stopReason": "guardrail_intervened"},
        ("content_filtered",),
        None,
    ),
    "titan": (
        {"inputTextTokenCount": 3, "results": [{"tokenCount": 2, "outputText": ANSWER, "completionReason": "FINISH"}]},
        (),
        (3, 2),
    ),
    "llama": (
        {"generation": ANSWER, "prompt_token_count": 3, "generation_token_count": 2, "stop_reason": "stop"},
        (),
        (3, 2),
    ),
    "mistral on bedrock": ({"outputs": [{"text": ANSWER, "stop_reason": "stop"}]}, (), None),
    "ai21": ({"id": 1, "prompt": {"text": ASK}, "completions": [{"data": {"text": ANSWER, "tokens": []}}]}, (), None),
    "aleph alpha": ({"completions": [{"completion": ANSWER}], "model_version": "1"}, (), None),
    "watsonx": (
        {"model_id": "m", "results": [{"generated_text": ANSWER, "input_token_count": 3, "generated_token_count": 2}]},
        (),
        (3, 2),
    ),
    "knowledge base": (
        {
            "output": {"text": ANSWER},
            "citations": [
                {
                    "retrievedReferences": [
                        {
                            "content": {"text": "Opens 6:00."},
                            "location": {"s3Location": {"uri": "s3://b/k"}, "type": "S3"},
                        }
                    ]
                }
            ],
            "sessionId": "s",
        },
        (),
        None,
    ),
    "gemini": (
        {
            "candidates": [
                {
                    "content": {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": ANSWER}]},
                    "index": 0,
                }
            ],
            "usageMetadata": {
                "promptTokenCount": 3,
                "candidatesTokenCount": 2,
                "thoughtsTokenCount": 9,
                "totalTokenCount": 14,
            },
        },
        ("reasoning_not_shown",),
        (3, 2),
    ),
    "gemini call": (
        {"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "hours", "args": {}}}]}}]},
        ("tool_calls_only",),
        None,
    ),
    "gemini code": (
        {
            "candidates": [
                {
                    "content": {
                        "parts": [
                            {"executableCode": {"language": "PYTHON", "code": "1"}},
                            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
                            {"text": ANSWER},
                        ]
                    }
                }
            ]
        },
        ("tool_calls_not_shown",),
        None,
    ),
    "gemini content": ({"content": {"role": "model", "parts": [{"text": ANSWER}]}}, (), None),
    "interaction": (
        {
            "object": "interaction",
            "steps": [
                {"type": "thought", "signature": "s"},
                {"type": "model_output", "content": [{"type": "text", "text": ANSWER}]},
            ],
            "usage": {"total_input_tokens": 3, "total_output_tokens": 2, "total_tokens": 9},
        },
        ("reasoning_not_shown",),
        (3, 2),
    ),
    "palm": ({"predictions": [{"candidates": [{"author": "1", "content": ANSWER}]}]}, (), None),
    "cohere": (
        {"text": ANSWER, "generation_id": "g", "meta": {"tokens": {"input_tokens": 3, "output_tokens": 2}}},
        (),
        (3, 2),
    ),
    "cohere 2": (
        {
            "id": "c",
            "message": {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
            "finish_reason": "COMPLETE",
            "usage": {
                "billed_units": {"input_tokens": 1, "output_tokens": 1},
                "tokens": {"input_tokens": 3, "output_tokens": 2},
            },
        },
        (),
        (3, 2),
    ),
    "cohere generate": ({"generations": [{"id": "g", "text": ANSWER}], "prompt": ASK}, (), None),
    "ollama": (
        {"message": turn("assistant", ANSWER), "done": True, "prompt_eval_count": 3, "eval_count": 2},
        (),
        (3, 2),
    ),
    "ollama generate": ({"response": ANSWER, "done": True, "prompt_eval_count": 3, "eval_count": 2}, (), (3, 2)),
    "langchain dump": (
        langchain("AIMessage", ANSWER, usage_metadata={"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}),
        (),
        (3, 2),
    ),
    "langchain type": (
        {
            "type": "ai",
            "content": ANSWER,
            "response_metadata": {"token_usage": OPENAI_USAGE},
        },
        (),
        (3, 2),
    ),
    "langchain chunk": ({"type": "AIMessageChunk", "content": ANSWER, "tool_call_chunks": []}, (), None),
    "langchain chunks": (
        [
            {"type": "AIMessageChunk", "content": "At"},
            {
                "type": "AIMessageChunk",
                "content": [{"type": "text", "text": " six."}],
                "usage_metadata": {"input_tokens": 3, "output_tokens": 2},
            },
        ],
        (),
        (3, 2),
    ),
    "langchain dict": ({"type": "ai", "data": {"content": ANSWER}}, (), None),
    "langchain calls": (langchain("AIMessage", "", tool_calls=[CALL]), ("tool_calls_only",), None),
    "langchain result": (
        {
            "generations": [[{"text": ANSWER, "message": langchain("AIMessage", ANSWER), "type": "ChatGeneration"}]],
            "llm_output": {"token_usage": OPENAI_USAGE},
        },
        (),
        (3, 2),
    ),
    "langchain texts": ({"generations": [[{"text": ANSWER, "generation_info": None}]]}, (), None),
    "langchain chain": ({"input": ASK, "context": [{"page_content": "Opens 6:00."}], "answer": ANSWER}, (), None),
    "langchain retrieval": ({"query": ASK, "result": ANSWER, "source_documents": []}, (), None),
    "langserve": ({"output": langchain("AIMessage", ANSWER), "metadata": {}}, (), None),
    "langserve text": ({"output": ANSWER, "metadata": {}}, (), None),
    "llama index": (
        {
            "message": {"role": "assistant", "blocks": [{"block_type": "text", "text": ANSWER}]},
            "raw": {"usage": OPENAI_USAGE},
        },
        (),
        (3, 2),
    ),
    "llama index query": ({"response": ANSWER, "source_nodes": [], "metadata": {}}, (), None),
    "haystack": ({"replies": [ANSWER]}, (), None),
    "haystack message": ({"replies": [{"_role": "assistant", "_content": [{"text": ANSWER}], "_meta": {}}]}, (), None),
    "chat agent": (
        {
            "messages": [
                {"role": "assistant", "content": "", "id": "1", "tool_calls": [CALL]},
                {"role": "tool", "content": "6:00", "id": "2", "tool_call_id": "c1"},
                {"role": "assistant", "content": ANSWER, "id": "3"},
            ]
        },
        (),
        None,
    ),
    "sharegpt": ({"conversations": [{"from": "human", "value": ASK}, {"from": "gpt", "value": ANSWER}]}, (), None),
    "generated text": ({"generated_text": ANSWER, "details": {"generated_tokens": 2}}, (), (None, 2)),
    "generated texts": ([{"generated_text": ANSWER}], (), None),
    "vllm": ({"text": [ANSWER]}, (), None),
    "replicate": ({"id": "p", "status": "succeeded", "version": "v", "output": ["At", " ", "six."]}, (), None),
    "batch file": (
        {"status_code": 200, "request_id": "r", "body": {"choices": [{"message": turn("assistant", ANSWER)}]}},
        (),
        None,
    ),
    "mistral conversation": (
        {
            "object": "conversation.response",
            "outputs": [
                {"type": "tool.execution", "name": "web_search"},
                {"type": "message.output", "content": [{"type": "text", "text": ANSWER}, {"type": "reference"}]},
            ],
            "usage": OPENAI_USAGE,
        },
        ("tool_calls_not_shown",),
        (3, 2),
    ),
    "prediction": ({"predictions": {"messages": [turn("assistant", ANSWER)]}}, (), None),
    "prediction text": ({"predictions": ANSWER}, (), None),
    "palm tokens": (
        {
            "predictions": [{"content": ANSWER}],
            "metadata": {
                "tokenMetadata": {"inputTokenCount": {"totalTokens": 3}, "outputTokenCount": {"totalTokens": 2}}
            },
        },
        (),
        (3, 2),
    ),
    "aleph alpha tokens": (
        {"completions": [{"completion": ANSWER}], "num_tokens_prompt_total": 3, "num_tokens_generated": 2},
        (),
        (3, 2),
    ),
    "dialogue answers": ({"question_id": 1, "choices": [{"index": 0, "turns": ["Hi!", ANSWER]}]}, (), None),
}
ANSWERED = {
    "tool calls": '[{"function":{"arguments":"{\\"station\\":12}","name":"hours"},"id":"c1","type":"function"}]',
    "function call": '{"arguments":"{}","name":"hours"}',
    "converse call": '[{"input":{},"name":"hours"}]',
    "gemini call": '[{"args":{},"name":"hours"}]',
    "responses picture": "[image]",
    "anthropic": "At\nsix.",
    "anthropic citations": "At\nsix.",
}
ANSWERED |= {"assistants action": ANSWERED["tool calls"], "langchain calls": ANSWERED["tool calls"]}
