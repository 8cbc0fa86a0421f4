"""The aggregation stage equals a direct computation in plain Python, however the runner bundles the rows."""

import math
import random
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.test_pipeline import TestPipeline as _TestPipeline
from apache_beam.testing.util import assert_that
from scipy import stats

from beamjudge.schemas.assessment import NOT_SAMPLED, Assessment, EvaluatedRow, Outcome, Verdict
from beamjudge.schemas.judges import BUILT_IN_JUDGES
from beamjudge.schemas.metric import MetricRow
from beamjudge.schemas.row import Guidelines, Row, SliceValue, TokenUsage
from beamjudge.schemas.run_config import RunConfig
from beamjudge.schemas.spend import JudgeSpend, Spend
from beamjudge.transforms.aggregate import Aggregate
from beamjudge.transforms.aggregation.bootstrap import bootstrap_interval
from beamjudge.transforms.aggregation.observe import observe_row
from beamjudge.transforms.aggregation.state import SliceState
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.metrics.registry import metric_families
from beamjudge.transforms.metrics.text.bleu import bleu_statistics, corpus_bleu
from beamjudge.transforms.plan import RunPlan

CONFIG = RunConfig(
    input=["log.jsonl"],
    output="out",
    judges=["safety", "guideline_adherence", "global_guideline_adherence", "chunk_relevance"],
    metrics=["tokens", "latency", "bleu"],
    global_guidelines={"english": ["E"]},
    slice_by=["model"],
)
PLAN = RunPlan(
    CONFIG,
    tuple(
        JudgeBinding(spec, f"prompt of {spec.name}", spec.protocol, "default", CONFIG.endpoints["default"])
        for spec in BUILT_IN_JUDGES
        if spec.name in CONFIG.selected_judges()
    ),
    metric_families(CONFIG),
)
RUNNERS = [
    ["--direct_num_workers=1"],
    ["--direct_num_workers=3", "--direct_running_mode=multi_threading"],
    ["--direct_num_workers=1", "--direct_runner_bundle_repeat=1"],
]
WORDS = ("the", "cat", "sat", "on", "a", "mat", "while", "it", "rained", "and", "nobody", "saw")


def make_rows(count: int) -> list[EvaluatedRow]:
    rng = random.Random(7)
    return [_make_row(rng, number) for number in range(count)]


def _make_row(rng: random.Random, number: int) -> EvaluatedRow:
    def verdict() -> Verdict:
        kind = rng.choice(["yes", "yes", "no", "no", "error", "stopped", "none"])
        if kind in ("yes", "no"):
            return Verdict.scored(kind, "why", spend=Spend(1, rng.randint(1, 99), 0, 7, 0, 0.125))  # type: ignore[arg-type]
        return Verdict.not_applicable() if kind == "none" else Verdict.failed(f"{kind}:quota")

    given: dict[str, Any] = dict.fromkeys(Row.__dataclass_fields__)
    sampled = rng.random() < 0.8
    names = rng.sample(["tone", "format"], rng.randint(0, 2))
    row = Row(
        **{
            **given,
            "guideline_labels": (),
            "request_id": f"id-{number % 97}",
            "request": "{}",
            "request_text": "q",
            "history": (),
            "expected_responses": (),
            "usage": TokenUsage(),
            "guidelines": Guidelines(named=tuple((name, ("rule",)) for name in names)) if names else None,
            "notes": tuple(rng.sample(["refusal", "non_text_part"], rng.randint(0, 2))),
            "source_file": "log.jsonl",
            "source_position": str(number),
            "sampled": sampled,
            "slices": (SliceValue("model", *rng.choice([("a", "model=a"), ("(null)", "model=(null)")])),),
        }
    )
    text = [rng.choice(WORDS) for _ in range(8)]
    reference = [rng.choice([word, word, word, "snow"]) for word in text]
    values = {
        "agent/total_token_count": rng.choice([None, rng.randint(0, 5000)]),
        "agent/latency_seconds": rng.choice([None, rng.expovariate(0.5)]),
        "response/text/bleu": rng.choice([None, rng.random() * 100]),
        "response/text/bleu/corpus": rng.choice([None, bleu_statistics(text, [reference])]),
    }
    if not sampled:
        return EvaluatedRow(
            row, values, {judge.spec.name: Assessment(NOT_SAMPLED) for judge in PLAN.judges}, NOT_SAMPLED
        )
    chunks = tuple(verdict() for _ in range(rng.randint(0, 4)))
    assessments = {
        "safety": Assessment(verdict()),
        "guideline_adherence": Assessment(verdict(), named=tuple((name, verdict()) for name in names)),
        "global_guideline_adherence": Assessment(verdict(), named=(("english", verdict()),)),
        "chunk_relevance": Assessment(_of_chunks(chunks), chunks),
    }
    return EvaluatedRow(row, values, assessments, verdict())


def _of_chunks(chunks: tuple[Verdict, ...]) -> Verdict:
    if any(chunk.rating for chunk in chunks):
        return Verdict.scored("yes", None)
    failed = any(chunk.outcome is Outcome.ERROR for chunk in chunks)
    return Verdict.failed("all chunks failed") if failed else Verdict.not_applicable()


ROWS = make_rows(120)


def direct_counts(rows: Iterable[EvaluatedRow]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for each in rows:
        counts.update(f"note:{code}" for code in each.row.notes)
        for assessment in each.assessments.values():
            parts = assessment.chunks or [part for _, part in assessment.named] or [assessment.verdict]
            counts["stopped"] += sum((part.error_message or "").startswith("stopped:") for part in parts)
    return counts


def verdicts_of(rows: list[EvaluatedRow], judge: str, named: str | None = None) -> list[Verdict | None]:
    """Each row's verdict on a judge or one of its names; null where the row does not have the name."""
    found: list[Verdict | None] = []
    for each in rows:
        assessment = each.assessments[judge]
        if named is None:
            found.append(assessment.verdict)
        elif assessment.verdict.outcome is Outcome.NOT_SAMPLED:
            of_row = [name for name, _ in each.row.guidelines.named] if each.row.guidelines else []
            has_name = judge == "global_guideline_adherence" or named in of_row
            found.append(assessment.verdict if has_name else None)
        else:
            found.append(dict(assessment.named).get(named))
    return found


def check_counts(metric: MetricRow, rows: int, scored: int, not_sampled: int, errors: int) -> None:
    assert (metric.n_rows, metric.n_scored) == (rows, scored)
    assert (metric.n_not_sampled, metric.n_error) == (not_sampled, errors)
    assert metric.n_not_applicable == rows - scored - not_sampled - errors


def check_share(metric: MetricRow, verdicts: list[Verdict | None]) -> None:
    outcomes = Counter(verdict.outcome for verdict in verdicts if verdict)
    ratings = [verdict.rating for verdict in verdicts if verdict]
    yes, no, errors = ratings.count("yes"), ratings.count("no"), outcomes[Outcome.ERROR]
    check_counts(metric, len(verdicts), yes + no, outcomes[Outcome.NOT_SAMPLED], errors)
    assert (metric.n_yes, metric.n_no, metric.value) == (yes, no, yes / (yes + no))
    wilson = stats.binomtest(yes, yes + no).proportion_ci(0.95, method="wilson")
    assert (metric.ci_low, metric.ci_high) == pytest.approx((wilson.low, wilson.high), rel=1e-9)
    assert metric.value_if_errors_no == yes / (yes + no + errors)
    assert metric.value_if_errors_yes == (yes + errors) / (yes + no + errors)


def check_mean(metric: MetricRow, values: list[float], rows: int, not_sampled: int = 0, errors: int = 0) -> None:
    check_counts(metric, rows, len(values), not_sampled, errors)
    assert metric.value == pytest.approx(statistics.fmean(values), rel=1e-12)
    low, high = stats.t.interval(0.95, len(values) - 1, statistics.fmean(values), stats.sem(values))
    assert metric.ci_low == pytest.approx(max(low, 0.0), rel=1e-9)
    assert metric.ci_high == pytest.approx(high, rel=1e-9)
    assert metric.sum == pytest.approx(math.fsum(values), rel=1e-12)
    assert metric.sum_squares == pytest.approx(math.fsum(value * value for value in values), rel=1e-12)
    assert (metric.min, metric.max) == (min(values), max(values))
    for q, quantile in ((0.5, metric.p50), (0.9, metric.p90), (0.99, metric.p99)):
        exact = sorted(values)[math.floor(q * (len(values) - 1))]
        assert quantile == pytest.approx(exact, rel=0.00501)


def check_bleu(metric: MetricRow, rows: list[EvaluatedRow]) -> None:
    buckets: dict[int, list[tuple[int, ...]]] = {}
    for each in rows:
        numbers = each.values["response/text/bleu/corpus"]
        if isinstance(numbers, tuple):
            buckets.setdefault(observe_row(each, (), PLAN).bucket, []).append(numbers)
    scored = [numbers for bucket in buckets.values() for numbers in bucket]
    check_counts(metric, len(rows), len(scored), 0, 0)
    assert metric.value == corpus_bleu(sums(scored))
    summed = {bucket: sums(numbers) for bucket, numbers in buckets.items()}
    assert (metric.ci_low, metric.ci_high) == bootstrap_interval(summed, corpus_bleu, 0.95)


def sums(numbers: list[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*numbers, strict=True)))


def check_slice(rows: list[EvaluatedRow], metrics: dict[str, MetricRow]) -> None:
    judged = "response/llm_judged"
    shares = {
        f"{judged}/safety/rating/percentage": verdicts_of(rows, "safety"),
        f"{judged}/safety/rating/average": verdicts_of(rows, "safety"),
        f"{judged}/guideline_adherence/rating/percentage": verdicts_of(rows, "guideline_adherence"),
        f"{judged}/guideline_adherence/tone/rating/percentage": verdicts_of(rows, "guideline_adherence", "tone"),
        f"{judged}/guideline_adherence/format/rating/percentage": verdicts_of(rows, "guideline_adherence", "format"),
        f"{judged}/global_guideline_adherence/rating/percentage": verdicts_of(rows, "global_guideline_adherence"),
        f"{judged}/global_guideline_adherence/english/rating/percentage": verdicts_of(
            rows, "global_guideline_adherence", "english"
        ),
        "response/overall_assessment/rating/percentage": [each.overall for each in rows],
    }
    for name, verdicts in shares.items():
        check_share(metrics.pop(name), verdicts)
    chunks = [each.assessments["chunk_relevance"] for each in rows]
    outcomes = Counter(assessment.verdict.outcome for assessment in chunks)
    precisions = [assessment.precision for assessment in chunks if assessment.precision is not None]
    for name in ("chunk_relevance/precision/average", "chunk_relevance_precision/average"):
        metric = metrics.pop(f"retrieval/llm_judged/{name}")
        check_mean(metric, precisions, len(rows), outcomes[Outcome.NOT_SAMPLED], outcomes[Outcome.ERROR])
        # What the mean would be if each chunk that failed had been rated no, or yes.
        for bound, rating in ((metric.value_if_errors_no, 0), (metric.value_if_errors_yes, 1)):
            assert bound == pytest.approx(statistics.fmean(precisions_if_failed(chunks, rating)), rel=1e-12)
    for column in ("agent/total_token_count", "agent/latency_seconds", "response/text/bleu"):
        values = [float(value) for each in rows if (value := each.values[column]) is not None]  # type: ignore[arg-type]
        check_mean(metrics.pop(f"{column}/average"), values, len(rows))
    tokens = [value for each in rows if (value := each.values["agent/total_token_count"]) is not None]
    total = metrics.pop("agent/total_token_count/sum")
    assert (total.value, total.ci_low) == (sum(tokens), None)  # type: ignore[arg-type]
    check_bleu(metrics.pop("response/text/bleu/corpus"), rows)
    # What no row logs has its row all the same.
    for name in ("input", "output"):
        for statistic in ("average", "sum"):
            metric = metrics.pop(f"agent/{name}_token_count/{statistic}")
            assert (metric.value, metric.n_rows, metric.n_not_applicable) == (None, len(rows), len(rows))
    assert not metrics


def precisions_if_failed(assessments: Iterable[Assessment], rating: int) -> Iterator[float]:
    """Each row's precision, with chunks that failed rated 1 or 0; rows of which nothing was asked are left out."""
    numbers = {"yes": 1, "no": 0}
    for each in assessments:
        asked = [chunk for chunk in each.chunks or () if chunk.outcome in (Outcome.SCORED, Outcome.ERROR)]
        if asked:
            yield sum(numbers.get(chunk.rating or "", rating) for chunk in asked) / len(asked)


def slices_of(rows: Iterable[EvaluatedRow]) -> dict[str, list[EvaluatedRow]]:
    slices: dict[str, list[EvaluatedRow]] = {}
    for each in rows:
        slices.setdefault("overall", []).append(each)
        slices.setdefault(each.row.slices[0].display, []).append(each)
    return slices


def check_metrics(found: Iterable[MetricRow]) -> None:
    metrics: dict[str, dict[str, MetricRow]] = {}
    for metric in found:
        assert metric.run_id == CONFIG.run_id
        assert metric.metric not in metrics.setdefault(metric.slice, {})
        metrics[metric.slice][metric.metric] = metric
    expected = slices_of(ROWS)
    assert metrics.keys() == expected.keys() == {"overall", "model=a", "model=(null)"}
    for name, rows in expected.items():
        check_slice(rows, metrics[name])


def check_states(found: Iterable[tuple[str, SliceState]]) -> None:
    states = dict(found)
    assert {name: state.n_rows for name, state in states.items()} == {
        name: len(rows) for name, rows in slices_of(ROWS).items()
    }
    spend: dict[str, JudgeSpend] = {}
    for each in ROWS:
        for judge, assessment in each.assessments.items():
            for part in assessment.parts():
                spend[judge] = spend.get(judge, JudgeSpend()) + part.cost
    assert states["overall"].spend == spend
    for judge, counts in states["overall"].verdicts.items():
        outcomes = [part.outcome for each in ROWS for part in each.assessments[judge].parts()]
        assert counts == (outcomes.count(Outcome.SCORED), outcomes.count(Outcome.ERROR))
    assert states["overall"].verdicts.keys() == spend.keys()
    assert not states["model=a"].verdicts
    assert len(states["overall"].id_hashes) == len(ROWS)
    assert not states["model=a"].id_hashes
    assert not states["model=a"].spend


def check_pairs(found: Iterable[tuple[str, int]]) -> None:
    counts: Counter[str] = Counter()
    for name, count in found:
        counts[name] += count
    assert counts == direct_counts(ROWS)


@pytest.mark.parametrize("options", RUNNERS, ids=["one worker", "three workers", "bundles repeated"])
def test_the_pipeline_equals_the_direct_computation(options: list[str]) -> None:
    with _TestPipeline(runner="FnApiRunner", options=PipelineOptions(options)) as pipeline:
        aggregated = pipeline | beam.Create(ROWS) | beam.Reshuffle() | Aggregate(PLAN)
        assert_that(aggregated.metrics, check_metrics, label="Metrics")
        assert_that(aggregated.states, check_states, label="States")
        assert_that(aggregated.counts, check_pairs, label="Counts")


def test_beam_has_nothing_to_warn_of(caplog: pytest.LogCaptureFixture) -> None:
    _ = beam.Pipeline() | beam.Create(ROWS[:1]) | Aggregate(PLAN)
    assert [record.getMessage() for record in caplog.records] == []


def test_no_rows_give_no_states_and_no_metrics() -> None:
    with _TestPipeline(runner="FnApiRunner") as pipeline:
        aggregated = pipeline | beam.Create([]).with_output_types(EvaluatedRow) | Aggregate(PLAN)
        for name, collection in aggregated._asdict().items():
            assert_that(collection, _is_empty, label=name.title())


def _is_empty(found: Iterable[object]) -> None:
    assert list(found) == []
