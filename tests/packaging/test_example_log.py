"""The example log has the variety that the demo is meant to show."""

import json
from pathlib import Path
from typing import Any

import pytest

LINES = (Path(__file__).parents[2] / "examples" / "assistant_log.jsonl").read_text(encoding="utf-8").splitlines()


def parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


VALUES = [parsed(line) for line in LINES]
ROWS = [value for value in VALUES if isinstance(value, dict)]


def test_two_lines_are_broken_in_two_ways() -> None:
    assert len(LINES) == 52
    assert len(ROWS) == 50
    assert [type(value) for value in VALUES if not isinstance(value, dict)] == [type(None), list]


def test_ids_are_unique_and_times_ascend() -> None:
    ids = [row["request_id"] for row in ROWS]
    assert ids == sorted(set(ids))
    texts = [row["timestamp"] for row in ROWS if isinstance(row["timestamp"], str)]
    assert texts == sorted(texts)


@pytest.mark.parametrize(
    ("shape", "least"),
    [
        (lambda row: isinstance(row.get("request"), str), 20),
        (lambda row: isinstance(row.get("request"), dict) and "messages" in row["request"], 10),
        (lambda row: isinstance(row.get("request"), dict) and "history" in row["request"], 3),
        (lambda row: isinstance(row.get("request"), dict) and not {"messages", "query"} & set(row["request"]), 2),
        (lambda row: isinstance(row.get("response"), dict) and "usage" in row["response"], 10),
        (lambda row: "trace" in row and "request" not in row, 1),
        (lambda row: "response" not in row and "trace" not in row, 2),
        (lambda row: isinstance(row.get("guidelines"), dict), 5),
        (lambda row: isinstance(row.get("guidelines"), list), 3),
        (lambda row: "expected_facts" in row, 10),
        (lambda row: "expected_response" in row, 10),
        (lambda row: "expected_retrieved_context" in row, 10),
        (lambda row: row.get("retrieved_context") == [], 3),
        (lambda row: any(chunk["content"] is None for chunk in row.get("retrieved_context", [])), 1),
        (lambda row: '"rating": "yes"' in str(row.get("response")), 1),
        (lambda row: isinstance(row["timestamp"], int), 3),
    ],
)
def test_every_shape_is_there(shape: Any, least: int) -> None:
    assert sum(map(bool, map(shape, ROWS))) >= least


def test_locales_and_models() -> None:
    assert {row["locale"] for row in ROWS} == {"en", "de", "es", "ja", "th"}
    assert {row["model"] for row in ROWS} == {"atlas-large", "atlas-small", "finch-7b"}
    assert not any("expected_facts" in row and "expected_response" in row for row in ROWS)
