"""Overall: one yes or no per row over the judges that count for it, with the first failing judge as root cause."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import apache_beam as beam

from beamjudge.schemas.assessment import NOT_SAMPLED, Assessment, EvaluatedRow, Outcome, Verdict
from beamjudge.schemas.judges import JudgeSpec
from beamjudge.schemas.row import Row
from beamjudge.transforms.judging.degenerate import has_ground_truth


def overall_verdict(row: Row, assessments: Mapping[str, Assessment], judges: Sequence[JudgeSpec]) -> Verdict:
    """The row's overall assessment: any no is no; else any error is an error; none rated is not applicable; else yes.

    Which judges count depends on whether the row has ground truth. Judges that did not run are passed over.
    """
    if not row.sampled:
        return NOT_SAMPLED
    counted = ("always", "with_ground_truth" if has_ground_truth(row) else "without_ground_truth")
    verdicts = [
        (judge.name, _row_verdict(assessments[judge.name]))
        for judge in sorted(judges, key=_cause_rank)
        if judge.in_overall in counted and judge.name in assessments
    ]
    for name, verdict in verdicts:
        if verdict.rating == "no":
            return Verdict.scored("no", f"{name}: {verdict.rationale}" if verdict.rationale else name)
    failed = [name for name, verdict in verdicts if verdict.outcome is Outcome.ERROR]
    if failed:
        return Verdict.failed(f"no verdict of {', '.join(failed)}")
    if all(verdict.rating is None for _, verdict in verdicts):
        return Verdict.not_applicable()
    return Verdict.scored("yes", None)


def _cause_rank(judge: JudgeSpec) -> int:
    return judge.cause_rank


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

    def __init__(self, judges: Iterable[JudgeSpec]) -> None:
        super().__init__()
        self._judges = tuple(judges)

    def expand(self, rows: beam.PCollection[EvaluatedRow]) -> beam.PCollection[EvaluatedRow]:
        evaluated: beam.PCollection[EvaluatedRow] = rows | "SetOverall" >> beam.ParDo(
            _SetOverall(self._judges)
        ).with_output_types(EvaluatedRow)
        return evaluated


class _SetOverall(beam.DoFn):
    def __init__(self, judges: tuple[JudgeSpec, ...]) -> None:
        self._judges = judges

    def process(self, element: EvaluatedRow) -> Iterator[EvaluatedRow]:
        yield replace(element, overall=overall_verdict(element.row, element.assessments, self._judges))
