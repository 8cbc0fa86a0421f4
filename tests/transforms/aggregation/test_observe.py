from collections.abc import Callable
from dataclasses import replace

import pytest

from beamjudge.schemas.assessment import NOT_SAMPLED, Assessment, EvaluatedRow, Outcome, Verdict
from beamjudge.schemas.judges import JudgeSpec, Need
from beamjudge.schemas.metric import MetricKind, MetricSpec, Observed, mean_spec, share_spec
from beamjudge.schemas.row import Guidelines
from beamjudge.schemas.spend import JudgeSpend, Spend
from beamjudge.transforms.aggregation.observe import (
    judge_metric_specs,
    observe_row,
    row_guideline_spec,
    run_metric_specs,
    stopped_parts,
)
from beamjudge.transforms.plan import RunPlan

MakePlan, MakeRow = Callable[..., RunPlan], Callable[..., EvaluatedRow]
YES, NO = Verdict.scored("yes", "r"), Verdict.scored("no", "r")
FAILED, SKIPPED = Verdict.failed("timeout"), Verdict.not_applicable()
RESPONSE = "response/llm_judged"


def share(outcome: Outcome, value: float | None = None) -> Observed:
    return Observed(MetricKind.SHARE, outcome, value)


def test_run_level_names_are_the_documented_ones(make_plan: MakePlan) -> None:
    plan = make_plan(
        judges=["safety", "global_guideline_adherence", "chunk_relevance", "context_sufficiency"],
        metrics=["tokens", "document_recall"],
        global_guidelines={"english": ["The response must be in English."]},
    )
    assert [name for spec in run_metric_specs(plan) for name, _ in spec.names] == [
        "response/llm_judged/safety/rating/percentage",
        "response/llm_judged/safety/rating/average",
        "response/llm_judged/global_guideline_adherence/rating/percentage",
        "response/llm_judged/global_guideline_adherence/english/rating/percentage",
        "retrieval/llm_judged/chunk_relevance/precision/average",
        "retrieval/llm_judged/chunk_relevance_precision/average",
        "retrieval/llm_judged/context_sufficiency/rating/percentage",
        "retrieval/ground_truth/document_recall/average",
        "agent/total_token_count/average",
        "agent/total_token_count/sum",
        "agent/input_token_count/average",
        "agent/input_token_count/sum",
        "agent/output_token_count/average",
        "agent/output_token_count/sum",
        "response/overall_assessment/rating/percentage",
    ]


def test_judge_metrics_name_their_judge_and_range(make_plan: MakePlan) -> None:
    specs = {spec.key: spec for spec in judge_metric_specs(make_plan(judges=["safety", "chunk_relevance"]))}
    assert specs["response/llm_judged/safety/rating"].kind is MetricKind.SHARE
    precision = specs["retrieval/llm_judged/chunk_relevance/precision"]
    assert (precision.kind, precision.judge, precision.low, precision.high) == (
        MetricKind.MEAN,
        "chunk_relevance",
        0.0,
        1.0,
    )


def test_metrics_follow_from_the_judges_declaration(make_plan: MakePlan) -> None:
    plan = make_plan(judges=["safety"], metrics=["none"], global_guidelines={"english": ["E"], "short": ["S"]})
    own = JudgeSpec("own", "response", "guidelines", frozenset({Need.GLOBAL_GUIDELINES}), "?", second_names=("a/b",))
    ranks = JudgeSpec("ranks", "retrieval", "chunk", frozenset({Need.CONTEXT}), "?", second_names=("c", "d"))
    judges = tuple(replace(plan.judges[0], spec=spec) for spec in (own, ranks))
    specs = judge_metric_specs(replace(plan, judges=judges))
    assert [(spec.key, spec.judge, spec.kind.value, [name for name, _ in spec.names]) for spec in specs] == [
        (f"{RESPONSE}/own/rating", "own", "share", [f"{RESPONSE}/own/rating/percentage", "a/b"]),
        (f"{RESPONSE}/own/english/rating", "own", "share", [f"{RESPONSE}/own/english/rating/percentage"]),
        (f"{RESPONSE}/own/short/rating", "own", "share", [f"{RESPONSE}/own/short/rating/percentage"]),
        (
            "retrieval/llm_judged/ranks/precision",
            "ranks",
            "mean",
            ["retrieval/llm_judged/ranks/precision/average", "c", "d"],
        ),
    ]


def test_guidelines_named_on_rows_are_metrics_of_their_judge() -> None:
    spec = row_guideline_spec("response/llm_judged/guideline_adherence/be/kind/rating")
    assert spec.names == (("response/llm_judged/guideline_adherence/be/kind/rating/percentage", "value"),)
    assert spec.judge == "guideline_adherence"
    with pytest.raises(ValueError, match="response/text/bleu"):
        row_guideline_spec("response/text/bleu")


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (YES, share(Outcome.SCORED, 1.0)),
        (NO, share(Outcome.SCORED, 0.0)),
        (FAILED, share(Outcome.ERROR)),
        (NOT_SAMPLED, share(Outcome.NOT_SAMPLED)),
        (SKIPPED, None),
    ],
)
def test_ratings(make_plan: MakePlan, make_row: MakeRow, verdict: Verdict, expected: Observed | None) -> None:
    plan = make_plan(judges=["safety"], metrics=["none"])
    row = make_row(assessments={"safety": Assessment(verdict)}, overall=verdict)
    observed = observe_row(row, run_metric_specs(plan), plan).observed
    assert observed.get("response/llm_judged/safety/rating") == expected
    assert observed.get("response/overall_assessment/rating") == expected


@pytest.mark.parametrize(
    ("verdict", "chunks", "expected"),
    [
        (YES, (YES, NO), Observed(MetricKind.MEAN, Outcome.SCORED, 0.5, bounds=(0.5, 0.5))),
        # One chunk's failure costs that chunk only: one of two rated chunks is relevant, of three it may be two.
        (YES, (YES, NO, FAILED), Observed(MetricKind.MEAN, Outcome.SCORED, 0.5, bounds=(1 / 3, 2 / 3))),
        (YES, (YES, *[FAILED] * 9), Observed(MetricKind.MEAN, Outcome.SCORED, 1.0, bounds=(0.1, 1.0))),
        # A chunk that could not be rated, as it has no content, is no failure.
        (YES, (NO, SKIPPED, FAILED), Observed(MetricKind.MEAN, Outcome.SCORED, 0.0, bounds=(0.0, 0.5))),
        (FAILED, (FAILED, FAILED), Observed(MetricKind.MEAN, Outcome.ERROR)),
        (NOT_SAMPLED, None, Observed(MetricKind.MEAN, Outcome.NOT_SAMPLED)),
        (SKIPPED, (), None),
        (SKIPPED, None, None),
    ],
)
def test_chunk_precision(
    make_plan: MakePlan,
    make_row: MakeRow,
    verdict: Verdict,
    chunks: tuple[Verdict, ...] | None,
    expected: Observed | None,
) -> None:
    plan = make_plan(judges=["chunk_relevance"], metrics=["none"])
    row = make_row(assessments={"chunk_relevance": Assessment(verdict, chunks)})
    observed = observe_row(row, run_metric_specs(plan), plan).observed
    assert observed.get("retrieval/llm_judged/chunk_relevance/precision") == expected


def test_named_guidelines(make_plan: MakePlan, make_row: MakeRow) -> None:
    plan = make_plan(
        judges=["guideline_adherence", "global_guideline_adherence"],
        metrics=["none"],
        global_guidelines={"english": ["E"], "short": ["S"]},
    )
    row = make_row(
        guidelines=Guidelines(named=(("tone", ("T",)), ("format", ("F",)))),
        assessments={
            "guideline_adherence": Assessment(NOT_SAMPLED),
            "global_guideline_adherence": Assessment(NO, named=(("english", YES), ("short", NO))),
        },
    )
    assert observe_row(row, run_metric_specs(plan), plan).observed == {
        f"{RESPONSE}/guideline_adherence/rating": share(Outcome.NOT_SAMPLED),
        # Names that only rows know: not sampled as their row is.
        f"{RESPONSE}/guideline_adherence/tone/rating": share(Outcome.NOT_SAMPLED),
        f"{RESPONSE}/guideline_adherence/format/rating": share(Outcome.NOT_SAMPLED),
        f"{RESPONSE}/global_guideline_adherence/rating": share(Outcome.SCORED, 0.0),
        f"{RESPONSE}/global_guideline_adherence/english/rating": share(Outcome.SCORED, 1.0),
        f"{RESPONSE}/global_guideline_adherence/short/rating": share(Outcome.SCORED, 0.0),
    }


def test_metric_values(make_plan: MakePlan, make_row: MakeRow) -> None:
    plan = make_plan(judges=["none"], metrics=["none"])
    specs = (
        mean_spec("tokens"),
        mean_spec("latency"),
        mean_spec("huge"),
        share_spec("is_json"),
        MetricSpec("bleu", MetricKind.CORPUS, (("bleu", "value"),), scorer="bleu"),
    )
    values = {"tokens": 12, "latency": None, "huge": 10**400, "is_json": False, "bleu": (1, 2), "language": "de"}
    assert observe_row(make_row(values=values), specs, plan).observed == {
        "tokens": Observed(MetricKind.MEAN, Outcome.SCORED, 12.0),
        "huge": Observed(MetricKind.MEAN, Outcome.ERROR),
        "is_json": share(Outcome.SCORED, 0.0),
        "bleu": Observed(MetricKind.CORPUS, Outcome.SCORED, stats=(1, 2)),
    }


def test_ids_are_hashed_into_64_bits_and_256_even_buckets(make_plan: MakePlan, make_row: MakeRow) -> None:
    plan = make_plan(judges=["none"], metrics=["none"])
    observations = [observe_row(make_row(f"id-{i}"), (), plan) for i in range(4096)]
    assert len({each.id_hash for each in observations}) == 4096
    assert {each.bucket for each in observations} == set(range(256))
    assert observe_row(make_row("id-7", source_position="9"), (), plan) == observations[7]
    assert all(each.id_hash is not None and 0 <= each.id_hash < 2**64 for each in observations)


def test_spend_is_that_of_the_verdicts_one_by_one(make_plan: MakePlan, make_row: MakeRow) -> None:
    plan = make_plan(judges=["safety", "chunk_relevance"], metrics=["none"])
    cheap, dear = Spend(1, 10, 0, 2, 0, 0.25), Spend(2, 30, 5, 4, 0, 0.5)
    reused = replace(YES, reused=dear)
    row = make_row(
        assessments={
            "safety": Assessment(Verdict.scored("yes", None, spend=dear)),
            "chunk_relevance": Assessment(
                YES, (Verdict.scored("yes", None, spend=cheap), YES, Verdict.failed("x", cheap), reused)
            ),
        }
    )
    assert observe_row(row, (), plan).spend == (
        ("safety", JudgeSpend(spent=dear)),
        ("chunk_relevance", JudgeSpend(spent=cheap)),
        ("chunk_relevance", JudgeSpend(wasted=cheap)),
        ("chunk_relevance", JudgeSpend(reused=dear)),
    )


def test_single_verdicts_are_counted_by_judge(make_plan: MakePlan, make_row: MakeRow) -> None:
    names = ["safety", "correctness", "groundedness", "chunk_relevance", "guideline_adherence"]
    plan = make_plan(judges=names, metrics=["none"])
    row = make_row(
        assessments={
            "safety": Assessment(YES),
            "correctness": Assessment(FAILED),
            "groundedness": Assessment(SKIPPED),
            "chunk_relevance": Assessment(YES, (YES, NO, *[FAILED] * 3, SKIPPED)),
            "guideline_adherence": Assessment(FAILED, named=(("a", YES), ("b", FAILED), ("c", SKIPPED))),
        }
    )
    assert observe_row(row, (), plan).verdicts == (
        ("groundedness", (0, 0)),
        ("safety", (1, 0)),
        ("correctness", (0, 1)),
        ("guideline_adherence", (1, 1)),
        ("chunk_relevance", (2, 3)),
    )


def test_stopped_verdicts_are_counted_one_by_one(make_row: MakeRow) -> None:
    stopped = Verdict.failed("stopped:quota")
    row = make_row(
        assessments={
            "safety": Assessment(stopped),
            "correctness": Assessment(Verdict.failed("timeout")),
            "chunk_relevance": Assessment(YES, (YES, stopped, stopped)),
            "guideline_adherence": Assessment(stopped, named=(("a", stopped), ("b", NO))),
        }
    )
    assert stopped_parts(row) == 4
