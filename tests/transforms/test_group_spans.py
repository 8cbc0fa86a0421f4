"""Spans one a line: grouped into one record per trace, whoever reads what, while rows pass without a shuffle."""

import json
import random

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to
from hypothesis import given, settings
from hypothesis import strategies as st

from beamjudge.pipelines.cli import main
from beamjudge.schemas.log_tables import recognise_table
from beamjudge.schemas.record import SourceRecord
from beamjudge.schemas.run_config import RunConfig
from beamjudge.schemas.traces.grouping import spans_of_record
from beamjudge.transforms.group_spans import GroupSpans, group_locally, groups_spans
from beamjudge.transforms.normalize import normalize_record
from beamjudge.transforms.reading.files import match_files
from beamjudge.transforms.row_reader import InputRules

RUNNERS = {
    "1 worker": (),
    "3 workers": ("--direct_num_workers=3", "--direct_running_mode=multi_threading"),
    "bundle repeat": ("--direct_runner_bundle_repeat=1",),
}


def openinference(trace, own, parent, kind, start, **attributes):
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return {
        "name": own,
        "context": {"trace_id": trace, "span_id": own},
        "parent_id": parent,
        "start_time": f"2026-11-29T10:00:{start:02d}+00:00",
        "end_time": f"2026-11-29T10:00:{start + 2:02d}+00:00",
        "attributes": {"openinference.span.kind": kind, **named},
    }


def rag_trace(number):
    trace = f"trace{number}"
    documents = {"retrieval.documents.0.document.content": f"fact {number}"}
    root = openinference(trace, f"{trace}a", None, "CHAIN", 0, input__value=f"q{number}", output__value=f"a{number}")
    retriever = openinference(trace, f"{trace}b", f"{trace}a", "RETRIEVER", 1, input__value="x")
    retriever["attributes"] |= documents
    plain = {**openinference(trace, f"{trace}c", f"{trace}a", "", 1), "attributes": {"http.method": "GET"}}
    return [root, retriever, plain]


def otlp_line(*ids):
    """A batch of the collector's file exporter: spans of several traces."""
    spans = [
        {
            "traceId": trace,
            "spanId": own,
            "parentSpanId": parent,
            "startTimeUnixNano": str(1_795_997_595_000_000_000 + start),
            "endTimeUnixNano": str(1_795_997_596_000_000_000 + start),
            "attributes": [
                {"key": "gen_ai.prompt.0.content", "value": {"stringValue": f"asked {own}"}},
                {"key": "gen_ai.completion.0.content", "value": {"stringValue": f"said {own}"}},
            ],
        }
        for trace, own, parent, start in ids
    ]
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


def record(data, position=0, file="f.jsonl"):
    return SourceRecord(file, str(position), data)


def _key(item):
    return json.dumps(item.data, sort_keys=True), item.source_position


@pytest.mark.parametrize("flags", RUNNERS.values(), ids=RUNNERS)
def test_grouping_on_the_runner_equals_grouping_in_memory(flags):
    rows = [{"request": "q", "response": "a", "trace_id": "trace1", "span_id": "s"}, {"request": "only"}]
    spans = [span for number in range(5) for span in rag_trace(number)]
    batches = [otlp_line(("x", "x1", "", 0), ("y", "y2", "y1", 5)), otlp_line(("y", "y1", "", 3))]
    whole = {"spans": rag_trace(9)}
    logged = [record(data, position) for position, data in enumerate([*rows, *spans, *batches, whole])]
    random.Random(1).shuffle(logged)
    expected = sorted(_key(item) for item in group_locally(logged))
    assert len(expected) == 2 + 5 + 2 + 1
    options = PipelineOptions(["--direct_running_mode=in_memory", *flags])
    with beam.Pipeline(runner=FnApiRunner(), options=options) as root:
        grouped = root | beam.Create(logged) | "GroupSpans" >> GroupSpans()
        assert_that(grouped.records | beam.Map(_key), equal_to(expected), label="records")
        sums = grouped.counts | beam.CombinePerKey(sum)
        assert_that(sums, equal_to([("expanded", 1), ("grouped", 5 * 2 + 1)]), label="counts")


def test_a_trace_is_the_same_in_any_order_and_has_its_root_in_place():
    spans = [record(span, position) for position, span in enumerate(rag_trace(1))]
    (forward,), (backward,) = list(group_locally(spans)), list(group_locally(spans[::-1]))
    assert forward == backward
    assert (forward.data["request_id"], forward.source_position) == ("trace1", "0")
    assert [span["context"]["span_id"] for span in forward.data["trace"]["spans"]] == ["trace1a", "trace1b", "trace1c"]


def _langsmith(own, parent, **more):
    run = {"id": own, "trace_id": "t", "parent_run_id": parent, "run_type": "chain", "inputs": {"input": "q"}}
    return {**run, "outputs": {"output": "a"}, "start_time": "2026-11-29T10:00:00", **more}


def _langfuse(own, parent):
    observation = {"id": own, "traceId": "t", "parentObservationId": parent, "type": "SPAN", "input": "q"}
    return {**observation, "output": "a", "startTime": "2026-11-29T10:00:00Z"}


def _datadog(own, parent):
    span = {"span_id": own, "trace_id": "t", "parent_id": parent, "span_kind": "agent", "start_ns": 10**18}
    return {**span, "input": {"value": "q"}, "output": {"value": "a"}}


def _trulens(own, parent, trace):
    attributes = {"ai.observability.record_id": "r", "ai.observability.record_root.input": own}
    return {
        "record": {"parent_span_id": parent},
        "record_attributes": attributes,
        "start_timestamp": "2026-11-29 10:00:00.0",
        "timestamp": "2026-11-29 10:00:01.0",
        "trace": {"trace_id": trace, "span_id": own, "parent_id": parent},
    }


def _phoenix(own, parent):
    ids = {"context.trace_id": "t", "context.span_id": own, "parent_id": parent}
    return {**ids, "attributes.openinference.span.kind": "CHAIN", "start_time": "2026-11-29T10:00:00Z"}


@pytest.mark.parametrize(
    ("spans", "trace_id"),
    [
        ([_langsmith("b", "a"), _langsmith("a", None)], "t"),
        ([{"post": [_langsmith("a", None)], "patch": [_langsmith("b", "a")]}, _langsmith("c", "a")], "t"),
        ([_langfuse("b", "a"), _langfuse("a", None)], "t"),
        ([_datadog("b", "a"), _datadog("a", "undefined")], "t"),
        ([{"type": "span", "id": "x", "attributes": _datadog("b", "a")}, _datadog("a", "undefined")], "t"),
        ([_trulens("b", "a", "1"), _trulens("a", "", "1"), _trulens("e", "", "")], "r"),
        ([_phoenix("b", "a"), _phoenix("a", None)], "t"),
    ],
)
def test_spans_of_every_format_are_grouped(spans, trace_id):
    (trace,) = group_locally([record(span, position) for position, span in enumerate(spans)])
    assert trace.data["request_id"] == trace_id
    assert recognise_table(trace.data) is None
    for span in spans:  # and ungrouped each is a row of its own
        assert recognise_table(span).name == "traces"


def test_the_post_and_the_patch_of_a_run_are_one_root():
    order = "20261129T100000000000Zr"
    begun = _langsmith("r", None, name="ask", session_name="tea", outputs={}, dotted_order=order, tags=["new"])
    ended = {"id": "r", "trace_id": "t", "dotted_order": order, "end_time": "2026-11-29T10:00:02", "tags": ["done"]}
    ended |= {"outputs": {"output": "a"}, "inputs": {}, "error": None}
    child = _langsmith("c", "r", start_time="2026-11-29T10:00:01")
    whole = {**begun, **ended, "inputs": {"input": "q"}}
    one_batch = [{"post": [begun, child], "patch": [ended]}]
    for logged in (one_batch, [{"patch": [ended]}, {"post": [child]}, {"post": [begun]}]):
        (trace,) = group_locally([record(data, position) for position, data in enumerate(logged)])
        spans = trace.data.pop("trace")["spans"]
        assert spans == [whole, child]
        assert trace.data == {**whole, "request_id": "t", "timestamp": 1_795_946_400 * 10**9}
    rules = InputRules.of(_config(slice_by=["run_type", "session_name"]))
    (trace,) = group_locally([record(data) for data in one_batch])
    (row,) = normalize_record(trace, rules, bool)
    assert (row.request_text, row.response_text, row.timestamp) == ("q", "a", 1_795_946_400 * 10**6)
    assert ([item.value for item in row.slices], row.latency_seconds) == (["chain", "tea"], 2.0)


@pytest.mark.parametrize(
    "data",
    [
        {"request": "q", "response": "a", "attributes": {"a": 1}, "trace_id": "t", "span_id": "s", "start_time": 1},
        {"request": "q", "trace": {"spans": []}},
        {"trace": {"resourceSpans": []}, "resourceSpans": []},
        {"id": "t", "observations": [_langfuse("a", None)]},
        _langsmith("a", None, child_runs=[_langsmith("b", "a")]),
        {"info": {"trace_id": "t"}, "data": {"spans": []}},
        {"attributes": {"colour": "red"}, "trace_id": "t"},
        {"attributes": {"openinference.span.kind": "LLM"}},
    ],
)
def test_rows_and_whole_traces_are_not_grouped(data):
    assert list(group_locally([record(data)])) == [record(data)]


_NAMES = (
    "attributes trace_id span_id id run_type dotted_order type traceId startTime trace record resourceSpans post data"
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES.split()), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(_NAMES.split()), _JSON, max_size=8), max_size=4))
def test_no_record_raises_or_gets_lost(logged):
    records = [record(data, position) for position, data in enumerate(logged)]
    held = [spans_of_record(data) for data in logged]
    traces = {keyed.trace_id for spans in held for keyed in spans or ()}
    assert len(list(group_locally(records))) == held.count(None) + len(traces)


def _config(**more):
    return RunConfig(input=["x"], output="y", **more)


def test_auto_looks_at_the_first_records(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"request": "q"}\n{oops\n\n' + json.dumps(rag_trace(1)[0]) + "\n")
    (tmp_path / "b.csv").write_text("x")
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows/r.jsonl").write_text('{"request": "q", "response": "a"}\n')
    spans, rows = match_files([str(tmp_path / "*.*")]), match_files([str(tmp_path / "rows")])
    assert groups_spans(_config(), spans)
    assert not groups_spans(_config(), rows)
    assert not groups_spans(_config(group_spans="off"), spans)
    assert groups_spans(_config(group_spans="on"), rows)


def _read(output):
    import duckdb

    rows = duckdb.sql(f"select * from '{output}/rows/*.parquet'").fetchall()
    names = duckdb.sql(f"select * from '{output}/rows/*.parquet'").columns
    run = json.loads((output / "run.json").read_text())
    return [dict(zip(names, row, strict=True)) for row in rows], run


def _closes(counts):
    left = counts["records_read"] - counts["blank"] + counts["expanded"] - counts["grouped"]
    return left == counts["rows"] + counts["rejects"]


@pytest.mark.parametrize("flags", [(), ("--direct_num_workers=3",)], ids=["1 worker", "3 workers"])
def test_a_run_over_spans_closes_its_counts(tmp_path, flags):
    lines = [json.dumps(span) for number in range(20) for span in rag_trace(number)]
    lines += [json.dumps(otlp_line(("x", "x1", "", 0), ("y", "y2", "y1", 5), ("y", "y1", "", 1)))]
    lines += ['{"request": "q", "response": "a", "request_id": "row"}', "", "{oops"]
    random.Random(2).shuffle(lines)
    log = tmp_path / "logs" / "team=red"
    log.mkdir(parents=True)
    for part in range(3):
        (log / f"{part}.jsonl").write_text("\n".join(lines[part::3]) + "\n")
    output = tmp_path / "out"
    arguments = ["evaluate", "--input", str(tmp_path / "logs"), "--output", str(output), "--quiet", *flags]
    assert main([*arguments, "--slice_by", "team", "--max_reject_rate", "1", "--judges", "safety"]) == 0
    rows, run = _read(output)
    counts = run["counts"]
    assert _closes(counts)
    assert (counts["grouped"], counts["expanded"], counts["rejects"], counts["rows"]) == (20 * 2 + 1, 2, 1, 23)
    by_id = {row["request_id"]: row for row in rows}
    assert set(by_id) == {"row", "x", "y", *(f"trace{number}" for number in range(20))}
    seventh = by_id["trace7"]
    assert (seventh["request_text"], seventh["response_text"], seventh["slice/team"]) == ("q7", "a7", "red")
    assert [document["content"] for document in seventh["retrieved_context"]] == ["fact 7"]
    assert (by_id["y"]["request_text"], by_id["y"]["response_text"]) == ("asked y1", "said y1")


def test_ungrouped_spans_are_rows_of_their_own(tmp_path):
    log, output = tmp_path / "log.jsonl", tmp_path / "out"
    log.write_text("\n".join(json.dumps(span) for span in rag_trace(1)))
    arguments = ["evaluate", "--input", str(log), "--output", str(output), "--quiet", "--judges", "safety"]
    assert main([*arguments, "--group_spans", "off", "--max_reject_rate", "1"]) == 0
    rows, run = _read(output)
    assert sorted(row["request_id"] for row in rows) == ["trace1a", "trace1b"]
    assert (run["counts"]["grouped"], run["counts"]["rejects"]) == (0, 1)
    assert _closes(run["counts"])


def test_check_shows_traces(tmp_path, capsys):
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(json.dumps(span) for number in range(4) for span in rag_trace(number)))
    assert main(["check", "--input", str(log)]) == 0
    assert "4 rows, 0 rejects" in capsys.readouterr().out
