import datetime as dt
import decimal
import json
import threading
import uuid
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beamjudge.schemas.record import FileStats, InputFile
from beamjudge.transforms.reading import parquet
from beamjudge.transforms.reading.parquet_values import ColumnConverter, clean_row
from beamjudge.transforms.reading.ranges import plan_ranges, read_range

BERLIN = dt.timezone(dt.timedelta(hours=2))
MOMENT = dt.datetime(2026, 7, 1, 14, 30, 5, 123456, tzinfo=BERLIN)

# (name, array, JSON values): what JSON has no type for, and every nesting.
COLUMNS: list[tuple[str, pa.Array, list[Any]]] = [
    ("string", pa.array(["a", None, "é\u2028"]), ["a", None, "é\u2028"]),
    ("large_string", pa.array(["a", None, ""], pa.large_string()), ["a", None, ""]),
    ("dictionary", pa.array(["x", None, "x"]).dictionary_encode(), ["x", None, "x"]),
    ("binary", pa.array([b"a", None, "é".encode()], pa.binary()), ["a", None, "é"]),
    ("large_binary", pa.array([b"a", None, b""], pa.large_binary()), ["a", None, ""]),
    ("fixed_binary", pa.array([b"ab", None, b"cd"], pa.binary(2)), ["ab", None, "cd"]),
    ("null", pa.nulls(3), [None, None, None]),
    ("bool", pa.array([True, None, False]), [True, None, False]),
    ("int8", pa.array([-1, None, 1], pa.int8()), [-1, None, 1]),
    ("uint64", pa.array([2**64 - 1, None, 0], pa.uint64()), [2**64 - 1, None, 0]),
    ("float64", pa.array([0.1, None, -1e300]), [0.1, None, -1e300]),
    ("float32", pa.array([0.5, None, 2.0], pa.float32()), [0.5, None, 2.0]),
    ("decimal_integer", pa.array([decimal.Decimal(10) ** 37, None, 5], pa.decimal128(38, 0)), [10**37, None, 5]),
    (
        "decimal",
        pa.array([decimal.Decimal("0.10"), None, decimal.Decimal("7.00")], pa.decimal128(10, 2)),
        [0.1, None, 7],
    ),
    (
        "timestamp_s",
        pa.array([1_700_000_000, None, 0], pa.timestamp("s")),
        ["2023-11-14T22:13:20", None, "1970-01-01T00:00:00"],
    ),
    (
        "timestamp_zone",
        pa.array([MOMENT, None, MOMENT], pa.timestamp("us", "Europe/Berlin")),
        ["2026-07-01T12:30:05.123456+00:00", None, "2026-07-01T12:30:05.123456+00:00"],
    ),
    (
        "timestamp_ns",
        pa.array([1_700_000_000_123_456_789, None, -1], pa.timestamp("ns")),
        ["2023-11-14T22:13:20.123456789", None, "1969-12-31T23:59:59.999999999"],
    ),
    ("date32", pa.array([dt.date(2026, 1, 31), None, dt.date(1969, 12, 31)]), ["2026-01-31", None, "1969-12-31"]),
    (
        "date64",
        pa.array([dt.date(2026, 1, 31), None, dt.date(1, 1, 1)], pa.date64()),
        ["2026-01-31", None, "0001-01-01"],
    ),
    ("time32", pa.array([dt.time(1, 2, 3), None, dt.time(23, 59, 59)], pa.time32("s")), ["01:02:03", None, "23:59:59"]),
    (
        "time64",
        pa.array([dt.time(1, 2, 3, 45), None, dt.time(0)], pa.time64("us")),
        ["01:02:03.000045", None, "00:00:00.000000"],
    ),
    ("duration", pa.array([1_500_000, None, -250_000], pa.duration("us")), [1.5, None, -0.25]),
    (
        "struct",
        pa.array(
            [{"a": 1, "t": MOMENT}, None, {"a": None, "t": None}],
            pa.struct([("a", pa.int64()), ("t", pa.timestamp("ms", "UTC"))]),
        ),
        [{"a": 1, "t": "2026-07-01T12:30:05.123+00:00"}, None, {"a": None, "t": None}],
    ),
    (
        "list_struct",
        pa.array(
            [[{"doc_uri": "d1", "score": None}, None], None, []],
            pa.list_(pa.struct([("doc_uri", pa.string()), ("score", pa.null())])),
        ),
        [[{"doc_uri": "d1", "score": None}, None], None, []],
    ),
    ("list_null", pa.array([[None], None, []], pa.list_(pa.null())), [[None], None, []]),
    ("list_list", pa.array([[["a"], []], None, [None]], pa.list_(pa.list_(pa.string()))), [[["a"], []], None, [None]]),
    ("large_list", pa.array([[b"x"], None, []], pa.large_list(pa.binary())), [["x"], None, []]),
    ("fixed_list", pa.array([[0.5, 1.5], None, [2.5, 3.5]], pa.list_(pa.float32(), 2)), [[0.5, 1.5], None, [2.5, 3.5]]),
    (
        "list_view",
        pa.ListViewArray.from_arrays([2, 0, 0], [1, 3, 3], [1, 2, 3], mask=pa.array([False, True, False])),
        [[3], None, [1, 2, 3]],
    ),
    (
        "map",
        pa.array([[("en", ["r1", "r2"])], None, []], pa.map_(pa.string(), pa.list_(pa.string()))),
        [{"en": ["r1", "r2"]}, None, {}],
    ),
    (
        "map_integer",
        pa.array([[(1, "a"), (2, None)], None, []], pa.map_(pa.int32(), pa.string())),
        [{"1": "a", "2": None}, None, {}],
    ),
]


@pytest.mark.parametrize(("array", "expected"), [case[1:] for case in COLUMNS], ids=[case[0] for case in COLUMNS])
def test_column_types(array: pa.Array, expected: list[Any]) -> None:
    converter = ColumnConverter()
    assert converter.convert(array) == expected
    assert not converter.flawed
    # A slice of an array knows its own part only.
    assert converter.convert(array.slice(1)) == expected[1:]
    assert converter.convert(array.slice(2, 1)) == expected[2:]
    assert converter.convert(array.slice(0, 0)) == []
    json.dumps(expected, allow_nan=False)


def test_all_column_types_from_a_file(tmp_path: Path, read_file) -> None:
    path = tmp_path / "all.parquet"
    # Arrow cannot read back a null in a list of fixed size, and Parquet has no unit of seconds.
    columns = [column for column in COLUMNS if column[0] not in ("fixed_list", "timestamp_s", "time32")]
    pq.write_table(pa.table({name: array for name, array, _ in columns}), path)
    read = read_file(path)
    for name, _, expected in columns:
        assert [row[name] for row in read.rows] == expected, name
    assert read.positions == ["0:0", "0:1", "0:2"]
    assert all(record.notes == () for record in read.records)


LISTS = {
    "list": pa.list_,
    "large_list": pa.large_list,
    "list_view": pa.list_view,
    "large_list_view": pa.large_list_view,
    "fixed_list": lambda value_type: pa.list_(value_type, 2),
}


@pytest.mark.parametrize("kind", LISTS)
def test_what_stands_in_lists_of_every_kind(tmp_path: Path, read_file, kind: str) -> None:
    day, price = dt.date(2026, 1, 31), decimal.Decimal("0.10")
    values = {
        "dates": ([day, None], pa.date32(), ["2026-01-31", None]),
        "floats": ([float("nan"), 0.5], pa.float64(), [None, 0.5]),
        "texts": ([b"a", "é".encode()], pa.binary(), ["a", "é"]),
        "noise": ([b"\xff", b"a"], pa.binary(), [None, "a"]),
        "prices": ([price, decimal.Decimal("7.00")], pa.decimal128(10, 2), [0.1, 7]),
    }
    columns = {name: pa.array([given], LISTS[kind](inner)) for name, (given, inner, _) in values.items()}
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path)
    (record,) = read_file(path).records
    assert record.data == {name: expected for name, (_, _, expected) in values.items()}
    assert record.notes == ("binary_to_null", "non_finite_to_null")


def test_uuid() -> None:
    value = uuid.UUID("12345678-1234-5678-1234-567812345678")
    array = pa.array([value.bytes, None], pa.uuid())
    assert ColumnConverter().convert(array) == [str(value), None]


def test_what_json_cannot_hold_is_noted(tmp_path: Path, read_file) -> None:
    path = tmp_path / "a.parquet"
    exact = decimal.Decimal("0.12345678901234567890123")
    table = pa.table(
        {
            "f": pa.array([float("nan"), 1.5, None, 2.5]),
            "nested": pa.array([[{"x": 1.0}], [{"x": float("-inf")}], None, [{"x": 2.0}]]),
            "d": pa.array([None, None, exact, decimal.Decimal("0.5")], pa.decimal128(38, 23)),
        }
    )
    pq.write_table(table, path)
    read = read_file(path)
    assert read.rows == [
        {"f": None, "nested": [{"x": 1.0}], "d": None},
        {"f": 1.5, "nested": [{"x": None}], "d": None},
        {"f": None, "nested": None, "d": str(exact)},
        {"f": 2.5, "nested": [{"x": 2.0}], "d": 0.5},
    ]
    notes = [record.notes for record in read.records]
    assert notes == [("non_finite_to_null",), ("non_finite_to_null",), ("number_to_string",), ()]


def test_a_binary_value_that_is_no_text_rejects_its_row(tmp_path: Path, read_file) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ["r0", "r1", "r2"], "response": [b"ok", b"caf\xe9", None]}), path)
    read = read_file(path)
    assert read.rows == [{"id": "r0", "response": "ok"}, {"id": "r2", "response": None}]
    assert read.codes == [("invalid_utf8", "0:1")]
    assert read.rejects[0].raw == '{"id": "r1", "response": "caf\\ufffd"}'.replace("\\ufffd", "\ufffd")


def test_text_columns_whose_bytes_are_no_text() -> None:
    broken = pa.StringArray.from_buffers(2, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0"), pa.py_buffer(b"a\xff"))
    converter = ColumnConverter()
    values = converter.convert(broken)
    assert values[0] == "a"
    assert converter.flawed
    assert clean_row({"text": values[0]}, ()) == ({"text": "a"}, ())


def test_json_text_stays_text_and_partition_columns_come_in(tmp_path: Path, read_file) -> None:
    folder = tmp_path / "dt=2026-01-31" / "model=m"
    folder.mkdir(parents=True)
    path = folder / "a.parquet"
    pq.write_table(pa.table({"request": ['{"messages": []}'], "model": ["own"]}), path)
    assert read_file(path).rows == [{"dt": "2026-01-31", "model": "own", "request": '{"messages": []}'}]


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd", "brotli", "lz4"])
def test_row_groups_are_ranges(tmp_path: Path, read_file, codec: str) -> None:
    path = tmp_path / "no_suffix"
    pq.write_table(pa.table({"n": range(1000), "s": ["x"] * 1000}), path, row_group_size=90, compression=codec)
    for split_bytes, ranges in ((1, 12), (1 << 20, 1)):
        read = read_file(path, split_bytes)
        assert len(read.stats) == ranges
        assert [row["n"] for row in read.rows] == list(range(1000))
        assert read.positions == [f"{n // 90}:{n % 90}" for n in range(1000)]


def test_small_row_groups_are_merged(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": range(1000)}), path, row_group_size=100, compression="none", use_dictionary=False)
    metadata = pq.read_metadata(path)
    group_bytes = metadata.row_group(0).column(0).total_compressed_size
    parts = plan_ranges(InputFile(str(path), path.stat().st_size, None), split_bytes=group_bytes * 3 + 10)
    assert [(part.start, part.stop) for part in parts] == [(0, 3), (3, 6), (6, 9), (9, 10)]


@pytest.mark.parametrize("table", [pa.table({"a": pa.array([], pa.string())}), pa.table({})])
def test_no_rows(tmp_path: Path, read_file, table: pa.Table) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(table, path)
    assert read_file(path).stats == [FileStats(str(path), 0, 0, 0)]


def test_rows_before_a_broken_page_are_kept(tmp_path: Path, read_file) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"n": range(1000), "s": [f"text {n * 7919 % 1000}" for n in range(1000)]})
    pq.write_table(table, path, row_group_size=250, compression="zstd", use_dictionary=False)
    column = pq.read_metadata(path).row_group(2).column(1)
    data = bytearray(path.read_bytes())
    middle = column.data_page_offset + column.total_compressed_size // 2
    data[middle : middle + 50] = b"\xff" * 50
    path.write_bytes(data)
    read = read_file(path)
    assert [row["n"] for row in read.rows] == list(range(500))
    assert read.codes == [("not_parquet", None)]
    assert read.stats == [FileStats(str(path), 501, 0, 1)]
    assert "row group 2" in read.rejects[0].reason


def test_a_cut_off_file_is_one_reject(tmp_path: Path, read_file) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": range(1000)}), path)
    path.write_bytes(path.read_bytes()[:-100])
    read = read_file(path)
    assert (read.rows, read.codes) == ([], [("not_parquet", None)])


def test_wide_rows_come_in_small_batches(tmp_path: Path, read_file, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"s": [f"{n}" + "x" * 2_000_000 for n in range(12)]}), path, compression="zstd")
    sizes: list[int] = []
    batches = pq.ParquetFile.iter_batches

    def spy(self: pq.ParquetFile, *args: Any, **options: Any) -> Any:
        for batch in batches(self, *args, **options):
            sizes.append(batch.num_rows)
            yield batch

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", spy)
    assert len(read_file(path).rows) == 12
    assert max(sizes) <= 2


@pytest.mark.parametrize(
    "table",
    [
        pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["request", "request"]),
        pa.table({"request": pa.StructArray.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["x", "x"])}),
        pa.table(
            {
                "request": pa.ListArray.from_arrays(
                    [0, 1], pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
                )
            }
        ),
    ],
)
def test_two_columns_of_one_name_make_a_file_unreadable(tmp_path: Path, read_file, table: pa.Table) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(table, path)
    records, rejects, _ = read_file(path)
    assert records == []
    (reject,) = rejects
    assert (reject.code, reject.source_position) == ("unreadable_file", None)
    name = "x" if len(table.schema.names) == 1 else "request"
    assert reject.reason == f"two columns or fields of one struct are named '{name}'; expected each name once"


def test_a_log_is_read_in_the_calling_thread_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Arrow's own threads let go of a Python stream after the interpreter's end, which aborts a short command.
    threads: set[int] = set()

    class Watched:
        def __init__(self, stream: BinaryIO) -> None:
            self._stream = stream

        def __getattr__(self, name: str) -> Any:
            threads.add(threading.get_ident())
            return getattr(self._stream, name)

    opened = parquet.open_file
    monkeypatch.setattr(parquet, "open_file", lambda path: Watched(opened(path)))
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({f"column {i}": ["q"] * 100 for i in range(20)}), path, row_group_size=10)
    parts = plan_ranges(InputFile(str(path), path.stat().st_size, None))
    items = [item for part in parts for item in read_range(part, 1 << 20)]
    assert len(items) == 101
    assert threads == {threading.get_ident()}
