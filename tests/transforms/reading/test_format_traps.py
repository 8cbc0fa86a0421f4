"""Files that have tripped other readers, with the rows and ids that each should give."""

import json
from pathlib import Path

import pytest

TRAPS = Path(__file__).parents[4] / "shared/data/format_traps"
MANIFEST = TRAPS / "manifest.jsonl"
# Its bad row is one for the normaliser: as JSON it is in order.
NOT_FOR_THE_READER = "both_expected.jsonl"
# The manifest leaves open whether a Parquet file of no bytes is skipped or rejected.
NO_BYTES = "empty.parquet"


def traps() -> list[dict]:
    return [json.loads(line) for line in MANIFEST.read_text().splitlines()] if MANIFEST.exists() else []


@pytest.mark.skipif(not MANIFEST.exists(), reason="the folder of format traps is not there")
@pytest.mark.parametrize("trap", traps(), ids=[trap["file"] for trap in traps()])
@pytest.mark.parametrize("split_bytes", [1, 7, 100, 4096, 32 << 20])
def test_trap(trap: dict, split_bytes: int, read_file) -> None:
    path = (TRAPS / trap["file"]).resolve()
    if path.stat().st_size > 100_000:
        split_bytes = max(split_bytes, 4096)
    read = read_file(path, split_bytes)
    if trap["file"] == NOT_FOR_THE_READER:
        assert len(read.records) == trap["good_rows"] + trap["bad_rows"]
        return
    if trap["file"] == NO_BYTES:
        assert (read.rows, read.codes) == ([], [("not_parquet", None)])
        return
    assert len(read.rejects) == trap["bad_rows"]
    if trap["good_rows"] is not None:
        assert len(read.records) == trap["good_rows"]
    if trap["request_ids"] is not None:
        assert [str(row["request_id"]) for row in read.rows] == trap["request_ids"]
    # Whatever was read can be written.
    json.dumps(read.rows, allow_nan=False, ensure_ascii=False).encode()
