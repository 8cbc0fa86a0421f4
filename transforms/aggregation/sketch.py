"""A quantile sketch with logarithmic buckets and integer counts, which merges exactly in any order.

DDSketch with unbounded buckets: Masson, Rim and Lee, "DDSketch: a fast and fully-mergeable quantile sketch with
relative-error guarantees", PVLDB 12(12), 2019. A value x > 0 falls into bucket ceil(log_gamma(x)) with
gamma = (1 + a) / (1 - a); the bucket's estimate 2 gamma^i / (gamma + 1) is within a of every value in it.
"""

import math

RELATIVE_ACCURACY = 0.005

_LOG_GAMMA = math.log((1 + RELATIVE_ACCURACY) / (1 - RELATIVE_ACCURACY))
_PER_LOG_GAMMA = 1 / _LOG_GAMMA
# log(2 / (gamma + 1)), which equals log(1 - a).
_LOG_MIDDLE = math.log(1 - RELATIVE_ACCURACY)
# Keeps the estimate of a value next to the largest double a double.
_MAX_EXPONENT = math.log(1.7976931348623157e308)

_log, _ceil = math.log, math.ceil


class Sketch:
    """Counts of the zeros, and of positive and negative values by bucket of their magnitude."""

    __slots__ = ("negative", "positive", "zero")

    def __init__(self) -> None:
        self.zero = 0
        self.positive: dict[int, int] = {}
        self.negative: dict[int, int] = {}

    def add(self, value: float) -> None:
        """Count one finite value."""
        if value > 0.0:
            index = _ceil(_log(value) * _PER_LOG_GAMMA)
            self.positive[index] = self.positive.get(index, 0) + 1
        elif value < 0.0:
            index = _ceil(_log(-value) * _PER_LOG_GAMMA)
            self.negative[index] = self.negative.get(index, 0) + 1
        else:
            self.zero += 1

    def merge(self, other: "Sketch") -> None:
        """Add the counts of `other`, which stays as it is."""
        self.zero += other.zero
        _add_counts(self.positive, other.positive)
        _add_counts(self.negative, other.negative)

    @property
    def count(self) -> int:
        return self.zero + sum(self.positive.values()) + sum(self.negative.values())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sketch):
            return NotImplemented
        return (self.zero, self.positive, self.negative) == (other.zero, other.positive, other.negative)

    __hash__ = None  # type: ignore[assignment]  # mutable


def quantile(sketch: Sketch, q: float) -> float | None:
    """The lower q-quantile, 0 <= q <= 1, within `RELATIVE_ACCURACY` of the exact one; null for an empty sketch.

    The exact one is the value at index floor(q (n - 1)) of the n values in ascending order (Masson et al., section
    2.1): the lower of the two middle values is the median of an even number.
    """
    count = sketch.count
    if count == 0:
        return None
    rank = math.floor(q * (count - 1))
    seen = 0
    for index in sorted(sketch.negative, reverse=True):
        seen += sketch.negative[index]
        if seen > rank:
            return -_estimate(index)
    seen += sketch.zero
    if seen > rank:
        return 0.0
    for index in sorted(sketch.positive):
        seen += sketch.positive[index]
        if seen > rank:
            return _estimate(index)
    raise AssertionError(f"rank {rank} of {count} values lies in no bucket")


def _estimate(index: int) -> float:
    return math.exp(min(index * _LOG_GAMMA + _LOG_MIDDLE, _MAX_EXPONENT))


def _add_counts(counts: dict[int, int], more: dict[int, int]) -> None:
    for index, count in more.items():
        counts[index] = counts.get(index, 0) + count
