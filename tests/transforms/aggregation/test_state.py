"""The algebra of states: any split and any order of merging equals the direct computation."""

import math
import pickle
import random
import tracemalloc
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamjudge.schemas.assessment import Outcome, VerdictCounts
from beamjudge.schemas.metric import MetricKind, Observed
from beamjudge.schemas.spend import JudgeSpend, Spend
from beamjudge.transforms.aggregation.bootstrap import bootstrap_interval
from beamjudge.transforms.aggregation.sketch import quantile
from beamjudge.transforms.aggregation.state import (
    CorpusState,
    MeanState,
    Observation,
    ShareState,
    SliceState,
)

UNSCORED = st.sampled_from([Outcome.NOT_APPLICABLE, Outcome.NOT_SAMPLED, Outcome.ERROR])
# Three decimals, once around zero and once around 1e9: both are hard on sums of squares in their way.
NUMBERS = st.integers(-(10**9), 10**9).map(lambda n: n / 1000) | st.integers(0, 4000).map(lambda n: 1e9 + n / 1000)
SHARES = st.one_of(
    st.sampled_from([0.0, 1.0]).map(lambda value: Observed(MetricKind.SHARE, Outcome.SCORED, value)),
    UNSCORED.map(lambda outcome: Observed(MetricKind.SHARE, outcome)),
)
MEANS = st.one_of(
    NUMBERS.map(lambda value: Observed(MetricKind.MEAN, Outcome.SCORED, value)),
    UNSCORED.map(lambda outcome: Observed(MetricKind.MEAN, outcome)),
)
CORPORA = st.one_of(
    st.tuples(st.integers(0, 50), st.integers(1, 50)).map(
        lambda stats: Observed(MetricKind.CORPUS, Outcome.SCORED, stats=stats)
    ),
    UNSCORED.map(lambda outcome: Observed(MetricKind.CORPUS, outcome)),
)
SPENDS = st.builds(Spend, *[st.integers(1, 99)] * 4, st.just(0.25))
OBSERVATIONS = st.builds(
    Observation,
    bucket=st.integers(0, 255),
    observed=st.fixed_dictionaries({}, optional={"share": SHARES, "mean": MEANS, "corpus": CORPORA}),
    id_hash=st.none() | st.integers(0, 2**64 - 1),
    spend=st.lists(
        st.tuples(st.sampled_from(["safety", "tone"]), st.builds(JudgeSpend, *[SPENDS] * 3)),
        max_size=2,
    ).map(tuple),
    verdicts=st.lists(
        st.tuples(st.sampled_from(["safety", "tone"]), st.builds(VerdictCounts, st.integers(0, 9), st.integers(0, 9))),
        max_size=2,
    ).map(tuple),
)


def state_of(observations: list[Observation]) -> SliceState:
    state = SliceState()
    for observation in observations:
        state.add(observation)
    return state


def merged_at_random(observations: list[Observation], rng: random.Random) -> SliceState:
    """The rows in some order, split into some parts, which are merged pair by pair in some order."""
    rows = rng.sample(observations, len(observations))
    cuts = sorted(rng.randint(0, len(rows)) for _ in range(rng.randint(0, 6)))
    states = [state_of(rows[a:b]) for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    while len(states) > 1:
        left = states.pop(rng.randrange(len(states)))
        left.merge(states.pop(rng.randrange(len(states))))
        states.append(left)
    return states[0]


def observed(observations: list[Observation], key: str) -> list[Observed]:
    return [each.observed[key] for each in observations if key in each.observed]


@settings(max_examples=150)
@given(st.lists(OBSERVATIONS, max_size=40), st.randoms(use_true_random=False))
def test_any_split_and_order_equals_the_direct_computation(rows: list[Observation], rng: random.Random) -> None:
    state = merged_at_random(rows, rng)
    assert state.n_rows == len(rows)
    assert sorted(state.id_hashes) == sorted(row.id_hash for row in rows if row.id_hash is not None)
    for judge in ("safety", "tone"):
        spends = [spend for row in rows for name, spend in row.spend if name == judge]
        if spends:
            # 0.25 per call is a sum without rounding, so spends compare exactly.
            assert state.spend[judge] == sum(spends[1:], spends[0])
        counts = [each for row in rows for name, each in row.verdicts if name == judge]
        if counts:
            assert state.verdicts[judge] == tuple(map(sum, zip(*counts, strict=True)))
    for key, metric in state.metrics.items():
        outcomes = Counter(each.outcome for each in observed(rows, key))
        assert metric.n_scored == outcomes[Outcome.SCORED]
        assert metric.n_not_sampled == outcomes[Outcome.NOT_SAMPLED]
        assert metric.n_error == outcomes[Outcome.ERROR]
    assert state.metrics.keys() == {key for row in rows for key in row.observed}


@settings(max_examples=150)
@given(st.lists(OBSERVATIONS, max_size=40), st.randoms(use_true_random=False))
def test_shares_and_corpus_statistics_are_exact(rows: list[Observation], rng: random.Random) -> None:
    state = merged_at_random(rows, rng)
    share, corpus = state.metrics.get("share"), state.metrics.get("corpus")
    if isinstance(share, ShareState):
        ratings = [each.value for each in observed(rows, "share") if each.outcome is Outcome.SCORED]
        assert (share.n_yes, share.n_no) == (ratings.count(1.0), ratings.count(0.0))
    if isinstance(corpus, CorpusState):
        stats = [each.stats for each in observed(rows, "corpus") if each.stats is not None]
        assert corpus.totals() == tuple(map(sum, zip(*stats, strict=True)))
        direct = state_of(rows).metrics["corpus"]
        assert corpus == direct
        assert isinstance(direct, CorpusState)
        score = share_of_first
        assert bootstrap_interval(corpus.buckets, score, 0.95) == bootstrap_interval(direct.buckets, score, 0.95)


def share_of_first(stats: tuple[int, ...]) -> float:
    return stats[0] / stats[1]


@settings(max_examples=300)
@given(st.lists(NUMBERS, min_size=1, max_size=60), st.randoms(use_true_random=False))
def test_means_and_variances_are_near_the_exact_ones(values: list[float], rng: random.Random) -> None:
    rows = [Observation(0, {"mean": Observed(MetricKind.MEAN, Outcome.SCORED, value)}) for value in values]
    metric = merged_at_random(rows, rng).metrics["mean"]
    assert isinstance(metric, MeanState)
    fractions = [Fraction(value) for value in values]
    mean = sum(fractions) / len(fractions)
    m2 = sum((value - mean) ** 2 for value in fractions)
    largest = max(map(abs, values))
    assert metric.mean == pytest.approx(float(mean), rel=0, abs=1e-12 * largest)
    assert metric.m2 == pytest.approx(float(m2), rel=1e-12, abs=0)
    assert metric.sum == pytest.approx(float(sum(fractions)), rel=0, abs=1e-12 * largest * len(values))
    assert metric.sum_squares == pytest.approx(float(sum(value**2 for value in fractions)), rel=1e-12)
    assert (metric.min, metric.max, metric.n_scored) == (min(values), max(values), len(values))
    direct = state_of(rows).metrics["mean"]
    assert isinstance(direct, MeanState)
    assert metric.sketch == direct.sketch
    median = sorted(values)[math.floor(0.5 * (len(values) - 1))]
    assert quantile(metric.sketch, 0.5) == pytest.approx(median, rel=0.005 * (1 + 1e-9), abs=0)


BOUNDED = st.tuples(*[st.integers(-(10**6), 10**6).map(lambda n: n / 4)] * 3).map(sorted)


@settings(max_examples=100)
@given(st.lists(st.tuples(BOUNDED, st.booleans()), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_bounds_add_up_and_a_value_without_any_is_its_own(
    values: list[tuple[list[float], bool]], rng: random.Random
) -> None:
    rows = [
        Observation(
            0, {"mean": Observed(MetricKind.MEAN, Outcome.SCORED, value, bounds=(low, high) if bounded else None)}
        )
        for (low, value, high), bounded in values
    ]
    metric = merged_at_random(rows, rng).metrics["mean"]
    assert isinstance(metric, MeanState)
    # Quarters add up without rounding.
    assert metric.sum_if_errors_no == sum(low if bounded else value for (low, value, _), bounded in values)
    assert metric.sum_if_errors_yes == sum(high if bounded else value for (_, value, high), bounded in values)
    assert metric.sum == sum(value for (_, value, _), _ in values)


def test_a_large_offset_keeps_the_variance() -> None:
    # 1e9 - 1, 1e9, 1e9 + 1 a thousand times each: squared deviations sum to 2,000.
    values = [1e9 - 1, 1e9, 1e9 + 1] * 1000
    rows = [Observation(0, {"mean": Observed(MetricKind.MEAN, Outcome.SCORED, value)}) for value in values]
    state = state_of(rows[:1000])
    state.merge(state_of(rows[1000:]))
    metric = state.metrics["mean"]
    assert isinstance(metric, MeanState)
    assert metric.mean == 1e9
    assert metric.m2 == pytest.approx(2000, rel=1e-12)


@given(st.lists(OBSERVATIONS, max_size=10), st.lists(OBSERVATIONS, max_size=10))
def test_merging_changes_only_the_state_it_is_called_on(some: list[Observation], more: list[Observation]) -> None:
    empty, other = SliceState(), state_of(more)
    empty.merge(other)
    assert empty == other
    empty.merge(state_of(some))
    assert other == state_of(more)
    with_nothing = state_of(some)
    with_nothing.merge(SliceState())
    assert with_nothing == state_of(some)


def test_states_differ_when_their_sums_do() -> None:
    row = Observation(0, {"share": Observed(MetricKind.SHARE, Outcome.SCORED, 1.0)}, 7)
    assert state_of([row]) != state_of([row, row])
    assert state_of([row]) != state_of([row._replace(id_hash=8)])
    assert state_of([row]) != state_of([row._replace(verdicts=(("safety", VerdictCounts(1, 0)),))])
    assert state_of([row]) != state_of([row._replace(observed={"share": Observed(MetricKind.SHARE, Outcome.ERROR)})])


def test_a_state_survives_pickling() -> None:
    rows = [
        Observation(
            5,
            {
                "share": Observed(MetricKind.SHARE, Outcome.SCORED, 1.0),
                "mean": Observed(MetricKind.MEAN, Outcome.SCORED, -2.5),
                "corpus": Observed(MetricKind.CORPUS, Outcome.SCORED, stats=(1, 2)),
            },
            9,
            (("safety", JudgeSpend(Spend(1, 2, 0, 3, 0, None))),),
        )
    ]
    assert pickle.loads(pickle.dumps(state_of(rows))) == state_of(rows)


def test_a_corpus_state_takes_little_more_than_its_numbers() -> None:
    # 256 buckets of 24 numbers of 8 bytes are 49,152 bytes; an array that grows may be an eighth larger.
    rows = [Observed(MetricKind.CORPUS, Outcome.SCORED, stats=tuple(range(1000, 1024)))] * 512
    tracemalloc.start()
    state = CorpusState()
    for number, each in enumerate(rows):
        state.add(each, number % 256)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 1.25 * 49_152
    assert state.buckets[255].tolist() == [2 * number for number in range(1000, 1024)]


def test_statistics_of_another_number_are_refused() -> None:
    state = CorpusState()
    state.add(Observed(MetricKind.CORPUS, Outcome.SCORED, stats=(1, 2)), 0)
    for bucket in (0, 1):
        with pytest.raises(ValueError, match="3 statistics cannot be added to 2"):
            state.add(Observed(MetricKind.CORPUS, Outcome.SCORED, stats=(1, 2, 3)), bucket)
    other = CorpusState()
    other.add(Observed(MetricKind.CORPUS, Outcome.SCORED, stats=(1, 2, 3)), 0)
    with pytest.raises(ValueError, match="3 statistics cannot be added to 2"):
        state.merge(other)


def test_metrics_of_two_kinds_do_not_merge() -> None:
    share = state_of([Observation(0, {"m": Observed(MetricKind.SHARE, Outcome.SCORED, 1.0)})])
    mean = state_of([Observation(0, {"m": Observed(MetricKind.MEAN, Outcome.SCORED, 1.0)})])
    with pytest.raises(TypeError, match="metric m: a share cannot be merged with a mean"):
        share.merge(mean)
