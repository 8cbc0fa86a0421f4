"""Edit distance within a beam around the diagonal, as Tercom and after it sacrebleu compute it for TER.

Only the cells of the table near the diagonal exist, so on texts of unequal length the distance may be above the true
one. Texts have one character for each word.
"""

import math
from typing import Final, NamedTuple

_BEAM: Final = 25
_INFINITE: Final = 1 << 60

_Step = int
_KEEP, _REPLACE, _DROP, _ADD = range(4)


class Alignment(NamedTuple):
    """The distance, where the words of the reference lie in the response, and which words are in error.

    `places[i]` is the position in the response of the i-th word of the reference or, where it has none, of the word
    before. `errors` and `reference_errors` are counted up to each position, so that a difference counts a span.
    """

    distance: int
    places: list[int]
    errors: list[int]
    reference_errors: list[int]


class BeamDistance:
    """Distances between one reference and responses of one length.

    Of several cheapest ways of the edits, the one counts that, seen from the end, first keeps or replaces a word, else
    drops one of the response's, else adds one of the reference's.
    """

    def __init__(self, reference: str, length: int) -> None:
        self._reference = reference
        ratio = len(reference) / length if length else 1.0
        beam = math.ceil(ratio / 2 + _BEAM) if ratio / 2 > _BEAM else _BEAM
        n_columns = len(reference) + 1
        diagonals = [math.floor(i * ratio) for i in range(length + 1)]
        # Per row of the table, a row a word of the response, the columns that exist: from the first to before the last.
        self._starts = [max(0, diagonal - beam) for diagonal in diagonals]
        self._ends = [min(n_columns, diagonal + beam) for diagonal in diagonals]
        self._starts[0] = 0
        self._ends[0] = self._ends[-1] = n_columns
        self._positions: dict[str, int] = {}
        for position, word in enumerate(reference):
            self._positions[word] = self._positions.get(word, 0) | 1 << position
        self._letters = f"\0{reference}"  # of each column; the first has none
        self._last_words = ""
        self._last_table = [list(range(n_columns))]

    def align(self, words: str) -> Alignment:
        """The cheapest way within the beam."""
        return _alignment(self._free_way(words) or self._way_by_table(words))

    def _free_way(self, words: str) -> list[_Step] | None:
        """The cheapest way without a beam, from the end, by bit-parallel arithmetic; null when it leaves the beam.

        A way that stays within is the cheapest there too, and is the one that counts, since no cell costs less with a
        beam than without. Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances" (Nordic
        Journal of Computing 10, 2003), a bit a column: whether a cell costs the `same` as the one before it on the
        diagonal (else it costs one more), and whether it costs one `more` or one `less` than the one to its left.
        """
        everywhere = (1 << len(self._reference)) - 1
        more, less = everywhere, 0
        rows = [(0, 0)]
        for word in words:
            equal = self._positions.get(word, 0)
            same = (((equal & more) + more) ^ more) | equal | less
            more_than_above = (less | ~(same | more)) << 1 | 1
            less_than_above = (same & more) << 1
            more = (less_than_above | ~(same | more_than_above)) & everywhere
            less = more_than_above & same & everywhere
            rows.append((same, less))
        way = []
        i, j = len(words), len(self._reference)
        while i or j:
            if not self._starts[i] <= j < self._ends[i]:
                return None
            bit = 1 << j >> 1
            if i and j and (words[i - 1] == self._reference[j - 1] or not rows[i][0] & bit):
                i, j = i - 1, j - 1
                way.append(_KEEP if words[i] == self._reference[j] else _REPLACE)
            elif i and (not j or rows[i - 1][1] & bit):
                i -= 1
                way.append(_DROP)
            else:
                j -= 1
                way.append(_ADD)
        return way

    def _way_by_table(self, words: str) -> list[_Step]:
        """The cheapest way within the beam, from the end, cell by cell."""
        table = self._table(words)
        way = []
        i, j = len(words), len(self._reference)
        while i or j:
            cost = self._cost(table, i, j)
            wrong = words[i - 1] != self._reference[j - 1] if i and j else False
            if i and j and cost == self._cost(table, i - 1, j - 1) + wrong:
                i, j = i - 1, j - 1
                way.append(_REPLACE if wrong else _KEEP)
            elif i and cost == self._cost(table, i - 1, j) + 1:
                i -= 1
                way.append(_DROP)
            else:
                j -= 1
                way.append(_ADD)
        return way

    def _cost(self, table: list[list[int]], i: int, j: int) -> int:
        return table[i][j - self._starts[i]] if self._starts[i] <= j < self._ends[i] else _INFINITE

    def _table(self, words: str) -> list[list[int]]:
        """The costs of the cells that exist, row by row; rows of a common beginning are those of the last table."""
        known = 0
        while known < len(self._last_words) and self._last_words[known] == words[known]:
            known += 1
        table = self._last_table[: known + 1]
        for i in range(len(table), len(words) + 1):
            table.append(self._next_row(table[-1], words[i - 1], i))
        self._last_words, self._last_table = words, table
        return table

    def _next_row(self, row: list[int], word: str, i: int) -> list[int]:
        start, size = self._starts[i], self._ends[i] - self._starts[i]
        first = start - self._starts[i - 1]
        above = row[first : first + size]
        before = row[first - 1 : first + size - 1] if first else [_INFINITE, *above]
        above += [_INFINITE] * (size - len(above))
        before += [_INFINITE] * (size - len(before))
        costs = []
        cost = _INFINITE
        for diagonal, up, letter in zip(before, above, self._letters[start : start + size], strict=False):
            # Spelled out, because calls of min() would take most of the time.
            replaced = diagonal if letter == word else diagonal + 1
            changed = up + 1 if up < cost else cost + 1
            cost = replaced if replaced < changed else changed
            costs.append(cost)
        return costs


def _alignment(way: list[_Step]) -> Alignment:
    places: list[int] = []
    errors, reference_errors = [0], [0]
    distance = 0
    for step in reversed(way):
        if step != _KEEP:
            distance += 1
        if step != _ADD:
            errors.append(errors[-1] + (step != _KEEP))
        if step != _DROP:
            places.append(len(errors) - 2)
            reference_errors.append(reference_errors[-1] + (step != _KEEP))
    return Alignment(distance, places, errors, reference_errors)
