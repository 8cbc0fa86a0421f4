"""Single files of a run, on any Beam filesystem, each written whole or not at all."""

import io
import json
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.io.filesystem import BeamIOError
from apache_beam.io.filesystems import FileSystems


def join(folder: str, *parts: str) -> str:
    path: str = FileSystems.join(folder, *parts)
    return path


def write_json(path: str, value: Any) -> None:
    """Write `value` as JSON; NaN is refused with a ValueError."""
    write_file(path, (json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode())


def write_parquet(path: str, records: Iterable[Mapping[str, Any]], schema: pa.Schema) -> None:
    """Write a small table, given as its rows."""
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(records), schema=schema), buffer, compression="zstd")
    write_file(path, buffer.getvalue())


def write_file(path: str, content: bytes) -> None:
    """Write `content` to a temporary name, then rename, so that no reader sees half a file."""
    folder = path.rpartition("/")[0]
    if folder and not FileSystems.exists(folder):
        FileSystems.mkdirs(folder)
    temporary = f"{path}.{uuid.uuid4().hex[:8]}.tmp"
    with FileSystems.create(temporary, mime_type="application/octet-stream") as stream:
        stream.write(content)
    try:
        FileSystems.rename([temporary], [path])
    except BeamIOError:
        # Most filesystems put the new file in the place of the old one; HDFS wants the old one gone first.
        FileSystems.delete([path])
        FileSystems.rename([temporary], [path])
