"""TER (Snover et al., AMTA 2006) as sacrebleu computes it: per row, and per run from summed statistics."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from rapidfuzz.distance import Levenshtein

from beamjudge.schemas.metric import Column, ColumnType
from beamjudge.transforms.metrics.family import MetricFamily
from beamjudge.transforms.metrics.text.beam_distance import Alignment, BeamDistance
from beamjudge.transforms.metrics.text.corpus_score import CorpusScore, corpus_keys
from beamjudge.transforms.metrics.text.ngrams import intern_words
from beamjudge.transforms.metrics.text.scored_text import AUTO, ScoredText
from beamjudge.transforms.metrics.text.signatures import sacrebleu_signature

_COLUMN = "response/text/ter"
_LONGEST_SHIFT: Final = 10
_FARTHEST_SHIFT: Final = 50
_MOST_CANDIDATES: Final = 1000

# The lengths of a row's references are averaged, and statistics have to be integers: they are kept in such parts of a
# word (the least common multiple of 1 to 18), which is exact for up to 18 references.
_PARTS: Final = 12_252_240

# Tercom's words stand between white space; in text without any, each letter is one.
_TERCOM: Final = "tercom"
_UNSPACED: Final = ("zh", "char")


class _Shift(NamedTuple):
    """Words to move from `start` to before `target`. Of two shifts that gain the same the first in order is taken."""

    minus_length: int
    start: int
    target: int

    def perform(self, words: str) -> str:
        start, end, target = self.start, self.start - self.minus_length, self.target
        moved = words[start:end]
        if target < start:
            return words[:target] + moved + words[target:start] + words[end:]
        if target <= end:  # among the moved words: so many places on from where they stand
            target -= self.minus_length
        return words[:start] + words[end:target] + moved + words[target:]


class _State(NamedTuple):
    """The response after some shifts, and how it lies to the reference."""

    words: str
    alignment: Alignment


def edits(response: Sequence[str], reference: Sequence[str]) -> int:
    """The edits that turn the response into the reference: shifts of words, and words to insert, delete or replace.

    The shift that saves most is made until none saves anything, or until 1,000 were looked at: Tercom's rules, in
    sacrebleu's version.
    """
    if not reference:
        return len(response)
    interned = intern_words(response, [reference])
    words, target = interned.first, interned.others[0]
    distances = BeamDistance(target, len(words))
    state = _State(words, distances.align(words))
    shifts = seen = 0
    while True:
        candidates = []
        for shift in _candidates(state.words, target, state.alignment):
            candidates.append(shift)
            seen += 1
            if seen >= _MOST_CANDIDATES:
                return shifts + state.alignment.distance
        shifted = _best_shift(state, candidates, target, distances)
        if shifted is None:
            return shifts + state.alignment.distance
        state = shifted
        shifts += 1


def _candidates(words: str, reference: str, alignment: Alignment) -> Iterator[_Shift]:
    """Shifts of runs of words that the reference has too, elsewhere, where both are in error now."""
    positions: dict[str, list[int]] = {}
    for position, word in enumerate(reference):
        positions.setdefault(word, []).append(position)
    for start, word in enumerate(words):
        for there in positions.get(word, ()):
            if abs(there - start) <= _FARTHEST_SHIFT:
                yield from _candidates_at(start, there, words, reference, alignment)


def _candidates_at(start: int, there: int, words: str, reference: str, alignment: Alignment) -> Iterator[_Shift]:
    _, places, errors, reference_errors = alignment
    longest = min(_LONGEST_SHIFT, len(words) - start, len(reference) - there)
    length = 0
    while length < longest and words[start + length] == reference[there + length]:
        length += 1
        if errors[start + length] == errors[start] or reference_errors[there + length] == reference_errors[there]:
            continue
        if start <= places[there] < start + length:
            continue
        last = -1
        for position in range(there - 1, there + length):
            target = places[position] + 1 if position >= 0 else 0
            if target != last:
                last = target
                yield _Shift(-length, start, target)


def _best_shift(state: _State, candidates: Sequence[_Shift], reference: str, distances: BeamDistance) -> _State | None:
    """The state after the shift that saves most, or null where none saves anything.

    The true distance, which is fast, is never above the beam's: only candidates that it allows to be the best are
    aligned.
    """
    limit = state.alignment.distance - 1
    bounded = []
    for shift in candidates:
        words = shift.perform(state.words)
        bound = Levenshtein.distance(words, reference, score_cutoff=limit)
        if bound <= limit:
            bounded.append((bound, shift, words))
    bounded.sort()
    best: tuple[int, _Shift] | None = None
    shifted = None
    for bound, shift, words in bounded:
        if best is not None and (bound, shift) > best:
            break
        alignment = distances.align(words)
        outcome = (alignment.distance, shift)
        if alignment.distance <= limit and (best is None or outcome < best):
            best, shifted = outcome, _State(words, alignment)
    return shifted


def ter_statistics(response: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[int, int]:
    """The fewest edits that any reference takes, and the mean length of the references in `_PARTS` of a word."""
    fewest = min([edits(response, reference) for reference in references])
    return fewest, round(sum(map(len, references)) * _PARTS / len(references))


def ter_score(statistics: Sequence[int]) -> float:
    """TER of one row's or of summed statistics: 0 is best, and above 100 is possible. Equal to sacrebleu's."""
    n_edits, parts = statistics
    if parts:
        return 100.0 * n_edits / (parts / _PARTS)
    return 100.0 if n_edits else 0.0


def ter_words(text: str) -> list[str]:
    """The words of Tercom's tokenizer with sacrebleu's default settings."""
    return text.rstrip().lower().split()


def _statistics(texts: ScoredText) -> tuple[str, tuple[int, ...]]:
    if texts.follows_script and texts.tokenizer in _UNSPACED:
        tokenizer, words = texts.tokenizer, [[token.lower() for token in tokens] for tokens in texts.tokens]
    else:
        tokenizer, words = _TERCOM, [ter_words(text) for text in texts.texts]
    response, *references = words
    return tokenizer, ter_statistics(response, references)


def ter_family(setting: str) -> MetricFamily:
    """TER over Tercom's words or, where the script of the texts decides, over the letters of unspaced scripts."""
    tokenizers = (_TERCOM, *(_UNSPACED if setting == AUTO else ()))
    score = CorpusScore(_COLUMN, setting, corpus_keys(_COLUMN, tokenizers, plain=_TERCOM), _statistics, ter_score)
    return MetricFamily(
        name="ter",
        columns=(Column(_COLUMN, ColumnType.FLOAT),),
        specs=score.specs("ter", high=None),
        compute=score,
        signatures=score.signatures(_signature(AUTO if setting == AUTO else _TERCOM), _signature),
    )


def _signature(tokenizer: str) -> str:
    return sacrebleu_signature(case="lc", tok=tokenizer, norm="no", punct="yes", asian="no")
