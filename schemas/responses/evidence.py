"""Retrieved documents that a response carries, in rank order.

Bedrock's knowledge bases (`citations[].retrievedReferences`, `retrievalResults`), retrieval chains of LangChain
(`context`, `source_documents`) and LlamaIndex (`source_nodes`), OpenAI's file search (`file_search_call.results`),
Azure OpenAI on your data (`message.context.citations`), Gemini's grounding (`groundingChunks`), Cohere (`documents`).
"""

from collections.abc import Iterator

from beamjudge.schemas.json_text import as_list, is_list, is_object
from beamjudge.schemas.json_value import Json, canonical_json
from beamjudge.schemas.row import Document

_TEXT_KEYS = ("page_content", "content", "text", "snippet")
_URI_KEYS = ("doc_uri", "source", "uri", "url", "filepath", "filename", "id", "id_", "file_id", "title")
_PLACES = frozenset(
    {
        "citations",
        "retrievalResults",
        "source_documents",
        "source_nodes",
        "context",
        "output",
        "choices",
        "candidates",
        "documents",
    }
)
_HOLDERS = ("kwargs", "node", "retrievedContext", "web", "document", "data")


def response_documents(value: Json) -> tuple[Document, ...] | None:
    """The documents in a response; null where it has no place for any, empty where the place is empty."""
    if not is_object(value) or _PLACES.isdisjoint(value):
        return None
    for items in _lists(value):
        found = [document for item in items if (document := _document(item)) is not None]
        return tuple(dict.fromkeys(found))  # a document that is cited twice was retrieved once
    return None


def _lists(value: dict[str, Json]) -> Iterator[list[Json]]:
    """The lists of documents in a response, the one that is taken first."""
    if is_list(cited := value.get("citations")) and any(
        is_object(item) and "retrievedReferences" in item for item in cited
    ):
        yield [part for item in cited if is_object(item) for part in as_list(item.get("retrievedReferences"))]
    for name in ("retrievalResults", "source_documents", "source_nodes"):
        if is_list(items := value.get(name)):
            yield items
    if isinstance(value.get("answer"), str) and is_list(items := value.get("context")):
        yield items
    searches = [
        item
        for item in as_list(value.get("output"))
        if is_object(item) and item.get("type") == "file_search_call" and is_list(item.get("results"))
    ]
    if searches:
        yield as_list(searches[-1].get("results"))
    for name in ("choices", "candidates"):
        first = next(iter(as_list(value.get(name))), None)
        if is_object(first) and is_list(items := _beside_answer(first)):
            yield items
    if isinstance(value.get("generation_id"), str) and is_list(items := value.get("documents")):
        yield items


def _beside_answer(first: dict[str, Json]) -> Json:
    message, grounding = first.get("message"), first.get("groundingMetadata")
    if is_object(grounding):
        return grounding.get("groundingChunks")
    context = message.get("context") if is_object(message) else None
    return context.get("citations") if is_object(context) else None


def _document(item: Json) -> Document | None:
    if isinstance(item, str):
        return Document(None, item)
    if not is_object(item):
        return None
    inner: dict[str, Json] = next((held for name in _HOLDERS if is_object(held := item.get(name))), {})
    levels = (item, inner)
    text = next((_text(level[key]) for key in _TEXT_KEYS for level in levels if level.get(key) is not None), None)
    uri = _location(item.get("location"))
    if uri is None:
        sources = [metadata for level in levels if is_object(metadata := level.get("metadata"))] + list(levels)
        uris = (level[key] for key in _URI_KEYS for level in sources if level.get(key) is not None)
        uri = next((found if isinstance(found, str) else canonical_json(found) for found in uris), None)
    return None if text is None and uri is None else Document(uri, text)


def _text(value: Json) -> str | None:
    if is_object(value):  # Bedrock: {"text", "type"}
        value = value.get("text")
    return value if isinstance(value, str) else None


def _location(location: Json) -> str | None:
    """Bedrock: {"type": "S3", "s3Location": {"uri"}}, and so on for every kind of source."""
    if not is_object(location):
        return None
    for place in location.values():
        if is_object(place):
            found = next((place[key] for key in ("uri", "url", "id") if isinstance(place.get(key), str)), None)
            if isinstance(found, str):
                return found
    return None
