"""Parquet files by row groups: planning, and rows as records in small batches."""

import json
from collections.abc import Collection, Iterator
from contextlib import closing
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from beamjudge.schemas.record import FileRange, InputFile, Reject, SourceRecord
from beamjudge.transforms.progress import PROGRESS
from beamjudge.transforms.reading.faults import RAW_BYTES, BadRecord, UnreadableFile, one_line, raw_text
from beamjudge.transforms.reading.parquet_values import ColumnConverter, NotText, clean_row
from beamjudge.transforms.reading.streams import open_file

_BATCH_BYTES = 4 << 20
_BATCH_ROWS = 512
# Column chunks are read through buffers of this size, and not ahead as a whole: a row group may be larger than memory.
_BUFFER_BYTES = 1 << 20


def plan_parquet(file: InputFile, split_bytes: int) -> Iterator[FileRange]:
    """Ranges of whole row groups, neighbours together while they are below `split_bytes`; at least one range.

    Raises UnreadableFile (not_parquet, unreadable_file).
    """
    with closing(open_file(file.path)) as source:
        metadata = _open(source).metadata
        start = size = 0
        for group in range(metadata.num_row_groups):
            group_bytes = _compressed_bytes(metadata.row_group(group))
            if group > start and size + group_bytes > split_bytes:
                yield FileRange(file.path, start, group, file.size, "parquet")
                start, size = group, 0
            size += group_bytes
        yield FileRange(file.path, start, metadata.num_row_groups, file.size, "parquet")


def read_parquet(part: FileRange, text_columns: Collection[str]) -> Iterator[SourceRecord | Reject]:
    """The rows of the range's row groups; position `group:row`.

    Raises UnreadableFile where a row group cannot be read, after giving the rows before.
    """
    with closing(open_file(part.path)) as source:
        parquet = _open(source)
        stop = parquet.metadata.num_row_groups if part.stop is None else part.stop
        for group in range(part.start, stop):
            row = 0
            for batch in _batches(parquet, group):
                yield from _records(part.path, f"{group}:", row, batch, text_columns)
                row += batch.num_rows
            PROGRESS.add("bytes_read", _compressed_bytes(parquet.metadata.row_group(group)))


def _open(source: BinaryIO) -> pq.ParquetFile:
    try:
        parquet = pq.ParquetFile(source, buffer_size=_BUFFER_BYTES, pre_buffer=False)
        fields: list[pa.Field] = [*parquet.schema_arrow]
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UnreadableFile("not_parquet", one_line(error)) from error
    if (name := _name_of_two(fields)) is not None:
        raise UnreadableFile(
            "unreadable_file", f"two columns or fields of one struct are named {name[:100]!r}; expected each name once"
        )
    return parquet


def _name_of_two(fields: list[pa.Field]) -> str | None:
    """A name that two columns have, or two fields of one struct: which of them is meant, nobody can tell."""
    waiting = [fields]
    while waiting:
        siblings = waiting.pop()
        names = [str(field.name) for field in siblings]
        if len(set(names)) < len(names):
            return next(name for name in names if names.count(name) > 1)
        waiting += [[each.type.field(index) for index in range(each.type.num_fields)] for each in siblings]
    return None


def _batches(parquet: pq.ParquetFile, group: int) -> Iterator[pa.RecordBatch]:
    """The row group in batches of about 4 MB, so that wide rows do not fill the memory."""
    try:
        metadata = parquet.metadata.row_group(group)
        row_bytes = metadata.total_byte_size // max(metadata.num_rows, 1)
        batch_rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(row_bytes, 1)))
        yield from parquet.iter_batches(batch_rows, row_groups=[group], use_threads=False)
    except (pa.ArrowException, OSError, ValueError, IndexError) as error:
        raise UnreadableFile("not_parquet", f"row group {group}: {one_line(error)}") from error


def _records(
    path: str, group: str, first_row: int, batch: pa.RecordBatch, text_columns: Collection[str]
) -> Iterator[SourceRecord | Reject]:
    names = batch.schema.names
    converter = ColumnConverter()
    try:
        values = [converter.convert(column) for column in batch.columns]
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise UnreadableFile("not_parquet", f"row group {group[:-1]}: {one_line(error)}") from error
    # A file may have rows and no columns at all.
    rows = zip(*values, strict=True) if values else iter([()] * batch.num_rows)
    for row_number, row_values in enumerate(rows, first_row):
        data: dict[str, Any] = dict(zip(names, row_values, strict=True))
        notes: tuple[str, ...] = ()
        if converter.flawed:
            try:
                data, notes = clean_row(data, text_columns)
            except BadRecord as error:
                raw = raw_text(json.dumps(data, ensure_ascii=False, default=_shown)[:RAW_BYTES])
                yield Reject(path, f"{group}{row_number}", error.code, error.reason, raw)
                continue
        yield SourceRecord(path, f"{group}{row_number}", data, notes)


def _shown(value: NotText) -> str:
    """A binary value in a reject's raw text, as far as it is text."""
    return value.decode("utf-8", "replace")


def _compressed_bytes(group: pq.RowGroupMetaData) -> int:
    return sum(group.column(index).total_compressed_size for index in range(group.num_columns))
