"""List prices of judge models, in US dollars per million tokens, with the date on which they were read.

Own prices go into the configuration (`price_per_million`) and win. A price is only taken for OpenAI's own address:
elsewhere the same name may cost something else. An unknown price is null, never a guess.
"""

from beamjudge.schemas.run_config import DEFAULT_BASE_URL, Endpoint, Price

PRICES_OF = "2025-08-07"
# OpenAI's public price list, standard processing, as of PRICES_OF.
_OPENAI: dict[str, Price] = {
    "gpt-5": Price(input=1.25, cached_input=0.125, output=10.00),
    "gpt-5-mini": Price(input=0.25, cached_input=0.025, output=2.00),
    "gpt-5-nano": Price(input=0.05, cached_input=0.005, output=0.40),
    "gpt-4.1": Price(input=2.00, cached_input=0.50, output=8.00),
    "gpt-4.1-mini": Price(input=0.40, cached_input=0.10, output=1.60),
    "gpt-4.1-nano": Price(input=0.10, cached_input=0.025, output=0.40),
    "gpt-4o": Price(input=2.50, cached_input=1.25, output=10.00),
    "gpt-4o-mini": Price(input=0.15, cached_input=0.075, output=0.60),
    "o3": Price(input=2.00, cached_input=0.50, output=8.00),
    "o4-mini": Price(input=1.10, cached_input=0.275, output=4.40),
}


def price_of(endpoint: Endpoint) -> Price | None:
    """The price of an endpoint's model: the configured one, else the list price; null where neither is known."""
    if endpoint.price_per_million is not None:
        return endpoint.price_per_million
    return _OPENAI.get(endpoint.model) if endpoint.base_url.rstrip("/") == DEFAULT_BASE_URL else None
