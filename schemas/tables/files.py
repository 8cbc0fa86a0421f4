"""The tables about files: rejects, and the inputs that were read."""

from typing import Any

import pyarrow as pa

from beamjudge.schemas.record import InputFile, Reject
from beamjudge.schemas.tables import utf8, with_version

REJECTS_SCHEMA = with_version(
    pa.schema(
        [
            ("source_file", pa.string()),
            ("source_position", pa.string()),
            ("request_id", pa.string()),
            ("code", pa.string()),
            ("reason", pa.string()),
            ("raw", pa.string()),
        ]
    )
)
INPUTS_SCHEMA = with_version(
    pa.schema(
        [
            ("source_file", pa.string()),
            ("size", pa.int64()),
            ("modified", pa.timestamp("us", tz="UTC")),
            ("records", pa.int64()),
        ]
    )
)


def reject_record(reject: Reject, store_text: bool) -> dict[str, Any]:
    """The cells of one reject; `raw` only where text is stored."""
    return {
        "source_file": utf8(reject.source_file),
        "source_position": reject.source_position,
        "request_id": reject.request_id,
        "code": reject.code,
        "reason": reject.reason,
        "raw": reject.raw if store_text else None,
    }


def input_record(file: InputFile, records: int) -> dict[str, Any]:
    """The cells of one input file; `modified` as whole microseconds."""
    return {
        "source_file": utf8(file.path),
        "size": file.size,
        "modified": None if file.modified is None else round(file.modified * 1_000_000),
        "records": records,
    }
