"""Of rows without a response only those are lost of which nothing selected has anything to say."""

import pytest

from beamjudge.schemas.record import SourceRecord
from beamjudge.schemas.row import Row
from beamjudge.schemas.run_config import RunConfig
from beamjudge.transforms.evaluate import CanScore
from beamjudge.transforms.normalize import normalize_record
from beamjudge.transforms.plan import plan_run
from beamjudge.transforms.row_reader import InputRules

FOUND, WANTED = [{"doc_uri": "d", "content": "c"}], [{"doc_uri": "d"}]


@pytest.mark.parametrize(
    ("judges", "metrics", "columns", "is_row"),
    [
        (["chunk_relevance"], [], {"retrieved_context": FOUND}, True),
        (["chunk_relevance"], [], {"retrieved_context": [{"doc_uri": "d"}]}, True),
        (["chunk_relevance"], [], {"retrieved_context": []}, True),
        (["chunk_relevance"], [], {}, False),
        (["context_sufficiency"], [], {"retrieved_context": FOUND, "expected_response": "a"}, True),
        (["context_sufficiency"], [], {"retrieved_context": FOUND, "expected_facts": []}, True),
        (["context_sufficiency"], [], {"retrieved_context": FOUND}, False),
        (["context_sufficiency"], [], {"expected_facts": []}, False),
        (["groundedness", "correctness"], [], {"retrieved_context": FOUND, "expected_response": "a"}, False),
        (["groundedness", "correctness"], [], {"retrieved_context": [], "expected_facts": []}, False),
        ([], ["document_recall"], {"retrieved_context": FOUND, "expected_retrieved_context": WANTED}, True),
        ([], ["document_recall"], {"retrieved_context": FOUND, "expected_retrieved_context": []}, True),
        ([], ["document_recall"], {"retrieved_context": [], "expected_retrieved_context": WANTED}, True),
        ([], ["document_recall"], {"retrieved_context": FOUND}, False),
        ([], ["document_recall"], {"expected_retrieved_context": WANTED}, False),
        ([], ["length"], {"retrieved_context": FOUND, "expected_retrieved_context": []}, False),
        ([], ["latency"], {"latency_ms": 5}, True),
    ],
)
def test_which_rows_without_a_response_are_kept(judges, metrics, columns, is_row):
    config = RunConfig(input=["log.jsonl"], output="out", judges=judges, metrics=metrics)
    record = SourceRecord("log.jsonl", "0", {"request": "q", **columns})
    (found,) = normalize_record(record, InputRules.of(config), CanScore(plan_run(config)))
    assert isinstance(found, Row) == is_row
    assert is_row or found.code == "no_response"
