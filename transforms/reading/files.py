"""Which files are read: patterns, folders and `key=value` folders, on any Beam filesystem."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from urllib.parse import unquote

from apache_beam.io.filesystem import FileMetadata, FileSystem
from apache_beam.io.filesystems import FileSystems

from beamjudge.schemas.errors import UsageError
from beamjudge.schemas.record import InputFile
from beamjudge.transforms.output_files import join
from beamjudge.transforms.reading.delta import PREFIX as DELTA
from beamjudge.transforms.reading.delta import delta_files, split_version
from beamjudge.transforms.reading.faults import one_line
from beamjudge.transforms.reading.local_files import local_files

_GLOB = re.compile(r"[*?\[]")
_ICEBERG = re.compile(r"(^|/)metadata/[^/]+\.metadata\.json(\.gz)?$")
_DELTA_LOG = re.compile(r"(.*?)/?_delta_log/\d{20}\.json$")
_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


def match_files(
    patterns: Sequence[str], output: str | None = None, warn: Callable[[str], None] | None = None
) -> tuple[InputFile, ...]:
    """The files that `patterns` name, each once, sorted by path; local paths become absolute.

    A pattern is a file, a folder (all files below it), or a glob: `*` and `?` within a name, `**` over folders, `[ab]`;
    a folder that a glob matches stands for all files below it. A path that exists is itself, glob characters or not.
    Below the part of a pattern that is spelled out, names that begin with `.` or `_` are skipped (hidden files,
    `_SUCCESS`, `_delta_log/`), but for `_key=value` folders. A file that is named in full is never skipped. Files below
    `output`, where results go, are no logs, though a pattern may match them; nor is what lies in another run's folder.
    Symbolic links are followed; what several names lead to is read once.
    `delta:FOLDER[@VERSION]` names the files of a Delta table; files of such a table that are named without its log are
    a line for `warn`.

    Raises UsageError for a pattern that matches nothing, nothing outside `output`, or cannot be listed; and for a
    folder that is a Delta or Iceberg table, whose files may be of versions that are no longer the table's.
    """
    found: dict[str, InputFile] = {}
    results = None if output is None else absolute(output).rstrip("/") + "/"
    for pattern in patterns:
        matched = _match(pattern)
        files = [file for file in matched if results is None or not file.path.startswith(results)]
        if matched and not files:
            raise UsageError(
                f"--input: {pattern!r} lies inside --output {output!r}, where nothing is read; expected another folder "
                f"for the results, such as --output {join(str(output), 'eval')}"
            )
        if warn is not None and not pattern.startswith(DELTA):
            for folder in _delta_tables(files):
                warn(
                    f"--input: {pattern!r} reads files of the Delta table {folder!r} past its log, deleted and "
                    f"replaced rows too; {_as_delta(pattern, folder)} reads the table's rows"
                )
        found.update((file.path, file) for file in files)
    if not found:
        raise _nothing_found(patterns[0], "holds nothing but results of runs")
    return tuple(found[path] for path in sorted(found))


def absolute(path: str) -> str:
    """A local path from the root, with `~` filled in and its closing slash kept; other paths as they are."""
    if FileSystems.get_scheme(path) is not None:
        return path
    return os.path.abspath(os.path.expanduser(path)) + ("/" if path.endswith(("/", os.sep)) else "")


def files_below(folder: str) -> Iterator[FileMetadata]:
    """All files below a folder, whatever characters its name has; symbolic links to folders are not followed."""
    prefix = folder.rstrip("/") + "/"
    # Beam's globs cannot quote: `?` stands for a glob character that is meant as it is.
    for metadata in _metadata([_any_character(prefix) + "**"]):
        if metadata.path.startswith(prefix):
            yield metadata


def partition_columns(path: str) -> dict[str, str]:
    """The `key=value` folders of a path as string columns, percent escapes decoded; Hive's null is left out."""
    columns = {}
    for folder in re.split(r"[/\\]", path)[:-1]:
        key, equals, value = folder.partition("=")
        if key and equals and value != _HIVE_NULL:
            columns[unquote(key)] = unquote(value)
    return columns


def _match(pattern: str) -> list[InputFile]:
    given = pattern
    if pattern.startswith(DELTA):
        folder, version = split_version(pattern)
        files = delta_files(given, absolute(folder), version)
        if not files:
            raise _nothing_found(given, "is a Delta table without rows")
        return files
    pattern = absolute(pattern)
    try:
        listed = list(_list(pattern))
    except Exception as error:  # each cloud's client raises its own kinds
        raise UsageError(
            f"--input: {given!r} cannot be listed ({one_line(error)}); expected a path, folder or glob: "
            "check the path, the access rights, and for gs:// or s3:// the extra (beamjudge[gcp], beamjudge[aws])"
        ) from error
    start = len(_spelled_out(pattern))
    logs = [found for file, _ in listed if (found := _DELTA_LOG.match(file.path[start:]))]
    if logs:
        folder = (pattern[:start] + logs[0][1]).rstrip("/")
        raise UsageError(
            f"--input: {_as_given(given, folder)!r} is a Delta table; read it with {_as_delta(given, folder)}"
        )
    if any(_ICEBERG.search(file.path[start:]) for file, _ in listed):
        raise UsageError(
            f"--input: {given!r} looks like an Iceberg table, which is not read: its files may be of old snapshots, or "
            "hold deleted rows; expected an export of the table's rows as Parquet or JSONL"
        )
    visible = [file for file, name in listed if not _is_hidden(name)]
    if not visible:
        what = f"matches only {len(listed)} hidden file(s)" if listed else "matches no file"
        raise _nothing_found(given, what)
    # A folder with a run.json beside its inputs.parquet holds results, which may well lie among logs.
    paths = {file.path for file in visible}
    results = tuple(
        path.removesuffix("run.json")
        for path in paths
        if path.endswith("/run.json") and path.removesuffix("run.json") + "inputs.parquet" in paths
    )
    return [file for file in visible if not (results and file.path.startswith(results))]


def _delta_tables(files: Iterable[InputFile]) -> list[str]:
    """The folders with a Delta log in which `files` lie, be it below folders of partitions."""
    names = [file.path for file in files if file.path.endswith(".parquet")]
    folders = {re.sub(r"(/[^/=]+=[^/]*)+$", "", name.rpartition("/")[0]) for name in names}
    return [each for each in sorted(folders) if any(True for _ in _below(each + "/_delta_log/"))]


def _as_given(given: str, folder: str) -> str:
    """An absolute folder as the user would write it, who gave a pattern for it."""
    is_relative = FileSystems.get_scheme(given) is None and not given.startswith(("/", "~"))
    return os.path.relpath(folder) if is_relative else folder


def _as_delta(given: str, folder: str) -> str:
    return f"--input {DELTA}{_as_given(given, folder)}"


def _spelled_out(pattern: str) -> str:
    """The part of a pattern before its first glob character."""
    glob = _GLOB.search(pattern)
    return pattern if glob is None or _is_folder(pattern) else pattern[: glob.start()]


def _nothing_found(given: str, what: str) -> UsageError:
    return UsageError(
        f"--input: {given!r} {what}; expected a file, folder or glob of JSONL or Parquet files: check the path, and "
        "quote a glob so that the shell leaves it alone"
    )


def _list(pattern: str) -> Iterator[tuple[InputFile, str]]:
    """Files of the pattern, each with the names in its path that the pattern does not spell out."""
    if not pattern.endswith("/") and _is_file(pattern):
        for metadata in _metadata([_any_character(pattern)]):
            if metadata.path == pattern:
                yield _input_file(metadata), ""
        return
    glob = _GLOB.search(pattern)
    if glob is None or _is_folder(pattern):
        for metadata in _below(pattern.rstrip("/") + "/"):
            yield _input_file(metadata), metadata.path[len(pattern.rstrip("/")) + 1 :]
        return
    spelled_out = pattern[: glob.start()]
    # `**/` also stands for no folder at all, as it does in shells and in Python's glob.
    wanted = [re.compile(FileSystem.translate_pattern(p)) for p in {pattern, pattern.replace("**/", "")}]
    for metadata in _below(spelled_out):
        rest = metadata.path[len(spelled_out) :]
        ends = [len(metadata.path), *(len(spelled_out) + found.start() for found in re.finditer("/", rest))]
        if any(regex.match(metadata.path[:end]) for end in ends for regex in wanted):
            # A name whose beginning the pattern spells out is meant, whatever follows.
            yield _input_file(metadata), rest if spelled_out.endswith("/") else rest.partition("/")[2]


def _below(prefix: str) -> Iterator[FileMetadata]:
    """All files whose paths begin with `prefix`, which may be a folder's and may end within a name."""
    if FileSystems.get_scheme(prefix) is None:
        yield from local_files(prefix)
        return
    for metadata in _metadata([_any_character(prefix) + "**"]):
        if metadata.path.startswith(prefix):
            yield metadata


def _metadata(patterns: list[str]) -> Iterable[FileMetadata]:
    for result in FileSystems.match(patterns):
        # Object stores mark empty folders by objects whose names end with a slash.
        yield from (metadata for metadata in result.metadata_list if not metadata.path.endswith("/"))


def _is_file(path: str) -> bool:
    return not _is_folder(path) and bool(FileSystems.exists(path))


def _is_folder(path: str) -> bool:
    return FileSystems.get_scheme(path) is None and os.path.isdir(path)


def _any_character(path: str) -> str:
    """Beam's globs cannot quote: `?` stands for a glob character that is meant as it is, and the caller compares."""
    return _GLOB.sub("?", path)


def _is_hidden(name: str) -> bool:
    *folders, file = name.split("/")
    return file.startswith((".", "_")) or any(
        folder.startswith(".") or (folder.startswith("_") and "=" not in folder) for folder in folders
    )


def _input_file(metadata: FileMetadata) -> InputFile:
    return InputFile(metadata.path, metadata.size_in_bytes, metadata.last_updated_in_seconds or None)
