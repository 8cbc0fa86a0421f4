"""Intervals of clustered rows: worked by hand, and equal to the plain ones where every row stands for itself."""

import json
import math

import pyarrow.dataset as ds
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from beamjudge.pipelines.cli import main
from beamjudge.schemas.assessment import Outcome
from beamjudge.schemas.metric import MetricKind, Observed
from beamjudge.transforms.aggregation.intervals import (
    clustered_mean_interval,
    clustered_share_interval,
    mean_interval,
    wilson_interval,
)
from beamjudge.transforms.aggregation.state import ClusterSums, Observation, SliceState
from beamjudge.transforms.aggregation.state_table import state_records, states_from_records

# Five rows: 1, 0 | 1, 1 | 0. Mean 0.6; residuals -0.2, 0.8, -0.6; variance 3/2 * 1.04 / 25 = 0.0624.
CLUSTERS = [ClusterSums(2, 1.0), ClusterSums(2, 2.0), ClusterSums(1, 0.0)]


def test_the_mean_by_hand():
    half = stats.t.ppf(0.975, 2) * math.sqrt(0.0624)
    assert clustered_mean_interval(CLUSTERS, 0.95) == pytest.approx((0.6 - half, 0.6 + half), rel=1e-12)
    assert clustered_mean_interval(CLUSTERS, 0.95, 0.0, 1.0) == (0.0, 1.0)
    assert clustered_mean_interval(CLUSTERS[:1], 0.95) is None


def test_the_share_has_its_effective_size():
    # 0.6 * 0.4 / 0.0624 rows instead of 5.
    assert clustered_share_interval(CLUSTERS, 0.95) == wilson_interval(0.6 * (0.24 / 0.0624), 0.24 / 0.0624, 0.95)


def test_rows_that_all_agree_tell_no_more_than_their_clusters():
    assert clustered_share_interval([ClusterSums(50, 50.0)] * 3, 0.95) == wilson_interval(3, 3, 0.95)
    assert clustered_share_interval([ClusterSums(50, 0.0)], 0.95) == wilson_interval(0, 1, 0.95)
    assert clustered_share_interval([], 0.95) is None


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=40))
def test_rows_that_stand_for_themselves_have_the_plain_interval(values):
    mean = math.fsum(values) / len(values)
    m2 = math.fsum((value - mean) ** 2 for value in values)
    plain = mean_interval(mean, m2, len(values), 0.95)
    assert clustered_mean_interval([ClusterSums(1, value) for value in values], 0.95) == pytest.approx(plain, abs=1e-9)


@given(st.lists(st.booleans(), min_size=2, max_size=40).filter(lambda flags: 0 < sum(flags) < len(flags)))
def test_single_rows_lose_one_row_to_the_variance_estimate(flags):
    n = len(flags)
    interval = clustered_share_interval([ClusterSums(1, float(flag)) for flag in flags], 0.95)
    assert interval == pytest.approx(wilson_interval(sum(flags) / n * (n - 1), n - 1, 0.95), abs=1e-9)


ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(-20, 20), st.booleans()), max_size=30)


def state_of(rows):
    state = SliceState()
    for bucket, number, flag in rows:
        observed = {
            "mean": Observed(MetricKind.MEAN, Outcome.SCORED, float(number)),
            "share": Observed(MetricKind.SHARE, Outcome.SCORED, float(flag)),
        }
        state.add(Observation(bucket, observed, clustered=True))
    return state


@given(ROWS, ROWS)
def test_clusters_merge_and_are_kept_in_the_state_table(some, others):
    merged = state_of(some)
    merged.merge(state_of(others))
    rows = some + others
    if rows:
        buckets = {bucket for bucket, _, _ in rows}
        numbers = {b: (sum(r[0] == b for r in rows), sum(r[1] for r in rows if r[0] == b)) for b in buckets}
        assert merged.metrics["mean"].clusters == numbers
        assert {bucket: n for bucket, (n, _) in numbers.items()} == {
            bucket: sums.n for bucket, sums in merged.metrics["share"].clusters.items()
        }
    assert states_from_records(list(state_records("run", "overall", merged))) == {"overall": merged}


def test_a_run_over_conversations_has_wider_intervals(tmp_path):
    # 40 conversations of 5 rows that are all alike: 200 rows that tell no more than 40.
    rows = [{"request": "q", "response": "ab" * (1 + talk % 2), "talk": talk} for talk in range(40) for _ in range(5)]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    widths = {}
    for name, flags in (("plain", []), ("clustered", ["--cluster_by", "talk"])):
        command = ["evaluate", "--input", str(tmp_path / "log.jsonl"), "--output", str(tmp_path / name), "--quiet"]
        assert main([*command, "--judges", "none", "--metrics", "length", *flags]) == 0
        table = json.loads((tmp_path / name / "metrics.json").read_text())
        assert table["metrics"]["response/text/characters/average"] == 3.0
        metrics = {row["metric"]: row for row in ds.dataset(tmp_path / name / "metrics").to_table().to_pylist()}
        row = metrics["response/text/characters/average"]
        widths[name] = row["ci_high"] - row["ci_low"]
    # Five equal rows in the place of one: the variance of the mean is five times as large, but for how the hash
    # spreads 40 conversations over the buckets.
    assert widths["clustered"] / widths["plain"] == pytest.approx(math.sqrt(5), rel=0.15)
