"""The state table: the sums behind the run-level metrics, so that runs can be merged.

Each slice has one row with a null `key`, which holds what belongs to the slice itself: `n_rows`, and for the slice of
all rows `id_hashes` (unsigned 64-bit hashes of the request ids, packed little-endian, ascending), `spend`, and each
judge's `verdicts` (a row's, or one per chunk or named guideline) that are ratings or failed. More id hashes than fit
into one cell follow in rows with a null `key` and no `n_rows` of their own (0). Every further row holds one metric's
sums; the columns of other kinds of metric are null. `origin`, `offset` and `m2` are the mean
(origin + offset) and the sum of squared deviations from it; `sum_if_errors_no` and `sum_if_errors_yes` are the sum as
it would be if the chunks that failed were no, or yes; `sketch_*` are the counts of a log-bucket sketch;
`buckets` are summed statistics of a corpus score per bootstrap bucket, `clusters` the scored rows and the sums of the
other metrics per bucket of clusters (with `--cluster_by`).
"""

import pyarrow as pa

from beamjudge.schemas.tables import with_version

_SKETCH_COUNTS = pa.list_(pa.struct([("index", pa.int32()), ("count", pa.int64())]))
_BUCKETS = pa.list_(pa.struct([("bucket", pa.int32()), ("stats", pa.list_(pa.int64()))]))
_CLUSTERS = pa.list_(pa.struct([("bucket", pa.int32()), ("n", pa.int64()), ("sum", pa.float64())]))
_SPEND = pa.list_(
    pa.struct(
        [
            ("judge", pa.string()),
            ("kind", pa.string()),
            ("calls", pa.int64()),
            ("input_tokens", pa.int64()),
            ("cached_input_tokens", pa.int64()),
            ("output_tokens", pa.int64()),
            ("reasoning_tokens", pa.int64()),
            ("cost_usd", pa.float64()),
        ]
    )
)
_VERDICTS = pa.list_(pa.struct([("judge", pa.string()), ("rated", pa.int64()), ("failed", pa.int64())]))

STATE_SCHEMA = with_version(
    pa.schema(
        [
            ("run_id", pa.string()),
            ("slice", pa.string()),
            ("key", pa.string()),
            ("kind", pa.string()),
            ("n_rows", pa.int64()),
            ("n_scored", pa.int64()),
            ("n_yes", pa.int64()),
            ("n_no", pa.int64()),
            ("n_not_sampled", pa.int64()),
            ("n_error", pa.int64()),
            ("origin", pa.float64()),
            ("offset", pa.float64()),
            ("m2", pa.float64()),
            ("sum", pa.float64()),
            ("sum_squares", pa.float64()),
            ("sum_if_errors_no", pa.float64()),
            ("sum_if_errors_yes", pa.float64()),
            ("min", pa.float64()),
            ("max", pa.float64()),
            ("sketch_zero", pa.int64()),
            ("sketch_positive", _SKETCH_COUNTS),
            ("sketch_negative", _SKETCH_COUNTS),
            ("buckets", _BUCKETS),
            ("clusters", _CLUSTERS),
            ("id_hashes", pa.large_binary()),
            ("spend", _SPEND),
            ("verdicts", _VERDICTS),
        ]
    )
)
