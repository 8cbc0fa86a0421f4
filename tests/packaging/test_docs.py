"""What the documents and the example configuration list has to be what the code has."""

import dataclasses
import re
from pathlib import Path

import pytest
import yaml

from beamjudge.pipelines.evaluate import plan_rows_schema
from beamjudge.pipelines.flags import FLAGS
from beamjudge.schemas.judges import BUILT_IN_JUDGES
from beamjudge.schemas.metric import MetricRow
from beamjudge.schemas.record import NOTE_CODES, REJECT_CODES
from beamjudge.schemas.rules import Rule
from beamjudge.schemas.run_config import Endpoint, Gates, JudgeSettings, Price, RunConfig
from beamjudge.schemas.tables.files import INPUTS_SCHEMA, REJECTS_SCHEMA
from beamjudge.schemas.tables.verdicts import VERDICTS_SCHEMA
from beamjudge.transforms.aggregation.observe import run_metric_specs
from beamjudge.transforms.plan import RunPlan, plan_run

ROOT = Path(__file__).parents[2]
OUTPUTS = (ROOT / "docs" / "outputs.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLE_CONFIG = (ROOT / "examples" / "run.yaml").read_text(encoding="utf-8")


def listed_codes(marker: str) -> list[str]:
    """The codes of the table below `<!-- marker -->`, without the placeholder of codes that name a field."""
    block = OUTPUTS.split(f"<!-- {marker} -->")[1].split("<!-- end -->")[0]
    return [code.partition(":")[0] for code in re.findall(r"^\| `([^`]+)` \|", block, re.MULTILINE)]


def section(title: str) -> str:
    return OUTPUTS.split(f"\n## {title}\n")[1].split("\n## ")[0]


def described_names(title: str) -> list[re.Pattern[str]]:
    """Patterns of the names in a section: `{a,b}` are alternatives, `<name>` stands for one part, `...` for several."""
    patterns = []
    for name in re.findall(r"`([^`]+)`", section(title)):
        pattern = re.escape(name).replace(r"\.\.\.", ".+")
        pattern = re.sub(r"<\w+>", "[^/]+", pattern)
        pattern = re.sub(r"\\{([^}]*)\\}", lambda found: f"({found[1].replace(',', '|')})", pattern)
        patterns.append(re.compile(pattern))
    return patterns


def example_plan() -> RunPlan:
    return plan_run(RunConfig.model_validate({**yaml.safe_load(EXAMPLE_CONFIG), "keep_extra": True}))


def test_every_rows_column_is_described() -> None:
    patterns = described_names("rows")
    columns = plan_rows_schema(example_plan()).names
    assert [name for name in columns if not any(pattern.fullmatch(name) for pattern in patterns)] == []


def test_every_metric_is_described() -> None:
    patterns = described_names("metrics")
    names = [name for spec in run_metric_specs(example_plan()) for name, _ in spec.names]
    assert [name for name in names if not any(pattern.fullmatch(name) for pattern in patterns)] == []


def test_reject_codes_are_listed_exactly() -> None:
    assert listed_codes("reject codes") == list(REJECT_CODES)


def test_note_codes_are_listed_exactly() -> None:
    assert listed_codes("note codes") == list(NOTE_CODES)


@pytest.mark.parametrize("column", [field.name for field in dataclasses.fields(MetricRow)])
def test_every_metrics_column_is_described(column: str) -> None:
    assert f"`{column}`" in section("metrics")


@pytest.mark.parametrize("column", REJECTS_SCHEMA.names)
def test_every_rejects_column_is_described(column: str) -> None:
    assert f"`{column}`" in section("rejects")


@pytest.mark.parametrize("column", VERDICTS_SCHEMA.names)
def test_every_verdicts_column_is_described(column: str) -> None:
    assert f"`{column}`" in section("verdicts")


@pytest.mark.parametrize("gate", list(Gates.model_fields))
def test_every_gate_is_described(gate: str) -> None:
    assert re.search(rf"`{gate}[`:]", section("run.json"))


@pytest.mark.parametrize("column", INPUTS_SCHEMA.names)
def test_every_inputs_column_is_described(column: str) -> None:
    assert f"`{column}`" in section("inputs.parquet")


def test_the_readme_lists_the_judges_in_their_order_with_their_defaults() -> None:
    table = README.split("\n## Judges\n")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `(\w+)` \|.*\| (yes|when named) \|$", table, re.MULTILINE)
    assert listed == [(spec.name, "yes" if spec.by_default else "when named") for spec in BUILT_IN_JUDGES]


def test_the_flags_in_the_readme_exist() -> None:
    known = {f"--{flag.name}" for flag in FLAGS} | {"--config", "--estimate", "--help"}
    assert set(re.findall(r"--[a-z][a-z_]+", README)) <= known


def test_the_example_config_is_valid() -> None:
    RunConfig.model_validate(yaml.safe_load(EXAMPLE_CONFIG))


@pytest.mark.parametrize("model", [RunConfig, Endpoint, Gates, JudgeSettings, Price, Rule])
def test_the_example_config_shows_every_key(model: type[RunConfig]) -> None:
    shown = set(re.findall(r"(\w+):", EXAMPLE_CONFIG))
    assert set(model.model_fields) <= shown


def test_the_example_config_is_valid_with_its_endpoint_examples() -> None:
    """What is commented out below `endpoints` is what a user copies, so it has to be right as well."""
    block = EXAMPLE_CONFIG.split("  # default:\n")[1].split("# max_concurrency")[0]
    lines = ["  # default:\n", *block.splitlines(keepends=True)]
    uncommented = "endpoints:\n" + "".join(
        re.sub(r"^  # ", "  ", line) if line.startswith("  ") else line.removeprefix("# ") for line in lines
    )
    settings = yaml.safe_load(uncommented)
    assert set(settings) == {"endpoints", "judge_settings"}
    RunConfig.model_validate({"input": ["log.jsonl"], "output": "eval", **settings})


def test_links_between_documents_lead_to_files() -> None:
    for document in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"
