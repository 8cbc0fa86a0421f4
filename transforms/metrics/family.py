"""What a metric family is: columns, run-level metrics, and the function that computes them for a row."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from beamjudge.schemas.assessment import MetricValue
from beamjudge.schemas.metric import Column, MetricSpec
from beamjudge.schemas.row import Row


@dataclass(frozen=True)
class MetricFamily:
    """Metrics that are computed together.

    `compute` gives a value for every column (and may give more, where a run wants only some of them), null where the
    row lacks what the metric needs, and the statistics of corpus scores under their metric's key. It is a module-level
    function, or an instance of a frozen dataclass with the settings that it computes by, so that it pickles.
    `signatures` say for run-level metrics by which settings exactly they were computed, in sacrebleu's notation.
    """

    name: str
    columns: tuple[Column, ...]
    specs: tuple[MetricSpec, ...]
    compute: Callable[[Row], Mapping[str, MetricValue]]
    signatures: Mapping[str, str] = field(default_factory=dict)
