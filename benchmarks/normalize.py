"""Rows per second of CPU time that one core puts into normal form, by the shape of the log; and the longest texts.

Run it with `python benchmarks/normalize.py`; `--profile SHAPE` shows where the time of a shape goes. Each figure is the
best of several rounds, so that other work on the machine counts little. Plain strings have to reach 20,000 rows/s.
"""

import argparse
import cProfile
import json
import pstats
import time
from collections.abc import Callable, Sequence

from beamjudge.schemas.json_value import Json
from beamjudge.schemas.record import SourceRecord
from beamjudge.schemas.requests import normalize_request
from beamjudge.schemas.responses import normalize_response
from beamjudge.schemas.run_config import RunConfig
from beamjudge.transforms.normalize import normalize_record
from beamjudge.transforms.row_reader import InputRules

LEAST_PLAIN = 20_000
ROUNDS = 5
ASK = "How do I return a bike outside of a station after ten in the evening, and what does it cost? "
ANSWER = "Lock it to any public rack, take a picture, and end the ride in the app. It costs two euros. " * 3
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
}
MEGABYTES = 10
# Texts of ten megabytes that begin like a body.
LONG_TEXTS: dict[str, Callable[[int], str]] = {
    "open braces": lambda size: "{" * size,
    "open objects": lambda size: '{"a":' * (size // 5),
    "blanks": lambda size: " " * size + "{",
    "quotes": lambda size: '"' + '\\"' * (size // 2),
    "repr": lambda size: "{'messages': '" + "x" * size + "'}",
    "lines of data": lambda size: "data: x\n" * (size // 8),
    "lines of JSON": lambda size: '{"a": "bcdefgh"}\n' * (size // 17),
    "events": lambda size: 'data: {"choices": [{"delta": {"content": "word"}}]}\n\n' * (size // 54),
    "prose": lambda size: "{ It opens at six. " * (size // 19),
}


def always(_row: object) -> bool:
    return True


def records_of(log: dict[str, Json], count: int) -> list[SourceRecord]:
    id_column = "databricks_request_id" if "databricks_request_id" in log else "request_id"
    return [SourceRecord("log.jsonl", str(index), {**log, id_column: f"row-{index}"}) for index in range(count)]


def read_all(records: Sequence[SourceRecord], rules: InputRules) -> int:
    return sum(1 for record in records for _ in normalize_record(record, rules, always))


def rows_per_second(log: dict[str, Json], count: int, rules: InputRules) -> float:
    records = records_of(log, count)
    best = 0.0
    for _ in range(ROUNDS):
        begun = time.process_time()
        rows = read_all(records, rules)
        best = max(best, rows / (time.process_time() - begun))
    return best


def seconds(text: str) -> float:
    begun = time.process_time()
    normalize_request(text)
    normalize_response(text)
    return time.process_time() - begun


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000, help="rows per round (default 5000)")
    parser.add_argument("--profile", choices=LOGS, help="show where the time of this shape goes")
    options = parser.parse_args(argv)
    rules = InputRules.of(RunConfig(input=["log.jsonl"], output="out"))
    if options.profile:
        profile = cProfile.Profile()
        profile.runcall(read_all, records_of(LOGS[options.profile], options.rows), rules)
        pstats.Stats(profile).sort_stats("tottime").print_stats(20)
        return 0
    plain = 0.0
    for name, log in LOGS.items():
        found = rows_per_second(log, options.rows, rules)
        plain = plain or found
        print(f"{name:<20}{found:>10,.0f} rows/s")
    for name, make in LONG_TEXTS.items():
        print(f"{name:<20}{seconds(make(MEGABYTES * 1_000_000)):>10.2f} s for {MEGABYTES} MB, as request and response")
    return 0 if plain >= LEAST_PLAIN else 1


if __name__ == "__main__":
    raise SystemExit(main())
