"""What a run computes, resolved once from the configuration: judges with their prompts, metrics with their columns."""

from dataclasses import dataclass

from beamjudge.schemas.run_config import RunConfig
from beamjudge.transforms.attempt import Attempt
from beamjudge.transforms.judging.app import AppBinding, bind_app
from beamjudge.transforms.judging.binding import JudgeBinding, bind_judges
from beamjudge.transforms.metrics.registry import MetricFamily, metric_families


@dataclass(frozen=True)
class RunPlan:
    """The configuration with what follows from it. Every stage is built from a plan, and every schema too.

    `attempt` is the attempt that the plan is carried out for; verdicts are stored for an attempt only. `app` is the
    application under test, which answers the rows that have no response.
    """

    config: RunConfig
    judges: tuple[JudgeBinding, ...]
    families: tuple[MetricFamily, ...]
    attempt: Attempt | None = None
    app: AppBinding | None = None


def plan_run(config: RunConfig) -> RunPlan:
    return RunPlan(config, bind_judges(config), metric_families(config), app=bind_app(config))
