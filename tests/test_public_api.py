"""The public names, used as somebody's own pipeline uses them."""

import json
import subprocess
import sys
import textwrap

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms.window import FixedWindows, TimestampedValue

import beamjudge

ROWS = [{"request_id": f"r{i}", "request": "Where is the river?", "response": "The river is here."} for i in range(6)]


def plan(output="out"):
    return beamjudge.plan_run(
        beamjudge.RunConfig(input=["unused"], output=output, judges=["relevance_to_query"], metrics=["length"])
    )


def ids(evaluated):
    return evaluated.row.request_id


def share(metric):
    return metric.metric, metric.value, metric.n_rows


def is_the_judge(metric):
    return metric.metric == "response/llm_judged/relevance_to_query/rating/percentage"


@pytest.mark.parametrize("windowed", [False, True])
def test_evaluate_inside_a_pipeline_of_ones_own(windowed):
    records = [beamjudge.SourceRecord("mine", str(index), row) for index, row in enumerate(ROWS)]
    options = PipelineOptions(["--direct_running_mode=in_memory"])
    with beam.Pipeline(runner=FnApiRunner(), options=options) as pipeline:
        logged = pipeline | beam.Create(records)
        if windowed:
            logged |= "Stamp" >> beam.Map(lambda record: TimestampedValue(record, 100 * int(record.source_position)))
            logged |= "Windows" >> beam.WindowInto(FixedWindows(60))
        evaluated = logged | beamjudge.Evaluate(plan())
        assert_that(
            evaluated.rows | "Ids" >> beam.Map(ids), equal_to([row["request_id"] for row in ROWS]), label="rows"
        )
        judged = evaluated.metrics | beam.Filter(is_the_judge) | "Share" >> beam.Map(share)
        expected = [("response/llm_judged/relevance_to_query/rating/percentage", 1.0, 6)]
        assert_that(judged, equal_to(expected), label="metrics")


def test_each_public_name_is_there_and_named_by_dir():
    for name in beamjudge.__all__:
        assert getattr(beamjudge, name) is not None
    assert dir(beamjudge) == sorted(beamjudge.__all__)
    with pytest.raises(AttributeError, match="it has __version__, RunConfig"):
        beamjudge.evaluated  # noqa: B018


def test_the_example_of_the_package_runs(tmp_path):
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    program = textwrap.dedent(beamjudge.__doc__.split("\n\n", 1)[1])
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("EvaluatedRow(") == len(ROWS)
