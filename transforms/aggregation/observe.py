"""From an evaluated row to its observation, and the run-level metrics that a plan has."""

import hashlib
import math
from collections.abc import Iterator, Sequence

from beamjudge.schemas.answer import APP
from beamjudge.schemas.assessment import (
    Assessment,
    EvaluatedRow,
    MetricValue,
    Outcome,
    Verdict,
    VerdictCounts,
    count_verdicts,
)
from beamjudge.schemas.judges import JudgeSpec, row_guideline_judge
from beamjudge.schemas.metric import OVERALL_SPEC, MetricKind, MetricSpec, Observed, judge_spec, share_spec
from beamjudge.schemas.spend import NO_JUDGE_SPEND, JudgeSpend
from beamjudge.transforms.aggregation.state import Observation
from beamjudge.transforms.plan import RunPlan

# Not the salt by which rows are sampled: a sample would otherwise sit in few of the bootstrap's buckets.
_SALT = b"beamjudge-bucket"

_SHARES: dict[tuple[Outcome, str | None], Observed] = {
    (Outcome.SCORED, "yes"): Observed(MetricKind.SHARE, Outcome.SCORED, 1.0),
    (Outcome.SCORED, "no"): Observed(MetricKind.SHARE, Outcome.SCORED, 0.0),
    **{
        (outcome, None): Observed(MetricKind.SHARE, outcome)
        for outcome in (Outcome.NOT_APPLICABLE, Outcome.NOT_SAMPLED, Outcome.ERROR)
    },
}

# Several guidelines of a row under one label are observed as one: any no is a no, else any error is an error.
_SEVERITY: dict[Observed, int] = {
    _SHARES[what]: rank
    for rank, what in enumerate(
        (
            (Outcome.SCORED, "no"),
            (Outcome.ERROR, None),
            (Outcome.NOT_SAMPLED, None),
            (Outcome.SCORED, "yes"),
            (Outcome.NOT_APPLICABLE, None),
        )
    )
}


def run_metric_specs(plan: RunPlan) -> tuple[MetricSpec, ...]:
    """All run-level metrics that are known from the plan: the judges', the families', the overall assessment."""
    families = (spec for family in plan.families for spec in family.specs)
    return (*judge_metric_specs(plan), *families, OVERALL_SPEC)


def judge_metric_specs(plan: RunPlan) -> tuple[MetricSpec, ...]:
    """The metrics of the plan's judges, in their order; named global guidelines follow their judge."""
    specs: list[MetricSpec] = []
    for binding in plan.judges:
        judge = binding.spec
        specs.append(judge_spec(judge))
        if judge.guidelines_of == "run":
            specs.extend(share_spec(judge.rating_of(name), judge.name) for name, _ in plan.config.guidelines.named)
    return tuple(specs)


def row_guideline_spec(key: str) -> MetricSpec:
    """The metric of a guideline that is named on rows, from the key under which it was observed.

    Raises ValueError for any other key.
    """
    judge = row_guideline_judge(key)
    if judge is None:
        raise ValueError(f"{key!r} is no metric of the run's plan and no guideline named on rows")
    return share_spec(key, judge.name)


def observe_row(evaluated: EvaluatedRow, specs: Sequence[MetricSpec], plan: RunPlan) -> Observation:
    """The row's observation for the slice of all rows; other slices get only its `bucket` and what is `observed`.

    A number that is no finite double counts as an error of its metric.
    """
    observed: dict[str, Observed] = {}
    for spec in specs:
        if spec.judge is None and (value := evaluated.values.get(spec.key)) is not None:
            observed[spec.key] = _observe_value(spec.kind, value)
    spend: list[tuple[str, JudgeSpend]] = []
    verdicts: list[tuple[str, VerdictCounts]] = []
    for binding in plan.judges:
        judge = binding.spec
        assessment = evaluated.assessments.get(judge.name)
        if assessment is not None:
            observed.update(_observe_assessment(judge, assessment, evaluated, plan))
            parts = assessment.parts()
            spend.extend((judge.name, part.cost) for part in parts if part.cost != NO_JUDGE_SPEND)
            verdicts.append((judge.name, count_verdicts(parts)))
    if (asked := evaluated.row.asked) is not None:
        spend.append((APP, asked.cost))
        verdicts.append((APP, VerdictCounts(1, 0) if asked.error_message is None else VerdictCounts(0, 1)))
    if evaluated.overall is not None and evaluated.overall.outcome is not Outcome.NOT_APPLICABLE:
        observed[OVERALL_SPEC.key] = _observe_verdict(evaluated.overall)
    row = evaluated.row
    own = _digest(row.request_id)
    # A row without a cluster is a cluster of its own.
    bucket = own[8] if row.cluster is None else _digest(row.cluster)[8]
    clustered = plan.config.cluster_by is not None
    return Observation(bucket, observed, int.from_bytes(own[:8], "little"), tuple(spend), clustered, tuple(verdicts))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=9, salt=_SALT).digest()


def stopped_parts(evaluated: EvaluatedRow) -> int:
    """How many verdicts of the row, and answers to it, were not asked for any more, because the run's budget or quota
    was used up or an endpoint refuses."""
    asked = evaluated.row.asked
    verdicts = sum(part.stopped for assessment in evaluated.assessments.values() for part in assessment.parts())
    return verdicts + (asked is not None and asked.stopped)


def _observe_assessment(
    judge: JudgeSpec, assessment: Assessment, evaluated: EvaluatedRow, plan: RunPlan
) -> Iterator[tuple[str, Observed]]:
    verdict = assessment.verdict
    if judge.unit == "chunk":
        if (precision := _observe_precision(assessment)) is not None:
            yield judge.measure, precision
        return
    if verdict.outcome is not Outcome.NOT_APPLICABLE:
        yield judge.measure, _observe_verdict(verdict)
    if judge.unit == "guidelines":
        guidelines = evaluated.row.guidelines if judge.guidelines_of == "row" else plan.config.guidelines
        names = [name for name, _ in guidelines.named] if guidelines else []
        # A name that got no verdict of its own was not sampled or failed as its row did.
        rest = Verdict.not_applicable() if verdict.outcome is Outcome.SCORED else verdict
        labels = dict(evaluated.row.guideline_labels) if judge.guidelines_of == "row" else {}
        by_label: dict[str, list[Observed]] = {}
        for name, named in {**dict.fromkeys(names, rest), **dict(assessment.named)}.items():
            label = labels.get(name, name)
            if label is not None:
                by_label.setdefault(label, []).append(_observe_verdict(named))
        for label, observed in by_label.items():
            yield judge.rating_of(label), min(observed, key=_SEVERITY.__getitem__)


def _observe_precision(assessment: Assessment) -> Observed | None:
    """The row's precision and its bounds; null where it is not applicable."""
    precision, outcome = assessment.precision, assessment.verdict.outcome
    if precision is None:
        return Observed(MetricKind.MEAN, outcome) if outcome in (Outcome.NOT_SAMPLED, Outcome.ERROR) else None
    return Observed(MetricKind.MEAN, Outcome.SCORED, precision, bounds=assessment.precision_bounds)


def _observe_verdict(verdict: Verdict) -> Observed:
    return _SHARES[verdict.outcome, verdict.rating]


def _observe_value(kind: MetricKind, value: MetricValue) -> Observed:
    if kind is MetricKind.CORPUS:
        if not isinstance(value, tuple):
            raise TypeError(f"a corpus score needs a tuple of statistics; got {value!r}")
        return Observed(kind, Outcome.SCORED, stats=value)
    if not isinstance(value, (bool, int, float)):
        raise TypeError(f"a {kind.value} needs a number; got {value!r}")
    if kind is MetricKind.SHARE:
        return _SHARES[Outcome.SCORED, "yes" if value else "no"]
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    return Observed(kind, Outcome.SCORED, number) if math.isfinite(number) else Observed(kind, Outcome.ERROR)
