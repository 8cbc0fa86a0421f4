"""Token counts and latency: what was logged, null where it was not."""

from beamjudge.schemas.metric import Column, ColumnType
from beamjudge.schemas.row import TokenUsage
from beamjudge.schemas.usage import read_usage
from beamjudge.transforms.metrics.usage import LATENCY, TOKENS


def test_token_counts(make_row):
    row = make_row(usage=TokenUsage(input_tokens=120, output_tokens=0, total_tokens=None))
    assert TOKENS.compute(row) == {
        "agent/total_token_count": None,
        "agent/input_token_count": 120,
        "agent/output_token_count": 0,
    }


def test_token_counts_are_integers_with_average_and_sum():
    names = ("agent/total_token_count", "agent/input_token_count", "agent/output_token_count")
    assert TOKENS.columns == tuple(Column(name, ColumnType.INTEGER) for name in names)
    assert [spec.names for spec in TOKENS.specs] == [
        ((f"{name}/average", "value"), (f"{name}/sum", "sum")) for name in names
    ]
    assert all(spec.low == 0.0 and spec.high is None for spec in TOKENS.specs)


def test_latency(make_row):
    assert LATENCY.compute(make_row(latency_seconds=1.25)) == {"agent/latency_seconds": 1.25}
    assert LATENCY.compute(make_row()) == {"agent/latency_seconds": None}
    (spec,) = LATENCY.specs
    assert spec.names == (("agent/latency_seconds/average", "value"),)


def test_counts_are_those_that_providers_returned(make_row, shared_lines):
    """Whatever the provider calls them; the total is the provider's own where it gives one."""
    cases = shared_lines("data/reference_token_usage/usage.jsonl")
    for case in cases:
        usage = case["usage"]
        values = TOKENS.compute(make_row(usage=read_usage(usage)))
        total, given, made = (values[f"agent/{name}_token_count"] for name in ("total", "input", "output"))
        assert made == usage.get("completion_tokens", usage.get("output_tokens")), case
        assert total == usage.get("total_tokens", given + made), case
        if case["api"] != "anthropic.messages":  # which counts cached input apart
            assert given == usage.get("prompt_tokens", usage.get("input_tokens")), case
    assert len(cases) == 129
