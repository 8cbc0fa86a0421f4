"""docs/inputs.md lists the tables that map themselves, with the columns that the code looks for."""

import re
from pathlib import Path

import pytest

from beamjudge.schemas.log_tables import LOG_TABLES

INPUTS = (Path(__file__).parents[2] / "docs" / "inputs.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `(\w+)` \|(.*)$", INPUTS.split("## Tables that map themselves")[1], re.MULTILINE))


def test_every_table_is_listed():
    assert set(ROWS) == {table.name for table in LOG_TABLES}


@pytest.mark.parametrize("table", LOG_TABLES, ids=lambda table: table.name)
def test_the_column_of_the_id_is_named(table):
    if "request_id" in table.columns:
        assert f"`{table.columns['request_id'][0].rpartition('.')[2]}`" in ROWS[table.name]
