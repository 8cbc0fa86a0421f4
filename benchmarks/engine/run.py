"""The judge engine against a mock endpoint: how much of a perfect schedule it reaches, and what a call costs.

    make bench-engine            all of it, about ten minutes
    make bench-engine QUICK=1    a tenth of the calls

Every scenario is a run of `beamjudge evaluate` in a process of its own (bundles of 100 rows: of the judge stage alone),
with the verdict store on, and the endpoint in another. "ideal" is what a greedy schedule on the very latencies that
the endpoint drew would have needed, as a share of the time from the first to the last call. Exits with 1 when a target
is missed. Times say something only on a machine that has nothing else to do; CPU time says a little more.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from log import EIGHT_JUDGES, ONE_JUDGE, write_log
from mock_endpoint import CONSTANT, HEAVY_TAIL, Calls, Latency, Mock

HERE = Path(__file__).parent
EVALUATE = [sys.executable, "-c", "import sys; from beamjudge.pipelines.cli import main; sys.exit(main())", "evaluate"]
SLOTS, MANY_SLOTS, BUNDLE = 32, 128, 100
QUICK = Latency(20, 20)


class Run(NamedTuple):
    """A measured run: what the endpoint saw, CPU seconds and peak resident MB (10^6 bytes) of the process."""

    calls: Calls
    cpu_seconds: float
    peak_mb: float


class Bench:
    """Runs scenarios against one mock, prints a line for each, and keeps what missed its target."""

    def __init__(self, mock: Mock, folder: Path, scale: float) -> None:
        self._mock, self._folder, self._scale = mock, folder, scale
        self.missed: list[str] = []

    def scaled(self, number: int) -> int:
        return max(BUNDLE, int(number * self._scale))

    def evaluate(self, rows: int, judges: str, latency: Latency, slots: int = SLOTS, fail_share: float = 0.0) -> Run:
        return self._measured(self._command(rows, judges, latency, slots, fail_share))

    def memory_of_calls(self, rows: int, judges: str, latency: Latency) -> list[tuple[int, float]]:
        """Pairs of calls made and resident MB of the run's process, every half second."""
        process = subprocess.Popen(self._command(rows, judges, latency, MANY_SLOTS))
        command = ["ps", "-o", "rss=", "-p", str(process.pid)]
        samples = []
        while process.poll() is None:
            resident = subprocess.run(command, check=False, capture_output=True, text=True)
            if resident.stdout.strip():
                samples.append((self._mock.count(), int(resident.stdout) * 1024 / 1e6))
            time.sleep(0.5)
        return samples

    def stored_again(self, rows: int, judges: str) -> tuple[int, float]:
        """The calls, and the wall time, of a run whose verdicts another one, of the same log, has stored."""
        command = self._command(rows, judges, QUICK, MANY_SLOTS)
        store = ["--verdict_store", tempfile.mkdtemp(dir=self._folder)]
        self._measured([*command, *store])
        self._mock.configure(QUICK)
        command[command.index("--output") + 1] += "-again"
        started = time.monotonic()
        subprocess.run([*command, *store], check=True)
        return self._mock.count(), time.monotonic() - started

    def bundles(self, rows: int, judges: str, latency: Latency) -> Run:
        self._mock.configure(latency)
        folder = tempfile.mkdtemp(dir=self._folder)
        arguments = [self._mock.base_url, folder, judges, str(rows), str(SLOTS), str(BUNDLE)]
        return self._measured([sys.executable, str(HERE / "bundles.py"), *arguments])

    def bare_loop(self, name: str, calls: int, slots: int, latency: Latency) -> dict[str, float]:
        self._mock.configure(latency)
        command = [sys.executable, str(HERE / "bare_loop.py"), name, self._mock.base_url, str(calls), str(slots)]
        measured: dict[str, float] = json.loads(subprocess.check_output(command))
        return measured

    def say(self, what: str, figure: str, passed: bool | None = None) -> None:
        print(f"{what:<62} {figure:<54} {'' if passed is None else 'passed' if passed else 'MISSED'}", flush=True)
        if passed is False:
            self.missed.append(what)

    def say_share(self, what: str, calls: Calls, calls_per_bundle: int | None, least: float) -> None:
        share = calls.share_of_ideal(SLOTS, calls_per_bundle)
        late = f"answers {calls.late_ms:.1f} ms late"
        self.say(what, f"{share:.3f} of ideal (at least {least}), {late}", share >= least)

    def _command(self, rows: int, judges: str, latency: Latency, slots: int, fail_share: float = 0.0) -> list[str]:
        """A run on a new log of `rows` rows, against an endpoint that has forgotten all calls."""
        self._mock.configure(latency, fail_share=fail_share)
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        log = folder / "log.jsonl"
        write_log(log, rows)
        command = [*EVALUATE, "--input", str(log), "--output", str(folder / "out"), "--judges", judges]
        command += ["--judge_model", "mock", "--judge_base_url", self._mock.base_url, "--metrics", "none", "--quiet"]
        return [*command, "--max_concurrency", str(slots)]

    def _measured(self, command: Sequence[str]) -> Run:
        process = subprocess.Popen(command)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"ended with exit code {process.returncode}: {' '.join(command)}")
        unit = 1 if sys.platform == "darwin" else 1024
        return Run(self._mock.calls(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6)


def measure_schedule(bench: Bench) -> None:
    """The share of a perfect schedule: one and eight judges, constant latency and heavy tail, and small bundles."""
    for judges, rows, what in ((ONE_JUDGE, 2000, "one judge"), (EIGHT_JUDGES, 500, "eight judges")):
        for latency, name, least in ((CONSTANT, "constant 200 ms", 0.97), (HEAVY_TAIL, "p99 3 s", 0.95)):
            run = bench.evaluate(bench.scaled(rows), judges, latency)
            bench.say_share(f"{what}, {name}, {SLOTS} in flight", run.calls, None, least)
        for latency, name in ((CONSTANT, "constant 200 ms"), (HEAVY_TAIL, "p99 3 s")):
            run = bench.bundles(bench.scaled(rows), judges, latency)
            per_bundle = BUNDLE * len(judges.split(","))
            bench.say_share(f"{what}, {name}, bundles of {BUNDLE} rows", run.calls, per_bundle, 0.9)


def measure_cpu(bench: Bench) -> None:
    """CPU time of a call: the difference of a long and a short run, so that the start is not in it."""
    for name in ("aiohttp", "openai"):
        loop = bench.bare_loop(name, bench.scaled(2000), SLOTS, QUICK)
        bench.say(f"bare loop, {name}", f"{loop['cpu_ms']:.2f} ms CPU per call")
    for judges, rows, what in ((ONE_JUDGE, 6000, "one judge"), (EIGHT_JUDGES, 1000, "eight judges")):
        short, long = (bench.evaluate(n, judges, QUICK) for n in (BUNDLE, BUNDLE + bench.scaled(rows)))
        per_call = (long.cpu_seconds - short.cpu_seconds) / (long.calls.number - short.calls.number) * 1000
        bench.say(f"{what}, all in", f"{per_call:.2f} ms CPU per call (at most 1.5)", per_call <= 1.5)


def measure_throughput(bench: Bench) -> None:
    ideal = MANY_SLOTS / (CONSTANT.median_ms / 1000)
    bare = bench.bare_loop("openai", bench.scaled(5000), MANY_SLOTS, CONSTANT)["calls_per_second"]
    bench.say(f"bare loop, openai, {MANY_SLOTS} in flight", f"{bare:.0f} calls/s")
    calls = bench.evaluate(bench.scaled(10_000), ONE_JUDGE, CONSTANT, MANY_SLOTS).calls
    rate = calls.number / calls.seconds
    what = f"one judge, constant 200 ms, {MANY_SLOTS} in flight"
    bench.say(what, f"{rate:.0f} calls/s ({rate / ideal:.2f} of {ideal:.0f})", rate >= 0.85 * ideal)
    # In turns, since the machine may be twice as fast a minute later.
    bare_rates, rates = [], []
    for _ in range(5):
        bare_rates.append(bench.bare_loop("openai", bench.scaled(2000), MANY_SLOTS, QUICK)["calls_per_second"])
        calls = bench.evaluate(bench.scaled(8000), ONE_JUDGE, QUICK, MANY_SLOTS).calls
        rates.append(calls.number / calls.seconds)
    ratio = statistics.median(rate / bare for rate, bare in zip(rates, bare_rates, strict=True))
    what = f"one judge, constant 20 ms, {MANY_SLOTS} in flight (CPU-bound)"
    bare, rate = statistics.median(bare_rates), statistics.median(rates)
    bench.say(what, f"{rate:.0f} calls/s ({ratio:.2f} x openai's {bare:.0f})", ratio >= 3)


def measure_faults(bench: Bench) -> None:
    rows = bench.scaled(2000)
    calm, faulty = (bench.evaluate(rows, ONE_JUDGE, CONSTANT, fail_share=share).calls for share in (0.0, 0.05))
    ratio = faulty.seconds / calm.seconds
    bench.say(f"5 % of calls fail ({faulty.statuses})", f"{ratio:.2f} x the calm time (below 1.5)", ratio < 1.5)


def measure_memory(bench: Bench) -> None:
    """Memory while calls are made, early and late in one long run; its end, when the store is compacted, is apart."""
    samples = bench.memory_of_calls(max(bench.scaled(100_000), 30_000), ONE_JUDGE, Latency(5, 5))
    number = max(count for count, _ in samples)
    early, late = (
        statistics.median(mb for count, mb in samples if low * number <= count < high * number)
        for low, high in ((0.25, 0.45), (0.8, 1.0))
    )
    figure = f"{early:.0f} -> {late:.0f} MB (at most x 1.1)"
    bench.say(f"memory from a quarter to the end of {number:,} calls", figure, late <= 1.1 * early)
    bench.say("... and at most, with the end of the run", f"{max(mb for _, mb in samples):.0f} MB")


def measure_stored(bench: Bench) -> None:
    rows = bench.scaled(10_000)
    calls, seconds = bench.stored_again(rows, ONE_JUDGE)
    figure = f"{calls} calls (none), {seconds:.1f} s (at most 20)"
    bench.say(f"a run of {rows:,} rows, all verdicts stored", figure, calls == 0 and seconds <= 20)


PARTS = {
    "schedule": measure_schedule,
    "cpu": measure_cpu,
    "throughput": measure_throughput,
    "faults": measure_faults,
    "memory": measure_memory,
    "stored": measure_stored,
}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="a tenth of the calls")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="beamjudge-bench-") as folder, Mock() as mock:
        bench = Bench(mock, Path(folder), 0.1 if arguments.quick else 1.0)
        for name in arguments.parts or PARTS:
            PARTS[name](bench)
    print(f"{len(bench.missed)} targets missed" if bench.missed else "all targets reached")
    return 1 if bench.missed else 0


if __name__ == "__main__":
    sys.exit(main())
