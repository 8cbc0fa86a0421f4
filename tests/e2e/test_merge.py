"""Merged runs equal the run over the union of their inputs; what cannot be merged is refused in one line."""

import json
import shutil

import pytest
from direct import differences, read_table
from sample_log import ALL_JUDGES, log_rows, write_log

from beamjudge.pipelines.cli import main
from beamjudge.transforms import first_pass

FLAGS = ("--quiet", "--judges", ALL_JUDGES, "--global_guidelines", "Must contain 'number'.", "--slice_by",
         "model,model*locale", "--max_error_rate", "1", "--max_reject_rate", "1")  # fmt: skip


def evaluate(inputs, output, *flags):
    return main(["evaluate", "--input", *map(str, inputs), "--output", str(output), *FLAGS, *flags])


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Three logs, a run over each, and one over all of them."""
    folder = tmp_path_factory.mktemp("runs")
    rows = list(log_rows(90))
    rows[40]["request_id"] = rows[3]["request_id"]
    logs = []
    for part, share in enumerate((rows[:50], rows[50:51], rows[51:])):
        logs.append(folder / f"log{part}.jsonl")
        write_log(logs[-1], [*share, {"response": "no request"}] if part == 2 else share)
        assert evaluate(logs[-1:], folder / f"run{part}") == 0
    assert evaluate(logs, folder / "union") == 0
    return folder


def test_merging_equals_the_run_over_the_union(runs, tmp_path):
    assert main(["merge", *(str(runs / f"run{part}") for part in (0, 1, 2)), "--output", str(tmp_path / "out")]) == 0
    merged, union = (
        {(row["slice"], row["metric"]): row for row in read_table(folder, "metrics").to_pylist()}
        for folder in (tmp_path / "out", runs / "union")
    )
    assert merged.keys() == union.keys()
    for key, row in union.items():
        assert differences(merged[key], row) == {}, key
    both = [json.loads((folder / "run.json").read_text()) for folder in (tmp_path / "out", runs / "union")]
    for name in ("run_id", "counts", "rejects", "notes", "status"):
        assert both[0][name] == both[1][name], name
    assert both[0]["counts"]["duplicate_request_ids"] == 1
    assert [part["folder"] for part in both[0]["merged_from"]] == [str(runs / f"run{part}") for part in (0, 1, 2)]
    # A merged run merges again: its state is that of the union.
    order = [("slice", "ascending"), ("key", "ascending")]
    states = [read_table(folder, "state").sort_by(order) for folder in (tmp_path / "out", runs / "union")]
    counts = [
        "slice",
        "key",
        "n_rows",
        "n_scored",
        "n_yes",
        "n_no",
        "n_error",
        "sketch_positive",
        "buckets",
        "id_hashes",
    ]
    assert states[0].select(counts).equals(states[1].select(counts))


def test_what_cannot_be_merged_is_refused(runs, tmp_path, capsys):
    shutil.copytree(runs / "run0", tmp_path / "again")
    assert evaluate([runs / "log1.jsonl"], tmp_path / "fewer", "--judges", "safety") == 0
    assert evaluate([runs / "log1.jsonl"], tmp_path / "unsliced", "--slice_by", "model") == 0
    (tmp_path / "empty").mkdir()
    first = str(runs / "run0")
    for others, said in (
        ([str(tmp_path / "again")], "both read"),
        ([str(tmp_path / "fewer")], "--allow_different_judges"),
        ([str(tmp_path / "unsliced")], "slice_by is"),
        ([str(tmp_path / "empty")], "holds no run.json; expected the output folder of a complete run"),
        (["--ouput", "x"], "did you mean --output?"),
    ):
        assert main(["merge", first, *others, "--output", str(tmp_path / "out")]) == 2, others
        error = capsys.readouterr().err
        assert said in error
        assert len(error.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_runs_of_different_judges_merge_when_told_to(runs, tmp_path):
    assert evaluate([runs / "log1.jsonl"], tmp_path / "fewer", "--judges", "safety") == 0
    for order in (("fewer", "run0"), ("run0", "fewer")):
        folders = [str(tmp_path / "fewer" if name == "fewer" else runs / name) for name in order]
        output = tmp_path / order[0] / "merged" if order[0] == "run0" else tmp_path / "merged"
        assert main(["merge", *folders, "--output", str(output), "--allow_different_judges", "--quiet"]) in (0, 3)
        metrics = {(row["slice"], row["metric"]): row for row in read_table(output, "metrics").to_pylist()}
        correctness = metrics["overall", "response/llm_judged/correctness/rating/percentage"]
        # The run of one row did not ask this judge.
        assert (correctness["n_rows"], correctness["n_not_applicable"] > 0) == (51, True)


def test_runs_whose_metrics_were_computed_otherwise_merge_only_when_told_to(tmp_path, capsys):
    folders = []
    for name in ("plain", "other"):
        log = tmp_path / f"{name}.jsonl"
        log.write_text(json.dumps({"request": "q", "response": "a cat", "expected_response": "a dog"}) + "\n")
        folders.append(str(tmp_path / name))
        flags = (
            "--input",
            str(log),
            "--output",
            folders[-1],
            "--judges",
            "none",
            "--metrics",
            "meteor,bleu",
            "--quiet",
        )
        assert main(["evaluate", *flags]) == 0
    path = tmp_path / "other" / "run.json"
    record = json.loads(path.read_text())
    versions = record["versions"]
    assert {"beamjudge", "python", "numpy", "scipy", "rapidfuzz", "py3langid"} <= versions.keys()
    ours = record["signatures"]["response/text/meteor/average"]
    theirs = f"{ours}|and:more"
    record["signatures"]["response/text/meteor/average"] = theirs
    path.write_text(json.dumps(record))
    command = ["merge", *folders, "--output", str(tmp_path / "merged"), "--quiet"]
    assert main(command) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    for part in (f"response/text/meteor/average was not computed alike in '{folders[0]}' ({ours})", f"({theirs})"):
        assert part in said
    assert "add --allow_different_metrics to merge them" in said
    assert main([*command, "--allow_different_metrics"]) == 0
    merged = json.loads((tmp_path / "merged" / "run.json").read_text())["signatures"]
    assert merged["response/text/meteor/average"] == f"{ours} and {theirs}"
    assert merged["response/text/bleu/corpus"] == record["signatures"]["response/text/bleu/corpus"]


@pytest.mark.parametrize(
    "flags", [("--text_tokenizer", "rouge"), ("--rouge_stemmer",), ("--retrieval_k", "1,7")], ids=lambda flags: flags[0]
)
def test_runs_with_other_settings_of_metrics_do_not_merge(tmp_path, capsys, flags):
    folders = []
    for name, more in (("plain", ()), ("other", flags)):
        log = tmp_path / f"{name}.jsonl"
        log.write_text(json.dumps({"request": "q", "response": "a", "expected_response": "a"}) + "\n")
        folders.append(str(tmp_path / name))
        given = ("--input", str(log), "--output", folders[-1], "--judges", "none", "--quiet", *more)
        assert main(["evaluate", *given]) == 0
    assert main(["merge", *folders, "--output", str(tmp_path / "merged"), "--allow_different_metrics"]) == 2
    assert f"{flags[0].lstrip('-')} is " in capsys.readouterr().err


@pytest.mark.parametrize("by_slice", [True, False])
def test_runs_that_kept_different_values_do_not_merge(tmp_path, monkeypatch, capsys, by_slice):
    """Two values are kept: in the first run a and b, in the second b and c; `(other)` holds c here and a there."""
    monkeypatch.setattr(first_pass, "KEPT_VALUES", 2)

    def run(name, values):
        rows = [
            {"request": f"{name} {number}", "response": "The house is on the hill."}
            | ({"model": value} if by_slice else {"guidelines": {value: ["The response must be in English."]}})
            for number, value in enumerate(values)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        more = ["--judges", "none", "--slice_by", "model"] if by_slice else ["--judges", "guideline_adherence"]
        folder = str(tmp_path / name)
        log = str(tmp_path / f"{name}.jsonl")
        assert main(["evaluate", "--input", log, "--output", folder, "--metrics", "form", "--quiet", *more]) in (0, 3)
        return folder

    first, other = run("first", "aaabbc"), run("other", "abbbcc")
    output = str(tmp_path / "out")
    assert main(["merge", first, other, "--output", output]) == 2
    said = capsys.readouterr().err
    assert "put the rest into (other), and not all runs kept the same; run once over all inputs" in said
    assert len(said.splitlines()) == 1
    assert main(["merge", first, run("alike", "aabbcd"), "--output", output, "--quiet"]) in (0, 3)
    merged = {(row["slice"], row["metric"]): row for row in read_table(tmp_path / "out", "metrics").to_pylist()}
    if by_slice:
        assert merged["model=(other)", "response/text/characters/average"]["n_rows"] == 3
    else:
        rest = "response/llm_judged/guideline_adherence/(other)/rating/percentage"
        assert merged["overall", rest]["n_yes"] == 3
