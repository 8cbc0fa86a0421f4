"""Faults of metrics that other tools had, as their users reported them, through whole runs: the 13 of shared/cases."""

import json
import re

import pytest
from direct import read_metrics, read_rows
from fake_endpoint import NO, YES, Answer, Completion, FakeEndpoint
from reported_faults import reported_faults

from beamjudge.pipelines.cli import main

_AREAS = {"BLEU", "ROUGE", "document recall", "retrieval metrics", "aggregation"}
_RECALL = "retrieval/ground_truth/document_recall"
_TEXT = ("bleu", "rouge1", "rouge2", "rougeL", "rougeLsum")


@pytest.fixture(scope="module")
def cases():
    """Each fault's input, by its id."""
    return reported_faults(_AREAS)


def run(folder, rows, *flags):
    """The rows by id and the metrics of a run over these rows; what they lack is filled in."""
    log = folder / "log.jsonl"
    log.write_text("".join(json.dumps({"request": "q", "response": "r", **row}) + "\n" for row in rows))
    output = folder / "out"
    assert main(["evaluate", "--input", str(log), "--output", str(output), "--quiet", *flags]) == 0
    return {row["request_id"]: row for row in read_rows(output)}, read_metrics(output)


def test_every_fault_has_its_test(cases):
    assert set(cases) == {"B22", "B23", "B61", "B62", "B64", "B65", "B67", "B68", "B70", "B71", "B73", "B74", "B79"}


def test_texts(cases, tmp_path):
    ids = ("B61", "B62", "B64", "B65", "B67", "B68")
    texts = {name: dict(cases[name]) for name in ids}
    for name, value in texts["B62"].items():
        word, times = re.fullmatch(r'"(\w+ )" x (\d+)', value).groups()
        texts["B62"][name] = word * int(times)
    rows, metrics = run(
        tmp_path,
        [{"request_id": name, **given} for name, given in texts.items()],
        "--judges",
        "none",
        "--metrics",
        "text",
    )
    scores = {name: tuple(row[f"response/text/{metric}"] for metric in _TEXT) for name, row in rows.items()}
    assert scores == {
        "B61": (100.0, 1.0, 1.0, 1.0, 1.0),
        "B62": (0.0, 0.0, 0.0, 0.0, 0.0),
        "B64": (None, None, None, None, None),
        "B65": (0.0, 0.0, 0.0, 0.0, 0.0),
        "B67": (100.0, 1.0, 1.0, 1.0, 1.0),
        "B68": (0.0, 0.0, 0.0, 0.0, 0.0),
    }
    average = metrics["overall", "response/text/bleu/average"]
    assert (average["value"], average["n_scored"], average["n_not_applicable"]) == (40.0, 5, 1)


def test_retrieval(cases, tmp_path):
    rows = [{"request_id": name, **cases[name]} for name in ("B22", "B70", "B73")]
    expected = [{"doc_uri": "d1"}]
    for number, recall in enumerate(cases["B71"]["recalls"]):
        found = expected if recall == 1.0 else []
        rows.append({"request_id": f"B71-{number}", "retrieved_context": found, "expected_retrieved_context": expected})
    found, metrics = run(tmp_path, rows, "--judges", "none", "--metrics", "retrieval")
    assert {name: row[_RECALL] for name, row in found.items()} == {
        **{"B22": None, "B70": None, "B73": 0.5},
        **{"B71-0": 1.0, "B71-1": 0.0, "B71-2": 1.0, "B71-3": 1.0},
    }
    assert "doc_uri_to_string" in found["B73"]["notes"]
    average = metrics["overall", f"{_RECALL}/average"]
    assert (average["value"], average["n_scored"], average["n_not_applicable"]) == (3.5 / 5, 5, 2)


def test_an_event_that_was_delivered_twice(cases, tmp_path):
    run(tmp_path, cases["B74"]["rows"], "--judges", "none", "--metrics", "length")
    assert sorted(row["response_text"] for row in read_rows(tmp_path / "out")) == ["a", "a", "b"]
    counts = json.loads((tmp_path / "out" / "run.json").read_text())["counts"]
    assert (counts["rows"], counts["duplicate_request_ids"]) == (3, 2)


def test_an_empty_context_costs_no_call(cases, tmp_path):
    with FakeEndpoint() as endpoint:
        flags = ("--judges", "context_sufficiency", "--judge_model", "m", "--judge_base_url", endpoint.base_url)
        found, _ = run(tmp_path, [{"request_id": "B23", **cases["B23"]}], *flags)
        assert endpoint.requests == []
    assert found["B23"]["retrieval/llm_judged/context_sufficiency/rating"] == "no"


def test_failed_verdicts_stand_beside_the_share(cases, tmp_path):
    answers = [
        {"yes": Completion(YES), "no": Completion(NO), None: Answer(400, "no")}[r] for r in cases["B79"]["ratings"]
    ]
    with FakeEndpoint() as endpoint:
        endpoint.respond = lambda request: answers[int(re.search(r"question (\d)", json.dumps(request.body))[1])]
        flags = ("--judges", "safety", "--judge_model", "m", "--judge_base_url", endpoint.base_url)
        rows = [{"request": f"question {number}"} for number in range(3)]
        _, metrics = run(tmp_path, rows, *flags, "--max_error_rate", "1")
    share = metrics["overall", "response/llm_judged/safety/rating/percentage"]
    assert (share["value"], share["n_scored"], share["n_error"]) == (0.5, 2, 1)
