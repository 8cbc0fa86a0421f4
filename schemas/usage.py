"""Token counts as providers and tracers report them, under the names of chat completions or of newer interfaces."""

from beamjudge.schemas.json_text import is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.row import TokenUsage

_LARGEST = 2**63 - 1  # counts are written as 64-bit integers


def read_usage(value: Json) -> TokenUsage | None:
    """The counts of a `usage` object; the total is the given one, or input + output where both are known.

    Null when `value` holds no count.
    """
    if not is_object(value):
        return None
    given = _count(value, "prompt_tokens", "input_tokens")
    made = _count(value, "completion_tokens", "output_tokens")
    total = _count(value, "total_tokens")
    if total is None and given is not None and made is not None:
        total = min(given + made, _LARGEST)
    if given is None and made is None and total is None:
        return None
    return TokenUsage(given, made, total)


def response_usage(response: Json) -> TokenUsage | None:
    """The usage that a response reports: its own `usage`, or that of the last streaming chunk that has one."""
    if is_object(response):
        return read_usage(response.get("usage"))
    if is_list(response):
        for chunk in reversed(response):
            if is_object(chunk) and (usage := read_usage(chunk.get("usage"))):
                return usage
    return None


def _count(usage: dict[str, Json], *names: str) -> int | None:
    for name in names:
        value = usage.get(name)
        # Data frames turn integer columns with gaps into floats.
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST:
            return value
    return None
