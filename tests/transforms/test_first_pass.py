"""What the whole log decides: kept slice values and how many rows are judged, against hand counts and brute force."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamjudge.schemas.row import SliceValue
from beamjudge.schemas.run_config import RunConfig
from beamjudge.transforms import first_pass
from beamjudge.transforms.first_pass import (
    BucketCalls,
    FitCaps,
    KeepMostFrequent,
    KeptValues,
    ValueCount,
    dropped_values,
    needs_first_pass,
)
from beamjudge.transforms.plan import plan_run
from beamjudge.transforms.sample import BUCKETS, sampled_buckets


def combined(combine, elements, parts):
    """The CombineFn's output when the elements are split and merged in some way."""
    shares = [combine.create_accumulator() for _ in range(parts)]
    for index, element in enumerate(elements):
        shares[index % parts] = combine.add_input(shares[index % parts], element)
    return combine.extract_output(combine.merge_accumulators(shares))


@given(st.lists(st.integers(1, 5), max_size=60), st.integers(1, 4), st.randoms(use_true_random=False))
def test_the_most_frequent_values_are_kept_whatever_the_split(counts, parts, shuffler):
    values = [ValueCount(f"v{index:02}", rows) for index, rows in enumerate(counts)]
    best = sorted(values, key=lambda value: (-value.rows, value.value))[:7]
    shuffler.shuffle(values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(first_pass, "KEPT_VALUES", 7)
        kept = combined(KeepMostFrequent(), values, parts)
    assert kept == KeptValues(len(counts), frozenset(value.value for value in best))


def test_ties_are_kept_by_name():
    values = [ValueCount(f"v{index:04}", 1) for index in range(1_500)]
    random.Random(1).shuffle(values)
    kept = combined(KeepMostFrequent(), values, 3)
    assert kept == KeptValues(1_500, frozenset(f"v{index:04}" for index in range(1_000)))


def config(**settings):
    return RunConfig(input=["i"], output="o", **settings)


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 9), st.integers(0, 9)), max_size=30),
    st.integers(0, 60),
    st.integers(0, 60),
    st.integers(1, 3),
)
def test_the_judged_buckets_are_the_longest_prefix_within_both_caps(rows, max_calls, max_cost, parts):
    elements = [BucketCalls(bucket, calls, cost * 1_000_000_000) for bucket, calls, cost in rows]
    fitting = combined(FitCaps(config(max_judge_calls=max_calls, max_cost_usd=max_cost)), elements, parts)

    def fits(buckets):
        inside = [row for row in rows if row[0] < buckets]
        return sum(row[1] for row in inside) <= max_calls and sum(row[2] for row in inside) <= max_cost

    # Beyond the last bucket with a row nothing changes, so a prefix that holds all rows is the whole.
    brute = next((buckets - 1 for buckets in range(1, 22) if not fits(buckets)), BUCKETS)
    assert fitting == brute


@pytest.mark.parametrize(
    ("settings", "needed"),
    [
        ({"judges": ["safety"]}, False),
        ({"judges": ["safety"], "slice_by": ["model"]}, True),
        ({"judges": ["safety"], "max_judge_calls": 1}, True),
        ({"judges": ["safety", "guideline_adherence"]}, True),
        ({"judges": ["global_guideline_adherence"], "global_guidelines": {"tone": ["Be kind."]}}, False),
    ],
)
def test_the_log_is_read_ahead_only_where_something_has_to_be_counted(settings, needed):
    assert needs_first_pass(plan_run(config(**settings))) == needed


def test_without_caps_the_sample_rate_decides():
    assert combined(FitCaps(config(sample_rate=0.25)), [], 1) == 16_384
    assert combined(FitCaps(config()), [BucketCalls(0, 10**9, 10**12)], 1) == BUCKETS
    assert sampled_buckets(1e-9) == 1


def test_a_slice_with_too_many_values_is_dropped_and_said():
    (told,) = dropped_values(("slice/user", KeptValues(100_001, frozenset())), "run")
    assert (told.slice, told.metric, told.value) == ("overall", "slice/user/error", 100_001.0)
    assert list(dropped_values(("slice/user", KeptValues(100_000, frozenset())), "run")) == []


def test_rare_values_are_shown_as_other_and_dropped_ones_not_at_all():
    part = SliceValue("model", "rare", "model=rare")
    assert first_pass._capped(part, KeptValues(2, frozenset({"common"}))).display == "model=(other)"
    assert first_pass._capped(part, KeptValues(2, frozenset({"rare"}))) == part
    assert first_pass._capped(part, KeptValues(100_001, frozenset({"rare"}))).display is None
