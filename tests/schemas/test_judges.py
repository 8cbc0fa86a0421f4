"""Names that several modules share are written once, and what differs between judges stands in their declarations."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from beamjudge.schemas.judges import BUILT_IN_JUDGES

ROOT = Path(__file__).parents[2]
JUDGES = "|".join(spec.name for spec in BUILT_IN_JUDGES)


def constants() -> Iterator[tuple[str, str]]:
    """Every text in the code, with its file: parts of f-strings too, but no docstrings."""
    for package in ("api", "pipelines", "transforms", "schemas"):
        for path in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
                    yield str(path.relative_to(ROOT)), node.value


@pytest.mark.parametrize(
    ("pattern", "homes"),
    [
        # A judge's name, alone or in a column or metric; not in prose. Offline rules and questions that try a judge out
        # are made for one judge each.
        (
            rf"(\S*/)?({JUDGES})([_/]\S*)?",
            {"schemas/judges.py", "transforms/judging/lexical/__init__.py", "pipelines/injection.py"},
        ),
        ("overall", {"schemas/metric.py"}),
        (r"\S*overall_assessment\S*", {"schemas/metric.py"}),
        (r"stopped:.*", {"schemas/assessment.py"}),
    ],
    ids=["judges", "slice of all rows", "overall assessment", "stopped"],
)
def test_a_name_is_written_where_it_is_defined(pattern: str, homes: set[str]) -> None:
    found = {(path, text) for path, text in constants() if re.fullmatch(pattern, text)}
    assert {path for path, _ in found} >= homes, "the pattern finds nothing any more"
    assert sorted(each for each in found if each[0] not in homes) == []
