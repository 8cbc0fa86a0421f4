"""A log that gives every judge and metric something to do."""

import json

from beamjudge.schemas.judges import BUILT_IN_JUDGES

WORDS = ["river", "station", "bicycle", "tariff", "minute", "deposit", "helmet", "bridge"]


def log_rows(count):
    """Rows that give every judge and metric something to do, a good many of them badly answered."""
    for i in range(count):
        word, other = WORDS[i % 8], WORDS[(i * 3 + 1) % 8]
        row = {
            "request_id": f"r{i}",
            "request": [f"Where is the {word}?", {"query": f"What about the {word}?", "history": []}][i % 2],
            "model": f"m{i % 3}",
            "locale": ["en", "de", None][i % 3],
            "latency_ms": 100 + i,
        }
        if i % 11:
            text = f"The {word} number {i % 5} is next to the {other}."
            usage = {"prompt_tokens": i, "completion_tokens": 2 * i, "total_tokens": 3 * i}
            row["response"] = [text, {"choices": [{"message": {"content": text}}], "usage": usage}][i % 2]
        if i % 2 or "response" not in row:
            row["retrieved_context"] = [
                {"doc_uri": f"d{k}", "content": f"The {WORDS[(i + k) % 8]} number {k} is next to the {other}."}
                for k in range(i % 4)
            ]
            row["expected_retrieved_context"] = [{"doc_uri": "d0"}, {"doc_uri": f"d{i % 5}"}]
        if i % 3 == 0:
            row["expected_response"] = f"The {word} number 2 is next to the {other}."
        elif i % 3 == 1:
            row["expected_facts"] = [f"The {word} is next to the {other}.", "It is open."][: i % 4]
        if i % 5 == 0:
            row["guidelines"] = {
                "short": ["The response must have at most 5 words."],
                f"g{i % 2}": ["Must contain 'next'."],
            }
        elif i % 5 == 1:
            row["guidelines"] = ["The response must have at most 5 words."]
        yield row


def rows_in_other_scripts():
    """Rows whose responses are compared with references by other tokenizers: 13a beyond ASCII, intl, zh, char."""
    texts = [
        ("Der Fluß liegt südlich der Brücke.", ["Der Fluß liegt nördlich der Brücke.", "Südlich der Brücke."]),
        ("Река течёт к югу от моста.", ["Река течёт к северу от моста.", "К югу от моста."]),
        ("河流位于大桥的南边，水很深。", ["河流位于大桥的北边，水很深。"]),
        ("川は橋の南にあります。", ["川は橋の北にあります。", "川は橋の南。", "橋の南です。"]),
        ("แม่น้ำอยู่ทางใต้", ["แม่น้ำอยู่ทางเหนือ"]),
        ("Cafe\u0301 und Fluß", ["Café und Fluß"]),
    ]
    for i, (response, references) in enumerate(texts * 2):
        request = {"request_id": f"s{i}", "request": "Where is the river?", "model": f"m{i % 3}", "locale": "xx"}
        yield {**request, "response": response, "expected_response": references}


def write_log(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


ALL_JUDGES = ",".join(spec.name for spec in BUILT_IN_JUDGES)
