"""Retrieval measures: by hand, trec_eval's published values, and what is not measured."""

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamjudge.schemas.metric import MetricKind
from beamjudge.transforms.metrics import retrieval
from beamjudge.transforms.metrics.retrieval import Ranking, ranking, retrieval_families

_PREFIX = "retrieval/ground_truth"
_DEPTHS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
# trec_eval's name -> ours.
_MEASURES = {
    "map": retrieval.average_precision,
    "recip_rank": retrieval.reciprocal_rank,
    "Rprec": retrieval.r_precision,
    "set_recall": retrieval.document_recall,
}
_MEASURES_AT = {
    **{("P", k): retrieval.precision_at for k in _DEPTHS},
    **{("recall", k): retrieval.recall_at for k in _DEPTHS},
    **{("ndcg_cut", k): retrieval.ndcg_at for k in _DEPTHS},
    **{("success", k): retrieval.hit_rate_at for k in (1, 5, 10)},
}
# What trec_eval has beyond these.
_MEASURES_OF_OTHERS = {
    *("11pt_avg", "G", "Rndcg", "Rprec", "binG", "bpref", "gm_bpref", "gm_map", "infAP", "iprec", "map_cut", "ndcg"),
    *("ndcg_rel", "num_nonrel_judged_ret", "num_q", "num_rel", "num_rel_ret", "num_ret", "rbp", "rbp_resid"),
    *("relative_P", "runid", "set_F", "set_P", "set_map", "set_relative_P", "unj", "utility"),
}


def _values(row, ks=(1, 3)):
    values = {}
    for family in retrieval_families(ks):
        computed = family.compute(row)
        assert list(computed) == [column.name for column in family.columns]
        values |= computed
    return {name.removeprefix(f"{_PREFIX}/"): value for name, value in values.items()}


def test_by_hand(make_row):
    """Relevant at ranks 2 and 3, of three expected."""
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert _values(make_row(retrieved=["x", "b", "a", "y"], expected_uris=["a", "b", "c"])) == pytest.approx(
        {
            "document_recall": 2 / 3,
            "precision_at_1": 0.0,
            "precision_at_3": 2 / 3,
            "recall_at_1": 0.0,
            "recall_at_3": 2 / 3,
            "ndcg_at_1": 0.0,
            "ndcg_at_3": (1 / math.log2(3) + 1 / math.log2(4)) / ideal,
            "hit_rate_at_1": 0.0,
            "hit_rate_at_3": 1.0,
            "mrr": 1 / 2,
            "map": (1 / 2 + 2 / 3) / 3,
            "r_precision": 2 / 3,
        },
        abs=1e-12,
    )


@pytest.mark.parametrize(
    ("retrieved", "relevant"),
    [
        (["a", "a", "x", "a", "b"], [True, False, True]),  # a document's first chunk gives its rank
        ([None, "a", None], [False, True, False]),  # a document without uri takes a rank
        (["A", "a ", "a"], [False, False, True]),  # exact text
        ([], []),
    ],
)
def test_ranks(make_row, retrieved, relevant):
    assert ranking(make_row(retrieved=retrieved, expected_uris=["a", "b", "b", None])) == Ranking(relevant, 2)


@pytest.mark.parametrize(
    ("retrieved", "expected_uris"), [(None, ["a"]), (["a"], None), (["a"], []), ([], []), ([None], [None])]
)
def test_rows_without_ground_truth_are_not_measured(make_row, retrieved, expected_uris):
    assert set(_values(make_row(retrieved=retrieved, expected_uris=expected_uris)).values()) == {None}


def test_a_retriever_that_found_nothing_has_zeros(make_row):
    assert set(_values(make_row(retrieved=[], expected_uris=["a"])).values()) == {0.0}


def test_few_retrieved_documents_do_not_raise_the_precision(make_row):
    """trec_eval divides by k, whether or not so many were retrieved."""
    assert _values(make_row(retrieved=["a"], expected_uris=["a"]), ks=[1, 10])["precision_at_10"] == 0.1


@settings(max_examples=100)
@given(relevant=st.lists(st.booleans(), max_size=12), missed=st.integers(0, 3), k=st.integers(1, 15))
def test_all_are_within_their_range(relevant, missed, k):
    n_expected = sum(relevant) + missed
    if n_expected:
        ranked = Ranking(relevant, n_expected)
        values = [measure(ranked) for measure in _MEASURES.values()]
        values += [measure(ranked, k) for (_, depth), measure in _MEASURES_AT.items() if depth == 5]
        assert all(0.0 <= value <= 1.0 + 1e-12 for value in values)


def test_names_and_range():
    families = retrieval_families([2, 7])
    assert [family.name for family in families] == [
        *("document_recall", "precision_at_k", "recall_at_k", "ndcg_at_k", "hit_rate_at_k", "mrr", "map"),
        "r_precision",
    ]
    specs = [spec for family in families for spec in family.specs]
    assert [spec.names for spec in specs[:3]] == [
        ((f"{_PREFIX}/{name}/average", "value"),) for name in ("document_recall", "precision_at_2", "precision_at_7")
    ]
    assert all((spec.kind, spec.low, spec.high) == (MetricKind.MEAN, 0.0, 1.0) for spec in specs)


def _trec_rankings(shared_lines):
    """The rankings of trec_eval's own test: by score, and of equal scores the later name first."""
    expected, runs = {}, {}
    for line in shared_lines("data/reference_trec_eval/qrels.jsonl"):
        expected.setdefault(line["qid"], set()).update([line["doc_uri"]] if line["rel"] > 0 else [])
    for line in shared_lines("data/reference_trec_eval/run.jsonl"):
        runs.setdefault(line["qid"], []).append((line["score"], line["doc_uri"]))
    return {
        qid: Ranking([uri in expected[qid] for _, uri in sorted(run, reverse=True)], len(expected[qid]))
        for qid, run in runs.items()
    }


def test_values_of_trec_eval(shared_lines):
    """trec_eval 9.0.8 on the queries of its test, and their averages; it printed four decimals."""
    ranked = _trec_rankings(shared_lines)
    checked, others = 0, set()
    for line in shared_lines("data/reference_trec_eval/expected.jsonl"):
        name, _, depth = line["measure"].rpartition("_")
        queries = ranked.values() if line["qid"] == "all" else [ranked[line["qid"]]]
        if line["measure"] in _MEASURES:
            values = [_MEASURES[line["measure"]](query) for query in queries]
        elif depth.isdigit() and (name, int(depth)) in _MEASURES_AT:
            values = [_MEASURES_AT[name, int(depth)](query, int(depth)) for query in queries]
        else:
            others.add(re.sub(r"(_at_recall|_mult)?_[\d.]+$", "", line["measure"]))
            continue
        assert sum(values) / len(values) == pytest.approx(line["value"], abs=5.01e-5), line
        checked += 1
    assert checked == 4 * (len(_MEASURES) + len(_MEASURES_AT))
    assert others == _MEASURES_OF_OTHERS


def test_small_cases_of_others(make_row, shared_lines):
    """pytrec_eval's and ranx's tests, and reported faults."""
    cases = {case["name"]: case for case in shared_lines("data/reference_trec_eval/small_cases.jsonl")}
    assert len(cases) == 7
    for name in ("ndcg-rank1", "ndcg-rank2", "ndcg-rank3"):
        run, qrels = cases[name]["run"]["q1"], cases[name]["qrels"]["q1"]
        retrieved = sorted(run, key=run.get, reverse=True)
        row = make_row(retrieved=retrieved, expected_uris=[uri for uri, rel in qrels.items() if rel])
        assert _values(row)["ndcg_at_3"] == pytest.approx(cases[name]["expected"]["q1"]["ndcg"], abs=1e-12)
    ranx = cases["empty-run-query"]
    rows = [make_row(retrieved=list(ranx["run"][qid]), expected_uris=list(ranx["qrels"][qid])) for qid in ranx["run"]]
    for ours, theirs in (("precision_at_1", "precision"), ("recall_at_1", "recall")):
        assert sum(_values(row)[ours] for row in rows) / len(rows) == ranx["expected"]["mean"][theirs]
    for name in ("seed-doc-half", "duplicate-chunks-of-one-doc", "no-relevant-docs"):
        case = cases[name]
        retrieved = list((case.get("run") or case["run_list"])["q"])
        row = make_row(retrieved=retrieved, expected_uris=list(case["qrels"]["q"]))
        assert _values(row)["document_recall"] == case["expected"]["q"]["recall"], name


@pytest.mark.parametrize(("fault", "recall"), [("B22", None), ("B70", None), ("B73", 0.5)], ids=["B22", "B70", "B73"])
def test_reported_faults(make_row, reported_fault, fault, recall):
    """Uris become strings where rows are normalised, so that is done here before the metric sees them."""
    given_uris = reported_fault(fault)
    retrieved, expected = (
        [str(document["doc_uri"]) for document in given_uris[name]]
        for name in ("retrieved_context", "expected_retrieved_context")
    )
    assert _values(make_row(retrieved=retrieved, expected_uris=expected))["document_recall"] == recall


def test_a_retriever_that_found_nothing_stays_in_the_average(make_row, reported_fault):
    rows = [
        make_row(retrieved=[] if recall == "no results" else ["a"], expected_uris=["a"])
        for recall in reported_fault("B71")["recalls"]
    ]
    recalls = [_values(row)["document_recall"] for row in rows]
    assert sum(recalls) / len(recalls) == 0.75
