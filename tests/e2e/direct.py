"""A direct computation of run-level metrics: plain Python over the rows table, independent of the pipeline's sums."""

import statistics

import pyarrow.dataset as ds
import pytest
from scipy import stats

SHARE_JUDGES = {
    "relevance_to_query": "response",
    "groundedness": "response",
    "safety": "response",
    "correctness": "response",
    "guideline_adherence": "response",
    "global_guideline_adherence": "response",
    "context_sufficiency": "retrieval",
    "relevancy": "response",
    "fact_check": "response",
}


def read_table(output, name):
    return ds.dataset(f"{output}/{name}", format="parquet").to_table()


def read_rows(output):
    return read_table(output, "rows").to_pylist()


def read_metrics(output):
    """(slice, metric) -> row of the metrics table; the test that reads it also learns that no pair is there twice."""
    rows = read_table(output, "metrics").to_pylist()
    found = {(row["slice"], row["metric"]): row for row in rows}
    assert len(found) == len(rows)
    return found


def differences(actual, told):
    """Where a row of the metrics table is not what it should be: column -> (is, should be)."""
    return {column: (actual[column], value) for column, value in told.items() if not agrees(actual[column], value)}


def agrees(actual, told):
    if not isinstance(told, float):
        return actual == told
    return actual == pytest.approx(told, rel=1e-12, abs=1e-12)


def share(ratings, errors, n_rows):
    """What the metrics table should say of a share, from the rows' ratings and error messages."""
    yes, no = ratings.count("yes"), ratings.count("no")
    n_error = sum(error is not None for error in errors)
    expected = {
        "n_rows": n_rows,
        "n_scored": yes + no,
        "n_yes": yes,
        "n_no": no,
        "n_error": n_error,
        "n_not_applicable": n_rows - yes - no - n_error,
        "n_not_sampled": 0,
        "value": None,
        "ci_low": None,
        "ci_high": None,
    }
    if yes + no:
        interval = stats.binomtest(yes, yes + no).proportion_ci(0.95, method="wilson")
        expected |= {"value": yes / (yes + no), "ci_low": interval.low, "ci_high": interval.high}
    if yes + no + n_error:
        total = yes + no + n_error
        expected |= {"value_if_errors_no": yes / total, "value_if_errors_yes": (yes + n_error) / total}
    return expected


def mean(values, n_rows, low=None, high=None):
    """What the metrics table should say of a mean, from the rows' values."""
    scored = [value for value in values if value is not None]
    expected = {"n_rows": n_rows, "n_scored": len(scored), "n_yes": None, "n_no": None, "value": None, "ci_low": None}
    if not scored:
        return expected
    average = statistics.fmean(scored)
    expected |= {
        "value": average,
        "sum": sum(scored),
        "sum_squares": sum(value * value for value in scored),
        "min": min(scored),
        "max": max(scored),
    }
    if len(scored) > 1:
        half = stats.t.ppf(0.975, len(scored) - 1) * statistics.stdev(scored) / len(scored) ** 0.5
        expected["ci_low"] = average - half if low is None else max(low, average - half)
        expected["ci_high"] = average + half if high is None else min(high, average + half)
    return expected


def expected_metrics(rows):
    """Every run-level metric but corpus scores, as a mapping of its name to what the table should say."""
    n = len(rows)
    expected = {}
    for judge, stage in SHARE_JUDGES.items():
        prefix = f"{stage}/llm_judged/{judge}"
        if f"{prefix}/rating" in rows[0]:
            told = share([row[f"{prefix}/rating"] for row in rows], [row[f"{prefix}/error_message"] for row in rows], n)
            expected[f"{prefix}/rating/percentage"] = told
            if judge == "safety":
                expected[f"{prefix}/rating/average"] = told
    overall = "response/overall_assessment"
    expected[f"{overall}/rating/percentage"] = share(
        [row[f"{overall}/rating"] for row in rows], [row[f"{overall}/error_message"] for row in rows], n
    )
    precision = "retrieval/llm_judged/chunk_relevance/precision"
    if precision in rows[0]:
        told = mean([row[precision] for row in rows], n, 0, 1)
        expected[f"{precision}/average"] = told
        expected["retrieval/llm_judged/chunk_relevance_precision/average"] = told
    for column, low, high in (
        *((column, 0, 1) for column in rows[0] if column.startswith("retrieval/ground_truth/")),
        ("agent/total_token_count", 0, None),
        ("agent/input_token_count", 0, None),
        ("agent/output_token_count", 0, None),
        ("agent/latency_seconds", 0, None),
        *((f"response/text/{name}", 0, 100) for name in ("bleu", "chrf", "chrfpp")),
        *((f"response/text/{name}", 0, 1) for name in ("rouge1", "rouge2", "rougeL", "rougeLsum")),
        *((f"response/text/{name}", 0, 1) for name in ("meteor", "exact_match", "token_f1", "edit_similarity")),
        *((f"response/text/{name}", 0, None) for name in ("characters", "words", "sentences")),
    ):
        if column in rows[0]:
            expected[f"{column}/average"] = mean([row[column] for row in rows], n, low, high)
            if column.endswith("token_count"):
                values = [row[column] for row in rows if row[column] is not None]
                expected[f"{column}/sum"] = {"value": sum(values) if values else None, "n_scored": len(values)}
    for column in rows[0]:
        if column.startswith(("response/text/is_", "response/text/language_", "response/rule/")):
            flags = [row[column] for row in rows if row[column] is not None]
            expected[f"{column}/percentage"] = share(["yes" if flag else "no" for flag in flags], [], n)
    for name, told in named_guidelines(rows).items():
        expected[f"response/llm_judged/guideline_adherence/{name}/rating/percentage"] = told
    return expected


def named_guidelines(rows):
    """Shares of the guidelines that rows name; a row without the name is not applicable."""
    column = "response/llm_judged/guideline_adherence/named"
    if column not in rows[0]:
        return {}
    entries = [entry for row in rows for entry in row[column] or []]
    return {
        name: share(
            [entry["rating"] for entry in entries if entry["name"] == name],
            [entry["error_message"] for entry in entries if entry["name"] == name],
            len(rows),
        )
        for name in {entry["name"] for entry in entries}
    }
