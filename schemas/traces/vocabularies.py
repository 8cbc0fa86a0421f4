"""The vocabularies that spans have for their attributes. Each span is read by its own, whatever trace it is in."""

from collections.abc import Callable, Collection
from functools import lru_cache
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
    found = {_named(name[:_LONGEST_PREFIX]) for name in names}
    return next((vocabulary for vocabulary in _BY_PREFIX if vocabulary in found), None)


_BY_PREFIX: dict[Vocabulary, tuple[str, ...]] = {
    trulens.read_trulens: (trulens.PREFIX,),
    mlflow_spans.read_mlflow: (mlflow_spans.PREFIX,),
    gen_ai.read_gen_ai: gen_ai.PREFIXES,
}


_LONGEST_PREFIX = max(len(prefix) for prefixes in _BY_PREFIX.values() for prefix in prefixes)


@lru_cache(maxsize=4096)  # the spans of a log have the same few names again and again
def _named(name: str) -> Vocabulary | None:
    return next((vocabulary for vocabulary, prefixes in _BY_PREFIX.items() if name.startswith(prefixes)), None)
