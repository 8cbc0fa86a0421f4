"""A store on an object store: no folders, no renaming but by copying, every read a copy of the whole file."""

import io
import time

import pytest
from apache_beam.io.filesystem import BeamIOError, FileMetadata, FileSystem
from apache_beam.io.filesystems import FileSystems
from store_harness import held, key, small_files, store_in, verdict, verdicts

from beamjudge.schemas.errors import RunFailed
from beamjudge.transforms.judging.store.compaction import Selection, compact, compact_after_run, prune
from beamjudge.transforms.judging.store.survey import survey

BLOBS: dict[str, tuple[bytes, float]] = {}
OPENED: list[str] = []
FOLDER = "blobs://bucket/some/verdicts"


class _Upload(io.BytesIO):
    def __init__(self, path):
        super().__init__()
        self.path = path

    def close(self):
        if not self.closed:
            BLOBS[self.path] = self.getvalue(), time.time()
        super().close()


class Blobs(FileSystem):
    """Files by path in this process's memory. Beam finds it by its scheme."""

    @classmethod
    def scheme(cls):
        return "blobs"

    def join(self, basepath, *paths):
        return "/".join([basepath, *paths])

    def split(self, path):
        return tuple(path.rsplit("/", 1))

    def has_dirs(self):
        return False

    def mkdirs(self, path):
        raise AssertionError("an object store has no folders")

    def _list(self, dir_or_prefix):
        for path, (content, modified) in list(BLOBS.items()):
            if path.startswith(dir_or_prefix):
                yield FileMetadata(path, len(content), modified)

    def create(self, path, mime_type="", compression_type=""):
        return _Upload(path)

    def open(self, path, mime_type="", compression_type=""):
        OPENED.append(path)
        if path not in BLOBS:
            raise BeamIOError("no such blob", {path: None})
        return io.BytesIO(BLOBS[path][0])

    def copy(self, source_file_names, destination_file_names):
        for source, destination in zip(source_file_names, destination_file_names, strict=True):
            BLOBS[destination] = BLOBS[source]

    def rename(self, source_file_names, destination_file_names):
        self.copy(source_file_names, destination_file_names)
        self.delete(source_file_names)

    def delete(self, paths):
        missing = {path: KeyError(path) for path in paths if BLOBS.pop(path, None) is None}
        if missing:
            raise BeamIOError("delete failed", missing)

    def exists(self, path):
        return path in BLOBS

    def size(self, path):
        return len(BLOBS[path][0])

    def last_updated(self, path):
        return BLOBS[path][1]

    def checksum(self, path):
        return str(self.size(path))

    def metadata(self, path):
        return FileMetadata(path, *(len(BLOBS[path][0]), BLOBS[path][1]))


@pytest.fixture(autouse=True)
def empty():
    BLOBS.clear()
    OPENED.clear()
    with small_files():
        yield


def fill(*numbers):
    store = store_in(FOLDER)
    for number in numbers:
        store.put(verdict(number))
    store.close()


def test_a_store_in_a_bucket():
    fill(*range(15))
    fill(*range(15, 20))
    assert held(FOLDER, range(25)) == verdicts(range(20))
    compact(FOLDER)
    assert {path.rpartition("/")[0] for path in BLOBS} == {FOLDER}
    assert len(BLOBS) == 4  # three parts and an index
    assert held(FOLDER, range(25)) == verdicts(range(20))
    fill(30)
    assert prune(FOLDER, Selection(request_ids=frozenset(["row-3", "row-30"]))).removed == 2
    assert held(FOLDER, range(31)) == verdicts([number for number in range(20) if number != 3])
    assert sum(share.verdicts for share in survey(FOLDER).shares.values()) == 19


def test_opening_reads_the_index_only_and_a_part_is_fetched_once():
    fill(*range(20))
    compact(FOLDER)
    OPENED.clear()
    store = store_in(FOLDER)
    assert [path.rpartition("/")[2].partition("-")[0] for path in OPENED] == ["index"]
    assert {number: store.get(key(number)) for number in range(25)} == {
        **verdicts(range(20)),
        **dict.fromkeys(range(20, 25)),
    }
    store.close()
    assert len(OPENED) == 4, "the index and three parts"


def test_a_store_that_others_compact_meanwhile():
    fill(*range(20))
    store = store_in(FOLDER)
    assert store.get(key(1)) == verdict(1)
    compact(FOLDER)
    assert {number: store.get(key(number)) for number in range(20)} == verdicts(range(20))
    store.close()


def test_a_network_that_fails_is_not_taken_for_damage(monkeypatch, caplog):
    """What cannot be read now must not be replaced by less."""
    fill(*range(10))
    compact(FOLDER)
    fill(*range(10, 12))
    before = dict(BLOBS)

    def reset(*_, **__):
        raise ConnectionResetError(104, "Connection reset by peer")

    with monkeypatch.context() as patch:
        patch.setattr(FileSystems, "open", staticmethod(reset))
        for work in (
            lambda: compact(FOLDER, everything=True, drop_damaged=True),
            lambda: prune(FOLDER, Selection(created_before=0.0)),
        ):
            with pytest.raises(ConnectionResetError):
                work()
            assert before == BLOBS
        compact_after_run(FOLDER)
        assert before == BLOBS
        assert f"{FOLDER} is not compacted (ConnectionResetError)" in caplog.text
        store = store_in(FOLDER)
        assert store.get(key(1)) is None
        store.close()
    assert "it cannot be read now (ConnectionResetError)" in caplog.text
    assert held(FOLDER, range(12)) == verdicts(range(12))
    compact_after_run(FOLDER)
    assert held(FOLDER, range(12)) == verdicts(range(12))


def test_a_bucket_that_cannot_be_written(monkeypatch):
    store = store_in(FOLDER)
    store.put(verdict(1))

    def denied(*_, **__):
        raise BeamIOError("Rename operation failed", {("a", "b"): PermissionError(13, "Permission denied")})

    with monkeypatch.context() as patch:
        patch.setattr(FileSystems, "rename", staticmethod(denied))
        with pytest.raises(RunFailed, match=r"cannot be written \(Permission denied\)$"):
            store.flush()
    assert BLOBS == {}, "what was begun is removed"
    store.close()
    assert held(FOLDER, [1]) == verdicts([1])
