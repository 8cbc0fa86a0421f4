"""Compaction and pruning: segments and generations become one generation, sorted by key.

Nothing is removed before what replaces it is complete under its own name, so a crash at any moment loses nothing.
Others may write, read and compact meanwhile: only files that were read to their end are replaced. When one of them is
gone by the time the new generation is complete, another compaction or a pruning has replaced it as well. The new
generation is withdrawn then, and the work begins again: it might hold what the other one has pruned.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamjudge.schemas.errors import RunFailed
from beamjudge.transforms.judging.store.contents import GenerationFiles, Reading, StoreContents, list_contents
from beamjudge.transforms.judging.store.files import INDEX, StoreFile, list_store, remove
from beamjudge.transforms.judging.store.generation_writer import GenerationWriter

_LOGGER = logging.getLogger(__name__)
# A generation is rewritten together with what is new when it is at most this many times as large. So a verdict is
# rewritten a few times as a store grows, and not with every run, and there are few generations.
_GROWTH = 2
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Compaction:
    """What a compaction did: verdicts in the new generation, files that it replaced, damaged files that it found."""

    verdicts: int = 0
    replaced_files: int = 0
    damaged_files: int = 0


@dataclass(slots=True)
class Selection:
    """What a pruning removes: verdicts from before a moment (seconds since 1970), or those of some rows.

    `matched_ids` are the request ids that were found.
    """

    created_before: float | None = None
    request_ids: frozenset[str] = frozenset()
    matched_ids: set[str] = field(default_factory=set)

    def mask(self, table: pa.Table) -> pa.Array:
        """Which rows are selected, as booleans."""
        selected = np.zeros(len(table), dtype=bool)
        if self.created_before is not None:
            created = table["created"].cast(pa.int64()).to_numpy()
            selected |= created < self.created_before * 1e6
        if self.request_ids:
            lists = table["request_ids"].combine_chunks()
            ids = lists.flatten()
            wanted = pc.is_in(ids, pa.array(list(self.request_ids), pa.string()))
            selected[pc.list_parent_indices(lists).filter(wanted).to_numpy()] = True
            self.matched_ids.update(ids.filter(wanted).to_pylist())
        return pa.array(selected)


@dataclass(frozen=True, slots=True)
class Pruning:
    """What a pruning did. Damaged files are removed, as nobody can tell what they hold.

    `unfinished_files` were begun within the last hour, by a writer that may be at work.
    """

    removed: int = 0
    kept: int = 0
    damaged_files: int = 0
    unfinished_files: int = 0


def compact(folder: str, everything: bool = False, drop_damaged: bool = False) -> Compaction:
    """Replace segments and small generations, or `everything`, by one generation.

    Damaged files stay where they are, and what can be read of them is taken over; with `drop_damaged` they go then.
    """
    for _ in range(_ATTEMPTS):
        contents = list_contents(folder)
        _remove_abandoned(contents)
        segments, generations = (contents.segments, contents.generations) if everything else _new_and_small(contents)
        if not segments and len(generations) < 2 and not (generations and drop_damaged):
            return Compaction()
        reading = Reading(folder, segments, generations)
        writer = _write(reading, None)
        replaced = reading.whole + (_damaged_files(reading) if drop_damaged else [])
        if _replace(folder, writer, replaced):
            return Compaction(writer.rows, len(replaced), len(reading.damaged))
    _LOGGER.warning("%s: others compact this store all the time, and it was left to them", folder)
    return Compaction()


def compact_after_run(folder: str) -> None:
    """Compact a store whose run has ended. What goes wrong is only logged: nothing is lost, and the next run tries."""
    try:
        compact(folder)
    except Exception as error:  # each filesystem has errors of its own
        _LOGGER.warning("%s is not compacted (%s); `beamjudge verdicts compact` does it", folder, type(error).__name__)


def prune(folder: str, selection: Selection) -> Pruning:
    """Remove the selected verdicts from all files. Raises RunFailed when others get in the way all the time."""
    removed = kept = damaged = 0
    own: list[str] = []
    for _ in range(_ATTEMPTS):
        contents = list_contents(folder)
        _remove_abandoned(contents)
        # After the first round only what others have written meanwhile.
        generations = [each for each in contents.generations if each.index.name not in own]
        reading = Reading(folder, contents.segments, generations)
        keep = _Keep(selection)
        writer = _write(reading, keep)
        if not (keep.removed or reading.damaged or reading.vanished):
            writer.withdraw()
            return Pruning(removed, kept + writer.rows, damaged, len(contents.unfinished) - len(contents.abandoned))
        if _replace(folder, writer, reading.whole + _damaged_files(reading)):
            own.extend(writer.names[:1])
            removed, kept, damaged = removed + keep.removed, kept + writer.rows, damaged + len(reading.damaged)
    raise RunFailed(f"{folder}: other processes change this store all the time; prune it again when they have ended")


class _Keep:
    """Leaves selected verdicts out, and counts them."""

    def __init__(self, selection: Selection) -> None:
        self.removed = 0
        self._selection = selection

    def __call__(self, table: pa.Table) -> pa.Table:
        selected = self._selection.mask(table)
        self.removed += selected.true_count
        return table.filter(pc.invert(selected))


def _new_and_small(contents: StoreContents) -> tuple[Sequence[StoreFile], Sequence[GenerationFiles]]:
    """The segments, and the generations that are not much larger than what is rewritten with them anyway."""
    size = sum(segment.size for segment in contents.segments)
    chosen = []
    for generation in sorted(contents.generations, key=_size):
        if generation.size > _GROWTH * size:
            break
        chosen.append(generation)
        size += generation.size
    return contents.segments, chosen


def _size(generation: GenerationFiles) -> int:
    return generation.size


def _write(reading: Reading, keep: Callable[[pa.Table], pa.Table] | None) -> GenerationWriter:
    """A generation of what is read, complete, with nothing replaced yet."""
    writer = GenerationWriter(reading.folder)
    try:
        for table in reading.tables():
            writer.add(keep(table) if keep else table)
        writer.finish()
    except BaseException:
        writer.withdraw()
        raise
    return writer


def _damaged_files(reading: Reading) -> list[str]:
    """The files that go when damaged ones are removed: a generation as a whole, as what it held was taken over."""
    return sorted({*reading.partial, *reading.damaged})


def _replace(folder: str, writer: GenerationWriter, replaced: Sequence[str]) -> bool:
    """Remove what the new generation replaces; withdraw that generation if someone else has removed some of it."""
    present = list_store(folder)
    if any(name not in present for name in (*replaced, *writer.names)):
        writer.withdraw()
        return False
    # Parts without their index do not count, an index without its parts would be damaged: so indexes go first.
    remove(folder, [name for name in replaced if INDEX.fullmatch(name)])
    remove(folder, [name for name in replaced if not INDEX.fullmatch(name)])
    return True


def _remove_abandoned(contents: StoreContents) -> None:
    remove(contents.folder, [each.name for each in contents.abandoned])
