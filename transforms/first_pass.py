"""The first pass over the input: what has to be known of the whole log before its first row is judged.

It reads the log a second time, because a side input that is computed from the rows themselves would break the fused
chain and hold every row in memory. It runs only when a cap, a slice, or a judge of the guidelines that rows name asks
for it.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
import numpy.typing as npt

from beamjudge.schemas.assessment import Assessment
from beamjudge.schemas.metric import OVERALL_SLICE, MetricRow
from beamjudge.schemas.row import Guidelines, Row, SliceValue
from beamjudge.schemas.run_config import RunConfig
from beamjudge.transforms.judging.app import foreseen
from beamjudge.transforms.judging.price import PriceBound
from beamjudge.transforms.judging.questions import plan_questions
from beamjudge.transforms.plan import RunPlan
from beamjudge.transforms.sample import BUCKETS, sample_bucket, sampled_buckets
from beamjudge.transforms.slices import value_text

KEPT_VALUES = 1_000
MOST_VALUES = 100_000
OTHER_VALUE = "(other)"
# What ends the name of the metric that tells that there were more.
DROPPED = "/error"
_NANO = 1_000_000_000


class KeptValues(NamedTuple):
    """The values of a slice, or the names of guidelines, that are kept: the most frequent ones, ties by name; none when
    there are too many."""

    distinct: int
    values: frozenset[str]

    @property
    def is_dropped(self) -> bool:
        return self.distinct > MOST_VALUES


class FirstPassed(NamedTuple):
    """`kept`: (group, KeptValues). `buckets`: the number of sample buckets whose rows are judged."""

    kept: "beam.PCollection[tuple[str, KeptValues]]"
    buckets: "beam.PCollection[int]"


def needs_first_pass(plan: RunPlan) -> bool:
    return bool(plan.config.slice_by) or has_caps(plan.config) or _named_by_rows(plan) is not None


def _named_by_rows(plan: RunPlan) -> str | None:
    """The group of the names of rows' guidelines: the column of the plan's judge that checks these, if it has one."""
    return next((judge.spec.column for judge in plan.judges if judge.spec.guidelines_of == "row"), None)


def has_caps(config: RunConfig) -> bool:
    return config.max_judge_calls is not None or config.max_cost_usd is not None


class FirstPass(beam.PTransform[beam.PCollection[Row], FirstPassed]):
    """PCollection[Row] -> FirstPassed."""

    def __init__(self, plan: RunPlan) -> None:
        super().__init__()
        self._plan = plan

    def expand(self, rows: beam.PCollection[Row]) -> "FirstPassed":
        keep = KeepMostFrequent()  # type: ignore[no-untyped-call]  # Beam's constructor
        kept = (
            rows
            | "Values" >> beam.FlatMap(_values, _named_by_rows(self._plan)).with_output_types(tuple[ValueKey, int])
            | "CountValues" >> beam.CombinePerKey(sum)
            | "ByGroup" >> beam.Map(_by_group).with_output_types(tuple[str, ValueCount])
            | "KeepMostFrequent" >> beam.CombinePerKey(keep)
        )
        buckets = (
            rows
            | "RowCalls" >> beam.ParDo(_CountCalls(self._plan)).with_output_types(BucketCalls)
            | "FitCaps" >> beam.CombineGlobally(FitCaps(self._plan.config))
        )
        return FirstPassed(kept, buckets)


class ValueKey(NamedTuple):
    """One value of a group: of `slice/<name>`, or of the column of the judge whose guidelines rows name."""

    group: str
    value: str


class ValueCount(NamedTuple):
    """A value and its number of rows."""

    value: str
    rows: int


class BucketCalls(NamedTuple):
    """What judging one row takes at most: calls, and cost in billionths of a US dollar (sums of integers are exact)."""

    bucket: int
    calls: int
    cost: int


def _values(row: Row, named_by_rows: str | None) -> Iterator[tuple[ValueKey, int]]:
    for part in row.slices:
        yield ValueKey(_slice_group(part.name), part.value), 1
    if named_by_rows is not None and row.guidelines is not None:
        for name in {value_text(name) for name, _ in row.guidelines.named}:
            yield ValueKey(named_by_rows, name), 1


def _slice_group(name: str) -> str:
    return f"slice/{name}"


def _by_group(counted: tuple[ValueKey, int]) -> tuple[str, ValueCount]:
    key, rows = counted
    return key.group, ValueCount(key.value, rows)


def _rank(count: ValueCount) -> tuple[int, str]:
    return -count.rows, count.value


class KeepMostFrequent(beam.CombineFn):
    """ValueCount, one for each value of a group -> KeptValues. Holds no more than the values that are kept."""

    def create_accumulator(self) -> tuple[int, list[ValueCount]]:
        return 0, []

    def add_input(
        self, mutable_accumulator: tuple[int, list[ValueCount]], element: ValueCount
    ) -> tuple[int, list[ValueCount]]:
        distinct, counts = mutable_accumulator
        counts.append(element)
        return distinct + 1, _most_frequent(counts) if len(counts) >= 2 * KEPT_VALUES else counts

    def merge_accumulators(self, accumulators: Iterable[tuple[int, list[ValueCount]]]) -> tuple[int, list[ValueCount]]:
        distinct, counts = 0, list[ValueCount]()
        for more, others in accumulators:
            distinct += more
            counts = _most_frequent([*counts, *others])
        return distinct, counts

    def extract_output(self, accumulator: tuple[int, list[ValueCount]]) -> KeptValues:
        distinct, counts = accumulator
        return KeptValues(distinct, frozenset(count.value for count in _most_frequent(counts)))


def _most_frequent(counts: list[ValueCount]) -> list[ValueCount]:
    return heapq.nsmallest(KEPT_VALUES, counts, key=_rank)


class _CountCalls(beam.DoFn):
    """Row -> the calls that its judges make and what they cost at most; nothing without a cap."""

    def __init__(self, plan: RunPlan) -> None:
        asked = [binding for binding in plan.judges if not binding.endpoint.is_lexical]
        self._judges = [(binding, PriceBound.of(binding)) for binding in asked]
        self._guidelines = plan.config.guidelines
        self._app = plan.app
        self._counts = has_caps(plan.config)
        self._priced = plan.config.max_cost_usd is not None

    def process(self, element: Row) -> Iterator[BucketCalls]:
        if not self._counts:
            return
        calls = 0
        cost = 0.0
        row = foreseen(element, self._app)
        for binding, bound in self._judges:
            planned = plan_questions(binding, row, self._guidelines)
            if isinstance(planned, Assessment):
                continue
            calls += len(planned)
            if self._priced:
                cost += sum(bound.of_question(question).cost_usd or 0.0 for question in planned)
        yield BucketCalls(sample_bucket(element.request_id), calls, round(cost * _NANO))


class FitCaps(beam.CombineFn):
    """BucketCalls -> how many sample buckets are judged: the most within the sample rate and both caps.

    The rows of the first k buckets are a random sample of the log, and the same one wherever they are read.
    """

    def __init__(self, config: RunConfig) -> None:
        self._sampled = sampled_buckets(config.sample_rate)
        self._max_calls = config.max_judge_calls
        self._max_cost = None if config.max_cost_usd is None else round(config.max_cost_usd * _NANO)

    def create_accumulator(self) -> npt.NDArray[np.int64]:
        return np.zeros((2, BUCKETS), dtype=np.int64)

    def add_input(self, mutable_accumulator: npt.NDArray[np.int64], element: BucketCalls) -> npt.NDArray[np.int64]:
        mutable_accumulator[0, element.bucket] += element.calls
        mutable_accumulator[1, element.bucket] += element.cost
        return mutable_accumulator

    def merge_accumulators(self, accumulators: Iterable[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
        merged = self.create_accumulator()
        for accumulator in accumulators:
            merged += accumulator
        return merged

    def extract_output(self, accumulator: npt.NDArray[np.int64]) -> int:
        fitting = self._sampled
        for totals, cap in zip(accumulator, (self._max_calls, self._max_cost), strict=True):
            if cap is not None:
                fitting = min(fitting, int(np.searchsorted(np.cumsum(totals), cap, side="right")))
        return fitting


class ApplyFirstPass(beam.DoFn):
    """Row -> Row, as the whole log decides: which rows are judged, and rare slice values and rare names of guidelines
    as `(other)`."""

    def __init__(self, plan: RunPlan) -> None:
        self._named_by_rows = _named_by_rows(plan)

    def process(self, element: Row, kept: Mapping[str, KeptValues], buckets: int) -> Iterator[Row]:
        sampled = sample_bucket(element.request_id) < buckets
        slices = tuple(_capped(part, kept.get(_slice_group(part.name), _NOTHING)) for part in element.slices)
        labels: tuple[tuple[str, str | None], ...] = ()
        if self._named_by_rows is not None and element.guidelines is not None:
            labels = tuple(_labels(element.guidelines, kept.get(self._named_by_rows, _NOTHING)))
        yield replace(element, sampled=sampled, slices=slices, guideline_labels=labels)


# For a file that grew or changed between the two passes: what was not counted is not kept.
_NOTHING = KeptValues(0, frozenset())


def dropped_values(counted: tuple[str, KeptValues], run_id: str) -> Iterator[MetricRow]:
    """The row of the metrics table that says that a group has too many values; `value` is their number."""
    group, kept = counted
    if kept.is_dropped:
        empty: dict[str, Any] = dict.fromkeys(field.name for field in fields(MetricRow))
        counts = dict.fromkeys(("n_rows", "n_scored", "n_not_applicable", "n_not_sampled", "n_error"), 0)
        metric = f"{group}{DROPPED}"
        told = {"run_id": run_id, "slice": OVERALL_SLICE, "metric": metric, "value": float(kept.distinct)}
        yield MetricRow(**{**empty, **counts, **told})


def _capped(part: SliceValue, kept: KeptValues) -> SliceValue:
    if kept.is_dropped:
        return part._replace(display=None)
    return part if part.value in kept.values else part._replace(display=f"{part.name}={OTHER_VALUE}")


def _labels(guidelines: Guidelines, kept: KeptValues) -> Iterator[tuple[str, str | None]]:
    """The names that stand for something else than themselves in the run-level metrics, each with what that is."""
    for name, _ in guidelines.named:
        text = value_text(name)
        label = None if kept.is_dropped else text if text in kept.values else OTHER_VALUE
        if label != name:
            yield name, label
