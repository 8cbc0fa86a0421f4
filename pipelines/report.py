"""What a person sees of a run: progress while it works, and a table of its numbers at the end."""

import contextlib
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from beamjudge.pipelines import terminal
from beamjudge.pipelines.output_folder import read_table
from beamjudge.pipelines.quiet import without_tracebacks
from beamjudge.schemas.judges import BUILT_IN_JUDGES
from beamjudge.schemas.metric import OVERALL_ASSESSMENT, OVERALL_SLICE, MetricRow
from beamjudge.transforms.output_files import join
from beamjudge.transforms.progress import PROGRESS

_REFRESH_SECONDS = 0.25
_FILE_WIDTH = 200
_PARTS = {
    "rows/": "every row with its verdicts",
    "metrics/": "these numbers under their full names, per slice too",
    "rejects/": "what could not be evaluated",
    "run.json": "what ran",
}
# Metrics that the tables hold under two names are printed once.
_SECOND_NAMES = frozenset(name for spec in BUILT_IN_JUDGES for name in spec.second_names)


class _Rate(ProgressColumn):
    """Rows per second since the start."""

    def render(self, task: Task) -> Text:
        rows = PROGRESS.snapshot()["rows_done"]
        return Text(f"{rows / task.elapsed:,.0f} rows/s" if task.elapsed else "")


@contextlib.contextmanager
def progress(total_bytes: int, hidden: bool) -> Iterator[None]:
    """Show rows done, calls done and failed, rate and time left on standard error while the block runs."""
    PROGRESS.reset()
    if hidden:
        yield
        return
    bar = Progress(
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f}%  {task.description}"),
        _Rate(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),
        transient=True,
    )
    done = threading.Event()
    task = bar.add_task("0 rows", total=1.0)

    def refresh() -> None:
        while not done.wait(_REFRESH_SECONDS):
            now = PROGRESS.snapshot()
            calls = f", {now['calls_done']:,} calls" if now["calls_done"] or now["calls_failed"] else ""
            failed = f" ({now['calls_failed']:,} failed)" if now["calls_failed"] else ""
            bar.update(
                task, completed=done_share(now, total_bytes), description=f"{now['rows_done']:,} rows{calls}{failed}"
            )

    # A bar on a terminal prints what others write to standard error above itself, under codes of its own.
    with bar, without_tracebacks():
        watcher = threading.Thread(target=refresh, name="beamjudge-progress", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()


def done_share(now: Mapping[str, int], total_bytes: int) -> float:
    """How much of the log is done, in [0, 1]: what was read of its bytes, less the rows that still wait for a judge.

    Reading runs ahead of judging by a window of rows, which is all of a small log.
    """
    read = min(now["bytes_read"] / total_bytes, 1.0) if total_bytes else 1.0
    return read * now["rows_done"] / now["rows_read"] if now["rows_read"] else 0.0


def say(text: str) -> None:
    """One line on standard output."""
    with _reader_may_leave():
        print(text, flush=True)


def warn(text: str) -> None:
    """One line on standard error, beside the results."""
    print(f"beamjudge: {terminal.printable(text)}", file=sys.stderr, flush=True)


def show(what: str | Text | Table) -> None:
    """Text of a log, or a table, on standard output."""
    with _reader_may_leave():
        console = _console()
        # In a file a line of text stays one line, however long.
        console.print(
            printable(what) if isinstance(what, str) else what, highlight=False, soft_wrap=not console.is_terminal
        )


@contextlib.contextmanager
def _reader_may_leave() -> Iterator[None]:
    """Go on without a reader of standard output (`| head`): what a run does and returns must not hang on it."""
    try:
        yield
    except BrokenPipeError:
        # The interpreter flushes once more at its end, and would fail there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def print_report(output: str, run: dict[str, Any]) -> None:
    """The overall numbers of a finished run, what was rejected, the gates, and where the files are."""
    with _reader_may_leave():
        _print_report(output, run)


def _print_report(output: str, run: dict[str, Any]) -> None:
    console, counts = _console(), run["counts"]
    metrics = [metric for metric in overall_metrics(output) if metric.metric not in _SECOND_NAMES]
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("metric", overflow="fold")
    for name in ("value", "interval", "scored", "n/a", "errors"):
        table.add_column(name, justify="right", no_wrap=True)
    for metric in metrics:
        if metric.n_scored or metric.n_error:
            table.add_row(*_cells(metric))
    console.print(table)
    silent = [short_name(metric.metric) for metric in metrics if not (metric.n_scored or metric.n_error)]
    if silent and counts["rows"]:
        console.print(printable(f"Nothing to score for {', '.join(dict.fromkeys(silent))}."))
    for line in tables_lines(run["tables"]):
        console.print(printable(line))
    rejects = ", ".join(f"{count} {code}" for code, count in run["rejects"].items())
    console.print(
        f"\n{counted(counts['rows'], 'row')}, {counted(counts['rejects'], 'reject')}"
        f"{f' ({rejects})' if rejects else ''}",
        highlight=False,
    )
    if run["rejects"].get("no_request", 0) > counts["rows"]:
        console.print(
            "Most records have no request: beamjudge check lists their columns; name yours with "
            "--columns request=COLUMN,response=COLUMN",
            highlight=False,
            soft_wrap=True,
        )
    if not counts["rows"] and "merged_from" not in run:
        console.print(_no_rows_line(counts["rejects"]), highlight=False)
    if run.get("app"):
        console.print(printable(_app_line(run["app"])), highlight=False)
    console.print(f"status: {run['status']}, run {run['run_id']}", highlight=False)
    for part, what in _PARTS.items():
        # A merged run has numbers only: its rows and rejects are where they were written.
        if "merged_from" not in run or part not in ("rows/", "rejects/"):
            console.print(f"  {join(output, part):<40} {what}", highlight=False, markup=False, soft_wrap=True)


def _no_rows_line(rejects: int) -> str:
    what = "Every record was rejected, see rejects/" if rejects else "No rows were read: the files hold none"
    return f"{what}; with --min_rows 1 such a run fails."


def _app_line(app: Mapping[str, Any]) -> str:
    given, failed = app["answers"]["given"], app["answers"]["failed"]
    return f"the application {app['model']} answered {counted(given, 'row')}" + (
        f" and failed on {failed:,}" if failed else ""
    )


def tables_lines(tables: Mapping[str, Any]) -> Iterator[str]:
    """A line for each recognised table: how many records, and which of its columns are read as what."""
    for name, table in tables.items():
        columns = ", ".join(f"{column} from {source}" for column, source in table["columns"].items())
        yield f"{counted(table['records'], 'record')} read as {name}: {columns}"


def counted(number: int, noun: str) -> str:
    """`1 row`, `1,000 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def print_failed_gates(run: dict[str, Any]) -> None:
    """One line on standard error for each gate that failed."""
    for gate in run["gates"]:
        if not gate["passed"]:
            value = "no value" if gate["value"] is None else f"{gate['value']:.6g}"
            print(f"beamjudge: gate {gate['name']} failed: {value}, limit {gate['limit']:.6g}", file=sys.stderr)


def overall_metrics(output: str) -> list[MetricRow]:
    """The overall rows of a run's metrics table, the verdict on the whole first, then judges, then rules."""
    overall = (row for row in read_table(output, "metrics") if row["slice"] == OVERALL_SLICE)
    return sorted((MetricRow(**row) for row in overall), key=_rank)


def _rank(metric: MetricRow) -> tuple[int, str]:
    kinds = (OVERALL_ASSESSMENT.rpartition("/")[2], "llm_judged", "ground_truth", "agent", "text")
    name = metric.metric
    return next((rank for rank, kind in enumerate(kinds) if kind in name.split("/")[:2]), len(kinds)), name


def _cells(metric: MetricRow) -> tuple[Text | str, ...]:
    """The row of the printed table: rows that were not sampled count with those that are not applicable."""
    interval = "" if metric.ci_low is None else f"{_number(metric.ci_low)} to {_number(metric.ci_high)}"
    others = metric.n_not_applicable + metric.n_not_sampled
    counts = (f"{count:,}" for count in (metric.n_scored, others, metric.n_error))
    return printable(short_name(metric.metric)), _number(metric.value), interval, *counts


def _console() -> Console:
    """Standard output; where it is no terminal nothing may be cut, since somebody keeps it."""
    console = _Console()
    return console if console.is_terminal else _Console(width=_FILE_WIDTH)


def short_name(metric: str) -> str:
    """A metric's name for a narrow table: without stage and group; the statistic only where it is unexpected."""
    _, *path, statistic = metric.split("/")
    path = path[1:] if path and path[0] in ("llm_judged", "ground_truth", "text") else path
    name = "/".join(path).removesuffix("/rating")
    return name if statistic in ("percentage", "average") else f"{name} ({statistic})"


def printable(text: str) -> Text:
    """Text from a log, for a terminal: neither markup nor control characters of it have an effect."""
    return Text(terminal.printable(text, keep="\n"))


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"
