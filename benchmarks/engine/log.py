"""The log that the engine is measured on: about 2.5 KB a row, with what eight judges need."""

import json
from pathlib import Path

ONE_JUDGE = "groundedness"
EIGHT_JUDGES = (
    "relevance_to_query,groundedness,safety,correctness,guideline_adherence,context_sufficiency,relevancy,fact_check"
)
_RESPONSE = "You can end the ride at any station within 500 m, or ask for fifteen more minutes. " * 6
_CHUNK = "When a station is full, the rider gets fifteen minutes to reach another one without a charge. " * 5


def row(number: int) -> dict[str, object]:
    return {
        "request_id": f"row-{number:07d}",
        "request": f"Question {number}: how do I return a bicycle when the station is full and no dock is free?",
        "response": f"Answer {number}. {_RESPONSE}",
        "expected_response": "Go on to the next station within fifteen minutes.",
        "guidelines": ["Be polite.", "Name no competitor."],
        "retrieved_context": [
            {"doc_uri": f"guide/{number % 97}/{rank}", "content": f"Chunk {rank} for {number}. {_CHUNK}"}
            for rank in range(3)
        ],
    }


def write_log(path: Path, rows: int) -> None:
    with path.open("w", encoding="utf-8") as log:
        for number in range(rows):
            log.write(json.dumps(row(number)) + "\n")
