"""Our own tables are read back in the calling thread, since other threads of Arrow outlive the interpreter."""

import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from apache_beam.io.filesystems import FileSystems

from beamjudge.pipelines.output_folder import read_table, recorded_inputs

MOMENT = 1_790_000_000_000_000


class WatchedStream:
    """A stream that notes the threads in which it is asked for anything."""

    def __init__(self, stream, threads):
        self._stream = stream
        self._threads = threads

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stream.close()

    def __getattr__(self, name):
        self._threads.add(threading.get_ident())
        return getattr(self._stream, name)


@pytest.fixture
def reading_threads(monkeypatch):
    threads, opened = set(), FileSystems.open
    monkeypatch.setattr(
        FileSystems, "open", staticmethod(lambda path, *rest: WatchedStream(opened(path, *rest), threads))
    )
    return threads


def test_tables_are_read_in_the_calling_thread(tmp_path, reading_threads):
    (tmp_path / "metrics").mkdir()
    for part in range(2):
        values = pa.table({f"column {i}": [part, part + 2] for i in range(20)})
        pq.write_table(values, tmp_path / "metrics" / f"part-{part}.parquet", row_group_size=1)
    assert sorted(row["column 7"] for row in read_table(str(tmp_path), "metrics")) == [0, 1, 2, 3]
    assert reading_threads == {threading.get_ident()}


def test_recorded_inputs_are_read_in_the_calling_thread_with_times_as_integers(tmp_path, reading_threads):
    modified = pa.array([MOMENT, None], pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"path": ["a", "b"], "modified": modified}), tmp_path / "inputs.parquet")
    assert recorded_inputs(str(tmp_path)) == [{"path": "a", "modified": MOMENT}, {"path": "b", "modified": None}]
    assert reading_threads == {threading.get_ident()}


def test_damaged_inputs_are_a_record_of_nothing(tmp_path):
    (tmp_path / "inputs.parquet").write_bytes(b"PAR1 and no more")
    assert recorded_inputs(str(tmp_path)) == []
