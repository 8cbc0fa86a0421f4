"""What a call used, as the endpoint reports it, and what that costs."""

from beamjudge.schemas.json_value import Json
from beamjudge.schemas.run_config import Price
from beamjudge.schemas.spend import Spend

_MILLION = 1_000_000
_MOST_TOKENS = 1_000_000_000


def spend_of(usage: Json, price: Price | None) -> Spend:
    """The spend of one answered call from the reply's `usage` object.

    Output tokens include reasoning tokens, input tokens include cached ones, as in the API. Cost in US dollars is null
    without a price or without a usage.
    """
    if not isinstance(usage, dict):
        return Spend(calls=1, cost_usd=None)
    given, output = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    cached = min(_detail(usage, "prompt_tokens_details", "cached_tokens"), given)
    reasoning = min(_detail(usage, "completion_tokens_details", "reasoning_tokens"), output)
    return Spend(1, given, cached, output, reasoning, cost_usd(given, cached, output, price))


def cost_usd(given: int, cached: int, output: int, price: Price | None) -> float | None:
    """US dollars for input tokens (of which `cached`) and output tokens; null without a price."""
    if price is None:
        return None
    cached_price = price.input if price.cached_input is None else price.cached_input
    return ((given - cached) * price.input + cached * cached_price + output * price.output) / _MILLION


def _detail(usage: dict[str, Json], details: str, name: str) -> int:
    given = usage.get(details)
    return _count(given.get(name)) if isinstance(given, dict) else 0


def _count(value: Json) -> int:
    """A count as reported; one that no call can have used is as good as none, and would overflow the sums."""
    return value if isinstance(value, int) and 0 <= value <= _MOST_TOKENS else 0
