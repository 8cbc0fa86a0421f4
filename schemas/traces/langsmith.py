"""LangSmith runs: one with its `child_runs`, a list of runs, and the bodies of its batch ingest.

Source: docs.smith.langchain.com/reference/data_formats/run_data_format and api.smith.langchain.com/redoc, POST
/runs/batch. A batch posts a run when it begins and patches it when it ends; both are one run.
"""

from collections.abc import Iterable

from beamjudge.schemas.json_text import as_list, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.row import TokenUsage
from beamjudge.schemas.traces.attribute_spans import has_attributes
from beamjudge.schemas.traces.containers import Place, objects, place_of
from beamjudge.schemas.traces.facts import TraceError, TraceFacts, TraceFormat
from beamjudge.schemas.traces.opentelemetry import facts_of
from beamjudge.schemas.traces.spans import Exchange, Span, Speaks, Times
from beamjudge.schemas.traces.values import decoded, text_of, time_nanoseconds
from beamjudge.schemas.usage import read_usage, response_usage

_SILENT = frozenset({"retriever", "tool", "embedding"})
_NOTHING: tuple[Json, ...] = (None, {}, [], "")


def is_run(value: Json) -> bool:
    """Whether a record is a run, or what a patch adds to one."""
    if not is_object(value):
        return False
    is_whole = (
        value.get("id") is not None
        and isinstance(value.get("run_type"), str)
        and ("inputs" in value or "outputs" in value)
    )
    is_told = is_whole or (value.get("trace_id") is not None and bool(_ancestry(value)))
    return is_told and not has_attributes(value)


def is_batch(value: dict[str, Json]) -> bool:
    """Whether a record is the body of a batch ingest."""
    runs = [*as_list(value.get("post")), *as_list(value.get("patch"))]
    return place_of(value) is Place.BATCH and bool(runs) and all(is_run(run) for run in runs)


def batch_runs(value: dict[str, Json]) -> list[dict[str, Json]]:
    return [*objects(value.get("post")), *objects(value.get("patch"))]


def joined_runs(runs: Iterable[dict[str, Json]]) -> dict[str, Json]:
    """One run of what was posted of it and patched: of two values the later, where it says anything."""
    joined: dict[str, Json] = {}
    for run in runs:
        joined.update({name: value for name, value in run.items() if name not in joined or value not in _NOTHING})
    return joined


def run_trace_id(run: dict[str, Json]) -> str | None:
    """The id of the run's trace, which is that of its root run."""
    if (own := text_of(run.get("trace_id"))) is not None:
        return own
    order = _ancestry(run)
    return order[0] if order else None


def run_id(run: dict[str, Json]) -> str | None:
    """A patch may have its run's id at the end of `dotted_order` alone."""
    return text_of(run.get("id")) or next(iter(reversed(_ancestry(run))), None)


def _ancestry(run: dict[str, Json]) -> list[str]:
    """The ids from the root run to this one: `dotted_order` is `<time>Z<id>.<time>Z<id>`."""
    order = run.get("dotted_order")
    return [step.partition("Z")[2] for step in order.split(".") if "Z" in step] if isinstance(order, str) else []


def _runs(trace: dict[str, Json]) -> list[dict[str, Json]]:
    """All runs of a trace in the order of the log, those of a post and its patch put together."""
    if is_batch(trace):
        waiting = batch_runs(trace)
    elif place_of(trace) is Place.SPANS:
        waiting = objects(trace.get("spans"))
    else:
        waiting = [trace]
    found: dict[str, dict[str, Json]] = {}
    waiting.reverse()
    while waiting:
        run = waiting.pop()
        children = objects(run.get("child_runs"))
        own = run_id(run)
        waiting += [{"parent_run_id": own, **child} for child in reversed(children)]
        key = own or f"#{len(found)}"
        found[key] = joined_runs((found[key], run)) if key in found else run
    return list(found.values())


def _is_langsmith(trace: dict[str, Json]) -> bool:
    place = place_of(trace)
    if place is Place.SPANS:
        spans = as_list(trace.get("spans"))
        return bool(spans) and all(is_run(span) for span in spans)
    return is_batch(trace) or (place is Place.ITSELF and is_run(trace))


def _read(trace: dict[str, Json]) -> TraceFacts:
    spans = [_read_run(run) for run in _runs(trace)]
    if not spans:
        raise TraceError("the LangSmith trace has no run")
    return facts_of(spans)


def _read_run(run: dict[str, Json]) -> Span:
    kind = str(run.get("run_type")).lower()
    is_retriever = kind == "retriever"
    ancestry = _ancestry(run)
    outputs = decoded(run.get("outputs"))
    if is_retriever and outputs is None and not run.get("error"):
        outputs = []
    return Span(
        run_id(run),
        text_of(run.get("parent_run_id")) or (ancestry[-2] if len(ancestry) > 1 else None),
        text_of(run.get("name")),
        is_retriever,
        _usage(run, outputs),
        lambda: Times(time_nanoseconds(run.get("start_time")), time_nanoseconds(run.get("end_time"))),
        lambda: Exchange(decoded(run.get("inputs")), outputs),
        Speaks.NO if kind in _SILENT else Speaks.YES,
        bool(run.get("error")),
    )


def _usage(run: dict[str, Json], outputs: Json) -> TokenUsage | None:
    """The run's own counts, which are null or 0 where nothing was counted, else those in its outputs."""
    counts: dict[str, Json] = {name: run.get(name) for name in ("prompt_tokens", "completion_tokens", "total_tokens")}
    if any(counts.values()):
        return read_usage(counts)
    if not is_object(outputs):
        return None
    return response_usage(outputs) or _generated(outputs)


def _generated(outputs: dict[str, Json]) -> TokenUsage | None:
    """LangChain's `generations`, a list of lists, each with a message that has counts."""
    first: Json = outputs.get("generations")
    while is_list(first):
        first = first[0] if first else None
    message = first.get("message") if is_object(first) else None
    return response_usage(message) if is_object(message) else None


LANGSMITH_FORMATS: tuple[TraceFormat, ...] = (TraceFormat("LangSmith", _is_langsmith, _read),)
