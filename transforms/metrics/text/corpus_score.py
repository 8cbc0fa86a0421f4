"""What BLEU and TER have in common: a score of each row, and a corpus score for each tokenizer that rows have."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from beamjudge.schemas.assessment import MetricValue
from beamjudge.schemas.metric import MetricSpec, corpus_spec, mean_spec
from beamjudge.schemas.row import Row
from beamjudge.transforms.metrics.text.scored_text import ScoredText, scored_text


@dataclass(frozen=True, slots=True)
class CorpusScore:
    """A row's score, and its statistics under the corpus metric of its tokenizer; never under two.

    `keys` are the corpus metrics by tokenizer. `statistics` gives the tokenizer of the texts, and numbers that add up
    over rows; `score` is the score of such numbers.
    """

    column: str
    setting: str
    keys: Mapping[str, str]
    statistics: Callable[[ScoredText], tuple[str, tuple[int, ...]]]
    score: Callable[[Sequence[int]], float]

    def __call__(self, row: Row) -> Mapping[str, MetricValue]:
        values: dict[str, MetricValue] = dict.fromkeys((self.column, *self.keys.values()))
        texts = scored_text(row, self.setting)
        if texts is not None:
            tokenizer, statistics = self.statistics(texts)
            values[self.column] = self.score(statistics)
            values[self.keys[tokenizer]] = statistics
        return values

    def specs(self, scorer: str, high: float | None) -> tuple[MetricSpec, ...]:
        """The rows' average and the corpus scores; only the first tokenizer's is written where no row used it."""
        first, *_ = self.keys
        return (
            mean_spec(self.column, low=0.0, high=high),
            *(
                corpus_spec(key, scorer=scorer, low=0.0, high=high, optional=tokenizer != first)
                for tokenizer, key in self.keys.items()
            ),
        )

    def signatures(self, average: str, corpus: Callable[[str], str]) -> dict[str, str]:
        """By run-level metric; `corpus` gives the signature of a tokenizer's corpus score."""
        of_corpora = {key: corpus(tokenizer) for tokenizer, key in self.keys.items()}
        return {f"{self.column}/average": average, **of_corpora}


def corpus_keys(column: str, tokenizers: Iterable[str], plain: str) -> dict[str, str]:
    """`<column>/corpus@<tokenizer>` by tokenizer, without the tokenizer's name for the `plain` one."""
    key = f"{column}/corpus"
    return {tokenizer: key if tokenizer == plain else f"{key}@{tokenizer}" for tokenizer in tokenizers}
