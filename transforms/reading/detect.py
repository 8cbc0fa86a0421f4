"""What a file is, from its first bytes; its name is asked only where they do not say."""

import codecs
import re
from typing import Literal, TypeAlias

from beamjudge.transforms.reading.faults import UnreadableFile

# Enough for every signature, and for the first character of a text that begins with some blank lines.
HEAD_BYTES = 64 * 1024

Compression: TypeAlias = Literal["gzip", "zstd", "bz2"]
Encoding: TypeAlias = Literal["utf-8", "utf-16-le", "utf-16-be"]

_PARQUET = b"PAR1"
_COMPRESSIONS: tuple[tuple[re.Pattern[bytes], Compression], ...] = (
    (re.compile(rb"\x1f\x8b"), "gzip"),
    # A zstd stream may begin with a skippable frame.
    (re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"), "zstd"),
    (re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90|\Z)"), "bz2"),
)
# Formats whose signature cannot begin a text, so that one reject says more than one for each line of noise.
_FOREIGN: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "a zip archive or Excel workbook"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook"),
    (b"Obj\x01", "an Avro file"),
    (b"ARROW1\x00\x00", "an Arrow file"),
    (b"\xff\xff\xff\xff", "an Arrow stream"),
    (b"\xfd7zXZ\x00", "compressed with xz"),
    (b"\x04\x22\x4d\x18", "compressed with lz4"),
    (b"\xff\x06\x00\x00sNaPpY", "compressed with snappy"),
)
_TABLES = (
    "csv",
    "tsv",
    "psv",
    "xlsx",
    "xlsm",
    "xlsb",
    "xls",
    "ods",
    "avro",
    "orc",
    "arrow",
    "arrows",
    "feather",
    "ipc",
)
_STORES = ("pkl", "pickle", "npy", "npz", "h5", "hdf5", "sqlite", "duckdb", "tfrecord", "msgpack", "xml", "yaml", "yml")
_ARCHIVES = ("zip", "tar", "tgz", "7z", "rar")
_UNSUPPORTED_SUFFIXES = frozenset((*_TABLES, *_STORES, *_ARCHIVES))
_COMPRESSION_SUFFIXES = frozenset(("gz", "gzip", "zst", "zstd", "bz2"))
_FOREIGN_BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (b"\x2b\x2f\x76", "UTF-7"),
    (b"\x84\x31\x95\x33", "GB 18030"),
    (b"\xdd\x73\x66\x73", "UTF-EBCDIC"),
)
# JSON text has no NUL, so that these are ASCII characters in two or four bytes each.
_WIDE_TEXT = re.compile(rb"[\[{\s]\x00|\x00[\[{\s]\x00|\x00\x00\x00[\[{\s]")
_EXPECTED = "expected JSONL or Parquet"


def is_parquet(head: bytes) -> bool:
    return head.startswith(_PARQUET)


def compression_of(head: bytes) -> Compression | None:
    """The compression by its signature, never by the name: plain text under a `.gz` name is plain text."""
    return next((name for signature, name in _COMPRESSIONS if signature.match(head)), None)


def check_text(path: str, head: bytes) -> None:
    """Raise UnreadableFile unless a file that begins with `head` (and is not Parquet) is to be read as text."""
    suffix = _suffix(path)
    if suffix == "parquet":
        raise UnreadableFile("not_parquet", "named .parquet, but does not begin with PAR1")
    if suffix in _UNSUPPORTED_SUFFIXES:
        raise UnreadableFile("unsupported_format", f"a .{suffix} file; {_EXPECTED}")
    for signature, what in _FOREIGN:
        if head.startswith(signature):
            raise UnreadableFile("unsupported_format", f"{what}; {_EXPECTED}")


def check_empty(path: str) -> None:
    """Raise UnreadableFile where a file of no bytes is not whole, by its name: an upload that broke off loses rows."""
    if _suffix(path) == "parquet":
        raise UnreadableFile("not_parquet", "named .parquet, but has no bytes: not even a table without rows has none")
    compression = path.lower().rpartition(".")[2]
    if compression in _COMPRESSION_SUFFIXES:
        raise UnreadableFile(
            "bad_compression", f"named .{compression}, but has no bytes: no compressed stream has none"
        )


def check_decompressed(head: bytes) -> None:
    """Raise UnreadableFile for what is text to nobody: Parquet or compressed data inside a compressed stream."""
    if is_parquet(head):
        raise UnreadableFile("unsupported_format", "a Parquet file that is compressed as a whole; decompress it first")
    if compression_of(head):
        raise UnreadableFile("unsupported_format", "compressed twice; decompress it once")


def encoding_of(head: bytes) -> Encoding:
    """The encoding by its byte-order mark; raises UnreadableFile for what is neither UTF-8 nor UTF-16 with a mark."""
    for mark, name in _FOREIGN_BOMS:
        if head.startswith(mark):
            raise UnreadableFile("unsupported_encoding", f"{name} by its byte-order mark; expected UTF-8")
    if head.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le"
    if head.startswith(codecs.BOM_UTF16_BE):
        return "utf-16-be"
    if _WIDE_TEXT.match(head):
        raise UnreadableFile(
            "unsupported_encoding", "UTF-16 or UTF-32 without a byte-order mark, by its NUL bytes; expected UTF-8"
        )
    return "utf-8"


def begins_array(head: bytes, encoding: Encoding) -> bool:
    """Whether the first character that is not blank is `[`: one JSON array, or a line that is a list."""
    return head.decode(encoding, "ignore").lstrip("\ufeff \t\r\n").startswith("[")


def _suffix(path: str) -> str:
    parts = re.split(r"[/\\]", path)[-1].lower().split(".")
    while len(parts) > 2 and parts[-1] in _COMPRESSION_SUFFIXES:
        parts.pop()
    return parts[-1] if len(parts) > 1 else ""
