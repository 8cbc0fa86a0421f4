"""Run-level aggregation: each row is observed once per slice, sums are combined per slice, numbers are made of sums."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.window import GlobalWindows

from beamjudge.schemas.assessment import EvaluatedRow
from beamjudge.schemas.metric import OVERALL_SLICE, MetricRow
from beamjudge.transforms.aggregation.observe import observe_row, run_metric_specs, stopped_parts
from beamjudge.transforms.aggregation.state import Observation, SliceState
from beamjudge.transforms.aggregation.summarize import metric_rows
from beamjudge.transforms.plan import RunPlan
from beamjudge.transforms.windows import in_one_window

_COUNTS: Final = "counts"


class Aggregated(NamedTuple):
    """What aggregation gives.

    `states`: (slice name, SliceState), one per slice. `metrics`: MetricRow. `counts`: (name, int), several per name,
    to be summed: `note:<code>` for the notes on rows, `stopped` for verdicts that were not asked for any more.
    """

    states: beam.PCollection[tuple[str, SliceState]]
    metrics: beam.PCollection[MetricRow]
    counts: beam.PCollection[tuple[str, int]]


class Aggregate(beam.PTransform[beam.PCollection[EvaluatedRow], Aggregated]):
    """PCollection[EvaluatedRow] -> Aggregated. An empty input gives no state and no metric row."""

    def __init__(self, plan: RunPlan) -> None:
        super().__init__()
        self._plan = plan

    # Quoted, because Beam warns of every result that is no PCollection and takes a string for no hint.
    def expand(self, rows: beam.PCollection[EvaluatedRow]) -> "Aggregated":
        observe = beam.ParDo(_Observe(self._plan)).with_output_types(tuple[str, Observation], counts=tuple[str, int])
        observed = in_one_window(rows) | "Observe" >> observe.with_outputs(_COUNTS, main="observations")
        combine = CombineStates()  # type: ignore[no-untyped-call]  # Beam's constructor
        states = observed.observations | "CombineStates" >> beam.CombinePerKey(combine)
        metrics = states | "Summarize" >> beam.ParDo(_Summarize(self._plan)).with_output_types(MetricRow)
        return Aggregated(states, metrics, observed[_COUNTS])


class CombineStates(beam.CombineFn):
    """Observations of one slice -> SliceState, for all metrics at once."""

    def create_accumulator(self) -> SliceState:
        return SliceState()

    def add_input(self, mutable_accumulator: SliceState, element: Observation) -> SliceState:
        mutable_accumulator.add(element)
        return mutable_accumulator

    def merge_accumulators(self, accumulators: Iterable[SliceState]) -> SliceState:
        merged = SliceState()
        for accumulator in accumulators:
            merged.merge(accumulator)
        return merged

    def extract_output(self, accumulator: SliceState) -> SliceState:
        return accumulator


class _Observe(beam.DoFn):
    """EvaluatedRow -> (slice name, Observation) for all rows and for each of the row's slices; counts per bundle."""

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan
        self._specs = run_metric_specs(plan)

    def start_bundle(self) -> None:
        self._counts: Counter[str] = Counter()

    def process(self, element: EvaluatedRow) -> Iterator[tuple[str, Observation]]:
        self._counts.update(f"note:{code}" for code in element.row.notes)
        self._counts["stopped"] += stopped_parts(element)
        observation = observe_row(element, self._specs, self._plan)
        yield OVERALL_SLICE, observation
        # Ids, spend and single verdicts are of interest for the run as a whole only.
        in_slice = Observation(observation.bucket, observation.observed, clustered=observation.clustered)
        for part in element.row.slices:
            if part.display is not None:
                yield part.display, in_slice

    def finish_bundle(self) -> Iterator[TaggedOutput[Literal["counts"], Any]]:
        for name, count in self._counts.items():
            if count:
                yield TaggedOutput(_COUNTS, GlobalWindows.windowed_value_at_end_of_window((name, count)))


class _Summarize(beam.DoFn):
    """(slice name, SliceState) -> the slice's rows of the metrics table."""

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan
        self._run_id = plan.config.run_id
        self._specs = run_metric_specs(plan)

    def process(self, element: tuple[str, SliceState]) -> Iterator[MetricRow]:
        slice_name, state = element
        return metric_rows(self._run_id, slice_name, state, self._specs, self._plan)
