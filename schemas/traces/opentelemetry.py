"""Traces of OpenTelemetry: OTLP JSON, and lists of spans in the vocabulary that their attributes have.

| format | recognised by |
| --- | --- |
| OTLP JSON | `resourceSpans` (github.com/open-telemetry/opentelemetry-proto, docs/specification.md) |
| OpenInference, TruLens, GenAI spans | spans under `spans`, or one span, by what their attributes are called |

A trace may mix vocabularies: the application's span is one of OpenInference, the model's one of OpenTelemetry. Each
span is read by its own; the format is that of the first that any span has, in the order above.
"""

from collections.abc import Callable, Collection

from beamjudge.schemas.json_value import Json
from beamjudge.schemas.traces import gen_ai, openinference, trulens
from beamjudge.schemas.traces.attribute_spans import AttributeSpan, attribute_names, has_attributes, read_attribute_span
from beamjudge.schemas.traces.containers import Place, objects, place_of
from beamjudge.schemas.traces.documents import RetrieverSchema, read_documents
from beamjudge.schemas.traces.facts import TraceError, TraceFacts, TraceFormat
from beamjudge.schemas.traces.mlflow import read_mlflow_attributes
from beamjudge.schemas.traces.spans import Span, exchange_of, last_retrieval, root_of, seconds_of, total_usage
from beamjudge.schemas.traces.values import unwrapped_request, unwrapped_response

_OPENINFERENCE, _TRULENS, _GEN_AI, _MLFLOW = "OpenInference", "TruLens", "GenAI spans", "MLflow spans in OTLP"


def is_otlp(trace: dict[str, Json]) -> bool:
    return place_of(trace) is Place.OTLP


def otlp_spans(trace: dict[str, Json]) -> list[dict[str, Json]]:
    """The spans of all resources and scopes, as logged."""
    spans: list[dict[str, Json]] = []
    for resource in (*objects(trace.get("resourceSpans")), *objects(trace.get("resource_spans"))):
        for name in ("scopeSpans", "scope_spans", "instrumentationLibrarySpans"):
            for scope in objects(resource.get(name)):
                spans += objects(scope.get("spans"))
    return spans


def facts_of(spans: list[Span]) -> TraceFacts:
    """What a tree of spans says, by the rules that all formats but MLflow's share."""
    retrieval = last_retrieval(spans)
    found = read_documents(retrieval.outputs, RetrieverSchema()) if retrieval is not None else None
    exchange = exchange_of(spans)
    return TraceFacts(
        unwrapped_request(exchange.request),
        unwrapped_response(exchange.response),
        found.documents if found else None,
        total_usage(spans),
        seconds_of(root_of(spans)),
        found.notes if found else (),
    )


def _read_spans(logged: list[dict[str, Json]]) -> TraceFacts:
    spans = [read_attribute_span(span) for span in logged]
    own = [_read_span(span) for span in spans if not trulens.is_evaluation(span)]
    if not own:
        raise TraceError("the trace has no span")
    return facts_of(own)


def _read_span(span: AttributeSpan) -> Span:
    vocabulary = _vocabulary(span.attributes)
    if vocabulary == _OPENINFERENCE:
        return openinference.read_openinference(span)
    if vocabulary == _TRULENS:
        return trulens.read_trulens(span)
    if vocabulary == _MLFLOW:
        return read_mlflow_attributes(span)
    return gen_ai.read_gen_ai(span)


def _vocabulary(names: Collection[str]) -> str | None:
    if openinference.KIND in names:
        return _OPENINFERENCE
    found: str | None = None
    for name in names:
        if name.startswith(trulens.PREFIX):
            return _TRULENS
        if name.startswith("mlflow."):
            found = _MLFLOW
        elif found is None and name.startswith(gen_ai.PREFIXES):
            found = _GEN_AI
    return found


def _span_list(trace: dict[str, Json]) -> list[dict[str, Json]]:
    """The spans of a list, or the one span that the trace is; none for other formats."""
    place = place_of(trace)
    if place is Place.SPANS:
        return [span for span in objects(trace.get("spans")) if has_attributes(span)]
    return [trace] if place is Place.ITSELF and has_attributes(trace) else []


def _format_of(trace: dict[str, Json]) -> str | None:
    found = {_vocabulary(attribute_names(span)) for span in _span_list(trace)}
    return next((name for name in (_OPENINFERENCE, _TRULENS, _MLFLOW, _GEN_AI) if name in found), None)


def _is(name: str) -> Callable[[dict[str, Json]], bool]:
    def matches(trace: dict[str, Json]) -> bool:
        return _format_of(trace) == name

    return matches


def _read_otlp(trace: dict[str, Json]) -> TraceFacts:
    return _read_spans(otlp_spans(trace))


def _read_list(trace: dict[str, Json]) -> TraceFacts:
    return _read_spans(_span_list(trace))


OPENTELEMETRY_FORMATS: tuple[TraceFormat, ...] = (
    TraceFormat("OTLP JSON", is_otlp, _read_otlp),
    TraceFormat(_OPENINFERENCE, _is(_OPENINFERENCE), _read_list),
    TraceFormat(_TRULENS, _is(_TRULENS), _read_list),
    TraceFormat(_GEN_AI, _is(_GEN_AI), _read_list),
    TraceFormat(_MLFLOW, _is(_MLFLOW), _read_list),
)
