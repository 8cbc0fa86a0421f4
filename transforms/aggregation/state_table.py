"""States to and from the rows of the state table, without loss."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np

from beamjudge.schemas.assessment import VerdictCounts
from beamjudge.schemas.metric import MetricKind
from beamjudge.schemas.spend import NO_JUDGE_SPEND, NO_SPEND, JudgeSpend, Spend
from beamjudge.schemas.tables.state import STATE_SCHEMA
from beamjudge.transforms.aggregation.state import (
    Clusters,
    ClusterSums,
    CorpusState,
    MeanState,
    MetricState,
    ShareState,
    SliceState,
    new_metric_state,
)

_KINDS = tuple(field.name for field in fields(JudgeSpend))
# 512 KiB: a cell with all hashes of a long log would take the Parquet writer six times its size.
_HASHES_PER_ROW = 1 << 16
_MOMENTS = (
    "n_scored",
    "origin",
    "offset",
    "m2",
    "sum",
    "sum_squares",
    "sum_if_errors_no",
    "sum_if_errors_yes",
    "min",
    "max",
)


def state_records(run_id: str, slice_name: str, state: SliceState) -> Iterator[dict[str, Any]]:
    """The slice's rows of the state table: the slice itself, further id hashes, then its metrics by key."""
    base = {**dict.fromkeys(STATE_SCHEMA.names), "run_id": run_id, "slice": slice_name, "n_rows": state.n_rows}
    hashes = np.sort(np.frombuffer(state.id_hashes, dtype=np.uint64)).astype("<u8", copy=False)
    verdicts = [{"judge": judge, **counts._asdict()} for judge, counts in sorted(state.verdicts.items())]
    own = {"spend": list(_spend_cells(state.spend)), "verdicts": verdicts}
    yield {**base, **own, "id_hashes": hashes[:_HASHES_PER_ROW].tobytes()}
    for start in range(_HASHES_PER_ROW, len(hashes), _HASHES_PER_ROW):
        further = hashes[start : start + _HASHES_PER_ROW].tobytes()
        yield {**base, "n_rows": 0, "id_hashes": further, "spend": [], "verdicts": []}
    for key in sorted(state.metrics):
        yield {**base, "key": key, **_metric_cells(state.metrics[key])}


def states_from_records(records: Iterable[Mapping[str, Any]]) -> dict[str, SliceState]:
    """The states by slice name, from rows of the state table in any order. Rows of several runs are added up."""
    states: dict[str, SliceState] = {}
    for record in records:
        part = SliceState()
        if record["key"] is None:
            part.n_rows = record["n_rows"]
            part.id_hashes.frombytes(np.frombuffer(record["id_hashes"], dtype="<u8").astype(np.uint64).tobytes())
            part.spend = _spends(record["spend"])
            part.verdicts = {cell["judge"]: VerdictCounts(cell["rated"], cell["failed"]) for cell in record["verdicts"]}
        else:
            part.metrics[record["key"]] = _metric_state(record)
        states.setdefault(record["slice"], SliceState()).merge(part)
    return states


def _metric_cells(metric: MetricState) -> dict[str, Any]:
    cells = {
        "kind": metric.kind.value,
        "n_scored": metric.n_scored,
        "n_not_sampled": metric.n_not_sampled,
        "n_error": metric.n_error,
        "clusters": _cluster_cells(metric.clusters),
    }
    if isinstance(metric, ShareState):
        return {**cells, "n_yes": metric.n_yes, "n_no": metric.n_no}
    if isinstance(metric, MeanState):
        return {
            **cells,
            **{name: getattr(metric, name) for name in _MOMENTS},
            "sketch_zero": metric.sketch.zero,
            "sketch_positive": _sketch_cells(metric.sketch.positive),
            "sketch_negative": _sketch_cells(metric.sketch.negative),
        }
    return {**cells, "buckets": [{"bucket": b, "stats": stats.tolist()} for b, stats in metric.buckets.items()]}


def _metric_state(record: Mapping[str, Any]) -> MetricState:
    metric = new_metric_state(MetricKind(record["kind"]), record["clusters"] is not None)
    for cell in record["clusters"] or ():
        assert metric.clusters is not None
        metric.clusters[cell["bucket"]] = ClusterSums(cell["n"], cell["sum"])
    metric.n_not_sampled = record["n_not_sampled"]
    metric.n_error = record["n_error"]
    if isinstance(metric, ShareState):
        metric.n_yes, metric.n_no = record["n_yes"], record["n_no"]
    elif isinstance(metric, MeanState):
        for name in _MOMENTS:
            setattr(metric, name, record[name])
        metric.sketch.zero = record["sketch_zero"]
        metric.sketch.positive = _sketch_counts(record["sketch_positive"])
        metric.sketch.negative = _sketch_counts(record["sketch_negative"])
    elif isinstance(metric, CorpusState):
        metric.n_scored = record["n_scored"]
        for entry in record["buckets"]:
            metric.add_to_bucket(entry["bucket"], entry["stats"])
    return metric


def _cluster_cells(clusters: Clusters | None) -> list[dict[str, float]] | None:
    if clusters is None:
        return None
    return [{"bucket": bucket, "n": sums.n, "sum": sums.sum} for bucket, sums in sorted(clusters.items())]


def _sketch_cells(counts: dict[int, int]) -> list[dict[str, int]]:
    return [{"index": index, "count": count} for index, count in sorted(counts.items())]


def _sketch_counts(cells: Iterable[Mapping[str, int]]) -> dict[int, int]:
    return {cell["index"]: cell["count"] for cell in cells}


def _spend_cells(spends: Mapping[str, JudgeSpend]) -> Iterator[dict[str, Any]]:
    """One entry per judge and kind of spend; a kind without calls is left out."""
    for judge, spend in sorted(spends.items()):
        for kind in _KINDS:
            used = getattr(spend, kind)
            if used != NO_SPEND:
                yield {"judge": judge, "kind": kind, **asdict(used)}


def _spends(cells: Iterable[Mapping[str, Any]]) -> dict[str, JudgeSpend]:
    spends: dict[str, JudgeSpend] = {}
    for cell in cells:
        used = Spend(**{name: value for name, value in cell.items() if name not in ("judge", "kind")})
        spends[cell["judge"]] = replace(spends.get(cell["judge"], NO_JUDGE_SPEND), **{cell["kind"]: used})
    return spends
