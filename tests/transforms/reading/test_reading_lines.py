"""Every line exactly once, at its offset, wherever a file is split."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beamjudge.schemas.record import FileStats, InputFile, Reject, SourceRecord
from beamjudge.transforms.reading import streams
from beamjudge.transforms.reading.lines import split_lines
from beamjudge.transforms.reading.ranges import plan_ranges, read_range

LINE_TEXT = st.sampled_from(["", " ", "{}", '{"a": 1}', '{"é": "\u2028 \u0085 😀"}', "ä", "\r", "[", '"', "broken {"])


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.tuples(LINE_TEXT, st.sampled_from(["\n", "\r\n"])), max_size=12),
    tail=LINE_TEXT,
    bom=st.booleans(),
    split_bytes=st.integers(1, 40),
)
def test_every_line_once_at_any_split(
    tmp_path: Path, lines: list[tuple[str, str]], tail: str, bom: bool, split_bytes: int
) -> None:
    # A first character [ may make it an array, which is not split.
    lines = [('{"first": 0}', "\n"), *lines]
    path = tmp_path / "lines.jsonl"
    data = (b"\xef\xbb\xbf" if bom else b"") + ("".join(text + end for text, end in lines) + tail).encode()
    path.write_bytes(data)

    expected = []
    offset = 0
    for piece in data.split(b"\n"):
        if piece.strip(b"\xef\xbb\xbf \r"):
            expected.append(str(offset))
        offset += len(piece) + 1
    blank = len(data.split(b"\n")) - len(expected) - (data.endswith(b"\n"))

    items = [
        item
        for part in plan_ranges(InputFile(str(path), len(data), None), split_bytes)
        for item in read_range(part, 1000)
    ]
    assert [item.source_position for item in items if not isinstance(item, FileStats)] == expected
    stats = [item for item in items if isinstance(item, FileStats)]
    assert sum(item.blank for item in stats) == blank
    assert sum(item.records for item in stats) == len(expected) + blank
    first = next(item for item in items if isinstance(item, SourceRecord))
    assert first.data == {"first": 0}


@settings(max_examples=60, deadline=None)
@given(
    text=st.text(st.sampled_from("a\n\r\u010a\u0a0a\u0a00\u000a😀"), max_size=40),
    encoding=st.sampled_from(["utf-8", "utf-16-le", "utf-16-be"]),
    chunk_bytes=st.integers(1, 7),
)
def test_lines_of_a_stream_in_any_chunks(text: str, encoding: str, chunk_bytes: int) -> None:
    data = text.encode(encoding)
    chunks = [data[start : start + chunk_bytes] for start in range(0, len(data), chunk_bytes)]
    expected = []
    offset = 0
    for piece in text.split("\n"):
        raw = piece.encode(encoding)
        expected.append((offset, raw, len(raw)))
        offset += len(raw) + len("\n".encode(encoding))
    if not expected[-1][1]:
        expected.pop()
    assert list(split_lines(chunks, 1000, encoding=encoding)) == expected


def test_a_line_over_the_limit_is_not_held() -> None:
    def chunks():
        yield b"ok\nlong"
        for _ in range(1000):
            yield b"x" * 100_000
        yield b"end\nlast"

    lines = list(split_lines(chunks(), 1_000_000))
    assert [(offset, size) for offset, _, size in lines] == [(0, 2), (3, 100_000_007), (100_000_011, 4)]
    assert len(lines[1][1]) == 64 * 1024
    assert lines[1][1].startswith(b"longx")


def test_a_line_that_is_too_long_is_one_reject(tmp_path: Path, read_file) -> None:
    path = tmp_path / "long.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": "' + "é".encode() * 100_000 + b'"}\n{"a": 2}\n')
    for split_bytes in (1 << 20, 5000):
        read = read_file(path, split_bytes, max_record_bytes=100_000)
        assert read.rows == [{"a": 1}, {"a": 2}]
        assert read.codes == [("too_long", "9")]
        # 7 bytes of JSON, then whole characters of two bytes: 65,536 - 7 is odd.
        assert read.rejects[0].raw == '{"a": "' + "é" * ((65_536 - 7) // 2)
        assert read.rejects[0].reason == "200,009 bytes; at most 100,000"


def test_a_line_of_exactly_the_limit_is_read(tmp_path: Path, read_file) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n{"a": 12}\n')
    assert read_file(path, max_record_bytes=8).codes == [("too_long", "9")]
    assert read_file(path, max_record_bytes=9).codes == []


def counted(read: Callable[..., bytes], sizes: list[int]) -> Callable[..., bytes]:
    def reading(*args: object) -> bytes:
        chunk = read(*args)
        sizes.append(len(chunk))
        return chunk

    return reading


def test_reading_is_linear_in_the_length_of_a_line(tmp_path: Path, read_file, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: the bytes read of a line of 8 MB over 64 ranges stay near the bytes there are."""
    path = tmp_path / "long.jsonl"
    size = 8 << 20
    path.write_bytes(b'{"a": "' + b"x" * size + b'"}\n{"b": 1}\n')
    sizes: list[int] = []
    monkeypatch.setattr(streams, "_read", counted(streams._read, sizes))
    read = read_file(path, split_bytes=size // 64)
    assert len(read.rows) == 2
    assert sum(sizes) < 2.5 * size


def test_only_lf_and_crlf_end_lines(tmp_path: Path, read_file) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"a": "x\u2028y\u0085z"}\r\n{"a": 1}\r{"a": 2}\n\x0b\x0c\n\u3000\n'.encode())
    read = read_file(path)
    assert read.rows == [{"a": "x\u2028y\u0085z"}]
    assert [reject.code for reject in read.rejects] == ["invalid_json"]
    assert read.stats[0].blank == 2


def test_marks_at_the_start_of_later_lines_are_no_fault(tmp_path: Path, read_file) -> None:
    """As in files with a byte-order mark that were put together."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\n\xef\xbb\xbf{"a": 2}\n\xef\xbb\xbf\n')
    read = read_file(path)
    assert (read.rows, read.positions, read.stats[0].blank) == ([{"a": 1}, {"a": 2}], ["0", "12"], 1)


def test_bad_lines_are_rejects_with_position_and_raw_text(tmp_path: Path, read_file) -> None:
    path = tmp_path / "a.jsonl"
    deep = "[" * 300 + "]" * 300
    lines = [b'{"a": 1}', b"{oops}\r", b"[1]", b'{"a": "\xff"}', b'{"a": ' + deep.encode() + b"}", b'{"a": 2}']
    path.write_bytes(b"\n".join(lines))
    read = read_file(path)
    assert read.rows == [{"a": 1}, {"a": 2}]
    assert read.codes == [("invalid_json", "9"), ("not_an_object", "17"), ("invalid_utf8", "21"), ("too_deep", "32")]
    assert [reject.raw for reject in read.rejects] == ["{oops}\r", "[1]", '{"a": "\ufffd"}', f'{{"a": {deep}}}']
    assert all(isinstance(reject, Reject) and reject.reason for reject in read.rejects)


def test_partition_columns_yield_to_the_row(tmp_path: Path, read_file) -> None:
    folder = tmp_path / "model=m" / "dt=1"
    folder.mkdir(parents=True)
    path = folder / "a.jsonl"
    path.write_text('{"a": 1}\n{"dt": null}\n')
    assert read_file(path).rows == [{"model": "m", "dt": "1", "a": 1}, {"model": "m", "dt": None}]
