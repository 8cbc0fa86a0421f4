"""One JSON text into one record."""

import json
import re

from beamjudge.schemas.json_text import TooDeep, decode_json
from beamjudge.schemas.json_value import Json
from beamjudge.transforms.reading.faults import BadRecord

# A key in single quotes begins a Python dict; names with commas between them a table's line.
_PYTHON = re.compile(r"\s*\{\s*'")
_CSV = re.compile(r"\s*\w[\w ]*,[\w \",]+\s*\Z")


def parse_record(text: str) -> tuple[dict[str, Json], tuple[str, ...]]:
    """The object that `text` is, and the note codes of what was simplified in it: see `decode_json`.

    Raises BadRecord: too_deep (over 200 levels), invalid_json, not_an_object.
    """
    try:
        value, notes = decode_json(text.removeprefix("\ufeff"))
    except TooDeep as error:
        raise BadRecord("too_deep", str(error)) from None
    except json.JSONDecodeError as error:
        raise BadRecord("invalid_json", f"{error.msg} (character {error.pos}){_hint(text)}") from None
    if type(value) is not dict:
        raise BadRecord("not_an_object", f"expected an object, found {_kind(value)}")
    return value, notes


def _hint(text: str) -> str:
    """What a line that is no JSON looks like instead, as far as its first characters tell."""
    head = text[:1000]
    if _PYTHON.match(head):
        return "; it looks like the repr of a Python dict: write lines with json.dumps"
    return "; it looks like CSV: write JSON lines or Parquet" if _CSV.match(head) else ""


def is_list(text: str) -> bool:
    """Whether `text` by itself is a JSON list, or a broken one (and not merely the beginning of one)."""
    try:
        decode_json(text)
    except json.JSONDecodeError as error:
        return error.pos < len(text.rstrip())
    except ValueError:
        return True
    return True


def _kind(value: Json) -> str:
    names = {list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null")
