"""Columns that judges and metrics write per row, and the run-level metrics that are made of them."""

from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

from beamjudge.schemas.assessment import Outcome
from beamjudge.schemas.judges import JudgeSpec

# The slice of all rows.
OVERALL_SLICE = "overall"
# The prefix of the columns and of the metric that sum up a row's judges.
OVERALL_ASSESSMENT = "response/overall_assessment"


class ColumnType(str, Enum):
    """The type of a row column, named apart from Arrow so that declaring one needs no Arrow."""

    FLOAT = "float"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    STRING = "string"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the rows table."""

    name: str
    type: ColumnType


class MetricKind(str, Enum):
    """How a metric is combined over rows: share of yes, mean of numbers, or a score of summed statistics."""

    SHARE = "share"
    MEAN = "mean"
    CORPUS = "corpus"


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """A metric as it is observed per row and written per run.

    `key` names the observations. `names` are the run-level names, each with the statistic that it shows: `value` (the
    share, mean or corpus score) or `sum`. `low` and `high` are the metric's range, to which intervals are clipped.
    `judge` is the judge's name, or null for a deterministic metric; `scorer` names the corpus score. An `optional`
    metric is written only for slices in which some row was scored (a corpus score of a tokenizer that no row used).
    """

    key: str
    kind: MetricKind
    names: tuple[tuple[str, str], ...]
    judge: str | None = None
    low: float | None = None
    high: float | None = None
    scorer: str | None = None
    optional: bool = False


class Observed(NamedTuple):
    """One metric on one row. `value` is 1.0 or 0.0 for shares, the number for means; `stats` feeds corpus scores.

    `bounds` are the lowest and the highest that `value` could be, given that parts of it failed.
    """

    kind: MetricKind
    outcome: Outcome
    value: float | None = None
    stats: tuple[int, ...] | None = None
    bounds: tuple[float, float] | None = None


def mean_spec(
    column: str, *, low: float | None = None, high: float | None = None, with_sum: bool = False
) -> MetricSpec:
    """A number column that is averaged over the run: `<column>/average`, and `<column>/sum` on demand."""
    names = ((f"{column}/average", "value"),) + (((f"{column}/sum", "sum"),) if with_sum else ())
    return MetricSpec(column, MetricKind.MEAN, names, low=low, high=high)


def corpus_spec(key: str, *, scorer: str, low: float, high: float | None, optional: bool = False) -> MetricSpec:
    """A score of statistics that are summed over the run, under its own key as name."""
    return MetricSpec(key, MetricKind.CORPUS, ((key, "value"),), low=low, high=high, scorer=scorer, optional=optional)


def share_spec(column: str, judge: str | None = None) -> MetricSpec:
    """A column whose share of rows that are true, or yes, is given: `<column>/percentage`, a fraction in [0, 1]."""
    return MetricSpec(column, MetricKind.SHARE, ((f"{column}/percentage", "value"),), judge, low=0.0, high=1.0)


def judge_spec(judge: JudgeSpec) -> MetricSpec:
    """The judge's main metric, first under its main name: the share of its yes, or its chunks' mean precision."""
    is_mean = judge.unit == "chunk"
    spec = mean_spec(judge.measure, low=0.0, high=1.0) if is_mean else share_spec(judge.measure)
    names = (*spec.names, *((name, "value") for name in judge.second_names))
    return replace(spec, names=names, judge=judge.name)


OVERALL_SPEC = share_spec(f"{OVERALL_ASSESSMENT}/rating")


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One row of the metrics table: one metric of one slice. Counts close: scored + not applicable + not sampled +
    error = rows; for shares yes + no = scored, for other metrics both are null. No row scored: `value` is null."""

    run_id: str
    slice: str
    metric: str
    judge_model: str | None
    judge_hash: str | None
    value: float | None
    ci_low: float | None
    ci_high: float | None
    n_rows: int
    n_scored: int
    n_yes: int | None
    n_no: int | None
    n_not_applicable: int
    n_not_sampled: int
    n_error: int
    sum: float | None
    sum_squares: float | None
    min: float | None
    max: float | None
    p50: float | None
    p90: float | None
    p99: float | None
    value_if_errors_no: float | None
    value_if_errors_yes: float | None
