"""Tables of data sets: whole conversations a row, and what evaluation libraries write.

Conversations: platform.openai.com/docs/guides/fine-tuning (`messages`), github.com/lm-sys/FastChat (`conversations` of
ShareGPT, `turns` of MT-Bench). Ragas: docs.ragas.io (SingleTurnSample, annotated data).
"""

from collections.abc import Mapping

from beamjudge.schemas.foreign_messages import to_message
from beamjudge.schemas.json_text import is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.log_tables.gateways import LITELLM
from beamjudge.schemas.log_tables.table import LogTable, body_of, has
from beamjudge.schemas.messages import ASSISTANT_ROLES, message_role

_TURNS = ("conversations", "conversation", "messages")
_OTHERS = frozenset(
    {"request", "response", "choices", "output", "outputs", "trace", "call_type", "custom_id", "captureData", "inputs"}
)
_ANSWERS = ("completion", "answer")


def _is_conversation(data: Mapping[str, Json]) -> bool:
    if not _OTHERS.isdisjoint(data):
        return False
    found = [turns for name in _TURNS if is_list(turns := data.get(name)) or _is_json_list(turns)]
    if len(found) != 1:
        return False
    # An answer beside messages that have their own is something else, such as a reference.
    is_pair = found[0] is data.get("messages") and any(data.get(name) is not None for name in _ANSWERS)
    return not is_pair or _ends_with_answer(_messages(found[0]))


def _is_json_list(value: Json) -> bool:
    return isinstance(value, str) and value.lstrip()[:1] == "["


def _messages(value: Json) -> list[Json]:
    body = body_of(value, [])
    return [to_message(turn) for turn in body] if is_list(body) else []


def _ends_with_answer(messages: list[Json]) -> bool:
    last = messages[-1] if messages else None
    return is_object(last) and message_role(last) in ASSISTANT_ROLES


def _asked(value: Json) -> Json:
    """The conversation without the answer that ends it."""
    messages = _messages(value)
    return {"messages": messages[:-1] if _ends_with_answer(messages) else messages}


def _answered(value: Json) -> Json:
    messages = _messages(value)
    return messages[-1] if _ends_with_answer(messages) else None


CONVERSATION = LogTable(
    name="conversation",
    matches=_is_conversation,
    columns={
        "request_id": ("request_id", "id", "conversation_id"),
        "timestamp": ("timestamp", "created_at", "tstamp"),
        "request": _TURNS,
        "response": _TURNS,
    },
    read={"request": _asked, "response": _answered},
    empty_is_error=False,
)


def _is_messages_and_response(data: Mapping[str, Json]) -> bool:
    if data.get("messages") is None or "response" not in data or (data.get("choices") is not None and "object" in data):
        return False
    return not any(
        data.get(name) is not None for name in ("request", "custom_id", "user_input")
    ) and not LITELLM.matches(data)


MESSAGES_AND_RESPONSE = LogTable(
    name="messages_and_response",
    matches=_is_messages_and_response,
    columns={"request_id": ("request_id", "id"), "request": ("messages",), "response": ("response",)},
    empty_is_error=False,
)
MT_BENCH = LogTable(
    name="mt_bench_questions",
    matches=has("question_id", "turns"),
    columns={"request_id": ("question_id",), "request": ("turns",), "expected_response": ("reference",)},
    read={
        "request": lambda turns: {"turns": turns},
        # The reference of the last question, which is the one that is judged.
        "expected_response": lambda reference: reference[-1] if is_list(reference) and reference else reference,
    },
    empty_is_error=False,
)
RAGAS = LogTable(
    name="ragas_samples",
    matches=has("user_input", "response"),
    columns={
        "request": ("user_input",),
        "response": ("response",),
        "retrieved_context": ("retrieved_context", "retrieved_contexts"),
        "expected_response": ("expected_response", "reference"),
    },
    empty_is_error=False,
)
RAGAS_ANNOTATED = LogTable(
    name="ragas_annotations",
    matches=has("metric", "metric_input", "metric_output"),
    columns={
        "request": ("metric_input.user_input",),
        "response": ("metric_input.response",),
        "retrieved_context": ("metric_input.retrieved_contexts",),
        "expected_response": ("metric_input.reference",),
    },
    empty_is_error=False,
)

DATASET_TABLES: tuple[LogTable, ...] = (CONVERSATION, MESSAGES_AND_RESPONSE, MT_BENCH, RAGAS, RAGAS_ANNOTATED)
