"""What Beam says of a run, kept from standard error: ours is said in one line."""

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, redirect_stderr
from types import TracebackType
from typing import Any, TextIO, cast


def quiet_beam() -> AbstractContextManager[None]:
    """Within it, Beam logs nothing of its stages and prints no tracebacks. Runs of several threads may be in it."""
    return _QUIET


def without_tracebacks() -> AbstractContextManager[object]:
    """Standard error, as it is now, without tracebacks."""
    return redirect_stderr(cast(TextIO, _WithoutTracebacks(sys.stderr)))


@contextmanager
def _quiet_process() -> Iterator[None]:
    logger = logging.getLogger("apache_beam")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with without_tracebacks():
            yield
    finally:
        logger.setLevel(level)


class _Quiet(AbstractContextManager[None]):
    """Logging and standard error are the process's, so the first run begins the quiet and the last one ends it: each
    putting back what it found would leave the quiet of the other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs = 0
        self._quiet = ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            if not self._runs:
                self._quiet.enter_context(_quiet_process())
            self._runs += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._lock:
            self._runs -= 1
            if not self._runs:
                self._quiet.close()


_QUIET = _Quiet()


class _WithoutTracebacks:
    """A stream without the tracebacks that each of Beam's workers prints of a failure, past any log."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        # Threads that have printed one and not yet its line end: the two are written apart, and workers at once.
        self._before_line_end: set[int] = set()

    def write(self, text: str) -> int:
        thread = threading.get_ident()
        if text.startswith("Traceback (most recent call last):"):
            self._before_line_end.add(thread)
            return len(text)
        ends_one = thread in self._before_line_end and text == "\n"
        self._before_line_end.discard(thread)
        return len(text) if ends_one else self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        """All else is the stream's own; the progress bar asks it for its encoding."""
        return getattr(self._stream, name)
