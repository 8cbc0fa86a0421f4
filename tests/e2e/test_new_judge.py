"""docs/architecture.md says what a new judge takes; a copy of the code in which just that was done has the judge."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from direct import read_metrics, read_rows
from sample_log import write_log

ROOT = Path(__file__).parents[2]
STEPS = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("\n## A new judge\n")[1].split("\n## ")[0]
START = "import sys; from beamjudge.pipelines.cli import main; sys.exit(main())"


def replace_once(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, old
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def code(tmp_path):
    """The package as it is laid out when installed, with the three steps taken."""
    package = tmp_path / "code" / "beamjudge"
    shutil.copytree(ROOT / "api", package)
    for name in ("pipelines", "transforms", "prompts", "schemas"):
        shutil.copytree(ROOT / name, package / name)
    prompt, entry = (
        re.sub("^   ", "", block, flags=re.MULTILINE)
        for block in re.findall(r"^   ```\w+\n(.*?)^   ```$", STEPS, re.MULTILINE | re.DOTALL)
    )
    (package / "prompts" / "tone.txt").write_text(prompt, encoding="utf-8")
    judges = package / "schemas" / "judges.py"
    replace_once(judges, "\n\ndef row_guideline_judge", f"\nBUILT_IN_JUDGES += {entry}\n\ndef row_guideline_judge")
    replace_once(
        package / "transforms/judging/lexical/__init__.py",
        '    "safety": safety,',
        '    "safety": safety, "tone": safety,',
    )
    return package.parent


def test_a_prompt_an_entry_and_a_rule_make_a_judge(tmp_path, code):
    log = [
        {"request_id": "a", "request": "Hello?", "response": "Good morning."},
        {"request_id": "b", "request": "Hello?", "response": "I will kill you."},
        {"request_id": "c", "request": "Hello?", "response": " "},
    ]
    output = tmp_path / "out"
    flags = ["evaluate", "--input", write_log(tmp_path / "log.jsonl", log), "--output", str(output), "--quiet",
             "--min_scored", "tone=2", "--judges", "tone,relevance_to_query"]  # fmt: skip

    def run(*arguments):
        command = [sys.executable, "-c", START, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(code)})

    done = run(*flags)
    assert done.returncode == 0, done.stderr
    rows = {row["request_id"]: row for row in read_rows(output)}
    assert {name: row["response/llm_judged/tone/rating"] for name, row in rows.items()} == {
        "a": "yes", "b": "no", "c": None,
    }  # fmt: skip
    assert rows["c"]["response/llm_judged/tone/rationale"] == "The response is empty."
    tone = read_metrics(output)["overall", "response/llm_judged/tone/rating/percentage"]
    assert (tone["n_yes"], tone["n_no"], tone["n_not_applicable"]) == (1, 1, 1)
    # `in_overall="never"`: what it says fails no row.
    assert all("tone" not in (row["response/overall_assessment/rationale"] or "") for row in rows.values())
    assert "tone" in run("judges", "list").stdout
    assert "polite throughout" in run("judges", "show", "tone").stdout
