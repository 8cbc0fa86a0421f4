"""Percentile bootstrap intervals of corpus scores, from statistics that were summed per hash bucket of rows.

Rows fall into buckets by a hash of their id, so a bucket is a random group of rows, and resampling buckets is a
bootstrap over groups (Efron and Tibshirani, "An introduction to the bootstrap", 1993, chapters 6 and 13). Only the
buckets that hold a scored row are resampled, as many as there are: with few rows each is alone in its bucket and this
is the plain bootstrap over rows; drawing empty buckets too would vary the number of rows, down to none at all.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

BUCKETS = 256
RESAMPLES = 1000
_SEED = 20190717


def bootstrap_interval(
    buckets: Mapping[int, Sequence[int]], score: Callable[[tuple[int, ...]], float], confidence: float
) -> tuple[float, float] | None:
    """The interval of `score` over resampled sums of `buckets` (bucket -> statistics); null below two buckets.

    The numbers depend on the buckets' contents alone, never on how rows were split or in which order they came.
    """
    if len(buckets) < 2:
        return None
    statistics = np.array([buckets[bucket] for bucket in sorted(buckets)], dtype=np.int64)
    size = len(statistics)
    # RandomState, because its stream of numbers is frozen while Generator's may change from numpy to numpy.
    draws = np.random.RandomState(_SEED).randint(0, size, size=(RESAMPLES, size), dtype=np.int64)
    times = np.zeros((RESAMPLES, size), dtype=np.int64)
    np.add.at(times, (np.arange(RESAMPLES)[:, None], draws), 1)
    scores = [score(tuple(int(total) for total in totals)) for totals in times @ statistics]
    low, high = np.quantile(scores, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)
