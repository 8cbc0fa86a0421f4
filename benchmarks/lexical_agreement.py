"""Agreement of the lexical judge with people's labels, per judge.

Reads `judges_dev/<judge>.jsonl` beside the project's shared data (or in the folder given as first argument): rows in
the input schema with `_label`, yes or no, or a list with one per chunk. Prints per judge how many questions were
rated, accuracy, balanced accuracy (the mean of both classes' recall; 0.5 is chance), the share rated yes, how many the
rules could not decide, and microseconds of processor
time per question. Rows that are not applicable are in no share.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from beamjudge.schemas.json_value import Json
from beamjudge.transforms.judging.lexical import answer
from beamjudge.transforms.judging.question import JudgeInputs, Question

DATA = Path(__file__).resolve().parents[1] / "../shared/data/judges_dev"
# The strict and the lenient judge of a response against its context have no labels of their own.
ALSO = {"groundedness": ("fact_check", "relevancy")}


class Result(NamedTuple):
    """One question with its label, the rating (null when undecided) and where the row comes from."""

    label: str
    rating: str | None
    source: str
    language: str


def questions(judge: str, row: dict[str, Json]) -> Iterator[tuple[Question, str]]:
    """The questions of one labelled row, with the label of each."""
    context = tuple(_text(chunk.get("content")) for chunk in _objects(row.get("retrieved_context")))
    expected = row.get("expected_response")
    inputs = JudgeInputs(
        request=_text(row.get("request")),
        response=None if row.get("response") is None else _text(row["response"]),
        context=context,
        expected_responses=_texts(expected),
        expected_facts=_texts(row.get("expected_facts")),
        guidelines=_texts(row.get("guidelines")),
    )
    label = row["_label"]
    if isinstance(label, list):
        for content, chunk_label in zip(context, label, strict=True):
            yield Question(judge, JudgeInputs(request=inputs.request, context=(content,))), _text(chunk_label)
    else:
        yield Question(judge, inputs), _text(label)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _texts(value: Json) -> tuple[str, ...]:
    if isinstance(value, dict):
        return tuple(text for group in value.values() for text in _texts(group))
    return tuple(map(_text, value)) if isinstance(value, list) else () if value is None else (_text(value),)


def _objects(value: Json) -> list[dict[str, Json]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def measure(judge: str, rows: list[dict[str, Json]]) -> tuple[list[Result], float]:
    """The results of all questions of `rows`, and the processor seconds that the rules took."""
    asked = [(question, label, row) for row in rows for question, label in questions(judge, row)]
    start = time.process_time()
    verdicts = [answer(question) for question, _, _ in asked]
    seconds = time.process_time() - start
    return [
        Result(label, verdict.rating, _text(row.get("_source")), _text(row.get("_lang")))
        for verdict, (_, label, row) in zip(verdicts, asked, strict=True)
    ], seconds


def line(name: str, results: list[Result], seconds: float | None = None) -> str:
    """One line of the table."""
    rated = [result for result in results if result.rating is not None]
    undecided = len(results) - len(rated)
    recalls = []
    for label in ("yes", "no"):
        of_class = [result for result in rated if result.label == label]
        if of_class:
            recalls.append(sum(result.rating == label for result in of_class) / len(of_class))
    if not rated:
        return f"{name:36} {len(results):6} {'':28} {undecided:6}"
    accuracy = sum(result.rating == result.label for result in rated) / len(rated)
    yes = sum(result.rating == "yes" for result in rated) / len(rated)
    balanced = sum(recalls) / len(recalls)
    speed = "" if seconds is None else f"{seconds / len(results) * 1e6:8.0f}"
    return f"{name:36} {len(results):6} {accuracy:9.3f} {balanced:9.3f} {yes:8.3f} {undecided:6} {speed}"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Agreement of the lexical judge with people's labels.")
    parser.add_argument("folder", nargs="?", type=Path, default=DATA, help="folder with <judge>.jsonl files")
    parser.add_argument("--by_source", action="store_true", help="also one line per source and language")
    args = parser.parse_args(argv)
    files = sorted(args.folder.glob("*.jsonl"))
    if not files:
        print(f"skipped: no labelled rows (*.jsonl) in {args.folder}", file=sys.stderr)
        return 0
    print(f"{'judge':36} {'n':>6} {'accuracy':>9} {'balanced':>9} {'yes':>8} {'n/a':>6} {'us each':>8}")
    for file in files:
        rows = [json.loads(row) for row in file.read_text(encoding="utf-8").splitlines() if row.strip()]
        for judge in (file.stem, *ALSO.get(file.stem, ())):
            results, seconds = measure(judge, rows)
            print(line(judge if judge == file.stem else f"{judge} (labels: {file.stem})", results, seconds))
            if args.by_source:
                for group in sorted({(result.source, result.language) for result in results}):
                    print(line(f"  {'/'.join(group)}", [r for r in results if (r.source, r.language) == group]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
