"""Local files below a folder, through symbolic links, each folder and file once however many names lead to it."""

import os
from collections.abc import Iterator

from apache_beam.io.filesystem import FileMetadata


def local_files(prefix: str) -> Iterator[FileMetadata]:
    """The files below the folder of `prefix` (all before its last slash) whose paths begin with it.

    Links to folders are followed, but not to what has been listed: a link `latest` beside its target, two links to one
    folder and a cycle give every file under one name, its own where that is listed. A link to nothing is a file of no
    bytes, which cannot be opened. Raises OSError for a folder that cannot be listed, unless it is a hidden one.
    """
    folder, slash, start = prefix.rpartition("/")
    folder += slash
    real = os.path.realpath(folder)
    seen: set[str] = set()
    links: list[str] = []
    yield from _listed(folder, real, start, seen, links)
    # Those found behind links come later, so that every file that needs no link has its own name.
    for link in links:
        target = os.path.realpath(link)
        if target in seen:
            continue
        if os.path.isdir(target):
            yield from _listed(link + "/", target, "", seen, links)
        else:
            seen.add(target)
            yield _metadata(link)


def _listed(folder: str, real: str, start: str, seen: set[str], links: list[str]) -> Iterator[FileMetadata]:
    """The files of one tree of folders whose real path is `real`; links are added to `links`."""
    waiting = [(folder, real, start)]
    while waiting:
        path, real, start = waiting.pop()
        if not start:
            if real in seen:
                continue
            seen.add(real)
        for entry in _entries(path):
            if not entry.name.startswith(start):
                continue
            if entry.is_symlink():
                links.append(path + entry.name)
            elif entry.is_dir(follow_symlinks=False):
                waiting.append((f"{path}{entry.name}/", os.path.join(real, entry.name), ""))
            else:
                seen.add(os.path.join(real, entry.name))
                yield _metadata(path + entry.name)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=_name)
    except FileNotFoundError:  # gone since its own folder was listed, or none to begin with
        return []
    except OSError:
        name = os.path.basename(folder.rstrip("/"))
        if name.startswith((".", "_")) and "=" not in name:
            return []
        raise


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _metadata(path: str) -> FileMetadata:
    try:
        status = os.stat(path)
    except OSError:  # opening it says why
        return FileMetadata(path, 0)
    return FileMetadata(path, status.st_size, status.st_mtime)
