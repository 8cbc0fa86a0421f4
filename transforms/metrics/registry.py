"""The deterministic metrics of a run: which families there are, and which of them a configuration selects.

A new family is a module that defines a `MetricFamily`, a line in `_families`, and its name in its group in
`schemas/run_config.py`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from beamjudge.schemas.row import Row
from beamjudge.schemas.run_config import METRIC_GROUPS, RunConfig
from beamjudge.transforms.metrics.family import MetricFamily
from beamjudge.transforms.metrics.form import IS_JSON, IS_REFUSAL, LENGTH
from beamjudge.transforms.metrics.language import LANGUAGE
from beamjudge.transforms.metrics.retrieval import retrieval_families
from beamjudge.transforms.metrics.rules import rule_family
from beamjudge.transforms.metrics.text.answers import exact_match_family, token_f1_family
from beamjudge.transforms.metrics.text.bleu import bleu_family, corpus_bleu
from beamjudge.transforms.metrics.text.chrf import chrf_family, chrf_score, chrfpp_family
from beamjudge.transforms.metrics.text.edit_similarity import edit_similarity_family
from beamjudge.transforms.metrics.text.meteor import meteor_family
from beamjudge.transforms.metrics.text.rouge import rouge_family
from beamjudge.transforms.metrics.text.scored_text import tokenizer_family
from beamjudge.transforms.metrics.text.ter import ter_family, ter_score
from beamjudge.transforms.metrics.usage import LATENCY, TOKENS

if TYPE_CHECKING:  # a plan is made of families
    from beamjudge.transforms.plan import RunPlan

__all__ = ["CORPUS_SCORERS", "MetricFamily", "applies", "metric_families", "signatures"]

# A corpus metric's `scorer` -> the score of summed statistics.
CORPUS_SCORERS: Mapping[str, Callable[[Sequence[int]], float]] = {
    "bleu": corpus_bleu,
    "chrf": chrf_score,
    "ter": ter_score,
}


def _families(config: RunConfig) -> Iterator[MetricFamily]:
    """Every family, as the configuration has it."""
    setting = config.text_tokenizer
    yield from retrieval_families(config.retrieval_k)
    yield from (TOKENS, LATENCY)
    yield from (bleu_family(setting), chrf_family(setting), chrfpp_family(setting), ter_family(setting))
    yield from (rouge_family(setting, stemmed=config.rouge_stemmer), meteor_family(setting))
    yield from (exact_match_family(setting), token_f1_family(setting), edit_similarity_family(setting))
    yield from (LENGTH, IS_REFUSAL, IS_JSON, LANGUAGE)


def metric_families(config: RunConfig) -> tuple[MetricFamily, ...]:
    """The families that the configuration selects, in the order of the built-in list.

    With any family of the group `text` comes the column that names the tokenizer of its scores. Rules are selected by
    being there, except in a run without any metrics.
    """
    names = config.selected_metrics()
    families = [
        _narrow(family, config.selected_columns(family.name)) for family in _families(config) if family.name in names
    ]
    if any(name in METRIC_GROUPS["text"] for name in names):
        families.append(tokenizer_family(config.text_tokenizer))
    if config.rules and config.metrics != []:
        families.append(rule_family(config.rules))
    return tuple(families)


def _narrow(family: MetricFamily, columns: frozenset[str] | None) -> MetricFamily:
    """The family with only the columns of these last names, and what is made of them."""
    if columns is None:
        return family
    names = {column.name for column in family.columns if column.name.rpartition("/")[2] in columns}
    return replace(
        family,
        columns=tuple(column for column in family.columns if column.name in names),
        specs=tuple(spec for spec in family.specs if spec.key in names),
        signatures={name: value for name, value in family.signatures.items() if name.rpartition("/")[0] in names},
    )


def signatures(plan: "RunPlan") -> dict[str, str]:
    """Run-level metric -> by which settings exactly it was computed, for those that have a signature."""
    return {name: signature for family in plan.families for name, signature in family.signatures.items()}


def applies(families: Iterable[MetricFamily], row: Row) -> bool:
    """Whether any of the families has something to say of the row; for a row without a response: can it be scored?"""
    return any(value is not None for family in families for value in family.compute(row).values())
