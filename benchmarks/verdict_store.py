"""A large verdict store: what it costs to write, compact and open, and to get verdicts from.

Puts synthetic verdicts of some 300 bytes into a store in a temporary folder and compacts it. Then opens it in fresh
processes, as it is and with 100 ms added to whatever opens a file, and gets 10,000 verdicts that are there, in the
order of a log, which is random to the store, and 10,000 that are not. Exits with 1 when opening takes 5 s or more, or
opening and getting 100 MB or more.
"""

import argparse
import hashlib
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from apache_beam.io.filesystems import FileSystems

from beamjudge.schemas.spend import Spend
from beamjudge.transforms.judging.store.compaction import compact
from beamjudge.transforms.judging.verdict_store import StoredVerdict, VerdictStore

MAX_SECONDS, MAX_MB = 5.0, 100.0
GETS = 10_000
JUDGES = ("safety", "groundedness", "relevance_to_query", "correctness")
WORDS = ("the", "response", "names", "opening", "pressure", "of", "valve", "pump", "handbook", "page", "is", "not")


def key_of(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def verdict(number: int) -> StoredVerdict:
    rationale = " ".join(random.Random(number).choices(WORDS, k=40))
    spend = Spend(1, 800 + number % 700, number % 3 * 256, 40 + number % 60, 0, 0.0005)
    return StoredVerdict(
        key_of(number),
        JUDGES[number % len(JUDGES)],
        "8d5e2b7c1f0a9e34",
        "judge-large",
        "yes" if number % 5 else "no",
        rationale,
        None,
        (),
        spend,
        "0123456789abcdef",
        1_790_000_000.0 + number,
        (f"request-{number // len(JUDGES):08d}",),
    )


def build(folder: str, verdicts: int) -> None:
    store = VerdictStore(folder, "0123456789abcdef", "benchmark")
    written = 0.0
    for number in range(verdicts):
        stored = verdict(number)
        started = time.process_time()
        store.put(stored)
        if number % 500 == 499:
            store.flush()
        written += time.process_time() - started
    store.close()
    print(f"put and written: {written / verdicts * 1e6:.0f} microseconds of CPU a verdict, in segments of 500")
    started = time.perf_counter(), time.process_time()
    compact(folder)
    wall, cpu = time.perf_counter() - started[0], time.process_time() - started[1]
    files = [path.stat().st_size for path in Path(folder).iterdir()]
    print(
        f"compacted: {wall:.1f} s, {cpu:.1f} s of CPU; {len(files)} files, {sum(files) / verdicts:.0f} bytes a verdict"
    )


def resident_mb() -> float:
    """Resident memory in MB (10^6 bytes): the present one, or where the system does not tell, the peak."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize() / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def delayed(opening: Callable[..., Any], seconds: float) -> Callable[..., Any]:
    def open_late(*arguments: Any, **options: Any) -> Any:
        time.sleep(seconds)
        return opening(*arguments, **options)

    return open_late


def probe(folder: str, verdicts: int, delay: float) -> None:
    """Open the store and get from it, in this process; prints the figures as JSON."""
    if delay:
        for name in ("open", "create", "match"):
            setattr(FileSystems, name, staticmethod(delayed(getattr(FileSystems, name), delay)))
    known = [key_of(number) for number in random.Random(7).sample(range(verdicts), min(GETS, verdicts))]
    unknown = [key_of(-1 - number) for number in range(GETS)]
    before, started = resident_mb(), time.perf_counter()
    store = VerdictStore(folder, "run", "attempt")
    opened = {"open_s": time.perf_counter() - started, "open_mb": resident_mb() - before}
    started_cpu, started = time.process_time(), time.perf_counter()
    found = [store.get(key) for key in known]
    hits = {
        "hits_s": time.perf_counter() - started,
        "hit_cpu_us": (time.process_time() - started_cpu) / len(known) * 1e6,
    }
    started = time.perf_counter()
    missed = [store.get(key) for key in unknown]
    misses = {"misses_s": time.perf_counter() - started, "all_mb": resident_mb() - before}
    if None in found or any(missed):
        raise SystemExit("the store does not hold what was put into it")
    store.close()
    print(json.dumps({**opened, **hits, **misses}))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verdicts", type=int, default=1_000_000)
    parser.add_argument("--probe", nargs=2, metavar=("FOLDER", "DELAY"), help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.probe:
        probe(arguments.probe[0], arguments.verdicts, float(arguments.probe[1]))
        return 0
    within = True
    with tempfile.TemporaryDirectory() as root:
        folder = f"{root}/verdicts"
        build(folder, arguments.verdicts)
        for delay in (0.0, 0.1):
            command = [sys.executable, __file__, "--verdicts", str(arguments.verdicts), "--probe", folder, str(delay)]
            figures = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            print(
                f"with {delay * 1000:.0f} ms added per file: "
                f"open {figures['open_s']:.2f} s and {figures['open_mb']:.0f} MB; "
                f"{GETS:,} hits {figures['hits_s']:.2f} s ({figures['hit_cpu_us']:.0f} microseconds of CPU each), "
                f"{GETS:,} misses {figures['misses_s']:.2f} s; {figures['all_mb']:.0f} MB in all"
            )
            within = within and figures["open_s"] < MAX_SECONDS and figures["all_mb"] < MAX_MB
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
