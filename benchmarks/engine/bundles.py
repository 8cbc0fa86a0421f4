"""The judge stage on bundles of a fixed number of rows, which the local runner does not make.

    python bundles.py BASE_URL OUTPUT JUDGES ROWS SLOTS ROWS_PER_BUNDLE

Drives the stage's DoFn as a runner does: set up, then for each bundle start, rows and finish, verdict store included.
"""

import sys

from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.timestamp import Timestamp
from log import row

from beamjudge.schemas.assessment import EvaluatedRow
from beamjudge.schemas.row import Document, Guidelines, Row, TokenUsage
from beamjudge.schemas.run_config import Endpoint, RunConfig
from beamjudge.transforms.attempt import Attempt, now
from beamjudge.transforms.judge import JudgeDoFn
from beamjudge.transforms.judging.binding import bind_judges
from beamjudge.transforms.plan import RunPlan


def evaluated_row(number: int) -> EvaluatedRow:
    logged = row(number)
    normal = Row(
        request_id=logged["request_id"],
        timestamp=None,
        request="{}",
        response="{}",
        request_text=logged["request"],
        history=(),
        response_text=logged["response"],
        expected_response=logged["expected_response"],
        expected_responses=(),
        expected_facts=None,
        guidelines=Guidelines(rules=tuple(logged["guidelines"])),
        retrieved_context=tuple(Document(**document) for document in logged["retrieved_context"]),
        expected_retrieved_context=None,
        usage=TokenUsage(),
        latency_seconds=None,
        notes=(),
        source_file="log.jsonl",
        source_position=str(number),
    )
    return EvaluatedRow(normal, {}, {})


def main(base_url: str, output: str, judges: str, rows: int, slots: int, rows_per_bundle: int) -> None:
    config = RunConfig(
        input=["log.jsonl"],
        output=output,
        judges=judges.split(","),
        endpoints={"default": Endpoint(base_url=base_url, model="mock")},
        max_concurrency=slots,
    )
    attempt = Attempt("0000", config.run_id, now())
    stage = JudgeDoFn(RunPlan(config, bind_judges(config), (), attempt))
    stage.setup()
    judged = 0
    for start in range(0, rows, rows_per_bundle):
        stage.start_bundle()
        for number in range(start, min(start + rows_per_bundle, rows)):
            judged += len(list(stage.process(evaluated_row(number), Timestamp(0), GlobalWindow())))
        judged += len(list(stage.finish_bundle()))
    stage.teardown()
    if judged != rows:
        raise SystemExit(f"{rows} rows went in, {judged} came out")


if __name__ == "__main__":
    main(*sys.argv[1:4], *map(int, sys.argv[4:]))
