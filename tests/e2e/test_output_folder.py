"""What an output folder that is not empty means: done again for free, run again, or refused."""

import json

import pytest

from beamjudge.pipelines.cli import main


def run(tmp_path, *flags, log="log.jsonl", output="out"):
    return main(["evaluate", "--input", str(tmp_path / log), "--output", str(tmp_path / output), *flags])


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"request": "Where?", "response": "Here."}\n')
    return path


def stamp(tmp_path):
    return json.loads((tmp_path / "out" / "run.json").read_text())["attempt_id"]


def test_a_complete_run_is_printed_again_and_not_run_again(tmp_path, log, capsys):
    assert run(tmp_path) == 0
    first = stamp(tmp_path)
    capsys.readouterr()
    assert run(tmp_path) == 0
    printed = capsys.readouterr().out
    assert "complete" in printed
    assert "response/llm_judged/safety/rating/percentage" in printed
    assert stamp(tmp_path) == first
    assert len(list((tmp_path / "out" / "attempts").iterdir())) == 1


def test_a_failed_gate_is_complete_too_and_keeps_its_exit_code(tmp_path, log, capsys):
    assert run(tmp_path, "--min_rows", "2") == 3
    assert "gate min_rows failed: 1, limit 2" in capsys.readouterr().err
    assert run(tmp_path, "--min_rows", "2") == 3
    assert "min_rows failed" in capsys.readouterr().err


def test_changed_input_runs_again_and_leaves_nothing_of_the_first_run(tmp_path, log):
    assert run(tmp_path) == 0
    first = stamp(tmp_path)
    log.write_text(
        '{"request": "Where?", "response": "There, or so I think."}\n{"request": "Why?", "response": "So."}\n'
    )
    assert run(tmp_path) == 0
    assert stamp(tmp_path) != first
    assert json.loads((tmp_path / "out" / "run.json").read_text())["counts"]["rows"] == 2
    assert len(list((tmp_path / "out" / "rows").glob("*.parquet"))) == 1


def test_an_incomplete_run_runs_again(tmp_path, log):
    assert run(tmp_path) == 0
    (tmp_path / "out" / "run.json").unlink()
    (tmp_path / "out" / "rows" / "beam-temp-part-1").mkdir()
    (tmp_path / "out" / "rows" / "beam-temp-part-1" / "left").write_text("half a file")
    assert run(tmp_path) == 0
    assert not (tmp_path / "out" / "rows" / "beam-temp-part-1" / "left").exists()


@pytest.mark.parametrize("complete", [True, False])
def test_another_run_is_refused_unless_overwritten(tmp_path, log, capsys, complete):
    assert run(tmp_path) == 0
    if not complete:
        (tmp_path / "out" / "run.json").unlink()
    before = sorted(tmp_path.rglob("*"))
    assert run(tmp_path, "--judges", "safety") == 2
    error = capsys.readouterr().err
    assert "holds another run" in error
    assert "--overwrite" in error
    assert len(error.splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before
    assert run(tmp_path, "--judges", "safety", "--overwrite") == 0


def test_foreign_files_are_refused_and_never_removed(tmp_path, log, capsys):
    notes = tmp_path / "out" / "rows" / "notes.txt"
    notes.parent.mkdir(parents=True)
    notes.write_text("mine")
    verdict = tmp_path / "out" / "verdicts" / "a.parquet"
    verdict.parent.mkdir()
    verdict.write_text("paid")
    assert run(tmp_path) == 2
    assert "rows/notes.txt" in capsys.readouterr().err
    assert run(tmp_path, "--overwrite") == 0
    assert notes.read_text() == "mine"
    assert verdict.read_text() == "paid"


def test_wrong_usage_writes_nothing(tmp_path, log, capsys):
    (tmp_path / "file").write_text("")
    for flags, said in (
        (("--input", str(tmp_path / "no*.jsonl")), "--input"),
        (("--jugdes", "safety"), "unknown flag --jugdes; did you mean --judges?"),
        (("--direct_num_wokers=2",), "did you mean --direct_num_workers?"),
        (("--judges", "nope"), "--judges: unknown judge 'nope'"),
        (("--min_value", "nope=1"), "--min_value: no metric 'nope'"),
        (("--min_scored", "correctnes=1"), "--min_scored: no judge 'correctnes'"),
        (("--runner", "NoSuchRunner"), "--runner: got 'NoSuchRunner'"),
        (("--judge_model", "m", "--judge_api_key", "env:SURELY_NOT_SET"), "variable SURELY_NOT_SET is not set"),
        (("--judge_model", "m", "--judge_api_key", "file:/no/such"), "file:/no/such: cannot be read"),
        (("--output", str(tmp_path / "file")), "--output"),
        (("--output", str(tmp_path / "file" / "below")), "--output"),
        (("stray",), "unexpected argument 'stray'"),
    ):
        assert run(tmp_path, *flags) == 2, flags
        error = capsys.readouterr().err
        assert said in error
        assert len(error.splitlines()) == 1, error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "log.jsonl"]


def test_attempts_record_start_and_end(tmp_path, log):
    assert run(tmp_path) == 0
    (attempt,) = (tmp_path / "out" / "attempts").iterdir()
    record = json.loads(attempt.read_text())
    assert record["status"] == "done"
    assert record["run_id"] == json.loads((tmp_path / "out" / "run.json").read_text())["run_id"]
    assert record["finished"] >= record["started"]
