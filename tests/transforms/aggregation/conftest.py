"""Builders of plans and evaluated rows, without prompts or files."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from beamjudge.schemas.assessment import Assessment, EvaluatedRow, MetricValue, Verdict
from beamjudge.schemas.judges import BUILT_IN_JUDGES
from beamjudge.schemas.row import Row, TokenUsage
from beamjudge.schemas.run_config import RunConfig
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.metrics.registry import metric_families
from beamjudge.transforms.plan import RunPlan


@pytest.fixture
def make_plan() -> Callable[..., RunPlan]:
    def make(**config: Any) -> RunPlan:
        run_config = RunConfig(input=["log.jsonl"], output="out", **config)
        specs = {spec.name: spec for spec in BUILT_IN_JUDGES}
        judges = tuple(
            JudgeBinding(
                specs[name], f"prompt of {name}", specs[name].protocol, "default", run_config.endpoint_of(name)
            )
            for name in run_config.selected_judges()
        )
        return RunPlan(run_config, judges, metric_families(run_config))

    return make


@pytest.fixture
def make_row() -> Callable[..., EvaluatedRow]:
    def make(
        request_id: str = "r1",
        values: Mapping[str, MetricValue] | None = None,
        assessments: Mapping[str, Assessment] | None = None,
        overall: Verdict | None = None,
        **fields: Any,
    ) -> EvaluatedRow:
        given: dict[str, Any] = {
            **dict.fromkeys(Row.__dataclass_fields__),
            "request": "{}",
            "request_text": "q",
            "history": (),
            "expected_responses": (),
            "usage": TokenUsage(),
            "notes": (),
            "source_file": "log.jsonl",
            "source_position": "0",
            "sampled": True,
            "slices": (),
            "guideline_labels": (),
        }
        row = Row(**{**given, "request_id": request_id, **fields})
        return EvaluatedRow(row, values or {}, assessments or {}, overall)

    return make
