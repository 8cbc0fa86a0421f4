"""What a worker process knows of a store's files, kept up to date while others write, compact and prune."""

import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from beamjudge.schemas.stored_verdict import StoredVerdict
from beamjudge.schemas.tables.verdicts import is_key, stored_verdict
from beamjudge.transforms.judging.store.files import (
    INDEX,
    PARALLEL_FILES,
    PART,
    SEGMENT,
    Damaged,
    StoreFile,
    Vanished,
    checked,
    list_store,
    open_seekable,
    path_of,
    read,
)
from beamjudge.transforms.judging.store.key_index import (
    Generation,
    Place,
    Prefixes,
    SegmentKeys,
    decode_index,
    generation_of,
    prefix_of,
    prefixes_of,
)
from beamjudge.transforms.judging.store.parquet import decode_keys
from beamjudge.transforms.judging.store.rows import RowReader

_LOGGER = logging.getLogger(__name__)
# A listing is not taken at one moment, and files may go while they are read: then it is done again.
_ROUNDS = 5

# What a file gives: a segment's keys with their rows, a generation, or nothing when it is damaged.
_Loaded: TypeAlias = "tuple[Prefixes, npt.NDArray[np.uint64]] | Generation | None"


@dataclass(frozen=True, slots=True)
class _Known:
    """The keys on file, as one state that is replaced as a whole."""

    segments: SegmentKeys
    generations: tuple[tuple[str, Generation], ...]

    def find(self, key: str) -> Iterable[Place]:
        prefix = prefix_of(key)
        yield from self.segments.find(prefix)
        for _, generation in self.generations:
            yield from generation.find(prefix)


class StoreReader:
    """Finds verdicts in the files of a store. Thread-safe.

    `refresh` takes in files that are new and lets go of those that are gone. A damaged file is named in the log once,
    and not used.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._rows = RowReader(folder)
        self._known = _Known(SegmentKeys(), ())
        self._seen: set[str] = set()
        self._distrusted: set[str] = set()
        self._state_lock = threading.Lock()
        self._refresh_lock = threading.Lock()

    def find(self, key: str) -> StoredVerdict | None:
        """The verdict of a key, the latest of several; null when none is known of."""
        found: list[StoredVerdict] = []
        for attempt in range(_ROUNDS):
            vanished = set()
            for place in self._known.find(key):
                if place.name in self._distrusted:
                    continue
                try:
                    cells = self._rows.read(place)
                    if cells["key"] == key:
                        found.append(stored_verdict(cells))
                except Vanished:
                    vanished.add(place.name)
                except Damaged as error:
                    self._distrust(place.name, error)
                except Exception as error:  # each filesystem has errors of its own
                    self._distrust(place.name, Damaged(f"it cannot be read ({type(error).__name__})"))
            if found or not vanished:
                break
            if attempt:
                # A refresh has left these: an index names them, but they are not there.
                for name in vanished:
                    self._distrust(name, Damaged("it is missing"))
            self.refresh()
        return max(found, key=_creation, default=None)

    def add_segment(self, name: str, keys: list[str]) -> None:
        """Take note of a segment that this process has just written."""
        with self._state_lock:
            if name in self._seen:
                return
            self._seen.add(name)
            segment = name, prefixes_of(keys), np.arange(len(keys), dtype=np.uint64)
            self._known = _Known(self._known.segments.with_files([segment]), self._known.generations)

    def refresh(self) -> None:
        """Read the keys of new files, and forget files that are gone."""
        with self._refresh_lock:
            for _ in range(_ROUNDS):
                if self._refresh_once():
                    return

    def close(self) -> None:
        self._rows.close()

    def _refresh_once(self) -> bool:
        """One listing and what follows from it. False when files were gone, so that their successors may be missing."""
        with self._state_lock:
            # Not what this process writes from here on: it is in no listing that is older.
            seen = frozenset(self._seen)
        files = list_store(self._folder)
        new = [name for name in files if name not in seen and (SEGMENT.fullmatch(name) or INDEX.fullmatch(name))]
        loaded: dict[str, _Loaded] = {}
        vanished = seen - files.keys()
        with ThreadPoolExecutor(PARALLEL_FILES) as pool:
            for name, future in [(name, pool.submit(self._load, name, files)) for name in new]:
                try:
                    loaded[name] = future.result()
                except Vanished:
                    vanished |= {name}
                except Exception as error:  # each filesystem has errors of its own; the next refresh tries again
                    _warn(self._folder, name, f"it cannot be read now ({type(error).__name__})")
        self._replace(loaded, vanished)
        return not vanished

    def _replace(self, loaded: Mapping[str, _Loaded], gone: frozenset[str]) -> None:
        generations = [(name, each) for name, each in loaded.items() if isinstance(each, Generation)]
        segments = [(name, *each) for name, each in loaded.items() if isinstance(each, tuple)]
        with self._state_lock:
            known = self._known
            segments = [each for each in segments if each[0] not in self._seen]
            self._seen = (self._seen | loaded.keys()) - gone
            self._known = _Known(
                known.segments.without(gone).with_files(segments),
                (*(each for each in known.generations if each[0] not in gone), *generations),
            )

    def _load(self, name: str, files: Mapping[str, StoreFile]) -> _Loaded:
        """A new file's keys. Raises Vanished, and what the filesystem raises."""
        content = read(self._folder, name)
        try:
            if INDEX.fullmatch(name):
                return decode_index(name, content)
            return _with_rows(decode_keys(pa.BufferReader(checked(name, content))))
        except Damaged as error:
            _warn(self._folder, name, str(error))
        return self._rebuilt(name, files) if INDEX.fullmatch(name) else None

    def _rebuilt(self, index: str, files: Mapping[str, StoreFile]) -> Generation | None:
        """The generation of a damaged index, from its parts; those were complete before the index got its name."""
        parts, prefixes = [], []
        for name in files:
            if PART.fullmatch(name) and generation_of(name) == generation_of(index):
                try:
                    with open_seekable(self._folder, name) as stream:
                        found, _ = _with_rows(decode_keys(stream))
                except Damaged as error:
                    _warn(self._folder, name, str(error))
                else:
                    # A compaction writes nothing but rows with keys, so these are all rows of the part.
                    prefixes.append(found)
                    parts.append((name, len(found)))
        return Generation(parts, np.concatenate(prefixes)) if parts else None

    def _distrust(self, name: str, error: Damaged) -> None:
        self._distrusted.add(name)
        _warn(self._folder, name, str(error))


def _creation(stored: StoredVerdict) -> tuple[float, str]:
    return stored.created, stored.run_id


def _with_rows(keys: Sequence[str | None]) -> tuple[Prefixes, npt.NDArray[np.uint64]]:
    """The prefixes of what can be keys, and the rows they stand in. The rest of a row is checked when it is read."""
    found = [(row, key) for row, key in enumerate(keys) if key is not None and is_key(key)]
    return prefixes_of([key for _, key in found]), np.array([row for row, _ in found], dtype=np.uint64)


def _warn(folder: str, name: str, what: str) -> None:
    _LOGGER.warning("%s: %s; it is not used", path_of(folder, name), what)
