"""Files of one glob whose columns differ, and files that change between matching and reading."""

import datetime as dt
import decimal
import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beamjudge.pipelines.cli import main
from beamjudge.schemas.record import FileStats, Reject, SourceRecord
from beamjudge.transforms.reading.files import match_files
from beamjudge.transforms.reading.ranges import plan_ranges, read_range


def read(parts):
    items = [item for part in parts for item in read_range(part, 1000)]
    return {kind: [item for item in items if isinstance(item, kind)] for kind in (SourceRecord, Reject, FileStats)}


def test_columns_that_come_go_and_change_their_type(tmp_path):
    documents = pa.array([[{"doc_uri": "d1", "content": "fact"}]])
    moment = dt.datetime(2026, 11, 29, tzinfo=dt.timezone.utc)
    tables = {
        "1.parquet": {"request": ["q1"], "response": ["a1"], "request_id": [1]},
        "2.parquet": {"request": [{"messages": [{"role": "user", "content": "q2"}]}], "response": ["a2"]},
        "3.parquet": {"request": ["q3"], "response": ["a3"], "retrieved_context": documents, "tier": ["gold"]},
        "4.parquet": {"request": ["q4"], "response": ["a4"], "retrieved_context": [["text"]], "tier": [4]},
        "5.parquet": {"request": ["q5"], "response": ["a5"], "retrieved_context": pa.nulls(1), "timestamp": [moment]},
        "6.parquet": {
            "request": ["q6"],
            "response": ["a6"],
            "timestamp": [1_795_997_595],
            "tier": [decimal.Decimal("1.50")],
        },
    }
    for name, columns in tables.items():
        pq.write_table(pa.table(columns), tmp_path / name)
    seventh = {
        "request": "q7",
        "response": ["a7"],
        "retrieved_context": "text",
        "timestamp": "2026-11-29",
        "tier": None,
    }
    (tmp_path / "7.jsonl").write_text(json.dumps(seventh))
    output = tmp_path / "out"
    arguments = ["evaluate", "--input", f"{tmp_path}/[1-7].*", "--output", str(output), "--quiet"]
    assert main([*arguments, "--judges", "safety", "--slice_by", "tier"]) == 0
    rows = {row["request_text"]: row for row in pq.read_table(f"{output}/rows").to_pylist()}
    assert sorted(rows) == [f"q{number}" for number in range(1, 8)]
    assert [rows[f"q{number}"]["response_text"] for number in range(1, 8)] == [f"a{number}" for number in range(1, 8)]
    assert rows["q1"]["request_id"] == "1"
    contexts = [rows[f"q{number}"]["retrieved_context"] for number in (3, 4, 5, 7)]
    assert [context and context[0]["content"] for context in contexts] == ["fact", "text", None, "text"]
    assert rows["q5"]["timestamp"] == rows["q7"]["timestamp"] == moment
    assert rows["q6"]["timestamp"] == dt.datetime.fromtimestamp(1_795_997_595, dt.timezone.utc)
    tiers = [rows[f"q{number}"]["slice/tier"] for number in range(3, 7)]
    assert (tiers[0], tiers[1]) == ("gold", "4")
    assert tiers[3] is not None


def test_a_text_that_shrank_gives_what_is_left(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1}\n' * 10)
    parts = list(plan_ranges(*match_files([str(path)]), split_bytes=20))
    path.write_bytes(b'{"a": 1}\n' * 4 + b'{"a"')
    found = read(parts)
    assert [record.source_position for record in found[SourceRecord]] == ["0", "9", "18", "27"]
    assert [(reject.code, reject.source_position) for reject in found[Reject]] == [("invalid_json", "36")]
    assert sum(stats.records for stats in found[FileStats]) == 5
    assert sum(stats.bad_files for stats in found[FileStats]) == 0


@pytest.mark.parametrize("left", [0, 3, 200])
def test_a_parquet_file_that_shrank_is_unreadable(tmp_path, left):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": list(range(1000))}), path, row_group_size=100)
    parts = list(plan_ranges(*match_files([str(path)]), split_bytes=1))
    assert len(parts) > 1
    path.write_bytes(path.read_bytes()[:left])
    found = read(parts)
    assert found[SourceRecord] == []
    assert {reject.code for reject in found[Reject]} == {"not_parquet"}
    assert len(found[Reject]) == sum(stats.bad_files for stats in found[FileStats]) == len(parts)


def test_a_parquet_file_that_was_replaced_by_a_smaller_one(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": list(range(300))}), path, row_group_size=100)
    parts = list(plan_ranges(*match_files([str(path)]), split_bytes=1))
    pq.write_table(pa.table({"a": list(range(100))}), path, row_group_size=100)
    found = read(parts)
    assert len(found[SourceRecord]) == 100
    assert {(reject.code, reject.source_position) for reject in found[Reject]} == {("not_parquet", None)}


@pytest.mark.parametrize("rest", [1, 2_000])
def test_gzip_members_of_any_size_follow_each_other(tmp_path, rest):
    line = b'{"request": "q", "response": "a"}\n'
    (tmp_path / "a.gz").write_bytes(gzip.compress(line * 2_000) + gzip.compress(line * rest))
    (part,) = plan_ranges(match_files([str(tmp_path)])[0])
    assert sum(isinstance(item, SourceRecord) for item in read_range(part, 1_000)) == 2_000 + rest
