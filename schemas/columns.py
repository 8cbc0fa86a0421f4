"""The typed input columns: every spelling that a log may use, read into the row's types.

A column may hold its value or the JSON text of it. Each function gives the value and the note codes of what had to be
read into it, and raises BadType, with what was found, for anything else.
"""

from collections.abc import Callable
from itertools import repeat
from typing import NamedTuple

from beamjudge.schemas.json_text import decode_container, is_list, is_object, without_collections
from beamjudge.schemas.json_value import Json, canonical_json
from beamjudge.schemas.row import Document, Guidelines
from beamjudge.schemas.traces.documents import RetrieverSchema, read_document, uri_text

# What `Document(uri, content)` does, without a call of Python.
_as_document: Callable[[type[Document], tuple[None, Json]], Document] = tuple.__new__


class BadType(ValueError):
    """A value that its column cannot have; the message says what was found and what is expected, without the value."""


class Strings(NamedTuple):
    values: tuple[str, ...] | None
    notes: tuple[str, ...] = ()


class ReadGuidelines(NamedTuple):
    guidelines: Guidelines | None
    notes: tuple[str, ...] = ()


class Context(NamedTuple):
    documents: tuple[Document, ...] | None
    notes: tuple[str, ...] = ()


def type_name(value: Json) -> str:
    """The JSON name of a value's type, for messages."""
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "null" if value is None else "a list" if isinstance(value, list) else "an object"


def read_id(value: Json) -> tuple[str | None, tuple[str, ...]]:
    """`request_id`: a string; null where it is missing or empty. A number or boolean becomes its JSON text."""
    if value is None or value == "":
        return None, ()
    if isinstance(value, str):
        return value, ()
    if isinstance(value, (bool, int, float)):
        return canonical_json(value), ("id_to_string",)
    raise BadType(f"{type_name(value)}, where a string is expected")


def read_references(value: Json) -> Strings:
    """`expected_response`: one reference, or a list of them. A string is the reference itself, also when it is JSON."""
    if value is None:
        return Strings(None)
    if isinstance(value, str):
        return Strings((value,))
    if is_list(value):
        return _string_list(value)
    raise BadType(f"{type_name(value)}, where a string or a list of strings is expected")


def read_strings(value: Json) -> Strings:
    """A list of strings, such as `expected_facts`: null where absent, empty where the list is."""
    if value is None or _is_blank(value):
        return Strings(None)
    if isinstance(value, str):
        decoded = decode_container(value)
        if decoded is None or not is_list(decoded.value) or not _are_strings(decoded.value):
            return Strings((value,), ("bare_string_as_list",))
        listed = _string_list(decoded.value)
        return Strings(listed.values, (*decoded.notes, *listed.notes))
    if is_list(value):
        return _string_list(value)
    raise BadType(f"{type_name(value)}, where a list of strings is expected")


def read_guidelines(value: Json) -> ReadGuidelines:
    """`guidelines`: a list of strings, or an object (or map) name -> list of strings; null where none is left."""
    notes: list[str] = []
    if isinstance(value, str) and (decoded := decode_container(value)) is not None:
        inner = decoded.value
        if is_object(inner) or (is_list(inner) and (_are_strings(inner) or _pairs(inner))):
            value, notes = inner, list(decoded.notes)
    if is_list(value) and (pairs := _pairs(value)) is not None:
        value = pairs
    if not is_object(value):
        rules = read_strings(value)
        return ReadGuidelines(Guidelines(rules=rules.values) if rules.values else None, (*notes, *rules.notes))
    named: list[tuple[str, tuple[str, ...]]] = []
    for name, group in value.items():
        if group is None:
            notes.append("null_elements_dropped")
            continue
        rules = read_strings(group)
        notes += rules.notes
        if rules.values:
            named.append((name, rules.values))
    return ReadGuidelines(Guidelines(named=tuple(named)) if named else None, tuple(dict.fromkeys(notes)))


def read_context(value: Json) -> Context:
    """`retrieved_context`: documents in rank order, or their contents as strings; a bare string is one chunk."""
    return without_collections(_read_context, value, strings=True)


def read_expected_context(value: Json) -> Context:
    """`expected_retrieved_context`: documents; a bare string would not say whether it is a uri or a content."""
    return without_collections(_read_context, value, strings=False)


def _read_context(value: Json, *, strings: bool) -> Context:
    if value is None or _is_blank(value):
        return Context(None)
    notes: list[str] = []
    if isinstance(value, str):
        decoded = decode_container(value)
        if decoded is not None and _are_documents(decoded.value, strings=strings):
            value, notes = decoded.value, list(decoded.notes)
        elif strings:
            return Context((Document(None, value),), ("bare_string_as_list",))
    expected = "a list of objects {doc_uri, content}" + (" or of strings" if strings else "")
    if not is_list(value):
        raise BadType(f"{type_name(value)}, where {expected} is expected")
    if strings and {str}.issuperset(map(type, value)):  # by far the most frequent list, without the detour
        return Context(tuple(map(_as_document, repeat(Document), zip(repeat(None), value))), tuple(notes))
    documents: list[Document] = []
    for item in value:
        if item is None:
            notes.append("null_elements_dropped")
        elif is_object(item):
            documents.append(_read_document(item, notes))
        elif isinstance(item, str) and strings:
            documents.append(Document(None, item))
        else:
            raise BadType(f"{type_name(item)} in the list, where {expected} is expected")
    return Context(tuple(documents), tuple(dict.fromkeys(notes)))


def _read_document(item: dict[str, Json], notes: list[str]) -> Document:
    if "doc_uri" not in item and "content" not in item:  # a retriever's own spelling
        return read_document(item, RetrieverSchema(), notes)
    content = item.get("content")
    if content is not None and not isinstance(content, str):
        raise BadType(f"{type_name(content)} as content, where a string is expected")
    return Document(uri_text(item.get("doc_uri"), notes), content)


def _is_blank(value: Json) -> bool:
    """A blank string where a list is meant: what tables without nulls have for nothing."""
    return isinstance(value, str) and not value.strip()


def _string_list(items: list[Json]) -> Strings:
    strings = tuple(item for item in items if isinstance(item, str))
    others = [item for item in items if item is not None and not isinstance(item, str)]
    if others:
        raise BadType(f"{type_name(others[0])} in the list, where a string is expected")
    return Strings(strings, ("null_elements_dropped",) if len(strings) < len(items) else ())


def _are_strings(items: list[Json]) -> bool:
    return all(item is None or isinstance(item, str) for item in items)


def _are_documents(value: Json, *, strings: bool) -> bool:
    kinds = {dict, type(None), str} if strings else {dict, type(None)}
    return is_list(value) and kinds.issuperset(map(type, value))


def _pairs(items: list[Json]) -> dict[str, Json] | None:
    """A map that came as a list of [key, value] pairs; null where `items` is no such list."""
    pairs: dict[str, Json] = {}
    for item in items:
        if not is_list(item) or len(item) != 2 or not isinstance(item[0], str) or not is_list(item[1]):
            return None
        pairs[item[0]] = item[1]
    return pairs or None
