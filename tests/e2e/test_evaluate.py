"""The command line on small files: what it writes equals a direct computation over the same rows."""

import json
import subprocess
import sys

import duckdb
import pyarrow.parquet as pq
import pytest
from direct import differences, expected_metrics, read_metrics, read_rows, read_table
from sample_log import ALL_JUDGES, log_rows, write_log

from beamjudge.pipelines.cli import main
from beamjudge.schemas.judges import BUILT_IN_JUDGES


def evaluate(log, output, *flags):
    return main(["evaluate", "--input", log, "--output", str(output), "--quiet", *flags])


@pytest.mark.parametrize(
    "runner",
    [
        (),
        ("--direct_num_workers=3",),
        ("--direct_runner_bundle_repeat=1",),
        ("--direct_num_workers=3", "--direct_running_mode=multi_processing"),
    ],
    ids=["1 worker", "3 workers", "bundle repeat", "3 processes"],
)
def test_metrics_equal_a_direct_computation(tmp_path, runner):
    for part in range(3):
        write_log(tmp_path / f"log{part}.jsonl", list(log_rows(120))[part::3])
    output = tmp_path / "out"
    guidelines = ("--global_guidelines", "The response must be in English.", "Must contain 'number'.")
    slices = ("--slice_by", "model,model*locale", "--max_error_rate", "1", "--max_reject_rate", "1")
    code = evaluate(str(tmp_path / "log*.jsonl"), output, "--judges", ALL_JUDGES, *guidelines, *slices, *runner)
    assert code == 0
    rows, metrics = read_rows(output), read_metrics(output)
    assert sorted(row["request_id"] for row in rows) == sorted(f"r{i}" for i in range(120))
    cells = {"overall": rows}
    for row in rows:
        cells.setdefault(f"model={row['slice/model']}", []).append(row)
        cells.setdefault(row["slice/model*locale"], []).append(row)
    assert {name for name, _ in metrics} == set(cells)
    for name, members in cells.items():
        for metric, told in expected_metrics(members).items():
            actual = metrics[name, metric]
            assert differences(actual, told) == {}, (name, metric)
    judged = {metric.split("/")[2] for _, metric in metrics if "llm_judged" in metric}
    assert {spec.name for spec in BUILT_IN_JUDGES} <= judged
    run = json.loads((output / "run.json").read_text())
    assert run["counts"] == {
        "records_read": 120, "blank": 0, "expanded": 0, "grouped": 0, "rows": 120, "rejects": 0, "bad_files": 0,
        "duplicate_request_ids": 0,
    }  # fmt: skip
    summary = json.loads((output / "metrics.json").read_text())
    assert summary["metrics"] == {metric: row["value"] for (name, metric), row in metrics.items() if name == "overall"}


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
