"""What a run computes, resolved once from the configuration: judges with their prompts, metrics with their columns."""

from dataclasses import dataclass

from beamjudge.schemas.run_config import RunConfig
from beamjudge.transforms.judging.binding import JudgeBinding, bind_judges
from beamjudge.transforms.metrics.registry import MetricFamily, metric_families


@dataclass(frozen=True)
class RunPlan:
    """The configuration with what follows from it. Every stage is built from a plan, and every schema too."""

    config: RunConfig
    judges: tuple[JudgeBinding, ...]
    families: tuple[MetricFamily, ...]


def plan_run(config: RunConfig) -> RunPlan:
    return RunPlan(config, bind_judges(config), metric_families(config))
