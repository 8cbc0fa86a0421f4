"""Gates: conditions on a finished run, each with its limit, its value and whether it held."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from beamjudge.schemas.answer import APP
from beamjudge.schemas.assessment import VerdictCounts
from beamjudge.schemas.metric import OVERALL_SLICE, MetricRow
from beamjudge.schemas.run_config import Gates


@dataclass(frozen=True, slots=True)
class GateResult:
    """One gate. `value` is null where there is nothing to compare, which passes only an upper limit."""

    name: str
    limit: float
    value: float | None
    passed: bool


def check_gates(
    gates: Gates,
    counts: Mapping[str, int],
    metrics: Sequence[MetricRow],
    judge_keys: Mapping[str, str],
    verdicts: Mapping[str, VerdictCounts],
) -> list[GateResult]:
    """All gates of a run over its counts and overall metrics.

    `judge_keys` maps a judge to its metric's name, `verdicts` to how many of its single verdicts failed;
    under the application's name it has the answers.
    """
    overall = {metric.metric: metric for metric in metrics if metric.slice == OVERALL_SLICE}
    return [
        *_file_gates(gates, counts),
        *_error_gates(gates, overall, judge_keys, verdicts),
        *_metric_gates(gates, overall, judge_keys),
    ]


def _file_gates(gates: Gates, counts: Mapping[str, int]) -> Iterator[GateResult]:
    rows, rejects, bad_files = counts["rows"], counts["rejects"], counts["bad_files"]
    rate = rejects / (rows + rejects) if rows + rejects else None
    yield GateResult("max_reject_rate", gates.max_reject_rate, rate, rate is None or rate <= gates.max_reject_rate)
    yield GateResult("max_bad_files", gates.max_bad_files, bad_files, bad_files <= gates.max_bad_files)
    yield GateResult("min_rows", gates.min_rows, rows, rows >= gates.min_rows)


def _error_gates(
    gates: Gates,
    overall: Mapping[str, MetricRow],
    judge_keys: Mapping[str, str],
    verdicts: Mapping[str, VerdictCounts],
) -> Iterator[GateResult]:
    """Per judge the larger of two rates of failure: that of rows, and that of single verdicts (chunks, named ones).

    Neither shows the other: a row fails only when all its chunks do, but already when one name of many does.
    """
    for judge, key in judge_keys.items():
        metric, single = overall.get(key), verdicts.get(judge, VerdictCounts())
        rows = VerdictCounts(metric.n_scored, metric.n_error) if metric else VerdictCounts()
        rates = [each.failed / (each.rated + each.failed) for each in (rows, single) if each.rated + each.failed]
        rate = max(rates, default=None)
        passed = rate is None or rate <= gates.max_error_rate
        yield GateResult(f"max_error_rate:{judge}", gates.max_error_rate, rate, passed)
    if (answers := verdicts.get(APP)) is not None:
        # Rows that the application failed on are not applicable to judges, and would pass unnoticed.
        rate = answers.failed / (answers.rated + answers.failed)
        yield GateResult(f"max_error_rate:{APP}", gates.max_error_rate, rate, rate <= gates.max_error_rate)


def _metric_gates(
    gates: Gates, overall: Mapping[str, MetricRow], judge_keys: Mapping[str, str]
) -> Iterator[GateResult]:
    for name, minimum in gates.min_value.items():
        metric = overall.get(name)
        value = metric.value if metric else None
        # A number that could not be computed is no evidence that it is high enough.
        yield GateResult(f"min_value:{name}", minimum, value, value is not None and value >= minimum)
    for judge, least in gates.min_scored.items():
        metric = overall.get(judge_keys[judge])
        scored = metric.n_scored if metric else 0
        yield GateResult(f"min_scored:{judge}", least, scored, scored >= least)
