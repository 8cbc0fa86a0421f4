"""Row groups are bounded by bytes as well as by rows, so that a worker's memory does not depend on the rows' size."""

import pyarrow as pa
import pytest

from beamjudge.transforms import write
from beamjudge.transforms.write import _RowGroups

SCHEMA = pa.schema([("text", pa.string()), ("parts", pa.list_(pa.struct([("content", pa.string())])))])


def groups(records):
    """The numbers of rows per group, and all rows again."""
    collect = _RowGroups(SCHEMA)
    collect.start_bundle()
    tables = [table for record in records for table in collect.process(record)]
    tables += [windowed.value for windowed in collect.finish_bundle()]
    return [table.num_rows for table in tables], [row for table in tables for row in table.to_pylist()]


@pytest.mark.parametrize("column", ["text", "parts"])
def test_large_rows_come_few_to_a_group(monkeypatch, column):
    monkeypatch.setattr(write, "_GROUP_BYTES", 10_000)
    large = "x" * 4_000
    records = [{"text": None, "parts": None, column: large if column == "text" else [{"content": large}]}] * 7
    # Three rows of 4,000 characters are over 10,000 bytes.
    assert groups(records) == ([3, 3, 1], records)


def test_small_rows_come_by_number(monkeypatch):
    monkeypatch.setattr(write, "_GROUP_ROWS", 4)
    records = [{"text": "x", "parts": []}] * 9
    assert groups(records) == ([4, 4, 1], records)


def test_nothing_gives_no_group():
    assert groups([]) == ([], [])
