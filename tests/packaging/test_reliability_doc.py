"""Every line of the tables in docs/reliability.md names its test; the tests are there, and every fault has a line."""

import re
from pathlib import Path

import pytest
from test_judge_faults import FAULTS

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
NAMED = re.findall(r"\| `(?:(test_\w+\.py)::)?(test_\w+)(?:\[(.+?)\])?` \|$", DOCUMENT, re.MULTILINE)


@pytest.mark.parametrize(("file", "name", "parameter"), NAMED)
def test_the_named_test_exists(file: str, name: str, parameter: str) -> None:
    (path,) = (ROOT / "tests").rglob(file or "test_judge_faults.py")
    assert re.search(rf"^def {name}\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert not parameter or parameter in FAULTS


def test_every_fault_and_every_line_is_covered() -> None:
    assert {parameter for _, _, parameter in NAMED if parameter} == set(FAULTS) - {"none"}
    tables = [block for block in DOCUMENT.split("\n\n") if block.startswith("| ") and "| test |" in block]
    assert sum(len(table.strip().splitlines()) - 2 for table in tables) == len(NAMED)
