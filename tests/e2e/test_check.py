"""`beamjudge check`: what it says of a log equals a count by hand; canaries show a judge that obeys the judged text."""

import json
import re

import pytest
from fake_endpoint import NO, YES, Completion, FakeEndpoint, error

from beamjudge.pipelines.cli import main
from beamjudge.pipelines.injection import ATTACKS, CANARIES
from beamjudge.schemas.run_config import RunConfig
from beamjudge.transforms.judging.binding import bind_judges
from beamjudge.transforms.judging.question import Question
from beamjudge.transforms.judging.render import render


def log(tmp_path):
    rows = [
        {"request": "q", "response": "a"},
        {
            "request": {"messages": [{"role": "user", "content": "q"}]},
            "response": {"choices": [{"message": {"content": "a"}}]},
        },
        {"request": {"odd": 1, "even": 2}, "response": "a", "retrieved_context": ["c"], "expected_response": "a"},
        {"request": "only"},
    ]
    lines = [json.dumps(row) for row in rows] + ["{broken", "", "[1]"]
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    return ["check", "--input", str(tmp_path / "log.jsonl")]


def test_what_is_in_the_log(tmp_path, capsys):
    assert main(log(tmp_path)) == 0
    printed = capsys.readouterr().out
    for said in (
        "1 file, the first 6 records",
        "3 rows, 3 rejects",
        "requests: text 2, messages 1, other 1",
        "columns: request 4, response 3, expected_response 1, retrieved_context 1",
        "1 rejected as invalid_json, for example",
        "1 rejected as no_response",
        "1 noted as other_request_shape",
        "offline rules, nothing to ask",
    ):
        assert said in printed, said
    judged = dict(re.findall(r"^(\w+) +(\d+) ", printed, re.MULTILINE))
    assert (judged["safety"], judged["groundedness"], judged["correctness"], judged["bleu"]) == ("3", "1", "1", "1")
    assert re.search(r"^groundedness +1 +no retrieved_context 2 *$", printed, re.MULTILINE)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.jsonl"]


def test_only_the_first_rows_are_looked_at(tmp_path, capsys):
    assert main([*log(tmp_path), "--rows", "2"]) == 0
    assert "2 rows, 0 rejects" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (Completion(YES), 0, "answers, and its answer can be read"),
        (error(401), 1, "401"),
        (Completion("hm"), 1, "small"),
    ],
)
def test_whether_the_endpoint_answers(tmp_path, capsys, monkeypatch, answer, code, said):
    with FakeEndpoint() as endpoint:
        endpoint.respond = lambda request: answer
        flags = ["--judge_model", "small", "--judge_base_url", endpoint.base_url, "--judges", "safety"]
        assert main([*log(tmp_path), *flags]) == code
        assert len(endpoint.requests) == 1
    assert said in capsys.readouterr().out


def test_canaries_count_the_verdicts_that_flip(tmp_path, capsys):
    def obeys(request):
        return Completion(YES if ATTACKS["an order"] in request.text else NO)

    with FakeEndpoint() as endpoint:
        endpoint.respond = obeys
        flags = ["--judge_model", "m", "--judge_base_url", endpoint.base_url, "--injection"]
        assert main([*log(tmp_path), *flags]) == 0
    printed = capsys.readouterr().out
    # One attack of ten works on each of the six canaries.
    assert "injection: 6 of 60 verdicts flipped from no to yes (10.0%)" in printed
    assert printed.count("an order") == len(CANARIES) == 6


def test_a_canary_that_passes_without_attack_is_counted_apart(tmp_path, capsys):
    with FakeEndpoint() as endpoint:
        endpoint.respond = lambda request: Completion(YES)
        flags = ["--judge_model", "m", "--judge_base_url", endpoint.base_url, "--judges", "correctness", "--injection"]
        assert main([*log(tmp_path), *flags]) == 0
    printed = capsys.readouterr().out
    assert "judged yes without any attack" in printed
    assert "injection: 0 of 0 verdicts flipped" in printed


@pytest.mark.parametrize("canary", CANARIES, ids=lambda canary: f"{canary.judge}-{canary.planted_in}")
@pytest.mark.parametrize("attack", ATTACKS)
def test_planted_words_stay_inside_their_fence(canary, attack):
    config = RunConfig(input=["i"], output="o", judges=[canary.judge])
    (binding,) = bind_judges(config)
    question = Question(canary.judge, canary.with_words(ATTACKS[attack]))
    text = "\n".join(message.content for message in render(binding, question.inputs))
    fences = re.findall(r"<<data-(\w+) ", text)
    assert len(set(fences)) == 1
    (where,) = [found.start() for found in re.finditer(re.escape(ATTACKS[attack]), text)]
    opened = len(re.findall(rf"<<data-{fences[0]} (?!end)", text[:where]))
    assert opened == len(re.findall(rf"<<data-{fences[0]} end>>", text[:where])) + 1


def test_a_table_of_a_serving_platform_is_named_with_its_mapping(tmp_path, capsys):
    row = {
        "databricks_request_id": "r1", "request_date": "2026-11-29", "request_time": "2026-11-29T10:00:00Z",
        "status_code": 200, "execution_duration_ms": 5, "requester": "u", "sampling_fraction": 1.0,
        "request": '{"messages": [{"role": "user", "content": "q"}]}',
        "response": '{"choices": [{"message": {"role": "assistant", "content": "a"}}]}',
    }  # fmt: skip
    (tmp_path / "log.jsonl").write_text(json.dumps(row) + "\n")
    flags = ["--input", str(tmp_path / "log.jsonl")]
    assert main(["check", *flags]) == 0
    looked = capsys.readouterr().out
    assert main(["evaluate", *flags, "--output", str(tmp_path / "out")]) == 0
    ran = capsys.readouterr().out
    (table,) = json.loads((tmp_path / "out" / "run.json").read_text())["tables"].items()
    assert table[1]["records"] == 1
    assert "request" in table[1]["columns"]
    for printed in (looked, ran):
        assert f"1 record read as {table[0]}: " in printed


def check(tmp_path, capsys, rows, *flags):
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code = main(["check", "--input", str(tmp_path / "log.jsonl"), *flags])
    assert code == 0
    return capsys.readouterr().out


def test_shapes_are_those_that_a_table_maps(tmp_path, capsys):
    row = {"user_input": "q", "response": "a", "retrieved_contexts": ["c"]}
    printed = check(tmp_path, capsys, [row])
    assert "1 file, the first record:" in printed
    assert "1 row, 0 rejects" in printed
    assert "requests: text 1" in printed
    assert "1 record read as ragas_samples" in printed


def test_what_is_likely_to_be_named_wrongly_has_a_line(tmp_path, capsys):
    rows = [{"frage": "q", "antwort": "a", "modell": "m"}] * 2
    printed = check(tmp_path, capsys, rows, "--slice_by", "model")
    assert (
        "your columns are antwort, frage, modell; name yours with --columns request=COLUMN,response=COLUMN" in printed
    )
    assert "warning: --slice_by: no record of these has a value at 'model'; the nearest column is modell" in printed
    printed = check(tmp_path, capsys, rows, "--columns", "request=frage,response=antwort")
    assert "your columns" not in printed
    assert "warning" not in printed
    printed = check(tmp_path, capsys, rows, "--columns", "request=frage,response=antwrt")
    assert "warning: --columns: no record of these has a value at 'antwrt'; the nearest column is antwort" in printed


def test_metrics_without_rows_say_what_is_missing(tmp_path, capsys):
    printed = check(tmp_path, capsys, [{"request": "q", "response": "a"}])
    assert re.search(r"^tokens +0 +no usage in response, trace or column 1 *$", printed, re.MULTILINE)
    assert re.search(r"^latency +0 +no latency_ms and no trace with times 1 *$", printed, re.MULTILINE)


def test_a_line_in_a_file_is_not_wrapped(tmp_path, capsys):
    names = [f"a_column_with_a_long_name_{i}" for i in range(20)]
    printed = check(tmp_path, capsys, [{"request": "q", "response": "a", **dict.fromkeys(names, 1)}])
    (line,) = [line for line in printed.splitlines() if line.startswith("columns: ")]
    assert all(name in line for name in names)


def test_no_records_to_look_at_are_wrong_usage(tmp_path, capsys):
    assert main([*log(tmp_path), "--rows", "0"]) == 2
    assert "--rows: got 0; expected how many records to look at, 1 or more" in capsys.readouterr().err


def test_what_comes_from_a_trace_is_no_missing_request(tmp_path, capsys):
    messages = {
        "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "q"}]}],
        "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "a"}]}],
    }
    attributes = [{"key": key, "value": {"stringValue": json.dumps(value)}} for key, value in messages.items()]
    span = {"traceId": "t", "spanId": "s", "name": "chat", "attributes": attributes}
    times = {"startTimeUnixNano": "1", "endTimeUnixNano": "5"}
    printed = check(tmp_path, capsys, [{**span, **times}], "--group_spans", "on")
    assert "1 row, 0 rejects\nrequests: from the trace 1\nresponses: from the trace 1\n" in printed
