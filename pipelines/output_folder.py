"""The output folder: what may be in it, what an earlier run left there, and the record of attempts."""

import json
import re
import uuid
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.io.filesystems import FileSystems

from beamjudge.schemas.errors import UsageError
from beamjudge.schemas.record import InputFile
from beamjudge.schemas.tables.files import input_record
from beamjudge.transforms.attempt import Attempt, end_attempt, now
from beamjudge.transforms.output_files import join
from beamjudge.transforms.reading.files import files_below

_TABLE_FILE = r"(rows|rejects|metrics|state)/(part-\d+-of-\d+\.parquet|beam-temp-[^/]+/.*)"
_RESULTS = re.compile(rf"(run\.json|metrics\.json|inputs\.parquet)(\.[0-9a-f]+\.tmp)?|{_TABLE_FILE}")
_KEPT = re.compile(r"attempts/[^/]+|verdicts/.*")
_STORE = re.compile(r"verdicts/.*")
_HIDDEN = re.compile(r"(.*/)?\.[^/]*")
COMPLETE = ("done", "gate_failed")
# What a person sees first when a folder is refused; the rest is said by number.
_SHOWN_FILES = 3


def finished_run(output: str, run_id: str, files: Sequence[InputFile], overwrite: bool) -> dict[str, Any] | None:
    """The `run.json` of a complete run of this id over these very files, or null if it has to run.

    Raises UsageError when the folder holds another run or files that are not beamjudge's, unless `overwrite` is set.
    """
    try:
        existing = _relative_files(output)
    except ValueError:
        raise UsageError(
            f"--output: got {output!r}; expected a local folder, or gs:// or s3:// with their extras (gcp, aws)"
        ) from None
    run = read_json(join(output, "run.json")) if "run.json" in existing else None
    attempts = _attempts(output, existing)
    is_run = run is not None and {"run_id", "attempt_id", "finished", "exit_code"} <= run.keys()
    # Names alone make nothing ours: without a trace of a run a metrics.json is somebody else's.
    ours = (_RESULTS, _KEPT, _HIDDEN) if is_run or attempts else (_STORE, _HIDDEN)
    foreign = [name for name in existing if not any(pattern.fullmatch(name) for pattern in ours)]
    in_the_way = [name for name in foreign if _RESULTS.fullmatch(name)]
    if foreign and (not overwrite or in_the_way):
        shown = foreign if not overwrite else in_the_way
        more = f" and {len(shown) - _SHOWN_FILES} more" if len(shown) > _SHOWN_FILES else ""
        hint = ", or add --overwrite, which leaves those files alone" if not in_the_way else ""
        raise UsageError(
            f"--output: {output!r} holds files that are not beamjudge's ({', '.join(shown[:_SHOWN_FILES])}{more}); "
            f"expected an empty or new folder; choose another{hint}"
        )
    # An attempt that left no results, such as one with a wrong key, keeps nobody out.
    has_results = any(_RESULTS.fullmatch(name) for name in existing)
    owners = {run["run_id"]} if run is not None and is_run else _latest_owner(attempts) if has_results else set()
    others = ", ".join(sorted(str(owner) for owner in owners - {run_id}))
    if others and not overwrite:
        raise UsageError(
            f"--output: {output!r} holds another run ({others}; this "
            f"one is {run_id}); choose another folder, or add --overwrite to replace its results"
        )
    if run is None or not is_run or run["run_id"] != run_id or run.get("status") not in COMPLETE:
        return None
    is_whole = all(any(name.startswith(f"{table}/part-") for name in existing) for table in ("rows", "metrics"))
    return run if is_whole and _unread(recorded_inputs(output)) == [input_record(file, 0) for file in files] else None


def clear(output: str) -> None:
    """Remove an earlier run's results: `run.json` first, verdicts and attempts and foreign files never."""
    names = sorted(
        (name for name in _relative_files(output) if _RESULTS.fullmatch(name)), key=lambda name: name != "run.json"
    )
    for name in names:
        FileSystems.delete([join(output, name)])


def start_attempt(output: str, run_id: str) -> Attempt:
    """Write `attempts/<id>.json` as running. Raises UsageError when the folder cannot be written."""
    attempt = Attempt(uuid.uuid4().hex[:12], run_id, now())
    try:
        end_attempt(output, attempt, "running")
    except Exception as error:  # each filesystem has errors of its own, and all of them mean the same here
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise UsageError(
            f"--output: cannot write to {output!r} ({reason}); expected a folder that may be created and written"
        ) from None
    return attempt


def read_json(path: str) -> dict[str, Any] | None:
    """The JSON object in a file of ours; null where there is none or it is no JSON object."""
    if not FileSystems.exists(path):
        return None
    with FileSystems.open(path) as stream:
        content = stream.read()
    try:
        value = json.loads(content)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def recorded_inputs(output: str) -> list[dict[str, Any]]:
    """The rows of a run's `inputs.parquet`, times in microseconds; none where there is no such file."""
    path = join(output, "inputs.parquet")
    if not FileSystems.exists(path):
        return []
    try:
        batches = list(_batches(path))
    except pa.ArrowInvalid:
        return []  # damaged: not a record of anything, so that the run is not complete
    return [row for batch in batches for row in _with_integers(batch, "modified").to_pylist()]


def read_table(output: str, name: str) -> Iterator[dict[str, Any]]:
    """The rows of one of a run's tables, such as `metrics`, from all of its files."""
    for each in files_below(join(output, name)):
        if each.path.endswith(".parquet"):
            for batch in _batches(each.path):
                yield from batch.to_pylist()


def _batches(path: str) -> Iterator[pa.RecordBatch]:
    """The batches of one of our files, which is read in this thread alone.

    Arrow's I/O threads let go of a Python stream only after the interpreter has ended, which aborts the process
    (github.com/apache/arrow/issues/34314), and our tables are what a run reads last.
    """
    with FileSystems.open(path) as stream:
        content = pa.BufferReader(stream.read())
    yield from pq.ParquetFile(content).iter_batches(use_threads=False)


def _with_integers(batch: pa.RecordBatch, name: str) -> pa.RecordBatch:
    column = batch.schema.get_field_index(name)
    return batch.set_column(column, name, batch.column(column).cast("int64"))


def _relative_files(output: str) -> list[str]:
    root = output.rstrip("/") + "/"
    return sorted(each.path.removeprefix(root) for each in files_below(output))


def _attempts(output: str, existing: Sequence[str]) -> list[dict[str, Any]]:
    """The attempts on record in the folder."""
    found = [read_json(join(output, name)) for name in existing if re.fullmatch(r"attempts/[^/]+\.json", name)]
    return [each for each in found if each and isinstance(each.get("started"), str) and "run_id" in each]


def _latest_owner(attempts: Sequence[dict[str, Any]]) -> set[Any]:
    """Results without a complete run.json belong to the latest attempt."""
    return {max(attempts, key=itemgetter("started"))["run_id"]} if attempts else set()


def _unread(inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The inputs as they are known before they are read."""
    return [{**file, "records": 0} for file in inputs]
