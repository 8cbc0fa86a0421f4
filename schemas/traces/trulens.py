"""TruLens' spans: `ai.observability.*` attributes in OpenTelemetry or in the event table.

Source: github.com/truera/trulens, src/otel/semconv/trulens/otel/semconv/trace.py. Spans of evaluations come after the
application's own, in the same trace, and are left out.
"""

from beamjudge.schemas.json_value import Json
from beamjudge.schemas.traces.attribute_spans import AttributeSpan
from beamjudge.schemas.traces.spans import Exchange, Span, Speaks
from beamjudge.schemas.traces.values import decoded
from beamjudge.schemas.usage import read_usage

PREFIX = "ai.observability."
RECORD_ID = PREFIX + "record_id"
_TYPE = PREFIX + "span_type"
_ARGUMENT = PREFIX + "call.kwargs."
_COUNTS = {
    "prompt_tokens": "num_prompt_tokens",
    "completion_tokens": "num_completion_tokens",
    "total_tokens": "num_tokens",
}
_SILENT = frozenset({"retrieval", "reranking", "tool", "embedding", "mcp"})


def is_evaluation(span: AttributeSpan) -> bool:
    """Whether a span is no part of the application but of its evaluation."""
    kind = span.attributes.get(_TYPE)
    return isinstance(kind, str) and kind.startswith("eval")


def read_trulens(span: AttributeSpan) -> Span:
    """A span with these attributes. The outputs of a retrieval are its contexts in rank order."""
    attributes = span.attributes
    kind = str(attributes.get(_TYPE))
    inputs: Json = {key[len(_ARGUMENT) :]: value for key, value in attributes.items() if key.startswith(_ARGUMENT)}
    outputs = attributes.get(PREFIX + "call.return")
    if kind == "record_root":
        inputs = attributes.get(PREFIX + "record_root.input", inputs)
        outputs = attributes.get(PREFIX + "record_root.output", outputs)
    elif kind == "retrieval":
        outputs = attributes.get(PREFIX + "retrieval.retrieved_contexts", outputs)
    counts = {name: attributes.get(f"{PREFIX}cost.{ours}") for name, ours in _COUNTS.items()}
    speaks = Speaks.AGENT if kind in ("agent", "record_root") else Speaks.NO if kind in _SILENT else Speaks.YES
    return Span(
        span.id,
        span.parent,
        span.name,
        kind == "retrieval",
        read_usage(counts),
        span.times,
        lambda: Exchange(inputs or None, decoded(outputs) if kind == "retrieval" else outputs),
        speaks,
    )
