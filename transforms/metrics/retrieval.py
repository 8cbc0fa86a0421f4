"""Did the retriever find the documents that it should have found, and how high up? Ground truth only, no judge.

The measures are trec_eval's, with binary relevance: a document is relevant when it is expected. The ranking is the
order in which the documents were logged, so there are no ties. A document that was retrieved in several chunks has the
rank of its first one, and its others take no rank; a document without a `doc_uri` takes a rank and is not relevant.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from beamjudge.schemas.assessment import MetricValue
from beamjudge.schemas.metric import Column, ColumnType, mean_spec
from beamjudge.schemas.row import Row
from beamjudge.transforms.metrics.family import MetricFamily

_PREFIX = "retrieval/ground_truth"


@dataclass(frozen=True, slots=True)
class Ranking:
    """For each rank whether its document is expected, and how many documents are expected in all (at least one)."""

    relevant: Sequence[bool]
    n_expected: int


def ranking(row: Row) -> Ranking | None:
    """Null when either context was not logged or no expected document has a uri.

    Uris match as exact text: no trimming, no case folding. Expected duplicates count once.
    """
    if row.retrieved_context is None:
        return None
    expected = {document.doc_uri for document in row.expected_retrieved_context or () if document.doc_uri is not None}
    if not expected:
        return None
    seen: set[str] = set()
    relevant = []
    for document in row.retrieved_context:
        uri = document.doc_uri
        if uri is None:
            relevant.append(False)
        elif uri not in seen:
            seen.add(uri)
            relevant.append(uri in expected)
    return Ranking(relevant, len(expected))


def document_recall(ranked: Ranking) -> float:
    """The share of expected documents that were retrieved, in [0, 1]; 0.0 when the retriever found nothing."""
    return sum(ranked.relevant) / ranked.n_expected


def precision_at(ranked: Ranking, k: int) -> float:
    """trec_eval's P_k: relevant documents among the first k, by k, however few were retrieved."""
    return sum(ranked.relevant[:k]) / k


def recall_at(ranked: Ranking, k: int) -> float:
    """trec_eval's recall_k: the share of expected documents that are among the first k."""
    return sum(ranked.relevant[:k]) / ranked.n_expected


def ndcg_at(ranked: Ranking, k: int) -> float:
    """trec_eval's ndcg_cut_k: gains of 1, discounted by log2(rank + 1), by what the best ranking would give.

    Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.
    """
    gained = sum(1 / math.log2(rank + 2) for rank, hit in enumerate(ranked.relevant[:k]) if hit)
    return gained / sum(1 / math.log2(rank + 2) for rank in range(min(k, ranked.n_expected)))


def hit_rate_at(ranked: Ranking, k: int) -> float:
    """trec_eval's success_k: 1 when any of the first k is relevant, else 0."""
    return float(any(ranked.relevant[:k]))


def reciprocal_rank(ranked: Ranking) -> float:
    """trec_eval's recip_rank: 1 / the rank of the first relevant document; 0 when there is none."""
    return 1 / (ranked.relevant.index(True) + 1) if True in ranked.relevant else 0.0


def average_precision(ranked: Ranking) -> float:
    """trec_eval's map of one query: the precisions at the relevant documents, summed, by all expected ones."""
    hits = accumulate(ranked.relevant)
    precisions = (found / rank for rank, (found, hit) in enumerate(zip(hits, ranked.relevant, strict=True), 1) if hit)
    return sum(precisions) / ranked.n_expected


def r_precision(ranked: Ranking) -> float:
    """trec_eval's Rprec: the precision at the number of expected documents."""
    return precision_at(ranked, ranked.n_expected)


@dataclass(frozen=True, slots=True)
class _Measure:
    """One number of a row's ranking."""

    column: str
    measure: Callable[[Ranking], float]

    def __call__(self, row: Row) -> Mapping[str, MetricValue]:
        ranked = ranking(row)
        return {self.column: None if ranked is None else self.measure(ranked)}


@dataclass(frozen=True, slots=True)
class _MeasureAt:
    """One number for each k."""

    columns: Mapping[int, str]
    measure: Callable[[Ranking, int], float]

    def __call__(self, row: Row) -> Mapping[str, MetricValue]:
        ranked = ranking(row)
        if ranked is None:
            return dict.fromkeys(self.columns.values())
        return {column: self.measure(ranked, k) for k, column in self.columns.items()}


def _family(name: str, columns: Sequence[str], compute: Callable[[Row], Mapping[str, MetricValue]]) -> MetricFamily:
    return MetricFamily(
        name=name,
        columns=tuple(Column(column, ColumnType.FLOAT) for column in columns),
        specs=tuple(mean_spec(column, low=0.0, high=1.0) for column in columns),
        compute=compute,
    )


def _single(name: str, measure: Callable[[Ranking], float]) -> MetricFamily:
    column = f"{_PREFIX}/{name}"
    return _family(name, [column], _Measure(column, measure))


def _at_k(name: str, measure: Callable[[Ranking, int], float], ks: Sequence[int]) -> MetricFamily:
    columns = {k: f"{_PREFIX}/{name}_at_{k}" for k in ks}
    return _family(f"{name}_at_k", list(columns.values()), _MeasureAt(columns, measure))


def retrieval_families(ks: Sequence[int]) -> tuple[MetricFamily, ...]:
    """All measures, with those at k for each of `ks`."""
    return (
        _single("document_recall", document_recall),
        _at_k("precision", precision_at, ks),
        _at_k("recall", recall_at, ks),
        _at_k("ndcg", ndcg_at, ks),
        _at_k("hit_rate", hit_rate_at, ks),
        _single("mrr", reciprocal_rank),
        _single("map", average_precision),
        _single("r_precision", r_precision),
    )
