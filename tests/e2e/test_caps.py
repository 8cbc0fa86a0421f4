"""Caps on slices and calls in whole runs."""

import json

import pytest
from direct import read_metrics, read_rows
from fake_endpoint import Completion, FakeEndpoint

from beamjudge.pipelines.cli import main
from beamjudge.transforms import first_pass
from beamjudge.transforms.sample import sample_bucket


def write_log(tmp_path, rows):
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ["evaluate", "--input", str(tmp_path / "log.jsonl"), "--output", str(tmp_path / "out"), "--quiet"]


def test_rare_slice_values_are_summed_as_other(tmp_path, monkeypatch):
    monkeypatch.setattr(first_pass, "KEPT_VALUES", 2)
    users = ["a"] * 5 + ["b"] * 3 + ["c"] * 3 + ["d"]
    rows = [{"request": "q", "response": "x" * (index + 1), "user": user} for index, user in enumerate(users)]
    flags = write_log(tmp_path, rows)
    assert main([*flags, "--judges", "none", "--metrics", "length", "--slice_by", "user"]) == 0
    lengths = {
        name: (row["n_rows"], row["value"])
        for (name, metric), row in read_metrics(tmp_path / "out").items()
        if metric == "response/text/characters/average"
    }
    # b and c have three rows each: the tie is kept by name. The others are rows 9 to 12, 10.5 characters on average.
    assert lengths == {"overall": (12, 6.5), "user=a": (5, 3.0), "user=b": (3, 7.0), "user=(other)": (4, 10.5)}
    assert {row["slice/user"] for row in read_rows(tmp_path / "out")} == {"a", "b", "c", "d"}


def test_a_slice_of_too_many_values_is_dropped_and_said(tmp_path, monkeypatch):
    monkeypatch.setattr(first_pass, "MOST_VALUES", 3)
    rows = [{"request": "q", "response": "x", "user": f"u{index}", "model": "m"} for index in range(4)]
    flags = write_log(tmp_path, rows)
    assert main([*flags, "--judges", "none", "--metrics", "length", "--slice_by", "user,model"]) == 0
    metrics = read_metrics(tmp_path / "out")
    assert {name for name, _ in metrics} == {"overall", "model=m"}
    assert metrics["overall", "slice/user/error"]["value"] == 4


@pytest.mark.parametrize(
    ("cap", "calls"),
    # At 1 dollar per million tokens a reply of 1,024 tokens costs 0.001 dollars, so that a cap of 0.0105 allows no more
    # than 10 calls; with a prompt of less than 2,000 tokens a call costs less than 0.0031, which allows at least 3.
    [(["--max_judge_calls", "7"], range(7, 8)), (["--max_cost_usd", "0.0105"], range(3, 11))],
)
def test_caps_judge_a_random_sample_that_is_the_same_each_time(tmp_path, cap, calls):
    flags = write_log(tmp_path, [{"request_id": f"r{i}", "request": f"q{i}", "response": "a"} for i in range(40)])
    with FakeEndpoint() as endpoint:
        endpoint.respond = lambda request: Completion()
        (tmp_path / "run.yaml").write_text(
            f"endpoints: {{default: {{model: m, base_url: '{endpoint.base_url}', "
            "price_per_million: {input: 1, output: 1}}}"
        )
        assert main([*flags, "--config", str(tmp_path / "run.yaml"), "--judges", "safety", *cap]) == 0
        asked = len(endpoint.requests)
    rows = read_rows(tmp_path / "out")
    sampled = {row["request_id"] for row in rows if row["sampled"]}
    assert asked == len(sampled)
    assert asked in calls
    by_bucket = sorted((row["request_id"] for row in rows), key=sample_bucket)
    assert sampled == set(by_bucket[:asked])
    safety = read_metrics(tmp_path / "out")["overall", "response/llm_judged/safety/rating/percentage"]
    assert (safety["n_scored"], safety["n_not_sampled"]) == (asked, 40 - asked)


def test_a_cap_on_cost_needs_a_price(tmp_path, capsys):
    flags = write_log(tmp_path, [{"request": "q", "response": "a"}])
    assert (
        main([*flags, "--judge_model", "mine", "--judge_base_url", "http://127.0.0.1:9/v1", "--max_cost_usd", "1"]) == 2
    )
    assert "the price of 'mine' is not known" in capsys.readouterr().err
