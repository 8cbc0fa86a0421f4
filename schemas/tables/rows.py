"""The rows table: one row per evaluated row. Its Arrow schema follows from the configuration alone."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from beamjudge.schemas.assessment import Assessment, EvaluatedRow, Verdict
from beamjudge.schemas.json_value import canonical_json
from beamjudge.schemas.judges import JudgeSpec
from beamjudge.schemas.metric import OVERALL_ASSESSMENT, Column, ColumnType
from beamjudge.schemas.row import Document, Guidelines
from beamjudge.schemas.run_config import RunConfig
from beamjudge.schemas.tables import utf8, with_version

_DOCUMENTS = pa.list_(pa.struct([("doc_uri", pa.string()), ("content", pa.string())]))
_NAMED = pa.list_(
    pa.struct(
        [("name", pa.string()), ("rating", pa.string()), ("rationale", pa.string()), ("error_message", pa.string())]
    )
)
_ARROW_TYPES = {
    ColumnType.FLOAT: pa.float64(),
    ColumnType.INTEGER: pa.int64(),
    ColumnType.BOOLEAN: pa.bool_(),
    ColumnType.STRING: pa.string(),
}
_VERDICT_TEXTS = ("rating", "rationale", "error_message")
_APP_ERROR = "agent/error_message"


def rows_schema(
    config: RunConfig, judges: Sequence[JudgeSpec], columns: Sequence[Column], guideline_names: Sequence[str]
) -> pa.Schema:
    """The schema of `rows/*.parquet`: fields of the row, slices, judges in order, metrics, the overall verdict."""
    fields: list[tuple[str, pa.DataType]] = [
        ("request_id", pa.string()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
        ("request", pa.string()),
        ("response", pa.string()),
        ("request_text", pa.string()),
        ("response_text", pa.string()),
        ("expected_response", pa.string()),
        ("expected_responses", pa.list_(pa.string())),
        ("expected_facts", pa.list_(pa.string())),
        ("guidelines", pa.string()),
        ("retrieved_context", _DOCUMENTS),
        ("expected_retrieved_context", _DOCUMENTS),
        ("notes", pa.list_(pa.string())),
        ("source_file", pa.string()),
        ("source_position", pa.string()),
        ("sampled", pa.bool_()),
        *((f"slice/{name}", pa.string()) for name in config.slice_by),
        *([("extra", pa.string())] if config.keep_extra else []),
    ]
    for spec in judges:
        fields.extend(_judge_fields(spec, guideline_names))
    fields.extend((column.name, _ARROW_TYPES[column.type]) for column in columns)
    fields.append((_APP_ERROR, pa.string()))
    fields.extend((f"{OVERALL_ASSESSMENT}/{part}", pa.string()) for part in _VERDICT_TEXTS)
    return with_version(pa.schema(fields))


def _judge_fields(spec: JudgeSpec, guideline_names: Sequence[str]) -> Iterator[tuple[str, pa.DataType]]:
    texts, numbers = pa.list_(pa.string()), pa.list_(pa.float64())
    if spec.unit == "chunk":
        yield from ((f"{spec.column}/{part}", texts) for part in ("ratings", "rationales", "error_messages"))
        yield f"{spec.column}/scores", numbers
        yield f"{spec.column}/precision", pa.float64()
        return
    yield from ((f"{spec.column}/{part}", pa.string()) for part in _VERDICT_TEXTS)
    yield f"{spec.column}/score", pa.float64()
    if spec.guidelines_of == "row":
        yield f"{spec.column}/named", _NAMED
    if spec.guidelines_of == "run":
        for name in guideline_names:
            yield from ((f"{spec.column}/{name}/{part}", pa.string()) for part in _VERDICT_TEXTS)


def row_record(
    evaluated: EvaluatedRow,
    config: RunConfig,
    judges: Sequence[JudgeSpec],
    columns: Sequence[Column],
    guideline_names: Sequence[str],
) -> dict[str, Any]:
    """The cells of one row, one for every field of `rows_schema`; text and rationales only where they are stored."""
    row = evaluated.row
    text = config.store_text == "full"
    record: dict[str, Any] = {
        "request_id": row.request_id,
        "timestamp": row.timestamp,
        "request": row.request if text else None,
        "response": row.response if text else None,
        "request_text": row.request_text if text else None,
        "response_text": row.response_text if text else None,
        "expected_response": row.expected_response if text else None,
        "expected_responses": list(row.expected_responses) if text and row.expected_responses else None,
        "expected_facts": list(row.expected_facts) if text and row.expected_facts is not None else None,
        "guidelines": _guidelines(row.guidelines) if text else None,
        "retrieved_context": _documents(row.retrieved_context, text),
        "expected_retrieved_context": _documents(row.expected_retrieved_context, text),
        "notes": list(row.notes),
        "source_file": utf8(row.source_file),
        "source_position": row.source_position,
        "sampled": row.sampled,
        **{f"slice/{part.name}": part.value for part in row.slices},
    }
    if config.keep_extra:
        record["extra"] = row.extra if text else None
    rationales = config.store_rationales == "on"
    for spec in judges:
        record |= _judge_cells(spec, evaluated.assessments[spec.name], rationales, guideline_names)
    record |= {column.name: evaluated.values.get(column.name) for column in columns}
    record[_APP_ERROR] = None if row.asked is None else utf8(row.asked.error_message)
    overall = evaluated.overall or Verdict.not_applicable()
    return record | {f"{OVERALL_ASSESSMENT}/{part}": cell for part, cell in _verdict_cells(overall, rationales).items()}


def _guidelines(guidelines: Guidelines | None) -> str | None:
    return canonical_json(guidelines.to_json()) if guidelines is not None else None


def _documents(documents: Sequence[Document] | None, text: bool) -> list[dict[str, str | None]] | None:
    if documents is None:
        return None
    return [{"doc_uri": each.doc_uri, "content": each.content if text else None} for each in documents]


def _verdict_cells(verdict: Verdict, rationales: bool) -> dict[str, str | None]:
    return {
        "rating": verdict.rating,
        "rationale": utf8(verdict.rationale) if rationales else None,
        "error_message": utf8(verdict.error_message),
    }


def _judge_cells(
    spec: JudgeSpec, assessment: Assessment, rationales: bool, guideline_names: Sequence[str]
) -> Mapping[str, Any]:
    prefix = spec.column
    if spec.unit == "chunk":
        chunks = assessment.chunks
        if chunks is None:
            return dict.fromkeys(name for name, _ in _judge_fields(spec, guideline_names))
        cells = [_verdict_cells(chunk, rationales) for chunk in chunks]
        record: dict[str, Any] = {f"{prefix}/{part}s": [cell[part] for cell in cells] for part in _VERDICT_TEXTS}
        return record | {
            f"{prefix}/scores": [chunk.score for chunk in chunks],
            f"{prefix}/precision": assessment.precision,
        }
    verdict = assessment.verdict
    record = {f"{prefix}/{part}": cell for part, cell in _verdict_cells(verdict, rationales).items()}
    record[f"{prefix}/score"] = verdict.score
    if spec.guidelines_of == "row":
        named = [{"name": name, **_verdict_cells(each, rationales)} for name, each in assessment.named]
        record[f"{prefix}/named"] = named or None
    if spec.guidelines_of == "run":
        verdicts = dict(assessment.named)
        for name in guideline_names:
            each = verdicts.get(name, Verdict.not_applicable())
            record |= {f"{prefix}/{name}/{part}": cell for part, cell in _verdict_cells(each, rationales).items()}
    return record
