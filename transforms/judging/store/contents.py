"""All that is in a store at one moment: which files count, and their verdicts in the order of their keys."""

import logging
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pyarrow as pa

from beamjudge.transforms.judging.store.files import (
    INDEX,
    PARALLEL_FILES,
    PART,
    SEGMENT,
    TEMPORARY,
    Damaged,
    StoreFile,
    Vanished,
    list_store,
    open_seekable,
    path_of,
    read,
)
from beamjudge.transforms.judging.store.key_index import generation_of
from beamjudge.transforms.judging.store.merge import Sorted, Sorter, merge
from beamjudge.transforms.judging.store.parquet import decode, open_verdicts, read_group, trust

_LOGGER = logging.getLogger(__name__)
# No write takes this long, so what is unfinished for longer has lost its writer.
ABANDONED_SECONDS = 3600.0
_LISTINGS = 5


@dataclass(frozen=True, slots=True)
class GenerationFiles:
    """A complete generation: its index and its parts, in their order."""

    index: StoreFile
    parts: tuple[StoreFile, ...]

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts)

    @property
    def names(self) -> tuple[str, ...]:
        return (self.index.name, *(part.name for part in self.parts))


@dataclass(frozen=True, slots=True)
class StoreContents:
    """The files of a store by what they are. `unfinished` are those of writers that are at work or have died."""

    folder: str
    segments: tuple[StoreFile, ...]
    generations: tuple[GenerationFiles, ...]
    unfinished: tuple[StoreFile, ...]

    @property
    def abandoned(self) -> tuple[StoreFile, ...]:
        """Unfinished files that nobody will finish any more."""
        limit = time.time() - ABANDONED_SECONDS
        return tuple(each for each in self.unfinished if each.modified is not None and each.modified < limit)

    @property
    def size(self) -> int:
        """Bytes on file, of what counts."""
        generations = sum(each.size + each.index.size for each in self.generations)
        return sum(each.size for each in self.segments) + generations


def list_contents(folder: str) -> StoreContents:
    """What is in a store now. None of it may be missed, or a pruning would overlook it."""
    files = _settled_listing(folder)
    indexes = {generation_of(name): file for name, file in files.items() if INDEX.fullmatch(name)}
    parts: dict[str | None, list[StoreFile]] = {}
    for name, file in files.items():
        if PART.fullmatch(name):
            parts.setdefault(generation_of(name), []).append(file)
    return StoreContents(
        folder,
        tuple(file for name, file in files.items() if SEGMENT.fullmatch(name)),
        tuple(GenerationFiles(file, tuple(parts.get(each, ()))) for each, file in indexes.items()),
        tuple(file for name, file in files.items() if _is_temporary(name))
        + tuple(file for each, orphans in parts.items() if each not in indexes for file in orphans),
    )


@dataclass(slots=True)
class Reading:
    """The verdicts of some files. What was found on the way is complete once `tables` has been read to its end."""

    folder: str
    segments: Sequence[StoreFile]
    generations: Sequence[GenerationFiles]
    # Names of files: those that were read to their end as they were written, where a generation counts as a whole;
    # those of generations with a damaged part; what is damaged; what was gone before it was read.
    whole: list[str] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    damaged: set[str] = field(default_factory=set)
    vanished: set[str] = field(default_factory=set)

    def tables(self) -> Sorted:
        """The verdicts in the order of their keys, each key once. Damaged files are logged and left out."""
        with Sorter() as sorter:
            for table in self._segment_tables():
                sorter.add(table)
            yield from merge([*sorter.sources(), *(self._generation_tables(each) for each in self.generations)])

    def _segment_tables(self) -> Iterator[pa.Table]:
        with ThreadPoolExecutor(PARALLEL_FILES) as pool:
            for names in _chunks([each.name for each in self.segments], 2 * PARALLEL_FILES):
                for name, future in [(name, pool.submit(self._segment, name)) for name in names]:
                    try:
                        yield future.result()
                        self.whole.append(name)
                    except Vanished:
                        self.vanished.add(name)
                    except Damaged as error:
                        self._note_damage(name, str(error))

    def _segment(self, name: str) -> pa.Table:
        return self._trusted(name, decode(name, read(self.folder, name)))

    def _generation_tables(self, generation: GenerationFiles) -> Sorted:
        for part in generation.parts:
            yield from self._part_tables(part.name)
        if self.damaged.intersection(generation.names):
            self.partial.extend(generation.names)
        elif not self.vanished.intersection(generation.names):
            self.whole.extend(generation.names)

    def _part_tables(self, name: str) -> Sorted:
        """What can be read of a part: a damaged row group costs itself only."""
        try:
            stream = open_seekable(self.folder, name)
        except Vanished:
            self.vanished.add(name)
            return
        with stream:
            try:
                file = open_verdicts(stream)
            except Damaged as error:
                self._note_damage(name, str(error))
                return
            for group in range(file.num_row_groups):
                try:
                    table = read_group(file, group)
                except Damaged as error:
                    self._note_damage(name, str(error))
                else:
                    yield self._trusted(name, table)

    def _trusted(self, name: str, table: pa.Table) -> pa.Table:
        return table.filter(trust(path_of(self.folder, name), table))

    def _note_damage(self, name: str, what: str) -> None:
        self.damaged.add(name)
        _LOGGER.warning("%s: %s; it is not used", path_of(self.folder, name), what)


def _settled_listing(folder: str) -> dict[str, StoreFile]:
    """A listing that is not taken in the middle of a replacement.

    No listing is of one moment: it may lack both the files that are being replaced and those that replace them. Then
    the next listing has the latter.
    """
    files = list_store(folder)
    for _ in range(_LISTINGS):
        before, files = files, list_store(folder)
        if before.keys() <= files.keys():
            break
    return files


def _is_temporary(name: str) -> bool:
    stem = name.removesuffix(TEMPORARY)
    return stem != name and any(kind.fullmatch(stem) for kind in (SEGMENT, PART, INDEX))


def _chunks(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), size):
        yield names[start : start + size]
