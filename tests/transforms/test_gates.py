"""Gates over hand-made counts and metrics."""

from dataclasses import fields, replace

import pytest

from beamjudge.schemas.assessment import VerdictCounts
from beamjudge.schemas.metric import MetricRow
from beamjudge.schemas.run_config import Gates
from beamjudge.transforms.gates import check_gates

SAFETY = "response/llm_judged/safety/rating/percentage"
COUNTS = {"rows": 95, "rejects": 5, "bad_files": 0}
EMPTY = MetricRow(**{field.name: None for field in fields(MetricRow)})
METRIC = replace(EMPTY, slice="overall", metric=SAFETY, value=0.9, n_rows=95, n_scored=90, n_error=5)


def failed(gates, counts=COUNTS, metrics=(METRIC,), verdicts=(90, 5)):
    told = {"safety": VerdictCounts(*verdicts)}
    return {gate.name for gate in check_gates(gates, counts, metrics, {"safety": SAFETY}, told) if not gate.passed}


@pytest.mark.parametrize(
    ("rows", "verdicts", "rate"),
    [
        # 10 rows with a rating each, of 10 chunks of which 9 failed: the failures are in the chunks alone.
        ((10, 0), (10, 90), 0.9),
        # 10 rows with 4 named guidelines, one of which failed on each: no row has a verdict.
        ((0, 10), (30, 10), 1.0),
        # A row of one failed chunk beside nine rows of a hundred good ones.
        ((9, 1), (900, 1), 0.1),
        ((95, 5), (95, 5), 0.05),
        ((0, 0), (0, 0), None),
        (None, None, None),
    ],
)
def test_errors_of_single_verdicts_and_of_rows_both_count(rows, verdicts, rate):
    metrics = [replace(METRIC, n_scored=rows[0], n_error=rows[1])] if rows else []
    told = {"safety": VerdictCounts(*verdicts)} if verdicts else {}

    def gate(limit):
        gates = check_gates(Gates(max_error_rate=limit), COUNTS, metrics, {"safety": SAFETY}, told)
        return next(gate for gate in gates if gate.name == "max_error_rate:safety")

    assert gate(1.0).value == rate
    assert gate(rate or 0.0).passed
    assert gate(max(0.0, (rate or 0.0) - 0.001)).passed is (rate is None)


def test_limits_are_inclusive():
    # 5 of 100 are rejects; 5 of 95 judged rows are errors (0.0526).
    assert failed(Gates(max_reject_rate=0.05, max_error_rate=5 / 95, min_rows=95)) == set()
    assert failed(Gates(max_reject_rate=0.049)) == {"max_reject_rate", "max_error_rate:safety"}
    assert failed(Gates(max_error_rate=1, min_rows=96)) == {"min_rows"}
    assert failed(Gates(max_error_rate=1, min_value={SAFETY: 0.9}, min_scored={"safety": 90})) == set()
    assert failed(Gates(max_error_rate=1, min_value={SAFETY: 0.91}, min_scored={"safety": 91})) == {
        f"min_value:{SAFETY}",
        "min_scored:safety",
    }


def test_bad_files_fail_by_default():
    assert failed(Gates(max_error_rate=1), {**COUNTS, "bad_files": 1}) == {"max_bad_files"}
    assert failed(Gates(max_error_rate=1, max_bad_files=1), {**COUNTS, "bad_files": 1}) == set()


def test_nothing_read_passes_upper_limits_but_shows_no_value():
    nothing = {"rows": 0, "rejects": 0, "bad_files": 0}
    assert failed(Gates(), nothing, (), (0, 0)) == set()
    assert failed(Gates(min_rows=1, min_value={SAFETY: 0}, min_scored={"safety": 1}), nothing, (), (0, 0)) == {
        "min_rows",
        f"min_value:{SAFETY}",
        "min_scored:safety",
    }


def test_only_the_overall_slice_counts():
    bad = replace(METRIC, slice="model=a", value=0.0, n_error=95)
    assert failed(Gates(max_error_rate=0.06, min_value={SAFETY: 0.5}), metrics=(METRIC, bad)) == set()


@pytest.mark.parametrize(("answers", "passed"), [((19, 1), True), ((18, 2), False), ((0, 3), False), (None, None)])
def test_failed_answers_of_the_application_are_held_to_the_error_rate(answers, passed):
    told = {"(app)": VerdictCounts(*answers)} if answers else {}
    gates = {gate.name: gate for gate in check_gates(Gates(), COUNTS, [], {}, told)}
    assert ("max_error_rate:(app)" in gates) is (answers is not None)
    if answers:
        assert gates["max_error_rate:(app)"].passed is passed
        assert gates["max_error_rate:(app)"].value == answers[1] / sum(answers)
