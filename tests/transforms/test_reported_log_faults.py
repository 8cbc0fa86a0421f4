"""Faults of other tools in reading logs, as their users reported them: the 25 of shared/cases, each with its test."""

import gzip
import json

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from apache_beam.testing.test_pipeline import TestPipeline as _TestPipeline
from reported_faults import reported_faults

from beamjudge.schemas.json_text import decode_container
from beamjudge.schemas.record import InputFile, Reject, SourceRecord
from beamjudge.schemas.row import Document, Row, TokenUsage
from beamjudge.schemas.run_config import RunConfig
from beamjudge.transforms.evaluate import CanScore
from beamjudge.transforms.normalize import normalize_record
from beamjudge.transforms.plan import plan_run
from beamjudge.transforms.reading.ranges import plan_ranges, read_range
from beamjudge.transforms.row_reader import InputRules
from beamjudge.transforms.write import WriteTable

_AREAS = {"file reading", "trace parsing", "input schema", "parquet", "messages", "text", "inference table"}
_CONFIG = RunConfig(input=["log"], output="out")


@pytest.fixture(scope="module")
def cases():
    """Each fault's input, by its id."""
    return reported_faults(_AREAS)


def test_every_fault_has_its_test(cases):
    tests = {name.upper() for test in globals() if test.startswith("test_") for name in test.split("_")}
    assert len(cases) == 25
    assert set(cases) <= tests


def read(data):
    """The row or reject of one record."""
    can_score = CanScore(plan_run(_CONFIG))
    (outcome,) = normalize_record(SourceRecord("log", "0", data), InputRules.of(_CONFIG), can_score)
    return outcome


def row_of(data):
    outcome = read({"request": "q", "response": "a", **data})
    assert isinstance(outcome, Row), outcome
    return outcome


def records_of(path, split_bytes=1 << 20):
    """All that the ranges of a file give but their counts."""
    file = InputFile(str(path), path.stat().st_size, None)
    items = [item for part in plan_ranges(file, split_bytes) for item in read_range(part, 64 << 20)]
    return [item for item in items if isinstance(item, (SourceRecord, Reject))]


def data_of(path, split_bytes=1 << 20):
    return [record.data for record in records_of(path, split_bytes)]


def test_b25_one_context_is_one_chunk(cases):
    row = row_of(cases["B25"])
    assert row.retrieved_context == (Document(None, "The only passage."),)
    assert row.notes == ("bare_string_as_list",)


def test_b26_an_empty_list_of_contexts_is_no_chunk(cases, tmp_path):
    assert row_of(cases["B26"]).retrieved_context == ()
    pq.write_table(pa.Table.from_pylist([{"request": "q", "response": "a", **cases["B26"]}]), tmp_path / "a.parquet")
    assert row_of(data_of(tmp_path / "a.parquet")[0]).retrieved_context == ()


def test_b28_numbered_documents_are_in_the_order_of_their_numbers(cases):
    documents = row_of({"trace": [cases["B28"]]}).retrieved_context
    assert documents == (Document("d1", "A"), Document(None, "C"), Document(None, "K"))


def test_b29_a_trace_without_a_retriever_says_so(cases):
    row = row_of(cases["B29"])
    assert row.retrieved_context is None
    assert row.notes == ("no_context_in_trace",)
    assert row.response_text == "a"


def test_b31_a_list_of_messages_as_inputs(cases):
    attributes = {"mlflow.spanInputs": json.dumps(cases["B31"]["span_inputs"]), "mlflow.spanOutputs": '"a"'}
    trace = {"info": {"trace_id": "tr-1"}, "data": {"spans": [{"parent_id": None, "attributes": attributes}]}}
    assert read({"trace": trace}).request_text == "Hi"


def test_b32_a_null_trace_is_none(cases):
    row = read(cases["B32"])
    assert (row.request_text, row.response_text, row.notes) == ("q", "a", ())


def test_b34_cut_copies_are_not_read(cases):
    info = {"request_id": "tr-1", "request_metadata": cases["B34"]["request_metadata"]}
    trace = {"info": info, "data": {"spans": cases["B34"]["spans"]}}
    assert read({"trace": trace, "response": "a"}).request_text == "How do I do it?"


def test_b35_strings_and_objects_in_one_column(cases, tmp_path):
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in cases["B35"]["rows"]))
    assert [row_of(data).request_text for data in data_of(tmp_path / "a.jsonl")] == ["q1", "q2", "q3"]


def test_b37_null_expectations_are_none(cases):
    row = read(cases["B37"])
    assert (row.expected_response, row.expected_responses, row.expected_facts) == (None, (), None)


def test_b40_a_refusal_is_the_text_and_calls_are_noted(cases):
    row = row_of({"response": cases["B40"]})
    assert (row.response_text, row.notes) == ("I cannot help with that.", ("refusal",))
    calls = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    row = row_of({"response": {"choices": [{"message": {"content": None, "tool_calls": calls}}]}})
    assert row.notes == ("tool_calls_only",)


def test_b41_a_chunk_of_nothing_but_usage(cases):
    row = row_of({"response": cases["B41"]})
    assert (row.response_text, row.usage) == ("Hello", TokenUsage(3, 1, 4))
    text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in cases["B41"]["sse"])
    assert row_of({"response": text}).response_text == "Hello"


def test_b43_half_a_character_is_written(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"request": "q", "response": "half \\ud83d face"}\n')
    (record,) = records_of(tmp_path / "a.jsonl")
    assert record.notes == ("surrogates_replaced",)
    row = row_of(record.data)
    assert row.response_text == "half \ufffd face"
    assert row.response.encode().decode() == row.response


def test_b44_an_escaped_pair_is_one_character(cases):
    assert decode_container(cases["B44"]["raw"]) == ({"rationale": "cheers \U0001f378"}, ())


@pytest.mark.parametrize("split_bytes", [1, 5, 1 << 20])
def test_b46_a_mark_at_the_start_costs_no_row(tmp_path, split_bytes):
    (tmp_path / "a.jsonl").write_bytes(b'\xef\xbb\xbf{"request": "q1"}\n{"request": "q2"}\n')
    assert [data["request"] for data in data_of(tmp_path / "a.jsonl", split_bytes)] == ["q1", "q2"]


@pytest.mark.parametrize("split_bytes", [1_000, 65_537, 1 << 20])
def test_b47_every_line_once_at_any_split(tmp_path, split_bytes):
    lengths = [600_000 if number == 5_000 else number * 37 % 211 for number in range(10_000)]
    lines = [json.dumps({"id": number, "request": "x" * length}) for number, length in enumerate(lengths)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    assert [data["id"] for data in data_of(tmp_path / "a.jsonl", split_bytes)] == list(range(10_000))


def test_b49_compressed_text_is_read_to_its_end(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(b'{"request": "%d"}\n' % number for number in range(10_000))))
    assert path.stat().st_size < 50_000
    assert [data["request"] for data in data_of(path, 1_000)] == [str(number) for number in range(10_000)]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_b50_utf_16(tmp_path, encoding):
    mark = b"" if encoding == "utf-16" else b"\xfe\xff"
    (tmp_path / "a.jsonl").write_bytes(mark + '{"request": "é"}\r\n{"request": "q2"}\r\n'.encode(encoding))
    assert [data["request"] for data in data_of(tmp_path / "a.jsonl")] == ["é", "q2"]
    (tmp_path / "b.jsonl").write_bytes('{"request": "é"}\n'.encode("utf-16-le"))
    (reject,) = records_of(tmp_path / "b.jsonl")
    assert (reject.code, "UTF-16" in reject.reason) == ("unsupported_encoding", True)


@pytest.mark.parametrize("first", [0, 1])
def test_b52_rows_of_nulls_have_the_schema_of_all(cases, tmp_path, first):
    """Each row is a file of its own here, as the first rows of a worker may be."""
    rows = cases["B52"]["rows"]
    schema = pa.schema([("error_message", pa.string()), ("ratings", pa.list_(pa.string()))])
    for number in (first, 1 - first):
        with _TestPipeline() as pipeline:
            pipeline | beam.Create([rows[number]]) | WriteTable(f"{tmp_path}/{number}", schema)
    files = sorted(tmp_path.glob("*/*.parquet"))
    assert [pq.read_schema(file).equals(schema) for file in files] == [True, True]
    assert pq.read_table(files).to_pylist() == rows


def test_b53_documents_with_a_child_that_is_always_null(cases, tmp_path):
    pq.write_table(pa.Table.from_pylist([{"request": "q", "response": "a", **cases["B53"]}]), tmp_path / "a.parquet")
    (data,) = data_of(tmp_path / "a.parquet")
    assert row_of(data).retrieved_context == (Document("d1", None), Document("d2", None))


def test_b55_a_list_of_objects_where_text_is_usual(cases, tmp_path):
    pq.write_table(pa.Table.from_pylist([{"request": "q", **cases["B55"]}]), tmp_path / "a.parquet")
    (data,) = data_of(tmp_path / "a.parquet")
    assert data["response"] == cases["B55"]["response"]
    assert row_of(data).response_text == "a"


def test_b56_other_types_of_text_are_text(cases, tmp_path):
    types = {"large_string": pa.large_string(), "binary": pa.binary(), "dictionary<int32,string>": None}
    assert set(cases["B56"]["column_type"]) == set(types)
    found = []
    for name, arrow_type in types.items():
        texts = pa.array(["q1", None, "q2"])
        column = texts.dictionary_encode() if arrow_type is None else texts.cast(arrow_type)
        pq.write_table(pa.table({"request": column}), tmp_path / f"{len(name)}.parquet")
        found.append(data_of(tmp_path / f"{len(name)}.parquet"))
    assert found == [[{"request": "q1"}, {"request": None}, {"request": "q2"}]] * 3


def test_b58_ids_of_digits_stay_text(cases, tmp_path):
    given = cases["B58"]["rows"]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given))
    pq.write_table(pa.Table.from_pylist(given), tmp_path / "a.parquet")
    for name in ("a.jsonl", "a.parquet"):
        found = [row_of(data).request_id for data in data_of(tmp_path / name)]
        assert found == [row["request_id"] for row in given]


def test_b59_integers_above_64_bits(cases, tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps(cases["B59"]) + '\n{"request_id": 1}\n')
    found = [row_of(data).request_id for data in data_of(tmp_path / "a.jsonl")]
    assert found == ["10254939386542155531", "1"]


def test_b80_a_block_with_status_200_is_no_answer(cases):
    outcome = read({"databricks_request_id": "r", "request": "q", **cases["B80"]})
    assert (outcome.code, outcome.request_id) == ("blocked", "r")
    for response in (None, "[]"):
        outcome = read({"databricks_request_id": "r", "request": "q", "status_code": 200, "response": response})
        assert outcome.code == "upstream_error"
    assert read({"databricks_request_id": "r", "request": "q", "status_code": 503}).code == "upstream_error"


def test_b82_separators_in_a_string_end_no_line(tmp_path):
    text = "a\u2028b\u2029c\u0085d"
    (tmp_path / "a.jsonl").write_text(json.dumps({"request": text}, ensure_ascii=False) + "\n", encoding="utf-8")
    assert [data["request"] for data in data_of(tmp_path / "a.jsonl")] == [text]
