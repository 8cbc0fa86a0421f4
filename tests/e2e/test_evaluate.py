"""The command line on small files: what it writes equals a direct computation over the same rows."""

import json
import subprocess
import sys
import zlib

import duckdb
import pyarrow.parquet as pq
import pytest
from direct import check_metrics, read_metrics, read_rows, read_table
from fake_endpoint import Completion, FakeEndpoint, error
from sample_log import ALL_JUDGES, log_rows, rows_in_other_scripts, write_log

from beamjudge.pipelines.cli import main
from beamjudge.schemas.judges import BUILT_IN_JUDGES


def evaluate(log, output, *flags):
    return main(["evaluate", "--input", log, "--output", str(output), "--quiet", *flags])


RUNNERS = {
    "1 worker": (),
    "3 workers": ("--direct_num_workers=3",),
    "bundle repeat": ("--direct_runner_bundle_repeat=1",),
    "3 processes": ("--direct_num_workers=3", "--direct_running_mode=multi_processing"),
}
GLOBAL_GUIDELINES = {
    "english": ["The response must be in English."],
    "number": ["Must contain 'number'."],
    "mood": ["Leave the reader with the mood of an early autumn."],  # beyond any offline rule
    "none": [],
}
GLOBAL = "response/llm_judged/global_guideline_adherence"


def config_file(tmp_path, base_url=None, **settings):
    """A file for all judges and global guidelines: offline, or with a model at `base_url`."""
    endpoint = {"model": "m", "base_url": base_url} if base_url else {"model": "lexical"}
    every = {"judges": ALL_JUDGES.split(","), "global_guidelines": GLOBAL_GUIDELINES}
    path = tmp_path / "run.yaml"
    path.write_text(json.dumps({"endpoints": {"default": endpoint}, **every, **settings}))
    return str(path)


def evaluate_all(tmp_path, rows, config, *runner):
    """A run over three files with every judge and metric: its rows and its metrics, checked against each other."""
    for part in range(3):
        write_log(tmp_path / f"log{part}.jsonl", rows[part::3])
    slices = ("--slice_by", "model,model*locale", "--max_error_rate", "1", "--max_reject_rate", "1")
    code = evaluate(str(tmp_path / "log*.jsonl"), tmp_path / "out", "--config", config, *slices, *runner)
    assert code == 0
    evaluated, metrics = read_rows(tmp_path / "out"), read_metrics(tmp_path / "out")
    assert sorted(row["request_id"] for row in evaluated) == sorted(row["request_id"] for row in rows)
    check_metrics(evaluated, metrics)
    check_conjunctions(evaluated)
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["counts"] == {
        "records_read": len(rows), "blank": 0, "expanded": 0, "grouped": 0, "rows": len(rows), "rejects": 0,
        "bad_files": 0, "duplicate_request_ids": 0,
    }  # fmt: skip
    summary = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert summary["metrics"] == {metric: row["value"] for (name, metric), row in metrics.items() if name == "overall"}
    return evaluated, metrics, run


def check_conjunctions(rows):
    """The verdict over a row's named guidelines follows from theirs."""
    for row in rows:
        names = [name for name, rules in GLOBAL_GUIDELINES.items() if rules]
        ratings = [row[f"{GLOBAL}/{name}/rating"] for name in names]
        errors = [row[f"{GLOBAL}/{name}/error_message"] for name in names]
        expected = "no" if "no" in ratings else "yes" if set(ratings) == {"yes"} else None
        assert row[f"{GLOBAL}/rating"] == expected
        has_failed = expected is None and any(error is not None for error in errors)
        assert (row[f"{GLOBAL}/error_message"] is not None) == has_failed


@pytest.mark.parametrize("runner", RUNNERS.values(), ids=RUNNERS)
def test_metrics_equal_a_direct_computation(tmp_path, runner):
    rows = [*log_rows(120), *rows_in_other_scripts()]
    evaluated, metrics, _ = evaluate_all(tmp_path, rows, config_file(tmp_path), *runner)
    judged = {metric.split("/")[2] for _, metric in metrics if "llm_judged" in metric}
    assert {spec.name for spec in BUILT_IN_JUDGES} <= judged
    assert {f"response/text/bleu/corpus{tokenizer}" for tokenizer in ("", "@intl", "@zh", "@char")} <= {
        metric for _, metric in metrics
    }
    # The offline rules understand all guidelines but one: where the others are kept, nobody can say yes to all.
    assert metrics["overall", f"{GLOBAL}/mood/rating/percentage"]["n_scored"] < len(evaluated) / 5
    assert metrics["overall", f"{GLOBAL}/rating/percentage"]["n_yes"] == 0


@pytest.mark.parametrize("runner", RUNNERS.values(), ids=RUNNERS)
def test_metrics_of_a_failing_endpoint_equal_a_direct_computation(tmp_path, runner):
    """The endpoint answers, denies and fails by the text that it is asked about, so in the same way on every runner."""

    answered = []

    def respond(request):
        kind = zlib.crc32(request.text.encode()) % 10
        if kind == 0 or "Refuse" in request.text:
            return error(400, "content_filter")
        if kind < 3:
            return Completion("neither")
        answered.append(request.text)
        rating = "no" if kind < 6 else "yes"
        return Completion(f'{{"rationale": "r", "rating": "{rating}"}}' if '"rating"' in request.text else rating)

    with FakeEndpoint() as endpoint:
        endpoint.respond = respond
        own = {"judge_settings": {"groundedness": {"protocol": "minicheck"}}}
        config = config_file(tmp_path, endpoint.base_url, **own)
        lost = {"request_id": "lost", "request": "What is it?", "retrieved_context": ["Refuse a.", "Refuse b."]}
        rows, metrics, run = evaluate_all(tmp_path, [*log_rows(48), lost], config, *runner)
    chunks = "retrieval/llm_judged/chunk_relevance"
    failed = [[each is not None for each in row[f"{chunks}/error_messages"] or []] for row in rows]
    assert any(all(row) for row in failed if row)
    assert any(any(row) and not all(row) for row in failed)
    precision = metrics["overall", f"{chunks}/precision/average"]
    assert precision["value_if_errors_no"] < precision["value"] < precision["value_if_errors_yes"]
    assert all(metrics["overall", f"{spec.column}/rating/percentage"]["n_error"] for spec in BUILT_IN_JUDGES
               if spec.unit != "chunk")  # fmt: skip
    counts = run["judges"]["chunk_relevance"]["verdicts"]
    gates = {gate["name"]: gate["value"] for gate in run["gates"]}
    assert counts["failed"] == sum(map(sum, failed))
    assert counts["rated"] == sum(map(len, failed)) - counts["failed"]
    rate = counts["failed"] / (counts["rated"] + counts["failed"])
    of_rows = precision["n_error"] / (precision["n_error"] + precision["n_scored"])
    assert gates["max_error_rate:chunk_relevance"] == max(rate, of_rows)
    # A process asks no question twice that was answered: a bundle that runs again finds it in the store.
    if runner != RUNNERS["3 processes"]:
        assert len(answered) == len(set(answered))


def test_failed_chunks_fail_the_gate_though_no_row_failed(tmp_path, capsys):
    rows = [
        {"request_id": f"r{i}", "request": f"Q{i}?", "retrieved_context": [f"r{i} chunk {k}." for k in range(10)]}
        for i in range(10)
    ]
    with FakeEndpoint() as endpoint:
        endpoint.respond = lambda request: Completion() if "chunk 0." in request.text else error(400, "content_filter")
        flags = [
            write_log(tmp_path / "log.jsonl", rows), tmp_path / "out", "--judges", "chunk_relevance",
            "--metrics", "none",
            "--judge_model", "m", "--judge_base_url", endpoint.base_url,
        ]  # fmt: skip
        assert evaluate(*flags) == 3
        assert "gate max_error_rate:chunk_relevance failed: 0.9, limit 0.05" in capsys.readouterr().err
        precision = read_metrics(tmp_path / "out")["overall", "retrieval/llm_judged/chunk_relevance/precision/average"]
        assert (precision["n_scored"], precision["n_error"], precision["value"]) == (10, 0, 1.0)
        assert precision["value_if_errors_no"] == pytest.approx(0.1)
        assert precision["value_if_errors_yes"] == 1.0
        # Gates are checked anew on a complete run, with the same counts.
        asked = len(endpoint.requests)
        assert evaluate(*flags, "--max_error_rate", "0.9") == 0
        assert evaluate(*flags, "--max_error_rate", "0.89") == 3
        assert len(endpoint.requests) == asked


def test_a_stop_in_the_middle_of_a_response_is_a_stop_of_the_run(tmp_path):
    """MiniCheck rates sentences: what its row says of them must not hide that nothing more is asked."""
    rows = [{"request": f"Q{i}?", "response": f"One is {i}. Two is {i}.", "retrieved_context": ["x"]} for i in range(6)]
    with FakeEndpoint() as endpoint:
        endpoint.script(*[Completion("Yes")] * 4)
        endpoint.respond = lambda request: error(429, "insufficient_quota")
        own = {
            "judges": ["groundedness"],
            "judge_settings": {"groundedness": {"protocol": "minicheck"}},
            "global_guidelines": [],
        }
        config = config_file(tmp_path, endpoint.base_url, **own)
        flags = ("--config", config, "--metrics", "none", "--max_concurrency", "1", "--max_error_rate", "1")
        log = write_log(tmp_path / "log.jsonl", rows)
        assert evaluate(log, tmp_path / "out", *flags) == 4
        errors = [row["response/llm_judged/groundedness/error_message"] for row in read_rows(tmp_path / "out")]
        assert sorted(error or "" for error in errors) == [
            *[""] * 2,
            *["stopped:quota: 2 of 2 sentences could not be rated"] * 4,
        ]
        assert json.loads((tmp_path / "out" / "run.json").read_text())["status"] == "stopped"
        endpoint.respond = lambda request: Completion("Yes")
        assert evaluate(log, tmp_path / "out", *flags) == 0


def test_rejects_are_written_and_counts_close(tmp_path):
    log = tmp_path / "log.jsonl"
    lines = [json.dumps(row) for row in log_rows(12)] + [
        "{broken",
        "",
        "[1]",
        '{"response": "no request"}',
        '{"request": "only"}',
    ]
    log.write_text("\n".join(lines))
    assert (
        evaluate(str(log), tmp_path / "out", "--judges", "safety", "--metrics", "length", "--max_reject_rate", "1") == 0
    )
    rejects = read_table(tmp_path / "out", "rejects").to_pylist()
    assert sorted(reject["code"] for reject in rejects) == [
        "invalid_json",
        "no_request",
        "no_response",
        "no_response",
        "no_response",
        "not_an_object",
    ]
    counts = json.loads((tmp_path / "out" / "run.json").read_text())["counts"]
    assert (
        counts["records_read"] - counts["blank"] + counts["expanded"] - counts["grouped"]
        == counts["rows"] + counts["rejects"]
    )
    assert (counts["records_read"], counts["blank"], counts["rows"], counts["rejects"]) == (17, 1, 10, 6)
    assert rejects[0]["source_position"] is not None


def test_an_empty_input_gives_empty_tables_with_the_same_schema(tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    full = write_log(tmp_path / "full.jsonl", log_rows(5))
    assert evaluate(str(tmp_path / "empty.jsonl"), tmp_path / "empty") == 0
    assert evaluate(full, tmp_path / "full") == 0
    for table in ("rows", "rejects", "metrics", "state"):
        empty, filled = (pq.read_schema(next((tmp_path / run / table).glob("*.parquet"))) for run in ("empty", "full"))
        assert empty.equals(filled, check_metadata=False)
        assert empty.metadata[b"schema_version"] == filled.metadata[b"schema_version"] == b"1"
    assert read_table(tmp_path / "empty", "rows").num_rows == 0
    assert json.loads((tmp_path / "empty" / "metrics.json").read_text())["metrics"] == {}


def test_duckdb_reads_what_is_written(tmp_path):
    assert evaluate(write_log(tmp_path / "log.jsonl", log_rows(30)), tmp_path / "out", "--max_error_rate", "1") == 0
    rows = duckdb.sql(f"select count(*), count(distinct request_id) from '{tmp_path}/out/rows/*.parquet'").fetchall()[0]
    assert rows == (30, 30)
    share = duckdb.sql(
        f"""select avg(("response/llm_judged/safety/rating" = 'yes')::int) from '{tmp_path}/out/rows/*.parquet'"""
    ).fetchall()[0][0]
    value = duckdb.sql(
        f"""select value from '{tmp_path}/out/metrics/*.parquet'
            where slice = 'overall' and metric = 'response/llm_judged/safety/rating/percentage'"""
    ).fetchall()[0][0]
    assert share == pytest.approx(value)
    assert duckdb.sql(f"select count(*) from '{tmp_path}/out/state/*.parquet'").fetchall()[0][0] > 0


def test_without_text_and_rationales_nothing_of_the_log_is_written(tmp_path):
    secret = "Zanzibar"
    rows = [{"request": f"Is {secret} far?", "response": f"{secret} is far.", "retrieved_context": [f"{secret}."],
             "expected_response": secret, "extra_column": secret}, {"response": secret}]  # fmt: skip
    flags = ("--store_text", "none", "--store_rationales", "off", "--max_reject_rate", "1", "--keep_extra")
    assert evaluate(write_log(tmp_path / "log.jsonl", rows), tmp_path / "out", *flags) == 0
    tables = [read_table(tmp_path / "out", name).to_pylist() for name in ("rows", "rejects", "metrics", "state")]
    files = [(tmp_path / "out" / name).read_text() for name in ("run.json", "metrics.json")]
    assert secret not in json.dumps(tables, default=str) + "".join(files)


def test_sampling_keeps_deterministic_metrics_and_counts_the_rest(tmp_path):
    log = write_log(tmp_path / "log.jsonl", log_rows(200))
    assert (
        evaluate(
            log,
            tmp_path / "out",
            "--judges",
            "safety",
            "--sample_rate",
            "0.25",
            "--metrics",
            "length",
            "--max_reject_rate",
            "1",
        )
        == 0
    )
    rows, metrics = read_rows(tmp_path / "out"), read_metrics(tmp_path / "out")
    sampled = sum(row["sampled"] for row in rows)
    assert 20 <= sampled <= 85  # 50 expected, standard deviation 6
    safety = metrics["overall", "response/llm_judged/safety/rating/percentage"]
    assert safety["n_not_sampled"] == len(rows) - sampled
    assert safety["n_scored"] + safety["n_not_applicable"] + safety["n_error"] == sampled
    assert all(row["response/llm_judged/safety/rating"] is None for row in rows if not row["sampled"])
    assert metrics["overall", "response/text/words/average"]["n_not_sampled"] == 0


def test_help_needs_no_beam():
    code = "import sys; from beamjudge.pipelines.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    code += "sys.exit('apache_beam' in sys.modules or 'pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
