"""`beamjudge verdicts`: what a verdict store holds, and how it is compacted and pruned. Beam is imported when used."""

import argparse
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from beamjudge.pipelines.flags import Parser, names
from beamjudge.pipelines.terminal import printable
from beamjudge.schemas.errors import RunFailed, UsageError

if TYPE_CHECKING:
    from beamjudge.transforms.judging.store.survey import Payer, Share, Survey

EXAMPLES = """examples:
  beamjudge verdicts stats eval/
  beamjudge verdicts compact gs://bucket/verdicts
  beamjudge verdicts prune eval/ --older_than 30d
  beamjudge verdicts prune eval/ --request_ids row-17,row-18
  beamjudge verdicts prune eval/ --request_ids_file erased.txt"""

_T = TypeVar("_T")
AddCommand: TypeAlias = Callable[..., Parser]
_AGE = re.compile(r"(\d+(?:\.\d+)?)([hdw])")
_SECONDS = {"h": 3600, "d": 86_400, "w": 604_800}
_COLUMNS = ("verdicts", "yes", "calls", "input tokens", "cached", "output tokens", "reasoning", "cost in USD")
_SHOWN_IDS = 5


def age(text: str) -> float:
    """`36h`, `30d` or `4w` as seconds."""
    found = _AGE.fullmatch(text)
    if not found:
        raise argparse.ArgumentTypeError(f"got {text!r}; expected a number and h, d or w, for example 30d")
    return float(found[1]) * _SECONDS[found[2]]


def add_verdicts_commands(actions: "argparse._SubParsersAction[Parser]", add: AddCommand) -> None:
    """Put `stats`, `compact` and `prune` among `actions`; `add` makes a command as the command line's others are."""
    stats = add(actions, "stats", "count verdicts, tokens and cost by judge, model and run", EXAMPLES, _stats)
    compact = add(actions, "compact", "merge all files of a store, so that it opens quickly", EXAMPLES, _compact)
    compact.add_argument(
        "--drop_damaged", action="store_true", help="remove damaged files, after what can be read of them was kept"
    )
    prune = add(actions, "prune", "remove verdicts by their age or by the rows that were judged", EXAMPLES, _prune)
    which = prune.add_mutually_exclusive_group(required=True)
    which.add_argument("--older_than", type=age, metavar="AGE", help="verdicts older than 36h, 30d or 4w")
    which.add_argument("--request_ids", type=names, metavar="A,B", help="verdicts on these rows' text")
    which.add_argument("--request_ids_file", metavar="FILE", help="the same, from a file with one request id a line")
    for parser in (stats, compact, prune):
        parser.add_argument("folder", metavar="FOLDER", help="a verdict store, or the output folder of a run")


def _stats(arguments: argparse.Namespace, _: list[str]) -> int:
    from beamjudge.transforms.judging.store.survey import survey

    folder = _store_in(arguments.folder)
    found = _attempt(folder, lambda: survey(folder))
    print("\n".join(_stats_lines(folder, found)))
    return 0


def _compact(arguments: argparse.Namespace, _: list[str]) -> int:
    from beamjudge.transforms.judging.store.compaction import compact

    folder = _store_in(arguments.folder)
    done = _attempt(folder, lambda: compact(folder, everything=True, drop_damaged=arguments.drop_damaged))
    if done.replaced_files:
        print(f"{folder}: {_count(done.replaced_files, 'file')} merged, {_count(done.verdicts, 'verdict')}")
    else:
        print(f"{folder}: nothing to merge")
    if done.damaged_files:
        kept = "removed" if arguments.drop_damaged else "left as they are; --drop_damaged removes them"
        print(f"{_count(done.damaged_files, 'damaged file')}: {kept}")
    return 0


def _prune(arguments: argparse.Namespace, _: list[str]) -> int:
    from beamjudge.transforms.judging.store.compaction import Selection, prune

    request_ids = arguments.request_ids
    if arguments.request_ids_file is not None:
        request_ids = _read_ids(arguments.request_ids_file)
    if arguments.older_than is not None:
        selection = Selection(created_before=time.time() - arguments.older_than)
    elif request_ids:
        selection = Selection(request_ids=frozenset(request_ids))
    else:
        raise UsageError("no request ids are given; expected --request_ids A,B or a file with one a line")
    folder = _store_in(arguments.folder)
    done = _attempt(folder, lambda: prune(folder, selection))
    print(f"{folder}: removed {done.removed:,} of {_count(done.removed + done.kept, 'verdict')}")
    missing = sorted(selection.request_ids - selection.matched_ids)
    if missing:
        shown = ", ".join(missing[:_SHOWN_IDS]) + (", ..." if len(missing) > _SHOWN_IDS else "")
        print(f"{_count(len(missing), 'request id')} in no verdict: {shown}")
    if done.damaged_files:
        print(f"{_count(done.damaged_files, 'damaged file')} removed, as nobody can tell what they held")
    if done.unfinished_files:
        print(
            f"{_count(done.unfinished_files, 'unfinished file')} left, of a writer that is at work or died within the "
            "last hour; prune again then"
        )
    return 0


def _store_in(folder: str) -> str:
    """The store that is meant: the folder, or `verdicts/` in a run's output folder. Raises UsageError."""
    from apache_beam.io.filesystems import FileSystems

    from beamjudge.transforms.judging.store.files import SEGMENT, list_store, path_of
    from beamjudge.transforms.judging.store.key_index import generation_of

    inner = path_of(folder, "verdicts")
    try:
        for store in (folder, inner):
            if any(SEGMENT.match(name) or generation_of(name) for name in list_store(store)):
                return store
        existing = [store for store in (inner, folder) if FileSystems.exists(store)]
    except Exception as error:  # each filesystem has errors of its own, and of unknown ones Beam knows nothing
        raise UsageError(f"{folder!r} cannot be read ({_first_line(error)}); expected a verdict store") from None
    if not existing:
        raise UsageError(f"there is no {folder!r}; expected a verdict store, or the output folder of a run")
    return existing[0]


def _attempt(folder: str, work: Callable[[], _T]) -> _T:
    try:
        return work()
    except RunFailed:
        raise
    except Exception as error:  # each filesystem has errors of its own
        raise RunFailed(f"{folder}: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def _read_ids(path: str) -> list[str]:
    from apache_beam.io.filesystems import FileSystems

    try:
        with FileSystems.open(path) as stream:
            text = stream.read().decode("utf-8-sig")
    except Exception as error:
        raise UsageError(
            f"--request_ids_file: cannot read {path!r} ({_first_line(error)}); expected a text file with one id a line"
        ) from None
    return [line.strip() for line in text.splitlines() if line.strip()]


def _stats_lines(folder: str, found: "Survey") -> Iterator[str]:
    verdicts = sum(share.verdicts for share in found.shares.values())
    kinds = f"{_count(found.generations, 'compacted generation')}, {_count(found.segments, 'segment')}"
    yield f"{folder}: {_count(verdicts, 'verdict')}, {found.size / 1e6:,.1f} MB in {kinds}"
    if found.oldest is not None and found.newest is not None:
        yield f"paid between {_day(found.oldest)} and {_day(found.newest)} (UTC)"
    if found.damaged_files:
        yield f"{_count(found.damaged_files, 'damaged file')}, not used; compact --drop_damaged removes them"
    if found.unfinished_files:
        yield f"{_count(found.unfinished_files, 'unfinished file')}, of writers at work or of writers that have died"
    if not verdicts:
        return
    for title, key in (("judge", _judge), ("model", _model), ("run", _run)):
        yield ""
        yield from _table(title, _rolled_up(found.shares, key))


def _rolled_up(shares: "Mapping[Payer, Share]", key: "Callable[[Payer], str]") -> "dict[str, Share]":
    totals: dict[str, Share] = {}
    for payer, share in shares.items():
        name = key(payer)
        totals[name] = totals[name] + share if name in totals else share
    return totals


def _judge(payer: "Payer") -> str:
    return f"{payer.judge} ({payer.judge_hash[:8]})"


def _model(payer: "Payer") -> str:
    return payer.model


def _run(payer: "Payer") -> str:
    return payer.run_id


def _table(title: str, totals: "Mapping[str, Share]") -> Iterator[str]:
    rows = [(title, *_COLUMNS), *((printable(name), *_cells(totals[name])) for name in sorted(totals))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        numbers = (f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        yield "  ".join([f"{row[0]:<{widths[0]}}", *numbers]).rstrip()


def _cells(share: "Share") -> Sequence[str]:
    counts = (
        share.verdicts,
        share.yes,
        share.calls,
        share.input_tokens,
        share.cached_input_tokens,
        share.output_tokens,
        share.reasoning_tokens,
    )
    return [*(f"{count:,}" for count in counts), _cost(share)]


def _cost(share: "Share") -> str:
    if share.unpriced == share.verdicts:
        return "unknown"
    return f"{share.cost_usd:,.4f}" + (f" + {share.unpriced:,} unpriced" if share.unpriced else "")


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M")
