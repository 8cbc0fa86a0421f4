"""The bytes of a file in chunks of bounded size, decompressed; every fault is an UnreadableFile."""

import bz2
import os
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import Any, BinaryIO, TypeAlias, cast

import zstandard
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from beamjudge.schemas.record import FileFault
from beamjudge.transforms.progress import PROGRESS
from beamjudge.transforms.reading.detect import Compression
from beamjudge.transforms.reading.faults import UnreadableFile, one_line

CHUNK_BYTES = 1 << 20
# Beyond its end a range reads on in small steps, since it needs only the rest of its last line.
TAIL_BYTES = 64 * 1024
# What a failing call has already decompressed is lost, so that calls are small: damage costs few of the rows before it.
_OUTPUT_BYTES = 16 * 1024
# zstandard's decompressor takes no output limit; a block of zstd may stand for 32,000 times its size.
_ZSTD_STEP = 1024

# Feeds a decompressor, gives what comes out, and returns what is left over once its member has ended, else None.
_Feed: TypeAlias = Callable[[Any, bytes], Generator[bytes, None, "bytes | None"]]


def open_file(path: str) -> BinaryIO:
    """The file's own bytes, seekable; Beam must not guess a compression from the name."""
    if os.path.exists(path) and not os.path.isfile(path):
        # Opening a pipe would wait for a writer.
        raise UnreadableFile("unreadable_file", "not a regular file")
    try:
        return FileSystems.open(path, "application/octet-stream", CompressionTypes.UNCOMPRESSED)
    except Exception as error:  # each cloud's client raises its own kinds
        raise UnreadableFile("unreadable_file", one_line(error)) from error


def read_head(path: str, size: int) -> bytes:
    """Up to `size` first bytes of the file."""
    with closing(open_file(path)) as file:
        return _read(file, size)


def read_chunks(path: str, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
    """The file from byte `start` to its end; what lies beyond `stop` comes in small chunks, and is no progress."""
    with closing(open_file(path)) as file:
        if start:
            _seek(file, start)
        position = start
        while True:
            inside = stop is None or position < stop
            size = CHUNK_BYTES if stop is None else min(CHUNK_BYTES, stop - position) if inside else TAIL_BYTES
            chunk = _read(file, size)
            if not chunk:
                return
            if inside:
                PROGRESS.add("bytes_read", len(chunk))
            position += len(chunk)
            yield chunk


def decompress(chunks: Iterable[bytes], compression: Compression) -> Iterator[bytes]:
    """The decompressed stream of all members, in chunks of bounded size.

    Raises UnreadableFile (bad_compression) where the stream is damaged or cut off, after giving what came before.
    """
    new, feed = _CODECS[compression]
    decompressor: Any = None
    for chunk in chunks:
        rest: bytes | None = chunk
        while rest:
            if decompressor is None:
                # Tapes and block devices pad with zeros between and after members.
                rest = rest.lstrip(b"\0")
                if not rest:
                    break
                decompressor = new()
            try:
                rest = yield from feed(decompressor, rest)
            except (zlib.error, zstandard.ZstdError, OSError, EOFError, ValueError) as error:
                raise UnreadableFile("bad_compression", f"{compression}: {one_line(error)}") from error
            if rest is not None:
                decompressor = None
    if decompressor is not None:
        raise UnreadableFile("bad_compression", f"{compression}: the stream is cut off")


class BreakableStream(Iterator[bytes]):
    """A stream that merely ends where it cannot be read further, so that what came before is used; then see `fault`."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self.fault: FileFault | None = None

    def __next__(self) -> bytes:
        try:
            return next(self._chunks)
        except UnreadableFile as error:
            self.fault = error.fault
            raise StopIteration from None


def _read(file: BinaryIO, size: int) -> bytes:
    try:
        return file.read(size)
    except Exception as error:  # each cloud's client raises its own kinds
        raise UnreadableFile("unreadable_file", one_line(error)) from error


def _seek(file: BinaryIO, position: int) -> None:
    try:
        file.seek(position)
    except Exception as error:  # each cloud's client raises its own kinds
        raise UnreadableFile("unreadable_file", one_line(error)) from error


def _new_gzip() -> Any:
    return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)


def _new_zstd() -> Any:
    return zstandard.ZstdDecompressor().decompressobj()


def _feed_gzip(decompressor: Any, data: bytes) -> Generator[bytes, None, bytes | None]:
    # At the end of a member zlib leaves what it has not consumed in both tails; only `unused_data` is then of use.
    while data and not decompressor.eof:
        yield decompressor.decompress(data, _OUTPUT_BYTES)
        data = decompressor.unconsumed_tail
    return cast(bytes, decompressor.unused_data) if decompressor.eof else None


def _feed_bz2(decompressor: Any, data: bytes) -> Generator[bytes, None, bytes | None]:
    yield decompressor.decompress(data, _OUTPUT_BYTES)
    while not decompressor.needs_input and not decompressor.eof:
        yield decompressor.decompress(b"", _OUTPUT_BYTES)
    return cast(bytes, decompressor.unused_data) if decompressor.eof else None


def _feed_zstd(decompressor: Any, data: bytes) -> Generator[bytes, None, bytes | None]:
    for start in range(0, len(data), _ZSTD_STEP):
        yield decompressor.decompress(data[start : start + _ZSTD_STEP])
        if decompressor.eof:
            return cast(bytes, decompressor.unused_data) + data[start + _ZSTD_STEP :]
    return None


_CODECS: dict[Compression, tuple[Callable[[], Any], _Feed]] = {
    "gzip": (_new_gzip, _feed_gzip),
    "zstd": (_new_zstd, _feed_zstd),
    "bz2": (bz2.BZ2Decompressor, _feed_bz2),
}
