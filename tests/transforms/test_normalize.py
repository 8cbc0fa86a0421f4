import json
from pathlib import Path

import apache_beam as beam
import pytest
from apache_beam.testing.test_pipeline import TestPipeline as _TestPipeline
from apache_beam.testing.util import assert_that, equal_to
from hypothesis import given, settings
from hypothesis import strategies as st

from beamjudge.schemas.record import NOTE_CODES, REJECT_CODES, Reject, SourceRecord
from beamjudge.schemas.row import Document, Guidelines, Row, SliceValue, TokenUsage, Turn
from beamjudge.schemas.run_config import INPUT_COLUMNS, RunConfig
from beamjudge.transforms.normalize import Normalize, normalize_record
from beamjudge.transforms.row_reader import InputRules

SHARED = Path(__file__).parents[2] / "../shared"
needs_shared = pytest.mark.skipif(not SHARED.exists(), reason="the shared data is not here")


def always(row):
    return True


def needs_context(row):
    return row.retrieved_context is not None


def rules(**config):
    return InputRules.of(RunConfig(input=["logs"], output="out", **config))


def outcomes(data, can_score=always, position="0", path="a.jsonl", notes=(), **config):
    return list(normalize_record(SourceRecord(path, position, data, notes), rules(**config), can_score))


def row_of(data, **kwargs):
    (outcome,) = outcomes(data, **kwargs)
    assert isinstance(outcome, Row), outcome
    return outcome


def reject_of(data, **kwargs):
    (outcome,) = outcomes(data, **kwargs)
    assert isinstance(outcome, Reject), outcome
    return outcome


def trace_of(inputs="traced q", outputs="traced a", documents=None, **info):
    attributes = {"mlflow.spanInputs": json.dumps(inputs), "mlflow.spanOutputs": json.dumps(outputs)}
    spans = [{"span_id": "r", "parent_id": None, "attributes": attributes}]
    if documents is not None:
        retriever = {"mlflow.spanType": '"RETRIEVER"', "mlflow.spanOutputs": json.dumps(documents)}
        spans.append({"span_id": "s", "parent_id": "r", "attributes": retriever})
    return {"info": {"trace_id": "tr-1", **info}, "data": {"spans": spans}}


def test_a_full_row():
    data = {
        "request_id": "r1",
        "request": {"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "q"}]},
        "response": "a",
        "expected_response": ["e", "f"],
        "guidelines": {"tone": ["Be kind."]},
        "retrieved_context": [{"doc_uri": "d", "content": "c"}],
        "expected_retrieved_context": [{"doc_uri": "d"}],
        "timestamp": 1_795_997_595,
        "usage": {"input_tokens": 2, "output_tokens": 3},
        "latency_ms": 250,
    }
    row = row_of(data, notes=("non_finite_to_null",), position="17")
    assert row == Row(
        request_id="r1",
        timestamp=1_795_997_595_000_000,
        request='{"messages":[{"content":"s","role":"system"},{"content":"q","role":"user"}]}',
        response='{"choices":[{"message":{"content":"a","role":"assistant"}}]}',
        request_text="q",
        history=(Turn("system", "s"),),
        response_text="a",
        expected_response="e",
        expected_responses=("f",),
        expected_facts=None,
        guidelines=Guidelines(named=(("tone", ("Be kind.",)),)),
        retrieved_context=(Document("d", "c"),),
        expected_retrieved_context=(Document("d", None),),
        usage=TokenUsage(2, 3, 5),
        latency_seconds=0.25,
        notes=("non_finite_to_null",),
        source_file="a.jsonl",
        source_position="17",
    )


def test_a_missing_id_depends_on_content_and_position_and_not_on_the_path():
    data = {"request": "q", "response": "a"}
    own = row_of(data).request_id
    assert len(own) == 32
    assert row_of({"response": "a", "request": "q"}, path="b/c.jsonl").request_id == own
    assert row_of(data, position="1").request_id != own
    assert row_of({**data, "model": "m"}).request_id != own


def test_ids_stay_as_they_are():
    assert row_of({"request_id": "007", "request": "q", "response": "a"}).request_id == "007"
    row = row_of({"request_id": 10254939386542155531, "request": "q", "response": "a"})
    assert (row.request_id, row.notes) == ("10254939386542155531", ("id_to_string",))


def test_columns_are_mapped_into_nested_json():
    data = {"prompt": "q", "completion": '{"text": "a", "tokens": 3}', "request": "unused", "m": "x"}
    columns = {"request": "prompt", "response": "completion.text"}
    row = row_of(data, columns=columns, keep_extra=True)
    assert (row.request_text, row.response_text) == ("q", "a")
    assert row.extra == '{"m":"x","request":"unused"}'


def test_extra_is_kept_on_demand_only():
    data = {"request": "q", "response": "a", "model": "m", "_note": None}
    assert row_of(data).extra is None
    assert row_of(data, keep_extra=True).extra == '{"_note":null,"model":"m"}'


def test_the_trace_gives_what_the_row_lacks():
    trace = trace_of(documents=[{"content": "c", "id": 7}], execution_duration_ms=1500)
    row = row_of({"trace": trace, "latency_ms": 1})
    assert (row.request_text, row.response_text, row.latency_seconds) == ("traced q", "traced a", 1.5)
    assert row.retrieved_context == (Document("7", "c"),)
    assert row.notes == ("request_from_trace", "response_from_trace", "context_from_trace", "doc_uri_to_string")


def test_the_rows_own_columns_win_over_the_trace():
    trace = json.dumps(trace_of(documents=[{"content": "traced c"}]))
    row = row_of({"request": "q", "response": "a", "retrieved_context": [], "trace": trace})
    assert (row.request_text, row.response_text, row.retrieved_context, row.notes) == ("q", "a", (), ())


def test_an_unreadable_trace_rejects_only_a_row_that_needs_it():
    row = row_of({"request": "q", "response": "a", "trace": "{"})
    assert row.notes == ("trace_unreadable",)
    assert reject_of({"response": "a", "trace": "{"}).code == "bad_trace"
    assert reject_of({"request": "q", "trace": "{"}, can_score=needs_context).code == "bad_trace"
    # A retrieval judge has all that it needs.
    row = row_of({"request": "q", "trace": "{", "retrieved_context": ["c"]}, can_score=needs_context)
    assert (row.response_text, row.notes) == (None, ("trace_unreadable",))


@pytest.mark.parametrize("blank", ["", " ", ["", " "]])
def test_a_blank_expectation_counts_as_absent(blank):
    row = row_of({"request": "q", "response": "a", "expected_response": blank, "expected_facts": ["f"]})
    assert (row.expected_response, row.expected_facts) == (None, ("f",))
    row = row_of({"request": "q", "response": "a", "expected_response": "r", "expected_facts": blank})
    assert (row.expected_response, row.expected_facts) == ("r", None)


def test_a_batch_takes_nothing_from_the_trace_of_the_whole():
    trace = trace_of(documents=[{"content": "of one of them"}], execution_duration_ms=900)
    record = {"request": {"inputs": ["x", "y"]}, "response": ["a", "b"], "trace": trace}
    assert [(row.retrieved_context, row.latency_seconds) for row in outcomes(record)] == [(None, None)] * 2


def test_values_with_commas_are_no_crossed_slices():
    plain = row_of({"request": "q", "response": "a", "model": "a,locale=b"}, slice_by=["model"])
    crossed = row_of({"request": "q", "response": "a", "model": "a", "locale": "b"}, slice_by=["model*locale"])
    assert plain.slices == (SliceValue("model", "a,locale=b", r"model=a\,locale=b"),)
    assert crossed.slices == (SliceValue("model*locale", "model=a,locale=b", "model=a,locale=b"),)


@pytest.mark.parametrize("nothing", [None, "", " ", {}, "null", {"info": None, "data": None}])
def test_an_absent_trace(nothing):
    assert row_of({"request": "q", "response": "a", "trace": nothing}).notes == ()


def test_no_request():
    rejected = reject_of({"response": "a"})
    assert rejected.code == "no_request"
    assert rejected.reason.endswith("; name its column with --columns request=COLUMN")
    assert reject_of({"response": "a", "trace": trace_of(inputs={"messages": []})}).code == "no_request"


def test_no_response_rejects_only_a_row_of_no_use():
    assert reject_of({"request": "q"}, can_score=needs_context).code == "no_response"
    row = row_of({"request": "q", "retrieved_context": ["c"]}, can_score=needs_context)
    assert (row.response, row.response_text) == (None, None)
    assert row_of({"request": "q", "trace": trace_of(outputs=None)}, can_score=needs_context).response is None


@pytest.mark.parametrize("app", [{}, {"endpoints": {"default": {"model": "lexical"}, "app": {"model": "agent"}}}])
def test_a_failed_trace_without_a_response_is_a_failed_call(app):
    failed = trace_of(outputs=None, state="ERROR")
    rejected = reject_of({"request": "q", "trace": failed}, **app)
    assert (rejected.code, rejected.reason) == ("upstream_error", "the trace failed and has no response")
    assert row_of({"request": "q", "response": "a", "trace": failed}, **app).response_text == "a"
    assert row_of({"trace": trace_of(outputs="said", state="ERROR")}, **app).response_text == "said"
    assert row_of({"trace": trace_of(outputs=None, state="OK")}, **app).response is None


def test_expectations():
    both = {"request_id": "r1", "request": "q", "response": "a", "expected_response": "a", "expected_facts": ["a"]}
    rejected = reject_of(both)
    assert (rejected.code, rejected.request_id) == ("both_expectations", "r1")
    assert json.loads(rejected.raw) == both
    row = row_of({**both, "expected_facts": []})
    assert (row.expected_response, row.expected_facts) == ("a", None)
    row = row_of({**both, "expected_response": []})
    assert (row.expected_response, row.expected_responses, row.expected_facts) == (None, (), ("a",))
    assert row_of({**both, "expected_response": None, "expected_facts": []}).expected_facts == ()
    assert row_of({**both, "expected_response": None, "expected_facts": None}).expected_facts is None


VALUES = {
    "a number": 5,
    "a fraction": 0.5,
    "a boolean": True,
    "a string": "a",
    "strings": ["a"],
    "numbers": [1],
    "documents": [{"doc_uri": "d", "content": "c"}],
    "an object": {"a": ["b"]},
}
# What each column takes; of a trace, what is read without a note or reject.
TAKES = {
    "request_id": {"a number", "a fraction", "a boolean", "a string"},
    "request": {"a string", "strings", "numbers", "documents", "an object"},
    "response": {"a string", "strings", "numbers", "documents", "an object"},
    "expected_response": {"a string", "strings"},
    "expected_facts": {"a string", "strings"},
    "guidelines": {"a string", "strings", "an object"},
    "expected_retrieved_context": {"documents"},
    "retrieved_context": {"a string", "strings", "documents"},
    "timestamp": {"a number", "a fraction", "a string"},
}


def test_every_column_is_known():
    assert {*TAKES, "trace"} == set(INPUT_COLUMNS)


@pytest.mark.parametrize("column", TAKES)
@pytest.mark.parametrize("kind", VALUES)
def test_the_types_that_a_column_takes(column, kind):
    (found,) = outcomes({"request": "q", "response": "a", column: VALUES[kind]})
    code = found.code if isinstance(found, Reject) else None
    assert code == (None if kind in TAKES[column] else f"bad_type:{column}")


@pytest.mark.parametrize("column", TAKES)
def test_null_is_of_every_type(column):
    (found,) = outcomes({"request": "q", "response": "a", column: None})
    assert isinstance(found, Row) or (column, found.code) == ("request", "no_request")


@pytest.mark.parametrize("kind", VALUES)
def test_a_trace_of_a_wrong_type_costs_only_the_rows_that_need_it(kind):
    assert row_of({"request": "q", "response": "a", "trace": VALUES[kind]}).notes == ("trace_unreadable",)
    assert reject_of({"request": "q", "trace": VALUES[kind]}, can_score=needs_context).code == "bad_trace"


def test_a_number_among_the_predictions_costs_its_own_row():
    data = {"request_id": "b", "request": {"instances": ["q", "r"]}, "response": {"predictions": ["a", 0.5]}}
    first, second = outcomes(data)
    assert first.response_text == "a"
    assert (second.request_id, second.code) == ("b#1", "bad_type:response")


def test_a_timestamp_that_cannot_be_read():
    row = row_of({"request": "q", "response": "a", "timestamp": "soon"})
    assert (row.timestamp, row.notes) == (None, ("bad_timestamp",))


def test_usage_and_latency_that_nobody_logged_are_null():
    row = row_of({"request": "q", "response": "a", "latency_ms": "fast", "usage": 5})
    assert (row.usage, row.latency_seconds) == (TokenUsage(), None)


def test_usage_of_the_response():
    response = {"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": 2, "completion_tokens": 1}}
    row = row_of({"request": "q", "response": response, "usage": {"total_tokens": 99}})
    assert row.usage == TokenUsage(2, 1, 3)


def test_slices():
    data = {"request": "q", "response": "a", "model": "m", "on": True, "n": 1.5, "o": {"b": [1], "a": "x"}, "no": None}
    row = row_of(data, slice_by=["model", "on", "n", "o", "o.a", "no", "gone", "model*on"])
    assert row.slices == (
        SliceValue("model", "m", "model=m"),
        SliceValue("on", "true", "on=true"),
        SliceValue("n", "1.5", "n=1.5"),
        SliceValue("o", '{"a":"x","b":[1]}', 'o={"a":"x"\\,"b":[1]}'),
        SliceValue("o.a", "x", "o.a=x"),
        SliceValue("no", "(null)", "no=(null)"),
        SliceValue("gone", "(null)", "gone=(null)"),
        SliceValue("model*on", "model=m,on=true", "model=m,on=true"),
    )


def test_a_batch_is_one_row_per_request():
    data = {
        "request_id": "b",
        "request": {"dataframe_records": [{"query": "q0"}, 5, {"query": "q2"}]},
        "response": '{"predictions": ["a0", "a1", {"content": "a2"}]}',
        "usage": {"total_tokens": 9},
    }
    first, second, third = outcomes(data)
    assert (first.request_id, first.request_text, first.response_text) == ("b#0", "q0", "a0")
    assert (second.request_id, second.code) == ("b#1", "bad_type:request")
    assert (third.request_id, third.request_text, third.response_text) == ("b#2", "q2", "a2")
    assert first.usage == TokenUsage()


def test_a_batch_in_a_string():
    (row,) = outcomes({"request": '{"dataframe_split": {"columns": ["query"], "data": [["q"]]}}', "response": "a"})
    assert (row.request_text, row.response_text) == ("q", "a")


@pytest.mark.parametrize(
    ("request_", "response", "code"),
    [({"inputs": ["a", "b"]}, ["x"], "batch_mismatch"), ({"inputs": []}, [], "no_request")],
)
def test_batches_that_do_not_pair(request_, response, code):
    assert reject_of({"request": request_, "response": response}).code == code


def test_raw_text_is_cut_and_left_out_on_demand():
    data = {"response": "é" * 65_536}
    raw = reject_of(data).raw
    assert raw.startswith('{"response":"éé')
    assert 65_536 - 4 < len(raw.encode()) <= 65_536
    assert reject_of(data, store_text="none").raw is None


def test_sampling_marks_rows():
    marked = {
        row_of({"request_id": str(n), "request": "q", "response": "a"}, sample_rate=0.5).sampled for n in range(64)
    }
    assert marked == {True, False}


ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6)
    | st.sampled_from(
        ['{"messages": [{}]}', '{"choices": [1]}', "[null]", '{"dataframe_records": [1]}', "1e400", "-5"]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["messages", "role", "content", "choices", "inputs", "instances", "info", "data", "trace_id", "spans"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=10,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from([*INPUT_COLUMNS, "usage", "latency_ms", "model"]), ANY))
def test_any_record_gives_rows_or_rejects(data):
    found = outcomes(data, slice_by=["model", "model*latency_ms", "request.content"], keep_extra=True)
    assert found
    for outcome in found:
        if isinstance(outcome, Row):
            assert {note.partition(":")[0] for note in outcome.notes} <= set(NOTE_CODES)
        else:
            assert outcome.code.partition(":")[0] in REJECT_CODES
            assert "\n" not in outcome.reason


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(INPUT_COLUMNS), ANY)
def test_any_value_in_any_column_of_a_good_row(column, value):
    found = outcomes({"request": "q", "response": "a", column: value})
    assert all(isinstance(outcome, (Row, Reject)) for outcome in found)


def test_the_transform_separates_rows_rejects_and_counts():
    records = [
        SourceRecord("a.jsonl", "0", {"request_id": "r", "request": "q", "response": "a"}),
        SourceRecord("a.jsonl", "9", {"request_id": "s", "response": "a"}),
        SourceRecord("a.jsonl", "18", {"request_id": "t", "request": {"inputs": ["x", "y"]}, "response": ["a", "b"]}),
    ]
    config = RunConfig(input=["logs"], output="out")
    with _TestPipeline() as pipeline:
        normalized = pipeline | "Records" >> beam.Create(records) | "Normalize" >> Normalize(config, always)
        ids = normalized.rows | "Ids" >> beam.Map(lambda row: row.request_id)
        codes = normalized.rejects | "Codes" >> beam.Map(lambda reject: (reject.request_id, reject.code))
        sums = normalized.counts | "Sum" >> beam.CombinePerKey(sum)
        assert_that(ids, equal_to(["r", "t#0", "t#1"]), label="CheckRows")
        assert_that(codes, equal_to([("s", "no_request")]), label="CheckRejects")
        expected = [("rows", 3), ("rejects", 1), ("reject:no_request", 1), ("expanded", 1)]
        assert_that(sums, equal_to(expected), label="CheckCounts")


@needs_shared
def test_judged_rows_have_no_reject():
    count = 0
    for path in sorted((SHARED / "data/judges_dev").glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            data = {name: value for name, value in json.loads(line).items() if not name.startswith("_")}
            row = row_of(data, can_score=needs_context, position=str(number))
            assert row.request_id == data["request_id"]
            count += 1
    assert count == 2792


@needs_shared
def test_spellings_of_expectations_and_guidelines():
    lines = (SHARED / "data/format_traps/both_expected.jsonl").read_text(encoding="utf-8").splitlines()
    found = [outcomes(json.loads(line))[0] for line in lines]
    assert [outcome.request_id for outcome in found] == ["r1", "r2", "r3", "r4", "r5", "r6", "r7"]
    assert [outcome.code for outcome in found if isinstance(outcome, Reject)] == ["both_expectations"]
    assert [(row.expected_facts is None, row.guidelines is None) for row in found[1:]] == [
        (False, True),
        (False, True),
        (True, False),
        (True, False),
        (True, False),
        (True, True),
    ]
    assert found[2].notes == found[5].notes == ("bare_string_as_list",)


def test_a_row_that_an_application_is_to_answer_has_its_request_as_it_was_logged():
    app = {"endpoints": {"default": {"model": "lexical"}, "app": {"model": "agent"}}}

    def unanswered(data, **config):
        return row_of(data, can_score=needs_context, **(config or app)).unanswered

    logged = {"messages": [{"role": "user", "content": "q"}], "b": 1, "a": [2]}
    assert unanswered({"request": "q"}) == '{"messages":[{"role":"user","content":"q"}]}'
    assert unanswered({"request": logged}) == json.dumps(logged, separators=(",", ":"))
    assert unanswered({"request": json.dumps(logged)}) == json.dumps(logged, separators=(",", ":"))
    assert unanswered({"request": logged["messages"]}) == '{"messages":[{"role":"user","content":"q"}]}'
    assert unanswered({"request": {"query": "q"}}) == '{"query":"q"}'
    assert unanswered({"request": [1, 2]}) == '{"messages":[{"role":"user","content":"[1,2]"}]}'
    # Not asked: it has a response, even an empty one, or a trace; or there is no application.
    assert unanswered({"request": "q", "response": "a"}) is None
    assert unanswered({"request": "q", "response": ""}) is None
    assert unanswered({"request": "q", "trace": trace_of()}) is None
    assert unanswered({"request": "q", "retrieved_context": ["c"]}, store_text="full") is None
    assert reject_of({"request": "q"}, can_score=needs_context).code == "no_response"
    traced = {"request": "q", "trace": trace_of(outputs=None)}
    assert row_of(traced, **app).unanswered is None


def test_each_request_of_a_batch_is_answered_by_itself():
    app = {"endpoints": {"default": {"model": "lexical"}, "app": {"model": "agent"}}}
    rows = outcomes({"request": {"dataframe_records": [{"query": "a"}, {"query": "b"}]}}, **app)
    assert [row.unanswered for row in rows] == ['{"query":"a"}', '{"query":"b"}']
