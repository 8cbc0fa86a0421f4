"""Token counts as providers and tracers report them, under every name that they have for them.

Counts are taken as reported and never corrected: Anthropic's input leaves out what it read from its cache, Gemini's
output leaves out thoughts.
"""

from beamjudge.schemas.json_text import as_list, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.row import TokenUsage

LARGEST_COUNT = 2**63 - 1  # counts are written as 64-bit integers
_INPUT = (
    "prompt_tokens",
    "input_tokens",
    "inputTokens",
    "promptTokenCount",
    "prompt_eval_count",  # Ollama
    "prompt_token_count",  # Llama on Bedrock, and Gemini's Python library
    "inputTextTokenCount",  # Titan
    "total_input_tokens",  # Gemini's interactions
    "input_token_count",  # watsonx
    "promptTokens",  # the AI SDK
    "num_tokens_prompt_total",  # Aleph Alpha
)
_OUTPUT = (
    "completion_tokens",
    "output_tokens",
    "outputTokens",
    "candidatesTokenCount",
    "candidates_token_count",
    "eval_count",
    "generation_token_count",
    "tokenCount",
    "total_output_tokens",
    "generated_token_count",
    "generated_tokens",  # text-generation-inference
    "completionTokens",
    "num_tokens_generated",
)
_TOTAL = ("total_tokens", "totalTokens", "totalTokenCount", "total_token_count")
# Every one of these names has one of these words in it.
WORDS_OF_COUNTS = ("oken", "eval_count")
# Where a response has its counts: paths of fields, from the most to the least specific place.
_PLACES: tuple[tuple[str, ...], ...] = (
    ("usage",),
    ("usageMetadata",),
    # LangChain: a message, one in the dumps of its versions, and one of these inside a generation
    *(
        (*holder, *counts)
        for counts in (("usage_metadata",), ("response_metadata", "token_usage"))
        for holder in ((), ("kwargs",), ("data",), ("message",), ("message", "kwargs"), ("message", "data"))
    ),
    ("llm_output", "token_usage"),
    ("meta", "tokens"),  # Cohere
    ("meta", "billed_units"),
    ("meta", "usage"),  # Haystack
    ("raw", "usage"),  # LlamaIndex
    ("x_groq", "usage"),
    ("details",),
    ("metrics",),  # Replicate
)
_COUNTED_BESIDE = frozenset(
    {"eval_count", "prompt_eval_count", "generation_token_count", "inputTextTokenCount", "num_tokens_generated"}
)


def read_usage(value: Json) -> TokenUsage | None:
    """The counts of a `usage` object; the total is the given one, or input + output where both are known.

    Null when `value` holds no count.
    """
    if not is_object(value):
        return None
    given = _count(value, _INPUT)
    made = _count(value, _OUTPUT)
    total = _count(value, _TOTAL)
    if given is None and made is None and total is None:
        for name in ("tokens", "billed_units"):  # Cohere
            if is_object(inner := value.get(name)):
                return read_usage(inner)
        return None
    if total is None and given is not None and made is not None:
        total = given + made if given + made <= LARGEST_COUNT else None
    return TokenUsage(given, made, total)


def response_usage(response: Json) -> TokenUsage | None:
    """The usage that a response reports: in its own place, or in that of the last streaming chunk that has one."""
    if is_object(response):
        return _usage_of(response)
    if is_list(response):
        for chunk in reversed(response):
            if is_object(chunk) and (usage := read_usage(chunk.get("usage"))):
                return usage
    return None


def _usage_of(response: dict[str, Json]) -> TokenUsage | None:
    for field, *inner in _PLACES:
        place = response.get(field)
        for name in inner:
            place = place.get(name) if is_object(place) else None
        if place is not None and (usage := read_usage(place)) is not None:
            return usage
    first = next(iter(as_list(response.get("results"))), None)
    counted = first if is_object(first) else {}
    if counted.keys() & {"tokenCount", "generated_token_count"}:
        return read_usage({**response, **counted})
    if not _COUNTED_BESIDE.isdisjoint(response):
        return read_usage(response)
    last = next(iter(reversed(as_list(response.get("messages")))), None)  # LangGraph
    return _usage_of(last) if is_object(last) else _palm_usage(response.get("metadata"))


def _palm_usage(metadata: Json) -> TokenUsage | None:
    """Vertex AI's predictions: `tokenMetadata` with an object of counts for each direction."""
    counts = metadata.get("tokenMetadata") if is_object(metadata) else None
    if not is_object(counts):
        return None
    given, made = counts.get("inputTokenCount"), counts.get("outputTokenCount")
    return read_usage(
        {
            "input_tokens": given.get("totalTokens") if is_object(given) else None,
            "output_tokens": made.get("totalTokens") if is_object(made) else None,
        }
    )


def _count(usage: dict[str, Json], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = usage.get(name)
        # Data frames turn integer columns with gaps into floats.
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is int and 0 <= value <= LARGEST_COUNT:  # a boolean is none
            return value
    return None
