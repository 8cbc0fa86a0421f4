"""Where the verdict of a key is: sorted arrays of key prefixes, eight bytes a verdict.

A prefix is the first 64 bits of a key. Two keys with one prefix both have their place; whoever reads a place compares
the whole key.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from beamjudge.transforms.judging.store.files import INDEX, PART, Damaged, checked

_PREFIX_DIGITS = 16
_ROW_BITS = 32
_ROW_MASK = (1 << _ROW_BITS) - 1
_STORED = "<u8"

Prefixes = npt.NDArray[np.uint64]


class Place(NamedTuple):
    """A row of a file."""

    name: str
    row: int


def prefix_of(key: str) -> int:
    return int(key[:_PREFIX_DIGITS], 16)


def prefixes_of(keys: Sequence[str]) -> Prefixes:
    """The prefixes of keys of 64 hex digits each, in their order."""
    return np.frombuffer(bytes.fromhex("".join(keys)), dtype=">u8")[::4].astype(np.uint64)


@dataclass(frozen=True, slots=True)
class Level:
    """Prefixes in ascending order, and for each the file (by its number) and row that it stands for."""

    prefixes: Prefixes
    places: npt.NDArray[np.uint64]

    @classmethod
    def of_file(cls, number: int, prefixes: Prefixes, rows: npt.NDArray[np.uint64]) -> "Level":
        """The level of one file, whose verdicts stand in `rows`."""
        order = np.argsort(prefixes, kind="stable")
        return cls(prefixes[order], (np.uint64(number << _ROW_BITS) | rows)[order])

    def __add__(self, other: "Level") -> "Level":
        prefixes = np.concatenate([self.prefixes, other.prefixes])
        order = np.argsort(prefixes, kind="stable")
        return Level(prefixes[order], np.concatenate([self.places, other.places])[order])


class SegmentKeys:
    """The keys of all segments. Immutable: what changes it gives another one.

    New files come in as small levels, and a level is merged into the one before it until that is at least twice as
    long: so there are few levels to search, and a key is copied only as often as their number.
    """

    def __init__(self, names: tuple[str, ...] = (), levels: tuple[Level, ...] = ()) -> None:
        self._names, self._levels = names, levels

    def __len__(self) -> int:
        return sum(len(level.prefixes) for level in self._levels)

    def find(self, prefix: int) -> Iterator[Place]:
        wanted = np.uint64(prefix)
        for level in self._levels:
            for at in _matches(level.prefixes, wanted):
                place = int(level.places[at])
                yield Place(self._names[place >> _ROW_BITS], place & _ROW_MASK)

    def with_files(self, files: Iterable[tuple[str, Prefixes, npt.NDArray[np.uint64]]]) -> "SegmentKeys":
        """These keys and those of further files, each with its name, prefixes and rows."""
        names, levels = list(self._names), list(self._levels)
        for name, prefixes, rows in files:
            levels.append(Level.of_file(len(names), prefixes, rows))
            names.append(name)
            while len(levels) > 1 and len(levels[-2].prefixes) < 2 * len(levels[-1].prefixes):
                last = levels.pop()
                levels[-1] += last
        return SegmentKeys(tuple(names), tuple(levels))

    def without(self, gone: frozenset[str]) -> "SegmentKeys":
        """These keys without those of files that are gone."""
        kept = [number for number, name in enumerate(self._names) if name not in gone]
        if len(kept) == len(self._names):
            return self
        renumbered = np.full(len(self._names), -1, dtype=np.int64)
        renumbered[kept] = np.arange(len(kept))
        levels = []
        for level in self._levels:
            numbers = renumbered[(level.places >> np.uint64(_ROW_BITS)).astype(np.int64)]
            alive = numbers >= 0
            rows = level.places[alive] & np.uint64(_ROW_MASK)
            places = (numbers[alive].astype(np.uint64) << np.uint64(_ROW_BITS)) | rows
            if len(places):
                levels.append(Level(level.prefixes[alive], places))
        return SegmentKeys(tuple(self._names[number] for number in kept), tuple(levels))


class Generation:
    """The keys of a compacted generation: its parts follow each other in the order of their keys, so a key's rank is
    its place."""

    def __init__(self, parts: Sequence[tuple[str, int]], prefixes: Prefixes) -> None:
        self.parts = tuple(parts)
        self.prefixes = prefixes
        self._starts = np.concatenate([[0], np.cumsum([rows for _, rows in parts])]).astype(np.int64)

    def __len__(self) -> int:
        return len(self.prefixes)

    def find(self, prefix: int) -> Iterator[Place]:
        for at in _matches(self.prefixes, np.uint64(prefix)):
            part = int(np.searchsorted(self._starts, at, side="right")) - 1
            yield Place(self.parts[part][0], at - int(self._starts[part]))

    def encode(self) -> bytes:
        """An index file's content: a line of JSON that names the parts, then the prefixes, little-endian."""
        header = json.dumps({"parts": [{"name": name, "rows": rows} for name, rows in self.parts]})
        return header.encode() + b"\n" + self.prefixes.astype(_STORED).tobytes()


def decode_index(name: str, content: bytes) -> Generation:
    """The generation behind an index file. Raises Damaged."""
    header, _, packed = checked(name, content).partition(b"\n")
    parts = [(part["name"], part["rows"]) for part in json.loads(header)["parts"]]
    if not all(PART.fullmatch(part) for part, _ in parts):
        raise Damaged("it names files that are no parts")
    return Generation(parts, np.frombuffer(packed, dtype=_STORED))


def generation_of(name: str) -> str | None:
    """The generation that an index file or a part belongs to."""
    named = INDEX.fullmatch(name) or PART.fullmatch(name)
    return named[1] if named else None


def _matches(prefixes: Prefixes, wanted: np.uint64) -> range:
    """The positions of a prefix: none or one, but for prefixes that several keys have."""
    at = int(prefixes.searchsorted(wanted))
    end = at
    while end < len(prefixes) and prefixes[end] == wanted:
        end += 1
    return range(at, end)
