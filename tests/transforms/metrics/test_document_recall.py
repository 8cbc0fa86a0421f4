"""document_recall: the share of distinct expected uris that were retrieved."""

import pytest

from beamjudge.schemas.metric import MetricKind
from beamjudge.transforms.metrics.retrieval import DOCUMENT_RECALL, document_recall


@pytest.mark.parametrize(
    ("retrieved", "expected_uris", "recall"),
    [
        (["a", "b", "c"], ["a", "b"], 1.0),
        (["a", "x"], ["a", "b", "c", "d"], 0.25),
        (["x"], ["a"], 0.0),
        ([], ["a"], 0.0),
        (["a", "a", "a"], ["a", "b"], 0.5),
        (["a"], ["a", "a", "b"], 0.5),
        ([None, "a"], ["a", None], 1.0),
        ([None], [None], None),
        (["a"], [], None),
        ([], [], None),
        (["a"], None, None),
        (None, ["a"], None),
        ([""], [""], 1.0),
    ],
)
def test_recall(make_row, retrieved, expected_uris, recall):
    row = make_row(retrieved=retrieved, expected_uris=expected_uris)
    assert document_recall(row) == recall
    assert DOCUMENT_RECALL.compute(row) == {"retrieval/ground_truth/document_recall": recall}


def test_uris_match_as_exact_text(make_row):
    row = make_row(retrieved=["7", "dbfs:/a/b.pdf ", "DOC"], expected_uris=["7", "dbfs:/a/b.pdf", "doc"])
    assert document_recall(row) == pytest.approx(1 / 3)


def test_it_is_averaged_in_the_unit_range():
    (spec,) = DOCUMENT_RECALL.specs
    assert spec.names == (("retrieval/ground_truth/document_recall/average", "value"),)
    assert (spec.kind, spec.low, spec.high) == (MetricKind.MEAN, 0.0, 1.0)


@pytest.mark.parametrize(("fault", "recall"), [("B22", None), ("B70", None), ("B73", 0.5)], ids=["B22", "B70", "B73"])
def test_reported_faults(make_row, reported_fault, fault, recall):
    """Uris become strings where rows are normalised, so that is done here before the metric sees them."""
    given = reported_fault(fault)
    retrieved, expected = (
        [str(document["doc_uri"]) for document in given[name]]
        for name in ("retrieved_context", "expected_retrieved_context")
    )
    assert document_recall(make_row(retrieved=retrieved, expected_uris=expected)) == recall


def test_a_retriever_that_found_nothing_stays_in_the_average(make_row, reported_fault):
    rows = [
        make_row(retrieved=[] if recall == "no results" else ["a"], expected_uris=["a"])
        for recall in reported_fault("B71")["recalls"]
    ]
    recalls = [document_recall(row) for row in rows]
    assert sum(recalls) / len(recalls) == 0.75
