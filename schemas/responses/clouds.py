"""Responses of Anthropic, Gemini and Vertex AI, Bedrock and its models, Cohere, AI21, Aleph Alpha and watsonx.

Sources: docs.anthropic.com/en/api/messages, ai.google.dev/api/generate-content, ai.google.dev/api/interactions-api,
docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html and .../APIReference/API_runtime_Converse.html,
docs.cohere.com/reference/chat, docs.ai21.com, docs.aleph-alpha.com, cloud.ibm.com/apidocs/watsonx-ai.
"""

from beamjudge.schemas.foreign_messages import to_message
from beamjudge.schemas.json_text import as_list, has_any, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.messages import ASSISTANT_ROLES, common_role
from beamjudge.schemas.responses.forms import are_typed, assistant, choice, first_object, is_text
from beamjudge.schemas.shapes import Noted, Rewritten, Shape


def _has_content_parts(value: dict[str, Json]) -> bool:
    role = value.get("role")
    return are_typed(value["content"]) and (role is None or common_role(role) in ASSISTANT_ROLES)


def _content_parts(value: dict[str, Json]) -> Json:
    return assistant(value["content"])


def _is_keyed_content(value: dict[str, Json]) -> bool:
    """Parts without types, or Gemini's content with parts, that no message is around."""
    content = value["content"]
    if value.get("role") is not None or value.get("type") is not None:
        return False
    if is_object(content):
        return is_list(content.get("parts"))
    return is_list(content) and bool(content) and not are_typed(content) and all(is_object(part) for part in content)


def _keyed_content(value: dict[str, Json]) -> Json:
    content = value["content"]
    return assistant(content.get("parts") if is_object(content) else content)


def _is_gemini(value: dict[str, Json]) -> bool:
    candidates = value["candidates"]
    return is_list(candidates) and bool(candidates) and all(_is_candidate(item) for item in candidates)


def _is_candidate(item: Json) -> bool:
    if not is_object(item):
        return False
    return any(name in item for name in ("content", "finishReason", "finish_reason", "output", "safetyRatings"))


def _candidate_choices(value: dict[str, Json]) -> Json:
    """Gemini's `content.parts`, PaLM's `content` or `output` that is the text itself."""
    choices: list[Json] = []
    for item in as_list(value["candidates"]):
        content = item.get("content", item.get("output")) if is_object(item) else None
        message: Json = {"role": "assistant", "content": content}
        if is_object(content):
            parts = content.get("parts")
            message = {"role": "assistant", "content": parts if is_list(parts) else [] if parts is None else [parts]}
        choices.append({"message": message})
    return {"choices": choices}


def _is_retrieval(value: dict[str, Json]) -> bool:
    """What a knowledge base of Bedrock found, without an answer."""
    return is_list(value["retrievalResults"])


def _no_answer(_value: dict[str, Json]) -> Json:
    return None


def _is_interaction(value: dict[str, Json]) -> bool:
    return value.get("object") == "interaction" and is_list(value["steps"])


def _interaction_answer(value: dict[str, Json]) -> Rewritten:
    steps = [step for step in as_list(value["steps"]) if is_object(step)]
    said = [step for step in steps if step.get("type") == "model_output"]
    calls: list[Json] = [step for step in steps if str(step.get("type")).endswith("_call")]
    notes = ["reasoning_not_shown"] if any(step.get("type") == "thought" for step in steps) else []
    if not said:
        return Noted(choice({"role": "assistant", "content": None, "tool_calls": calls}), tuple(notes))
    notes += ["several_messages"] if len(said) > 1 else []
    notes += ["tool_calls_not_shown"] if calls else []
    return Noted(assistant(said[-1].get("content")), tuple(notes))


def _is_converse(value: dict[str, Json]) -> bool:
    return is_object(output := value["output"]) and is_object(output.get("message"))


def _converse_message(value: dict[str, Json]) -> Json:
    output = value["output"]
    return choice(to_message(output.get("message"))) if is_object(output) else None


def _is_output_text(value: dict[str, Json]) -> bool:
    """Bedrock's RetrieveAndGenerate."""
    return is_object(output := value["output"]) and output.get("message") is None and is_text(output.get("text"))


def _output_text(value: dict[str, Json]) -> Json:
    output = value["output"]
    return assistant(output.get("text")) if is_object(output) else None


def _is_titan(value: dict[str, Json]) -> bool:
    first = first_object(value["results"])
    return first is not None and (is_text(first.get("outputText")) or is_text(first.get("generated_text")))


def _titan_results(value: dict[str, Json]) -> Json:
    """Titan's `outputText`, watsonx's `generated_text`."""
    results = [item for item in as_list(value["results"]) if is_object(item)]
    texts = [item.get("outputText", item.get("generated_text")) for item in results]
    return {"choices": [{"message": {"role": "assistant", "content": text}} for text in texts]}


def _is_titan_text(value: dict[str, Json]) -> bool:
    return is_text(value["outputText"])


def _titan_text(value: dict[str, Json]) -> Json:
    return assistant(value["outputText"])


def _is_llama(value: dict[str, Json]) -> bool:
    return is_text(value["generation"])


def _llama_text(value: dict[str, Json]) -> Json:
    return assistant(value["generation"])


def _is_conversation(value: dict[str, Json]) -> bool:
    """Mistral's conversations: entries, of which messages are one kind."""
    return any(is_object(item) and item.get("type") == "message.output" for item in as_list(value["outputs"]))


def _conversation_answer(value: dict[str, Json]) -> Rewritten:
    entries = [item for item in as_list(value["outputs"]) if is_object(item)]
    said = [item for item in entries if item.get("type") == "message.output"]
    notes = ["several_messages"] if len(said) > 1 else []
    notes += ["tool_calls_not_shown"] if len(said) < len(entries) else []
    return Noted(assistant(said[-1].get("content")), tuple(notes))


def _is_mistral(value: dict[str, Json]) -> bool:
    first = first_object(value["outputs"])
    return first is not None and is_text(first.get("text"))


def _mistral_outputs(value: dict[str, Json]) -> Json:
    texts = [item.get("text") for item in as_list(value["outputs"]) if is_object(item)]
    return {"choices": [{"message": {"role": "assistant", "content": text}} for text in texts]}


_COMPLETION_MARKS = ("stop_reason", "stop", "type", "model", "finish_reason")


def _is_completion(value: dict[str, Json]) -> bool:
    """Anthropic's older completions."""
    return is_text(value["completion"]) and has_any(value, _COMPLETION_MARKS)


def _completion_text(value: dict[str, Json]) -> Json:
    return assistant(value["completion"])


def _are_completions(value: dict[str, Json]) -> bool:
    first = first_object(value["completions"])
    return first is not None and _completion_of(first) is not None


def _completion_of(item: dict[str, Json]) -> str | None:
    """AI21's `data.text`, Aleph Alpha's `completion`."""
    data = item.get("data")
    text = data.get("text") if is_object(data) else item.get("completion")
    return text if isinstance(text, str) else None


def _completions(value: dict[str, Json]) -> Json:
    items = [item for item in as_list(value["completions"]) if is_object(item)]
    return {"choices": [{"message": {"role": "assistant", "content": _completion_of(item)}} for item in items]}


def _are_generations(value: dict[str, Json]) -> bool:
    """Cohere's generate. LangChain has a list of lists."""
    first = first_object(value["generations"])
    return first is not None and is_text(first.get("text")) and first.get("message") is None


def _generations(value: dict[str, Json]) -> Json:
    texts = [item.get("text") for item in as_list(value["generations"]) if is_object(item)]
    return {"choices": [{"message": {"role": "assistant", "content": text}} for text in texts]}


CLOUD_SHAPES: tuple[Shape, ...] = (
    Shape("anthropic", "content", _has_content_parts, _content_parts),
    Shape("keyed_content", "content", _is_keyed_content, _keyed_content),
    Shape("gemini", "candidates", _is_gemini, _candidate_choices),
    Shape("interaction", "steps", _is_interaction, _interaction_answer),
    Shape("converse", "output", _is_converse, _converse_message),
    Shape("output_text_object", "output", _is_output_text, _output_text),
    Shape("retrieval", "retrievalResults", _is_retrieval, _no_answer),
    Shape("titan", "results", _is_titan, _titan_results),
    Shape("titan_text", "outputText", _is_titan_text, _titan_text),
    Shape("llama", "generation", _is_llama, _llama_text),
    Shape("mistral_conversation", "outputs", _is_conversation, _conversation_answer),
    Shape("mistral", "outputs", _is_mistral, _mistral_outputs),
    Shape("completion", "completion", _is_completion, _completion_text),
    Shape("completions", "completions", _are_completions, _completions),
    Shape("generations", "generations", _are_generations, _generations),
)
