"""What an answer cost the application under test: its tokens and its time, as they were logged."""

from collections.abc import Mapping

from beamjudge.schemas.assessment import MetricValue
from beamjudge.schemas.metric import Column, ColumnType, mean_spec
from beamjudge.schemas.row import Row
from beamjudge.transforms.metrics.family import MetricFamily

_TOTAL = "agent/total_token_count"
_INPUT = "agent/input_token_count"
_OUTPUT = "agent/output_token_count"
_LATENCY = "agent/latency_seconds"


def _tokens(row: Row) -> Mapping[str, MetricValue]:
    usage = row.usage
    return {_TOTAL: usage.total_tokens, _INPUT: usage.input_tokens, _OUTPUT: usage.output_tokens}


def _latency(row: Row) -> Mapping[str, MetricValue]:
    return {_LATENCY: row.latency_seconds}


TOKENS = MetricFamily(
    name="tokens",
    columns=tuple(Column(name, ColumnType.INTEGER) for name in (_TOTAL, _INPUT, _OUTPUT)),
    specs=tuple(mean_spec(name, low=0.0, with_sum=True) for name in (_TOTAL, _INPUT, _OUTPUT)),
    compute=_tokens,
)

LATENCY = MetricFamily(
    name="latency",
    columns=(Column(_LATENCY, ColumnType.FLOAT),),
    specs=(mean_spec(_LATENCY, low=0.0),),
    compute=_latency,
)
