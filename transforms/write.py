"""Writing tables: Parquet with a fixed schema, whatever the rows; an empty table is a file without rows."""

from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue

# Rows wait in memory for their row group, so it is bounded by bytes and not only by rows: beside a table of this size
# a worker holds the Python objects that it is made of, for each table that it writes.
_GROUP_BYTES = 8 * 1024 * 1024
_GROUP_ROWS = 5_000
# What a cell costs beside its text, roughly.
_CELL_BYTES = 16


class WriteTable(beam.PTransform[beam.PCollection[dict[str, Any]], beam.PCollection[str]]):
    """Dictionaries with a cell for every field of `schema` -> `<folder>/part-*.parquet`, zstd; gives their paths."""

    def __init__(self, folder: str, schema: pa.Schema) -> None:
        super().__init__()
        self._folder = folder
        self._schema = schema

    def expand(self, records: beam.PCollection[dict[str, Any]]) -> beam.PCollection[str]:
        paths: beam.PCollection[str] = (
            records
            | "RowGroups" >> beam.ParDo(_RowGroups(self._schema)).with_output_types(pa.Table)
            | "WriteParquet"
            >> beam.io.WriteToParquetBatched(
                f"{self._folder}/part",
                schema=self._schema,
                codec="zstd",
                use_compliant_nested_type=True,
                file_name_suffix=".parquet",
            )
        )
        return paths


class _RowGroups(beam.DoFn):
    """Collects records to tables of a row group each. (Beam's own goes by rows alone, whatever their size.)"""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema

    def start_bundle(self) -> None:
        self._records: list[dict[str, Any]] = []
        self._bytes = 0

    def process(self, element: dict[str, Any]) -> Iterator[pa.Table]:
        self._records.append(element)
        self._bytes += _size(element.values())
        if self._bytes >= _GROUP_BYTES or len(self._records) >= _GROUP_ROWS:
            yield self._take()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        if self._records:
            yield GlobalWindows.windowed_value_at_end_of_window(self._take())

    def _take(self) -> pa.Table:
        table = pa.Table.from_pylist(self._records, schema=self._schema)
        self._records, self._bytes = [], 0
        return table


def _size(cells: Iterable[Any]) -> int:
    """The bytes that cells take, roughly."""
    size = 0
    for cell in cells:
        size += _CELL_BYTES
        if cell is None:
            continue
        if isinstance(cell, (str, bytes)):
            size += len(cell)
        elif isinstance(cell, dict):
            size += _size(cell.values())
        elif isinstance(cell, list):
            size += _size(cell)
    return size
