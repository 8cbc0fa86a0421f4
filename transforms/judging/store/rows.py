"""Single rows of a store's files, read on demand.

Keys are hashes, so neighbours in a log are far apart in a compacted file, and decoding a row group anew for every row
would take a millisecond each. So a row group is decoded once, into small uncompressed batches in a local file without
a name; a row is then one short read. The batches take no memory but the page cache's.
"""

import logging
import os
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from beamjudge.schemas.tables.verdicts import VERDICTS_SCHEMA
from beamjudge.transforms.judging.store.files import SEGMENT, Damaged, open_seekable, path_of, read
from beamjudge.transforms.judging.store.key_index import Place
from beamjudge.transforms.judging.store.parquet import GROUP_ROWS, decode, open_verdicts, read_group, trust

_LOGGER = logging.getLogger(__name__)
_BATCH_ROWS = 128
_BATCHES = GROUP_ROWS // _BATCH_ROWS
_OPEN_PARTS = 16
_MAX_DECODED_BYTES = 1 << 30
# Times as whole microseconds: Python's own datetimes would have to be converted back.
_CELLS = VERDICTS_SCHEMA.set(
    VERDICTS_SCHEMA.get_field_index("created"), VERDICTS_SCHEMA.field("created").with_type(pa.int64())
)


class RowReader:
    """Reads rows of the segments and parts in a folder. Thread-safe."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._parts: OrderedDict[str, tuple[IO[bytes], pq.ParquetFile]] = OrderedDict()
        self._decoded: IO[bytes] | None = None
        self._size = 0
        # Per row group of a file the positions and lengths of its batches.
        self._batches: dict[tuple[str, int], list[tuple[int, int]]] = {}

    def read(self, place: Place) -> dict[str, Any]:
        """The cells of a row. Raises Vanished or Damaged."""
        group, row = divmod(place.row, GROUP_ROWS)
        number, row = divmod(row, _BATCH_ROWS)
        with self._lock:
            kept = self._batches.get((place.name, group))
            batch = self._load(place.name, group, number) if kept is None else self._read_batch(kept, number)
        if batch is None or row >= batch.num_rows:
            raise Damaged("it has fewer rows than its index says")
        cells: dict[str, Any] = batch.slice(row, 1).to_pylist()[0]
        return cells

    def close(self) -> None:
        with self._lock:
            for stream, _ in self._parts.values():
                stream.close()
            self._parts.clear()
            self._forget()

    def _read_batch(self, kept: Sequence[tuple[int, int]], number: int) -> pa.RecordBatch | None:
        if number >= len(kept) or self._decoded is None:
            return None
        position, length = kept[number]
        content = os.pread(self._decoded.fileno(), length, position)
        return pa.ipc.read_record_batch(pa.py_buffer(content), _CELLS)

    def _load(self, name: str, group: int, number: int) -> pa.RecordBatch | None:
        """Decode the row group, or the whole of a segment, and give one of its batches."""
        if SEGMENT.fullmatch(name):
            batches = self._batches_of(name, decode(name, read(self._folder, name)))
            groups = [batches[start : start + _BATCHES] for start in range(0, len(batches), _BATCHES)]
            for position, each in enumerate(groups):
                self._keep(name, position, each)
        else:
            groups = [self._read_group(name, group)]
            self._keep(name, group, groups[0])
            group = 0
        return groups[group][number] if group < len(groups) and number < len(groups[group]) else None

    def _read_group(self, name: str, group: int) -> list[pa.RecordBatch]:
        file = self._open_part(name)
        return self._batches_of(name, read_group(file, group)) if group < file.num_row_groups else []

    def _batches_of(self, name: str, table: pa.Table) -> list[pa.RecordBatch]:
        """The rows in small batches; one that can be no verdict is left without its key, so that it is nobody's."""
        keys = pc.if_else(trust(path_of(self._folder, name), table), table["key"].combine_chunks(), None)
        table = table.set_column(0, VERDICTS_SCHEMA.field("key"), keys)
        batches: list[pa.RecordBatch] = table.cast(_CELLS).combine_chunks().to_batches(max_chunksize=_BATCH_ROWS)
        return batches

    def _open_part(self, name: str) -> pq.ParquetFile:
        if name in self._parts:
            self._parts.move_to_end(name)
            return self._parts[name][1]
        stream = open_seekable(self._folder, name)
        try:
            file = open_verdicts(stream)
        except Damaged:
            stream.close()
            raise
        self._parts[name] = stream, file
        if len(self._parts) > _OPEN_PARTS:
            _, (oldest, _) = self._parts.popitem(last=False)
            oldest.close()
        return file

    def _keep(self, name: str, group: int, batches: Sequence[pa.RecordBatch]) -> None:
        if self._size > _MAX_DECODED_BYTES:
            self._forget()
        try:
            if self._decoded is None:
                self._decoded = tempfile.TemporaryFile()  # noqa: SIM115
            places = []
            for batch in batches:
                content = batch.serialize()
                os.pwrite(self._decoded.fileno(), content, self._size)
                places.append((self._size, content.size))
                self._size += content.size
        except OSError as error:
            # Slower, but as right as before: what is not kept is decoded again.
            _LOGGER.warning("stored verdicts cannot be kept decoded in %s: %s", tempfile.gettempdir(), error.strerror)
            self._forget()
            return
        self._batches[name, group] = places

    def _forget(self) -> None:
        if self._decoded is not None:
            self._decoded.close()
        self._decoded, self._size = None, 0
        self._batches.clear()
