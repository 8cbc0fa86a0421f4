"""A process that writes to a store until it is told to end or killed: `store_writer.py FOLDER FIRST LAST MODE`.

It puts the verdicts FIRST to LAST - 1 and says on standard output what it is about to do and what is done. With MODE
`within` it stops in the middle of writing its second segment, with `between` after it, and waits to be killed.
"""

import sys
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from apache_beam.io.filesystems import FileSystems
from store_harness import store_in, verdict

PER_SEGMENT = 5


def say(text: str) -> None:
    print(text, flush=True)


def stop(text: str) -> None:
    say(text)
    threading.Event().wait()


class HalfWritten:
    """A stream that stops for ever once half of what it is given has been written."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __enter__(self) -> "HalfWritten":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stream.close()

    def write(self, content: bytes) -> None:
        self._stream.write(content[: len(content) // 2])
        self._stream.flush()
        stop("within")


def main(folder: str, first: int, last: int, mode: str) -> None:
    store = store_in(folder)
    create = FileSystems.create
    for number in range(first, last):
        store.put(verdict(number))
        if (number - first) % PER_SEGMENT == PER_SEGMENT - 1:
            second = number - first == 2 * PER_SEGMENT - 1
            if second and mode == "within":
                FileSystems.create = staticmethod(lambda *given, **options: HalfWritten(create(*given, **options)))
            store.flush()
            say(f"flushed {number}")
            if second and mode == "between":
                store.put(verdict(number + 1))
                stop("between")
    store.close()
    say("closed")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
