"""What the retrieved context says, indexed once, and how far it carries a sentence."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from beamjudge.transforms.judging.lexical.tokens import Kind, Token, Words, number_key, words
from beamjudge.transforms.judging.sentences import split_sentences

_NEAR = 3  # content words at most this far apart count as said together
_POSTINGS = 64  # sentences remembered per word: a word in more of them tells none apart, and the work stays linear
_PREFIX = 6  # long words that share this many letters are taken for forms of one word
_CACHED_LENGTH = 20_000
QUOTE_LENGTH = 120
_SEPARATORS = re.compile("[.,:]")


@dataclass(frozen=True)
class Evidence:
    """The content words of a text, which of them stand together, and in which sentences they are."""

    keys: frozenset[str]
    prefixes: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    postings: dict[str, tuple[int, ...]]
    sentences: tuple[str, ...]

    def has(self, key: str) -> bool:
        """Whether the text has this word, or a longer word of the same beginning (another form of it)."""
        return key in self.keys or (len(key) > _PREFIX and key[:_PREFIX] in self.prefixes)

    def has_number(self, token: Token) -> bool:
        """Whether the text has this number, be it with a space in it ("12, 000")."""
        parts = [number_key(part) for part in _SEPARATORS.split(token.surface)]
        apart = len(parts) > 1 and all(pair in self.pairs for pair in pairwise(parts))
        return token.key in self.keys or apart

    def _has(self, token: Token) -> bool:
        return self.has_number(token) if token.kind is Kind.NUMBER else self.has(token.key)

    def missing(self, tokens: Sequence[Token]) -> list[Token]:
        """The tokens that the text does not have, each once, numbers and names first."""
        missing = {token.key: token for token in tokens if not self._has(token)}
        return sorted(missing.values(), key=_by_weight)

    def coverage(self, tokens: Sequence[Token]) -> float:
        """The share of `tokens` that the text has, in [0, 1]; 1 where there are none."""
        return sum(self._has(token) for token in tokens) / len(tokens) if tokens else 1.0

    def best_sentence(self, tokens: Sequence[Token]) -> tuple[float, int | None]:
        """The largest share of `tokens` that one sentence has, in [0, 1], and the number of that sentence."""
        counts: dict[int, int] = {}
        for token in tokens:
            for number in self._sentences_with(token.key):
                counts[number] = counts.get(number, 0) + 1
        if not counts:
            return 0.0, None
        best = max(counts, key=lambda number: (counts[number], -number))
        return min(1.0, counts[best] / len(tokens)), best

    def _sentences_with(self, key: str) -> tuple[int, ...]:
        if key in self.postings or len(key) <= _PREFIX:
            return self.postings.get(key, ())
        return self.postings.get(key[:_PREFIX] + "*", ())

    def together(self, tokens: Sequence[Token]) -> float:
        """The share of neighbouring pairs of `tokens` that stand near each other, in order, in the text; in [0, 1]."""
        if len(tokens) < 2:
            return self.coverage(tokens)
        neighbours = [(left.key, right.key) for left, right in pairwise(tokens)]
        return sum(pair in self.pairs for pair in neighbours) / len(neighbours)

    def support(self, tokens: Sequence[Token]) -> float:
        """How far the text carries a statement of these words, in [0, 1].

        The mean of what its best sentence has of them and of how many neighbours stay neighbours: words that all occur
        somewhere, but put together anew, are no support.
        """
        if not tokens:
            return 1.0
        return (self.best_sentence(tokens)[0] + self.together(tokens)) / 2


def evidence(texts: tuple[str, ...]) -> Evidence:
    """The index of `texts`; those of ordinary length are remembered, since several judges read one context."""
    return _cached_evidence(texts) if sum(map(len, texts)) <= _CACHED_LENGTH else _evidence(texts)


@lru_cache(maxsize=32)
def _cached_evidence(texts: tuple[str, ...]) -> Evidence:
    return _evidence(texts)


def _evidence(texts: tuple[str, ...]) -> Evidence:
    sentences = tuple(sentence for text in texts for sentence in split_sentences(text))
    postings: dict[str, list[int]] = {}
    pairs: set[tuple[str, str]] = set()
    for number, sentence in enumerate(sentences):
        content = words(sentence).content
        pairs.update(_near_pairs(content))
        for key in {token.key for token in content}:
            _post(postings, key, number)
            if len(key) >= _PREFIX:
                _post(postings, key[:_PREFIX] + "*", number)
    keys = frozenset(key for key in postings if not key.endswith("*"))
    prefixes = frozenset(key[:-1] for key in postings if key.endswith("*"))
    return Evidence(keys, prefixes, frozenset(pairs), {k: tuple(v) for k, v in postings.items()}, sentences)


def _post(postings: dict[str, list[int]], key: str, number: int) -> None:
    numbers = postings.setdefault(key, [])
    if len(numbers) < _POSTINGS and (not numbers or numbers[-1] != number):
        numbers.append(number)


def _near_pairs(tokens: Sequence[Token]) -> set[tuple[str, str]]:
    keys = [token.key for token in tokens]
    return {pair for gap in range(1, _NEAR + 1) for pair in zip(keys, keys[gap:], strict=False)}


def _by_weight(token: Token) -> int:
    return {Kind.NUMBER: 0, Kind.NAME: 1}.get(token.kind, 2)


def facts(text_words: Words) -> list[Token]:
    """The numbers and names of a text, which a statement cannot exchange without becoming another one."""
    return [token for token in text_words.content if token.kind in (Kind.NUMBER, Kind.NAME)]


def quoted(text: str) -> str:
    """`text` in quotation marks on one line, cut to about 120 characters."""
    line = " ".join(text[: 4 * QUOTE_LENGTH].split())
    return f'"{line}"' if len(line) <= QUOTE_LENGTH else f'"{line[:QUOTE_LENGTH].rstrip()}..."'


def listed(tokens: Sequence[Token], limit: int = 5) -> str:
    """The tokens as a plain list for a rationale: a, b, c and 2 more."""
    shown = ", ".join(quoted(token.surface) for token in tokens[:limit])
    return shown if len(tokens) <= limit else f"{shown} and {len(tokens) - limit} more"
