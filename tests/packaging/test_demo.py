"""The README shows what the demo prints."""

import re
from pathlib import Path

import pytest

from beamjudge.pipelines.cli import main

ROOT = Path(__file__).parents[2]


def test_the_readme_shows_the_demo_as_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(["evaluate", "--config", "examples/run.yaml", "--output", str(tmp_path / "out")]) == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines() if str(tmp_path) not in line]
    shown = re.search(r"demo output: begin -->\n```text\n(.*?)\n```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert shown is not None
    kept = [line for line in shown[1].splitlines() if "demo-output" not in line]
    assert [without_id(line) for line in kept] == [without_id(line) for line in printed]


def without_id(line: str) -> str:
    """A line without the run's id, which changes with every new key of the configuration."""
    return re.sub(r"run [0-9a-f]{16}", "run", line)


@pytest.mark.parametrize("name", ["rows", "metrics", "rejects", "state"])
def test_every_table_of_the_demo_opens_in_pandas_and_polars(tmp_path, monkeypatch, name):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    monkeypatch.chdir(ROOT)
    assert main(["evaluate", "--config", "examples/run.yaml", "--output", str(tmp_path / "out"), "--quiet"]) == 0
    folder = tmp_path / "out" / name
    assert len(pandas.read_parquet(folder)) == polars.read_parquet(f"{folder}/*.parquet").height > 0
