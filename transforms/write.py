"""Writing tables: Parquet with a fixed schema, whatever the rows; an empty table is a file without rows."""

from typing import Any

import apache_beam as beam
import pyarrow as pa

# Rows wait in memory until a row group is full; this bounds what a worker holds per open file.
_ROW_GROUP_BYTES = 16 * 1024 * 1024


class WriteTable(beam.PTransform[beam.PCollection[dict[str, Any]], beam.PCollection[str]]):
    """Dictionaries with a cell for every field of `schema` -> `<folder>/part-*.parquet`, zstd; gives their paths."""

    def __init__(self, folder: str, schema: pa.Schema) -> None:
        super().__init__()
        self._folder = folder
        self._schema = schema

    def expand(self, records: beam.PCollection[dict[str, Any]]) -> beam.PCollection[str]:
        paths: beam.PCollection[str] = records | "WriteParquet" >> beam.io.WriteToParquet(
            f"{self._folder}/part",
            schema=self._schema,
            codec="zstd",
            row_group_buffer_size=_ROW_GROUP_BYTES,
            use_compliant_nested_type=True,
            file_name_suffix=".parquet",
        )
        return paths
