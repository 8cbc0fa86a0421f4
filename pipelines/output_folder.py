"""The output folder: what may be in it, what an earlier run left there, and the record of attempts."""

import json
import re
import uuid
from collections.abc import Sequence
from typing import Any

import pyarrow.parquet as pq
from apache_beam.io.filesystem import FileMetadata
from apache_beam.io.filesystems import FileSystems

from beamjudge.schemas.errors import UsageError
from beamjudge.schemas.record import InputFile
from beamjudge.schemas.run_config import RunConfig
from beamjudge.schemas.tables.files import input_record
from beamjudge.transforms.attempt import Attempt, end_attempt, now
from beamjudge.transforms.output_files import join

_TABLE_FILE = r"(rows|rejects|metrics|state)/(part-\d+-of-\d+\.parquet|beam-temp-[^/]+/.*)"
_RESULTS = re.compile(rf"(run\.json|metrics\.json|inputs\.parquet)(\.[0-9a-f]+\.tmp)?|{_TABLE_FILE}")
_KEPT = re.compile(r"attempts/[^/]+|verdicts/.*")
_HIDDEN = re.compile(r"(.*/)?\.[^/]*")
_COMPLETE = ("done", "gate_failed")
# What a person sees first when a folder is refused; the rest is said by number.
_SHOWN_FILES = 3


def finished_run(config: RunConfig, files: Sequence[InputFile]) -> dict[str, Any] | None:
    """The `run.json` of a complete run of this configuration over these very files, or null if it has to run.

    Raises UsageError when the folder holds another run or files that are not beamjudge's, unless `overwrite` is set.
    """
    existing = _relative_files(config.output)
    foreign = [
        name for name in existing if not (_RESULTS.fullmatch(name) or _KEPT.fullmatch(name) or _HIDDEN.fullmatch(name))
    ]
    if foreign and not config.overwrite:
        more = f" and {len(foreign) - _SHOWN_FILES} more" if len(foreign) > _SHOWN_FILES else ""
        shown = ", ".join(foreign[:_SHOWN_FILES]) + more
        raise UsageError(
            f"--output: {config.output!r} holds files that are not beamjudge's ({shown}); "
            "expected an empty or new folder; choose another, or add --overwrite, which leaves those files alone"
        )
    run = read_json(join(config.output, "run.json")) if "run.json" in existing else None
    owners = {run.get("run_id")} if run else _attempted_runs(config.output, existing)
    others = ", ".join(sorted(str(owner) for owner in owners - {config.run_id}))
    if others and not config.overwrite:
        raise UsageError(
            f"--output: {config.output!r} holds another run ({others}; this "
            f"one is {config.run_id}); choose another folder, or add --overwrite to replace its results"
        )
    if not run or run.get("run_id") != config.run_id or run.get("status") not in _COMPLETE:
        return None
    return run if _recorded_inputs(config.output, existing) == [input_record(file, 0) for file in files] else None


def clear(output: str) -> None:
    """Remove an earlier run's results: `run.json` first, verdicts and attempts and foreign files never."""
    names = sorted(
        (name for name in _relative_files(output) if _RESULTS.fullmatch(name)), key=lambda name: name != "run.json"
    )
    for name in names:
        FileSystems.delete([join(output, name)])


def start_attempt(config: RunConfig) -> Attempt:
    """Write `attempts/<id>.json` as running. Raises UsageError when the folder cannot be written."""
    attempt = Attempt(uuid.uuid4().hex[:12], config.run_id, now())
    try:
        end_attempt(config.output, attempt, "running")
    except Exception as error:  # each filesystem has errors of its own, and all of them mean the same here
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise UsageError(
            f"--output: cannot write to {config.output!r} ({reason}); expected a folder that may be created and written"
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


def _relative_files(output: str) -> list[str]:
    root = output if output.endswith("/") else output + "/"
    found: list[FileMetadata] = FileSystems.match([root + "**"])[0].metadata_list
    return sorted(each.path.removeprefix(root) for each in found)


def _attempted_runs(output: str, existing: Sequence[str]) -> set[Any]:
    attempts = [read_json(join(output, name)) for name in existing if name.startswith("attempts/")]
    # Results without a complete run.json belong to the latest attempt; a folder whose results were cleared, to nobody.
    known = [attempt for attempt in attempts if attempt and "started" in attempt]
    return {max(known, key=lambda attempt: attempt["started"]).get("run_id")} if known else set()


def _recorded_inputs(output: str, existing: Sequence[str]) -> list[dict[str, Any]]:
    if "inputs.parquet" not in existing:
        return []
    with FileSystems.open(join(output, "inputs.parquet")) as stream:
        table = pq.read_table(stream)
    recorded = table.set_column(2, "modified", table["modified"].cast("int64")).to_pylist()
    return [{**record, "records": 0} for record in recorded]
