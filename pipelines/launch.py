"""Launching a run: everything that can be wrong is found before it starts; then run, watch, report."""

import argparse
import difflib
import re
import sys
from collections.abc import Sequence
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from beamjudge.pipelines import evaluate, output_folder, report
from beamjudge.pipelines.collector import long_lived_modules
from beamjudge.pipelines.estimate import estimate
from beamjudge.pipelines.flags import RUNNERS, Parser, flag_names, unknown_flag
from beamjudge.pipelines.interrupt import interruptible
from beamjudge.pipelines.options import Launch, read_config
from beamjudge.pipelines.quiet import quiet_beam
from beamjudge.schemas.errors import RunFailed, UsageError
from beamjudge.schemas.judges import Need, row_guideline_judge
from beamjudge.schemas.prices import price_of
from beamjudge.schemas.record import InputFile
from beamjudge.schemas.run_config import LEXICAL, Endpoint, RunConfig
from beamjudge.transforms.aggregation.observe import run_metric_specs
from beamjudge.transforms.attempt import Attempt, end_attempt
from beamjudge.transforms.judging.fitting import configured_reply_tokens
from beamjudge.transforms.judging.keys import KeyUnavailable, expand_headers, resolve_key
from beamjudge.transforms.output_files import join, write_json
from beamjudge.transforms.plan import RunPlan, plan_run
from beamjudge.transforms.reading.files import match_files
from beamjudge.transforms.run_record import gates_record, judge_keys, public_config, recorded_verdicts

_DIRECT = RUNNERS[0]
# A failure on a worker arrives as text with the worker's traceback around it.
_RUN_FAILED = re.compile(r"RunFailed: (.+?)(?: \[while running|\s*$)", re.MULTILINE)


def launch(arguments: argparse.Namespace, runner_flags: Sequence[str]) -> int:
    """Run `beamjudge evaluate` and return its exit code.

    Raises UsageError before anything is written, and RunFailed when the run cannot go on.
    """
    _check_runner_flags(runner_flags)
    started = read_config(arguments, runner_flags)
    config = started.config
    plan = plan_run(config)
    check_plan(plan, is_local=started.runner == _DIRECT)
    files = match_files(config.input, config.output, report.warn)
    if arguments.estimate:
        return _estimate(started, plan, files)
    run = output_folder.finished_run(config.output, config.run_id, files, config.overwrite)
    if run is None:
        run = _run(started, plan, files)
    else:
        run = _checked_again(plan, run)
        if not started.quiet:
            report.say(f"This run is complete and its input unchanged since {run['finished']}; nothing to do.")
    if not started.quiet:
        report.print_report(config.output, run)
    report.print_failed_gates(run)
    return int(run["exit_code"])


def _estimate(started: Launch, plan: RunPlan, files: Sequence[InputFile]) -> int:
    if started.runner != _DIRECT:
        raise UsageError(
            f"--estimate: got --runner {started.runner}; expected {_DIRECT}, since its result is printed here"
        )
    with quiet_beam(), interruptible(), long_lived_modules():
        estimate(_pipeline(started), plan, files)
    return 0


def _run(started: Launch, plan: RunPlan, files: Sequence[InputFile]) -> dict[str, Any]:
    """Run the pipeline and return its `run.json`; whatever happens, the attempt's end is on record."""
    output = started.config.output
    attempt = output_folder.start_attempt(output, started.config.run_id)
    try:
        output_folder.clear(output)
        if not started.quiet:
            _say_what_starts(started, len(files))
        with interruptible(), long_lived_modules():
            _run_pipeline(started, plan, files, attempt)
        run = output_folder.read_json(join(output, "run.json"))
        if run is None:
            raise RunFailed(f"the runner ended without writing {join(output, 'run.json')}")
    except KeyboardInterrupt:
        end_attempt(output, attempt, "interrupted")
        raise
    except Exception as error:
        failure = _one_line(error)
        end_attempt(output, attempt, "failed", failure)
        raise RunFailed(failure) from error
    return run


def _check_runner_flags(flags: Sequence[str]) -> None:
    """A flag that neither beamjudge nor Beam knows is an error, though Beam itself would drop it."""
    parser = Parser(add_help=False)
    for options in PipelineOptions.__subclasses__():
        options._add_argparse_args(_Lenient(parser))  # type: ignore[arg-type]
    read, unknown = parser.parse_known_args(list(flags))
    if read.direct_num_workers < 0:
        raise UsageError(
            f"--direct_num_workers: got {read.direct_num_workers}; expected 1 or more, or 0 for all processors"
        )
    if unknown:
        beam_flags = [name for action in parser._actions for name in action.option_strings]
        raise unknown_flag(unknown[0], flag_names(beam_flags))


class _Lenient:
    """Adds each of Beam's flags once: several of its option classes declare the same one."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._parser = parser

    def add_argument(self, *names: str, **settings: object) -> None:
        taken = {name for action in self._parser._actions for name in action.option_strings}
        if not taken.intersection(names):
            self._parser.add_argument(*names, **settings)  # type: ignore[arg-type]

    def add_mutually_exclusive_group(self, **_: object) -> "_Lenient":
        return self

    add_value_provider_argument = add_argument


def _checked_again(plan: RunPlan, run: dict[str, Any]) -> dict[str, Any]:
    """A complete run with the gates as they are asked for now: those are no part of what makes a run the same."""
    output = plan.config.output
    checked = {**run, **gates_record(plan, run["counts"], report.overall_metrics(output), recorded_verdicts(run))}
    checked["config"] = public_config(plan.config)
    if checked != run:
        write_json(join(output, "run.json"), checked)
    return checked


def check_plan(plan: RunPlan, is_local: bool) -> None:
    """Raise UsageError for what a plan's configuration asks for and cannot have; a local run has to have its keys."""
    _check_gates_exist(plan)
    _check_prices(plan)
    _check_caps(plan)
    if is_local:
        _check_keys(plan)


def _check_gates_exist(plan: RunPlan) -> None:
    gates = plan.config.gates
    metrics = [name for spec in run_metric_specs(plan) for name, _ in spec.names]
    for name in gates.min_value:
        # A row's own guidelines give metrics whose names are known only from the data.
        checker = row_guideline_judge(name)
        named_on_rows = checker is not None and checker.name in judge_keys(plan)
        if name not in metrics and not named_on_rows:
            wanted = [metric for metric in metrics if name.split("/")[-1] in metric.split("/")]
            near = (
                wanted or difflib.get_close_matches(name, metrics, n=1, cutoff=0.5) or _with_a_part_like(name, metrics)
            )
            hint = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(metrics)}"
            raise UsageError(f"--min_value (in a file gates.min_value): no metric {name!r} in this run; {hint}")
    for judge in gates.min_scored:
        if judge not in judge_keys(plan):
            raise UsageError(
                f"--min_scored (in a file gates.min_scored): no judge {judge!r} in this run; "
                f"expected one of {', '.join(judge_keys(plan))}"
            )


def _with_a_part_like(name: str, metrics: Sequence[str]) -> list[str]:
    """The metrics with a part that is nearest to the last of `name`, which people write alone: `safty`."""
    parts = {part for metric in metrics for part in metric.split("/")}
    near = difflib.get_close_matches(name.rsplit("/", maxsplit=1)[-1], parts, n=1, cutoff=0.6)
    return [metric for metric in metrics if near and near[0] in metric.split("/")]


def _check_keys(plan: RunPlan) -> None:
    """A local run can see at once whether its keys and header values are there."""
    for binding in {binding.endpoint_name: binding for binding in plan.judges}.values():
        if not binding.endpoint.is_lexical:
            _check_key(binding.endpoint, "--judge_api_key", f", or judge offline with --judge_model {LEXICAL}")
    if plan.app is not None:
        _check_key(plan.app.endpoint, "--app_api_key")


def _check_key(endpoint: Endpoint, flag: str, otherwise: str = "") -> None:
    try:
        resolve_key(endpoint)
        expand_headers(endpoint.headers)
    except KeyUnavailable as error:
        raise UsageError(
            f"{error}; set it, or name another reference with {flag} env:NAME or file:PATH{otherwise}"
        ) from None


def _check_prices(plan: RunPlan) -> None:
    """A cap on cost needs to know what every judge costs."""
    for binding in plan.judges:
        if (
            plan.config.max_cost_usd is not None
            and not binding.endpoint.is_lexical
            and price_of(binding.endpoint) is None
        ):
            raise UsageError(
                f"--max_cost_usd: the price of {binding.model!r} is not known; add endpoints.{binding.endpoint_name}."
                "price_per_million: {input: X, output: Y} to the config file"
            )


def _check_caps(plan: RunPlan) -> None:
    """Caps hold because calls are counted beforehand; what an application will return is not known then."""
    capped = [name for name in ("max_judge_calls", "max_cost_usd") if getattr(plan.config, name) is not None]
    if plan.app is None or not capped:
        return
    open_ended = [binding.spec.name for binding in plan.judges if Need.CONTEXT in binding.spec.needs]
    if open_ended:
        raise UsageError(
            f"--{capped[0]} cannot be kept with --app_model and {', '.join(open_ended)}: the documents that the "
            "application will return are not known beforehand; choose other --judges, or use --sample_rate"
        )
    if plan.config.max_cost_usd is not None and configured_reply_tokens(plan.app.endpoint) is None:
        raise UsageError(
            "--max_cost_usd cannot be kept with --app_model: how long its answers are is not known beforehand; add "
            "endpoints.app.parameters: {max_tokens: N} to the config file, or use --max_judge_calls"
        )


def _say_what_starts(started: Launch, files: int) -> None:
    if started.lexical_by_default:
        report.say(
            "No judge endpoint given: judging with offline lexical rules (screening only; "
            "add --judge_model NAME for a model)."
        )
    report.say(f"Reading {files} file{'' if files == 1 else 's'}; results go to {started.config.output}")


def _run_pipeline(started: Launch, plan: RunPlan, files: Sequence[InputFile], attempt: Attempt) -> None:
    with quiet_beam():
        pipeline = _pipeline(started)
        evaluate.build(pipeline, plan, files, attempt, _reshuffles(started.config, started.runner == _DIRECT))
        with report.progress(sum(file.size for file in files), hidden=started.quiet or not sys.stderr.isatty()):
            pipeline.run().wait_until_finish()


def _pipeline(started: Launch) -> beam.Pipeline:
    options = PipelineOptions(list(started.runner_flags))
    if started.runner != _DIRECT:
        return beam.Pipeline(runner=started.runner, options=options)
    _settle_workers(options, started.runner_flags)
    return beam.Pipeline(runner=FnApiRunner(), options=options)


def _settle_workers(options: PipelineOptions, flags: Sequence[str]) -> None:
    """Several workers in one process need threads: Beam's default mode would silently run only one."""
    direct = options.view_as(DirectOptions)
    if direct.direct_num_workers != 1 and not any("direct_running_mode" in flag for flag in flags):
        direct.direct_running_mode = "multi_threading"


def _reshuffles(config: RunConfig, direct: bool) -> bool:
    return config.reshuffle == "on" or (config.reshuffle == "auto" and not direct)


def _one_line(error: BaseException) -> str:
    """The cause of a failed pipeline in one line."""
    text = str(error)
    known = _RUN_FAILED.search(f"{type(error).__name__}: {text}")
    if known:
        return known[1].strip()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else 'no message'}"
