"""Faults of other tools as their users reported them, from the shared data, which is read in place."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

_CASES = Path(__file__).parents[1] / "../shared/cases/bugs.jsonl"


def reported_faults(areas: Collection[str] | None = None) -> dict[str, Any]:
    """Each fault's input, by its id, of all or of those in `areas`; skips the test where the data is absent."""
    if not _CASES.exists():
        pytest.skip("shared data absent: cases/bugs.jsonl")
    faults = [json.loads(line) for line in _CASES.read_text(encoding="utf-8").split("\n") if line]
    return {fault["id"]: fault["input"] for fault in faults if areas is None or fault["area"] in areas}
