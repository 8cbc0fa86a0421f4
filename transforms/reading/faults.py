"""How a reader says that a whole file cannot be read, or one record: caught where the reject is made of it."""

from beamjudge.schemas.record import FileFault, FileStats, Reject

RAW_BYTES = 64 * 1024


class UnreadableFile(Exception):
    """The file cannot be read (further); `fault` has the code and the reason."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.fault = FileFault(code, reason)


class BadRecord(Exception):
    """One line, array element or row cannot be read. The reason never holds logged text."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code
        self.reason = reason


def one_line(error: BaseException) -> str:
    """An exception as one line of bounded length."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:500] if text else type(error).__name__


def file_reject(path: str, fault: FileFault) -> Reject:
    """The one reject of a file that cannot be read: it has no position."""
    return Reject(path, None, fault.code, fault.reason)


def file_stats(path: str, records: int, blank: int, fault: FileFault | None) -> FileStats:
    """The counts of a range; a file fault counts as one record more."""
    failed = int(fault is not None)
    return FileStats(path, records + failed, blank, failed)


def raw_text(raw: bytes | str) -> str:
    """The first 64 KiB of `raw` as text, for a reject; bytes that are not UTF-8 become U+FFFD."""
    if isinstance(raw, str):
        raw = raw[:RAW_BYTES].encode("utf-8", "replace")
    text = raw[:RAW_BYTES].decode("utf-8", "replace")
    # Replacements are longer than what they replace, and the cut may fall inside a character.
    return text.encode()[:RAW_BYTES].decode("utf-8", "ignore")
