"""`run.json`: what ran, on what, with which outcome. Built from pipeline elements, never from runner counters."""

import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib import metadata
from typing import Any

from beamjudge.schemas.answer import APP
from beamjudge.schemas.assessment import VerdictCounts
from beamjudge.schemas.log_tables import describe_tables
from beamjudge.schemas.metric import MetricRow, judge_spec
from beamjudge.schemas.run_config import RunConfig
from beamjudge.schemas.spend import NO_JUDGE_SPEND, JudgeSpend
from beamjudge.schemas.tables import SCHEMA_VERSION
from beamjudge.transforms.attempt import Attempt
from beamjudge.transforms.gates import check_gates
from beamjudge.transforms.judging.app import AppBinding
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.metrics.registry import signatures
from beamjudge.transforms.plan import RunPlan

_COUNTS = ("records_read", "blank", "expanded", "grouped", "rows", "rejects", "bad_files", "duplicate_request_ids")
# What numbers depend on.
_PACKAGES = (
    "apache-beam", "pyarrow", "aiohttp", "numpy", "scipy", "rapidfuzz", "regex", "google-re2", "jsonschema",
    "py3langid",
)  # fmt: skip
# Installed only for METEOR's synonyms and some tokenizers.
_OPTIONAL_PACKAGES = ("nltk", "mecab-python3", "mecab-ko", "sentencepiece")
_EXIT_CODES = {"done": 0, "gate_failed": 3, "stopped": 4}


def judge_keys(plan: RunPlan) -> dict[str, str]:
    """Each judge's main run-level metric, by judge."""
    return {judge.spec.name: judge_spec(judge.spec).names[0][0] for judge in plan.judges}


def run_record(
    plan: RunPlan,
    attempt: Attempt,
    finished: str,
    counts: Mapping[str, int],
    spend: Mapping[str, JudgeSpend],
    verdicts: Mapping[str, VerdictCounts],
    metrics: Sequence[MetricRow],
) -> dict[str, Any]:
    """The content of `run.json`. `counts` has plain names, `table:<name>`, `reject:<code>`, `note:<code>` and
    `stopped`."""
    totals = {name: counts.get(name, 0) for name in _COUNTS}
    outcome = gates_record(plan, totals, metrics, verdicts)
    if counts.get("stopped", 0):
        outcome |= {"status": "stopped", "exit_code": _EXIT_CODES["stopped"]}
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": plan.config.run_id,
        "attempt_id": attempt.id,
        "status": outcome["status"],
        "exit_code": outcome["exit_code"],
        "started": attempt.started,
        "finished": finished,
        "run_date": plan.config.run_date,
        "versions": {
            "beamjudge": metadata.version("beamjudge"),
            "python": platform.python_version(),
            **_versions(),
        },
        "signatures": signatures(plan),
        "config": public_config(plan.config),
        "counts": totals,
        "tables": describe_tables(counts, plan.config.columns),
        "rejects": _with_prefix(counts, "reject:"),
        "notes": _with_prefix(counts, "note:"),
        "judges": {
            name: _judge_entry(judge, spend.get(name, NO_JUDGE_SPEND), verdicts.get(name, VerdictCounts()))
            for name, judge in ((judge.spec.name, judge) for judge in plan.judges)
        },
        "app": None
        if plan.app is None
        else _app_entry(plan.app, spend.get(APP, NO_JUDGE_SPEND), verdicts.get(APP, VerdictCounts())),
        "gates": outcome["gates"],
    }


def _versions() -> dict[str, str]:
    found = {name: metadata.version(name) for name in _PACKAGES}
    for name in _OPTIONAL_PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def public_config(config: RunConfig) -> dict[str, Any]:
    """The configuration as it may be shown: key references are references, but header values and what stands behind the
    `?` of a base URL may be secrets."""
    shown = config.model_dump(mode="json")
    for name, endpoint in shown["endpoints"].items():
        endpoint["base_url"] = config.endpoints[name].address
        endpoint["headers"] = dict.fromkeys(endpoint["headers"], "(hidden)")
    return shown


def gates_record(
    plan: RunPlan, counts: Mapping[str, int], metrics: Sequence[MetricRow], verdicts: Mapping[str, VerdictCounts]
) -> dict[str, Any]:
    """The part of `run.json` that follows from the gates: `gates`, `status` and `exit_code`."""
    gates = check_gates(plan.config.gates, counts, metrics, judge_keys(plan), verdicts)
    status = "done" if all(gate.passed for gate in gates) else "gate_failed"
    return {"gates": [asdict(gate) for gate in gates], "status": status, "exit_code": _EXIT_CODES[status]}


def _with_prefix(counts: Mapping[str, int], prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): count for name, count in sorted(counts.items()) if name.startswith(prefix)}


def recorded_verdicts(run: Mapping[str, Any]) -> dict[str, VerdictCounts]:
    """How many verdicts of each judge, and answers of the application, a `run.json` counts."""
    counts = {name: VerdictCounts(**judge["verdicts"]) for name, judge in run["judges"].items()}
    answers = _answers(run["app"]["answers"]) if run.get("app") else VerdictCounts()
    if answers != VerdictCounts():
        counts[APP] = answers
    return counts


def _answers(counts: Mapping[str, int]) -> VerdictCounts:
    return VerdictCounts(counts["given"], counts["failed"])


def _app_entry(app: AppBinding, spend: JudgeSpend, answers: VerdictCounts) -> dict[str, Any]:
    return {
        "model": app.endpoint.model,
        "base_url": app.endpoint.address,
        "hash": app.hash,
        "answers": {"given": answers.rated, "failed": answers.failed},
        **asdict(spend),
    }


def _judge_entry(judge: JudgeBinding, spend: JudgeSpend, verdicts: VerdictCounts) -> dict[str, Any]:
    return {
        "model": judge.model,
        "hash": judge.hash,
        "version": judge.spec.version,
        "endpoint": judge.endpoint_name,
        "protocol": judge.protocol.value,
        "verdicts": verdicts._asdict(),
        **asdict(spend),
    }
