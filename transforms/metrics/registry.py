"""The deterministic metrics of a run: which families there are, and which of them a configuration selects.

A new family is a module that defines a `MetricFamily`, a line in `_FAMILIES`, and its name in its group in
`schemas/run_config.py`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from beamjudge.schemas.row import Row
from beamjudge.schemas.run_config import METRIC_GROUPS, RunConfig
from beamjudge.transforms.metrics.family import MetricFamily
from beamjudge.transforms.metrics.form import LENGTH
from beamjudge.transforms.metrics.retrieval import DOCUMENT_RECALL
from beamjudge.transforms.metrics.text.bleu import BLEU, corpus_bleu
from beamjudge.transforms.metrics.text.rouge import ROUGE
from beamjudge.transforms.metrics.text.scored_text import TOKENIZER
from beamjudge.transforms.metrics.usage import LATENCY, TOKENS

__all__ = ["CORPUS_SCORERS", "MetricFamily", "applies", "metric_families"]

_FAMILIES: dict[str, MetricFamily] = {
    family.name: family
    for family in (
        DOCUMENT_RECALL,
        TOKENS,
        LATENCY,
        BLEU,
        ROUGE,
        LENGTH,
    )
}

# A corpus metric's `scorer` -> the score of summed statistics.
CORPUS_SCORERS: Mapping[str, Callable[[Sequence[int]], float]] = {"bleu": corpus_bleu}


def metric_families(config: RunConfig) -> tuple[MetricFamily, ...]:
    """The families that the configuration selects, in the order of the built-in list.

    With any family of the group `text` comes the column that names the tokenizer of its scores.
    """
    names = config.selected_metrics()
    naming = (TOKENIZER,) if any(name in METRIC_GROUPS["text"] for name in names) else ()
    return (*(_FAMILIES[name] for name in names), *naming)


def applies(families: Iterable[MetricFamily], row: Row) -> bool:
    """Whether any of the families has something to say of the row; for a row without a response: can it be scored?"""
    return any(value is not None for family in families for value in family.compute(row).values())
