import gzip
from collections.abc import Callable, Iterator
from pathlib import Path

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to

from beamjudge.schemas.record import FileStats, InputFile, Reject, SourceRecord
from beamjudge.transforms.progress import PROGRESS
from beamjudge.transforms.read_logs import ReadLogs
from beamjudge.transforms.reading.files import match_files
from beamjudge.transforms.reading.ranges import plan_ranges, read_range


def pipeline(*flags: str) -> beam.Pipeline:
    return beam.Pipeline(runner=FnApiRunner(), options=PipelineOptions(["--direct_running_mode=in_memory", *flags]))


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "dt=1"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(b'{"id": "a0"}\n\n{oops}\n{"id": "a1"}\n')
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(b'{"id": "b0"}\n{"id": "b1"}'))
    pq.write_table(pa.table({"id": ["c0", "c1"]}), folder / "c.parquet", row_group_size=1)
    (folder / "d.csv").write_bytes(b"id\nd0\n")
    return folder


def _id_and_place(record: SourceRecord) -> tuple[str, str, str, str]:
    return record.data["id"], record.data["dt"], Path(record.source_file).name, record.source_position


def _code_and_place(reject: Reject) -> tuple[str, str, str | None]:
    return reject.code, Path(reject.source_file).name, reject.source_position


def _counts(stats: FileStats) -> tuple[str, int, int, int]:
    return Path(stats.source_file).name, stats.records, stats.blank, stats.bad_files


@pytest.mark.parametrize("reshuffle_rows", [False, True])
@pytest.mark.parametrize("flags", [(), ("--direct_num_workers=3", "--direct_running_mode=multi_threading")])
def test_records_rejects_and_counts(logs: Path, reshuffle_rows: bool, flags: tuple[str, ...]) -> None:
    files = match_files([str(logs)])
    (logs / "b.jsonl.gz").rename(logs / "b2.jsonl.gz")
    gone = InputFile(str(logs / "gone.jsonl"), 10, None)
    files = (*(file for file in files if "b.jsonl" not in file.path), *match_files([f"{logs}/b2*"]), gone)
    with pipeline(*flags) as root:
        read = root | "ReadLogs" >> ReadLogs(files, 1.0, reshuffle_rows=reshuffle_rows)
        assert read.records.element_type is SourceRecord
        assert read.rejects.element_type is Reject
        assert read.stats.element_type is FileStats
        assert_that(
            read.records | "Records" >> beam.Map(_id_and_place),
            equal_to(
                [
                    ("a0", "1", "a.jsonl", "0"),
                    ("a1", "1", "a.jsonl", "21"),
                    ("b0", "1", "b2.jsonl.gz", "0"),
                    ("b1", "1", "b2.jsonl.gz", "13"),
                    ("c0", "1", "c.parquet", "0:0"),
                    ("c1", "1", "c.parquet", "1:0"),
                ]
            ),
            label="CheckRecords",
        )
        assert_that(
            read.rejects | "Rejects" >> beam.Map(_code_and_place),
            equal_to(
                [
                    ("invalid_json", "a.jsonl", "14"),
                    ("unsupported_format", "d.csv", None),
                    ("unreadable_file", "gone.jsonl", None),
                ]
            ),
            label="CheckRejects",
        )
        assert_that(
            read.stats | "Stats" >> beam.Map(_counts),
            equal_to(
                [
                    ("a.jsonl", 4, 1, 0),
                    ("b2.jsonl.gz", 2, 0, 0),
                    ("c.parquet", 2, 0, 0),
                    ("d.csv", 1, 0, 1),
                    ("gone.jsonl", 1, 0, 1),
                ]
            ),
            label="CheckStats",
        )


def test_no_files_give_nothing() -> None:
    with pipeline() as root:
        read = root | "ReadLogs" >> ReadLogs((), 64)
        for name, values in read._asdict().items():
            assert_that(values, equal_to([]), label=f"Check{name.title()}")


def test_the_limit_on_records_is_in_mebibytes(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": "%s"}\n{"a": "%s"}\n' % (b"x" * (1 << 19), b"x" * ((1 << 19) - 9)))
    with pipeline() as root:
        read = root | "ReadLogs" >> ReadLogs(match_files([str(path)]), 0.5)
        assert_that(read.rejects | beam.Map(_code_and_place), equal_to([("too_long", "a.jsonl", "0")]))


@pytest.fixture
def fresh_progress() -> Iterator[Callable[[], dict[str, int]]]:
    PROGRESS.reset()
    yield PROGRESS.snapshot
    PROGRESS.reset()


def test_progress_counts_the_bytes_of_files(tmp_path: Path, read_file, fresh_progress) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1}\n' * 1000)
    read_file(path, split_bytes=1000)
    assert fresh_progress()["bytes_read"] == pytest.approx(9000, abs=9)
    path.write_bytes(gzip.compress(b'{"a": 1}\n' * 1000))
    PROGRESS.reset()
    read_file(path)
    assert fresh_progress() == {
        "bytes_read": path.stat().st_size,
        "rows_read": 0,
        "rows_done": 0,
        "calls_done": 0,
        "calls_failed": 0,
    }


def test_progress_knows_its_names(fresh_progress) -> None:
    PROGRESS.add("calls_done", 2)
    PROGRESS.add("calls_done", 3)
    assert fresh_progress()["calls_done"] == 5
    with pytest.raises(KeyError):
        PROGRESS.add("calls", 1)


def test_binary_that_is_no_text_costs_a_row_only_in_a_column_that_is_read(tmp_path):
    table = pa.table({"request": pa.array([b"q", b"\xff", b"q"]), "embedding": pa.array([b"\xff\xfe", b"a", None])})
    pq.write_table(table, tmp_path / "log.parquet")
    (part,) = plan_ranges(match_files([str(tmp_path)])[0])
    first, second, third, _ = read_range(part, 1000)
    assert (first.data, first.notes) == ({"request": "q", "embedding": None}, ("binary_to_null",))
    assert second.code == "invalid_utf8"
    assert (third.data, third.notes) == ({"request": "q", "embedding": None}, ())


def test_columns_from_the_path_are_told_apart_from_the_rows_own(tmp_path):
    folder = tmp_path / "dt=2026-11-29" / "model=a"
    folder.mkdir(parents=True)
    (folder / "log.jsonl").write_text('{"request": "q", "model": "b"}\n')
    (part,) = plan_ranges(match_files([str(tmp_path)])[0])
    record, _ = read_range(part, 1000)
    assert record.data == {"dt": "2026-11-29", "request": "q", "model": "b"}
    assert record.from_path == ("dt",)
