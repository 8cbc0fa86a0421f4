"""What an output folder that is not empty means: done again for free, run again, or refused."""

import json
import os
import subprocess
import sys

import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from fake_endpoint import Completion, FakeEndpoint, error

from beamjudge.pipelines import report
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
    assert "\nsafety " in printed
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
        (("--min_value", "nope=1"), "--min_value (in a file gates.min_value): no metric 'nope'"),
        (("--min_value", "safty=1"), "did you mean response/llm_judged/safety/"),
        (("--min_scored", "correctnes=1"), "--min_scored (in a file gates.min_scored): no judge 'correctnes'"),
        (("--runner", "NoSuchRunner"), "--runner: got 'NoSuchRunner'"),
        (("--judge_model", "m", "--judge_api_key", "env:SURELY_NOT_SET"), "variable SURELY_NOT_SET is not set"),
        (("--judge_model", "m", "--judge_api_key", "file:/no/such"), "file:/no/such: cannot be read"),
        (("--output", str(tmp_path / "file")), "--output"),
        (("--output", str(tmp_path / "a[1]")), "expected a folder's name without the glob characters"),
        (("--output", str(tmp_path / "file" / "below")), "--output"),
        (("stray",), "unexpected argument 'stray'"),
        (("--output", "foo://x/y"), "--output: got 'foo://x/y'; expected a local folder"),
        (("--direct_num_workers", "abc"), "--direct_num_workers"),
        (("--direct_num_workers", "-1"), "--direct_num_workers: got -1; expected 1 or more"),
        (("--direct_running_mode", "foo"), "--direct_running_mode: got 'foo'; expected one of"),
        (("--confidence", "0.99999999"), "--confidence: got 0.99999999"),
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


def test_results_inside_the_input_folder_are_no_logs(tmp_path, log):
    inside = str(tmp_path / "eval")
    for more in ("", '{"request": "Why?", "response": "So."}\n'):
        log.write_text(log.read_text() + more)
        assert main(["evaluate", "--input", str(tmp_path), "--output", inside, "--quiet"]) == 0
    record = json.loads((tmp_path / "eval" / "run.json").read_text())
    assert (record["counts"]["rows"], record["counts"]["rejects"]) == (2, 0)


@pytest.mark.parametrize("name", ["a b", "dt=2026-11-29", "größe", "%41", "a{1}"])
def test_any_name_of_an_output_folder_is_taken_as_it_is(tmp_path, log, name):
    for _ in range(2):
        assert run(tmp_path, output=name) == 0
    assert len(list((tmp_path / name / "attempts").iterdir())) == 1
    log.write_text('{"request": "Why?", "response": "So."}\n')
    assert run(tmp_path, output=name) == 0
    assert len(list((tmp_path / name / "rows").iterdir())) == 1


@pytest.mark.parametrize(("flags", "code"), [((), 0), (("--min_rows", "2"), 3)])
def test_a_reader_that_leaves_changes_nothing(tmp_path, log, flags, code):
    command = [sys.executable, "-c", "import sys; from beamjudge.pipelines.cli import main; sys.exit(main())"]
    command += ["evaluate", "--input", str(log), "--output", str(tmp_path / "out"), *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        printed = process.stderr.read()
    assert process.returncode == code
    assert "Traceback" not in printed
    assert "BrokenPipe" not in printed
    (attempt,) = (tmp_path / "out" / "attempts").iterdir()
    assert json.loads(attempt.read_text())["status"] == ("gate_failed" if code else "done")


def test_options_for_a_job_server_reach_the_runner(tmp_path, log, monkeypatch):
    seen = {}

    def run_pipeline(self, pipeline, options):
        seen.update(options.get_all_options(retain_unknown_options=True))
        raise RuntimeError("enough")

    monkeypatch.setattr(FnApiRunner, "run_pipeline", run_pipeline)
    assert run(tmp_path, "--runner_option", "only_the_server=7", "--direct_num_workers=2") == 1
    assert (seen["only_the_server"], seen["direct_num_workers"]) == ("7", 2)
    (attempt,) = (tmp_path / "out" / "attempts").iterdir()
    assert json.loads(attempt.read_text())["status"] == "failed"


def test_a_file_name_of_any_bytes_is_read(tmp_path):
    with open(os.fsencode(tmp_path) + b"/caf\xe9.jsonl", "w") as stream:
        stream.write('{"request": "q", "response": "a"}\n{\n')
    flags = ("--max_reject_rate", "1", "--quiet")
    for _ in range(2):
        assert main(["evaluate", "--input", str(tmp_path), "--output", str(tmp_path / "out"), *flags]) == 0
    assert len(list((tmp_path / "out" / "attempts").iterdir())) == 1


def test_gates_of_a_complete_run_are_checked_as_they_are_asked_for_now(tmp_path, log, capsys):
    assert run(tmp_path) == 0
    first = stamp(tmp_path)
    assert run(tmp_path, "--min_value", "response/text/words/average=2") == 3
    assert "gate min_value:response/text/words/average failed: 1, limit 2" in capsys.readouterr().err
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert (record["status"], record["exit_code"], record["attempt_id"]) == ("gate_failed", 3, first)
    assert record["config"]["gates"]["min_value"] == {"response/text/words/average": 2.0}
    assert run(tmp_path, "--min_value", "response/text/words/average=1") == 0
    assert json.loads((tmp_path / "out" / "run.json").read_text())["status"] == "done"


def test_results_of_other_runs_among_the_logs_are_no_logs(tmp_path, log):
    assert run(tmp_path) == 0
    assert main(["evaluate", "--input", str(tmp_path), "--output", str(tmp_path / "second"), "--quiet"]) == 0
    counts = json.loads((tmp_path / "second" / "run.json").read_text())["counts"]
    assert (counts["rows"], counts["rejects"], counts["records_read"]) == (1, 0, 1)


def test_an_attempt_that_left_no_results_keeps_nobody_out(tmp_path, log):
    with FakeEndpoint() as endpoint:
        endpoint.respond = lambda request: error(404, "model_not_found")
        flags = ["--judge_base_url", endpoint.base_url, "--judges", "safety"]
        assert run(tmp_path, *flags, "--judge_model", "mispelt") == 1
        endpoint.respond = lambda request: Completion()
        assert run(tmp_path, *flags, "--judge_model", "misspelt") == 0


def test_the_table_fits_a_narrow_terminal(tmp_path, log, capsys, monkeypatch):
    monkeypatch.setattr(report, "_console", lambda: report._Console(width=80))
    assert run(tmp_path) == 0
    lines = capsys.readouterr().out.splitlines()
    (header,) = [line for line in lines if line.startswith("metric ")]
    assert header.split() == ["metric", "value", "interval", "scored", "n/a", "errors"]
    (safety,) = [line for line in lines if line.startswith("safety ")]
    assert safety.split() == ["safety", "1", "0.2065", "to", "1", "1", "0", "0"]
    assert len(safety) <= 80


@pytest.mark.parametrize("name", ["metrics.json", "run.json", "inputs.parquet", "rows/part-0-of-1.parquet"])
def test_files_that_are_only_named_like_results_are_left_alone(tmp_path, log, capsys, name):
    mine = tmp_path / "out" / name
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text('{"loss": 0.1}')
    for flags in ((), ("--overwrite",)):
        assert run(tmp_path, *flags) == 2
        assert "not beamjudge's" in capsys.readouterr().err
    assert mine.read_text() == '{"loss": 0.1}'
    assert sorted(path for path in (tmp_path / "out").rglob("*") if path.is_file()) == [mine]


def test_an_input_is_never_removed_as_a_result(tmp_path, log, capsys):
    folder = tmp_path / "d" / "rows"
    folder.mkdir(parents=True)
    mine = folder / "part-0-of-1.parquet"
    mine.write_bytes(log.read_bytes())
    assert main(["evaluate", "--input", str(folder), "--output", str(tmp_path / "d")]) == 2
    assert mine.exists()


@pytest.mark.parametrize("damage", ["inputs", "rows", "exit_code", "attempt"])
def test_a_damaged_run_is_run_again(tmp_path, log, damage):
    assert run(tmp_path) == 0
    out, first = tmp_path / "out", stamp(tmp_path)
    if damage == "inputs":
        (out / "inputs.parquet").write_bytes(b"garbage")
    elif damage == "rows":
        next((out / "rows").iterdir()).unlink()
    elif damage == "exit_code":
        record = json.loads((out / "run.json").read_text())
        del record["exit_code"]
        (out / "run.json").write_text(json.dumps(record))
    else:
        (out / "attempts" / "odd.json").write_text('{"started": 5}')
        (out / "run.json").unlink()
    assert run(tmp_path) == 0
    assert stamp(tmp_path) != first


def test_a_pipe_among_the_logs_is_a_reject_and_not_a_wait(tmp_path, log):
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert main(["evaluate", "--input", str(tmp_path / "*.jsonl"), "--output", str(tmp_path / "out"), "--quiet"]) == 3
    assert json.loads((tmp_path / "out" / "run.json").read_text())["rejects"] == {"unreadable_file": 1}


def test_names_that_the_terminal_cannot_show_cost_nothing(tmp_path, log):
    command = [sys.executable, "-c", "import sys; from beamjudge.pipelines.cli import main; sys.exit(main())"]
    command += ["evaluate", "--input", str(log), "--output", str(tmp_path / "größe"), "--judges", "none"]
    done = subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_foreign_name_does_not_act_on_the_terminal(tmp_path, log, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "\x1b[31mred\nline").write_text("")
    assert run(tmp_path) == 2
    error = capsys.readouterr().err
    assert "\x1b" not in error
    assert len(error.splitlines()) == 1


def test_a_run_without_rows_says_so_with_the_fix(tmp_path, log, capsys):
    log.write_text("")
    assert run(tmp_path) == 0
    assert "No rows were read: the files hold none; with --min_rows 1 such a run fails." in capsys.readouterr().out
    log.write_text("{broken\n")
    assert run(tmp_path, "--min_rows", "1") == 3
    assert "Every record was rejected, see rejects/; with --min_rows 1 such a run fails." in capsys.readouterr().out


def test_records_without_a_known_column_say_how_to_name_it(tmp_path, log, capsys):
    log.write_text('{"frage": "Wo?", "antwort": "Hier."}\n' * 2 + '{"request": "Where?", "response": "Here."}\n')
    hint = "Most records have no request: beamjudge check lists their columns; name yours with --columns request=COLUMN"
    assert run(tmp_path, "--max_reject_rate", "1") == 0
    assert hint in capsys.readouterr().out
    assert run(tmp_path, "--columns", "request=frage,response=antwort", "--overwrite", "--max_reject_rate", "1") == 0
    assert hint not in capsys.readouterr().out
