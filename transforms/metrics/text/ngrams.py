"""How many n-grams a text shares with other texts, for all n up to an order at once.

Each distinct symbol (word or character) of the other texts gets a small number; what else the text has becomes `OWN`,
so that no n-gram with it ever matches. The symbols from each position on are packed into one 64-bit integer and sorted
once: equal n-grams then stand side by side for every n, as equal leading bits.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import chain, pairwise
from operator import or_

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int64]

OWN, FOREIGN, _FIRST_SYMBOL = 0, 1, 2  # FOREIGN stands behind the ends of the other texts
_BITS = 63  # of a 64-bit integer that is not negative


@dataclass(frozen=True, slots=True)
class CodedTexts:
    """A text and, behind it, the texts that it is compared with: numbers below `n_codes`."""

    codes: Codes
    lengths: tuple[int, ...]
    n_codes: int


@dataclass(frozen=True, slots=True)
class InternedWords:
    """A text and the texts that it is compared with, each distinct word as one character."""

    first: str
    others: tuple[str, ...]
    n_codes: int

    def coded(self) -> CodedTexts:
        codes = _code_points("".join((self.first, *self.others))).astype(np.int64)
        return CodedTexts(codes, (len(self.first), *map(len, self.others)), self.n_codes)


def intern_words(first: Sequence[str], others: Sequence[Sequence[str]]) -> InternedWords:
    """Each word as a character, for algorithms in C that compare strings; those that only `first` has are all one."""
    known = others[0] if len(others) == 1 else list(chain.from_iterable(others))
    n_codes = len(known) + _FIRST_SYMBOL
    # Of equal words the last one's number counts: it does not matter that some numbers are not used.
    characters = dict(zip(known, map(chr, range(_FIRST_SYMBOL, n_codes)), strict=True))
    own = chr(OWN)
    return InternedWords(
        "".join([characters.get(word, own) for word in first]),
        tuple(["".join(map(characters.__getitem__, other)) for other in others]),
        n_codes,
    )


def code_characters(first: str, others: Sequence[str]) -> CodedTexts:
    """Each distinct character as a number."""
    rest = "".join(others)
    known = "".join(set(rest))
    text = first + rest
    points = _code_points(text)
    table = np.zeros(128 if text.isascii() else int(points.max()) + 1, np.int64)
    table[_code_points(known)] = np.arange(_FIRST_SYMBOL, len(known) + _FIRST_SYMBOL)
    return CodedTexts(table.take(points), (len(first), *map(len, others)), len(known) + _FIRST_SYMBOL)


def matched_ngrams(texts: CodedTexts, order: int) -> list[int]:
    """For n = 1 to `order`: how many n-grams of the first text are matched in the others.

    An n-gram is matched as often as the other text has it that has it most often, and at most as often as the first.
    """
    bits = (texts.n_codes - 1).bit_length()
    n_others = len(texts.lengths) - 1
    tag_bits = n_others.bit_length()
    if bits * order + tag_bits > _BITS:
        return _count_matched(texts, order)
    windows = _sorted_windows(texts, order, bits, tag_bits)
    size = len(windows)
    # Two windows begin with the same n symbols exactly when they differ only below the n-th.
    starts = np.ones((order, size), bool)
    np.greater_equal(windows[1:] ^ windows[:-1], _below(order, bits, tag_bits), out=starts[:, 1:])
    groups = starts.ravel().nonzero()[0]
    tags = windows & ((1 << tag_bits) - 1)
    if n_others == 1:
        wanted = foreign = _count_in_groups(tags, groups, order)
    else:
        counts = [_count_in_groups(tags == tag, groups, order) for tag in range(1, n_others + 1)]
        wanted, foreign = reduce(np.maximum, counts), reduce(np.add, counts)
    own = _differences(groups, order * size) - foreign
    by_order = groups.searchsorted(np.arange(order) * size)
    matched: list[int] = np.add.reduceat(np.minimum(own, wanted), by_order).tolist()
    return matched


@lru_cache(maxsize=256)
def _below(order: int, bits: int, tag_bits: int) -> Codes:
    """For n = 1 to `order`, as a column: the lowest bit of a window's first n symbols."""
    return np.array([[1 << (bits * rest + tag_bits)] for rest in range(order - 1, -1, -1)])


def _sorted_windows(texts: CodedTexts, order: int, bits: int, tag_bits: int) -> Codes:
    """The `order` symbols from each position on, then the number of the text, as one integer each; sorted.

    Behind its end a text goes on with symbols that match nothing.
    """
    padded: Codes = np.full(len(texts.codes) + order * len(texts.lengths), FOREIGN, np.int64)
    starts = []
    position = taken = 0
    for length in texts.lengths:
        starts.append(position)
        padded[position : position + length] = texts.codes[taken : taken + length]
        position, taken = position + length + order, taken + length
    padded[texts.lengths[0] : texts.lengths[0] + order] = OWN
    size = len(padded) - order + 1
    windows: Codes = padded[:size].copy()
    for step in range(1, order):
        windows <<= bits
        windows |= padded[step : step + size]
    windows <<= tag_bits
    for start in starts[1:]:
        windows[start:] += 1
    windows.sort()
    return windows


def _count_in_groups(marks: npt.NDArray[np.generic], groups: Codes, order: int) -> Codes:
    """How many marked windows each group has; `groups` are the positions where one begins, order after order."""
    until = np.zeros(len(marks), np.int64)
    np.cumsum(marks[:-1], out=until[1:])
    total = int(until[-1]) + int(marks[-1])
    at_groups: Codes = (until + total * np.arange(order)[:, None]).ravel().take(groups)
    return _differences(at_groups, order * total)


def _differences(values: Codes, last: int) -> Codes:
    differences = np.empty_like(values)
    np.subtract(values[1:], values[:-1], out=differences[:-1])
    differences[-1] = last - values[-1]
    return differences


def _count_matched(texts: CodedTexts, order: int) -> list[int]:
    """As `matched_ngrams`, n-gram by n-gram: for texts with too many symbols for one integer."""
    bounds = np.cumsum((0, *texts.lengths)).tolist()
    first, *others = (texts.codes[start:end].tolist() for start, end in pairwise(bounds))
    matched = []
    for n in range(1, order + 1):
        wanted = reduce(or_, [_count_ngrams(other, n) for other in others])
        matched.append(sum((_count_ngrams(first, n) & wanted).values()))
    return matched


def _count_ngrams(symbols: Sequence[int], n: int) -> "Counter[tuple[int, ...]]":
    return Counter(zip(*(symbols[i:] for i in range(n)), strict=False))


def _code_points(text: str) -> npt.NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
