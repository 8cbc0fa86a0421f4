"""`beamjudge merge`: the numbers of several runs over disjoint inputs, as one run over all of them would give them."""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import ValidationError

from beamjudge.pipelines import output_folder, report
from beamjudge.schemas.answer import APP
from beamjudge.schemas.errors import UsageError
from beamjudge.schemas.judges import row_guideline_judge
from beamjudge.schemas.metric import OVERALL_SLICE, MetricRow
from beamjudge.schemas.record import InputFile
from beamjudge.schemas.run_config import APP_ENDPOINT, RunConfig
from beamjudge.schemas.tables.files import INPUTS_SCHEMA, input_record
from beamjudge.schemas.tables.metrics import METRICS_SCHEMA
from beamjudge.schemas.tables.state import STATE_SCHEMA
from beamjudge.transforms.aggregation.observe import run_metric_specs
from beamjudge.transforms.aggregation.state import SliceState
from beamjudge.transforms.aggregation.state_table import state_records, states_from_records
from beamjudge.transforms.aggregation.summarize import duplicate_request_ids, metric_rows
from beamjudge.transforms.attempt import Attempt, end_attempt, now
from beamjudge.transforms.finish_run import metrics_summary
from beamjudge.transforms.first_pass import DROPPED, OTHER_VALUE
from beamjudge.transforms.output_files import join, write_json, write_parquet
from beamjudge.transforms.plan import RunPlan, plan_run
from beamjudge.transforms.run_record import run_record

# What has to be the same for sums to be of the same things.
_SAME_SETTINGS = (
    *("metrics", "retrieval_k", "text_tokenizer", "rouge_stemmer", "rules"),
    *("slice_by", "cluster_by", "confidence", "global_guidelines"),
)
_PART = "part-00000-of-00001.parquet"


@dataclass(frozen=True)
class FinishedRun:
    """A run to be merged: its folder, its `run.json`, and the files that it read, each with its records."""

    folder: str
    record: Mapping[str, Any]
    config: RunConfig
    inputs: Sequence[tuple[InputFile, int]]


def merge(arguments: argparse.Namespace) -> int:
    """Run `beamjudge merge` and return its exit code. Raises UsageError before anything is written."""
    runs = [_read_run(folder) for folder in arguments.runs]
    _check_inputs_are_disjoint(runs)
    _check_settings_agree(runs)
    if not arguments.allow_different_judges:
        _check_judges_agree(runs)
    if not arguments.allow_different_metrics:
        _check_signatures_agree(runs)
    plan = plan_run(_merged_config(runs, arguments.output))
    _check_the_rest_is_the_same(runs)
    dropped = _dropped_values(runs, plan.config.run_id)
    files = [file for run in runs for file, _ in run.inputs]
    finished = output_folder.finished_run(arguments.output, plan.config.run_id, files, arguments.overwrite)
    if finished is None:
        attempt = output_folder.start_attempt(arguments.output, plan.config.run_id)
        output_folder.clear(arguments.output)
        finished = _write(plan, runs, dropped, attempt)
    if not arguments.quiet:
        report.print_report(arguments.output, finished)
    report.print_failed_gates(finished)
    return int(finished["exit_code"])


def _read_run(folder: str) -> FinishedRun:
    record = output_folder.read_json(join(folder, "run.json"))
    if record is None or record.get("status") not in output_folder.COMPLETE:
        found = "no run.json" if record is None else f"a run with status {record.get('status')}"
        raise UsageError(f"{folder!r} holds {found}; expected the output folder of a complete run")
    try:
        config = RunConfig.model_validate(record["config"])
    except (ValidationError, KeyError) as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else f"no {error}"
        raise UsageError(
            f"{folder!r}: its run.json cannot be read here ({reason}); if it is of another version of beamjudge, "
            "run it again to merge it"
        ) from None
    return FinishedRun(folder, record, config, list(_inputs(folder)))


def _inputs(folder: str) -> Iterator[tuple[InputFile, int]]:
    for row in output_folder.recorded_inputs(folder):
        modified = None if row["modified"] is None else row["modified"] / 1_000_000
        yield InputFile(row["source_file"], row["size"], modified), row["records"]


def _check_inputs_are_disjoint(runs: Sequence[FinishedRun]) -> None:
    owner: dict[str, str] = {}
    for run in runs:
        for file, _ in run.inputs:
            if file.path in owner:
                raise UsageError(
                    f"{owner[file.path]!r} and {run.folder!r} both read {file.path!r}, which would count twice; "
                    "expected runs over different files"
                )
            owner[file.path] = run.folder


def _check_settings_agree(runs: Sequence[FinishedRun]) -> None:
    first = runs[0]
    for run in runs[1:]:
        for name in _SAME_SETTINGS:
            mine, theirs = getattr(first.config, name), getattr(run.config, name)
            if mine != theirs:
                raise UsageError(
                    f"{name} is {mine!r} in {first.folder!r} and {theirs!r} in {run.folder!r}; "
                    "expected runs that measure the same things: run one of them again"
                )


def _check_judges_agree(runs: Sequence[FinishedRun]) -> None:
    for judge, run, mine, theirs in _disagreements(runs, _judges):
        what = "the application under test" if judge == APP else f"the judge {judge}"
        raise UsageError(
            f"{what} is not the same in {runs[0].folder!r} ({mine or 'not run'}) and {run.folder!r} "
            f"({theirs or 'not run'}); add --allow_different_judges to merge them"
        )


def _check_signatures_agree(runs: Sequence[FinishedRun]) -> None:
    """The settings agree, so what differs is what they were computed with: a library's release, or WordNet's data."""
    for metric, run, mine, theirs in _disagreements(runs, _signatures):
        raise UsageError(
            f"{metric} was not computed alike in {runs[0].folder!r} ({mine or 'no signature'}) and {run.folder!r} "
            f"({theirs or 'no signature'}); run one of them again, or add --allow_different_metrics to merge them"
        )


def _disagreements(
    runs: Sequence[FinishedRun], told: Callable[[FinishedRun], Mapping[str, str]]
) -> Iterator[tuple[str, FinishedRun, str | None, str | None]]:
    """Where a run tells something else than the first one: the name, that run, and what the first and it tell."""
    mine = told(runs[0])
    for run in runs[1:]:
        theirs = told(run)
        for name in sorted({*mine, *theirs}):
            if mine.get(name) != theirs.get(name):
                yield name, run, mine.get(name), theirs.get(name)


def _signatures(run: FinishedRun) -> Mapping[str, str]:
    found: Mapping[str, str] = run.record.get("signatures", {})
    return found


def _merged_signatures(runs: Sequence[FinishedRun]) -> dict[str, str]:
    """As the runs have them, whatever this machine would compute with; those of different ones one after the other."""
    found: dict[str, list[str]] = {}
    for run in runs:
        for metric, signature in _signatures(run).items():
            known = found.setdefault(metric, [])
            if signature not in known:
                known.append(signature)
    return {metric: " and ".join(known) for metric, known in found.items()}


def _judges(run: FinishedRun) -> dict[str, str]:
    """Judge -> its model and hash; the application under test among them, since its answers are what was judged."""
    app, judges = run.record.get("app"), run.record["judges"].items()
    found = {name: f"{judge['model']}, hash {judge['hash']}" for name, judge in judges}
    return found if app is None else {**found, APP: f"{app['model']} at {app['base_url']}, hash {app['hash']}"}


def _merged_config(runs: Sequence[FinishedRun], output: str) -> RunConfig:
    """The first run's configuration over the inputs of all, so that the run's id is that of the run over the union."""
    dates = {run.config.run_date for run in runs}
    first, judges = runs[0].config, dict.fromkeys(name for run in runs for name in run.record["judges"])
    # Only where runs of different judges or applications are merged all the same does the first one not cover them.
    named: dict[str, Any] = {} if set(judges) == set(first.selected_judges()) else {"judges": list(judges)}
    app = next((run.config.app for run in runs if run.config.app is not None), None)
    if app is not None and first.app is None:
        named["endpoints"] = {**first.endpoints, APP_ENDPOINT: app}
    return first.model_copy(
        update={
            **named,
            "input": [pattern for run in runs for pattern in run.config.input],
            "output": output,
            "run_date": dates.pop() if len(dates) == 1 else None,
        }
    )


def _write(
    plan: RunPlan, runs: Sequence[FinishedRun], dropped: Sequence[MetricRow], attempt: Attempt
) -> dict[str, Any]:
    """Write all tables but rows and rejects, which stay with their runs, and `run.json` last."""
    output, run_id = plan.config.output, plan.config.run_id
    states = states_from_records(record for run in runs for record in output_folder.read_table(run.folder, "state"))
    specs = run_metric_specs(plan)
    metrics = [row for name, state in sorted(states.items()) for row in metric_rows(run_id, name, state, specs, plan)]
    metrics += dropped
    records = (record for name, state in sorted(states.items()) for record in state_records(run_id, name, state))
    inputs = [input_record(file, records_read) for run in runs for file, records_read in run.inputs]
    write_parquet(join(output, "state", _PART), records, STATE_SCHEMA)
    write_parquet(join(output, "metrics", _PART), map(asdict, metrics), METRICS_SCHEMA)
    write_parquet(join(output, "inputs.parquet"), inputs, INPUTS_SCHEMA)
    write_json(join(output, "metrics.json"), metrics_summary(run_id, metrics))
    overall = states.get(OVERALL_SLICE, SliceState())
    counts = {**_summed_counts(runs), "duplicate_request_ids": duplicate_request_ids(overall)}
    record = run_record(plan, attempt, now(), counts, overall.spend, overall.verdicts, metrics)
    record["signatures"] = _merged_signatures(runs)
    record["merged_from"] = [{"folder": run.folder, "run_id": run.record["run_id"]} for run in runs]
    end_attempt(output, attempt, record["status"])
    write_json(join(output, "run.json"), record)
    return record


def _dropped_values(runs: Sequence[FinishedRun], run_id: str) -> list[MetricRow]:
    """What every run dropped for having too many values. UsageError for what only some of them dropped."""
    tables = [output_folder.read_table(run.folder, "metrics") for run in runs]
    dropped = [{row["metric"]: row for row in table if row["metric"].endswith(DROPPED)} for table in tables]
    for name in sorted({name for found in dropped for name in found}):
        without = [run.folder for run, found in zip(runs, dropped, strict=True) if name not in found]
        if without:
            group = name.removesuffix(DROPPED)
            is_slice = group.startswith("slice/")
            flag, left_out = (
                ("--slice_by", group.removeprefix("slice/")) if is_slice else ("--judges", group.rpartition("/")[2])
            )
            raise UsageError(
                f"{group} has too many values in some runs and not in {without[0]!r}; run them again without "
                f"{left_out} in {flag}"
            )
    most = {name: max((found[name] for found in dropped), key=_value) for name in dropped[0]}
    return [MetricRow(**{**row, "run_id": run_id}) for row in most.values()]


def _check_the_rest_is_the_same(runs: Sequence[FinishedRun]) -> None:
    """What `(other)` holds is what a run did not keep; the sums of runs that kept different values are no run's."""
    kept = [_kept_names(run) for run in runs]
    for what, flag, names in zip(
        ("slices", "named guidelines"), ("--slice_by", "--judges"), zip(*kept, strict=True), strict=True
    ):
        for run, found in zip(runs, names, strict=True):
            if any(OTHER_VALUE in name for name in found) and any(found != others for others in names):
                raise UsageError(
                    f"{run.folder!r} kept the most frequent of its {what} and put the rest into {OTHER_VALUE}, and not "
                    f"all runs kept the same; run once over all inputs (stored verdicts are not paid again), or leave "
                    f"them out in {flag}"
                )


def _kept_names(run: FinishedRun) -> tuple[set[str], set[str]]:
    """The run's slices, and the metrics of the guidelines that its rows named."""
    slices, keys = set(), set()
    for row in output_folder.read_table(run.folder, "state"):
        slices.add(row["slice"])
        keys.add(row["key"])
    return slices, {key for key in keys if key is not None and row_guideline_judge(key) is not None}


def _value(row: Mapping[str, Any]) -> float:
    return float(row["value"])


def _summed_counts(runs: Sequence[FinishedRun]) -> Counter[str]:
    """The runs' counts added up, under the names that a run has them from its pipeline."""
    total: Counter[str] = Counter()
    for run in runs:
        total.update(run.record["counts"])
        total.update({f"table:{name}": table["records"] for name, table in run.record["tables"].items()})
        total.update({f"reject:{code}": count for code, count in run.record["rejects"].items()})
        total.update({f"note:{code}": count for code, count in run.record["notes"].items()})
    return total
