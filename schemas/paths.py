"""Dotted paths into a record: `completion.text`, `messages.0.content`."""

from beamjudge.schemas.json_text import decode_container, is_list, is_object
from beamjudge.schemas.json_value import Json


def lookup(data: dict[str, Json], path: str) -> Json:
    """The value at `path`, null where there is none.

    A column whose name is the whole path comes first. A step goes into an object's field or, as a number, into a
    list's element; JSON text on the way is decoded.
    """
    if path in data:
        return data[path]
    if "." not in path:
        return None
    value: Json = data
    for step in path.split("."):
        if isinstance(value, str) and (decoded := decode_container(value)) is not None:
            value = decoded.value
        if is_object(value):
            value = value.get(step)
        elif is_list(value) and step.isascii() and step.isdigit() and len(step) < 10:
            index = int(step)
            value = value[index] if index < len(value) else None
        else:
            return None
    return value


def column_of(data: dict[str, Json], path: str) -> str:
    """The column of the record that `path` reads from."""
    return path if path in data else path.partition(".")[0]
