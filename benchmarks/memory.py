"""Peak memory of `beamjudge evaluate` on a short and a long log: it has to stay flat as the log grows.

Writes logs of 1 KB a row into a temporary folder, evaluates each in a process of its own with deterministic metrics
only, and prints peak RSS and wall time. Exits with 1 when the long log needs too much memory, or too many times that of
the short one: 500 MB and 1.2 times with the few metrics that run by default, 600 MB and 1.3 times with
`--all_metrics`, which scores every row against a reference by all metrics but TER, which runs on request only.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

LINE_BYTES = 1024
COMMAND = [sys.executable, "-c", "import sys; from beamjudge.pipelines.cli import main; sys.exit(main())", "evaluate"]


class Limits(NamedTuple):
    """What to run, and the most that it may take: peak MB, and times the memory of the shorter log."""

    metrics: str
    max_mb: int
    max_ratio: float


FEW = Limits("document_recall,tokens,latency,length", 500, 1.2)
ALL = Limits("retrieval,tokens,latency,text,form", 600, 1.3)


class Run(NamedTuple):
    """One measured run: rows, wall seconds, and peak resident memory in MB (10^6 bytes)."""

    rows: int
    seconds: float
    peak_mb: float


def log_line(number: int) -> str:
    """One row of `LINE_BYTES` bytes with its line end. Even rows retrieved both expected documents, odd ones one."""
    message = {"role": "assistant", "content": ""}
    row = {
        "request_id": f"row-{number:08d}",
        "timestamp": 1_790_000_000 + number,
        "request": f"What does page {number % 997} of the handbook say about valve {number % 89}?",
        "response": {
            "choices": [{"message": message}],
            "usage": {"prompt_tokens": 300 + number % 50, "completion_tokens": 150, "total_tokens": 450 + number % 50},
        },
        "retrieved_context": [{"doc_uri": f"handbook/{number % 997 + step}"} for step in range(3)],
        "expected_retrieved_context": [
            {"doc_uri": f"handbook/{number % 997}"},
            {"doc_uri": f"handbook/{number % 997 + (1 if number % 2 == 0 else 500)}"},
        ],
        "expected_response": f"Open valve {number % 89} by hand, check that the gauge shows {number % 7} bar, and "
        f"start the pump only when all {number % 5 + 2} lamps of panel {number % 13} are green.",
        "latency_ms": 400 + number % 1600,
    }
    sentence = (
        f"Valve {number % 89} is opened by hand before the pump starts, as page {number % 997} says; the gauge then "
        f"shows {number % 11} bar. Wait until the {number % 4 + 2} lamps are green. "
    )
    room = LINE_BYTES - len(json.dumps(row)) - 1
    message["content"] = (sentence * (room // len(sentence) + 1))[:room]
    return json.dumps(row)


def write_log(path: Path, rows: int) -> None:
    with path.open("w", encoding="utf-8") as log:
        for number in range(rows):
            log.write(log_line(number) + "\n")


def measure(log: Path, output: Path, rows: int, metrics: str) -> Run:
    """Evaluate `log` in a process of its own. Raises SystemExit when the run fails or loses rows."""
    command = [*COMMAND, "--input", str(log), "--output", str(output)]
    command += ["--judges", "none", "--metrics", metrics, "--quiet"]
    started = time.perf_counter()
    process = subprocess.Popen(command)
    # wait4 gives the usage of this very child (and of its own children), which getrusage cannot tell apart.
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"beamjudge evaluate ended with exit code {process.returncode} on {rows:,} rows")
    counted = json.loads((output / "run.json").read_text(encoding="utf-8"))["counts"]["rows"]
    if counted != rows:
        raise SystemExit(f"{rows:,} rows were written, but {counted:,} were evaluated")
    unit = 1 if sys.platform == "darwin" else 1024
    return Run(rows, seconds, usage.ru_maxrss * unit / 1e6)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs=2, default=[25_000, 100_000], metavar=("SHORT", "LONG"))
    parser.add_argument("--all_metrics", action="store_true", help="every deterministic metric, against a reference")
    arguments = parser.parse_args(argv)
    limits = ALL if arguments.all_metrics else FEW
    print(f"Evaluating logs of 1 KB a row with --metrics {limits.metrics} ...", flush=True)
    runs = []
    with tempfile.TemporaryDirectory(prefix="beamjudge-bench-") as folder:
        for rows in arguments.rows:
            log = Path(folder, f"{rows}.jsonl")
            write_log(log, rows)
            runs.append(measure(log, Path(folder, f"out-{rows}"), rows, limits.metrics))
            print(f"{rows:>9,} rows  {runs[-1].peak_mb:6.0f} MB peak  {runs[-1].seconds:6.1f} s", flush=True)
    ratio = runs[1].peak_mb / runs[0].peak_mb
    flat = runs[1].peak_mb < limits.max_mb and ratio <= limits.max_ratio
    print(
        f"ratio {ratio:.2f} (at most {limits.max_ratio}), peak below {limits.max_mb} MB: "
        f"{'passed' if flat else 'FAILED'}"
    )
    return 0 if flat else 1


if __name__ == "__main__":
    sys.exit(main())
