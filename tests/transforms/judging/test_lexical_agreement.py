"""The lexical judge beats chance on labelled rows, per judge. Skips where the shared rows are absent."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "../shared/data/judges_dev"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lexical_agreement", ROOT / "benchmarks/lexical_agreement.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared labelled rows are not here")
@pytest.mark.parametrize(
    "judge",
    [
        "chunk_relevance",
        "context_sufficiency",
        "correctness",
        "groundedness",
        "guideline_adherence",
        "relevance_to_query",
        "safety",
    ],
)
def test_both_classes_are_told_apart_clearly_better_than_by_chance(benchmark: ModuleType, judge: str) -> None:
    rows = [json.loads(line) for line in (DATA / f"{judge}.jsonl").read_text(encoding="utf-8").splitlines()[::3]]
    results, _ = benchmark.measure(judge, rows)
    recalls = []
    for label in ("yes", "no"):
        rated = [result.rating for result in results if result.label == label and result.rating is not None]
        recalls.append(rated.count(label) / len(rated))
    assert sum(recalls) / 2 > 0.65
    undecided = sum(result.rating is None for result in results)
    assert undecided / len(results) < 0.1


def test_the_benchmark_skips_where_there_are_no_rows(
    benchmark: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert benchmark.main([str(tmp_path)]) == 0
    assert "skipped" in capsys.readouterr().err


def test_the_table_has_accuracy_balanced_accuracy_and_what_was_undecided(benchmark: ModuleType) -> None:
    results = [
        benchmark.Result("yes", "yes", "s", "en"),
        benchmark.Result("yes", "yes", "s", "en"),
        benchmark.Result("yes", "no", "s", "en"),
        benchmark.Result("no", "no", "s", "en"),
        benchmark.Result("no", None, "s", "en"),
    ]
    # Rated 4: right 3 (0.75); recall of yes 2/3, of no 1/1: balanced 0.833; rated yes 2/4.
    assert benchmark.line("judge", results).split() == ["judge", "5", "0.750", "0.833", "0.500", "1"]
