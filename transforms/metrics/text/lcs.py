"""The longest common subsequence by bit-parallel arithmetic: one pass over a text, the other text in an integer's bits.

Hyyro, "Bit-parallel LCS-length computation revisited" (AWOCA 2004), after Crochemore et al., "A fast and practical
bit-vector algorithm for the longest common subsequence problem" (Information Processing Letters 80, 2001). With
t[i][j] the length for the first i tokens of the reference and the first j of the response, bit i - 1 of the j-th column
is 0 exactly when t[i][j] = t[i - 1][j] + 1.
"""

from collections.abc import Mapping, Sequence


def positions_of(tokens: Sequence[str]) -> dict[str, int]:
    """For each token the set of its positions, as the bits of an integer."""
    positions: dict[str, int] = {}
    bit = 1
    for token in tokens:
        positions[token] = positions.get(token, 0) | bit
        bit <<= 1
    return positions


def lcs_positions(positions: Mapping[str, int], reference: Sequence[str], response: Sequence[str]) -> int:
    """The reference's positions in one longest common subsequence, as bits: the one that rouge-score's table gives.

    `positions` are `positions_of(reference)`. Walking back from the ends, a match is always taken; else a token of the
    response is skipped when that costs nothing and skipping one of the reference would, else one of the reference.
    """
    everywhere = (1 << len(reference)) - 1
    column = everywhere
    columns = [column]
    for token in response:
        column = _next_column(column, positions.get(token, 0), everywhere)
        columns.append(column)
    found = 0
    i, j = len(reference), len(response)
    while i and j:
        if reference[i - 1] == response[j - 1]:
            i -= 1
            j -= 1
            found |= 1 << i
        elif columns[j] >> (i - 1) & 1:
            i -= 1
        else:
            j -= 1
    return found


def _next_column(column: int, matches: int, everywhere: int) -> int:
    if not matches:
        return column
    new = column & matches
    return ((column + new) | (column - new)) & everywhere
