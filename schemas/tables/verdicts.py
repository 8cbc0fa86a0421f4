"""The table of stored verdicts: one row per content key, in the segments and the compacted files of a verdict store."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from beamjudge.schemas.spend import Spend
from beamjudge.schemas.stored_verdict import StoredVerdict
from beamjudge.schemas.tables import utf8, with_version

_COUNTS = ("calls", "input_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens")
_MAX_COUNT = 2**63 - 1
_REQUIRED = ("key", "judge", "judge_hash", "model", "notes", *_COUNTS, "run_id", "created", "request_ids")
# Columns of a later minor version: they are null in the files of an earlier one.
_LATER = {"reasoning_tokens": 0, "answer": None}
_KEY = "[0-9a-f]{64}"
_MICROSECONDS = 1_000_000

VERDICTS_SCHEMA = with_version(
    pa.schema(
        [
            ("key", pa.string()),
            ("judge", pa.string()),
            ("judge_hash", pa.string()),
            ("model", pa.string()),
            ("rating", pa.string()),
            ("rationale", pa.string()),
            ("score", pa.float64()),
            ("notes", pa.list_(pa.string())),
            *((name, pa.int64()) for name in _COUNTS),
            ("cost_usd", pa.float64()),
            ("run_id", pa.string()),
            ("created", pa.timestamp("us", tz="UTC")),
            ("request_ids", pa.list_(pa.string())),
            ("answer", pa.string()),
        ]
    )
)


def verdicts_table(verdicts: Sequence[StoredVerdict]) -> pa.Table:
    """The verdicts as rows of the table, in their order."""
    columns: list[Sequence[Any]] = [
        [each.key for each in verdicts],
        [each.judge for each in verdicts],
        [each.judge_hash for each in verdicts],
        [each.model for each in verdicts],
        [each.rating for each in verdicts],
        [each.rationale for each in verdicts],
        [each.score for each in verdicts],
        [each.notes for each in verdicts],
        # An endpoint's own counts: one that no column can hold must not keep the others from being stored.
        *([min(getattr(each.spend, name), _MAX_COUNT) for each in verdicts] for name in _COUNTS),
        [each.spend.cost_usd for each in verdicts],
        [each.run_id for each in verdicts],
        [round(each.created * _MICROSECONDS) for each in verdicts],
        [each.request_ids for each in verdicts],
        [each.answer for each in verdicts],
    ]
    arrays = [_array(values, field.type) for values, field in zip(columns, VERDICTS_SCHEMA, strict=True)]
    return pa.Table.from_arrays(arrays, schema=VERDICTS_SCHEMA)


def stored_verdict(cells: Mapping[str, Any]) -> StoredVerdict:
    """The verdict of one row, whose `created` is in microseconds."""
    return StoredVerdict(
        key=cells["key"],
        judge=cells["judge"],
        judge_hash=cells["judge_hash"],
        model=cells["model"],
        rating=cells["rating"],
        rationale=cells["rationale"],
        score=cells["score"],
        notes=tuple(cells["notes"]),
        spend=Spend(**{name: cells[name] for name in (*_COUNTS, "cost_usd")}),
        run_id=cells["run_id"],
        created=cells["created"] / _MICROSECONDS,
        request_ids=tuple(cells["request_ids"]),
        answer=cells["answer"],
    )


def trusted_rows(table: pa.Table) -> pa.Array:
    """Which rows can be verdicts, as booleans. The table has the schema's columns."""
    is_rated = pc.is_in(table["rating"], pa.array(["yes", "no"]))
    is_answer = pc.and_(pc.is_null(table["rating"]), pc.is_valid(table["answer"]))
    trusted = pc.and_(pc.match_substring_regex(table["key"], f"^{_KEY}$"), pc.or_(is_rated, is_answer))
    for name in _REQUIRED:
        trusted = pc.and_(trusted, pc.is_valid(table[name]))
    for name in _COUNTS:
        trusted = pc.and_(trusted, pc.greater_equal(table[name], 0))
    return pc.fill_null(trusted, False).combine_chunks()


def is_key(text: str | None) -> bool:
    return text is not None and re.fullmatch(_KEY, text) is not None


def has_own_columns(schema: pa.Schema) -> bool:
    """Whether all columns of verdicts are there, as they should be; other minor versions have fewer or further ones."""
    fields = {field.name: field.type for field in schema}
    absent = {name: VERDICTS_SCHEMA.field(name).type for name in _LATER.keys() - fields.keys()}
    return all((absent | fields).get(field.name) == field.type for field in VERDICTS_SCHEMA)


def own_columns(table: pa.Table) -> pa.Table:
    """The table with exactly the columns of verdicts."""
    for name in _LATER.keys() - set(table.column_names):
        field = VERDICTS_SCHEMA.field(name)
        table = table.append_column(field, pa.repeat(pa.scalar(_LATER[name], field.type), len(table)))
    return table.select(VERDICTS_SCHEMA.names).replace_schema_metadata(VERDICTS_SCHEMA.metadata)


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:
        # A model's reply may hold half a surrogate pair.
        return pa.array([_encodable(value) for value in values], kind)


def _encodable(value: Any) -> Any:
    return [utf8(item) for item in value] if isinstance(value, tuple) else utf8(value)
