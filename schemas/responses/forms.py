"""What the shapes of responses are made of."""

from beamjudge.schemas.json_text import is_list, is_object
from beamjudge.schemas.json_value import Json


def assistant(content: Json) -> dict[str, Json]:
    """The normal form of a response that is `content`."""
    return {"choices": [{"message": {"role": "assistant", "content": content}}]}


def choice(message: Json) -> dict[str, Json]:
    return {"choices": [{"message": message}]}


def first_object(value: Json) -> dict[str, Json] | None:
    """The first element of a list, where it is an object."""
    return value[0] if is_list(value) and value and is_object(value[0]) else None


def are_typed(value: Json) -> bool:
    """A list of parts or items that all have a type."""
    if not is_list(value):
        return False
    return bool(value) and all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in value)


def is_text(value: Json) -> bool:
    return isinstance(value, str)
