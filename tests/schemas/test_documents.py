"""One document of a retriever: which of its fields count where it has several."""

import pytest

from beamjudge.schemas.row import Document
from beamjudge.schemas.traces.documents import RetrieverSchema, read_document


@pytest.mark.parametrize(
    ("item", "document"),
    [
        ({"text": "c", "content": "b", "page_content": "a", "body": "d"}, Document(None, "a")),
        ({"page_content": None, "text": "c", "content": "b", "body": "d"}, Document(None, "b")),
        ({"page_content": "", "text": "c"}, Document(None, "")),
        ({"body": "d", "text": "c"}, Document(None, "c")),
        ({"body": "d"}, Document(None, "d")),
        ({"doc_uri": "item", "metadata": {"doc_uri": "inner", "url": "declared"}}, Document("declared", None)),
        ({"doc_uri": "item", "url": "not in metadata", "metadata": {"doc_uri": "inner"}}, Document("inner", None)),
        ({"doc_uri": "item", "metadata": {"id": "inner"}}, Document("item", None)),
        ({"source": "item", "id": None, "metadata": '{"source": "inner"}'}, Document("inner", None)),
    ],
)
def test_the_first_field_that_is_not_null_counts(item, document):
    assert read_document(item, RetrieverSchema("url", "body"), []) == document
