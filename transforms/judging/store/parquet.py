"""Verdicts as Parquet: segments, which are read whole, and parts, which are read a row group at a time."""

import io
import logging
from collections.abc import Mapping
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from beamjudge.schemas.tables.verdicts import VERDICTS_SCHEMA, has_own_columns, own_columns, trusted_rows
from beamjudge.transforms.judging.store.files import Damaged, checked

_LOGGER = logging.getLogger(__name__)
# Rows that are read together: the row groups of every file have this many, but for a file's last.
GROUP_ROWS = 2048
# What reading a damaged Parquet file may end with.
UNREADABLE = (pa.ArrowException, OSError, ValueError)
# Columns with few values; a dictionary of the others would only cost room.
_DICTIONARY = ["judge", "judge_hash", "model", "rating", "run_id", "notes.list.element"]


def encode(table: pa.Table, metadata: Mapping[str, str]) -> bytes:
    """The table as a segment's content, with what a person may want to know of its origin."""
    buffer = io.BytesIO()
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), **metadata})
    with new_writer(buffer, table.schema) as writer:
        writer.write_table(table, GROUP_ROWS)
    return buffer.getvalue()


def new_writer(sink: IO[bytes], schema: pa.Schema) -> pq.ParquetWriter:
    """A writer of verdicts, whose pages have checksums."""
    return pq.ParquetWriter(
        sink,
        schema,
        compression="zstd",
        use_dictionary=_DICTIONARY,
        write_statistics=False,
        write_page_checksum=True,
    )


def open_verdicts(source: IO[bytes] | pa.BufferReader) -> pq.ParquetFile:
    """A Parquet file that has the columns of verdicts. Raises Damaged."""
    try:
        file = pq.ParquetFile(source, page_checksum_verification=True)
        is_ours = has_own_columns(file.schema_arrow)
    except UNREADABLE as error:
        raise Damaged(f"it is no Parquet file ({type(error).__name__})") from None
    if not is_ours:
        raise Damaged("its columns are not those of verdicts")
    return file


def read_group(file: pq.ParquetFile, group: int) -> pa.Table:
    """The verdicts of one row group. Raises Damaged."""
    try:
        return own_columns(file.read_row_group(group, use_threads=False))
    except UNREADABLE as error:
        raise Damaged(f"its row group {group} cannot be read ({type(error).__name__})") from None


def decode(name: str, content: bytes) -> pa.Table:
    """The verdicts of a segment, all of them. Raises Damaged."""
    file = open_verdicts(pa.BufferReader(checked(name, content)))
    groups = [read_group(file, group) for group in range(file.num_row_groups)]
    return pa.concat_tables([VERDICTS_SCHEMA.empty_table(), *groups])


def decode_keys(source: IO[bytes] | pa.BufferReader) -> list[str | None]:
    """The keys of a segment or part, in the order of its rows. Raises Damaged."""
    file = open_verdicts(source)
    try:
        keys: list[str | None] = file.read(columns=["key"], use_threads=False)["key"].to_pylist()
    except UNREADABLE as error:
        raise Damaged(f"its keys cannot be read ({type(error).__name__})") from None
    return keys


def trust(path: str, table: pa.Table) -> pa.Array:
    """Which rows can be verdicts; how many cannot be is logged."""
    trusted = trusted_rows(table)
    if trusted.true_count < len(table):
        _LOGGER.warning("%s: %d rows are no verdicts and are not used", path, len(table) - trusted.true_count)
    return trusted
