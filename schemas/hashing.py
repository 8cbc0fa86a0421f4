"""Hashing texts of rows on a thread that others wait for."""

from typing import Protocol

# With more at once, hashlib lets go of the interpreter's lock: while another thread computes, getting it back takes
# several times as long as hashing a prompt.
_MOST_WITH_LOCK = 2047


class Digest(Protocol):
    """A hash of `hashlib` under way."""

    def update(self, data: memoryview, /) -> None: ...


def feed(digest: Digest, data: bytes) -> None:
    """Add `data` to the digest without letting another thread in."""
    view = memoryview(data)
    for start in range(0, len(view), _MOST_WITH_LOCK):
        digest.update(view[start : start + _MOST_WITH_LOCK])
