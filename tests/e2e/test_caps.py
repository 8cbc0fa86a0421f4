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


ADHERENCE = "response/llm_judged/guideline_adherence"
KEPT = "Must contain 'a'."
BROKEN = "Must contain 'z'."


def guideline_log(tmp_path, names_of_rows):
    """A log of responses `a`; names in capitals are of guidelines that these do not follow."""
    rows = [
        {"request": "q", "response": "a", "guidelines": {name: [BROKEN if name.isupper() else KEPT] for name in names}}
        for names in names_of_rows
    ]
    return [*write_log(tmp_path, rows), "--judge_model", "lexical", "--judges", "guideline_adherence"]


def shares_of_names(folder):
    """By name of a guideline: n_rows, n_yes, n_no, n_not_applicable."""
    return {
        metric.removeprefix(f"{ADHERENCE}/").removesuffix("/rating/percentage"): tuple(
            row[name] for name in ("n_rows", "n_yes", "n_no", "n_not_applicable")
        )
        for (_, metric), row in read_metrics(folder).items()
        if metric.startswith(f"{ADHERENCE}/") and metric.count("/") == 5
    }


def test_rare_names_of_guidelines_are_one_metric(tmp_path, monkeypatch):
    monkeypatch.setattr(first_pass, "KEPT_VALUES", 2)
    long = "n" * 300
    names = [["tone", long], ["tone", "b"], [long, "C"], ["d", "E"], ["tone", "f"]]
    assert main(guideline_log(tmp_path, names)) == 0
    # Of three rows with tone and two with the long name; those four others are in four rows, each once. A row counts
    # once for all of its rare names: the second and the last follow theirs, the third and the fourth break one.
    assert shares_of_names(tmp_path / "out") == {
        "tone": (5, 3, 0, 2),
        "n" * 255 + "…": (5, 2, 0, 3),
        "(other)": (5, 2, 2, 1),
    }
    named = [{entry["name"] for entry in row[f"{ADHERENCE}/named"]} for row in read_rows(tmp_path / "out")]
    assert sorted(map(sorted, named)) == sorted(map(sorted, names))


def test_too_many_names_of_guidelines_are_dropped_and_said(tmp_path, monkeypatch, capsys):
    folders = []
    for kept, name in ((3, "one"), (9, "two")):
        monkeypatch.setattr(first_pass, "MOST_VALUES", kept)
        folder = tmp_path / name
        folder.mkdir()
        assert main(guideline_log(folder, [[f"g{index}"] for index in range(4)])) == 0
        folders.append(str(folder / "out"))
    dropped, whole = (read_metrics(folder) for folder in folders)
    assert shares_of_names(folders[0]) == {}
    assert dropped["overall", f"{ADHERENCE}/error"]["value"] == 4
    assert dropped["overall", f"{ADHERENCE}/rating/percentage"]["n_yes"] == 4
    assert ("overall", f"{ADHERENCE}/error") not in whole
    assert set(shares_of_names(folders[1])) == {"g0", "g1", "g2", "g3"}
    assert main(["merge", *folders, "--output", str(tmp_path / "merged")]) == 2
    assert f"{ADHERENCE} has too many values in some runs and not in '{folders[1]}'" in capsys.readouterr().err


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
