"""The vocabularies that spans have for their attributes. Each span is read by its own, whatever trace it is in."""

from collections.abc import Callable, Collection
from typing import TypeAlias

from beamjudge.schemas.traces import gen_ai, mlflow_spans, openinference, trulens
from beamjudge.schemas.traces.attribute_spans import AttributeSpan
from beamjudge.schemas.traces.spans import Span

Vocabulary: TypeAlias = Callable[[AttributeSpan], Span]


def vocabulary_of(names: Collection[str]) -> Vocabulary | None:
    """What reads a span with attributes of these names; null for attributes of no known vocabulary.

    A span that mixes several is one of OpenInference, else of TruLens, else of MLflow.
    """
    if openinference.KIND in names:
        return openinference.read_openinference
    found: Vocabulary | None = None
    for name in names:
        if name.startswith(trulens.PREFIX):
            return trulens.read_trulens
        if name.startswith(mlflow_spans.PREFIX):
            found = mlflow_spans.read_mlflow
        elif found is None and name.startswith(gen_ai.PREFIXES):
            found = gen_ai.read_gen_ai
    return found
