"""`beamjudge check`: what the first records of a log look like and what can be measured on them, without a run."""

import argparse
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
from beamjudge.schemas.json_value import Json, canonical_json
from beamjudge.schemas.judges import Need
from beamjudge.schemas.log_tables import describe_tables, recognise_table
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
from beamjudge.transforms.row_reader import InputRules, text_columns

_NO_SHAPE = "other"
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
    started = read_config(arguments, [], needs_output=False)
    plan = plan_run(started.config)
    check_plan(plan, is_local=True)
    files = match_files(started.config.input, warn=report.warn)
    findings = inspect(plan, files, arguments.rows)
    report.say(f"{len(files)} file{'' if len(files) == 1 else 's'}, the first {findings.records:,} records:")
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
        findings.requests[_shape(item, plan, "request")] += 1
        findings.responses[_shape(item, plan, "response")] += 1
        for outcome in normalize_record(item, rules, can_score):
            if isinstance(outcome, Reject):
                _count_reject(findings, outcome)
            else:
                _count_row(findings, plan, outcome)
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


def _shape(record: SourceRecord, plan: RunPlan, column: str) -> str:
    """How a request or response was logged, as the tables of shapes call it."""
    value: Json = record.data.get(plan.config.columns.get(column, column))
    if value is None:
        return "(none)"
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
    said = [f"{findings.rows:,} rows, {sum(findings.rejects.values()):,} rejects"]
    seen = {"requests": findings.requests, "responses": findings.responses, "columns": findings.columns}
    said += [f"{what}: {_listed(counts)}" for what, counts in seen.items() if counts]
    if plan.app is not None:
        name = f"the application {plan.app.endpoint.model} at {plan.app.endpoint.address}"
        said.append(f"{findings.unanswered:,} rows without a response, which {name} would answer")
    said += report.tables_lines(describe_tables(findings.tables, plan.config.columns))
    report.show("\n".join(said))
    report.show(_measures_table(plan, findings))
    for code, count in findings.rejects.most_common():
        example = findings.examples[code]
        place = "" if example.source_position is None else f" at {example.source_position}"
        report.show(f"{count:,} rejected as {code}, for example {example.source_file}{place}: {example.reason}")
    for code, count in findings.notes.most_common():
        report.show(f"{count:,} noted as {code}: {NOTE_CODES[code.partition(':')[0]]}")


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
        table.add_row(family.name, f"{findings.measured[family.name]:,}", "")
    return table


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
