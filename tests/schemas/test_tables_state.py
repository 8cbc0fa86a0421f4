from dataclasses import asdict, fields

import pyarrow as pa

from beamjudge.schemas.metric import MetricRow
from beamjudge.schemas.tables.metrics import METRICS_SCHEMA
from beamjudge.schemas.tables.state import STATE_SCHEMA


def test_tables_carry_their_schema_version() -> None:
    for schema in (METRICS_SCHEMA, STATE_SCHEMA):
        assert schema.metadata[b"schema_version"] == b"1"


def test_the_metrics_table_has_the_fields_of_a_metric_row() -> None:
    assert METRICS_SCHEMA.names == [field.name for field in fields(MetricRow)]


def test_a_metric_row_fits_the_metrics_table() -> None:
    numbers = {"value": 0.5, "ci_low": 0.25, "ci_high": 0.75, "n_rows": 3, "n_scored": 2, "n_yes": 1, "n_no": 1}
    names = {"run_id": "r", "slice": "overall", "metric": "m"}
    row = MetricRow(**{**dict.fromkeys(METRICS_SCHEMA.names), **names, **numbers})
    table = pa.Table.from_pylist([asdict(row)], schema=METRICS_SCHEMA)
    assert table.to_pylist() == [asdict(row)]
