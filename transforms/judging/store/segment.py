"""Segments: verdicts as one worker process had them, as a Parquet file that is read whole or not at all."""

import io
import logging
from collections.abc import Mapping
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from beamjudge.schemas.tables.verdicts import trusted_rows, with_own_columns
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


def decode(name: str, content: bytes) -> pa.Table:
    """The rows of a segment, all of them. Raises Damaged."""
    try:
        table = pq.read_table(pa.BufferReader(checked(name, content)), page_checksum_verification=True)
    except UNREADABLE as error:
        raise Damaged(f"it is no Parquet file ({type(error).__name__})") from None
    own = with_own_columns(table)
    if own is None:
        raise Damaged("its columns are not those of verdicts")
    return own


def without_untrusted(name: str, table: pa.Table) -> pa.Table:
    """The rows that can be verdicts; how many cannot be is logged."""
    trusted = trusted_rows(table)
    if trusted.true_count < len(table):
        _LOGGER.warning("%s: %d rows are no verdicts and are not used", name, len(table) - trusted.true_count)
        return table.filter(trusted)
    return table
