"""The rows table: its schema follows from the configuration, its cells from one hand-made row."""

import dataclasses

import pyarrow as pa
import pytest

from beamjudge.schemas.assessment import NOT_SAMPLED, Assessment, EvaluatedRow, Verdict
from beamjudge.schemas.judges import BUILT_IN_JUDGES, JudgeSpec, Need
from beamjudge.schemas.metric import Column, ColumnType
from beamjudge.schemas.row import Document, Guidelines, Row, SliceValue, TokenUsage
from beamjudge.schemas.run_config import RunConfig
from beamjudge.schemas.tables import utf8
from beamjudge.schemas.tables.rows import row_record, rows_schema

JUDGES = {spec.name: spec for spec in BUILT_IN_JUDGES}
ROW = Row(
    request_id="r1",
    timestamp=1_700_000_000_000_000,
    request='{"messages":[]}',
    response=None,
    request_text="q",
    history=(),
    response_text=None,
    expected_response="a",
    expected_responses=("b",),
    expected_facts=None,
    guidelines=Guidelines(named=(("tone", ("Be kind.",)),)),
    retrieved_context=(Document("d1", "x"), Document("d1", "y"), Document(None, None)),
    expected_retrieved_context=(),
    usage=TokenUsage(),
    latency_seconds=None,
    notes=("context_from_trace",),
    source_file="f",
    source_position="0",
    slices=(SliceValue("model", "m", "model=m"),),
)
CONFIG = RunConfig(input=["i"], output="o", slice_by=["model"])
COLUMNS = [Column("agent/total_token_count", ColumnType.INTEGER)]


def cells(assessments, config=CONFIG, guideline_names=(), row=ROW):
    judges = [JUDGES[name] for name in assessments]
    evaluated = EvaluatedRow(row, {"agent/total_token_count": 7}, assessments, Verdict.scored("no", "because"))
    record = row_record(evaluated, config, judges, COLUMNS, guideline_names)
    schema = rows_schema(config, judges, COLUMNS, guideline_names)
    # Arrow drops unknown keys in silence and fills missing ones with null, so both are checked here.
    assert set(record) == set(schema.names)
    (read,) = pa.Table.from_pylist([record], schema=schema).to_pylist()
    return read


def test_names_and_order_are_the_documented_ones():
    judges = [
        JUDGES["safety"],
        JUDGES["chunk_relevance"],
        JUDGES["guideline_adherence"],
        JUDGES["global_guideline_adherence"],
    ]
    safety, chunks = "response/llm_judged/safety", "retrieval/llm_judged/chunk_relevance"
    named, everywhere = "response/llm_judged/guideline_adherence", "response/llm_judged/global_guideline_adherence"
    assert rows_schema(CONFIG, judges, COLUMNS, ["english"]).names == [
        "request_id", "timestamp", "request", "response", "request_text", "response_text", "expected_response",
        "expected_responses", "expected_facts", "guidelines", "retrieved_context", "expected_retrieved_context",
        "notes", "source_file", "source_position", "sampled", "slice/model",
        f"{safety}/rating", f"{safety}/rationale", f"{safety}/error_message", f"{safety}/score",
        f"{chunks}/ratings", f"{chunks}/rationales", f"{chunks}/error_messages", f"{chunks}/scores",
        f"{chunks}/precision",
        f"{named}/rating", f"{named}/rationale", f"{named}/error_message", f"{named}/score", f"{named}/named",
        f"{everywhere}/rating", f"{everywhere}/rationale", f"{everywhere}/error_message", f"{everywhere}/score",
        f"{everywhere}/english/rating", f"{everywhere}/english/rationale", f"{everywhere}/english/error_message",
        "agent/total_token_count",
        "agent/error_message", "response/overall_assessment/rating", "response/overall_assessment/rationale",
        "response/overall_assessment/error_message",
    ]  # fmt: skip
    assert "extra" in rows_schema(CONFIG.model_copy(update={"keep_extra": True}), [], [], []).names


def test_the_fields_of_the_row():
    read = cells({})
    assert read["timestamp"].isoformat() == "2023-11-14T22:13:20+00:00"
    assert read["retrieved_context"][2] == {"doc_uri": None, "content": None}
    assert read["expected_retrieved_context"] == []
    assert read["expected_facts"] is None
    assert read["guidelines"] == '{"tone":["Be kind."]}'
    assert read["slice/model"] == "m"
    assert read["agent/total_token_count"] == 7
    assert read["response/overall_assessment/rationale"] == "because"


def test_chunk_verdicts_stay_in_rank_order_though_a_uri_repeats():
    chunks = (Verdict.scored("no", "far off"), Verdict.failed("http_500"), Verdict.not_applicable())
    read = cells({"chunk_relevance": Assessment(Verdict.scored("no", None), chunks=chunks)})
    prefix = "retrieval/llm_judged/chunk_relevance"
    assert read[f"{prefix}/ratings"] == ["no", None, None]
    assert read[f"{prefix}/rationales"] == ["far off", None, None]
    assert read[f"{prefix}/error_messages"] == [None, "http_500", None]
    assert read[f"{prefix}/precision"] == 0.0


@pytest.mark.parametrize("verdict", [Verdict.not_applicable(), NOT_SAMPLED])
def test_a_chunk_judge_that_says_nothing_is_null_throughout(verdict):
    read = cells({"chunk_relevance": Assessment(verdict)})
    assert {
        read[f"retrieval/llm_judged/chunk_relevance/{part}"]
        for part in ("ratings", "rationales", "scores", "precision")
    } == {None}


def test_named_guidelines():
    verdicts = (("tone", Verdict.scored("yes", "kind")), ("format", Verdict.failed("empty reply")))
    read = cells(
        {"guideline_adherence": Assessment(Verdict.failed("one failed"), named=verdicts),
         "global_guideline_adherence": Assessment(Verdict.scored("yes", "ok"), named=verdicts[:1])},
        guideline_names=["tone", "other"],
    )  # fmt: skip
    assert read["response/llm_judged/guideline_adherence/named"] == [
        {"name": "tone", "rating": "yes", "rationale": "kind", "error_message": None},
        {"name": "format", "rating": None, "rationale": None, "error_message": "empty reply"},
    ]
    assert read["response/llm_judged/global_guideline_adherence/tone/rating"] == "yes"
    assert read["response/llm_judged/global_guideline_adherence/other/rating"] is None


@pytest.mark.parametrize(
    ("need", "columns"),
    [
        (Need.GUIDELINES, ["response/llm_judged/own/named"]),
        (
            Need.GLOBAL_GUIDELINES,
            [f"response/llm_judged/own/tone/{part}" for part in ("rating", "rationale", "error_message")],
        ),
    ],
)
def test_columns_of_named_guidelines_follow_from_the_judges_declaration(need, columns):
    judge = JudgeSpec("own", "response", "guidelines", frozenset({need}), "?")
    plain = [f"response/llm_judged/own/{part}" for part in ("rating", "rationale", "error_message", "score")]
    names = rows_schema(CONFIG, [judge], [], ["tone"]).names
    assert [name for name in names if "llm_judged" in name] == [*plain, *columns]
    evaluated = EvaluatedRow(ROW, {}, {"own": Assessment(Verdict.scored("yes", None))})
    assert set(row_record(evaluated, CONFIG, [judge], [], ["tone"])) == set(names)


def test_text_and_rationales_are_written_only_where_they_are_stored():
    config = CONFIG.model_copy(update={"store_text": "none", "store_rationales": "off", "keep_extra": True})
    row = dataclasses.replace(ROW, response="r", response_text="r", extra='{"a":1}')
    read = cells({"safety": Assessment(Verdict.scored("no", "bad words"))}, config, row=row)
    hidden = ("request", "response", "request_text", "response_text", "expected_response", "expected_responses",
              "guidelines", "extra", "response/llm_judged/safety/rationale",
              "response/overall_assessment/rationale")  # fmt: skip
    assert [read[name] for name in hidden] == [None] * len(hidden)
    assert read["retrieved_context"][0] == {"doc_uri": "d1", "content": None}
    assert read["response/llm_judged/safety/rating"] == "no"


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        (None, None),
        ("plain", "plain"),
        ("één 🍸", "één 🍸"),
        ("half \ud83d face", "half \ufffd face"),
        ("\ud83c\udf78", "🍸"),
    ],
)
def test_half_surrogates_become_replacement_characters(text, valid):
    assert utf8(text) == valid
