"""The files of a verdict store, on any Beam filesystem: names, listing, writing, reading, removal.

segment-<attempt>-<writer>-<count>-<digest>.parquet   verdicts as they came, from one worker process
part-<generation>-<number>.parquet                    verdicts sorted by key, of a generation
index-<generation>-<digest>.keys                      the generation's parts and keys; a part without it does not count
<name>.tmp                                            a file that is being written, or whose writer has died
"""

import hashlib
import logging
import re
import tempfile
import uuid
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO, cast

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

_LOGGER = logging.getLogger(__name__)
SEGMENT = re.compile(r"segment-[0-9A-Za-z]+-[0-9a-f]+-\d+-([0-9a-f]{16})\.parquet")
PART = re.compile(r"part-([0-9a-f]{16})-\d+\.parquet")
INDEX = re.compile(r"index-([0-9a-f]{16})-([0-9a-f]{16})\.keys")
TEMPORARY = ".tmp"
# Opening a file may take 100 ms on an object store, nearly all of it waiting.
PARALLEL_FILES = 32
_COPY_BYTES = 1 << 20


class Vanished(Exception):
    """A file is not there any more: another process has compacted or pruned the store."""


class Damaged(Exception):
    """A file is not what its writer wrote. The message says what is wrong with it, without its content."""


@dataclass(frozen=True, slots=True)
class StoreFile:
    """A file of a store: its name in the folder, bytes, and when it was written (null where that is not known)."""

    name: str
    size: int
    modified: float | None


def segment_name(attempt_id: str, writer: str, count: int, content: bytes) -> str:
    attempt = re.sub("[^0-9A-Za-z]", "", attempt_id) or "0"
    return f"segment-{attempt}-{writer}-{count:06d}-{digest(content)}.parquet"


def part_name(generation: str, number: int) -> str:
    return f"part-{generation}-{number:04d}.parquet"


def index_name(generation: str, content: bytes) -> str:
    return f"index-{generation}-{digest(content)}.keys"


def new_generation() -> str:
    return uuid.uuid4().hex[:16]


def digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def checked(name: str, content: bytes) -> bytes:
    """The content of a segment or index, if its digest is the one in its name. Raises Damaged otherwise."""
    named = SEGMENT.fullmatch(name) or INDEX.fullmatch(name)
    if named is None or digest(content) != named[named.re.groups]:
        raise Damaged("its content is not what was written")
    return content


def path_of(folder: str, name: str) -> str:
    # FileSystems.join refuses no folder, but would resolve an absolute-looking name.
    return f"{folder.rstrip('/')}/{name}" if folder.rstrip("/") else f"/{name}"


def list_store(folder: str) -> dict[str, StoreFile]:
    """The files directly in the folder by name, in their order; none when there is no such folder."""
    root = path_of(folder, "")
    # Beam's patterns cannot quote, so what would be a pattern in the folder's own name matches any one character.
    pattern = re.sub(r"[\[*?]", "?", root) + "*"
    found = FileSystems.match([pattern])[0].metadata_list
    names = {each.path[len(root) :]: each for each in found if each.path.startswith(root)}
    return {
        name: StoreFile(name, names[name].size_in_bytes, names[name].last_updated_in_seconds or None)
        for name in sorted(names)
        if "/" not in name
    }


def write(folder: str, name: str, content: bytes) -> None:
    """Write a file under a temporary name, then rename it, so that no reader takes half a file for a whole one."""
    try:
        with create(path_of(folder, name + TEMPORARY)) as stream:
            stream.write(content)
        commit(folder, name)
    except BaseException:
        discard(folder, name)
        raise


def create(path: str) -> IO[bytes]:
    # Missing folders come into being with their first file, on every filesystem of Beam.
    return cast("IO[bytes]", FileSystems.create(path, compression_type=CompressionTypes.UNCOMPRESSED))


def discard(folder: str, name: str) -> None:
    """Remove what was written under a temporary name, if that can be done; a compaction does it otherwise."""
    try:
        _remove(path_of(folder, name + TEMPORARY))
    except Exception as error:
        _LOGGER.warning("%s%s is left behind (%s)", path_of(folder, name), TEMPORARY, type(error).__name__)


def commit(folder: str, name: str) -> None:
    """Give a file that was written under its temporary name its own."""
    FileSystems.rename([path_of(folder, name + TEMPORARY)], [path_of(folder, name)])


def read(folder: str, name: str) -> bytes:
    """The whole file. Raises Vanished; other faults as the filesystem raises them."""
    with open_stream(folder, name) as stream:
        return stream.read()


def open_stream(folder: str, name: str) -> IO[bytes]:
    path = path_of(folder, name)
    try:
        return cast("IO[bytes]", FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED))
    except Exception:
        # Every filesystem has an exception of its own for a file that is not there.
        if FileSystems.exists(path):
            raise
        raise Vanished(name) from None


def open_seekable(folder: str, name: str) -> IO[bytes]:
    """The file for reading here and there: a local copy where the store is not on a local filesystem.

    Beam's readers of object stores fetch megabytes for every jump. The copy has no name and is gone once it is closed.
    """
    stream = open_stream(folder, name)
    if FileSystems.get_scheme(folder) is None:
        return stream
    copy = tempfile.TemporaryFile()  # noqa: SIM115
    try:
        with stream:
            while block := stream.read(_COPY_BYTES):
                copy.write(block)
    except BaseException:
        copy.close()
        raise
    copy.seek(0)
    return cast("IO[bytes]", copy)


def remove(folder: str, names: Iterable[str]) -> None:
    """Remove files, at the same time; one that is already gone is fine."""
    names = set(names)
    if not names:
        return
    with ThreadPoolExecutor(PARALLEL_FILES) as pool:
        for _ in pool.map(_remove, [path_of(folder, name) for name in names]):
            pass


def _remove(path: str) -> None:
    try:
        FileSystems.delete([path])
    except Exception:
        if FileSystems.exists(path):
            raise
