"""What a file is, by its first bytes; and what is said of files that cannot be read."""

import bz2
import gzip
import json
import random
from pathlib import Path

import pytest
import zstandard

from beamjudge.schemas.record import FileStats, InputFile, Reject, SourceRecord
from beamjudge.transforms.reading.files import match_files
from beamjudge.transforms.reading.ranges import plan_ranges, read_range

LINES = b'{"a": 1}\r\n\n{"a": "\xc3\xa9"}\n'
ROWS = [{"a": 1}, {"a": "é"}]
POSITIONS = ["0", "11"]


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


COMPRESS = {"gzip": gzip.compress, "zstd": zstd, "bz2": bz2.compress}
SKIPPABLE = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"


@pytest.mark.parametrize(
    "name", ["a.jsonl", "a.jsonl.gz", "a.json", "a.ndjson", "a.txt", "a.log", "a", "a.parquet.bak"]
)
@pytest.mark.parametrize("compression", [None, *COMPRESS])
def test_compression_is_told_by_the_bytes(tmp_path: Path, read_file, name: str, compression: str | None) -> None:
    path = tmp_path / name
    path.write_bytes(COMPRESS[compression](LINES) if compression else LINES)
    read = read_file(path, split_bytes=4)
    assert (read.rows, read.positions, read.rejects) == (ROWS, POSITIONS, [])
    assert len(read.stats) == (1 if compression else -(-len(LINES) // 4))


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(LINES[:5]) + gzip.compress(b"") + gzip.compress(LINES[5:]),
        gzip.compress(LINES) + b"\0" * 512,
        zstd(LINES[:5]) + SKIPPABLE + zstd(LINES[5:]),
        SKIPPABLE + zstd(LINES),
        bz2.compress(LINES[:5]) + bz2.compress(LINES[5:]),
    ],
)
def test_several_members_are_one_stream(tmp_path: Path, read_file, data: bytes) -> None:
    path = tmp_path / "a"
    path.write_bytes(data)
    read = read_file(path)
    assert (read.rows, read.positions, read.rejects) == (ROWS, POSITIONS, [])


@pytest.mark.parametrize("compression", COMPRESS)
def test_a_stream_that_expands_much_is_read_in_steps(tmp_path: Path, read_file, compression: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(COMPRESS[compression](b'{"a": 1}\n' + b" " * (50 << 20) + b'\n{"a": 2}\n'))
    read = read_file(path, max_record_bytes=1 << 20)
    assert (read.rows, read.codes) == ([{"a": 1}, {"a": 2}], [("too_long", "9")])


def noisy_lines() -> bytes:
    noise = random.Random(0)
    return b"".join(b'{"a": "%x"}\n' % noise.getrandbits(320) for _ in range(30_000))


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("damage", ["cut off", "overwritten"])
def test_a_stream_that_breaks_keeps_the_rows_before(tmp_path: Path, read_file, compression: str, damage: str) -> None:
    lines = noisy_lines()
    data = COMPRESS[compression](lines)
    middle = len(data) // 2
    path = tmp_path / "a"
    path.write_bytes(data[:middle] + (b"" if damage == "cut off" else b"\xff" * 4096 + data[middle + 4096 :]))
    read = read_file(path)
    # The damage may show only at the checksum at the end; until then, what is no row is a reject with its position.
    codes = [code for code, position in read.codes if position is None]
    assert codes == ["bad_compression"]
    assert read.stats == [FileStats(str(path), len(read.records) + len(read.rejects), 0, 1)]
    assert 1000 < len(read.records) < 30_000
    first = [f'{{"a": "{row["a"]}"}}' for row in read.rows[:1000]]
    assert first == lines.decode().split("\n")[:1000]


def test_an_array_whose_stream_breaks_keeps_the_elements_before(tmp_path: Path, read_file) -> None:
    rows = [{"a": line} for line in noisy_lines().decode().splitlines()[:5000]]
    data = gzip.compress(json.dumps(rows, indent=1).encode())
    path = tmp_path / "a.json.gz"
    path.write_bytes(data[: len(data) // 2])
    read = read_file(path)
    assert read.codes == [("bad_compression", None)]
    assert read.rows == rows[: len(read.rows)]
    assert len(read.rows) > 1000


@pytest.mark.parametrize("data", [gzip.compress(LINES)[:-5], gzip.compress(LINES) + b"trailing"])
def test_a_gzip_that_does_not_end_well(tmp_path: Path, read_file, data: bytes) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(data)
    read = read_file(path)
    assert (read.rows, read.codes) == (ROWS, [("bad_compression", None)])


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("compression", [None, "gzip"])
def test_encodings_by_their_mark(tmp_path: Path, read_file, encoding: str, compression: str | None) -> None:
    text = '{"a": "\u010a\u0a0a😀"}\r\n\r\n{"a": 2}\n{oops'
    marked = text if encoding in ("utf-8-sig", "utf-16") else "\ufeff" + text
    data = marked.encode(encoding)
    path = tmp_path / "a.jsonl"
    path.write_bytes(COMPRESS[compression](data) if compression else data)
    read = read_file(path, split_bytes=3)
    assert read.rows == [{"a": "\u010a\u0a0a😀"}, {"a": 2}]
    codec = "utf-8" if encoding == "utf-8-sig" else "utf-16-le"
    second = len(("\ufeff" + text[: text.index('{"a": 2')]).encode(codec))
    assert read.positions == ["0", str(second)]
    assert read.codes == [("invalid_json", str(second + len('{"a": 2}\n'.encode(codec))))]
    assert read.rejects[0].raw == "{oops"
    assert sum(stats.blank for stats in read.stats) == 1


def test_unpaired_surrogates_in_utf16_are_replaced(tmp_path: Path, read_file) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xff\xfe" + '{"a": "x\ud800"}\n{"a": 1}'.encode("utf-16-le", "surrogatepass") + b"\x00")
    read = read_file(path)
    assert read.rows == [{"a": "x\ufffd"}]
    assert read.records[0].notes == ("surrogates_replaced",)
    assert [code for code, _ in read.codes] == ["invalid_utf8"]


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        *((f"a.{suffix}", b"x,y\n1,2\n", "unsupported_format") for suffix in ("csv", "TSV", "xlsx", "avro", "orc")),
        ("a.csv.gz", gzip.compress(b"x,y\n"), "unsupported_format"),
        ("a.csv.gz", b"x,y\n", "unsupported_format"),
        ("a.jsonl", b"PK\x03\x04rest", "unsupported_format"),
        ("a.jsonl", b"\xfd7zXZ\x00rest", "unsupported_format"),
        ("a.gz", gzip.compress(b"PAR1...."), "unsupported_format"),
        ("a.gz", gzip.compress(gzip.compress(LINES)), "unsupported_format"),
        ("a.parquet", LINES, "not_parquet"),
        ("a.parquet", gzip.compress(LINES), "not_parquet"),
        ("a.jsonl", b"PAR1 and no more", "not_parquet"),
        ("a.jsonl", "\ufeff{}".encode("utf-32-le"), "unsupported_encoding"),
        ("a.jsonl", "\ufeff{}".encode("utf-32-be"), "unsupported_encoding"),
        ("a.jsonl", "{}".encode("utf-16-le"), "unsupported_encoding"),
        ("a.jsonl", "{}".encode("utf-16-be"), "unsupported_encoding"),
        ("a.jsonl.gz", gzip.compress("\ufeff{}".encode("utf-32-le")), "unsupported_encoding"),
        ("a.gz", b"\x1f\x8b", "bad_compression"),
        ("a.gz", b"\x1f\x8b\xff\xff garbage", "bad_compression"),
        ("a.zst", b"\x28\xb5\x2f\xfd garbage", "bad_compression"),
        ("a.bz2", bz2.compress(LINES)[:12], "bad_compression"),
        ("a.parquet", b"", "not_parquet"),
        ("a.gz.parquet", b"", "not_parquet"),
        *((f"a.jsonl.{suffix}", b"", "bad_compression") for suffix in ("gz", "ZST", "bz2")),
    ],
)
def test_a_file_that_cannot_be_read_is_one_reject(tmp_path: Path, read_file, name: str, data: bytes, code: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    read = read_file(path, split_bytes=2)
    assert (read.rows, read.codes) == ([], [(code, None)])
    assert read.stats == [FileStats(str(path), records=1, blank=0, bad_files=1)]
    assert read.rejects[0].reason
    assert "\n" not in read.rejects[0].reason


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a", "a.csv"])
def test_a_file_of_no_bytes_has_no_rows(tmp_path: Path, read_file, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"")
    read = read_file(path)
    assert (read.records, read.rejects, read.stats) == ([], [], [FileStats(str(path), 0, 0, 0)])


@pytest.mark.parametrize("compression", COMPRESS)
def test_a_compressed_stream_of_nothing_has_no_rows(tmp_path: Path, read_file, compression: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(COMPRESS[compression](b""))
    assert read_file(path).stats == [FileStats(str(path), 0, 0, 0)]


def test_a_file_that_vanished_before_planning(tmp_path: Path) -> None:
    (part,) = plan_ranges(InputFile(str(tmp_path / "gone.jsonl"), 100, None), split_bytes=10)
    reject, stats = read_range(part, 1000)
    assert isinstance(reject, Reject)
    assert (reject.code, reject.source_position) == ("unreadable_file", None)
    assert "No such file" in reject.reason
    assert stats == FileStats(part.path, records=1, blank=0, bad_files=1)


def test_a_file_that_vanished_before_reading(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(LINES)
    (part,) = plan_ranges(*match_files([str(path)]))
    path.unlink()
    reject, stats = read_range(part, 1000)
    assert isinstance(reject, Reject)
    assert reject.code == "unreadable_file"
    assert stats == FileStats(str(path), records=1, blank=0, bad_files=1)


def test_a_file_that_grew_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1}\n')
    (file,) = match_files([str(path)])
    path.write_bytes(b'{"a": 1}\n' * 5)
    parts = list(plan_ranges(file, split_bytes=4))
    assert sum(isinstance(item, SourceRecord) for part in parts for item in read_range(part, 1000)) == 5
