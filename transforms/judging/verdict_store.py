"""The verdict store of a worker process: what was paid for once is not paid for again."""

import atexit
import logging
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from beamjudge.schemas.errors import RunFailed
from beamjudge.schemas.stored_verdict import StoredVerdict
from beamjudge.schemas.tables.verdicts import verdicts_table
from beamjudge.transforms.judging.store.files import segment_name, write
from beamjudge.transforms.judging.store.parquet import encode
from beamjudge.transforms.judging.store.reader import StoreReader

__all__ = ["StoredVerdict", "VerdictStore"]

_LOGGER = logging.getLogger(__name__)
# At most this many verdicts and seconds are lost with a process. The write itself is part of the promised 5 seconds.
FLUSH_VERDICTS = 500
FLUSH_SECONDS = 4.0
# How often a miss looks for what other processes have written, and at most which share of the time that may take.
REFRESH_SECONDS = 10.0
_REFRESH_SHARE = 0.05
_RECENT = 2048


class VerdictStore:
    """Verdicts by content key in `folder`, which any number of processes and runs may share. Thread-safe.

    Keys are 64 hex digits. `get` may read a file, so it is not for an event loop's thread; `put` only takes note, and
    never waits for one. With `reuse` off, `get` finds what this very store was given, and nothing of other processes or
    runs. The constructor reads the keys that are on file; it raises RunFailed when the folder cannot be read.
    """

    def __init__(
        self,
        folder: str,
        run_id: str,
        attempt_id: str,
        reuse: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder, self._reuse, self._clock = folder, reuse, clock
        self._attempt_id, self._origin = attempt_id, {"run_id": run_id, "attempt_id": attempt_id}
        self._writer = uuid.uuid4().hex[:8]
        self._count = 0
        self._reader = StoreReader(folder)
        self._next_refresh = 0.0
        # Guards what follows; never held while a file is written or read.
        self._changed = threading.Condition()
        self._pending: dict[str, StoredVerdict] = {}
        self._writing: dict[str, StoredVerdict] = {}
        self._oldest = 0.0
        self._recent: OrderedDict[str, StoredVerdict] = OrderedDict()
        self._closed = False
        self._thread: threading.Thread | None = None
        self._write_lock = threading.Lock()
        self._refresh_lock = threading.Lock()
        if reuse:
            try:
                self._reader.refresh()
            except Exception as error:  # each filesystem has errors of its own
                raise RunFailed(f"the verdict store {folder!r} cannot be read ({_reason(error)})") from error
            self._next_refresh = clock() + REFRESH_SECONDS
        atexit.register(self._at_exit)

    def get(self, key: str, request_id: str | None = None) -> StoredVerdict | None:
        """The verdict stored under `key`, or null. `request_id` names the row that is going to use it.

        That row's text is the judged text as well, so it is noted with the verdict: pruning by its id removes it.
        """
        found = self._in_memory(key) or self._reader.find(key)
        if found is None and self._reuse and self._refresh_if_due():
            found = self._reader.find(key)
        if found is None:
            return None
        with self._changed:
            self._remember(found)
            if request_id is not None and request_id not in found.request_ids:
                self._note(replace(found, request_ids=(request_id,)))
        return found

    def put(self, stored: StoredVerdict) -> None:
        """Take note of a verdict that has just been paid for. It is on file within 5 s, or with the next `flush`."""
        with self._changed:
            self._remember(stored)
            self._note(stored)
            closed = self._closed
        if closed:
            self.flush()

    def flush(self) -> None:
        """Bring to file whatever is not there yet, and wait for it.

        Raises RunFailed when the folder cannot be written; nothing is lost then, and the next flush tries again.
        """
        try:
            self._write_pending()
        except Exception as error:  # each filesystem has errors of its own
            raise RunFailed(f"the verdict store {self._folder!r} cannot be written ({_reason(error)})") from error

    def close(self) -> None:
        """Flush, and let go of threads and files. Idempotent. Raises RunFailed like `flush`."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._changed.notify_all()
            thread = self._thread
        if thread:
            thread.join()
        atexit.unregister(self._at_exit)
        try:
            self.flush()
        finally:
            self._reader.close()

    def _in_memory(self, key: str) -> StoredVerdict | None:
        with self._changed:
            return self._recent.get(key) or self._pending.get(key) or self._writing.get(key)

    def _remember(self, stored: StoredVerdict) -> None:
        self._recent[stored.key] = stored
        self._recent.move_to_end(stored.key)
        if len(self._recent) > _RECENT:
            self._recent.popitem(last=False)

    def _note(self, stored: StoredVerdict) -> None:
        """Add to what is to be written; the condition is held."""
        noted = self._pending.get(stored.key)
        if noted:
            ids = dict.fromkeys((*noted.request_ids, *stored.request_ids))
            self._pending[stored.key] = replace(stored, request_ids=tuple(ids))
            return
        if not self._pending:
            self._oldest = time.monotonic()
        self._pending[stored.key] = stored
        if len(self._pending) in (1, FLUSH_VERDICTS):
            self._start_thread()
            self._changed.notify_all()

    def _start_thread(self) -> None:
        if self._thread is None and not self._closed:
            self._thread = threading.Thread(target=self._flush_in_time, name="beamjudge-verdicts", daemon=True)
            self._thread.start()

    def _flush_in_time(self) -> None:
        while self._wait_until_due():
            try:
                self._write_pending()
            except Exception as error:  # the next flush tells the runner; until then it is tried again
                _LOGGER.error("the verdict store %s cannot be written (%s)", self._folder, _reason(error))
                self._pause()

    def _pause(self) -> None:
        """Give a filesystem that has just failed some time, however much is pending."""
        until = time.monotonic() + FLUSH_SECONDS
        with self._changed:
            while not self._closed and (left := until - time.monotonic()) > 0:
                self._changed.wait(left)

    def _wait_until_due(self) -> bool:
        """Wait until enough is pending, or for long enough. False when the store is closed."""
        with self._changed:
            while not self._closed:
                if not self._pending:
                    self._changed.wait()
                    continue
                left = self._oldest + FLUSH_SECONDS - time.monotonic()
                if left <= 0 or len(self._pending) >= FLUSH_VERDICTS:
                    return True
                self._changed.wait(left)
            return False

    def _write_pending(self) -> None:
        with self._write_lock:
            with self._changed:
                self._writing, self._pending = self._pending, {}
                batch = self._writing
            if not batch:
                return
            try:
                name = self._write_segment(list(batch.values()))
            except BaseException:
                with self._changed:
                    since, self._pending, self._writing = self._pending, {}, {}
                    for stored in (*batch.values(), *since.values()):
                        self._note(stored)
                raise
            self._reader.add_segment(name, list(batch))
            with self._changed:
                self._writing = {}

    def _write_segment(self, verdicts: list[StoredVerdict]) -> str:
        content = encode(verdicts_table(verdicts), self._origin)
        self._count += 1
        name = segment_name(self._attempt_id, self._writer, self._count, content)
        write(self._folder, name, content)
        return name

    def _refresh_if_due(self) -> bool:
        """Look for what other processes have written, if that is due and no other thread is at it."""
        if self._clock() < self._next_refresh or not self._refresh_lock.acquire(blocking=False):
            return False
        try:
            started = self._clock()
            self._reader.refresh()
            return True
        except Exception as error:  # a call that is paid again is better than a run that fails
            _LOGGER.warning("the verdict store %s cannot be read now (%s)", self._folder, _reason(error))
            return False
        finally:
            now = self._clock()
            self._next_refresh = now + max(REFRESH_SECONDS, (now - started) / _REFRESH_SHARE)
            self._refresh_lock.release()

    def _at_exit(self) -> None:
        try:
            self.flush()
        except RunFailed as error:
            _LOGGER.error("%s", error)


def _reason(error: BaseException) -> str:
    """One line on what a filesystem says."""
    details = getattr(error, "exception_details", None)
    if isinstance(details, dict) and details:
        return _reason(next(iter(details.values())))
    return getattr(error, "strerror", None) or (str(error) or type(error).__name__).splitlines()[0]
