from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from beamjudge.schemas.record import FileStats, Reject, SourceRecord
from beamjudge.transforms.reading.files import match_files
from beamjudge.transforms.reading.ranges import SPLIT_BYTES, plan_ranges, read_range


class FileRead(NamedTuple):
    records: list[SourceRecord]
    rejects: list[Reject]
    stats: list[FileStats]

    @property
    def rows(self) -> list[dict]:
        return [record.data for record in self.records]

    @property
    def codes(self) -> list[tuple[str, str | None]]:
        return [(reject.code, reject.source_position) for reject in self.rejects]

    @property
    def positions(self) -> list[str]:
        return [record.source_position for record in self.records]


ReadFile = Callable[..., FileRead]


@pytest.fixture(scope="session")
def read_file() -> ReadFile:
    """Reads a file range by range, and checks that the counts close."""

    def read(path: Path, split_bytes: int = SPLIT_BYTES, max_record_bytes: int = 64 << 20) -> FileRead:
        (file,) = match_files([str(path)])
        given = FileRead([], [], [])
        for part in plan_ranges(file, split_bytes):
            items = list(read_range(part, max_record_bytes))
            assert [type(item) for item in items].count(FileStats) == 1
            assert isinstance(items[-1], FileStats)
            for item in items:
                target = {SourceRecord: given.records, Reject: given.rejects, FileStats: given.stats}[type(item)]
                target.append(item)
                assert item.source_file == str(path)
        records = sum(stats.records - stats.blank for stats in given.stats)
        assert records == len(given.records) + len(given.rejects)
        return given

    return read
