"""Attempts at a run: each start and each end is on record in `attempts/<id>.json`."""

from dataclasses import dataclass
from datetime import datetime, timezone

from beamjudge.transforms.output_files import join, write_json


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a run: its id and when it began (ISO 8601, UTC)."""

    id: str
    run_id: str
    started: str


def now() -> str:
    """The time as ISO 8601 in UTC, to the millisecond."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def end_attempt(output: str, attempt: Attempt, status: str, error: str | None = None) -> None:
    """Write the attempt's state: `running` (which has no end yet), a run's status, `failed` or `interrupted`."""
    record = {
        "attempt_id": attempt.id,
        "run_id": attempt.run_id,
        "started": attempt.started,
        "finished": None if status == "running" else now(),
        "status": status,
        "error": error,
    }
    write_json(join(output, "attempts", f"{attempt.id}.json"), record)
