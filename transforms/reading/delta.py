"""Delta Lake tables: the files of one version, as the table's log names them.

Source: github.com/delta-io/delta, PROTOCOL.md. The files are Parquet and read like any others; what the log alone knows
of them (rows deleted by vectors, columns under other names) is not, so that a table with that is refused.
"""

import os
from importlib import import_module
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from apache_beam.io.filesystems import FileSystems

from beamjudge.schemas.errors import UsageError
from beamjudge.schemas.record import InputFile
from beamjudge.transforms.reading.faults import one_line

PREFIX = "delta:"


def delta_files(pattern: str, folder: str, version: int | None) -> list[InputFile]:
    """The files of the table in `folder`, at `version` or the latest one. `pattern` is what the user gave.

    Raises UsageError where the extra is missing, there is no such table or version, or its files alone do not tell what
    its rows are.
    """
    try:
        deltalake = import_module("deltalake")
    except ImportError:
        raise UsageError(
            f"--input: {pattern!r} needs the package deltalake; install it with pip install 'beamjudge[delta]'"
        ) from None
    if FileSystems.get_scheme(folder) is None and not os.path.isdir(folder):
        what = "names a file" if os.path.exists(folder) else "names a folder that does not exist"
        raise UsageError(f"--input: {pattern!r} {what}; expected the folder of a Delta table")
    try:
        if version is not None and version > (latest := deltalake.DeltaTable(folder).version()):
            raise UsageError(f"--input: {pattern!r}: there is no such version; the latest version is {latest}")
        table = deltalake.DeltaTable(folder, version=version)
        check_readable(pattern, table)
        actions = pa.table(table.get_add_actions(flatten=True))
    except deltalake.exceptions.DeltaError as error:
        raise UsageError(
            f"--input: {pattern!r} cannot be read as a Delta table ({one_line(error)}); expected delta:FOLDER or "
            "delta:FOLDER@VERSION"
        ) from None
    columns = (actions.column(name).to_pylist() for name in ("path", "size_bytes", "modification_time"))
    return [
        InputFile(_location(folder, path), size, modified / 1000) for path, size, modified in zip(*columns, strict=True)
    ]


def split_version(pattern: str) -> tuple[str, int | None]:
    """The folder and the version of `delta:FOLDER[@VERSION]`."""
    folder = pattern.removeprefix(PREFIX)
    before, at, version = folder.rpartition("@")
    return (before, int(version)) if at and version.isascii() and version.isdigit() else (folder, None)


def check_readable(pattern: str, table: Any) -> None:
    """Raises UsageError for a table whose Parquet files hold more rows, or other columns, than the table has."""
    mapping = table.metadata().configuration.get("delta.columnMapping.mode", "none")
    if mapping != "none":
        raise UsageError(
            f"--input: {pattern!r} maps columns to other names in its files (delta.columnMapping.mode = {mapping}), "
            "which is not read; expected a copy of the table without, such as CREATE TABLE ... AS SELECT makes"
        )
    if "deletionVectors" in (table.protocol().reader_features or ()):
        vectors = pa.RecordBatchReader.from_stream(table.deletion_vectors())
        if any(batch.num_rows for batch in vectors):
            raise UsageError(
                f"--input: {pattern!r} has rows that are deleted by deletion vectors, which are not read; "
                "expected a table after REORG TABLE ... APPLY (PURGE)"
            )


def _location(folder: str, path: str) -> str:
    """A path of the log, which is percent-encoded and relative to the table unless it is a URI."""
    decoded = unquote(path)
    return decoded if "://" in path or path.startswith("/") else f"{folder.rstrip('/')}/{decoded}"
