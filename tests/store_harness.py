"""What tests of the verdict store share: verdicts, what a store holds, small files, and crashes."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

from apache_beam.io.filesystems import FileSystems

from beamjudge.schemas.spend import Spend
from beamjudge.transforms.judging.store import generation_writer, merge, parquet, rows
from beamjudge.transforms.judging.verdict_store import StoredVerdict, VerdictStore

WAIT_SECONDS = 120.0


def key(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def verdict(number: int, **changes: Any) -> StoredVerdict:
    """The verdict number `number`: another key, rationale and spend for each, on the row `row-<number>`."""
    plain = StoredVerdict(
        key=key(number),
        judge="safety",
        judge_hash="0123456789abcdef",
        model="judge-1",
        rating="no" if number % 3 == 0 else "yes",
        rationale=f"Because of {number}.",
        score=None if number % 2 else number / 8,
        notes=("truncated:retrieved_context",) if number % 5 == 0 else (),
        spend=Spend(1, 100 + number, number, 7, 0, None if number % 4 == 0 else number / 1024),
        run_id="run-1",
        created=1_790_000_000.0 + number,
        request_ids=(f"row-{number}",),
    )
    return replace(plain, **changes)


def store_in(folder: Path | str, reuse: bool = True, **settings: Any) -> VerdictStore:
    return VerdictStore(str(folder), "run-1", "attempt1", reuse, **settings)


def fill(folder: Path | str, *numbers: int, **changes: Any) -> None:
    """Put these verdicts into a store, as one segment."""
    store = store_in(folder)
    for number in numbers:
        store.put(verdict(number, **changes))
    store.close()


def held(folder: Path | str, numbers: "range | list[int]") -> dict[int, StoredVerdict]:
    """What a store that is newly opened has of these."""
    store = store_in(folder)
    try:
        found = {number: store.get(key(number)) for number in numbers}
    finally:
        store.close()
    return {number: stored for number, stored in found.items() if stored is not None}


def verdicts(numbers: "range | list[int]") -> dict[int, StoredVerdict]:
    return {number: verdict(number) for number in numbers}


def names(folder: Path | str, kind: str = "") -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir() if path.name.startswith(kind))


@contextmanager
def small_files() -> Iterator[None]:
    """Row groups of 4 rows in batches of 2, parts of 8 rows, sorted runs of 10: so that few verdicts fill many."""
    with (
        mock.patch.multiple(rows, GROUP_ROWS=4, _BATCH_ROWS=2, _BATCHES=2),
        mock.patch.multiple(merge, GROUP_ROWS=4, _SORT_ROWS=10),
        mock.patch.multiple(generation_writer, GROUP_ROWS=4, PART_ROWS=8),
        mock.patch.object(parquet, "GROUP_ROWS", 4),
    ):
        yield


class Crash(BaseException):
    """What a process that is killed would do: nothing that follows happens, clean-up included."""


class Operations:
    """Stands between the store and its filesystem, and counts what changes or reads files.

    Before operation number `at` it calls `then` once; with `then` left out the process is dead from there on.
    """

    CALLS = ("match", "create", "open", "rename", "delete", "exists")

    def __init__(self, at: int | None = None, then: Callable[[], None] | None = None) -> None:
        self.count = 0
        self._at, self._then = at, then
        self._busy = False
        self._real: Mapping[str, Callable[..., Any]] = {name: getattr(FileSystems, name) for name in self.CALLS}

    @contextmanager
    def in_the_way(self) -> Iterator["Operations"]:
        wrapped = {name: staticmethod(self._wrap(name)) for name in self.CALLS}
        with mock.patch.multiple(FileSystems, **wrapped):
            yield self

    def _wrap(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if not self._busy:
                self._before()
            return self._real[name](*arguments, **options)

        return call

    def _before(self) -> None:
        number, self.count = self.count, self.count + 1
        if self._at is None or number < self._at:
            return
        if self._then is None:
            raise Crash
        if number == self._at:
            self._busy = True
            self._then()
            self._busy = False
