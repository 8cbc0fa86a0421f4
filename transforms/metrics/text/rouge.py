"""ROUGE (Lin, ACL 2004 workshop) as rouge-score computes it without stemming: 1, 2, L and Lsum, F-measures."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from beamjudge.schemas.assessment import MetricValue
from beamjudge.schemas.metric import Column, ColumnType, mean_spec
from beamjudge.schemas.row import Row
from beamjudge.transforms.metrics.family import MetricFamily
from beamjudge.transforms.metrics.text.lcs import lcs_length, lcs_positions, positions_of
from beamjudge.transforms.metrics.text.ngrams import Ngrams, count_ngrams, shared_ngrams
from beamjudge.transforms.metrics.text.scored_text import scored_text
from beamjudge.transforms.metrics.text.tokenizers import rouge_tokens

_COLUMNS = tuple(f"response/text/{name}" for name in ("rouge1", "rouge2", "rougeL", "rougeLsum"))


@dataclass(frozen=True, slots=True)
class RougeText:
    """A text as ROUGE sees it: words by line, all words, and the n-grams of them."""

    lines: tuple[list[str], ...]
    words: list[str]
    unigrams: Counter[str]
    bigrams: Ngrams


def rouge_text(text: str, tokenizer: str) -> RougeText:
    """Tokenizes and counts once. Lines are the sentences of ROUGE-Lsum, as in rouge-score; none spans a line end."""
    lines = tuple(rouge_tokens(line, tokenizer) for line in text.split("\n") if line)
    words = lines[0] if len(lines) == 1 else [word for line in lines for word in line]
    return RougeText(lines, words, Counter(words), count_ngrams(words, 2))


def rouge_scores(
    response: RougeText, reference: RougeText, *, effective_order: bool = False
) -> tuple[float, float, float, float]:
    """The F-measures of ROUGE-1, ROUGE-2, ROUGE-L and ROUGE-Lsum in [0, 1]; 0 where either text has no words.

    ROUGE-2 of two single words is 0 in rouge-score, equal words included; with `effective_order` it is their ROUGE-1.
    """
    n_response, n_reference = len(response.words), len(reference.words)
    if not n_response or not n_reference:
        return 0.0, 0.0, 0.0, 0.0
    if effective_order and n_response == n_reference == 1:
        return (float(response.words == reference.words),) * 4
    unigrams = sum((response.unigrams & reference.unigrams).values())
    bigrams = shared_ngrams(response.bigrams, reference.bigrams)
    longest = lcs_length(reference.words, response.words)
    one_line = len(response.lines) == len(reference.lines) == 1
    union = longest if one_line else _union_lcs_hits(response.lines, reference.lines)
    return (
        _f_measure(unigrams, n_response, n_reference),
        _f_measure(bigrams, n_response - 1, n_reference - 1),
        _f_measure(longest, n_response, n_reference),
        _f_measure(union, n_response, n_reference),
    )


def _f_measure(hits: int, n_response: int, n_reference: int) -> float:
    if not hits:
        return 0.0
    precision, recall = hits / n_response, hits / n_reference
    return 2 * precision * recall / (precision + recall)


def _union_lcs_hits(response: Sequence[list[str]], reference: Sequence[list[str]]) -> int:
    """The words of all reference lines that are in the longest common subsequence with some response line.

    A word is a hit at most as often as it occurs in the response (ROUGE-1.5.5; section 3.2 of the paper lacks this).
    """
    left = Counter(word for line in response for word in line)
    hits = 0
    for line in reference:
        positions = positions_of(line)
        union = 0
        for other in response:
            if not positions.keys().isdisjoint(other):
                union |= lcs_positions(positions, line, other)
        while union:
            lowest = union & -union
            word = line[lowest.bit_length() - 1]
            union ^= lowest
            if left[word] > 0:
                left[word] -= 1
                hits += 1
    return hits


def _compute(row: Row) -> Mapping[str, MetricValue]:
    """With several references each score is the best that any of them gives (rouge-score's `score_multi`).

    ASCII text scores as rouge-score has it. On other text, where rouge-score is no guide, equal texts have to score 1.
    """
    texts = scored_text(row)
    if texts is None:
        return dict.fromkeys(_COLUMNS)
    response = rouge_text(texts.response, texts.tokenizer)
    scores = [
        rouge_scores(response, rouge_text(reference, texts.tokenizer), effective_order=texts.tokenizer != "13a")
        for reference in texts.references
    ]
    return dict(zip(_COLUMNS, map(max, zip(*scores, strict=True)), strict=True))


ROUGE = MetricFamily(
    name="rouge",
    columns=tuple(Column(name, ColumnType.FLOAT) for name in _COLUMNS),
    specs=tuple(mean_spec(name, low=0.0, high=1.0) for name in _COLUMNS),
    compute=_compute,
)
