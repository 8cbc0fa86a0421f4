"""METEOR (Lavie and Agarwal, WMT 2007) as nltk computes it: words aligned as they are, by stem, and by synonym.

Synonyms are WordNet's, and only where nltk and its WordNet data are installed; nothing is downloaded.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

from beamjudge.schemas.assessment import MetricValue
from beamjudge.schemas.metric import Column, ColumnType, mean_spec
from beamjudge.schemas.row import Row
from beamjudge.transforms.metrics.family import MetricFamily
from beamjudge.transforms.metrics.text.scored_text import scored_text
from beamjudge.transforms.metrics.text.signatures import NLTK, library_signature, tokenizer_signature
from beamjudge.transforms.metrics.text.stems import stem
from beamjudge.transforms.metrics.text.synonyms import synonyms, wordnet_is_installed

_COLUMN = "response/text/meteor"
_ALPHA, _BETA, _GAMMA = 0.9, 3.0, 0.5

# Words with their positions.
_Words = list[tuple[int, str]]


def meteor(response: Sequence[str], reference: Sequence[str], *, with_synonyms: bool = False) -> float:
    """METEOR in [0, 1]; a little below 1 for equal texts, because even a text in one piece counts as one chunk."""
    matches = _align(response, reference, with_synonyms)
    if not matches:
        return 0.0
    precision, recall = len(matches) / len(response), len(matches) / len(reference)
    mean = precision * recall / (_ALPHA * precision + (1 - _ALPHA) * recall)
    fragmentation: float = (_count_chunks(matches) / len(matches)) ** _BETA
    return (1 - _GAMMA * fragmentation) * mean


def _align(response: Sequence[str], reference: Sequence[str], with_synonyms: bool) -> list[tuple[int, int]]:
    """Pairs of positions in order. Each stage matches what the stages before it have left; as in nltk, synonyms are
    looked up for the stems of the stage before, not for the words."""
    left = [(position, word.lower()) for position, word in enumerate(response)]
    wanted = [(position, word.lower()) for position, word in enumerate(reference)]
    matches = _match(left, wanted)
    left = [(position, stem(word)) for position, word in left]
    wanted = [(position, stem(word)) for position, word in wanted]
    matches += _match(left, wanted)
    if with_synonyms:
        matches += _match(left, wanted, synonyms)
    return sorted(matches)


def _match(
    left: _Words, wanted: _Words, forms_of: Callable[[str], Iterable[str]] | None = None
) -> list[tuple[int, int]]:
    """Match from the end: each word with the last free one that equals it, or one of its forms. Both lists lose what
    was matched."""
    free: dict[str, list[int]] = {}
    for index, (_, word) in enumerate(wanted):
        free.setdefault(word, []).append(index)
    matches, unmatched = [], []
    taken = set()
    for position, word in reversed(left):
        places = free.get(word) if forms_of is None else _last_place(free, forms_of(word))
        if places:
            index = places.pop()
            taken.add(index)
            matches.append((position, wanted[index][0]))
        else:
            unmatched.append((position, word))
    left[:] = reversed(unmatched)
    wanted[:] = [pair for index, pair in enumerate(wanted) if index not in taken]
    return matches


def _last_place(free: Mapping[str, list[int]], forms: Iterable[str]) -> list[int] | None:
    """The free places of that of the forms which stands last."""
    return max((places for form in forms if (places := free.get(form))), key=itemgetter(-1), default=None)


def _count_chunks(matches: Sequence[tuple[int, int]]) -> int:
    """Runs of matches that are adjacent in both texts."""
    return 1 + sum([after != (before[0] + 1, before[1] + 1) for before, after in pairwise(matches)])


@dataclass(frozen=True, slots=True)
class _Meteor:
    """The best score that any reference gives."""

    setting: str
    with_synonyms: bool

    def __call__(self, row: Row) -> Mapping[str, MetricValue]:
        texts = scored_text(row, self.setting)
        if texts is None:
            return {_COLUMN: None}
        response, *references = texts.tokens
        scores = [meteor(response, reference, with_synonyms=self.with_synonyms) for reference in references]
        return {_COLUMN: max(scores)}


def meteor_family(setting: str) -> MetricFamily:
    """METEOR over BLEU's tokens. Whether synonyms count is settled here, once for all workers of a run."""
    with_synonyms = wordnet_is_installed()
    signature = library_signature(
        NLTK,
        case="lc",
        match="exact+stem+wordnet" if with_synonyms else "exact+stem",
        alpha=str(_ALPHA),
        beta=str(_BETA),
        gamma=str(_GAMMA),
        tok=tokenizer_signature(setting),
    )
    return MetricFamily(
        name="meteor",
        columns=(Column(_COLUMN, ColumnType.FLOAT),),
        specs=(mean_spec(_COLUMN, low=0.0, high=1.0),),
        compute=_Meteor(setting, with_synonyms),
        signatures={f"{_COLUMN}/average": signature},
    )
