"""What the shapes of requests are made of."""

from beamjudge.schemas.foreign_messages import is_pair
from beamjudge.schemas.json_text import is_list, is_object
from beamjudge.schemas.json_value import Json


def user(content: Json) -> dict[str, Json]:
    return {"role": "user", "content": content}


def request(*messages: Json) -> dict[str, Json]:
    return {"messages": list(messages)}


def system(content: Json) -> tuple[dict[str, Json], ...]:
    """A system message first, where there is anything in it."""
    return ({"role": "system", "content": content},) if content else ()


def are_objects(value: Json) -> bool:
    """A list of objects; null elements are dropped later, with a note."""
    return is_list(value) and all(item is None or is_object(item) for item in value)


def are_messages(value: Json) -> bool:
    """A list of what may be messages: objects, nulls and LangChain's pairs of role and text."""
    if not is_list(value):
        return False
    return all(is_pair(item) if isinstance(item, list) else item is None or isinstance(item, dict) for item in value)


def is_text(value: Json) -> bool:
    return isinstance(value, str)
