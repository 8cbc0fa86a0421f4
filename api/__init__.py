"""beamjudge: LLM judges and deterministic metrics over inference logs, in an Apache Beam pipeline.

import apache_beam as beam
import beamjudge

plan = beamjudge.plan_run(beamjudge.RunConfig(input=["log.jsonl"], output="eval", judges=["safety"]))
with beam.Pipeline() as pipeline:
    logs = pipeline | beamjudge.ReadLogs(beamjudge.match_files(plan.config.input), plan.config.max_record_mb)
    evaluated = logs.records | beamjudge.Evaluate(plan)
    evaluated.rows | beam.Map(print)
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# The public names and the modules that define them; imported on first use, so that `beamjudge --help` needs no Beam.
_PUBLIC = {
    "RunConfig": "beamjudge.schemas.run_config",
    "plan_run": "beamjudge.transforms.plan",
    "match_files": "beamjudge.transforms.reading.files",
    "SourceRecord": "beamjudge.schemas.record",
    "ReadLogs": "beamjudge.transforms.read_logs",
    "Evaluate": "beamjudge.transforms.evaluate",
    "CanScore": "beamjudge.transforms.evaluate",
    "Normalize": "beamjudge.transforms.normalize",
    "AskApplication": "beamjudge.transforms.ask_application",
    "Metrics": "beamjudge.transforms.metrics",
    "TextMetrics": "beamjudge.transforms.metrics",
    "Judge": "beamjudge.transforms.judge",
    "Overall": "beamjudge.transforms.overall",
    "Aggregate": "beamjudge.transforms.aggregate",
}
__all__ = ["__version__", *_PUBLIC]

if TYPE_CHECKING:
    from beamjudge.schemas.record import SourceRecord
    from beamjudge.schemas.run_config import RunConfig
    from beamjudge.transforms.aggregate import Aggregate
    from beamjudge.transforms.ask_application import AskApplication
    from beamjudge.transforms.evaluate import CanScore, Evaluate
    from beamjudge.transforms.judge import Judge
    from beamjudge.transforms.metrics import Metrics, TextMetrics
    from beamjudge.transforms.normalize import Normalize
    from beamjudge.transforms.overall import Overall
    from beamjudge.transforms.plan import plan_run
    from beamjudge.transforms.read_logs import ReadLogs
    from beamjudge.transforms.reading.files import match_files


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'beamjudge' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(importlib.import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return __all__
