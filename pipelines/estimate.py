"""`beamjudge evaluate --estimate`: what the run would ask and cost, printed per judge, without a call or a file."""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path

import apache_beam as beam
from apache_beam.pvalue import AsDict
from rich.table import Table

from beamjudge.pipelines import report
from beamjudge.pipelines.evaluate import first_pass
from beamjudge.schemas.answer import APP
from beamjudge.schemas.prices import PRICES_OF, price_of
from beamjudge.schemas.record import InputFile
from beamjudge.schemas.spend import Spend
from beamjudge.transforms.estimate import EstimateSpend, JudgeBound
from beamjudge.transforms.evaluate import NormalizeSampled
from beamjudge.transforms.group_spans import GroupSpans, groups_spans
from beamjudge.transforms.plan import RunPlan
from beamjudge.transforms.read_logs import ReadLogs
from beamjudge.transforms.row_reader import text_columns


def estimate(pipeline: beam.Pipeline, plan: RunPlan, files: Sequence[InputFile]) -> None:
    """Run the estimate on a local runner's pipeline and print it."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "estimate.json"
        groups = groups_spans(plan.config, files)
        first = first_pass(pipeline, plan, files, groups)
        logs = pipeline | "ReadLogs" >> ReadLogs(files, plan.config.max_record_mb, text_columns(plan.config))
        records = (logs.records | "GroupSpans" >> GroupSpans()).records if groups else logs.records
        normalized = records | "Normalize" >> NormalizeSampled(plan, first)
        bounds = normalized.rows | "EstimateSpend" >> EstimateSpend(plan)
        _ = pipeline | "Once" >> beam.Create([str(result)]) | "WriteEstimate" >> beam.FlatMap(_write, AsDict(bounds))
        pipeline.run().wait_until_finish()
        found = json.loads(result.read_text(encoding="utf-8"))
    _print(plan, {judge: (rows, Spend(*spend)) for judge, (rows, *spend) in found.items()})


def _write(path: str, bounds: Mapping[str, JudgeBound]) -> Iterator[None]:
    """The numbers come back to the launching process by a file, since a worker may be another process."""
    numbers = {judge: [rows, *astuple(spend)] for judge, (rows, spend) in bounds.items()}
    Path(path).write_text(json.dumps(numbers), encoding="utf-8")
    yield from ()


def _print(plan: RunPlan, bounds: Mapping[str, tuple[int, Spend]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("judge")
    table.add_column("model")
    for name in ("rows", "calls", "input tokens", "output tokens", "US dollars"):
        table.add_column(name, justify="right")
    total, total_rows = Spend(), 0
    if plan.app is not None:
        rows, spend = bounds.get(APP, (0, Spend()))
        total, total_rows = spend, rows
        table.add_row("application", report.printable(plan.app.endpoint.model), *_numbers(rows, spend))
    for binding in plan.judges:
        rows, spend = bounds.get(binding.spec.name, (0, Spend()))
        total, total_rows = total + spend, max(total_rows, rows)
        table.add_row(binding.spec.name, report.printable(binding.model), *_numbers(rows, spend))
    table.add_row("all", "", *_numbers(total_rows, total), style="bold")
    report.show(table)
    report.say(
        "At most: prompts are counted high and replies at their longest; equal questions and stored verdicts are asked "
        f"only once. List prices as of {PRICES_OF}, own prices as configured."
        + (" What the application will answer, and with which documents, is a guess." if plan.app else "")
    )
    endpoints = [*([plan.app.endpoint] if plan.app else []), *(binding.endpoint for binding in plan.judges)]
    unknown = dict.fromkeys(
        endpoint.model for endpoint in endpoints if not endpoint.is_lexical and price_of(endpoint) is None
    )
    if unknown:
        report.show(f"No price is known for {', '.join(unknown)}: add price_per_million to the endpoint.")


def _numbers(rows: int, spend: Spend) -> tuple[str, ...]:
    cost = "unknown" if spend.cost_usd is None else f"{spend.cost_usd:,.4f}"
    return f"{rows:,}", f"{spend.calls:,}", f"{spend.input_tokens:,}", f"{spend.output_tokens:,}", cost
