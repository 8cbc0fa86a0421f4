"""Responses of frameworks and model servers, and plain ones.

LangChain (messages, LLMResult, retrieval chains: python.langchain.com), LlamaIndex (docs.llamaindex.ai), Haystack
(docs.haystack.deepset.ai), MLflow ChatAgent (mlflow.org/docs/latest), Ollama (github.com/ollama/ollama, docs/api.md),
text-generation-inference (huggingface.co/docs), Replicate (replicate.com/docs/reference/http); and objects with
`messages`, one message, or one field of text.
"""

from collections.abc import Callable

from beamjudge.schemas.foreign_messages import is_foreign_message, to_message
from beamjudge.schemas.json_text import as_list, has_any, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.messages import ASSISTANT_ROLES, SYSTEM_ROLES, USER_ROLES, is_message, is_spoken_by, message_role
from beamjudge.schemas.responses.forms import are_typed, assistant, choice, first_object, is_text
from beamjudge.schemas.responses.streams import is_stream
from beamjudge.schemas.shapes import LIST, Shape


def _last_assistant(messages: Json) -> Json:
    """The last message of a list that is the assistant's, in the common form; null where there is none."""
    for item in reversed(as_list(messages)):
        if not item:  # a log may have millions of {}
            continue
        message = to_message(item)
        if is_object(message) and message_role(message) in ASSISTANT_ROLES:
            return message
    return None


def _has_messages(value: dict[str, Json]) -> bool:
    return _last_assistant(value["messages"]) is not None


def _last_of_messages(value: dict[str, Json]) -> Json:
    return choice(_last_assistant(value["messages"]))


def _has_conversation(value: dict[str, Json]) -> bool:
    return _last_assistant(value["conversations"]) is not None


def _last_of_conversation(value: dict[str, Json]) -> Json:
    return choice(_last_assistant(value["conversations"]))


def _is_turn(value: Json) -> bool:
    return is_message(value) or is_foreign_message(value)


def _is_message_list(value: list[Json]) -> bool:
    if len(value) < 2 or not all(_is_turn(item) for item in value) or is_stream(value):
        return False
    return _last_assistant(value) is not None


def _last_of_list(value: list[Json]) -> Json:
    return choice(_last_assistant(value))


def _are_output_items(value: list[Json]) -> bool:
    """The output of a Responses call alone: typed items, at least one of them not a bare message."""
    if len(value) < 2 or not are_typed(value) or is_stream(value) or all(_is_turn(item) for item in value):
        return False
    return any(is_object(item) and _is_item(str(item["type"])) for item in value)


def _is_item(kind: str) -> bool:
    return kind in ("message", "reasoning") or kind.endswith(("_call", "_call_output"))


def _output_items(value: list[Json]) -> Json:
    return {"output": value}


def _are_parts(value: list[Json]) -> bool:
    """Content parts alone, as LangChain logs an Anthropic message's content."""
    if len(value) < 2 or not are_typed(value) or is_stream(value) or any(_is_turn(item) for item in value):
        return False
    return any(is_object(item) and item["type"] == "text" for item in value) and not _are_output_items(value)


_MESSAGE_FIELDS = ("role", "content", "tool_calls", "function_call", "refusal", "audio", "parts", "blocks", "text")


def _has_message(value: dict[str, Json]) -> bool:
    message = value["message"]
    return is_object(message) and (has_any(message, _MESSAGE_FIELDS) or is_foreign_message(message))


def _its_message(value: dict[str, Json]) -> Json:
    return choice(to_message(value["message"]))


def _is_bare_message(value: dict[str, Json]) -> bool:
    return is_message(value) and not are_typed(value.get("content")) and not _is_echo(value)


def _is_echo(value: dict[str, Json]) -> bool:
    """What the user said, as an interface confirms it: no answer."""
    return is_spoken_by(value, USER_ROLES | SYSTEM_ROLES)


def _no_answer(_value: dict[str, Json]) -> Json:
    return None


def _bare_message(value: dict[str, Json]) -> Json:
    return choice(to_message(value))


def _is_langchain_dump(value: dict[str, Json]) -> bool:
    return is_foreign_message(value)


def _is_langchain_typed(value: dict[str, Json]) -> bool:
    return value["type"] in _ANSWER_TYPES and value.get("lc") is None and is_foreign_message(value)


_ANSWER_TYPES = ("ai", "AIMessage", "AIMessageChunk")


def _is_llm_result(value: dict[str, Json]) -> bool:
    """LangChain's LLMResult: a list of generations per prompt, each with its text and message."""
    return _first_generation(value) is not None


def _first_generation(value: dict[str, Json]) -> dict[str, Json] | None:
    generations = value["generations"]
    inner = generations[0] if is_list(generations) and generations else None
    first = first_object(inner) if is_list(inner) else first_object(generations)
    if first is None or not (is_object(first.get("message")) or (is_list(inner) and is_text(first.get("text")))):
        return None
    return first


def _llm_result(value: dict[str, Json]) -> Json:
    return _first_generation(value)


_ANSWER_MARKS = ("context", "source_documents", "sources", "chat_history", "question", "input", "citations")


def _is_chain_answer(value: dict[str, Json]) -> bool:
    """A retrieval chain's `answer` beside what it was made from."""
    return is_text(value["answer"]) and has_any(value, _ANSWER_MARKS)


def _chain_answer(value: dict[str, Json]) -> Json:
    return assistant(value["answer"])


def _is_chain_result(value: dict[str, Json]) -> bool:
    """RetrievalQA's `result`."""
    return is_text(value["result"]) and has_any(value, ("source_documents", "query"))


def _chain_result(value: dict[str, Json]) -> Json:
    return assistant(value["result"])


def _has_replies(value: dict[str, Json]) -> bool:
    replies = value["replies"]
    return is_list(replies) and bool(replies) and (is_text(replies[0]) or is_object(replies[0]))


def _first_reply(value: dict[str, Json]) -> Json:
    """Haystack's first reply: a text, or a ChatMessage in its older or newer dump."""
    reply = as_list(value["replies"])[0]
    if is_object(reply) and "_content" in reply:
        return assistant(reply["_content"])
    return reply


_RESPONSE_MARKS = ("done", "source_nodes", "model", "eval_count")


def _is_response_text(value: dict[str, Json]) -> bool:
    """Ollama's generate (`done`), LlamaIndex's Response (`source_nodes`)."""
    return is_text(value["response"]) and has_any(value, _RESPONSE_MARKS)


def _response_text(value: dict[str, Json]) -> Json:
    return assistant(value["response"])


def _is_generated_text(value: dict[str, Json]) -> bool:
    return is_text(value["generated_text"])


def _generated_text(value: dict[str, Json]) -> Json:
    return assistant(value["generated_text"])


def _is_replicate(value: dict[str, Json]) -> bool:
    output = value["output"]
    if not is_list(output) or not output or not all(is_text(item) for item in output):
        return False
    return has_any(value, ("version", "status", "urls", "model"))


def _is_started(value: dict[str, Json]) -> bool:
    """A prediction of Replicate's that has no output yet."""
    return (
        value.get("output") is None and value["status"] in ("starting", "processing") and is_object(value.get("urls"))
    )


def _no_output(_value: dict[str, Json]) -> Json:
    return None


def _replicate_tokens(value: dict[str, Json]) -> Json:
    return assistant("".join(str(token) for token in as_list(value["output"])))


_TEXT_FIELDS = ("content", "text", "output", "output_text")
_STRUCTURED_FIELDS = ("choices", "candidates", "messages", "message", "role", "generations")


def _text_of(value: dict[str, Json]) -> str | None:
    """The one plain text field; null where there is none, or where several disagree."""
    texts = {text for name in _TEXT_FIELDS if isinstance(text := value.get(name), str)}
    return texts.pop() if len(texts) == 1 else None


def _is_text_field(field: str) -> Callable[[dict[str, Json]], bool]:
    def fits(value: dict[str, Json]) -> bool:
        if not is_text(value[field]) or is_foreign_message(value) or is_stream([value]):
            return False
        if has_any(value, _STRUCTURED_FIELDS):
            return False
        first = next(name for name in _TEXT_FIELDS if is_text(value.get(name)))
        return first == field and _text_of(value) is not None

    return fits


def _its_text(value: dict[str, Json]) -> Json:
    return assistant(_text_of(value))


def _is_text_list(value: dict[str, Json]) -> bool:
    """vLLM's generate: the text of each sequence."""
    texts = value["text"]
    return is_list(texts) and bool(texts) and all(is_text(text) for text in texts)


def _text_list(value: dict[str, Json]) -> Json:
    return {"choices": [{"message": {"role": "assistant", "content": text}} for text in as_list(value["text"])]}


def _is_one_prediction(value: dict[str, Json]) -> bool:
    made = value["predictions"]
    return len(made) == 1 if is_list(made) else is_text(made) or is_object(made)


def _its_prediction(value: dict[str, Json]) -> Json:
    made = value["predictions"]
    return made[0] if is_list(made) else made


def _is_list_of_one(value: list[Json]) -> bool:
    return len(value) == 1 and not is_stream(value)


def _its_item(value: list[Json]) -> Json:
    return value[0]


FRAMEWORK_SHAPES: tuple[Shape, ...] = (
    Shape("messages", "messages", _has_messages, _last_of_messages),
    Shape("conversations", "conversations", _has_conversation, _last_of_conversation),
    Shape("message_field", "message", _has_message, _its_message),
    Shape("message", "role", _is_bare_message, _bare_message),
    Shape("echo", "role", _is_echo, _no_answer),
    Shape("langchain_message", "lc", _is_langchain_dump, _bare_message),
    Shape("langchain_typed", "type", _is_langchain_typed, _bare_message),
    Shape("llm_result", "generations", _is_llm_result, _llm_result),
    Shape("chain_answer", "answer", _is_chain_answer, _chain_answer),
    Shape("chain_result", "result", _is_chain_result, _chain_result),
    Shape("replies", "replies", _has_replies, _first_reply),
    Shape("response_text", "response", _is_response_text, _response_text),
    Shape("generated_text", "generated_text", _is_generated_text, _generated_text),
    Shape("replicate_started", "status", _is_started, _no_output),
    Shape("replicate", "output", _is_replicate, _replicate_tokens),
    *(Shape(f"{field}_field", field, _is_text_field(field), _its_text) for field in _TEXT_FIELDS),
    Shape("text_list", "text", _is_text_list, _text_list),
    Shape("one_prediction", "predictions", _is_one_prediction, _its_prediction),
    Shape("message_list", LIST, _is_message_list, _last_of_list),
    Shape("output_items", LIST, _are_output_items, _output_items),
    Shape("content_parts", LIST, _are_parts, assistant),
    Shape("list_of_one", LIST, _is_list_of_one, _its_item),
)
