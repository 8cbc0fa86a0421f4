"""The memory benchmark measures what it says: rows of 1 KB, each with everything that its metrics need."""

import importlib.util
import json
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "memory.py"
spec = importlib.util.spec_from_file_location("memory_benchmark", SCRIPT)
memory = importlib.util.module_from_spec(spec)
spec.loader.exec_module(memory)


def test_every_line_of_the_log_has_1024_bytes_with_its_end(tmp_path: Path) -> None:
    memory.write_log(tmp_path / "log.jsonl", 2000)
    lines = (tmp_path / "log.jsonl").read_bytes().splitlines(keepends=True)
    assert len(lines) == 2000
    assert {len(line) for line in lines} == {1024}


def test_even_rows_retrieved_both_expected_documents_and_odd_rows_one() -> None:
    for number, share in ((0, 1.0), (7, 0.5), (996, 1.0), (997, 0.5)):
        row = json.loads(memory.log_line(number))
        retrieved = {document["doc_uri"] for document in row["retrieved_context"]}
        expected = {document["doc_uri"] for document in row["expected_retrieved_context"]}
        assert len(expected) == 2
        assert row["expected_response"]
        assert len(expected & retrieved) / len(expected) == share
