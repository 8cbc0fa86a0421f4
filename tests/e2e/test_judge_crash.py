"""Runs that are killed, interrupted or repeated: what was paid for is kept, and the next run asks for the rest only.

The endpoint counts what it answered. A verdict is lost with a process only while its call is in flight or it is not yet
on file, which is at most 500 verdicts.
"""

import contextlib
import json
import multiprocessing
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from direct import read_rows
from fake_endpoint import Completion, FakeEndpoint, Held

from beamjudge.pipelines.cli import main

COMMAND = [sys.executable, "-c", "import sys; from beamjudge.pipelines.cli import main; sys.exit(main())"]
RATING = "response/llm_judged/safety/rating"
SLOTS = 16
UNWRITTEN = 500
WAIT_SECONDS = 120


@pytest.fixture
def endpoint():
    with FakeEndpoint() as running:
        yield running


def row_of(request) -> str:
    return "r" + request.text.split("Question ")[1].split("?")[0]


class Log:
    """A log of rows that are all different, the flags to judge it with, and what a run made of it."""

    def __init__(self, folder: Path, rows: int, endpoint: FakeEndpoint) -> None:
        self.folder, self.rows, self.endpoint = folder, rows, endpoint
        lines = [
            json.dumps({"request_id": f"r{i}", "request": f"Question {i}?", "response": "Fine."}) for i in range(rows)
        ]
        (folder / "log.jsonl").write_text("\n".join(lines))

    def flags(self, *more: str, output: str = "out", slots: int = SLOTS) -> list[str]:
        return [
            "evaluate", "--input", f"{self.folder}/log.jsonl", "--output", f"{self.folder}/{output}",
            "--judges", "safety", "--metrics", "none", "--judge_model", "m", "--judge_base_url",
            self.endpoint.base_url, "--max_concurrency", str(slots), "--quiet", *more,
        ]  # fmt: skip

    def stored(self, output: str = "out") -> set[str]:
        """The rows whose verdicts are on file."""
        files = (self.folder / output / "verdicts").glob("*.parquet")
        tables = [pq.read_table(file, columns=["request_ids"]) for file in files]
        return {id_ for table in tables for ids in table["request_ids"].to_pylist() for id_ in ids}

    def spend(self, output: str = "out") -> dict[str, int]:
        judge = json.loads((self.folder / output / "run.json").read_text())["judges"]["safety"]
        return {kind: judge[kind]["calls"] for kind in ("spent", "reused", "wasted")}

    def billed(self) -> Counter[str]:
        return Counter(map(row_of, self.endpoint.bill.requests))

    def assert_complete(self, output: str = "out") -> None:
        rows = read_rows(self.folder / output)
        assert Counter(row["request_id"] for row in rows) == Counter(f"r{i}" for i in range(self.rows))
        assert {row[RATING] for row in rows} == {"yes"}


def wait_until(happened) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not happened():
        assert time.monotonic() < deadline, "waited in vain"
        threading.Event().wait(0.005)


def evaluate(flags: list[str]) -> None:
    sys.exit(main(flags))


def test_a_run_that_is_killed_ten_times(tmp_path, endpoint):
    log = Log(tmp_path, 1500, endpoint)
    # Processes of their own, forked from one that has everything imported: ten starts take longer than all the rest.
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["beamjudge.pipelines.launch"])
    moments = random.Random(8).sample(range(1, 700), 9)
    lost = 0
    for moment in [*moments, log.rows]:
        known, before = log.stored(), len(endpoint.bill.requests)
        # The last time when all is answered, and perhaps not yet on file.
        enough = before + min(moment, log.rows - len(known))
        process = processes.Process(target=evaluate, args=(log.flags(),))
        process.start()
        wait_until(partial(has_billed, endpoint, enough, process))
        process.kill()
        process.join()
        wait_until(lambda: endpoint.in_flight == 0)
        asked = Counter(map(row_of, endpoint.bill.requests[before:]))
        assert asked.total() == len(asked)
        assert not asked.keys() & known, "a stored verdict was asked for again"
        gone = asked.keys() - log.stored()
        assert len(gone) <= UNWRITTEN + SLOTS
        lost += len(gone)
    known, before = log.stored(), len(endpoint.bill.requests)
    assert subprocess.run([*COMMAND, *log.flags()], check=False).returncode == 0
    log.assert_complete()
    assert len(endpoint.bill.requests) == log.rows + lost
    spent = len(endpoint.bill.requests) - before
    assert spent == log.rows - len(known)
    assert log.spend() == {"spent": spent, "reused": len(known), "wasted": 0}


def has_billed(endpoint, enough, process) -> bool:
    return len(endpoint.bill.requests) >= enough or not process.is_alive()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_was_paid(tmp_path, endpoint, number):
    log = Log(tmp_path, 100, endpoint)
    go_on = threading.Event()
    answered = iter(range(40))
    endpoint.respond = lambda request: Held(go_on) if next(answered, None) is None else Completion()
    with subprocess.Popen([*COMMAND, *log.flags()], stderr=subprocess.PIPE, text=True) as process:
        # Once all slots wait for held calls, the answers to the others have come.
        wait_until(lambda: endpoint.in_flight == SLOTS or process.poll() is not None)
        process.send_signal(number)
        try:
            _, printed = process.communicate(timeout=WAIT_SECONDS)
        finally:
            process.kill()
    assert process.returncode == 130
    assert "Traceback" not in printed
    assert not (tmp_path / "out" / "run.json").exists()
    assert log.stored() == set(log.billed())
    assert len(log.billed()) == 40
    endpoint.respond = lambda request: Completion()
    assert main(log.flags()) == 0
    log.assert_complete()
    assert log.spend() == {"spent": 60, "reused": 40, "wasted": 0}
    assert set(log.billed().values()) == {1}


@pytest.mark.parametrize("flags", [["--direct_runner_bundle_repeat=1"], ["--direct_num_workers=3", "--reshuffle=on"]])
def test_bundles_that_are_repeated_or_many_pay_once(tmp_path, endpoint, flags):
    log = Log(tmp_path, 60, endpoint)
    assert main(log.flags(*flags)) == 0
    log.assert_complete()
    assert len(endpoint.bill.requests) == 60
    assert len(log.stored()) == 60


def test_rows_with_equal_text_are_paid_once(tmp_path, endpoint):
    log = Log(tmp_path, 1, endpoint)
    line = (tmp_path / "log.jsonl").read_text()
    (tmp_path / "log.jsonl").write_text("\n".join(line.replace('"r0"', f'"copy-{i}"') for i in range(50)))
    assert main(log.flags()) == 0
    assert len(endpoint.bill.requests) == 1
    assert log.spend() == {"spent": 1, "reused": 49, "wasted": 0}
    assert log.stored() == {f"copy-{i}" for i in range(50)}, "pruning any of them removes the verdict"


def open_sockets() -> int:
    links = Path("/proc/self/fd")
    found = 0
    for link in links.iterdir() if links.exists() else ():
        with contextlib.suppress(OSError):
            found += str(link.readlink()).startswith("socket:")
    return found


def own_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("beamjudge-")]


def test_two_runs_in_one_process_after_another_and_side_by_side(tmp_path, endpoint):
    sockets = open_sockets()
    log = Log(tmp_path, 40, endpoint)
    for output in ("first", "second"):
        assert main(log.flags(output=output, slots=2)) == 0
    codes: dict[str, int] = {}

    def run(output: str) -> None:
        codes[output] = main(log.flags(output=output, slots=2))

    threads = [threading.Thread(target=run, args=(output,)) for output in ("third", "fourth")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == {"third": 0, "fourth": 0}
    for output in ("first", "second", "third", "fourth"):
        log.assert_complete(output)
        assert log.spend(output) == {"spent": 40, "reused": 0, "wasted": 0}, "each output has its own store"
    assert len(endpoint.bill.requests) == 160
    assert endpoint.max_in_flight <= 4, "two runs of two calls each"
    assert not own_threads()
    wait_until(lambda: open_sockets() <= sockets)
