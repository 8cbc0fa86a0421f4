"""Plan a file into ranges, and read a range: records, rejects and counts. No fault of a file raises."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import chain

from beamjudge.schemas.record import FileFault, FileRange, FileStats, InputFile, Reject, SourceRecord
from beamjudge.schemas.run_config import INPUT_COLUMNS
from beamjudge.transforms.reading.detect import (
    HEAD_BYTES,
    Encoding,
    begins_array,
    check_decompressed,
    check_empty,
    check_text,
    compression_of,
    encoding_of,
    is_parquet,
)
from beamjudge.transforms.reading.faults import BadRecord, UnreadableFile, file_reject, file_stats, raw_text
from beamjudge.transforms.reading.files import partition_columns
from beamjudge.transforms.reading.json_array import read_array, take_array
from beamjudge.transforms.reading.json_record import parse_record
from beamjudge.transforms.reading.lines import Line, range_lines, split_lines
from beamjudge.transforms.reading.parquet import plan_parquet, read_parquet
from beamjudge.transforms.reading.streams import BreakableStream, decompress, read_chunks, read_head

SPLIT_BYTES = 32 << 20


def plan_ranges(file: InputFile, split_bytes: int = SPLIT_BYTES) -> Iterator[FileRange]:
    """The ranges that together are the file; at least one, which carries the fault of a file that cannot be read.

    Plain UTF-8 lines are split at every `split_bytes` bytes, Parquet between row groups, anything else not at all.
    """
    try:
        head = read_head(file.path, HEAD_BYTES)
        if is_parquet(head):
            yield from plan_parquet(file, split_bytes)
        else:
            yield from _plan_text(file, head, split_bytes)
    except UnreadableFile as error:
        yield FileRange(file.path, 0, None, file.size, fault=error.fault)


def read_range(
    part: FileRange, max_record_bytes: int, text_columns: Collection[str] = INPUT_COLUMNS
) -> Iterator[SourceRecord | Reject | FileStats]:
    """The records and rejects of a range, then its FileStats. Memory is bounded by the longest allowed line.

    Text that breaks off (a damaged compressed stream) gives the lines before and one reject without position. The
    `key=value` folders of the path become columns of the rows that have none of that name. A binary Parquet value that
    is no text costs the row only in one of `text_columns`.
    """
    records = blank = 0
    fault: FileFault | None = part.fault
    if fault is None:
        folders = partition_columns(part.path)
        try:
            for item in _read_parquet_or_text(part, max_record_bytes, text_columns):
                records += 1
                if item is None:
                    blank += 1
                else:
                    yield _with_folders(item, folders) if folders and isinstance(item, SourceRecord) else item
        except UnreadableFile as error:
            fault = error.fault
    if fault is not None:
        yield file_reject(part.path, fault)
    yield file_stats(part.path, records, blank, fault)


def _with_folders(record: SourceRecord, folders: Mapping[str, str]) -> SourceRecord:
    from_path = tuple(name for name in folders if name not in record.data)
    return replace(record, data={**folders, **record.data}, from_path=from_path)


def _plan_text(file: InputFile, head: bytes, split_bytes: int) -> Iterator[FileRange]:
    if head:
        check_text(file.path, head)
    else:
        check_empty(file.path)
    compression = compression_of(head)
    whole = compression is not None
    if not whole:
        encoding = encoding_of(head)
        whole = encoding != "utf-8" or begins_array(head, encoding)
    starts = [0] if whole else range(0, max(file.size, 1), split_bytes)
    for start in starts:
        is_last = whole or start + split_bytes >= file.size
        # The last range is open, so that a log which is still written to is read to its end.
        stop = None if is_last else start + split_bytes
        yield FileRange(file.path, start, stop, file.size, compression=compression)


def _read_parquet_or_text(
    part: FileRange, max_record_bytes: int, text_columns: Collection[str]
) -> Iterator[SourceRecord | Reject | None]:
    """Records and rejects; None is a blank line."""
    if part.format == "parquet":
        yield from read_parquet(part, text_columns)
    elif part.start or part.stop is not None:
        lines = range_lines(part.path, part.start, part.stop, max_record_bytes)
        yield from _read_lines(part.path, lines, "utf-8", max_record_bytes)
    else:
        yield from _read_whole_text(part, max_record_bytes)


def _read_whole_text(part: FileRange, max_record_bytes: int) -> Iterator[SourceRecord | Reject | None]:
    """A text of any encoding, compressed or not, as lines or as one JSON array."""
    chunks = read_chunks(part.path)
    if part.compression is not None:
        chunks = decompress(chunks, part.compression)
    stream = BreakableStream(chunks)
    last: list[SourceRecord | Reject | None] = []
    for item in _read_stream(part, stream, max_record_bytes):
        yield from last
        last = [item]
    if stream.fault is None:
        yield from last
        return
    # What the break has cut in two is no record of its own.
    yield from (item for item in last if not isinstance(item, Reject))
    raise UnreadableFile(stream.fault.code, stream.fault.reason)


def _read_stream(
    part: FileRange, stream: Iterator[bytes], max_record_bytes: int
) -> Iterator[SourceRecord | Reject | None]:
    head, stream = _peek(stream)
    if part.compression is not None:
        check_decompressed(head)
    encoding = encoding_of(head)
    if begins_array(head, encoding):
        taken, text = take_array(stream, encoding)
        if text is not None:
            yield from read_array(part.path, text, max_record_bytes)
            return
        stream = chain([taken], stream)
    lines = split_lines(stream, max_record_bytes, encoding=encoding)
    yield from _read_lines(part.path, lines, encoding, max_record_bytes)


def _peek(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes of the stream, and the whole stream."""
    head: list[bytes] = []
    size = 0
    while size < HEAD_BYTES and (chunk := next(chunks, None)) is not None:
        head.append(chunk)
        size += len(chunk)
    return b"".join(head)[:HEAD_BYTES], chain(head, chunks)


def _read_lines(
    path: str, lines: Iterator[Line], encoding: Encoding, max_record_bytes: int
) -> Iterator[SourceRecord | Reject | None]:
    for offset, line, size in lines:
        try:
            if size > max_record_bytes:
                raise BadRecord("too_long", f"{size:,} bytes; at most {max_record_bytes:,}")
            text = _decode(line, encoding)
            if not text or text.isspace() or text == "\ufeff":
                yield None
                continue
            data, notes = parse_record(text)
        except BadRecord as error:
            raw = line if encoding == "utf-8" else line.decode(encoding, "replace")
            yield Reject(path, str(offset), error.code, error.reason, raw_text(raw))
        else:
            yield SourceRecord(path, str(offset), data, notes)


def _decode(line: bytes, encoding: Encoding) -> str:
    """The line's text. It may hold unpaired surrogates, which UTF-16 can and UTF-8 cannot."""
    try:
        return line.decode(encoding)
    except UnicodeDecodeError as error:
        problem = f"{error.reason} at byte {error.start}"
    if encoding != "utf-8":
        try:
            return line.decode(encoding, "surrogatepass")
        except UnicodeDecodeError as error:
            problem = f"{error.reason} at byte {error.start}"
    raise BadRecord("invalid_utf8", problem)
