"""The sums behind run-level metrics: what is added per row, merged over rows in any split and order, and kept.

`add` changes a state in place, because a row with thirty metrics in four slices is added 120 times; `merge` changes
only the state that it is called on. Counts, quantiles and corpus statistics are exact whatever the order; means and
variances are merged by Chan's method. What is not applicable is not counted: it is the rest of the slice's rows.
"""

from array import array
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from beamjudge.schemas.assessment import Outcome, VerdictCounts
from beamjudge.schemas.metric import MetricKind, Observed
from beamjudge.schemas.spend import NO_JUDGE_SPEND, JudgeSpend
from beamjudge.transforms.aggregation.sketch import Sketch

_SCORED, _NOT_SAMPLED, _ERROR = Outcome.SCORED, Outcome.NOT_SAMPLED, Outcome.ERROR


class Observation(NamedTuple):
    """What one row says about all metrics of one slice.

    `observed` leaves out the metrics that are not applicable, but for names that are known from rows alone. `bucket`
    is the row's bootstrap bucket, or its cluster's where rows are `clustered`. `id_hash` and, by judge, `spend` and
    `verdicts` are given to the slice of all rows only.
    """

    bucket: int
    observed: dict[str, Observed]
    id_hash: int | None = None
    spend: tuple[tuple[str, JudgeSpend], ...] = ()
    clustered: bool = False
    verdicts: tuple[tuple[str, VerdictCounts], ...] = ()


class ClusterSums(NamedTuple):
    """The scored rows of one bucket of clusters: how many, and the sum of their values (a yes counts as 1)."""

    n: int
    sum: float


Clusters: TypeAlias = dict[int, ClusterSums]
_EMPTY_CLUSTER = ClusterSums(0, 0.0)


class _Counts:
    """The outcomes that every kind of metric counts; `n_scored` is a subclass's matter.

    `clusters` has sums per bucket where rows come in clusters, and is null where each row stands for itself.
    """

    __slots__ = ("clusters", "n_error", "n_not_sampled")

    def __init__(self, clustered: bool = False) -> None:
        self.n_not_sampled = 0
        self.n_error = 0
        self.clusters: Clusters | None = {} if clustered else None

    def _add_to_cluster(self, bucket: int, n: int, total: float) -> None:
        if self.clusters is not None:
            before = self.clusters.get(bucket, _EMPTY_CLUSTER)
            self.clusters[bucket] = ClusterSums(before.n + n, before.sum + total)

    def _merge_counts(self, other: "_Counts") -> None:
        self.n_not_sampled += other.n_not_sampled
        self.n_error += other.n_error
        for bucket, sums in (other.clusters or {}).items():
            self._add_to_cluster(bucket, sums.n, sums.sum)

    def _add_unscored(self, outcome: Outcome) -> None:
        if outcome is _ERROR:
            self.n_error += 1
        elif outcome is _NOT_SAMPLED:
            self.n_not_sampled += 1

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        names = (*_Counts.__slots__, *type(self).__slots__)
        return all(getattr(self, name) == getattr(other, name) for name in names)

    __hash__ = None  # type: ignore[assignment]  # mutable


class ShareState(_Counts):
    """Rows that were yes and rows that were no."""

    __slots__ = ("n_no", "n_yes")
    kind = MetricKind.SHARE

    def __init__(self, clustered: bool = False) -> None:
        super().__init__(clustered)
        self.n_yes = 0
        self.n_no = 0

    @property
    def n_scored(self) -> int:
        return self.n_yes + self.n_no

    def add(self, observed: Observed, bucket: int) -> None:
        if observed.outcome is not _SCORED:
            self._add_unscored(observed.outcome)
            return
        if observed.value:
            self.n_yes += 1
        else:
            self.n_no += 1
        if self.clusters is not None:
            self._add_to_cluster(bucket, 1, observed.value or 0.0)

    def merge(self, other: "ShareState") -> None:
        self._merge_counts(other)
        self.n_yes += other.n_yes
        self.n_no += other.n_no


class MeanState(_Counts):
    """Moments, range and sketch of the values.

    The mean is `origin + offset`, where `origin` is one of the values: deviations are taken from it, so that values
    near 1e9 with variance 1 keep their digits. `m2` is the sum of squared deviations from the mean. Adding is
    Welford's method, merging Chan, Golub and LeVeque's ("Updating formulae and a pairwise algorithm for computing
    sample variances", 1979). `sum_if_errors_no` and `sum_if_errors_yes` are the sums of the values' bounds.
    """

    __slots__ = (
        "m2",
        "max",
        "min",
        "n_scored",
        "offset",
        "origin",
        "sketch",
        "sum",
        "sum_if_errors_no",
        "sum_if_errors_yes",
        "sum_squares",
    )
    kind = MetricKind.MEAN

    def __init__(self, clustered: bool = False) -> None:
        super().__init__(clustered)
        self.n_scored = 0
        self.origin = 0.0
        self.offset = 0.0
        self.m2 = 0.0
        self.sum = 0.0
        self.sum_squares = 0.0
        self.sum_if_errors_no = 0.0
        self.sum_if_errors_yes = 0.0
        self.min = 0.0
        self.max = 0.0
        self.sketch = Sketch()

    @property
    def mean(self) -> float:
        return self.origin + self.offset

    def add(self, observed: Observed, bucket: int) -> None:
        value = observed.value
        if observed.outcome is not _SCORED or value is None:
            self._add_unscored(observed.outcome)
            return
        if self.n_scored == 0:
            self.origin = self.min = self.max = value
        elif value < self.min:
            self.min = value
        elif value > self.max:
            self.max = value
        self.n_scored += 1
        deviation = value - self.origin
        delta = deviation - self.offset
        self.offset += delta / self.n_scored
        self.m2 += delta * (deviation - self.offset)
        self.sum += value
        self.sum_squares += value * value
        low, high = observed.bounds or (value, value)
        self.sum_if_errors_no += low
        self.sum_if_errors_yes += high
        self.sketch.add(value)
        if self.clusters is not None:
            self._add_to_cluster(bucket, 1, value)

    def merge(self, other: "MeanState") -> None:
        self._merge_counts(other)
        if other.n_scored == 0:
            return
        if self.n_scored == 0:
            self.origin, self.offset, self.m2 = other.origin, other.offset, other.m2
            self.min, self.max = other.min, other.max
        else:
            n = self.n_scored + other.n_scored
            delta = (other.origin - self.origin) + (other.offset - self.offset)
            self.offset += delta * (other.n_scored / n)
            self.m2 += other.m2 + delta * delta * (self.n_scored * other.n_scored / n)
            self.min, self.max = min(self.min, other.min), max(self.max, other.max)
        self.n_scored += other.n_scored
        self.sum += other.sum
        self.sum_squares += other.sum_squares
        self.sum_if_errors_no += other.sum_if_errors_no
        self.sum_if_errors_yes += other.sum_if_errors_yes
        self.sketch.merge(other.sketch)


class CorpusState(_Counts):
    """Summed statistics of a corpus score per bootstrap bucket, which is a bucket of clusters where there are any.

    All buckets are in one packed array: an object per number would fill the memory of a run with a
    thousand slices.
    """

    __slots__ = ("_buckets", "_sums", "n_scored")
    kind = MetricKind.CORPUS

    def __init__(self) -> None:
        super().__init__()
        self.n_scored = 0
        # The buckets in the order in which they came, and their statistics one after the other in the same order.
        self._buckets = bytearray()
        self._sums = array("q")

    def add(self, observed: Observed, bucket: int) -> None:
        if observed.outcome is not _SCORED or observed.stats is None:
            self._add_unscored(observed.outcome)
            return
        self.n_scored += 1
        self.add_to_bucket(bucket, observed.stats)

    def add_to_bucket(self, bucket: int, stats: Sequence[int]) -> None:
        """Add statistics to those of a bucket, without counting a row. ValueError where their number is another."""
        if self._buckets and len(stats) != self._width:
            raise ValueError(f"{len(stats)} statistics cannot be added to {self._width}")
        place = self._buckets.find(bucket)
        if place < 0:
            self._buckets.append(bucket)
            self._sums.extend(stats)
            return
        sums = self._sums
        for index, number in enumerate(stats, place * len(stats)):
            sums[index] += number

    def merge(self, other: "CorpusState") -> None:
        self._merge_counts(other)
        self.n_scored += other.n_scored
        if not other._buckets:
            return
        width = other._width
        if self._buckets and width != self._width:
            raise ValueError(f"{width} statistics cannot be added to {self._width}")
        new = bytes(bucket for bucket in other._buckets if bucket not in self._buckets)
        self._buckets += new
        self._sums.frombytes(bytes(self._sums.itemsize * width * len(new)))
        places = [self._buckets.index(bucket) for bucket in other._buckets]
        # Whole buckets at once: a bundle of a thousand slices merges sixty thousand of them.
        self._table()[places] += other._table()

    @property
    def buckets(self) -> "dict[int, array[int]]":
        """Bucket -> statistics, in the order of buckets."""
        width = self._width
        places = sorted(enumerate(self._buckets), key=itemgetter(1))
        return {bucket: self._sums[place * width : (place + 1) * width] for place, bucket in places}

    def totals(self) -> tuple[int, ...]:
        """The statistics summed over all rows; empty when no row was scored."""
        return tuple(self._table().sum(axis=0).tolist()) if self._buckets else ()

    @property
    def _width(self) -> int:
        """How many statistics a bucket has."""
        return len(self._sums) // max(1, len(self._buckets))

    def _table(self) -> npt.NDArray[np.int64]:
        """A view of the sums, a row per bucket, where there are any. The sums cannot grow while it is held."""
        return np.frombuffer(self._sums, dtype=np.int64).reshape(len(self._buckets), self._width)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CorpusState):
            return NotImplemented
        mine, theirs = ((state.n_scored, state.n_error, state.n_not_sampled, state.buckets) for state in (self, other))
        return mine == theirs

    __hash__ = None  # mutable


MetricState: TypeAlias = "ShareState | MeanState | CorpusState"

_STATES: dict[MetricKind, type[ShareState] | type[MeanState]] = {
    MetricKind.SHARE: ShareState,
    MetricKind.MEAN: MeanState,
}


def new_metric_state(kind: MetricKind, clustered: bool = False) -> MetricState:
    """An empty state of a metric of this kind; a corpus score has its statistics by bucket in any case."""
    return CorpusState() if kind is MetricKind.CORPUS else _STATES[kind](clustered)


class SliceState:
    """All metrics of one slice by key, and its number of rows; for all rows together also their id hashes, and what
    each judge spent and how many verdicts it gave."""

    __slots__ = ("id_hashes", "metrics", "n_rows", "spend", "verdicts")

    def __init__(self) -> None:
        self.n_rows = 0
        self.metrics: dict[str, MetricState] = {}
        self.id_hashes = array("Q")
        self.spend: dict[str, JudgeSpend] = {}
        self.verdicts: dict[str, VerdictCounts] = {}

    def add(self, observation: Observation) -> None:
        """Add one row."""
        self.n_rows += 1
        metrics, bucket = self.metrics, observation.bucket
        for key, observed in observation.observed.items():
            metric = metrics.get(key)
            if metric is None:
                metric = metrics[key] = new_metric_state(observed.kind, observation.clustered)
            metric.add(observed, bucket)
        if observation.id_hash is not None:
            self.id_hashes.append(observation.id_hash)
        self._add_judges(observation.spend, observation.verdicts)

    def merge(self, other: "SliceState") -> None:
        """Add the rows of `other`, which stays as it is. Raises TypeError where a metric is of two kinds."""
        self.n_rows += other.n_rows
        for key, theirs in other.metrics.items():
            ours = self.metrics.get(key)
            if ours is None:
                ours = self.metrics[key] = new_metric_state(theirs.kind, theirs.clusters is not None)
            _merge_metric(key, ours, theirs)
        self.id_hashes.extend(other.id_hashes)
        self._add_judges(other.spend.items(), other.verdicts.items())

    def _add_judges(
        self, spend: Iterable[tuple[str, JudgeSpend]], verdicts: Iterable[tuple[str, VerdictCounts]]
    ) -> None:
        for judge, used in spend:
            self.spend[judge] = self.spend.get(judge, NO_JUDGE_SPEND) + used
        for judge, counts in verdicts:
            self.verdicts[judge] = self.verdicts.get(judge, VerdictCounts()).plus(counts)

    def __eq__(self, other: object) -> bool:
        """Equal sums; the order in which rows came is no part of a state."""
        if not isinstance(other, SliceState):
            return NotImplemented
        mine = (self.n_rows, self.metrics, self.spend, self.verdicts, sorted(self.id_hashes))
        return mine == (other.n_rows, other.metrics, other.spend, other.verdicts, sorted(other.id_hashes))

    __hash__ = None  # type: ignore[assignment]  # mutable


def _merge_metric(key: str, ours: MetricState, theirs: MetricState) -> None:
    if type(ours) is not type(theirs):
        raise TypeError(f"metric {key}: a {ours.kind.value} cannot be merged with a {theirs.kind.value}")
    ours.merge(theirs)  # type: ignore[arg-type]  # of the same type, which mypy cannot follow
