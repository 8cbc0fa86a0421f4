"""Traces of OpenTelemetry: OTLP JSON, and lists of spans in a vocabulary that is told by their attributes.

OTLP JSON is recognised by `resourceSpans` (github.com/open-telemetry/opentelemetry-proto, docs/specification.md), a
list by any span whose vocabulary is known. A trace may mix them: the application's span is one of OpenInference, the
model's one of OpenTelemetry.
"""

from collections.abc import Iterator

from beamjudge.schemas.json_value import Json
from beamjudge.schemas.traces import gen_ai, trulens
from beamjudge.schemas.traces.attribute_spans import AttributeSpan, attribute_names, has_attributes, read_attribute_span
from beamjudge.schemas.traces.containers import Place, objects, place_of
from beamjudge.schemas.traces.documents import RetrieverSchema, read_documents
from beamjudge.schemas.traces.facts import TraceError, TraceFacts, TraceFormat
from beamjudge.schemas.traces.spans import Span, exchange_of, last_retrieval, root_of, seconds_of, total_usage
from beamjudge.schemas.traces.values import unwrapped_request, unwrapped_response
from beamjudge.schemas.traces.vocabularies import vocabulary_of


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
    found = read_documents(retrieval.exchange.response, RetrieverSchema()) if retrieval is not None else None
    exchange, root = exchange_of(spans), root_of(spans)
    return TraceFacts(
        unwrapped_request(exchange.request),
        unwrapped_response(exchange.response),
        found.documents if found else None,
        total_usage(spans),
        seconds_of(root),
        found.notes if found else (),
        root is not None and root.failed,
    )


def _read_spans(logged: list[dict[str, Json]]) -> TraceFacts:
    spans = [read_attribute_span(span) for span in logged]
    own = [_read_span(span) for span in spans if not trulens.is_evaluation(span)]
    if not own:
        raise TraceError("the trace has no span")
    return facts_of(own)


def _read_span(span: AttributeSpan) -> Span:
    read = (vocabulary_of(span.attributes) or gen_ai.read_gen_ai)(span)
    read.failed = span.failed
    return read


def _span_list(trace: dict[str, Json]) -> Iterator[dict[str, Json]]:
    """The spans of a list, or the one span that the trace is; none for other formats."""
    place = place_of(trace)
    listed = objects(trace.get("spans")) if place is Place.SPANS else [trace] if place is Place.ITSELF else []
    return filter(has_attributes, listed)


def _is_list(trace: dict[str, Json]) -> bool:
    return any(vocabulary_of(attribute_names(span)) is not None for span in _span_list(trace))


def _read_otlp(trace: dict[str, Json]) -> TraceFacts:
    return _read_spans(otlp_spans(trace))


def _read_list(trace: dict[str, Json]) -> TraceFacts:
    return _read_spans(list(_span_list(trace)))


OPENTELEMETRY_FORMATS: tuple[TraceFormat, ...] = (
    TraceFormat("OTLP JSON", is_otlp, _read_otlp),
    TraceFormat("spans of OpenTelemetry (OpenInference, TruLens, GenAI, MLflow)", _is_list, _read_list),
)
