import pytest

from beamjudge.schemas.responses import normalize_response
from beamjudge.schemas.row import Document

D = Document
CITED = {
    "retrievedReferences": [
        {"content": {"text": "t", "type": "TEXT"}, "location": {"s3Location": {"uri": "s3://u"}, "type": "S3"}},
        {"content": {"text": "v"}, "location": {"webLocation": {"url": "https://w"}}},
    ]
}


@pytest.mark.parametrize(
    ("body", "documents"),
    [
        ({"output": {"text": "a"}, "citations": [CITED, CITED]}, (D("s3://u", "t"), D("https://w", "v"))),
        ({"output": {"text": "a"}, "citations": [{"retrievedReferences": []}]}, ()),
        (
            {
                "answer": "a",
                "context": [
                    {"page_content": "t", "metadata": {"source": "u"}},
                    {"lc": 1, "kwargs": {"page_content": "v"}},
                ],
            },
            (D("u", "t"), D(None, "v")),
        ),
        ({"result": "a", "query": "q", "source_documents": [{"page_content": "t", "id": 7}]}, (D("7", "t"),)),
        (
            {"response": "a", "source_nodes": [{"node": {"id_": "u", "text": "t", "metadata": {}}, "score": 0.5}]},
            (D("u", "t"),),
        ),
        (
            {
                "output": [
                    {
                        "type": "file_search_call",
                        "results": [{"file_id": "f", "filename": "u", "text": "t", "score": 1}],
                    },
                    {"type": "message", "content": "a"},
                ]
            },
            (D("u", "t"),),
        ),
        (
            {"choices": [{"message": {"content": "a", "context": {"citations": [{"content": "t", "filepath": "u"}]}}}]},
            (D("u", "t"),),
        ),
        (
            {
                "candidates": [
                    {
                        "content": {"parts": [{"text": "a"}]},
                        "groundingMetadata": {
                            "groundingChunks": [{"retrievedContext": {"uri": "u", "text": "t"}}, {"web": {"uri": "w"}}]
                        },
                    }
                ]
            },
            (D("u", "t"), D("w", None)),
        ),
        ({"text": "a", "generation_id": "g", "documents": [{"id": "u", "snippet": "t"}]}, (D("u", "t"),)),
        ({"choices": [{"message": {"content": "a"}}]}, None),
        ({"answer": "a", "question": "q"}, None),
    ],
)
def test_documents_in_a_response(body, documents):
    form = normalize_response(body)
    assert (form.text, form.documents) == ("a", documents)
