"""Every fault of an endpoint in one run over a real socket: no row lost, none counted wrongly, nothing paid twice.

The faults are the lines of the table in docs/reliability.md. Row by row the endpoint misbehaves in one of these ways;
afterwards a second run, with the same verdict store and an endpoint that behaves, asks for what is missing.
"""

import json
from collections import Counter
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import NamedTuple

import pytest
from direct import read_rows
from fake_endpoint import YES, Answer, Completion, Drip, FakeEndpoint, Hang, Reset, error
from judge_harness import AT_ONCE

from beamjudge.pipelines.cli import main
from beamjudge.transforms.judging import client as client_module
from beamjudge.transforms.judging import reply

KEY = "sk-do-not-tell"
WORDS = "plum-coloured heron"
COLUMN = "response/llm_judged/groundedness"
ROWS_PER_FAULT = 3
NOT_ENOUGH = error(
    400,
    "context_length_exceeded",
    "This model's maximum context length is 4096 tokens. However, your messages resulted in 5200 tokens.",
    "messages",
)


class Fault(NamedTuple):
    """What the endpoint does before it behaves (or for ever), and what has to come of it."""

    steps: list
    says: str | None = None  # the error on the row; null where a verdict comes in the end
    requests: int = 2
    billed: int = 1
    for_ever: bool = False


def once(*steps, billed=1):
    return Fault([*steps], requests=len(steps) + 1, billed=billed)


def always(step, says, requests=1, billed=0):
    return Fault([step], says, requests, billed, for_ever=True)


def soon():
    return format_datetime(datetime.now(timezone.utc) + timedelta(seconds=1), usegmt=True)


FAULTS = {
    "none": Fault([], requests=1),
    "429": once(error(429), error(429)),
    "429 with Retry-After in seconds": once(error(429, retry_after="0.01")),
    "429 with Retry-After as a date": once(error(429, retry_after=soon())),
    "429 with retry-after-ms": once(error(429, retry_after_ms="5")),
    "429 for ever": always(error(429), "http_429: rate limited after 12 attempts", 12),
    "500": once(error(500)),
    "502": once(Answer(502, "<html>Bad gateway</html>", content_type="text/html")),
    "503": once(error(503, retry_after="0.01")),
    "529": once(error(529, "overloaded_error")),
    "500 for ever": always(error(500), "http_500: server error after 6 attempts", 6),
    "reset before the reply": once(Reset()),
    "reset in the middle of the reply": once(Reset(after_bytes=30), billed=2),
    "reset for ever": always(Reset(), "connection: connection lost after 6 attempts", 6),
    "hang": once(Hang()),
    "hang for ever": always(Hang(), "timeout: no complete reply in 1 s after 2 attempts", 2),
    "a byte at a time": once(Drip(), billed=2),
    "truncated JSON": always(Answer(200, json.dumps(Completion().body())[:90]), "invalid_reply: not JSON", billed=1),
    "garbage": always(Answer(200, b"\xff\xfe\x00\x01"), "invalid_reply: not JSON", billed=1),
    "an HTML page with status 200": always(Answer(200, "<html>Sign in</html>"), "invalid_reply: HTML instead of JSON"),
    "an error object with status 200": always(
        Answer(200, {"error": {"message": WORDS}}), "invalid_reply: an error object instead of a completion"
    ),
    "another content type": Fault([Answer(200, Completion().body(), content_type="text/plain")], requests=1),
    "context too long": once(NOT_ENOUGH),
    "content filter before": always(
        error(400, "content_filter", f"{WORDS} was filtered"), "content_filter: the endpoint refused the request"
    ),
    "content filter after": always(Completion(finish_reason="content_filter"), reply.FILTERED, billed=1),
    "400 of another kind": always(
        error(400, message=WORDS), "http_400: the endpoint rejected the request (some_error)"
    ),
    "refusal": always(Completion(None, message={"refusal": WORDS}), reply.REFUSED, billed=1),
    "tool calls": always(Completion(None, message={"tool_calls": [{"id": "1"}]}), reply.TOOL_CALLS, billed=1),
    "empty reply": always(Completion(""), reply.EMPTY, billed=1),
    "nonsense": always(Completion(f"The {WORDS} is fine."), reply.NO_VERDICT, billed=1),
    "two verdicts that disagree": always(Completion(YES + YES.replace("yes", "no")), reply.DISAGREE, billed=1),
    "reply cut off": once(Completion(YES[:20], finish_reason="length"), billed=2),
    "reply cut off for ever": always(Completion(YES[:20], finish_reason="length"), reply.CUT_OFF, 2, 2),
    "only reasoning": always(Completion("", message={"reasoning_content": YES}), reply.EMPTY, billed=1),
    "thinking before the verdict": Fault([Completion(f"<think>{YES}</think>{YES}")], requests=1),
}
NAMES = list(FAULTS)


def fault_of(number):
    return NAMES[number % len(NAMES)]


def number_of(request):
    return int(request.text.split("Question ")[1].split("?")[0])


class Outcome(NamedTuple):
    """What a run and its repetition gave."""

    exit_codes: tuple[int, int]
    rows: dict
    again: dict
    first: dict
    second: dict
    asked: Counter
    asked_again: Counter
    billed: Counter
    tokens: tuple[int, int]


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    count = len(FAULTS) * ROWS_PER_FAULT
    rows = [
        {
            "request_id": f"r{i}",
            "request": f"Question {i}?",
            "response": f"The {WORDS} says {i}.",
            "retrieved_context": [
                f"Chunk {i} " + "on herons " * (2000 if fault_of(i) == "context too long" else 1),
                "B.",
            ],
        }
        for i in range(count)
    ]
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    seen = Counter()

    def misbehave(request):
        number = number_of(request)
        fault = FAULTS[fault_of(number)]
        seen[number] += 1
        step = fault.steps[0 if fault.for_ever else seen[number] - 1 :][:1]
        return step[0] if step else Completion()

    def run(output):
        return main(
            [
                "evaluate", "--input", f"{folder}/log.jsonl", "--output", f"{folder}/{output}",
                "--verdict_store", f"{folder}/store", "--judges", "groundedness", "--metrics", "none",
                "--judge_model", "m", "--judge_base_url", endpoint.base_url, "--judge_api_key", "env:TEST_KEY",
                "--judge_timeout", "1", "--max_error_rate", "1", "--quiet",
            ]
        )  # fmt: skip

    def by_id(output):
        return {int(row["request_id"][1:]): row for row in read_rows(folder / output)}

    with FakeEndpoint() as endpoint, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEST_KEY", KEY)
        patch.setattr(client_module, "RetryPolicy", lambda: AT_ONCE)
        endpoint.respond = misbehave
        first = run("out")
        asked = Counter(map(number_of, endpoint.requests))
        bill = endpoint.bill
        billed, tokens = Counter(map(number_of, bill.requests)), (bill.input_tokens, bill.output_tokens)
        endpoint.respond = lambda request: Completion()
        endpoint.requests.clear()
        second = run("again")
        asked_again = Counter(map(number_of, endpoint.requests))
    records = [json.loads((folder / output / "run.json").read_text()) for output in ("out", "again")]
    judges = [record["judges"]["groundedness"] for record in records]
    return Outcome((first, second), by_id("out"), by_id("again"), *judges, asked, asked_again, billed, tokens)


@pytest.mark.parametrize("name", NAMES)
def test_fault(outcome, name):
    fault = FAULTS[name]
    for number in range(NAMES.index(name), len(outcome.rows), len(NAMES)):
        row = outcome.rows[number]
        assert row[f"{COLUMN}/error_message"] == fault.says
        assert row[f"{COLUMN}/rating"] == (None if fault.says else "yes")
        assert outcome.asked[number] == fault.requests
        assert outcome.billed[number] == fault.billed
        cut = ["truncated:retrieved_context"] if name == "context too long" else []
        assert row["notes"] == cut
        assert outcome.asked_again[number] == (1 if fault.says else 0)
        assert outcome.again[number][f"{COLUMN}/rating"] == "yes"


def test_rows_and_calls_are_counted_as_the_endpoint_counted_them(outcome):
    assert outcome.exit_codes == (0, 0)
    count = len(FAULTS) * ROWS_PER_FAULT
    assert sorted(outcome.rows) == sorted(outcome.again) == list(range(count))
    verdicts = ROWS_PER_FAULT * sum(fault.says is None for fault in FAULTS.values())
    spent, wasted = outcome.first["spent"], outcome.first["wasted"]
    assert spent["calls"] == verdicts
    assert spent["calls"] + wasted["calls"] == outcome.billed.total()
    assert tuple(spent[name] + wasted[name] for name in ("input_tokens", "output_tokens")) == outcome.tokens
    assert outcome.first["reused"]["calls"] == 0
    assert outcome.second["reused"] == spent
    assert outcome.second["spent"]["calls"] == count - verdicts
    assert outcome.second["wasted"]["calls"] == 0


def test_errors_hold_neither_the_key_nor_the_text(outcome):
    errors = " ".join(row[f"{COLUMN}/error_message"] or "" for row in outcome.rows.values())
    assert errors
    for secret in (KEY, WORDS, "heron", "Question"):
        assert secret not in errors
