"""A direct computation of run-level metrics: plain Python over the rows table, independent of the pipeline's sums."""

import math
import re
import statistics
import unicodedata

import pyarrow.dataset as ds
import pytest
from sacrebleu.metrics import BLEU, CHRF
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
        **dict.fromkeys(("value", "ci_low", "ci_high", "sum", "sum_squares", "min", "max", "p50", "p90", "p99")),
        **dict.fromkeys(("value_if_errors_no", "value_if_errors_yes")),
    }
    if yes + no:
        interval = stats.binomtest(yes, yes + no).proportion_ci(0.95, method="wilson")
        expected |= {"value": yes / (yes + no), "ci_low": interval.low, "ci_high": interval.high}
        expected |= {
            "sum": float(yes),
            "sum_squares": float(yes),
            "min": 0.0 if no else 1.0,
            "max": 1.0 if yes else 0.0,
        }
    if yes + no + n_error:
        total = yes + no + n_error
        expected |= {"value_if_errors_no": yes / total, "value_if_errors_yes": (yes + n_error) / total}
    return expected


def mean(values, n_rows, low=None, high=None, n_error=0):
    """What the metrics table should say of a mean, from the rows' values."""
    scored = [value for value in values if value is not None]
    expected = {
        "n_rows": n_rows,
        "n_scored": len(scored),
        "n_error": n_error,
        "n_not_applicable": n_rows - len(scored) - n_error,
        "n_not_sampled": 0,
        **dict.fromkeys(("n_yes", "n_no", "value", "ci_low", "ci_high", "sum", "sum_squares", "min", "max")),
        **dict.fromkeys(("p50", "p90", "p99", "value_if_errors_no", "value_if_errors_yes")),
    }
    if not scored:
        return expected
    average = statistics.fmean(scored)
    expected |= {
        "value": average,
        "sum": float(sum(scored)),
        "sum_squares": float(sum(value * value for value in scored)),
        "min": float(min(scored)),
        "max": float(max(scored)),
        "p50": quantile(scored, 0.5),
        "p90": quantile(scored, 0.9),
        "p99": quantile(scored, 0.99),
    }
    if len(scored) > 1:
        half = stats.t.ppf(0.975, len(scored) - 1) * statistics.stdev(scored) / len(scored) ** 0.5
        expected["ci_low"] = average - half if low is None else max(low, average - half)
        expected["ci_high"] = average + half if high is None else min(high, average + half)
    return expected


def quantile(values, q):
    """The lower quantile, within 0.5 %."""
    return pytest.approx(sorted(values)[math.floor(q * (len(values) - 1))], rel=0.005 * (1 + 1e-9))


def chunk_precision(rows, prefix):
    """What the table should say of a chunk judge's precision, from the rows' lists of ratings and error messages."""
    n_error, bounds = 0, []
    for row in rows:
        ratings, errors = row[f"{prefix}/ratings"] or [], row[f"{prefix}/error_messages"] or []
        failed = sum(error is not None for error in errors)
        asked = sum(rating is not None for rating in ratings) + failed
        n_error += asked == failed > 0
        assert row[f"{prefix}/precision"] == (ratings.count("yes") / (asked - failed) if asked > failed else None)
        if asked:
            bounds.append((ratings.count("yes") / asked, (ratings.count("yes") + failed) / asked))
    told = mean([row[f"{prefix}/precision"] for row in rows], len(rows), 0, 1, n_error)
    if bounds:
        lowest, highest = zip(*bounds, strict=True)
        told |= {"value_if_errors_no": statistics.fmean(lowest), "value_if_errors_yes": statistics.fmean(highest)}
    return told


def corpus_scores(rows):
    """sacrebleu's scores of the rows as a corpus: chrF of all, BLEU by tokenizer (its default one in any case)."""
    texts = {"13a": []}
    for row in rows:
        if (tokenizer := row["response/text/tokenizer"]) is not None:
            references = [row["expected_response"], *(row["expected_responses"] or [])]
            compared = [row["response_text"], *(text for text in references if text and text.strip())]
            texts.setdefault(tokenizer, []).append([unicodedata.normalize("NFC", text) for text in compared])
    every = [compared for of_tokenizer in texts.values() for compared in of_tokenizer]
    for name, metric in (("chrf", CHRF()), ("chrfpp", CHRF(word_order=2))):
        if f"response/text/{name}" in rows[0]:
            yield f"response/text/{name}/corpus", corpus_score(metric, every, len(rows))
    if "response/text/bleu" in rows[0]:
        for tokenizer, compared in texts.items():
            name = "response/text/bleu/corpus" + ("" if tokenizer == "13a" else f"@{tokenizer}")
            yield name, corpus_score(BLEU(tokenize=tokenizer), compared, len(rows))


def corpus_score(metric, texts, n_rows):
    """`texts` are a row's response and its references, of which rows have different numbers."""
    most = max(map(len, texts), default=1)
    padded = [compared + [None] * (most - len(compared)) for compared in texts]
    hypotheses, *references = map(list, zip(*padded, strict=True)) if padded else [[]]
    return {
        "n_rows": n_rows,
        "n_scored": len(texts),
        "n_not_applicable": n_rows - len(texts),
        "n_error": 0,
        "value": metric.corpus_score(hypotheses, references).score if texts else None,
        **dict.fromkeys(("n_yes", "n_no", "sum", "sum_squares", "min", "max", "p50", "p90", "p99")),
    }


def expected_metrics(rows):
    """Every run-level metric, as a mapping of its name to what the table should say."""
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
    chunks = "retrieval/llm_judged/chunk_relevance"
    if f"{chunks}/precision" in rows[0]:
        told = chunk_precision(rows, chunks)
        expected[f"{chunks}/precision/average"] = told
        expected[f"{chunks}_precision/average"] = told
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
                average = expected[f"{column}/average"]
                expected[f"{column}/sum"] = {**average, "value": average["sum"], "ci_low": None, "ci_high": None}
    for column in rows[0]:
        if column.startswith(("response/text/is_", "response/text/language_", "response/rule/")):
            flags = [row[column] for row in rows if row[column] is not None]
            expected[f"{column}/percentage"] = share(["yes" if flag else "no" for flag in flags], [], n)
    if "response/text/tokenizer" in rows[0]:
        expected.update(corpus_scores(rows))
    return expected | named_guidelines(rows)


def named_guidelines(rows):
    """Shares of the guidelines that rows or the run name; a row without the name is not applicable."""
    cells = {}
    for row in rows:
        for entry in row.get("response/llm_judged/guideline_adherence/named") or []:
            key = f"response/llm_judged/guideline_adherence/{entry['name']}"
            cells.setdefault(key, []).append((entry["rating"], entry["error_message"]))
        for column in row:
            if found := re.fullmatch(r"(response/llm_judged/global_guideline_adherence/[^/]+)/rating", column):
                cells.setdefault(found[1], []).append((row[column], row[f"{found[1]}/error_message"]))
    return {
        f"{key}/rating/percentage": share(*map(list, zip(*verdicts, strict=True)), len(rows))
        for key, verdicts in cells.items()
    }


def check_metrics(rows, metrics):
    """The metrics table has just these numbers: of all rows, and of each value of their slices."""
    cells = {"overall": rows}
    for row in rows:
        for column in row:
            if column.startswith("slice/"):
                value = row[column] if "*" in column else f"{column.removeprefix('slice/')}={row[column]}"
                cells.setdefault(value, []).append(row)
    assert {name for name, _ in metrics} == set(cells)
    for name, members in cells.items():
        expected = expected_metrics(members)
        assert {metric for slice_name, metric in metrics if slice_name == name} == expected.keys()
        for metric, told in expected.items():
            assert differences(metrics[name, metric], told) == {}, (name, metric)
