"""A file that is one JSON array: its elements one by one, so that a bad one costs only itself."""

import codecs
import re
from collections.abc import Iterator

from beamjudge.schemas.record import Reject, SourceRecord
from beamjudge.transforms.reading.detect import Encoding
from beamjudge.transforms.reading.faults import RAW_BYTES, BadRecord, UnreadableFile, raw_text
from beamjudge.transforms.reading.json_record import is_list, parse_record

MAX_ARRAY_BYTES = 256 << 20
# Most files show in their first bytes whether they are an array; only a very long first line needs more.
_FIRST_LOOK_BYTES = 8 << 20
_CUT_OFF = "the array is cut off"
_START = re.compile(r"\ufeff?[ \t\r\n]*\[?")
_BLANKS = re.compile(r"[ \t\r\n]*")
# A string (an unclosed one reaches to the end), or a bracket.
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)|[\[\]{}]', re.DOTALL)
_SCALAR = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)|[^,\]]*', re.DOTALL)


def take_array(chunks: Iterator[bytes], encoding: Encoding) -> tuple[bytes, str | None]:
    """Of a stream whose first character is `[`: the bytes taken from it, and its text if it is one array.

    It is lines after all (text null) if more lines follow a first one that is a whole list, or one that is broken
    within. Raises UnreadableFile for an array over 256 MB.
    """
    data, ended = b"", False
    for limit in (_FIRST_LOOK_BYTES, MAX_ARRAY_BYTES):
        data, ended = _take(data, chunks, limit)
        text = codecs.getincrementaldecoder(encoding)(_ON_ERROR[encoding]).decode(data, ended)
        first_line = _first_of_lines(text)
        if first_line is not None and is_list(first_line):
            return data, None
        if ended:
            return data, text
    raise UnreadableFile(
        "unsupported_format", f"one JSON array of more than {MAX_ARRAY_BYTES >> 20} MB; write it as JSON lines"
    )


def read_array(path: str, text: str, max_record_bytes: int) -> Iterator[SourceRecord | Reject]:
    """The elements of the array; the position is the index.

    An element that cannot be read is one reject. Where the array itself breaks off, one reject has the rest.
    """
    for index, (element, problem) in enumerate(_elements(text)):
        raw = element.encode("utf-8", "surrogateescape")
        try:
            if problem:
                raise BadRecord("invalid_json", problem)
            if len(raw) > max_record_bytes:
                raise BadRecord("too_long", f"{len(raw):,} bytes; at most {max_record_bytes:,}")
            data, notes = parse_record(_strict(raw))
            yield SourceRecord(path, str(index), data, notes)
        except BadRecord as error:
            yield Reject(path, str(index), error.code, error.reason, raw_text(raw))


# Bytes that are not UTF-8 pass through the split, so that they cost only the element that holds them.
_ON_ERROR: dict[Encoding, str] = {"utf-8": "surrogateescape", "utf-16-le": "replace", "utf-16-be": "replace"}


def _strict(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise BadRecord("invalid_utf8", f"{error.reason} at byte {error.start}") from None


def _take(data: bytes, chunks: Iterator[bytes], limit: int) -> tuple[bytes, bool]:
    """`data` with more of the stream, until it is over `limit` or the stream has ended (true)."""
    taken = [data]
    size = len(data)
    for chunk in chunks:
        taken.append(chunk)
        size += len(chunk)
        if size > limit:
            return b"".join(taken), False
    return b"".join(taken), True


def _first_of_lines(text: str) -> str | None:
    """The first line that is not blank, if something follows it."""
    start = _end_of(_BLANKS, text, int(text.startswith("\ufeff")))
    newline = text.find("\n", start)
    if newline < 0 or _end_of(_BLANKS, text, newline) == len(text):
        return None
    return text[start:newline]


def _elements(text: str) -> Iterator[tuple[str, str | None]]:
    """The texts of the array's elements; a text that is none has its problem beside it, and is the last one."""
    at = _end_of(_BLANKS, text, _end_of(_START, text, 0))
    if not text.startswith("]", at):
        while True:
            end = _element_end(text, at)
            if end is None:
                # Parsing it says what is wrong: that it is too deep, or where it breaks off.
                yield text[at:], None if at < len(text) else _CUT_OFF
                return
            yield text[at:end], None
            at = _end_of(_BLANKS, text, end)
            if text.startswith("]", at):
                break
            if not text.startswith(",", at):
                problem = f"expected a comma or ] at character {at}" if at < len(text) else _CUT_OFF
                yield text[at : at + RAW_BYTES], problem
                return
            at = _end_of(_BLANKS, text, at + 1)
    at = _end_of(_BLANKS, text, at + 1)
    if at < len(text):
        yield text[at : at + RAW_BYTES], f"text after the end of the array at character {at}"


def _element_end(text: str, at: int) -> int | None:
    """Where the element that begins at `at` ends; null if it does not. No recursion, whatever the depth."""
    if at == len(text):
        return None
    if text[at] not in "{[":
        return _end_of(_SCALAR, text, at)
    depth = 0
    for token in _TOKEN.finditer(text, at):
        character = text[token.start()]
        if character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if depth == 0:
                return token.end()
    return None


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where the match of `pattern` at `at` ends; `at` itself if there is none."""
    found = pattern.match(text, at)
    return found.end() if found else at
