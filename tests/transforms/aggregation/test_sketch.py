import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamjudge.transforms.aggregation.sketch import RELATIVE_ACCURACY, Sketch, quantile

VALUES = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=60)


def sketch_of(values: list[float]) -> Sketch:
    sketch = Sketch()
    for value in values:
        sketch.add(value)
    return sketch


@given(VALUES, st.floats(0, 1))
def test_a_quantile_is_within_half_a_percent_of_the_exact_one(values: list[float], q: float) -> None:
    exact = sorted(values)[math.floor(q * (len(values) - 1))]
    estimate = quantile(sketch_of(values), q)
    # The slack covers the rounding of logarithms.
    assert estimate == pytest.approx(exact, rel=RELATIVE_ACCURACY * (1 + 1e-9), abs=0)


@given(VALUES, st.randoms(use_true_random=False), st.integers(1, 5))
def test_merging_in_any_order_equals_adding_all(values: list[float], rng: random.Random, n_parts: int) -> None:
    parts: list[list[float]] = [[] for _ in range(n_parts)]
    for value in values:
        rng.choice(parts).append(value)
    rng.shuffle(parts)
    merged = Sketch()
    for part in parts:
        other = sketch_of(part)
        merged.merge(other)
        assert other == sketch_of(part)
    assert merged == sketch_of(values)
    assert merged.count == len(values)


def test_buckets_are_those_of_the_paper() -> None:
    # gamma = 1.005 / 0.995: bucket 1 holds (1, gamma], bucket 0 (1 / gamma, 1].
    gamma = 1.005 / 0.995
    sketch = sketch_of([1.0, 1.001, gamma * 0.9999, gamma * 1.0001, 0.0, -0.0, -1.001])
    assert (sketch.zero, sketch.positive, sketch.negative) == (2, {0: 1, 1: 2, 2: 1}, {1: 1})
    # The estimate of bucket 0 is 2 / (gamma + 1) = 0.995.
    assert quantile(sketch_of([1.0]), 0.5) == pytest.approx(0.995, rel=1e-12)


def test_the_median_of_an_even_number_is_the_lower_middle_value() -> None:
    assert quantile(sketch_of([-4.0, 0.0, 7.0, 9.0]), 0.5) == 0.0


def test_an_empty_sketch_has_no_quantile() -> None:
    assert quantile(Sketch(), 0.5) is None
