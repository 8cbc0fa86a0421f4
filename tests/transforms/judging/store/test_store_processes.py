"""Real processes on one store: several at once, and some that are killed."""

import subprocess
import sys
from pathlib import Path

import pytest
from store_harness import WAIT_SECONDS, fill, held, names, verdicts

from beamjudge.transforms.judging.store.compaction import compact

WRITER = Path(__file__).with_name("store_writer.py")
COMPACTOR = """
import sys
from beamjudge.transforms.judging.store.compaction import compact
for _ in range(int(sys.argv[2])):
    compact(sys.argv[1], everything=True)
"""


def start(*arguments):
    command = [sys.executable, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def writer(folder, first, last, mode="plain"):
    return start(WRITER, folder, first, last, mode)


def finish(*processes):
    for process in processes:
        process.communicate(timeout=WAIT_SECONDS)
        assert process.returncode == 0


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "verdicts"


def test_several_processes_write_and_compact_at_once(folder):
    fill(folder, *range(1000, 1050))
    writers = [writer(folder, first, first + 125) for first in (0, 75)]
    compactors = [start("-c", COMPACTOR, folder, 10) for _ in range(2)]
    finish(*writers, *compactors)
    everything = [*range(200), *range(1000, 1050)]
    assert held(folder, everything) == verdicts(everything)
    done = compact(str(folder), everything=True)
    assert done.verdicts in (0, 250)
    assert held(folder, everything) == verdicts(everything)
    assert len(names(folder)) == 2


@pytest.mark.parametrize(("mode", "sure"), [("between", 10), ("within", 5)])
def test_a_writer_that_is_killed_loses_only_what_was_not_flushed(folder, mode, sure, caplog):
    process = writer(folder, 0, 100, mode)
    assert process.stdout is not None
    said = []
    while mode not in said:
        said.append(process.stdout.readline().strip())
        assert said[-1], f"the writer has ended after {said}"
    process.kill()
    process.communicate(timeout=WAIT_SECONDS)
    assert held(folder, range(100)) == verdicts(range(sure))
    assert len([name for name in names(folder) if name.endswith(".tmp")]) == (mode == "within")
    assert caplog.records == []
    # The next attempt goes on in the same folder.
    finish(writer(folder, sure, 100))
    assert held(folder, range(110)) == verdicts(range(100))
