"""The stage as a transform: the same values as computed directly, one step, no assessments."""

import pytest
from apache_beam import Create, PCollection
from apache_beam.testing.test_pipeline import TestPipeline as _TestPipeline
from apache_beam.testing.util import assert_that, equal_to

from beamjudge.schemas.assessment import EvaluatedRow
from beamjudge.schemas.rules import Rule
from beamjudge.schemas.run_config import METRIC_GROUPS, RunConfig
from beamjudge.transforms.metrics import Metrics, TextMetrics, compute_metrics
from beamjudge.transforms.metrics.registry import metric_families
from beamjudge.transforms.plan import RunPlan

_CONFIG = RunConfig(input=["log.jsonl"], output="out")
_PLAN = RunPlan(_CONFIG, (), metric_families(_CONFIG))


def test_compute_metrics(make_row):
    row = make_row("A cat sat.", "A cat sat.", retrieved=["a"], expected_uris=["a", "b"], latency_seconds=2.0)
    evaluated = compute_metrics(_PLAN.families, row)
    assert evaluated.row is row
    assert evaluated.assessments == {}
    assert evaluated.overall is None
    assert evaluated.values["retrieval/ground_truth/document_recall"] == 0.5
    assert evaluated.values["agent/latency_seconds"] == 2.0
    assert evaluated.values["response/text/bleu"] == pytest.approx(100, abs=1e-9)
    assert evaluated.values["response/text/rougeLsum"] == 1.0
    assert evaluated.values["response/text/tokenizer"] == "13a"
    assert evaluated.values["response/text/words"] == 3


def test_metrics(make_row):
    rows = [make_row("A cat sat.", "A cat sat."), make_row("猫が座った。", "猫が寝た。"), make_row()]
    with _TestPipeline() as pipeline:
        evaluated = pipeline | Create(rows) | Metrics(_PLAN)
        assert isinstance(evaluated, PCollection)
        assert evaluated.element_type is EvaluatedRow
        assert_that(evaluated, equal_to([compute_metrics(_PLAN.families, row) for row in rows]))


def test_text_metrics_look_at_the_response_alone(make_row):
    config = RunConfig(input=["log.jsonl"], output="out", rules=[Rule(name="short", max_length=9)])
    plan = RunPlan(config, (), metric_families(config))
    row = make_row("A cat sat.", "A cat.", retrieved=["a"], expected_uris=["a"], latency_seconds=2.0)
    of_text = tuple(
        family
        for family in plan.families
        if all(column.name.startswith(("response/text/", "response/rule/")) for column in family.columns)
    )
    with _TestPipeline() as pipeline:
        evaluated = pipeline | Create([row]) | TextMetrics(plan)
        assert_that(evaluated, equal_to([compute_metrics(of_text, row)]))
    assert {family.name for family in plan.families} - {family.name for family in of_text} == {
        *METRIC_GROUPS["retrieval"],
        "tokens",
        "latency",
    }
