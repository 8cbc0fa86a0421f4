"""Overall: one yes or no per row over the judges that count for it, with the first failing judge as root cause."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import apache_beam as beam

from beamjudge.schemas.assessment import NOT_SAMPLED, Assessment, EvaluatedRow, Outcome, Verdict
from beamjudge.schemas.judges import BUILT_IN_JUDGES
from beamjudge.schemas.row import Row
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.judging.degenerate import has_ground_truth

# In this order the first failing judge is the root cause: what went wrong earlier in the application comes first.
WITH_GROUND_TRUTH = (
    "context_sufficiency",
    "groundedness",
    "correctness",
    "safety",
    "guideline_adherence",
    "global_guideline_adherence",
)
WITHOUT_GROUND_TRUTH = (
    "chunk_relevance",
    "groundedness",
    "relevance_to_query",
    "safety",
    "guideline_adherence",
    "global_guideline_adherence",
)
_BUILT_IN = frozenset(spec.name for spec in BUILT_IN_JUDGES)


def overall_verdict(row: Row, assessments: Mapping[str, Assessment], judges: Sequence[JudgeBinding]) -> Verdict:
    """The row's overall assessment: any no is no; else any error is an error; none rated is not applicable; else yes.

    The list depends on whether the row has ground truth; custom judges of responses follow in the order of the
    configuration. Judges that did not run are passed over.
    """
    if not row.sampled:
        return NOT_SAMPLED
    listed = WITH_GROUND_TRUTH if has_ground_truth(row) else WITHOUT_GROUND_TRUTH
    custom = tuple(
        judge.spec.name for judge in judges if judge.spec.name not in _BUILT_IN and judge.spec.stage == "response"
    )
    verdicts = [(name, _row_verdict(assessments[name])) for name in (*listed, *custom) if name in assessments]
    for name, verdict in verdicts:
        if verdict.rating == "no":
            return Verdict.scored("no", f"{name}: {verdict.rationale}" if verdict.rationale else name)
    failed = [name for name, verdict in verdicts if verdict.outcome is Outcome.ERROR]
    if failed:
        return Verdict.failed(f"no verdict of {', '.join(failed)}")
    if all(verdict.rating is None for _, verdict in verdicts):
        return Verdict.not_applicable()
    return Verdict.scored("yes", None)


def _row_verdict(assessment: Assessment) -> Verdict:
    """The assessment as one verdict. Chunks fail only together: no when none is relevant, and that only when known."""
    if assessment.chunks is None or assessment.verdict.outcome is not Outcome.SCORED:
        return assessment.verdict
    if any(chunk.rating == "yes" for chunk in assessment.chunks):
        return Verdict.scored("yes", None)
    if any(chunk.outcome is Outcome.ERROR for chunk in assessment.chunks):
        return Verdict.failed("a chunk that could not be rated may be a relevant one")
    return Verdict.scored("no", "No retrieved chunk is relevant to the request.")


class Overall(beam.PTransform[beam.PCollection[EvaluatedRow], beam.PCollection[EvaluatedRow]]):
    """EvaluatedRow -> EvaluatedRow with `overall` set. Follows the judges."""

    def __init__(self, judges: Sequence[JudgeBinding]) -> None:
        super().__init__()
        self._judges = tuple(judges)

    def expand(self, rows: beam.PCollection[EvaluatedRow]) -> beam.PCollection[EvaluatedRow]:
        evaluated: beam.PCollection[EvaluatedRow] = rows | "SetOverall" >> beam.Map(
            _with_overall, self._judges
        ).with_output_types(EvaluatedRow)
        return evaluated


def _with_overall(evaluated: EvaluatedRow, judges: tuple[JudgeBinding, ...]) -> EvaluatedRow:
    return replace(evaluated, overall=overall_verdict(evaluated.row, evaluated.assessments, judges))
