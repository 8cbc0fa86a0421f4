"""The metrics table: one row per slice and metric, with the fields of `MetricRow` as columns."""

import pyarrow as pa

from beamjudge.schemas.tables import with_version

METRICS_SCHEMA = with_version(
    pa.schema(
        [
            ("run_id", pa.string()),
            ("slice", pa.string()),
            ("metric", pa.string()),
            ("judge_model", pa.string()),
            ("judge_hash", pa.string()),
            ("value", pa.float64()),
            ("ci_low", pa.float64()),
            ("ci_high", pa.float64()),
            ("n_rows", pa.int64()),
            ("n_scored", pa.int64()),
            ("n_yes", pa.int64()),
            ("n_no", pa.int64()),
            ("n_not_applicable", pa.int64()),
            ("n_not_sampled", pa.int64()),
            ("n_error", pa.int64()),
            ("sum", pa.float64()),
            ("sum_squares", pa.float64()),
            ("min", pa.float64()),
            ("max", pa.float64()),
            ("p50", pa.float64()),
            ("p90", pa.float64()),
            ("p99", pa.float64()),
            ("value_if_errors_no", pa.float64()),
            ("value_if_errors_yes", pa.float64()),
        ]
    )
)
