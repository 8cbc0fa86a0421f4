"""What reading a log gives: records with their positions, rejects with their codes, and counts per file."""

from dataclasses import dataclass
from typing import Literal

from beamjudge.schemas.json_value import Json

# Every way in which a line, row or file can fail, with its meaning. Docs list this table; nothing else may be a code.
REJECT_CODES: dict[str, str] = {
    "unreadable_file": "the file could not be opened or read to its end",
    "bad_compression": "the compressed stream is damaged or cut off",
    "unsupported_format": "a format that is not read (CSV, TSV, Excel, Avro, ORC and the like)",
    "unsupported_encoding": "text that is neither UTF-8 nor UTF-16 with a byte-order mark",
    "not_parquet": "named or marked as Parquet, but not readable as Parquet",
    "invalid_json": "the line is not JSON",
    "not_an_object": "the line is JSON, but not an object",
    "invalid_utf8": "the line holds bytes that are not UTF-8",
    "too_deep": "nested deeper than 200 levels",
    "too_long": "longer than --max_record_mb",
    "no_request": "no request, neither in `request` nor in `trace`",
    "no_response": "no `response`, no `trace`, no application to ask, and nothing selected that can run without",
    "both_expectations": "both `expected_response` and `expected_facts` on one row",
    "bad_type": "a column has a type that it cannot have (written as bad_type:<column>)",
    "bad_trace": "the trace cannot be read and the row needs it",
    "batch_mismatch": "a batch of requests with another number of responses",
    "upstream_error": "the logged call or trace failed: a status of 400 or more, an error, or no response in a table",
    "blocked": "a filter or guardrail stopped the call, so that there is no answer of the model",
}

# Every simplification that can be noted on a row, with its meaning. `truncated:<field>` names the field.
NOTE_CODES: dict[str, str] = {
    "bare_string_as_list": "a single string where a list of strings is meant was read as a list of one",
    "null_elements_dropped": "null elements of a list were dropped",
    "id_to_string": "a number or boolean as request_id became its string",
    "non_finite_to_null": "NaN or Infinity was read as null",
    "number_to_string": "a number too large for a double was kept as a string",
    "binary_to_null": "a binary value that is no text, in a column that is no input column, was read as null",
    "surrogates_replaced": "unpaired surrogates were replaced by U+FFFD",
    "bad_timestamp": "the timestamp could not be read and is null",
    "parsed_json_string": "a string that is a full provider envelope was parsed as JSON",
    "body_unreadable": "a logged body begins like JSON but is none, perhaps since it was cut; it is read as text",
    "parsed_python_repr": "a string that is the repr of a Python dict with a full provider envelope was read as one",
    "parsed_event_stream": "a string of server-sent events, or of JSON lines, was parsed",
    "cut_stream": "the streamed response has no end; what there is of it is judged",
    "content_filtered": "a filter cut or masked the response; what the user saw of it is judged",
    "several_choices": "the response has several choices; the first one is judged",
    "several_messages": "the response has several messages of the assistant; the last one is judged",
    "non_text_part": "a content part that is not text was replaced by a placeholder",
    "tool_calls_only": "the turn has only tool calls; their canonical JSON is its text",
    "tool_calls_not_shown": "the turn has tool calls beside its text; judges see the text alone",
    "reasoning_not_shown": "the turn has reasoning beside its text, which its user did not see; judges do not either",
    "audio_transcript": "the message is audio; its transcript is its text",
    "refusal": "the response is the model's refusal message",
    "request_from_trace": "the request was taken from the trace",
    "response_from_trace": "the response was taken from the trace",
    "context_from_trace": "retrieved_context was taken from the trace",
    "no_context_in_trace": "the trace has no retriever that gave an output, so that retrieved_context is null",
    "context_from_response": "retrieved_context was taken from the response",
    "trace_unreadable": "the trace could not be read; the row did not need it",
    "context_unreadable": "the application's retrieved_context could not be read and was left out",
    "doc_uri_to_string": "a doc_uri that is not a string became its string",
    "later_turns_not_shown": "the request has turns after its last user turn; judges do not see them",
    "no_user_turn": "the request has no user turn; its last turn is taken",
    "other_request_shape": "the request is an object of no known shape; its canonical JSON is its text",
    "other_response_shape": "the response is an object of no known shape; its canonical JSON is its text",
    "answered_by_app": "the application under test gave the response",
    "truncated": "a field was cut (written as truncated:<field>)",
}


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file to read. `modified` is in seconds since the epoch, null where the filesystem does not tell."""

    path: str
    size: int
    modified: float | None


@dataclass(frozen=True, slots=True)
class FileFault:
    """Why a file cannot be read: one of the reject codes of whole files, and a reason that holds no logged text."""

    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class FileRange:
    """A part of one input file that is read as a unit; every file has at least one.

    `start` and `stop` are byte offsets for text (a line belongs to the range in which it begins) and row group
    numbers for Parquet (stop excluded); `stop` None means to the end of the file. Compressed text is never split. A
    file that could not even be planned has its `fault` here.
    """

    path: str
    start: int
    stop: int | None
    size: int
    format: Literal["text", "parquet"] = "text"
    compression: Literal["gzip", "zstd", "bz2"] | None = None
    fault: FileFault | None = None


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """One logged record as it was read: JSON values only.

    `source_position` is the byte offset of the line in the uncompressed stream, `row_group:row` for Parquet, or the
    index of the element for a file that is one JSON array. `from_path` names the columns of `data` that come from
    `key=value` folders of the path.
    """

    source_file: str
    source_position: str
    data: dict[str, Json]
    notes: tuple[str, ...] = ()
    from_path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reject:
    """A file, line or row that could not be evaluated; `source_position` is null for a whole file."""

    source_file: str
    source_position: str | None
    code: str
    reason: str
    raw: str | None = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class FileStats:
    """What one range of a file gave: records (an unreadable file counts as one), blank lines, file faults."""

    source_file: str
    records: int
    blank: int
    bad_files: int = 0
