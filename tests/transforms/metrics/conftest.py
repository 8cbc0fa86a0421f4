"""Rows for the tests of metrics: everything that a metric does not look at is fixed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reported_faults import reported_faults

from beamjudge.schemas.row import Document, Row, TokenUsage

_NO_USAGE = TokenUsage()
_SHARED = Path(__file__).parents[4] / "shared"


def _make_row(
    response: str | None = None,
    expected: str | list[str] | None = None,
    retrieved: list[str | None] | None = None,
    expected_uris: list[str | None] | None = None,
    usage: TokenUsage = _NO_USAGE,
    latency_seconds: float | None = None,
) -> Row:
    references = [expected] if isinstance(expected, str) else expected or [None]
    documents = [
        None if uris is None else tuple(Document(uri, "text") for uri in uris) for uris in (retrieved, expected_uris)
    ]
    return Row(
        request_id="r1",
        timestamp=None,
        request="{}",
        response=None if response is None else "{}",
        request_text="a question",
        history=(),
        response_text=response,
        expected_response=references[0],
        expected_responses=tuple(references[1:]),
        expected_facts=None,
        guidelines=None,
        retrieved_context=documents[0],
        expected_retrieved_context=documents[1],
        usage=usage,
        latency_seconds=latency_seconds,
        notes=(),
        source_file="log.jsonl",
        source_position="0",
    )


@pytest.fixture(scope="session")
def make_row() -> Callable[..., Row]:
    return _make_row


@pytest.fixture(scope="session")
def shared_lines() -> Callable[[str], list[dict[str, Any]]]:
    """Reads a JSONL file of the shared reference data in place; skips the test where it is absent."""

    def read(name: str) -> list[dict[str, Any]]:
        path = _SHARED / name
        if not path.exists():
            pytest.skip(f"shared data absent: {name}")
        return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]

    return read


@pytest.fixture(scope="session")
def reported_fault() -> Callable[[str], dict[str, Any]]:
    """The input of one publicly reported fault of other tools, by its id."""

    def find(fault_id: str) -> dict[str, Any]:
        found: dict[str, Any] = reported_faults()[fault_id]
        return found

    return find
