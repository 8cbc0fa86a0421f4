import math

import numpy as np
import pytest

from beamjudge.transforms.aggregation.bootstrap import BUCKETS, bootstrap_interval


def ratio(stats: tuple[int, ...]) -> float:
    return stats[0] / stats[1]


def test_two_buckets_give_their_own_scores_as_bounds() -> None:
    # A resample of two is both times the first, once each or both times the second, with chances 1/4, 1/2 and 1/4:
    # the 2.5th and 97.5th percentile are the scores of either bucket alone.
    assert bootstrap_interval({3: (1, 10), 200: (9, 10)}, ratio, 0.95) == (0.1, 0.9)
    # Of resamples as wide as 40 percent, the middle one is the two together.
    assert bootstrap_interval({3: (1, 10), 200: (9, 10)}, ratio, 0.4) == (0.5, 0.5)


def test_width_agrees_with_the_normal_approximation() -> None:
    hits = np.random.default_rng(0).integers(0, 101, BUCKETS)
    interval = bootstrap_interval({bucket: (int(hit), 100) for bucket, hit in enumerate(hits)}, ratio, 0.95)
    assert interval is not None
    error = float(hits.std() / 100 / math.sqrt(BUCKETS))
    mean = float(hits.mean() / 100)
    assert interval == pytest.approx((mean - 1.96 * error, mean + 1.96 * error), abs=error / 4)


def test_the_order_of_buckets_does_not_matter() -> None:
    buckets = {bucket: (bucket % 7, 10) for bucket in range(40)}
    backwards = dict(reversed(buckets.items()))
    assert bootstrap_interval(buckets, ratio, 0.95) == bootstrap_interval(backwards, ratio, 0.95)


def test_a_single_bucket_has_no_interval() -> None:
    assert bootstrap_interval({7: (1, 2)}, ratio, 0.95) is None
    assert bootstrap_interval({}, ratio, 0.95) is None
