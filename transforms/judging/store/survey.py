"""What a verdict store holds: verdicts, tokens and cost by judge, model and run, and its files."""

from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from beamjudge.schemas.errors import RunFailed
from beamjudge.transforms.judging.store.contents import Reading, list_contents

_ATTEMPTS = 5
_MICROSECONDS = 1_000_000
_SUMS = ("calls", "input_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens", "cost_usd")


class Payer(NamedTuple):
    """Who asked what, and on whose account: what verdicts are counted by."""

    judge: str
    judge_hash: str
    model: str
    run_id: str


@dataclass(slots=True)
class Share:
    """What one payer's verdicts come to. `cost_usd` is that of the priced ones; `unpriced` have no known price."""

    verdicts: int = 0
    yes: int = 0
    unpriced: int = 0
    calls: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float = 0.0

    def __add__(self, other: "Share") -> "Share":
        return Share(*(getattr(self, name) + getattr(other, name) for name in Share.__slots__))


@dataclass(slots=True)
class Survey:
    """A store's verdicts, each key once, and its files. Times are in seconds since 1970, `size` in bytes."""

    shares: dict[Payer, Share] = field(default_factory=dict)
    oldest: float | None = None
    newest: float | None = None
    size: int = 0
    segments: int = 0
    generations: int = 0
    damaged_files: int = 0
    unfinished_files: int = 0


def survey(folder: str) -> Survey:
    """Read all verdicts of a store and add them up. Damaged files are logged, and counted.

    Raises RunFailed when others replace the files all the time.
    """
    for _ in range(_ATTEMPTS):
        found = _survey_once(folder)
        if found is not None:
            return found
    raise RunFailed(f"{folder}: other processes change this store all the time; try again when they have ended")


def _survey_once(folder: str) -> Survey | None:
    """The survey, or null if files that were listed were gone before they were read."""
    contents = list_contents(folder)
    found = Survey(
        size=contents.size,
        segments=len(contents.segments),
        generations=len(contents.generations),
        unfinished_files=len(contents.unfinished),
    )
    reading = Reading(folder, contents.segments, contents.generations)
    for table in reading.tables():
        _add(found, table)
    found.damaged_files = len(reading.damaged)
    return None if reading.vanished else found


def _add(found: Survey, table: pa.Table) -> None:
    table = table.append_column("yes", pc.equal(table["rating"], "yes").cast(pa.int64()))
    table = table.append_column("unpriced", pc.is_null(table["cost_usd"]).cast(pa.int64()))
    sums = [(name, "sum") for name in ("yes", "unpriced", *_SUMS)]
    for row in table.group_by(list(Payer._fields)).aggregate([("key", "count"), *sums]).to_pylist():
        payer = Payer(*(row[name] for name in Payer._fields))
        share = Share(row["key_count"], *(row[f"{name}_sum"] or 0 for name, _ in sums))
        found.shares[payer] = found.shares.get(payer, Share()) + share
    times = pc.min_max(table["created"].cast(pa.int64())).as_py()
    if times["min"] is not None:
        oldest, newest = times["min"] / _MICROSECONDS, times["max"] / _MICROSECONDS
        found.oldest = oldest if found.oldest is None else min(found.oldest, oldest)
        found.newest = newest if found.newest is None else max(found.newest, newest)
