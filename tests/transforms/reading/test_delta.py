"""Delta tables by their log, with the package that writes them; Iceberg tables are told and refused."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from beamjudge.schemas.errors import UsageError
from beamjudge.schemas.record import SourceRecord
from beamjudge.transforms.reading.delta import check_readable, split_version
from beamjudge.transforms.reading.files import match_files
from beamjudge.transforms.reading.ranges import plan_ranges, read_range


def rows(pattern: str) -> list[dict[str, Any]]:
    items = [item for file in match_files([pattern]) for part in plan_ranges(file) for item in read_range(part, 1000)]
    return sorted((item.data for item in items if isinstance(item, SourceRecord)), key=_request)


def _request(row: dict[str, Any]) -> str:
    return str(row["request"])


@pytest.fixture
def table(tmp_path: Path) -> str:
    deltalake = pytest.importorskip("deltalake")
    folder = str(tmp_path / "my table")
    first = pa.table({"request": ["a", "b"], "team": ["x y/z", "ü%"]})
    deltalake.write_deltalake(folder, first, partition_by=["team"])
    deltalake.write_deltalake(folder, pa.table({"request": ["c"], "team": ["red"]}), mode="append")
    deltalake.write_deltalake(folder, pa.table({"request": ["d"], "team": ["red"]}), mode="overwrite")
    return folder


def test_versions_of_a_delta_table(table: str) -> None:
    latest = [{"request": "d", "team": "red"}]
    first = [{"request": "a", "team": "x y/z"}, {"request": "b", "team": "ü%"}]
    assert rows(f"delta:{table}") == rows(f"delta:{table}@2") == rows(f"delta:{table}/") == latest
    assert rows(f"delta:{table}@0") == first
    assert rows(f"delta:{table}@1") == [*first, {"request": "c", "team": "red"}]
    (file,) = match_files([f"delta:{table}"])
    path = Path(file.path)
    assert (file.size, file.modified) == (path.stat().st_size, pytest.approx(path.stat().st_mtime, abs=5))


def test_no_such_table_or_version(table: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    for pattern, said in (
        (f"delta:{table}@9", "no such version; the latest version is 2"),
        (f"delta:{tmp_path}/none", "names a folder that does not exist"),
        (f"delta:{tmp_path}/file", "names a file; expected the folder of a Delta table"),
        (f"delta:{tmp_path}/empty", "cannot be read as a Delta table"),
    ):
        with pytest.raises(UsageError, match=said) as caught:
            match_files([pattern])
        assert "\n" not in str(caught.value)


@pytest.fixture
def folder_with_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (
        "in/j/day=1/a.parquet",
        "in/j/_delta_log/00000000000000000000.json",
        "in/j/_delta_log/00000000000000000010.checkpoint.parquet",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"PAR1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("pattern", ["in/j", "in/j/", "in/*", "in", "in/j/*", "**"])
def test_the_folder_of_a_delta_table_is_refused(folder_with_log: Path, pattern: str) -> None:
    with pytest.raises(UsageError, match=r"--input: 'in/j' is a Delta table; read it with --input delta:in/j$"):
        match_files([pattern])
    with pytest.raises(UsageError, match=f"read it with --input delta:{folder_with_log}/in/j$"):
        match_files([f"{folder_with_log}/in"])


@pytest.mark.parametrize("pattern", ["in/j/**/*.parquet", "in/j/day=1", "in/j/day=1/a.parquet"])
def test_files_of_a_delta_table_are_read_with_one_warning(folder_with_log: Path, pattern: str) -> None:
    warnings: list[str] = []
    (file,) = match_files([pattern], None, warnings.append)
    assert file.path == str(folder_with_log / "in/j/day=1/a.parquet")
    (warning,) = warnings
    assert "past its log" in warning
    assert "--input delta:in/j reads the table's rows" in warning


def test_files_beside_no_delta_log_are_read_without_a_warning(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("")
    warnings: list[str] = []
    assert len(match_files([str(tmp_path)], None, warnings.append)) == 1
    assert warnings == []


def test_a_delta_table_without_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "deltalake", None)
    with pytest.raises(UsageError, match=r"pip install 'beamjudge\[delta\]'"):
        match_files([f"delta:{tmp_path}"])


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("delta:a/b@12", ("a/b", 12)),
        ("delta:s3://me@host/b", ("s3://me@host/b", None)),
        ("delta:a@b", ("a@b", None)),
        ("delta:a@1@2", ("a@1", 2)),
    ],
)
def test_versions_in_patterns(pattern: str, expected: tuple[str, int | None]) -> None:
    assert split_version(pattern) == expected


def _table(features: list[str] | None, deleted: int = 0, mapping: str | None = None) -> SimpleNamespace:
    vectors = pa.table({"filepath": ["f"] * deleted})
    return SimpleNamespace(
        metadata=lambda: SimpleNamespace(configuration={"delta.columnMapping.mode": mapping} if mapping else {}),
        protocol=lambda: SimpleNamespace(reader_features=features),
        deletion_vectors=vectors.to_reader,
    )


def test_tables_whose_files_are_not_their_rows_are_refused() -> None:
    check_readable("delta:t", _table(None))
    check_readable("delta:t", _table(["deletionVectors"], mapping="none"))
    with pytest.raises(UsageError, match="deletion vectors"):
        check_readable("delta:t", _table(["deletionVectors"], deleted=1))
    with pytest.raises(UsageError, match=r"delta\.columnMapping.mode = name"):
        check_readable("delta:t", _table(None, mapping="name"))


@pytest.mark.parametrize("pattern", ["table", "table/**", "table/*"])
def test_an_iceberg_table_is_refused(tmp_path: Path, pattern: str) -> None:
    for name in ("data/a.parquet", "metadata/v1.metadata.json", "metadata/snap-1.avro"):
        (tmp_path / "table" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "table" / name).write_bytes(b"PAR1")
    with pytest.raises(UsageError, match="looks like an Iceberg table, which is not read"):
        match_files([str(tmp_path / pattern)])
    assert len(match_files([str(tmp_path / "table/data")])) == 1
