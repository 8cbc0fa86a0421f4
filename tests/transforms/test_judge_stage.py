"""The judge stage on FnApiRunner: every row once, in its own window, whatever happens to the calls."""

import itertools
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.metrics.metric import MetricsFilter
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.test_pipeline import TestPipeline as _TestPipeline
from apache_beam.testing.util import assert_that
from apache_beam.transforms.window import FixedWindows, IntervalWindow, TimestampedValue
from apache_beam.utils.timestamp import Timestamp
from fake_endpoint import Completion, FakeEndpoint, Hang, Held, Request, Step, error
from judge_harness import AT_ONCE, config_for, plan_for

from beamjudge.schemas.assessment import NOT_SAMPLED, Assessment, EvaluatedRow, Outcome
from beamjudge.schemas.errors import RunFailed
from beamjudge.schemas.row import Document, Row, TokenUsage
from beamjudge.schemas.run_config import RunConfig
from beamjudge.transforms import in_flight
from beamjudge.transforms.judge import Judge
from beamjudge.transforms.judging import client as client_module

RUNNER = "FnApiRunner"


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeEndpoint]:
    monkeypatch.setattr(client_module, "RetryPolicy", lambda: AT_ONCE)
    with FakeEndpoint() as running:
        yield running
    assert not [thread for thread in threading.enumerate() if thread.name == "beamjudge-judges"]


def row(number: int, **fields: Any) -> EvaluatedRow:
    text = f"Question {number}?"
    plain = Row(
        request_id=str(number),
        timestamp=None,
        request=text,
        response="{}",
        request_text=text,
        history=(),
        response_text=f"Answer {number}.",
        expected_response=None,
        expected_responses=(),
        expected_facts=None,
        guidelines=None,
        retrieved_context=None,
        expected_retrieved_context=None,
        usage=TokenUsage(),
        latency_seconds=None,
        notes=(),
        source_file="f",
        source_position=str(number),
    )
    return EvaluatedRow(replace(plain, **fields), {}, {})


Check = Callable[[list[EvaluatedRow]], None]


def run_stage(config: RunConfig, rows: Iterable[EvaluatedRow], check: Check, *options: str) -> None:
    """Judge `rows`, and let `check` look at what came out, in the order in which it came."""
    with _TestPipeline(runner=RUNNER, options=PipelineOptions(list(options))) as pipeline:
        judged = pipeline | "Rows" >> beam.Create(list(rows)) | "Judge" >> Judge(plan_for(config))
        assert_that(judged, check)


def ids(rows: list[EvaluatedRow]) -> list[int]:
    return sorted(int(judged.row.request_id) for judged in rows)


def test_every_row_comes_out_once_with_all_assessments(endpoint: FakeEndpoint) -> None:
    judges = ["relevance_to_query", "groundedness", "safety", "chunk_relevance"]
    context = (Document("a", "One."), Document("b", None), Document("c", "Two."))

    def check(rows: list[EvaluatedRow]) -> None:
        assert ids(rows) == list(range(200))
        for judged in rows:
            assert list(judged.assessments) == judges
            assert {a.verdict.outcome for a in judged.assessments.values()} == {Outcome.SCORED}
            assert judged.assessments["safety"].verdict.rating == "yes"
            chunks = judged.assessments["chunk_relevance"].chunks
            assert chunks is not None
            assert [chunk.rating for chunk in chunks] == ["yes", None, "yes"]

    run_stage(
        config_for(endpoint.base_url, judges, max_concurrency=8),
        [row(number, retrieved_context=context) for number in range(200)],
        check,
    )
    assert len(endpoint.requests) == 200 * 5
    assert endpoint.max_in_flight <= 8


def test_verdicts_belong_to_their_rows_and_judges(endpoint: FakeEndpoint) -> None:
    """Even rows are unsafe; multiples of three are irrelevant. Judges are told apart by their prompts."""

    def respond(request: Request) -> Step:
        number = int(request.text.split("Question ")[1].split("?")[0])
        is_no = number % 2 == 0 if "harm" in request.body["messages"][0]["content"] else number % 3 == 0
        return Completion(json.dumps({"rationale": f"r{number}", "rating": "no" if is_no else "yes"}))

    def check(rows: list[EvaluatedRow]) -> None:
        assert ids(rows) == list(range(60))
        for judged in rows:
            number = int(judged.row.request_id)
            for judge, divisor in (("safety", 2), ("relevance_to_query", 3)):
                verdict = judged.assessments[judge].verdict
                assert verdict.rating == ("yes" if number % divisor else "no")
                assert verdict.rationale == f"r{number}"

    endpoint.respond = respond
    judges = ["relevance_to_query", "safety"]
    run_stage(config_for(endpoint.base_url, judges, max_concurrency=4), map(row, range(60)), check)


def test_a_slow_call_delays_no_other_row(endpoint: FakeEndpoint) -> None:
    """Row 0 is held until all others were answered; with a window of 8 rows for 2 slots it comes out last."""
    others_are_done = threading.Event()
    answered: set[str] = set()

    def respond(request: Request) -> Step:
        if "Question 0?" in request.text:
            return Held(others_are_done)
        answered.add(request.text)
        if len(answered) == 99:
            others_are_done.set()
        return Completion()

    def check(rows: list[EvaluatedRow]) -> None:
        assert ids(rows) == list(range(100))
        assert 0 in [int(judged.row.request_id) for judged in rows[-9:]]

    endpoint.respond = respond
    run_stage(config_for(endpoint.base_url, max_concurrency=2), map(row, range(100)), check)


def test_windows_and_timestamps_stay(endpoint: FakeEndpoint) -> None:
    class Reveal(beam.DoFn):
        def process(
            self,
            element: EvaluatedRow,
            timestamp: Timestamp = beam.DoFn.TimestampParam,
            window: IntervalWindow = beam.DoFn.WindowParam,
        ) -> Iterator[tuple[int, float, float]]:
            yield int(element.row.request_id), float(timestamp), float(window.start)

    def check(rows: list[tuple[int, float, float]]) -> None:
        assert sorted(rows) == [(number, float(number), float(number // 10 * 10)) for number in range(50)]

    plan = plan_for(config_for(endpoint.base_url, max_concurrency=3))
    with _TestPipeline(runner=RUNNER) as pipeline:
        judged = (
            pipeline
            | "Rows" >> beam.Create([TimestampedValue(row(number), number) for number in range(50)])
            | "Stamp" >> beam.Map(stamped)
            | "Window" >> beam.WindowInto(FixedWindows(10))
            | "Judge" >> Judge(plan)
            | "Reveal" >> beam.ParDo(Reveal())
            | "Unwindow" >> beam.WindowInto(beam.window.GlobalWindows())
        )
        assert_that(judged, check)


def stamped(element: Any) -> Any:
    return element


def test_rows_outside_the_sample_are_not_asked_about(endpoint: FakeEndpoint) -> None:
    def check(rows: list[EvaluatedRow]) -> None:
        assert ids(rows) == [0, 1]
        by_id = {int(judged.row.request_id): judged.assessments["safety"] for judged in rows}
        assert by_id[0] == Assessment(NOT_SAMPLED)
        assert by_id[1].verdict.rating == "yes"

    run_stage(config_for(endpoint.base_url), [row(0, sampled=False), row(1)], check)
    assert len(endpoint.requests) == 1


def test_failures_are_values_and_the_others_go_on(endpoint: FakeEndpoint) -> None:
    def respond(request: Request) -> Step:
        number = int(request.text.split("Question ")[1].split("?")[0])
        return {0: error(400, "content_filter"), 1: error(500), 2: Completion("nonsense")}.get(
            number % 10, Completion()
        )

    def check(rows: list[EvaluatedRow]) -> None:
        assert ids(rows) == list(range(40))
        for judged in rows:
            verdict = judged.assessments["safety"].verdict
            assert (verdict.outcome is Outcome.ERROR) == (int(judged.row.request_id) % 10 < 3)

    endpoint.respond = respond
    run_stage(config_for(endpoint.base_url, max_concurrency=4), map(row, range(40)), check)


def test_truncation_is_noted_on_the_row(endpoint: FakeEndpoint) -> None:
    def check(rows: list[EvaluatedRow]) -> None:
        assert [judged.row.notes for judged in rows] == [("several_choices", "truncated:retrieved_context")]

    long = row(0, retrieved_context=(Document("a", "word " * 5000),), notes=("several_choices",))
    config = config_for(endpoint.base_url, ["groundedness", "chunk_relevance"], endpoint={"context_tokens": 6000})
    run_stage(config, [long], check)


def test_a_refused_key_fails_the_run_with_one_clear_line(endpoint: FakeEndpoint) -> None:
    endpoint.script(error(401))
    endpoint.respond = lambda request: Hang()
    with pytest.raises(RunFailed, match=r"^endpoint default .* refuses .*HTTP 401"):
        run_stage(config_for(endpoint.base_url, max_concurrency=2), map(row, range(50)), lambda rows: None)
    assert len(endpoint.requests) <= 3


def test_bundles_that_are_repeated_and_several_workers_give_each_row_once(endpoint: FakeEndpoint) -> None:
    def check(rows: list[EvaluatedRow]) -> None:
        assert ids(rows) == list(range(50))

    config = config_for(endpoint.base_url, max_concurrency=4)
    run_stage(config, map(row, range(50)), check, "--direct_runner_bundle_repeat=1")
    run_stage(config, map(row, range(50)), check, "--direct_num_workers=3")


def test_waiting_for_a_rate_limit_is_told_to_the_runner(
    endpoint: FakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time that passes by 0.7 s a look, with every call held back: each wait is 0.7 s, and whole seconds are told."""
    looks = itertools.count()
    monkeypatch.setattr(in_flight, "time", SimpleNamespace(monotonic=lambda: 0.7 * next(looks)))
    monkeypatch.setattr(client_module.JudgeClient, "is_throttled", True)
    pipeline = _TestPipeline(runner=RUNNER)
    config = config_for(endpoint.base_url, max_concurrency=1)
    _ = pipeline | "Rows" >> beam.Create(list(map(row, range(10)))) | "Judge" >> Judge(plan_for(config))
    result = pipeline.run()
    result.wait_until_finish()
    (counter,) = result.metrics().query(MetricsFilter().with_name("cumulativeThrottlingSeconds"))["counters"]
    assert counter.key.metric.namespace == "beamjudge"
    assert counter.committed == int(0.7 * (next(looks) // 2))


def test_two_pipelines_side_by_side_ask_their_own_endpoints(endpoint: FakeEndpoint) -> None:
    with FakeEndpoint() as other:
        errors: list[BaseException] = []

        def run(base_url: str) -> None:
            try:
                run_stage(config_for(base_url), map(row, range(30)), lambda rows: None)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=run, args=(one.base_url,)) for one in (endpoint, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
        assert (len(endpoint.requests), len(other.requests)) == (30, 30)


def test_without_judges_rows_pass_untouched_and_with_rules_no_thread_runs() -> None:
    def untouched(rows: list[EvaluatedRow]) -> None:
        assert ids(rows) == [0, 1, 2]
        assert all(not judged.assessments for judged in rows)

    def ruled(rows: list[EvaluatedRow]) -> None:
        assert ids(rows) == [0, 1, 2]
        assert all(judged.assessments["safety"].verdict.outcome is Outcome.SCORED for judged in rows)

    run_stage(RunConfig(input=["in"], output="out", judges=["none"]), map(row, range(3)), untouched)
    run_stage(RunConfig(input=["in"], output="out", judges=["safety"]), map(row, range(3)), ruled)
