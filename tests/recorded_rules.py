"""Simple rules, one an interface, for what recorded bodies say: written from the interfaces' documents alone.

Each rule gives the last question, the answer (null where there is none) and the tokens as reported (input, output).
"""

import json
import re


def compact(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def events(response):
    """The data of a recorded stream, in order; data that is no JSON is left out."""
    found = []
    for event in response["sse"]:
        data = event["data"]
        if isinstance(data, str):
            try:
                data = json.loads(data)
            except ValueError:
                continue
        if isinstance(data, dict):
            found.append(data)
    return found


def counts(usage, given, made):
    return (usage or {}).get(given), (usage or {}).get(made)


def openai_content(content):
    if isinstance(content, str) or content is None:
        return content or ""
    texts = []
    for part in content:
        if part["type"] in ("image_url", "image", "input_image"):
            texts.append("[image]")
        elif part["type"] in ("input_file", "document"):
            texts.append("[file]")
        elif "text" in part:
            text = part["text"]
            texts.append(text["value"] if isinstance(text, dict) else text)
    return "\n".join(texts)


def last_user(messages):
    """Without a turn of the user, the last one that is not the system's."""
    asked = [message for message in messages if message["role"] == "user"]
    asked = asked or [message for message in messages if message["role"] not in ("system", "developer")]
    return openai_content(asked[-1]["content"])


def chat(request, response):
    question = last_user(request["messages"]) if "messages" in request else None
    if "sse" in response:
        chunks = events(response)
        deltas = [
            choice["delta"]
            for chunk in chunks
            for choice in chunk.get("choices", [])
            if choice.get("index", 0) == 0 and "delta" in choice
        ]
        answer = "".join(delta.get("content") or "" for delta in deltas)
        if not answer.strip():
            arguments = "".join(
                call["function"].get("arguments") or ""
                for delta in deltas
                for call in delta.get("tool_calls") or []
                if call.get("index", 0) == 0
            )
            answer = ("calls", arguments)
        usages = [chunk.get("usage") or chunk.get("x_groq", {}).get("usage") for chunk in chunks]
        usage = next((usage for usage in reversed(usages) if usage), None)
    else:
        message = response["choices"][0]["message"]
        answer = message.get("content") or message.get("refusal")
        if not answer:
            answer = compact(message.get("tool_calls") or message["function_call"])
        usage = response.get("usage")
    return question, answer, counts(usage, "prompt_tokens", "completion_tokens")


def completions(request, response):
    prompt = request["prompt"]
    question = prompt if isinstance(prompt, str) else prompt[0]
    usage = None
    if "sse" in response:
        chunks = events(response)
        answer = "".join(
            chunk["value"] if "value" in chunk else "".join(choice["text"] for choice in chunk["choices"])
            for chunk in chunks
        )
        usage = next((chunk["usage"] for chunk in reversed(chunks) if chunk.get("usage")), None)
    else:
        answer, usage = response["choices"][0]["text"], response.get("usage")
    return question, answer, counts(usage, "prompt_tokens", "completion_tokens")


def anthropic(request, response):
    asked = [
        message
        for message in request["messages"]
        if message["role"] == "user"
        and not (isinstance(message["content"], list) and all(p["type"] == "tool_result" for p in message["content"]))
    ]
    question = openai_content(asked[-1]["content"])
    if "sse" in response:
        usage, texts = {}, {}
        for event in events(response):
            if event["type"] == "message_start":
                usage.update(event["message"]["usage"])
            elif event["type"] == "message_delta":
                usage.update(event["usage"])
            elif event["type"] == "content_block_delta" and event["delta"]["type"] == "text_delta":
                texts[event["index"]] = texts.get(event["index"], "") + event["delta"]["text"]
        answer = "\n".join(texts.values())
    else:
        usage = response["usage"]
        answer = "\n".join(part["text"] for part in response["content"] if part["type"] == "text")
        answer = answer or compact(response["content"])
    return question, answer, counts(usage, "input_tokens", "output_tokens")


def anthropic_complete(request, response):
    if "sse" in response:
        answer = "".join(event.get("completion", "") for event in events(response))
    else:
        answer = response["completion"]
    return request["prompt"], answer, (None, None)


def converse(request, response):
    def said(content):
        texts = []
        for part in content:
            if "text" in part:
                texts.append(part["text"])
            elif "guardContent" in part:
                texts.append(part["guardContent"]["text"]["text"])
        return "\n".join(texts)

    question = said([message for message in request["messages"] if message["role"] == "user"][-1]["content"])
    content = response["output"]["message"]["content"]
    answer = said(content) or compact([part["toolUse"] for part in content])
    return question, answer, counts(response.get("usage"), "inputTokens", "outputTokens")


def bedrock_model(request, response):
    if "messages" in request:
        return converse(request, response) if "output" in response else anthropic(request, response)
    if "inputText" in request:
        result = response["results"][0]
        return request["inputText"], result["outputText"], (response["inputTextTokenCount"], result["tokenCount"])
    if "generation" in response:
        made = response["prompt_token_count"], response["generation_token_count"]
        return request["prompt"], response["generation"], made
    if "completions" in response:
        return request["prompt"], response["completions"][0]["data"]["text"], (None, None)
    if "generations" in response:
        return request["prompt"], response["generations"][0]["text"], (None, None)
    if "completion" in response:
        return request["prompt"], response["completion"], (None, None)
    return completions(request, response)


def gemini(request, response):
    def shown(parts):
        return [part["text"] for part in parts if "text" in part and not part.get("thought")]

    asked = []
    for content in request["contents"]:
        names = []
        for part in content["parts"]:
            if "text" in part:
                names.append(part["text"])
            elif "inlineData" in part or "fileData" in part:
                names.append("[image]")
        if content["role"] == "user" and names:
            asked.append("\n".join(names))
    if isinstance(response, list):
        response = response[0]
    if "sse" in response:
        chunks = events(response)
        parts = [part for chunk in chunks for part in chunk["candidates"][0]["content"].get("parts", [])]
        answer = ""
        for before, part in zip([{}, *parts], parts, strict=False):
            if shown([part]):  # a piece of the text before it, but after code that the model ran
                answer += ("\n" if answer and not shown([before]) else "") + part["text"]
        usage = chunks[-1]["usageMetadata"]
    else:
        parts = response["candidates"][0]["content"].get("parts", [])
        answer, usage = "\n".join(shown(parts)), response["usageMetadata"]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    if not answer and calls:
        answer = compact(calls)
    return asked[-1], answer, counts(usage, "promptTokenCount", "candidatesTokenCount")


def interactions(request, response):
    if response.get("status") == "in_progress":
        return request["input"], None, (None, None)
    if "sse" in response:
        found = events(response)
        answer = "".join(event["delta"].get("text", "") for event in found if event["event_type"] == "step.delta")
        usage = found[-1]["interaction"]["usage"]
    else:
        answer, usage = response["steps"][-1]["content"][0]["text"], response["usage"]
    return request["input"], answer, counts(usage, "total_input_tokens", "total_output_tokens")


def ollama(request, response):
    message = response["message"]
    answer = message["content"] or compact(message["tool_calls"])
    return last_user(request["messages"]), answer, counts(response, "prompt_eval_count", "eval_count")


def responses(request, response):
    given = request["input"]
    if isinstance(given, str):
        question = given
    else:
        asked = [item for item in given if item.get("role") == "user"]
        # A continuation brings results of tools and no question: the last of them stands for it.
        question = openai_content(asked[-1]["content"]) if asked else given[-1]["output"]
    if "sse" in response:
        done = [event["response"] for event in events(response) if event["type"] == "response.completed"]
        response = done[0]
    messages = [item for item in response["output"] if item["type"] == "message"]
    if messages:
        answer = "\n".join(part.get("text", part.get("refusal")) for part in messages[-1]["content"])
    else:
        answer = compact([item for item in response["output"] if item["type"].endswith("_call")])
    return question, answer, counts(response["usage"], "input_tokens", "output_tokens")


def knowledge_base(request, response):
    return request["input"]["text"], response["output"]["text"], (None, None)


def thread_message(request, response):
    return request["content"], None, (None, None)


def run(request, response):
    messages = request.get("thread", {}).get("messages") or request.get("additional_messages")
    if request.get("tool_outputs"):
        question = request["tool_outputs"][-1]["output"]
    else:
        question = openai_content(messages[-1]["content"]) if messages else None
    usage = None
    answer = None
    if "sse" in response:
        for event in events(response):
            if event["object"] == "thread.message" and event["status"] == "completed":
                answer = openai_content(event["content"])
            if event["object"].startswith("thread.run") and event.get("usage"):
                usage = event["usage"]
    return question, answer, counts(usage, "prompt_tokens", "completion_tokens")


# By the path of the call; the first that matches counts.
RULES = [
    (r"/chat/completions$|/completions$", lambda q, a: chat(q, a) if "messages" in q or "variables" in q else None),
    (r"/completions$", completions),
    (r"/v1/messages$", anthropic),
    (r"/v1/complete$", anthropic_complete),
    (r"/converse$", converse),
    (r"/model/[^/]+/invoke$", bedrock_model),
    (r"eamGenerateContent$|enerateContent$|googleapis\.com$", gemini),
    (r"/interactions$", interactions),
    (r"/api/chat$", ollama),
    (r"/v1/responses$", responses),
    (r"/retrieveAndGenerate$", knowledge_base),
    (r"/threads/[^/]+/messages$", thread_message),
    (r"/runs$|/submit_tool_outputs$", run),
]


def expected(recording):
    """The question, answer and tokens of a recorded call; null for a call that asks no model anything."""
    for pattern, rule in RULES:
        if re.search(pattern, recording["path"]):
            found = rule(recording["request"], recording["response"])
            if found is not None:
                return found
    return None
