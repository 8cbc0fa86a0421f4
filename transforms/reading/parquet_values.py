"""Arrow arrays as JSON values, column by column: types that JSON lacks become the strings or numbers listed here.

| Arrow | JSON |
| --- | --- |
| string, large_string, string_view, dictionary of anything | the value itself |
| binary of any kind | its text; a value that is not UTF-8 rejects its row |
| integers of any width | integer |
| floats | number; NaN and infinities null, noted |
| decimal | integer without decimals, else a number if it reads back as the same decimal, else its string, noted |
| timestamp | ISO 8601 with the column's digits; with a zone in UTC and `+00:00`, naive without |
| date, time | ISO 8601 |
| duration | seconds |
| struct, map | object; a key that is no string becomes its text |
| lists of any kind | list |
| uuid and other extensions | the usual text; the storage's value |
"""

import json
import math
import uuid
from collections.abc import Callable, Collection, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from beamjudge.schemas.json_value import Json
from beamjudge.transforms.reading.faults import BadRecord

_UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


class NotText(bytes):
    """A binary value that is not UTF-8: it stands in its row until `clean_row`."""


class ExactNumber(str):
    """A decimal that no float holds, as its string: it is noted on its row."""


class ColumnConverter:
    """Converts columns. `flawed` tells after a batch that its rows need `clean_row`: there is a NotText, an ExactNumber
    or a float that is not finite. (Columns are converted whole, which is several times faster than cell by cell.)"""

    def __init__(self) -> None:
        self.flawed = False

    def convert(self, array: pa.Array) -> list[Any]:
        """The array's values as JSON, nulls as None, but for the flaws that `flawed` tells of."""
        for fits, conversion in _CONVERSIONS:
            if fits(array.type):
                return list(conversion(self, array))
        return list(array.to_pylist())


def clean_row(row: dict[str, Any], text_columns: Collection[str]) -> tuple[dict[str, Json], tuple[str, ...]]:
    """The row without flaws, and the note codes of what was simplified.

    Binary values that are no text become null, but raise BadRecord (invalid_utf8) in `text_columns`.
    """
    notes: set[str] = set()
    cleaned = {name: _clean(value, notes, name in text_columns) for name, value in row.items()}
    return cleaned, tuple(sorted(notes))


def _clean(value: Any, notes: set[str], must_be_text: bool) -> Json:
    if isinstance(value, float) and not math.isfinite(value):
        notes.add("non_finite_to_null")
        return None
    if isinstance(value, ExactNumber):
        notes.add("number_to_string")
        return str(value)
    if isinstance(value, NotText):
        if must_be_text:
            raise BadRecord("invalid_utf8", "a binary value is not UTF-8")
        notes.add("binary_to_null")
        return None
    if isinstance(value, list):
        return [_clean(item, notes, must_be_text) for item in value]
    if isinstance(value, dict):
        return {key: _clean(item, notes, must_be_text) for key, item in value.items()}
    return value  # type: ignore[no-any-return]


def _dictionary(converter: ColumnConverter, array: pa.DictionaryArray) -> list[Any]:
    values = converter.convert(array.dictionary)
    return [None if index is None else values[index] for index in array.indices.to_pylist()]


def _text(converter: ColumnConverter, array: pa.Array) -> list[Any]:
    try:
        return list(array.to_pylist())
    except UnicodeDecodeError:  # Parquet's own annotation is not checked by readers
        return _binary(converter, array.cast(pa.large_binary()))


def _binary(converter: ColumnConverter, array: pa.Array) -> list[Any]:
    texts: list[str | NotText | None] = []
    for value in array.to_pylist():
        try:
            texts.append(None if value is None else value.decode())
        except UnicodeDecodeError:
            converter.flawed = True
            texts.append(NotText(value))
    return texts


def _floating(converter: ColumnConverter, array: pa.Array) -> list[Any]:
    array = array.cast(pa.float64())
    if pc.all(pc.is_finite(array)).as_py() is False:
        converter.flawed = True
    return list(array.to_pylist())


def _decimal(converter: ColumnConverter, array: pa.Array) -> list[Any]:
    numbers = [None if value is None else _number(value) for value in array.to_pylist()]
    converter.flawed |= any(isinstance(number, ExactNumber) for number in numbers)
    return numbers


def _number(value: Decimal) -> Json:
    if value == value.to_integral_value():
        return int(value)
    number = float(value)
    return number if Decimal(repr(number)) == value else ExactNumber(value)


def _timestamp(converter: ColumnConverter, array: pa.TimestampArray) -> list[Any]:
    # NumPy knows neither zones (the values are UTC) nor Python's limits on years.
    instants = array.cast(pa.timestamp(array.type.unit)).to_numpy(zero_copy_only=False)
    zone = "+00:00" if array.type.tz else ""
    return _with_nulls(array, [f"{text}{zone}" for text in np.datetime_as_string(instants).tolist()])


def _date(converter: ColumnConverter, array: pa.Array) -> list[Any]:
    days = array.to_numpy(zero_copy_only=False).astype("datetime64[D]")
    return _with_nulls(array, np.datetime_as_string(days).tolist())


def _time(converter: ColumnConverter, array: pa.Array) -> list[Any]:
    storage = pa.int32() if pt.is_time32(array.type) else pa.int64()
    per_second = _UNITS[array.type.unit]
    digits = len(str(per_second)) - 1
    times: list[str | None] = []
    for value in array.cast(storage).to_pylist():
        if value is None:
            times.append(None)
            continue
        seconds, fraction = divmod(value, per_second)
        clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        times.append(f"{clock}.{fraction:0{digits}}" if digits else clock)
    return times


def _duration(converter: ColumnConverter, array: pa.Array) -> list[Any]:
    per_second = _UNITS[array.type.unit]
    return [None if value is None else value / per_second for value in array.cast(pa.int64()).to_pylist()]


def _struct(converter: ColumnConverter, array: pa.StructArray) -> list[Any]:
    names = [field.name for field in array.type]
    columns = [converter.convert(array.field(index)) for index in range(len(names))]
    if not columns:
        return _with_nulls(array, [{} for _ in range(len(array))])
    return _with_nulls(array, [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)])


def _list(converter: ColumnConverter, array: pa.ListArray | pa.LargeListArray) -> list[Any]:
    # The offsets of a slice point into values that belong to other slices too.
    offsets = array.offsets.to_pylist()
    first = offsets[0]
    values = converter.convert(array.values.slice(first, offsets[-1] - first))
    spans = pairwise(offsets)
    return _with_nulls(array, [values[start - first : end - first] for start, end in spans])


def _list_view(converter: ColumnConverter, array: pa.ListViewArray | pa.LargeListViewArray) -> list[Any]:
    # Views come in any order, may overlap and leave out parts of the values: `flatten` gives those of each in turn.
    values = converter.convert(array.flatten())
    lists: list[list[Any] | None] = []
    start = 0
    for is_valid, size in zip(array.is_valid().to_pylist(), array.sizes.to_pylist(), strict=True):
        lists.append(values[start : start + size] if is_valid else None)
        start += size if is_valid else 0
    return lists


def _fixed_size_list(converter: ColumnConverter, array: pa.FixedSizeListArray) -> list[Any]:
    return converter.convert(array.cast(pa.list_(array.type.value_field)))


def _map(converter: ColumnConverter, array: pa.MapArray) -> list[Any]:
    offsets = array.offsets.to_pylist()
    first, size = offsets[0], offsets[-1] - offsets[0]
    keys = [_key(key) for key in converter.convert(array.keys.slice(first, size))]
    values = converter.convert(array.items.slice(first, size))
    spans = [(start - first, end - first) for start, end in pairwise(offsets)]
    return _with_nulls(array, [dict(zip(keys[start:end], values[start:end], strict=True)) for start, end in spans])


def _key(key: Any) -> str:
    if isinstance(key, NotText):
        return key.decode("utf-8", "replace")
    return key if isinstance(key, str) else json.dumps(key)


def _extension(converter: ColumnConverter, array: pa.ExtensionArray) -> list[Any]:
    if array.type.extension_name == "arrow.uuid":
        return [None if value is None else str(uuid.UUID(bytes=value)) for value in array.storage.to_pylist()]
    return converter.convert(array.storage)


def _with_nulls(array: pa.Array, values: Sequence[Any]) -> list[Any]:
    """`values`, but None where the array is null (there they are only what lies below)."""
    if array.null_count == 0:
        return list(values)
    valid = array.is_valid().to_pylist()
    return [value if is_valid else None for value, is_valid in zip(values, valid, strict=True)]


def _is_binary(arrow_type: pa.DataType) -> bool:
    kinds = (pt.is_binary, pt.is_large_binary, pt.is_fixed_size_binary, pt.is_binary_view)
    return any(is_kind(arrow_type) for is_kind in kinds)


def _is_text(arrow_type: pa.DataType) -> bool:
    return any(is_kind(arrow_type) for is_kind in (pt.is_string, pt.is_large_string, pt.is_string_view))


def _is_list(arrow_type: pa.DataType) -> bool:
    return any(is_kind(arrow_type) for is_kind in (pt.is_list, pt.is_large_list))


def _is_list_view(arrow_type: pa.DataType) -> bool:
    return any(is_kind(arrow_type) for is_kind in (pt.is_list_view, pt.is_large_list_view))


def _is_extension(arrow_type: pa.DataType) -> bool:
    return isinstance(arrow_type, pa.BaseExtensionType)


_Conversion: TypeAlias = "tuple[Callable[[pa.DataType], bool], Callable[[ColumnConverter, Any], list[Any]]]"
_CONVERSIONS: tuple[_Conversion, ...] = (
    (_is_extension, _extension),
    (_is_text, _text),
    (pt.is_dictionary, _dictionary),
    (pt.is_floating, _floating),
    (pt.is_struct, _struct),
    (_is_list, _list),
    (_is_list_view, _list_view),
    (pt.is_map, _map),
    (pt.is_fixed_size_list, _fixed_size_list),
    (_is_binary, _binary),
    (pt.is_decimal, _decimal),
    (pt.is_timestamp, _timestamp),
    (pt.is_date, _date),
    (pt.is_time, _time),
    (pt.is_duration, _duration),
)
