"""What calls return that ask a model for no answer: embeddings, moderations, rankings of documents, counts of tokens.

Sources: platform.openai.com/docs/api-reference (embeddings, moderations, models), docs.cohere.com/reference (embed,
rerank), docs.voyageai.com/reference, ai.google.dev/api/tokens and .../embeddings, github.com/ollama/ollama
(docs/api.md), docs.anthropic.com/en/api/messages-count-tokens, docs.aws.amazon.com/bedrock (rerank, CountTokens).

An application may have fields of these names beside its answer. So a body that any other field stands in is none of
these, but for pages, which say themselves what they list.
"""

from collections.abc import Callable, Collection

from beamjudge.schemas.json_text import as_list, has_any, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.responses.forms import first_object
from beamjudge.schemas.shapes import Shape

_LISTED = frozenset({"embedding", "model", "score"})
_BESIDE = frozenset({"id", "model", "object", "created", "usage", "meta"})
_BESIDE_RESULTS = _BESIDE | {"results"}
_BESIDE_VECTORS = _BESIDE | {
    "embedding",
    "embeddings",
    "embeddingsByType",
    "inputTextTokenCount",
    "metadata",
    "texts",
    "images",
    "response_type",
    "total_duration",
    "load_duration",
    "prompt_eval_count",
    "usageMetadata",
}
_COUNTS = ("totalTokens", "total_tokens", "inputTokens", "input_tokens")
_BESIDE_COUNTS = frozenset(_COUNTS) | {
    "totalBillableCharacters",
    "total_billable_characters",
    "cachedContentTokenCount",
    "cached_content_token_count",
    "promptTokensDetails",
    "prompt_tokens_details",
    "cacheTokensDetails",
    "cache_tokens_details",
    "sdkHttpResponse",
    "sdk_http_response",
}
_ANSWERS = ("outputText", "generated_text")  # results of Titan and of watsonx
_RELEVANCE = ("relevance_score", "relevanceScore")


def _has_only(value: dict[str, Json], names: Collection[str]) -> bool:
    return all(name in names or item is None for name, item in value.items())


def _is_number(value: Json) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_vector(value: Json) -> bool:
    return is_list(value) and bool(value) and _is_number(value[0])


def _are_vectors(value: Json) -> bool:
    """One vector or several; Gemini has each under `values`, Cohere all of them under their type."""
    if is_object(value):
        return any(_is_vector(inner) or (is_list(inner) and _are_vectors(inner)) for inner in value.values())
    if not is_list(value) or not value:
        return False
    first = value[0]
    return _is_number(first) or _is_vector(first) or (is_object(first) and _is_vector(first.get("values")))


def _holds_vectors(field: str) -> Callable[[dict[str, Json]], bool]:
    def fits(value: dict[str, Json]) -> bool:
        return _has_only(value, _BESIDE_VECTORS) and _are_vectors(value[field])

    return fits


def _is_page(value: dict[str, Json]) -> bool:
    """A page of embeddings, of scores or of models; Voyage's ranking is one too."""
    if value.get("object") != "list":
        return False
    items = as_list(value["data"])
    return bool(items) and all(is_object(item) and _is_listed(item) for item in items)


def _is_listed(item: dict[str, Json]) -> bool:
    if item.get("choices") is not None or item.get("type") is not None:
        return False
    kind = item.get("object")
    return kind in _LISTED if isinstance(kind, str) else _is_ranked(item)


def _is_ranked(item: dict[str, Json]) -> bool:
    return _is_number(item.get("index")) and any(_is_number(item.get(name)) for name in _RELEVANCE)


def _are_judgements(value: dict[str, Json]) -> bool:
    """Moderations, or a ranking: of each kind the results tell."""
    first = first_object(value["results"])
    if first is None or not _has_only(value, _BESIDE_RESULTS) or has_any(first, _ANSWERS):
        return False
    return _is_ranked(first) or _is_moderated(first)


def _is_moderated(item: dict[str, Json]) -> bool:
    if not is_object(item.get("categories")):
        return False
    return isinstance(item.get("flagged"), bool) or is_object(item.get("category_scores"))


def _is_count(field: str) -> Callable[[dict[str, Json]], bool]:
    def fits(value: dict[str, Json]) -> bool:
        return _is_number(value[field]) and _has_only(value, _BESIDE_COUNTS)

    return fits


def _no_answer(_value: dict[str, Json]) -> Json:
    return None


OTHER_CALL_SHAPES: tuple[Shape, ...] = (
    Shape("listing", "data", _is_page, _no_answer),
    Shape("judgements", "results", _are_judgements, _no_answer),
    *(Shape(f"{field}_vectors", field, _holds_vectors(field), _no_answer) for field in ("embedding", "embeddings")),
    *(Shape(f"{field}_count", field, _is_count(field), _no_answer) for field in _COUNTS),
)
