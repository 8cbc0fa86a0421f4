"""`beamjudge check`: what the first records of a log look like and what can be measured on them, without a run."""

import argparse
import difflib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from rich.table import Table

from beamjudge.pipelines import report
from beamjudge.pipelines.asking import ask_all, ask_app
from beamjudge.pipelines.injection import print_injection
from beamjudge.pipelines.launch import check_plan
from beamjudge.pipelines.options import read_config
from beamjudge.schemas.assessment import Assessment, Outcome
from beamjudge.schemas.errors import UsageError
from beamjudge.schemas.json_value import canonical_json
from beamjudge.schemas.judges import Need
from beamjudge.schemas.log_tables import describe_tables, recognise_table
from beamjudge.schemas.paths import lookup
from beamjudge.schemas.record import NOTE_CODES, FileStats, InputFile, Reject, SourceRecord
from beamjudge.schemas.requests import REQUESTS, decode_request
from beamjudge.schemas.responses import RESPONSES, decode_response
from beamjudge.schemas.row import Row
from beamjudge.transforms.evaluate import CanScore
from beamjudge.transforms.group_spans import group_locally, groups_spans
from beamjudge.transforms.judging.app import AppBinding, foreseen
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.judging.question import JudgeInputs, Question
from beamjudge.transforms.judging.questions import plan_questions
from beamjudge.transforms.normalize import normalize_record
from beamjudge.transforms.plan import RunPlan, plan_run
from beamjudge.transforms.reading.files import match_files
from beamjudge.transforms.reading.ranges import plan_ranges, read_range
from beamjudge.transforms.row_reader import InputRules, Rejected, RowReader, text_columns

_NO_VALUE, _FROM_TRACE = "(none)", "from the trace"
_NO_SHAPE = "other"
# What a metric is read from that the log itself has to say.
_UNMEASURED = {"tokens": "no usage in response, trace or column", "latency": "no latency_ms and no trace with times"}
_QUESTION = "What colour is the sky?"


@dataclass
class Findings:
    """What was seen in the records that were read; every count is a number of rows unless it says otherwise."""

    records: int = 0
    rows: int = 0
    unanswered: int = 0
    requests: Counter[str] = field(default_factory=Counter)
    responses: Counter[str] = field(default_factory=Counter)
    tables: Counter[str] = field(default_factory=Counter)
    columns: Counter[str] = field(default_factory=Counter)
    paths: Counter[str] = field(default_factory=Counter)
    rejects: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Reject] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    measured: Counter[str] = field(default_factory=Counter)


def check(arguments: argparse.Namespace) -> int:
    """Run `beamjudge check` and return its exit code: 0, or 1 when an endpoint does not answer.

    Raises UsageError for a wrong configuration or an input that matches nothing.
    """
    if arguments.rows < 1:
        raise UsageError(f"--rows: got {arguments.rows}; expected how many records to look at, 1 or more")
    started = read_config(arguments, [], needs_output=False)
    plan = plan_run(started.config)
    check_plan(plan, is_local=True)
    files = match_files(started.config.input, warn=report.warn)
    findings = inspect(plan, files, arguments.rows)
    first = "record" if findings.records == 1 else f"{findings.records:,} records"
    report.say(f"{report.counted(len(files), 'file')}, the first {first}:")
    _print_findings(plan, findings)
    answers = [_ask_endpoint(plan, binding) for binding in _one_per_endpoint(plan)]
    if plan.app is not None:
        answers.append(_ask_application(plan, plan.app))
    if arguments.injection:
        print_injection(plan)
    return 0 if all(answers) else 1


def inspect(plan: RunPlan, files: Sequence[InputFile], most_records: int) -> Findings:
    """What the first `most_records` records of `files` look like."""
    findings = Findings()
    rules, can_score = InputRules.of(plan.config), CanScore(plan)
    paths = {*plan.config.columns.values(), *plan.config.slice_by}
    items: Iterable[SourceRecord | Reject] = islice(_records(plan, files), most_records)
    if groups_spans(plan.config, files):
        items = _with_groups(items)
    for item in items:
        findings.records += 1
        if isinstance(item, Reject):
            _count_reject(findings, item)
            continue
        if (table := recognise_table(item.data)) is not None:
            findings.tables[f"table:{table.name}"] += 1
        findings.columns.update(name for name, value in item.data.items() if value is not None)
        findings.paths.update(path for path in paths if lookup(item.data, path) is not None)
        reader = RowReader(item, rules)
        shapes = {column: _shape(reader, column) for column in ("request", "response")}
        for outcome in normalize_record(item, rules, can_score):
            if isinstance(outcome, Reject):
                _count_reject(findings, outcome)
            else:
                _count_row(findings, plan, outcome)
                shapes.update((column, _FROM_TRACE) for column in shapes if f"{column}_from_trace" in outcome.notes)
        findings.requests[shapes["request"]] += 1
        findings.responses[shapes["response"]] += 1
    return findings


def _records(plan: RunPlan, files: Iterable[InputFile]) -> Iterator[SourceRecord | Reject]:
    limit, columns = int(plan.config.max_record_mb * (1 << 20)), text_columns(plan.config)
    for part in chain.from_iterable(map(plan_ranges, files)):
        for item in read_range(part, limit, columns):
            if not isinstance(item, FileStats):
                yield item


def _with_groups(items: Iterable[SourceRecord | Reject]) -> Iterator[SourceRecord | Reject]:
    """The records with spans put together; a trace that goes on after the last of them is cut."""
    listed = list(items)
    yield from (item for item in listed if isinstance(item, Reject))
    yield from group_locally(item for item in listed if isinstance(item, SourceRecord))


def _shape(reader: RowReader, column: str) -> str:
    """How a request or response was logged, as the tables of shapes call it."""
    try:
        value = reader.field(column)
    except Rejected:  # counted as such where the row is read
        value = None
    if value is None:
        return _NO_VALUE
    decoded, _ = decode_request(value) if column == "request" else decode_response(value)
    if isinstance(decoded, str):
        return "text"
    shape = (REQUESTS if column == "request" else RESPONSES).claim(decoded)
    return _NO_SHAPE if shape is None else shape.name


def _count_reject(findings: Findings, reject: Reject) -> None:
    findings.rejects[reject.code] += 1
    findings.examples.setdefault(reject.code, reject)


def _count_row(findings: Findings, plan: RunPlan, row: Row) -> None:
    findings.rows += 1
    findings.notes.update(row.notes)
    findings.unanswered += row.unanswered is not None
    row = foreseen(row, plan.app)
    for binding in plan.judges:
        planned = plan_questions(binding, row, plan.config.guidelines)
        if isinstance(planned, Assessment) and planned.verdict.outcome is Outcome.NOT_APPLICABLE:
            findings.reasons[binding.spec.name][_why_not(binding, row, planned)] += 1
        else:
            findings.judged[binding.spec.name] += 1
    for family in plan.families:
        if any(value is not None for value in family.compute(row).values()):
            findings.measured[family.name] += 1


def _why_not(binding: JudgeBinding, row: Row, assessment: Assessment) -> str:
    given = {
        Need.RESPONSE: row.response_text is not None,
        Need.CONTEXT: row.retrieved_context is not None,
        Need.EXPECTATION: row.expected_response is not None or row.expected_facts is not None,
        Need.GUIDELINES: row.guidelines is not None,
    }
    missing = [need.value for need in Need if need in binding.spec.needs and not given.get(need, True)]
    return f"no {missing[0]}" if missing else assessment.verdict.rationale or "its inputs are empty"


def _print_findings(plan: RunPlan, findings: Findings) -> None:
    said = [f"{report.counted(findings.rows, 'row')}, {report.counted(sum(findings.rejects.values()), 'reject')}"]
    seen = {"requests": findings.requests, "responses": findings.responses, "columns": findings.columns}
    said += [f"{what}: {_listed(counts)}" for what, counts in seen.items() if counts]
    if plan.app is not None:
        name = f"the application {plan.app.endpoint.model} at {plan.app.endpoint.address}"
        said.append(f"{report.counted(findings.unanswered, 'row')} without a response, which {name} would answer")
    said += report.tables_lines(describe_tables(findings.tables, plan.config.columns))
    report.show("\n".join(said))
    report.show(_measures_table(plan, findings))
    for code, count in findings.rejects.most_common():
        example = findings.examples[code]
        place = "" if example.source_position is None else f" at {example.source_position}"
        report.show(f"{count:,} rejected as {code}, for example {example.source_file}{place}: {example.reason}")
    for code, count in findings.notes.most_common():
        report.show(f"{count:,} noted as {code}: {NOTE_CODES[code.partition(':')[0]]}")

    for line in _hints(plan, findings):
        report.show(line)


def _hints(plan: RunPlan, findings: Findings) -> Iterator[str]:
    """What is likely to be wrong with the names of columns, each with its fix."""
    if findings.rejects["no_request"] * 2 > findings.records:
        names = ", ".join(sorted(findings.columns)) or "all null"
        yield f"your columns are {names}; name yours with --columns request=COLUMN,response=COLUMN"
    named = [("--columns", path) for path in plan.config.columns.values()]
    named += [("--slice_by", path) for path in plan.config.slice_by]
    for flag, path in named:
        if findings.columns and not findings.paths[path]:
            near = difflib.get_close_matches(path, findings.columns, n=1, cutoff=0.5)
            hint = f"; the nearest column is {near[0]}" if near else ""
            yield f"warning: {flag}: no record of these has a value at {path!r}{hint}"


def _listed(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{name} {count:,}" for name, count in ordered)


def _measures_table(plan: RunPlan, findings: Findings) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("judge or metric", "rows", "not on the others, for lack of"):
        table.add_column(name)
    for binding in plan.judges:
        name = binding.spec.name
        table.add_row(name, f"{findings.judged[name]:,}", report.printable(_listed(findings.reasons[name])))
    for family in plan.families:
        if not family.specs:  # a column that only names what other families used
            continue
        table.add_row(family.name, f"{findings.measured[family.name]:,}", _why_unmeasured(findings, family.name))
    return table


def _why_unmeasured(findings: Findings, family: str) -> str:
    reason = _UNMEASURED.get(family)
    return f"{reason} {findings.rows:,}" if reason and findings.rows and not findings.measured[family] else ""


def _one_per_endpoint(plan: RunPlan) -> list[JudgeBinding]:
    return list({binding.endpoint_name: binding for binding in reversed(plan.judges)}.values())


def _ask_application(plan: RunPlan, app: AppBinding) -> bool:
    """Ask the application one short question and say whether it answers."""
    answered = ask_app(plan, app, canonical_json({"messages": [{"role": "user", "content": _QUESTION}]}))
    said = answered.error_message or "the application answers"
    report.say(f"endpoint {app.endpoint_name} ({app.endpoint.model}): {said}")
    return answered.error_message is None


def _ask_endpoint(plan: RunPlan, binding: JudgeBinding) -> bool:
    """Ask one short question and say whether an answer came that can be read."""
    name = f"endpoint {binding.endpoint_name} ({binding.model})"
    if binding.endpoint.is_lexical:
        report.say(f"{name}: offline rules, nothing to ask")
        return True
    text, rules = "The sky is blue.", ("The response must be in English.",)
    inputs = JudgeInputs(_QUESTION, (), text, (text,), (text,), (), rules)
    (verdict,) = ask_all(plan, [(binding, Question(binding.spec.name, inputs))])
    report.say(f"{name}: {verdict.error_message or 'answers, and its answer can be read'}")
    return verdict.outcome is not Outcome.ERROR
