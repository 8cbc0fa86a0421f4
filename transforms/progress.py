"""Counts of this process for the progress display: diagnostics only, no output is ever made of them."""

import threading

_NAMES = ("bytes_read", "rows_read", "rows_done", "calls_done", "calls_failed")


class ProgressCounters:
    """Thread-safe integer counters: `bytes_read` of the input files, `rows_read`, `rows_done`, and calls."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = dict.fromkeys(_NAMES, 0)

    def add(self, name: str, n: int) -> None:
        """Add `n` to the counter `name`; raises KeyError for a name that is no counter."""
        with self._lock:
            self._counts[name] += n

    def snapshot(self) -> dict[str, int]:
        """All counters as of one moment."""
        with self._lock:
            return dict(self._counts)

    def reset(self) -> None:
        """Set all counters to zero, at the start of a run."""
        with self._lock:
            self._counts = dict.fromkeys(_NAMES, 0)


# Stages that run in the launching process, as they do on the default runner, are seen by its display through this.
PROGRESS = ProgressCounters()
