"""Lines of a byte stream with their offsets: linear in a line's length, memory bounded by the longest allowed line."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TypeAlias

from beamjudge.transforms.reading.detect import Encoding
from beamjudge.transforms.reading.faults import RAW_BYTES
from beamjudge.transforms.reading.streams import read_chunks

# Offset in the stream, bytes without the line end, and their number; a line over the limit has only its first bytes.
Line: TypeAlias = tuple[int, bytes, int]


def split_lines(
    chunks: Iterable[bytes], max_bytes: int, offset: int = 0, encoding: Encoding = "utf-8"
) -> Iterator[Line]:
    """The lines of a stream that begins at `offset`. Only LF ends a line; a CR before it stays.

    A line longer than `max_bytes` is not held: it comes with its first 64 KiB and its size.
    """
    if encoding == "utf-8":
        pieces_of: Callable[[bytes], list[bytes]] = _split_utf8
        width = 1
    else:
        pieces_of = _split_utf16_le if encoding == "utf-16-le" else _split_utf16_be
        width = 2
        chunks = _whole_units(chunks)
    held: list[bytes] = []
    size = 0
    for chunk in chunks:
        pieces = pieces_of(chunk)
        tail = pieces.pop()
        for piece in pieces:
            if size:
                size += len(piece)
                _hold(held, piece, size, max_bytes)
                yield offset, b"".join(held), size
                offset += size + width
                held.clear()
                size = 0
            else:
                yield offset, piece, len(piece)
                offset += len(piece) + width
        if tail:
            size += len(tail)
            _hold(held, tail, size, max_bytes)
    if size:
        yield offset, b"".join(held), size


def range_lines(path: str, start: int, stop: int | None, max_bytes: int) -> Iterator[Line]:
    """The lines that begin in bytes [start, stop) of a plain UTF-8 file; together, ranges give each line once.

    A line begins at 0 and after every LF, which in UTF-8 is never part of another character, so that a boundary may
    fall anywhere: into a byte-order mark, a CRLF, a character.
    """
    chunks = read_chunks(path, max(start - 1, 0), stop)
    offset = start
    if start:
        position = start - 1
        for chunk in chunks:
            # A line end beyond stop - 2 would begin a line beyond the range.
            limit = len(chunk) if stop is None else stop - 1 - position
            found = chunk.find(b"\n", 0, limit)
            if found >= 0:
                offset = position + found + 1
                chunks = chain([chunk[found + 1 :]], chunks)
                break
            position += len(chunk)
            if stop is not None and position >= stop - 1:
                return
        else:
            return
    for line in split_lines(chunks, max_bytes, offset):
        if stop is not None and line[0] >= stop:
            return
        yield line


def _hold(held: list[bytes], piece: bytes, size: int, max_bytes: int) -> None:
    """Keep `piece` of a line that now has `size` bytes, or only the line's first bytes once it is too long."""
    if size <= max_bytes:
        held.append(piece)
    elif size - len(piece) <= max_bytes:
        held[:] = [b"".join((*held, piece[:RAW_BYTES]))[:RAW_BYTES]]


def _whole_units(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The stream in chunks of even length, so that no UTF-16 code unit is cut; an odd last byte comes by itself."""
    odd = b""
    for chunk in chunks:
        data = odd + chunk
        odd = data[len(data) & ~1 :]
        yield data[: len(data) & ~1]
    if odd:
        yield odd


def _split_utf8(chunk: bytes) -> list[bytes]:
    return chunk.split(b"\n")


def _split_utf16_le(chunk: bytes) -> list[bytes]:
    return _split_units(chunk, b"\n\x00")


def _split_utf16_be(chunk: bytes) -> list[bytes]:
    return _split_units(chunk, b"\x00\n")


def _split_units(chunk: bytes, newline: bytes) -> list[bytes]:
    """Split at line ends at even offsets: elsewhere the same two bytes are halves of other characters."""
    pieces = []
    start = 0
    found = chunk.find(newline)
    while found >= 0:
        if found % 2:
            found = chunk.find(newline, found + 1)
        else:
            pieces.append(chunk[start:found])
            start = found + 2
            found = chunk.find(newline, start)
    pieces.append(chunk[start:])
    return pieces
