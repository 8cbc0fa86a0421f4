"""From the sums of a slice to its rows of the metrics table: numbers and intervals, computed once at the very end."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from beamjudge.schemas.metric import MetricRow, MetricSpec
from beamjudge.transforms.aggregation.bootstrap import bootstrap_interval
from beamjudge.transforms.aggregation.intervals import (
    Interval,
    clustered_mean_interval,
    clustered_share_interval,
    mean_interval,
    wilson_interval,
)
from beamjudge.transforms.aggregation.observe import row_guideline_spec
from beamjudge.transforms.aggregation.sketch import quantile
from beamjudge.transforms.aggregation.state import (
    CorpusState,
    MeanState,
    MetricState,
    ShareState,
    SliceState,
    new_metric_state,
)
from beamjudge.transforms.metrics.registry import CORPUS_SCORERS
from beamjudge.transforms.plan import RunPlan


@dataclass(frozen=True, slots=True)
class _Statistics:
    """The numbers of a metric row; what a kind of metric does not have is null."""

    value: float | None = None
    interval: Interval | None = None
    n_yes: int | None = None
    n_no: int | None = None
    sum: float | None = None
    sum_squares: float | None = None
    min: float | None = None
    max: float | None = None
    p50: float | None = None
    p90: float | None = None
    p99: float | None = None
    if_errors_no: float | None = None
    if_errors_yes: float | None = None


def metric_rows(
    run_id: str, slice_name: str, state: SliceState, specs: Sequence[MetricSpec], plan: RunPlan
) -> Iterator[MetricRow]:
    """The slice's rows of the metrics table, in the order of `specs`; guidelines that rows name follow by name."""
    known = {spec.key for spec in specs}
    named = tuple(row_guideline_spec(key) for key in sorted(state.metrics.keys() - known))
    for spec in (*specs, *named):
        metric = state.metrics.get(spec.key) or new_metric_state(spec.kind)
        if spec.optional and metric.n_scored == 0:
            continue
        statistics = _statistics(spec, metric, plan.config.confidence)
        for name, shown in spec.names:
            yield _metric_row(run_id, slice_name, name, shown, spec, metric, statistics, state.n_rows, plan)


def duplicate_request_ids(state: SliceState) -> int:
    """The rows beyond the first of each request id, as told by their 64-bit hashes."""
    # Sorted, since numpy.unique takes six times the memory of the hashes.
    hashes = np.sort(np.frombuffer(state.id_hashes, dtype=np.uint64))
    return int(np.count_nonzero(hashes[1:] == hashes[:-1]))


def _metric_row(
    run_id: str,
    slice_name: str,
    name: str,
    shown: str,
    spec: MetricSpec,
    metric: MetricState,
    statistics: _Statistics,
    n_rows: int,
    plan: RunPlan,
) -> MetricRow:
    binding = next((binding for binding in plan.judges if binding.spec.name == spec.judge), None)
    is_sum = shown == "sum"
    low, high = statistics.interval if statistics.interval and not is_sum else (None, None)
    return MetricRow(
        run_id=run_id,
        slice=slice_name,
        metric=name,
        judge_model=binding.model if binding else None,
        judge_hash=binding.hash if binding else None,
        value=_finite(statistics.sum if is_sum else statistics.value),
        ci_low=_finite(low),
        ci_high=_finite(high),
        n_rows=n_rows,
        n_scored=metric.n_scored,
        n_yes=statistics.n_yes,
        n_no=statistics.n_no,
        n_not_applicable=n_rows - metric.n_scored - metric.n_not_sampled - metric.n_error,
        n_not_sampled=metric.n_not_sampled,
        n_error=metric.n_error,
        sum=_finite(statistics.sum),
        sum_squares=_finite(statistics.sum_squares),
        min=statistics.min,
        max=statistics.max,
        p50=statistics.p50,
        p90=statistics.p90,
        p99=statistics.p99,
        value_if_errors_no=None if is_sum else statistics.if_errors_no,
        value_if_errors_yes=None if is_sum else statistics.if_errors_yes,
    )


def _statistics(spec: MetricSpec, metric: MetricState, confidence: float) -> _Statistics:
    if isinstance(metric, ShareState):
        return _share_statistics(metric, confidence)
    if isinstance(metric, MeanState):
        return _mean_statistics(spec, metric, confidence)
    return _corpus_statistics(spec, metric, confidence)


def _share_statistics(metric: ShareState, confidence: float) -> _Statistics:
    yes, scored, asked = metric.n_yes, metric.n_scored, metric.n_scored + metric.n_error
    return _Statistics(
        value=yes / scored if scored else None,
        interval=wilson_interval(yes, scored, confidence)
        if metric.clusters is None
        else clustered_share_interval(metric.clusters.values(), confidence),
        n_yes=yes,
        n_no=metric.n_no,
        # The moments of a yes as 1 and a no as 0.
        sum=float(yes) if scored else None,
        sum_squares=float(yes) if scored else None,
        min=(0.0 if metric.n_no else 1.0) if scored else None,
        max=(1.0 if yes else 0.0) if scored else None,
        if_errors_no=yes / asked if asked else None,
        if_errors_yes=(yes + metric.n_error) / asked if asked else None,
    )


def _mean_statistics(spec: MetricSpec, metric: MeanState, confidence: float) -> _Statistics:
    n, asked = metric.n_scored, metric.n_scored + metric.n_error
    if_errors_no = if_errors_yes = None
    if spec.judge is not None and spec.low is not None and spec.high is not None and asked:
        if_errors_no = (metric.sum_if_errors_no + metric.n_error * spec.low) / asked
        if_errors_yes = (metric.sum_if_errors_yes + metric.n_error * spec.high) / asked
    if n == 0:
        return _Statistics(if_errors_no=if_errors_no, if_errors_yes=if_errors_yes)
    p50, p90, p99 = (_quantile(metric, q) for q in (0.5, 0.9, 0.99))
    return _Statistics(
        value=metric.mean,
        interval=mean_interval(metric.mean, metric.m2, n, confidence, spec.low, spec.high)
        if metric.clusters is None
        else clustered_mean_interval(metric.clusters.values(), confidence, spec.low, spec.high),
        sum=metric.sum,
        sum_squares=metric.sum_squares,
        min=metric.min,
        max=metric.max,
        p50=p50,
        p90=p90,
        p99=p99,
        if_errors_no=if_errors_no,
        if_errors_yes=if_errors_yes,
    )


def _corpus_statistics(spec: MetricSpec, metric: CorpusState, confidence: float) -> _Statistics:
    if metric.n_scored == 0:
        return _Statistics()
    score = CORPUS_SCORERS.get(spec.scorer or "")
    if score is None:
        known = ", ".join(CORPUS_SCORERS)
        raise ValueError(f"metric {spec.key}: no corpus scorer {spec.scorer!r}; expected one of {known}")
    return _Statistics(value=score(metric.totals()), interval=bootstrap_interval(metric.buckets, score, confidence))


def _quantile(metric: MeanState, q: float) -> float | None:
    """The sketch's quantile, held within the exact range."""
    estimate = quantile(metric.sketch, q)
    return None if estimate is None else min(max(estimate, metric.min), metric.max)


def _finite(value: float | None) -> float | None:
    """The value, or null where sums of huge numbers left the range of doubles."""
    return value if value is not None and math.isfinite(value) else None
