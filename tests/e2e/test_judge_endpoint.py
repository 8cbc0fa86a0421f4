"""Whole runs against an endpoint over a real socket: errors stay values, a refused key ends the run, quota stops it."""

import json
import signal
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest
from direct import differences, expected_metrics, read_metrics, read_rows
from fake_endpoint import Completion, FakeEndpoint, Hang, error
from judge_harness import AT_ONCE

from beamjudge.pipelines.cli import main
from beamjudge.transforms.judging import client as client_module

KEY = "sk-do-not-tell"


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("TEST_KEY", KEY)
    with FakeEndpoint() as endpoint:
        yield endpoint


def write_log(tmp_path, count=12):
    rows = [
        {
            "request_id": f"r{i}",
            "request": f"Question {i}?",
            "response": f"Answer {i}.",
            "retrieved_context": [f"Chunk {i}a.", f"Chunk {i}b."],
            "guidelines": {"tone": ["Be kind."], "form": ["Be short."]},
        }
        for i in range(count)
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(tmp_path / "log.jsonl")


def flags(tmp_path, endpoint, *more):
    return [
        "evaluate", "--input", write_log(tmp_path), "--output", str(tmp_path / "out"), "--judge_model", "small",
        "--judge_base_url", endpoint.base_url, "--judge_api_key", "env:TEST_KEY", "--quiet", *more,
    ]  # fmt: skip


def everything_written(folder):
    return "".join(path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file())


def test_failures_are_errors_beside_the_numbers_and_never_in_them(tmp_path, endpoint, capsys):
    def respond(request):
        if "Chunk 3b" in request.text and "Chunk 3a" not in request.text:
            return error(400, "content_filter")
        if "Answer 5." in request.text:
            return Completion("no verdict in here")
        return Completion('{"rationale": "r", "rating": "%s"}' % ("no" if "Question 1" in request.text else "yes"))

    endpoint.respond = respond
    assert main(flags(tmp_path, endpoint, "--max_error_rate", "1", "--metrics", "none")) == 0
    rows, metrics = read_rows(tmp_path / "out"), read_metrics(tmp_path / "out")
    by_id = {row["request_id"]: row for row in rows}
    chunks = "retrieval/llm_judged/chunk_relevance"
    assert by_id["r3"][f"{chunks}/ratings"] == ["yes", None]
    assert by_id["r3"][f"{chunks}/error_messages"][0] is None
    assert "content_filter" in by_id["r3"][f"{chunks}/error_messages"][1]
    assert by_id["r3"][f"{chunks}/precision"] == 1.0
    assert by_id["r5"]["response/llm_judged/safety/rating"] is None
    assert by_id["r5"]["response/llm_judged/safety/error_message"]
    safety = metrics["overall", "response/llm_judged/safety/rating/percentage"]
    # r1, r10 and r11 ask "Question 1..": 3 no; r5 failed; the other 8 are yes.
    assert (safety["n_yes"], safety["n_no"], safety["n_error"], safety["value"]) == (8, 3, 1, 8 / 11)
    assert (safety["value_if_errors_no"], safety["value_if_errors_yes"]) == (8 / 12, 9 / 12)
    assert safety["judge_model"] == "small"
    for metric, told in expected_metrics(rows).items():
        assert differences(metrics["overall", metric], told) == {}, metric
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    calls = {kind: sum(judge[kind]["calls"] for judge in run["judges"].values()) for kind in ("spent", "wasted")}
    # The filtered call was refused and is billed nothing; each judge of a response asked about answer 5 in vain.
    assert calls == {"spent": len(endpoint.requests) - 1 - 5, "wasted": 5}
    assert run["judges"]["safety"]["spent"] == {
        "calls": 11, "input_tokens": 1100, "cached_input_tokens": 0, "output_tokens": 220,
        "reasoning_tokens": 0, "cost_usd": None,
    }  # fmt: skip
    assert run["judges"]["safety"]["wasted"] == {
        "calls": 1, "input_tokens": 100, "cached_input_tokens": 0, "output_tokens": 20,
        "reasoning_tokens": 0, "cost_usd": None,
    }  # fmt: skip
    assert all(request.headers["authorization"] == f"Bearer {KEY}" for request in endpoint.requests)
    assert KEY not in everything_written(tmp_path / "out") + capsys.readouterr().err


def test_a_key_in_the_address_is_sent_and_nowhere_shown(tmp_path, endpoint, capsys):
    command = flags(tmp_path, endpoint, "--judges", "safety", "--metrics", "none")
    address = command.index(endpoint.base_url)
    assert main([*command[:address], f"{endpoint.base_url}?key={KEY}", *command[address + 1 :]]) == 0
    assert endpoint.requests[0].path == f"/v1/chat/completions?key={KEY}"
    assert main([*command[:address], f"http://{KEY}@localhost/v1", *command[address + 1 :]]) == 2
    printed = capsys.readouterr()
    assert "--judge_base_url: got a URL that is not repeated here, as it may hold a key; expected" in printed.err
    assert KEY not in everything_written(tmp_path / "out") + printed.out + printed.err


def test_a_failing_judge_fails_its_gate(tmp_path, endpoint, capsys):
    endpoint.respond = lambda request: Completion("neither")
    assert main(flags(tmp_path, endpoint, "--judges", "safety")) == 3
    assert "gate max_error_rate:safety failed: 1, limit 0.05" in capsys.readouterr().err
    assert read_metrics(tmp_path / "out")["overall", "response/llm_judged/safety/rating/percentage"]["value"] is None


@pytest.mark.parametrize(
    ("answer", "said"), [(error(401), "401"), (error(403), "403"), (error(404, "model_not_found"), "404")]
)
@pytest.mark.parametrize("workers", ["1", "3"])
def test_an_endpoint_that_refuses_from_the_start_fails_the_run_in_one_line(
    tmp_path, endpoint, capsys, answer, said, workers
):
    endpoint.respond = lambda request: answer
    assert main(flags(tmp_path, endpoint, "--direct_num_workers", workers)) == 1
    printed = capsys.readouterr().err
    assert len(printed.splitlines()) == 1
    assert said in printed
    assert "while running" not in printed
    assert KEY not in printed
    assert not (tmp_path / "out" / "run.json").exists()
    (attempt,) = (tmp_path / "out" / "attempts").iterdir()
    assert json.loads(attempt.read_text())["status"] == "failed"


def test_an_endpoint_that_nobody_serves_fails_the_run_in_one_line(tmp_path, endpoint, capsys, monkeypatch):
    monkeypatch.setattr(client_module, "RetryPolicy", lambda: AT_ONCE)
    with FakeEndpoint() as closed:
        pass
    assert main(flags(tmp_path, closed)) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        f"beamjudge: the run failed: endpoint default ({closed.base_url}, model small) cannot be reached: "
    )
    assert not (tmp_path / "out" / "run.json").exists()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(error(401), "unauthorized"), (error(403), "forbidden"), (error(429, "insufficient_quota"), "quota")],
)
def test_an_endpoint_that_refuses_in_the_middle_stops_the_run_and_the_next_one_goes_on(
    tmp_path, endpoint, answer, reason
):
    column = "response/llm_judged/safety"
    endpoint.script(*[Completion()] * 5)
    endpoint.respond = lambda request: answer
    run = flags(tmp_path, endpoint, "--judges", "safety", "--max_concurrency", "1")
    assert main(run) == 4
    rows = read_rows(tmp_path / "out")
    assert len(rows) == 12
    assert [row[f"{column}/rating"] for row in rows].count("yes") == 5
    assert {row[f"{column}/error_message"] for row in rows} == {None, f"stopped:{reason}"}
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert (record["status"], record["judges"]["safety"]["spent"]["calls"]) == ("stopped", 5)
    assert len(endpoint.requests) == 6, "the first refusal is the last call"
    endpoint.respond = lambda request: Completion()
    assert main(run) == 0
    judge = json.loads((tmp_path / "out" / "run.json").read_text())["judges"]["safety"]
    assert (judge["spent"]["calls"], judge["reused"]["calls"], judge["wasted"]["calls"]) == (7, 5, 0)
    assert len(endpoint.bill.requests) == 12, "each verdict was paid for once"


def test_used_up_quota_stops_the_run_with_everything_written(tmp_path, endpoint):
    endpoint.script(*[Completion()] * 5)
    endpoint.respond = lambda request: error(429, "insufficient_quota")
    assert main(flags(tmp_path, endpoint, "--judges", "safety", "--max_concurrency", "1")) == 4
    rows = read_rows(tmp_path / "out")
    ratings = [row["response/llm_judged/safety/rating"] for row in rows]
    assert (len(rows), ratings.count("yes"), ratings.count("no")) == (12, 5, 0)
    errors = [row["response/llm_judged/safety/error_message"] for row in rows]
    assert sum(text is not None and text.startswith("stopped:quota") for text in errors) >= 6
    assert json.loads((tmp_path / "out" / "run.json").read_text())["status"] == "stopped"
    # A stopped run is not complete: the same command runs again.
    endpoint.respond = lambda request: Completion()
    assert main(flags(tmp_path, endpoint, "--judges", "safety", "--max_concurrency", "1")) == 0


def test_an_interrupt_ends_at_once_and_is_on_record(tmp_path, endpoint):
    endpoint.respond = lambda request: Hang()
    command = [sys.executable, "-c", "import sys; from beamjudge.pipelines.cli import main; sys.exit(main())"]
    with subprocess.Popen([*command, *flags(tmp_path, endpoint)], stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not endpoint.requests and process.poll() is None and time.monotonic() < deadline:
            endpoint.closing.wait(0.02)
        process.send_signal(signal.SIGINT)
        try:
            _, printed = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert len(printed.splitlines()) == 1, printed
    assert "Traceback" not in printed
    assert not (tmp_path / "out" / "run.json").exists()
    (attempt,) = (tmp_path / "out" / "attempts").iterdir()
    assert json.loads(attempt.read_text())["status"] == "interrupted"


def test_rationales_that_are_not_stored_are_in_no_file(tmp_path, endpoint):
    endpoint.respond = lambda request: Completion('{"rationale": "Zanzibar", "rating": "yes"}')
    assert main(flags(tmp_path, endpoint, "--store_rationales", "off", "--judges", "safety")) == 0
    tables = list((tmp_path / "out").rglob("*.parquet"))
    assert any("verdicts" in path.parts for path in tables)
    assert "Zanzibar" not in "".join(str(pq.read_table(path).to_pylist()) for path in tables)
