"""Did the retriever find the documents that it should have found? Ground truth only, no judge."""

from collections.abc import Mapping

from beamjudge.schemas.assessment import MetricValue
from beamjudge.schemas.metric import Column, ColumnType, mean_spec
from beamjudge.schemas.row import Row
from beamjudge.transforms.metrics.family import MetricFamily

_RECALL = "retrieval/ground_truth/document_recall"


def document_recall(row: Row) -> float | None:
    """The share of distinct expected `doc_uri`s that were retrieved, in [0, 1].

    Uris match as exact text: no trimming, no case folding. Null when either context was not logged or no expected
    document has a uri; 0.0 when the retriever found nothing. Duplicates, expected or retrieved, count once.
    """
    if row.retrieved_context is None:
        return None
    expected = {document.doc_uri for document in row.expected_retrieved_context or () if document.doc_uri is not None}
    if not expected:
        return None
    retrieved = {document.doc_uri for document in row.retrieved_context}
    return len(expected & retrieved) / len(expected)


def _compute(row: Row) -> Mapping[str, MetricValue]:
    return {_RECALL: document_recall(row)}


DOCUMENT_RECALL = MetricFamily(
    name="document_recall",
    columns=(Column(_RECALL, ColumnType.FLOAT),),
    specs=(mean_spec(_RECALL, low=0.0, high=1.0),),
    compute=_compute,
)
