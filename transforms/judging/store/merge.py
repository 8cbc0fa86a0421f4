"""All verdicts of a store in the order of their keys, each key once, in bounded memory."""

import tempfile
from collections.abc import Iterator, Sequence
from typing import IO, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from beamjudge.schemas.tables.verdicts import VERDICTS_SCHEMA
from beamjudge.transforms.judging.store.parquet import GROUP_ROWS

# Tables in the order of their keys, which are ascending and unique in the whole sequence.
Sorted: TypeAlias = Iterator[pa.Table]

_SORT_ROWS = 50_000
_LATEST_FIRST = [("key", "ascending"), ("created", "descending"), ("run_id", "descending")]


def merge(sources: Sequence[Sorted]) -> Sorted:
    """The union of sorted sources: of a key's rows the latest, with the request ids of all.

    One table of each source is held at a time. The keys up to the lowest of their last ones can be handed on, since
    no later table can bring any of them.
    """
    heads = {number: head for number, source in enumerate(sources) if (head := _next_table(source)) is not None}
    while heads:
        bound = min(head["key"][-1].as_py() for head in heads.values())
        ready = []
        for number, head in list(heads.items()):
            count = _count_up_to(head, bound)
            ready.append(head.slice(0, count))
            rest = head.slice(count) if count < len(head) else _next_table(sources[number])
            if rest is None:
                del heads[number]
            else:
                heads[number] = rest
        yield unique(pa.concat_tables(ready))


def unique(table: pa.Table) -> pa.Table:
    """The table in the order of its keys, each key once: its latest row, with the request ids of all its rows."""
    table = table.sort_by(_LATEST_FIRST).combine_chunks()
    keys = table["key"]
    if len(table) < 2:
        return table
    repeats = pc.equal(keys[1:], keys[:-1])
    if not pc.any(repeats).as_py():
        return table
    is_first = pa.concat_arrays([pa.array([True]), pc.invert(repeats).combine_chunks()])
    ids: list[dict[str, None]] = []
    for first, row_ids in zip(is_first.to_pylist(), table["request_ids"].to_pylist(), strict=True):
        if first:
            ids.append(dict.fromkeys(row_ids))
        else:
            ids[-1].update(dict.fromkeys(row_ids))
    at = VERDICTS_SCHEMA.get_field_index("request_ids")
    merged = pa.array([list(each) for each in ids], VERDICTS_SCHEMA.field(at).type)
    return table.filter(is_first).set_column(at, VERDICTS_SCHEMA.field(at), merged)


class Sorter:
    """Sorts tables that come in any order, on local disk beyond `_SORT_ROWS` rows. A context manager."""

    def __init__(self) -> None:
        self._tables: list[pa.Table] = []
        self._rows = 0
        self._runs: list[IO[bytes]] = []

    def __enter__(self) -> "Sorter":
        return self

    def __exit__(self, *exc_info: object) -> None:
        for run in self._runs:
            run.close()

    def add(self, table: pa.Table) -> None:
        self._tables.append(table)
        self._rows += len(table)
        if self._rows >= _SORT_ROWS:
            self._spill()

    def sources(self) -> list[Sorted]:
        """Everything that was added, as sorted sources for `merge`."""
        sources = [_read_run(run) for run in self._runs]
        if self._tables:
            sources.append(_slices(unique(pa.concat_tables(self._tables))))
        return sources

    def _spill(self) -> None:
        run = tempfile.TemporaryFile()  # noqa: SIM115
        self._runs.append(run)
        with pa.ipc.new_file(run, VERDICTS_SCHEMA) as writer:
            writer.write_table(unique(pa.concat_tables(self._tables)), max_chunksize=GROUP_ROWS)
        self._tables, self._rows = [], 0


def _slices(table: pa.Table) -> Sorted:
    for start in range(0, len(table), GROUP_ROWS):
        yield table.slice(start, GROUP_ROWS)


def _read_run(run: IO[bytes]) -> Sorted:
    run.seek(0)
    reader = pa.ipc.open_file(run)
    for number in range(reader.num_record_batches):
        yield pa.Table.from_batches([reader.get_batch(number)])


def _next_table(source: Sorted) -> pa.Table | None:
    """The source's next table that has rows."""
    return next((table for table in source if len(table)), None)


def _count_up_to(table: pa.Table, bound: str) -> int:
    """How many of the table's keys, which are ascending, are at most `bound`."""
    count: int = pc.sum(pc.less_equal(table["key"], bound)).as_py()
    return count
