"""Writes a generation: parts of sorted verdicts, then the index that makes them count."""

import contextlib
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from beamjudge.schemas.tables.verdicts import VERDICTS_SCHEMA
from beamjudge.transforms.judging.store.files import (
    TEMPORARY,
    commit,
    create,
    discard,
    index_name,
    new_generation,
    part_name,
    path_of,
    remove,
    write,
)
from beamjudge.transforms.judging.store.key_index import Generation, Prefixes, prefixes_of
from beamjudge.transforms.judging.store.parquet import GROUP_ROWS, new_writer

PART_ROWS = 64 * GROUP_ROWS


class GenerationWriter:
    """Takes tables in the order of their keys. Nothing counts before `finish`, and `withdraw` undoes all of it."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._generation = new_generation()
        self._waiting: list[pa.Table] = []
        self._waiting_rows = 0
        self._stream: IO[bytes] | None = None
        self._part: pq.ParquetWriter | None = None
        self._part_rows = 0
        self._parts: list[tuple[str, int]] = []
        self._prefixes: list[Prefixes] = []
        self._index: str | None = None

    @property
    def names(self) -> list[str]:
        """The files written, the index first."""
        return [*([self._index] if self._index else []), *(name for name, _ in self._parts)]

    @property
    def rows(self) -> int:
        return sum(map(len, self._prefixes))

    def add(self, table: pa.Table) -> None:
        self._prefixes.append(prefixes_of(table["key"].to_pylist()))
        self._waiting.append(table)
        self._waiting_rows += len(table)
        if self._waiting_rows >= GROUP_ROWS:
            self._write_groups(self._waiting_rows - self._waiting_rows % GROUP_ROWS)

    def finish(self) -> None:
        """Complete the generation; one without verdicts has no files."""
        self._write_groups(self._waiting_rows)
        self._close_part()
        if self._parts:
            content = Generation(self._parts, np.concatenate(self._prefixes)).encode()
            name = index_name(self._generation, content)
            write(self._folder, name, content)
            self._index = name

    def withdraw(self) -> None:
        """Remove everything that was written: the index first, since parts without it do not count."""
        if self._part is not None and self._stream is not None:
            # What is thrown away need not be whole.
            with contextlib.suppress(Exception):
                self._part.close()
            with contextlib.suppress(Exception):
                self._stream.close()
            discard(self._folder, part_name(self._generation, len(self._parts)))
            self._part = self._stream = None
        if self._index:
            remove(self._folder, [self._index])
        remove(self._folder, [name for name, _ in self._parts])

    def _write_groups(self, rows: int) -> None:
        """Write the first `rows` of what waits, as row groups of `GROUP_ROWS`."""
        if not rows:
            return
        table = pa.concat_tables(self._waiting).combine_chunks()
        for start in range(0, rows, GROUP_ROWS):
            group = table.slice(start, min(GROUP_ROWS, rows - start))
            self._open_part().write_table(group, GROUP_ROWS)
            self._part_rows += len(group)
            if self._part_rows == PART_ROWS:
                self._close_part()
        self._waiting = [table.slice(rows)]
        self._waiting_rows -= rows

    def _open_part(self) -> pq.ParquetWriter:
        if self._part is None:
            name = part_name(self._generation, len(self._parts))
            self._stream = create(path_of(self._folder, name + TEMPORARY))
            self._part = new_writer(self._stream, VERDICTS_SCHEMA)
        return self._part

    def _close_part(self) -> None:
        if self._part is None or self._stream is None:
            return
        self._part.close()
        self._stream.close()
        name = part_name(self._generation, len(self._parts))
        commit(self._folder, name)
        self._parts.append((name, self._part_rows))
        self._part, self._stream, self._part_rows = None, None, 0
