"""beamjudge: LLM judges and deterministic metrics over inference logs, in an Apache Beam pipeline."""

import importlib
from typing import Any

__version__ = "0.1.0"

# The public names and the modules that define them; imported on first use, so that `beamjudge --help` needs no Beam.
_PUBLIC = {
    "Evaluate": "beamjudge.transforms.evaluate",
    "ReadLogs": "beamjudge.transforms.read_logs",
    "Normalize": "beamjudge.transforms.normalize",
    "Judge": "beamjudge.transforms.judge",
    "TextMetrics": "beamjudge.transforms.metrics",
    "Aggregate": "beamjudge.transforms.aggregate",
    "RunConfig": "beamjudge.schemas.run_config",
}
__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'beamjudge' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(importlib.import_module(_PUBLIC[name]), name)
