"""From an evaluated row to its observation, and the run-level metrics that a plan has."""

import hashlib
import math
from collections.abc import Iterator, Sequence

from beamjudge.schemas.assessment import (
    NO_JUDGE_SPEND,
    Assessment,
    EvaluatedRow,
    JudgeSpend,
    MetricValue,
    Outcome,
    Verdict,
)
from beamjudge.schemas.judges import JudgeSpec
from beamjudge.schemas.metric import MetricKind, MetricSpec, Observed
from beamjudge.transforms.aggregation.state import Observation
from beamjudge.transforms.plan import RunPlan

OVERALL_ASSESSMENT = "response/overall_assessment/rating"
STOPPED = "stopped:"

_ROW_GUIDELINES, _GLOBAL_GUIDELINES = "guideline_adherence", "global_guideline_adherence"
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


def run_metric_specs(plan: RunPlan) -> tuple[MetricSpec, ...]:
    """All run-level metrics that are known from the plan: the judges', the families', the overall assessment."""
    families = (spec for family in plan.families for spec in family.specs)
    return (*judge_metric_specs(plan), *families, _rating_spec("response/overall_assessment", None))


def judge_metric_specs(plan: RunPlan) -> tuple[MetricSpec, ...]:
    """The metrics of the plan's judges, in their order; named global guidelines follow their judge."""
    specs: list[MetricSpec] = []
    for binding in plan.judges:
        judge = binding.spec
        specs.append(_precision_spec(judge) if judge.unit == "chunk" else _rating_spec(judge.column, judge.name))
        if judge.name == _GLOBAL_GUIDELINES:
            names = (name for name, _ in plan.config.guidelines.named)
            specs.extend(_rating_spec(f"{judge.column}/{name}", judge.name) for name in names)
    return tuple(specs)


def row_guideline_spec(key: str) -> MetricSpec:
    """The metric of a guideline that is named on rows, from the key under which it was observed.

    Raises ValueError for any other key.
    """
    if not key.startswith(f"response/llm_judged/{_ROW_GUIDELINES}/"):
        raise ValueError(f"{key!r} is no metric of the run's plan and no guideline named on rows")
    return _rating_spec(key.removesuffix("/rating"), _ROW_GUIDELINES)


def observe_row(evaluated: EvaluatedRow, specs: Sequence[MetricSpec], plan: RunPlan) -> Observation:
    """The row's observation for the slice of all rows; other slices get it without `id_hash` and `spend`.

    A number that is no finite double counts as an error of its metric.
    """
    observed: dict[str, Observed] = {}
    for spec in specs:
        if spec.judge is None and (value := evaluated.values.get(spec.key)) is not None:
            observed[spec.key] = _observe_value(spec.kind, value)
    spend: list[tuple[str, JudgeSpend]] = []
    for binding in plan.judges:
        judge = binding.spec
        assessment = evaluated.assessments.get(judge.name)
        if assessment is not None:
            observed.update(_observe_assessment(judge, assessment, evaluated, plan))
            spend.extend((judge.name, part.cost) for part in assessment.parts() if part.cost != NO_JUDGE_SPEND)
    if evaluated.overall is not None and evaluated.overall.outcome is not Outcome.NOT_APPLICABLE:
        observed[OVERALL_ASSESSMENT] = _observe_verdict(evaluated.overall)
    row = evaluated.row
    own = _digest(row.request_id)
    # A row without a cluster is a cluster of its own.
    bucket = own[8] if row.cluster is None else _digest(row.cluster)[8]
    clustered = plan.config.cluster_by is not None
    return Observation(bucket, observed, int.from_bytes(own[:8], "little"), tuple(spend), clustered)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=9, salt=_SALT).digest()


def stopped_parts(evaluated: EvaluatedRow) -> int:
    """How many verdicts of the row were not asked for any more, because the run's budget or quota was used up."""
    return sum(
        part.error_message is not None and part.error_message.startswith(STOPPED)
        for assessment in evaluated.assessments.values()
        for part in assessment.parts()
    )


def _rating_spec(column: str, judge: str | None) -> MetricSpec:
    names = [(f"{column}/rating/percentage", "value")]
    if judge == "safety":
        # The documented name, beside the one that was written.
        names.append((f"{column}/rating/average", "value"))
    return MetricSpec(f"{column}/rating", MetricKind.SHARE, tuple(names), judge, 0.0, 1.0)


def _precision_spec(judge: JudgeSpec) -> MetricSpec:
    names = [(f"{judge.column}/precision/average", "value")]
    if judge.name == "chunk_relevance":
        names.append((f"{judge.column}_precision/average", "value"))
    return MetricSpec(f"{judge.column}/precision", MetricKind.MEAN, tuple(names), judge.name, 0.0, 1.0)


def _observe_assessment(
    judge: JudgeSpec, assessment: Assessment, evaluated: EvaluatedRow, plan: RunPlan
) -> Iterator[tuple[str, Observed]]:
    verdict = assessment.verdict
    if judge.unit == "chunk":
        precision = assessment.precision
        if precision is not None:
            yield f"{judge.column}/precision", Observed(MetricKind.MEAN, Outcome.SCORED, precision)
        elif verdict.outcome in (Outcome.NOT_SAMPLED, Outcome.ERROR):
            yield f"{judge.column}/precision", Observed(MetricKind.MEAN, verdict.outcome)
        return
    if verdict.outcome is not Outcome.NOT_APPLICABLE:
        yield f"{judge.column}/rating", _observe_verdict(verdict)
    if judge.unit == "guidelines":
        guidelines = evaluated.row.guidelines if judge.name == _ROW_GUIDELINES else plan.config.guidelines
        names = [name for name, _ in guidelines.named] if guidelines else []
        # A name that got no verdict of its own was not sampled or failed as its row did.
        rest = Verdict.not_applicable() if verdict.outcome is Outcome.SCORED else verdict
        for name, named in {**dict.fromkeys(names, rest), **dict(assessment.named)}.items():
            yield f"{judge.column}/{name}/rating", _observe_verdict(named)


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
