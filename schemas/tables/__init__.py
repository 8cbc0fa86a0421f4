"""Arrow schemas of the tables that a run writes. Minor versions of a schema only add columns."""

import pyarrow as pa

SCHEMA_VERSION = "1"


def with_version(schema: pa.Schema) -> pa.Schema:
    """`schema` with `schema_version` in its metadata, which Parquet keeps as the file's own."""
    return schema.with_metadata({"schema_version": SCHEMA_VERSION})


def utf8(text: str | None) -> str | None:
    """`text` as valid UTF-8, as Arrow wants it: a reply may hold half a surrogate pair, and a file name any byte."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
