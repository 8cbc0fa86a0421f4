"""The benchmark of the verdict store runs, on a small store, and looks up what it has put in."""

import importlib.util
import json
from pathlib import Path

SCRIPT = Path(__file__).parents[4] / "benchmarks" / "verdict_store.py"
spec = importlib.util.spec_from_file_location("verdict_store_benchmark", SCRIPT)
benchmark = importlib.util.module_from_spec(spec)
spec.loader.exec_module(benchmark)


def test_a_small_store_is_built_and_probed(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(benchmark, "GETS", 50)
    benchmark.build(str(tmp_path / "verdicts"), 700)
    assert len(list((tmp_path / "verdicts").iterdir())) == 2
    capsys.readouterr()
    benchmark.probe(str(tmp_path / "verdicts"), 700, 0.0)
    figures = json.loads(capsys.readouterr().out)
    assert {"open_s", "open_mb", "hits_s", "misses_s", "all_mb"} <= figures.keys()


def test_the_delay_goes_before_every_opening(monkeypatch):
    waited = []
    monkeypatch.setattr(benchmark.time, "sleep", waited.append)
    assert benchmark.delayed(max, 0.1)(3, 4) == 4
    assert waited == [0.1]
