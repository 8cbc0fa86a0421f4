"""The overall assessment of a row: which judges count, in which order, and what failures do to it."""

from dataclasses import replace
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.testing.test_pipeline import TestPipeline as _TestPipeline
from apache_beam.testing.util import assert_that, equal_to

from beamjudge.schemas.assessment import NOT_SAMPLED, Assessment, EvaluatedRow, Outcome, Verdict
from beamjudge.schemas.judges import BUILT_IN_JUDGES, JudgeSpec, Need
from beamjudge.schemas.row import Row, TokenUsage
from beamjudge.transforms.overall import Overall, overall_verdict

_TONE = JudgeSpec("tone", "response", "row", frozenset({Need.RESPONSE}), "Is it polite?")
_CHUNKY = JudgeSpec("chunky", "retrieval", "chunk", frozenset({Need.CONTEXT}), "Is it long?", in_overall="never")
_JUDGES = (*BUILT_IN_JUDGES, _TONE, _CHUNKY)
_YES, _NO = Assessment(Verdict.scored("yes", "fine")), Assessment(Verdict.scored("no", "bad"))
_FAILED, _NONE = Assessment(Verdict.failed("no reply")), Assessment(Verdict.not_applicable())


def _row(**fields: Any) -> Row:
    row = Row(
        request_id="1",
        timestamp=None,
        request="{}",
        response="{}",
        request_text="Q?",
        history=(),
        response_text="A.",
        expected_response=None,
        expected_responses=(),
        expected_facts=None,
        guidelines=None,
        retrieved_context=None,
        expected_retrieved_context=None,
        usage=TokenUsage(),
        latency_seconds=None,
        notes=(),
        source_file="f",
        source_position="0",
    )
    return replace(row, **fields)


_WITH, _WITHOUT = _row(expected_facts=("f",)), _row()


def _chunks(*ratings: str | None) -> Assessment:
    """A chunk judge's assessment; null is a chunk that failed."""
    chunks = tuple(Verdict.failed("no reply") if rating is None else Verdict.scored(rating, "r") for rating in ratings)
    return Assessment(Verdict(Outcome.SCORED), chunks=chunks)


@pytest.mark.parametrize(
    ("row", "counts"),
    [
        (
            _WITH,
            "context_sufficiency groundedness correctness safety guideline_adherence global_guideline_adherence tone",
        ),
        (
            _WITHOUT,
            "chunk_relevance groundedness relevance_to_query safety guideline_adherence global_guideline_adherence "
            "tone",
        ),
    ],
)
def test_the_first_failing_judge_in_the_documented_order_is_the_root_cause(row: Row, counts: str) -> None:
    every = {judge.name: _NO for judge in _JUDGES} | {"chunk_relevance": _chunks("no", "no")}
    found = []
    while (verdict := overall_verdict(row, every, _JUDGES)).rating == "no":
        cause, _, reason = (verdict.rationale or "").partition(": ")
        assert reason == ("No retrieved chunk is relevant to the request." if cause == "chunk_relevance" else "bad")
        found.append(cause)
        del every[cause]
    assert found == counts.split()
    assert verdict == Verdict.not_applicable()  # relevancy, fact_check and chunky do not count


@pytest.mark.parametrize("in_overall", ["always", "with_ground_truth", "without_ground_truth", "never"])
@pytest.mark.parametrize("stage", ["response", "retrieval"])
def test_a_judge_counts_where_its_declaration_says_and_at_its_rank(stage: Any, in_overall: Any) -> None:
    early = JudgeSpec("early", stage, "row", frozenset(), "?", in_overall=in_overall, cause_rank=0)
    late = JudgeSpec("late", stage, "row", frozenset(), "?", in_overall=in_overall)
    judges = (late, *BUILT_IN_JUDGES, early)
    for row, kind in ((_WITH, "with_ground_truth"), (_WITHOUT, "without_ground_truth")):
        counts = in_overall in ("always", kind)
        for other in (_YES, _NO):
            verdict = overall_verdict(row, {"early": _NO, "safety": other}, judges)
            expected = "early: bad" if counts else "safety: bad" if other is _NO else None
            assert verdict.rationale == expected
        verdict = overall_verdict(row, {"late": _NO, "safety": _NO}, judges)
        assert verdict.rationale == "safety: bad"
        assert overall_verdict(row, {"late": _NO, "safety": _YES}, judges).rating == ("no" if counts else "yes")


def test_ground_truth_that_is_empty_is_none() -> None:
    for row in (_row(expected_facts=()), _row(expected_response=" ")):
        assert overall_verdict(row, {"relevance_to_query": _NO, "correctness": _YES}, _JUDGES).rating == "no"
    for row in (_row(expected_response="E"), _row(expected_responses=("E",))):
        assert overall_verdict(row, {"relevance_to_query": _NO, "correctness": _YES}, _JUDGES).rating == "yes"


def test_a_no_outweighs_an_error_and_an_error_a_yes() -> None:
    assert overall_verdict(_WITHOUT, {"groundedness": _FAILED, "safety": _NO}, _JUDGES) == Verdict.scored(
        "no", "safety: bad"
    )
    failed = overall_verdict(_WITHOUT, {"groundedness": _FAILED, "safety": _YES, "tone": _FAILED}, _JUDGES)
    assert failed == Verdict.failed("no verdict of groundedness, tone")
    assert overall_verdict(_WITHOUT, {"groundedness": _NONE, "safety": _YES}, _JUDGES) == Verdict.scored("yes", None)


def test_a_no_without_a_rationale_still_names_its_judge() -> None:
    assert overall_verdict(_WITHOUT, {"safety": Assessment(Verdict.scored("no", None))}, _JUDGES).rationale == "safety"


def test_no_rated_judge_gives_no_verdict() -> None:
    assert overall_verdict(_WITHOUT, {}, _JUDGES) == Verdict.not_applicable()
    assert overall_verdict(_WITHOUT, {"safety": _NONE, "fact_check": _NO}, _JUDGES) == Verdict.not_applicable()


@pytest.mark.parametrize(
    ("chunks", "outcome", "rating"),
    [
        (("yes", "no"), Outcome.SCORED, "yes"),
        (("no", "no"), Outcome.SCORED, "no"),
        (("yes", None), Outcome.SCORED, "yes"),
        (("no", None), Outcome.ERROR, None),
    ],
)
def test_chunks_fail_a_row_only_when_known_to_be_all_irrelevant(
    chunks: tuple[str | None, ...], outcome: Outcome, rating: str | None
) -> None:
    verdict = overall_verdict(_WITHOUT, {"chunk_relevance": _chunks(*chunks)}, _JUDGES)
    assert (verdict.outcome, verdict.rating) == (outcome, rating)


def test_chunks_that_could_not_be_rated_or_are_not_there() -> None:
    failed = Assessment(Verdict.failed("2 of 2"), chunks=(Verdict.failed("x"), Verdict.failed("x")))
    assert overall_verdict(_WITHOUT, {"chunk_relevance": failed}, _JUDGES).outcome is Outcome.ERROR
    assert overall_verdict(_WITHOUT, {"chunk_relevance": _NONE}, _JUDGES) == Verdict.not_applicable()


def test_a_row_outside_the_sample_is_not_sampled() -> None:
    assert overall_verdict(_row(sampled=False), {"safety": _NO}, _JUDGES) == NOT_SAMPLED


def test_the_transform_sets_the_verdict_and_keeps_the_rest() -> None:
    evaluated = EvaluatedRow(_WITHOUT, {"agent/latency_seconds": 1.0}, {"safety": _NO})
    expected = replace(evaluated, overall=Verdict.scored("no", "safety: bad"))
    with _TestPipeline() as pipeline:
        assert_that(pipeline | beam.Create([evaluated]) | Overall(_JUDGES), equal_to([expected]))
