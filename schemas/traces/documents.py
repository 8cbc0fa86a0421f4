"""Documents out of a retriever's output, in the spellings of LangChain, LlamaIndex, MLflow and plain applications."""

from typing import NamedTuple

from beamjudge.schemas.json_text import as_list, decode_container, first_of, is_list, is_object
from beamjudge.schemas.json_value import Json, canonical_json
from beamjudge.schemas.row import Document

_TEXT_KEYS = ("page_content", "content", "text")
_URI_KEYS = ("doc_uri", "id", "source")


class RetrieverSchema(NamedTuple):
    """Which keys of a document hold its uri and, where it has none of the usual ones, its text."""

    uri_key: str = "doc_uri"
    text_key: str | None = None


class ReadDocuments(NamedTuple):
    documents: tuple[Document, ...]
    notes: tuple[str, ...]


def retriever_schema(tag: Json, retriever: str | None) -> RetrieverSchema:
    """The schema that the trace tag `retrievers` declares: the one of that name, else the last one.

    The tag is JSON text, a list of `{name, primary_key, text_column, doc_uri, other_columns}`, as MLflow's
    `set_retriever_schema` writes it. A tag that cannot be read declares nothing.
    """
    decoded = decode_container(tag) if isinstance(tag, str) else None
    declared = [item for item in as_list(decoded.value if decoded else tag) if is_object(item)]
    if not declared:
        return RetrieverSchema()
    chosen = next((item for item in declared if retriever is not None and item.get("name") == retriever), declared[-1])
    uri_key, text_key = chosen.get("doc_uri"), chosen.get("text_column")
    return RetrieverSchema(
        uri_key if isinstance(uri_key, str) else "doc_uri", text_key if isinstance(text_key, str) else None
    )


def read_documents(outputs: Json, schema: RetrieverSchema) -> ReadDocuments | None:
    """The documents of a retriever's outputs in rank order; null where it left no output at all.

    Outputs are a list, or an object with the list under `documents` or as its only field; one document alone counts.
    """
    if outputs is None:
        return None
    if is_object(outputs):
        only = next(iter(outputs.values())) if len(outputs) == 1 else None
        inner = outputs.get("documents")
        outputs = inner if is_list(inner) else only if is_list(only) else outputs
    notes: list[str] = []
    documents: list[Document] = []
    for item in outputs if is_list(outputs) else [outputs]:
        if item is None:
            notes.append("null_elements_dropped")
        else:
            documents.append(read_document(item, schema, notes))
    return ReadDocuments(tuple(documents), tuple(dict.fromkeys(notes)))


def uri_text(uri: Json, notes: list[str]) -> str | None:
    """A document's uri as text, with a note where it was none."""
    if uri is None or isinstance(uri, str):
        return uri
    notes.append("doc_uri_to_string")
    return canonical_json(uri)


def read_document(item: Json, schema: RetrieverSchema, notes: list[str]) -> Document:
    """One document; what had to be changed in it is added to `notes`."""
    if isinstance(item, str):
        return Document(None, item)
    if not is_object(item):
        return Document(None, canonical_json(item))
    logged = item.get("metadata")
    decoded = decode_container(logged) if isinstance(logged, str) else None
    inner = decoded.value if decoded else logged
    metadata = inner if is_object(inner) else {}
    text = first_of(item, _TEXT_KEYS)
    if text is None and schema.text_key is not None:
        text = item.get(schema.text_key)
    content = text if text is None or isinstance(text, str) else canonical_json(text)
    return Document(uri_text(_uri(item, metadata, schema), notes), content)


def _uri(item: dict[str, Json], metadata: dict[str, Json], schema: RetrieverSchema) -> Json:
    if (own := metadata.get(schema.uri_key)) is not None:
        return own
    for key in _URI_KEYS:
        for level in (metadata, item):
            if (uri := level.get(key)) is not None:
                return uri
    return None
