"""Rows per second of CPU time that one core puts into normal form, by the shape of the log; and the longest texts.

`make bench-normalize` runs it; `--profile SHAPE` shows where the time of a shape goes. Each figure is the best of
several rounds: rows from records, and from the lines that the records are decoded from. On a machine with other work to
do all of them are lower, so that what Python's own JSON decoder needs for the same text stands beside them.
"""

import argparse
import contextlib
import cProfile
import json
import pstats
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from long_texts import CONTEXTS, READ, REFUSED, SPANS
from trace_logs import ANSWER, ASK, TRACES

from beamjudge.schemas.columns import read_context
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.record import SourceRecord
from beamjudge.schemas.requests import normalize_request
from beamjudge.schemas.responses import normalize_response
from beamjudge.schemas.run_config import RunConfig
from beamjudge.schemas.traces import TraceError, read_trace
from beamjudge.transforms.normalize import normalize_record
from beamjudge.transforms.reading.json_record import parse_record
from beamjudge.transforms.row_reader import InputRules

TARGETS = {"plain strings": 20_000, "MLflow trace": 3_000}
ROUNDS = 5
CHAT = {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": ASK}], "model": "m"}
COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 30, "completion_tokens": 60, "total_tokens": 90},
}
CHUNKS = [{"choices": [{"index": 0, "delta": {"content": word + " "}}]} for word in ANSWER.split()]
GATEWAY = {
    "databricks_request_id": "r",
    "request_time": "2026-11-30T00:13:15.000Z",
    "status_code": 200,
    "execution_duration_ms": 250,
    "request": json.dumps(CHAT),
    "response": json.dumps(COMPLETION),
}
# One record of each kind of log; all rounds read it under other ids.
LOGS: dict[str, dict[str, Json]] = {
    "plain strings": {"request": ASK, "response": ANSWER, "model": "m", "latency_ms": 120},
    "chat objects": {"request": CHAT, "response": COMPLETION},
    "chat in strings": {"request": json.dumps(CHAT), "response": json.dumps(COMPLETION)},
    "inference table": GATEWAY,
    "anthropic": {"request": CHAT, "response": {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]}},
    "stream of chunks": {"request": CHAT, "response": CHUNKS},
    "stream as text": {
        "request": CHAT,
        "response": "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in CHUNKS) + "data: [DONE]\n\n",
    },
    **{f"{name} trace": {"trace": make()} for name, make in TRACES.items()},
    "MLflow trace, text": {"trace": json.dumps(TRACES["MLflow"]())},
}
MEGABYTES = 10


def always(_row: object) -> bool:
    return True


def records_of(log: dict[str, Json], count: int) -> list[SourceRecord]:
    id_column = "databricks_request_id" if "databricks_request_id" in log else "request_id"
    return [SourceRecord("log.jsonl", str(index), {**log, id_column: f"row-{index}"}) for index in range(count)]


def decoded(lines: Sequence[str]) -> Iterator[SourceRecord]:
    for line in lines:
        yield SourceRecord("log.jsonl", "0", *parse_record(line))


def read_spans(text: str) -> None:
    with contextlib.suppress(TraceError):
        read_trace(text)


def read_all(records: Iterable[SourceRecord], rules: InputRules) -> int:
    return sum(1 for record in records for _ in normalize_record(record, rules, always))


def seconds(work: Callable[[], object], rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    return best


def decode(text: str) -> None:
    with contextlib.suppress(ValueError, RecursionError):
        json.loads(text)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000, help="rows per round (default 5000; of traces a tenth)")
    parser.add_argument("--megabytes", type=float, default=MEGABYTES, help="length of the long texts (default 10)")
    parser.add_argument("--profile", choices=LOGS, help="show where the time of this shape goes")
    options = parser.parse_args(argv)
    rules = InputRules.of(RunConfig(input=["log.jsonl"], output="out"))
    if options.profile:
        profile = cProfile.Profile()
        profile.runcall(read_all, records_of(LOGS[options.profile], options.rows), rules)
        pstats.Stats(profile).sort_stats("tottime").print_stats(20)
        return 0
    for name, log in LOGS.items():
        count = options.rows // 10 if "trace" in log else options.rows
        records = records_of(log, count)
        lines = [json.dumps(record.data) for record in records]
        alone = count / seconds(lambda lines=lines: [decode(line) for line in lines], ROUNDS)
        from_records = count / seconds(lambda records=records: read_all(records, rules), ROUNDS)
        from_lines = count / seconds(lambda lines=lines: read_all(decoded(lines), rules), ROUNDS)
        target = f"   target {TARGETS[name]:,}" if name in TARGETS else ""
        print(
            f"{name:<20}{from_records:>8,.0f} rows/s, {from_lines:>8,.0f} from lines"
            f"   (json.loads of the lines: {alone:,.0f}/s){target}"
        )
    size = int(options.megabytes * 1_000_000)
    print(f"texts of {options.megabytes:g} MB, in seconds")
    for texts, readers in (
        ({**REFUSED, **READ}, {"request": normalize_request, "response": normalize_response}),
        (CONTEXTS, {"context": read_context}),
        (SPANS, {"trace": read_spans}),
    ):
        for name, make in texts.items():
            text = make(size)
            taken = [f"{seconds(partial(read, text), 3):.2f} as {column}" for column, read in readers.items()]
            alone = seconds(partial(decode, text), 3)
            print(f"{name:<21}{', '.join(taken)} (json.loads: {alone:.2f})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
