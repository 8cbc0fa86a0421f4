"""Rows of the metrics table, with numbers worked out by hand."""

import math
from collections.abc import Callable

import pytest
from sacrebleu.metrics import BLEU

from beamjudge.schemas.assessment import Outcome
from beamjudge.schemas.metric import MetricKind, MetricRow, MetricSpec, Observed, mean_spec
from beamjudge.schemas.spend import NO_JUDGE_SPEND
from beamjudge.transforms.aggregation.observe import judge_metric_specs
from beamjudge.transforms.aggregation.state import Observation, SliceState
from beamjudge.transforms.aggregation.summarize import duplicate_request_ids, metric_rows
from beamjudge.transforms.metrics.text.bleu import bleu_family, bleu_statistics
from beamjudge.transforms.plan import RunPlan

MakePlan = Callable[..., RunPlan]


def state_of(key: str, kind: MetricKind, *values: float | Outcome | None) -> SliceState:
    """One row per value: a number, an outcome other than scored, or None for a row that is not applicable."""
    state = SliceState()
    for value in values:
        if value is None:
            state.add(Observation(0, {}, None, ()))
        elif isinstance(value, Outcome):
            state.add(Observation(0, {key: Observed(kind, value)}))
        else:
            state.add(Observation(0, {key: Observed(kind, Outcome.SCORED, value)}))
    return state


def rows_by_name(plan: RunPlan, state: SliceState, *specs: MetricSpec) -> dict[str, MetricRow]:
    return {row.metric: row for row in metric_rows("run", "overall", state, specs, plan)}


def test_a_share(make_plan: MakePlan) -> None:
    plan = make_plan(judges=["safety"])
    state = state_of(
        "response/llm_judged/safety/rating",
        MetricKind.SHARE,
        *[1.0] * 3,
        0.0,
        Outcome.ERROR,
        Outcome.ERROR,
        Outcome.NOT_SAMPLED,
        None,
    )
    rows = rows_by_name(plan, state, *judge_metric_specs(plan))
    row = rows["response/llm_judged/safety/rating/percentage"]
    assert (row.run_id, row.slice) == ("run", "overall")
    assert (row.judge_model, row.judge_hash) == ("lexical", plan.judges[0].hash)
    assert (row.n_rows, row.n_scored, row.n_yes, row.n_no) == (8, 4, 3, 1)
    assert (row.n_not_applicable, row.n_not_sampled, row.n_error) == (1, 1, 2)
    assert row.value == 0.75
    # Wilson's bounds solve (p - 3/4)^2 = z^2 p (1 - p) / 4, z = 1.959964.
    for bound in (row.ci_low, row.ci_high):
        assert bound is not None
        assert (bound - 0.75) ** 2 == pytest.approx(1.959964**2 * bound * (1 - bound) / 4, rel=1e-5)
    assert (row.value_if_errors_no, row.value_if_errors_yes) == (3 / 6, 5 / 6)
    assert (row.sum, row.sum_squares, row.min, row.max) == (3.0, 3.0, 0.0, 1.0)
    assert (row.p50, row.p90, row.p99) == (None, None, None)
    # The documented name shows the same numbers.
    average = rows["response/llm_judged/safety/rating/average"]
    assert average.value == 0.75
    assert average.ci_low == row.ci_low


def test_a_share_without_scored_rows_is_null_and_bounded_by_its_errors(make_plan: MakePlan) -> None:
    plan = make_plan(judges=["correctness"])
    key = "response/llm_judged/correctness/rating"
    (row,) = rows_by_name(
        plan, state_of(key, MetricKind.SHARE, Outcome.ERROR, None), *judge_metric_specs(plan)
    ).values()
    assert (row.value, row.ci_low, row.ci_high, row.sum, row.min, row.max) == (None,) * 6
    assert (row.n_yes, row.n_no) == (0, 0)
    assert (row.value_if_errors_no, row.value_if_errors_yes) == (0.0, 1.0)
    (row,) = rows_by_name(plan, state_of(key, MetricKind.SHARE, None), *judge_metric_specs(plan)).values()
    assert (row.value, row.value_if_errors_no, row.value_if_errors_yes) == (None, None, None)
    assert (row.n_rows, row.n_not_applicable) == (1, 1)


def test_a_mean_and_its_sum(make_plan: MakePlan) -> None:
    state = state_of("tokens", MetricKind.MEAN, 2.0, 4.0, 6.0, 8.0, None)
    rows = rows_by_name(make_plan(), state, mean_spec("tokens", low=0.0, with_sum=True))
    row = rows["tokens/average"]
    assert row.value == 5.0
    # s^2 = 20 / 3, standard error sqrt(5 / 3) = 1.290994, t(3, 0.975) = 3.182446.
    assert row.ci_low == pytest.approx(5 - 3.182446 * 1.290994, abs=1e-5)
    assert row.ci_high == pytest.approx(5 + 3.182446 * 1.290994, abs=1e-5)
    assert (row.n_rows, row.n_scored, row.n_not_applicable, row.n_yes, row.n_no) == (5, 4, 1, None, None)
    assert (row.sum, row.sum_squares, row.min, row.max) == (20.0, 120.0, 2.0, 8.0)
    # Values at index floor(3 q): 4, 6 and 6.
    assert row.p50 == pytest.approx(4.0, rel=0.005)
    assert row.p90 == row.p99 == pytest.approx(6.0, rel=0.005)
    assert (row.value_if_errors_no, row.value_if_errors_yes) == (None, None)
    assert (row.judge_model, row.judge_hash) == (None, None)
    total = rows["tokens/sum"]
    assert (total.value, total.ci_low, total.ci_high) == (20.0, None, None)
    assert total.n_scored == 4


def test_quantiles_stay_within_the_exact_range(make_plan: MakePlan) -> None:
    (row,) = rows_by_name(make_plan(), state_of("m", MetricKind.MEAN, 1.0, 1.0), mean_spec("m")).values()
    assert (row.p50, row.p90, row.p99, row.ci_low, row.ci_high) == (1.0,) * 5


def test_the_precision_of_chunks_is_bounded_by_its_errors(make_plan: MakePlan) -> None:
    plan = make_plan(judges=["chunk_relevance"])
    key = "retrieval/llm_judged/chunk_relevance/precision"
    state = state_of(key, MetricKind.MEAN, 0.5, 1.0, Outcome.ERROR, Outcome.ERROR)
    rows = rows_by_name(plan, state, *judge_metric_specs(plan))
    row = rows["retrieval/llm_judged/chunk_relevance/precision/average"]
    assert row.value == 0.75
    assert (row.value_if_errors_no, row.value_if_errors_yes) == (1.5 / 4, 3.5 / 4)
    # t(1, 0.975) = 12.7 makes the interval wider than the range, to which it is clipped.
    assert (row.ci_low, row.ci_high) == (0.0, 1.0)
    assert rows["retrieval/llm_judged/chunk_relevance_precision/average"].value == 0.75


def test_the_precision_of_chunks_is_bounded_by_the_errors_of_single_chunks(make_plan: MakePlan) -> None:
    plan = make_plan(judges=["chunk_relevance"])
    key = "retrieval/llm_judged/chunk_relevance/precision"
    state, rest = SliceState(), SliceState()
    # Ten rows of ten chunks each: one is relevant, and nine failed. One row more is an error as a whole.
    for number in range(10):
        observed = Observed(MetricKind.MEAN, Outcome.SCORED, 1.0, bounds=(0.1, 1.0))
        (state if number % 2 else rest).add(Observation(0, {key: observed}))
    rest.add(Observation(0, {key: Observed(MetricKind.MEAN, Outcome.ERROR)}))
    state.merge(rest)
    row = rows_by_name(plan, state, *judge_metric_specs(plan))["retrieval/llm_judged/chunk_relevance/precision/average"]
    assert (row.n_scored, row.n_error, row.value) == (10, 1, 1.0)
    assert row.value_if_errors_no == pytest.approx(1 / 11)
    assert row.value_if_errors_yes == pytest.approx(1.0)


def test_a_mean_without_scored_rows_is_null(make_plan: MakePlan) -> None:
    rows = rows_by_name(make_plan(), state_of("m", MetricKind.MEAN, None), mean_spec("m", with_sum=True))
    for row in rows.values():
        assert (row.value, row.sum, row.sum_squares, row.min, row.p50, row.ci_low) == (None,) * 6


def test_huge_numbers_give_null_and_never_infinity(make_plan: MakePlan) -> None:
    state = state_of("m", MetricKind.MEAN, 1.7e308, 1.7e308, -1.7e308)
    (row,) = rows_by_name(make_plan(), state, mean_spec("m")).values()
    numbers = [row.value, row.ci_low, row.ci_high, row.sum, row.sum_squares, row.min, row.max, row.p50]
    assert all(number is None or math.isfinite(number) for number in numbers)
    assert row.sum_squares is None
    assert row.max == 1.7e308


def test_a_corpus_score_is_that_of_the_corpus(make_plan: MakePlan) -> None:
    spec = next(spec for spec in bleu_family("auto").specs if spec.kind is MetricKind.CORPUS and not spec.optional)
    responses = ["the cat sat on the mat today", "a dog barks at the old moon", "it rains on every monday here"]
    references = ["the cat sat on a mat today", "the dog barks at the moon", "it rains on every monday here"]
    state = SliceState()
    for bucket, (response, reference) in enumerate(zip(responses, references, strict=True)):
        stats = bleu_statistics(response.split(), [reference.split()])
        state.add(Observation(bucket, {spec.key: Observed(MetricKind.CORPUS, Outcome.SCORED, stats=stats)}))
    state.add(Observation(9, {}))
    (row,) = rows_by_name(make_plan(), state, spec).values()
    assert row.value == pytest.approx(BLEU().corpus_score(responses, [references]).score, abs=1e-9)
    assert row.ci_low is not None
    assert row.ci_high is not None
    # Every resample mixes the three rows, so no bound is outside of the rows' own scores.
    assert 0 < row.ci_low < row.value < row.ci_high <= 100
    assert (row.n_rows, row.n_scored, row.n_not_applicable) == (4, 3, 1)
    assert (row.sum, row.min, row.p50, row.n_yes) == (None, None, None, None)


def test_an_optional_metric_is_written_only_where_rows_were_scored(make_plan: MakePlan) -> None:
    specs = [spec for spec in bleu_family("auto").specs if spec.kind is MetricKind.CORPUS]
    state = state_of("other", MetricKind.MEAN, None)
    assert list(rows_by_name(make_plan(), state, *specs)) == ["response/text/bleu/corpus"]


def test_an_unknown_scorer_is_named(make_plan: MakePlan) -> None:
    spec = MetricSpec("m", MetricKind.CORPUS, (("m", "value"),), scorer="meteor")
    state = SliceState()
    state.add(Observation(0, {"m": Observed(MetricKind.CORPUS, Outcome.SCORED, stats=(1,))}))
    with pytest.raises(ValueError, match="no corpus scorer 'meteor'; expected one of bleu"):
        rows_by_name(make_plan(), state, spec)


def test_guidelines_named_on_rows_follow_by_name(make_plan: MakePlan) -> None:
    plan = make_plan(judges=["guideline_adherence"])
    prefix = "response/llm_judged/guideline_adherence"
    state = state_of(f"{prefix}/tone/rating", MetricKind.SHARE, 1.0, None, None)
    state.merge(state_of(f"{prefix}/brevity/rating", MetricKind.SHARE, 0.0, Outcome.ERROR))
    rows = rows_by_name(plan, state, *judge_metric_specs(plan))
    assert list(rows) == [
        f"{prefix}/rating/percentage",
        f"{prefix}/brevity/rating/percentage",
        f"{prefix}/tone/rating/percentage",
    ]
    tone = rows[f"{prefix}/tone/rating/percentage"]
    # Rows without the name are not applicable.
    assert (tone.n_rows, tone.n_scored, tone.n_not_applicable, tone.value) == (5, 1, 4, 1.0)
    assert tone.judge_hash == plan.judges[0].hash


def test_duplicates_are_the_rows_beyond_the_first_of_each_id() -> None:
    state = SliceState()
    for id_hash in (5, 2**64 - 1, 5, 5, 2**64 - 1, 0):
        state.add(Observation(0, {}, id_hash, (("safety", NO_JUDGE_SPEND),)))
    assert duplicate_request_ids(state) == 3
    assert duplicate_request_ids(SliceState()) == 0
