"""Ctrl-C and SIGTERM: end a local run at once, though Beam wraps the interrupt in an error of its own."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from beamjudge.transforms.judging.client import close_all, fail_all


class Interrupted(KeyboardInterrupt):
    """The run was interrupted from outside."""


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Raise Interrupted when the block ends, however it ends, once SIGINT or SIGTERM has come.

    Judge stages that wait for answers are woken, and the verdicts that were paid for are brought to file. In a thread
    other than the main one signals are somebody else's.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came = threading.Event()

    def interrupt(number: int, frame: FrameType | None) -> None:
        came.set()
        # The interrupted thread may hold the very lock that is needed: it lets go while Interrupted unwinds it.
        threading.Thread(target=fail_all, args=("interrupted",), daemon=True).start()
        raise Interrupted

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except Exception as error:
        if came.is_set():
            raise Interrupted from error
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came.is_set():
            close_all()
    if came.is_set():
        raise Interrupted
