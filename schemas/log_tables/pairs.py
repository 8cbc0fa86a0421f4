"""Pairs of columns that most plain logs have: what was asked, and what was answered.

None is of a platform; `question` and `answer` with `contexts` and `ground_truths` are Ragas' before its version 0.2
(docs.ragas.io/en/v0.1.21, Prepare your test data).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from beamjudge.schemas.json_text import is_container, is_list
from beamjudge.schemas.json_value import Json, canonical_json
from beamjudge.schemas.log_tables.table import LogTable, body_of, traced_request, traced_response
from beamjudge.schemas.traces.values import unwrapped_request, unwrapped_response


def _as_it_is(value: Json) -> Json:
    return value


@dataclass(frozen=True)
class _Pair:
    """`asked` is the column of the request, `answered` are those of the response: the first with a value counts."""

    name: str
    asked: str
    answered: tuple[str, ...]
    read_request: Callable[[Json], Json] = _as_it_is
    read_response: Callable[[Json], Json] = _as_it_is
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def is_in(self, data: Mapping[str, Json]) -> bool:
        if data.get(self.asked) is None or not any(name in data for name in self.answered):
            return False
        return "response" in self.answered or data.get("response") is None


def pair_tables(others: Sequence[LogTable]) -> tuple[LogTable, ...]:
    """A table for each pair. `others` are those that come before them, whatever columns a record has."""

    def found(data: Mapping[str, Json]) -> _Pair | None:
        pair = next((pair for pair in _PAIRS if pair.is_in(data)), None)
        if pair is None or any(data.get(name) is not None for name in _MORE_THAN_A_PAIR):
            return None
        return None if any(table.matches(data) for table in others) else pair

    return tuple(_table(pair, found) for pair in _PAIRS)


def _table(pair: _Pair, found: Callable[[Mapping[str, Json]], _Pair | None]) -> LogTable:
    def response(value: Json) -> Json:
        return _choices(pair.read_response(value))

    return LogTable(
        name=pair.name,
        matches=lambda data: pair.is_in(data) and found(data) is pair,
        columns={
            "request_id": ("request_id", "id"),
            "timestamp": ("timestamp", "created_at", "ts"),
            "request": (pair.asked,),
            "response": pair.answered,
            **pair.columns,
        },
        read={
            "request_id": _scalar,
            "timestamp": _scalar,
            "retrieved_context": _context,
            "expected_response": _reference,
            "request": pair.read_request,
            "response": response,
        },
        status=("status_code", "response_code", "http_status", "status"),
        empty_is_error=False,
        is_plain=True,
    )


def _choices(value: Json) -> Json:
    """Several texts for one request are choices."""
    if not is_list(value) or len(value) < 2 or not all(isinstance(text, str) for text in value):
        return value
    return {"choices": [{"message": {"role": "assistant", "content": text}} for text in value]}


def _scalar(value: Json) -> Json:
    return None if is_container(value) else value


def _reference(value: Json) -> Json:
    """Text, or a list of texts; a number as text; nothing of another kind, which the column cannot have."""
    if isinstance(value, (int, float)):
        return canonical_json(value)
    is_texts = is_list(value) and all(isinstance(item, str) for item in value)
    return value if isinstance(value, str) or is_texts else None


def _context(value: Json) -> Json:
    """Text, or a list of texts and documents; nothing of another kind."""
    is_documents = is_list(value) and all(item is None or isinstance(item, (str, dict)) for item in value)
    return value if isinstance(value, str) or is_documents else None


def _body(value: Json) -> Json:
    return body_of(value, [])


# A request of its own, a trace that has it, or more than the column that it is put together from.
_MORE_THAN_A_PAIR = ("request", "trace", "instruction", "instructions")
_PAIRS = (
    _Pair("messages_and_answer", "messages", ("completion", "output", "answer"), read_request=_body),
    _Pair("prompt_and_completion", "prompt", ("completion", "response", "output")),
    _Pair(
        "question_and_answer",
        "question",
        ("answer",),
        columns={
            "retrieved_context": ("retrieved_context", "contexts", "context"),
            "expected_response": (
                "expected_response",
                "ground_truth",
                "ground_truths",
                "reference",
                "expected_answer",
            ),
        },
    ),
    _Pair("input_and_output", "input", ("output",), unwrapped_request, unwrapped_response),
    _Pair("inputs_and_outputs", "inputs", ("outputs",), traced_request, traced_response),
)
