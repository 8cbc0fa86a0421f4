"""Whole runs in which an application under test answers the rows that have no response, over a real socket."""

import json
import threading

import pyarrow.parquet as pq
import pytest
from direct import differences, expected_metrics, read_metrics, read_rows
from fake_endpoint import Answer, Completion, FakeEndpoint, Hang, Held, error
from judge_harness import AT_ONCE

from beamjudge.pipelines.cli import main
from beamjudge.transforms.judging import client as client_module

KEY = "sk-do-not-tell"
NO_SPEND = {
    "calls": 0,
    "input_tokens": 0,
    "cached_input_tokens": 0,
    "output_tokens": 0,
    "reasoning_tokens": 0,
    "cost_usd": 0.0,
}


@pytest.fixture
def app(monkeypatch):
    monkeypatch.setenv("APP_KEY", KEY)
    monkeypatch.setattr(client_module, "RetryPolicy", lambda: AT_ONCE)
    with FakeEndpoint() as running:
        running.respond = lambda request: Completion(f"Answer to {request.text}")
        yield running


@pytest.fixture
def judge():
    with FakeEndpoint() as running:
        yield running


def questions(count, **fields):
    return [{"request_id": f"r{i}", "request": f"Question {i}?", **fields} for i in range(count)]


def flags(tmp_path, app, rows, *more, command="evaluate"):
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    output = ["--output", str(tmp_path / "out"), "--quiet"] if command == "evaluate" else []
    return [
        command, "--input", str(tmp_path / "log.jsonl"), *output, "--app_model", "agent", "--app_base_url",
        app.base_url, "--app_api_key", "env:APP_KEY", *more,
    ]  # fmt: skip


def judged_by(judge):
    return ["--judge_model", "judge-1", "--judge_base_url", judge.base_url]


def by_id(tmp_path):
    return {row["request_id"]: row for row in read_rows(tmp_path / "out")}


def run_json(tmp_path):
    return json.loads((tmp_path / "out" / "run.json").read_text())


def everything_written(folder):
    return "".join(path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file())


def test_rows_without_a_response_are_answered_then_judged_and_asked_about_once(tmp_path, app, judge, capsys):
    rows = [*questions(6), {"request_id": "own", "request": "Question 0?", "response": "My own."}]
    run = flags(tmp_path, app, rows, *judged_by(judge), "--judges", "relevance_to_query,safety")
    assert main(run) == 0
    found = by_id(tmp_path)
    for i in range(6):
        row = found[f"r{i}"]
        assert row["response_text"] == f"Answer to Question {i}?"
        assert json.loads(row["response"])["choices"][0]["message"]["content"] == row["response_text"]
        assert row["notes"] == ["answered_by_app"]
        assert row["agent/error_message"] is None
        assert (row["agent/input_token_count"], row["agent/output_token_count"]) == (100, 20)
        assert row["agent/latency_seconds"] > 0
        assert row["response/llm_judged/safety/rating"] == "yes"
    assert (found["own"]["response_text"], found["own"]["notes"]) == ("My own.", [])
    assert sorted(request.text for request in app.requests) == [f"Question {i}?" for i in range(6)]
    assert {request.path for request in app.requests} == {"/v1/chat/completions"}
    assert {request.headers["authorization"] for request in app.requests} == {f"Bearer {KEY}"}
    assert app.requests[0].body.keys() == {"messages", "model"}
    assert len(judge.requests) == 14
    assert sum("Answer to Question 3?" in request.text for request in judge.requests) == 2
    for metric, told in expected_metrics(read_rows(tmp_path / "out")).items():
        assert differences(read_metrics(tmp_path / "out")["overall", metric], told) == {}, metric
    record = run_json(tmp_path)
    spent = {
        "calls": 6,
        "input_tokens": 600,
        "cached_input_tokens": 0,
        "output_tokens": 120,
        "reasoning_tokens": 0,
        "cost_usd": None,
    }
    assert record["app"] == {
        "model": "agent", "base_url": app.base_url, "hash": record["app"]["hash"],
        "answers": {"given": 6, "failed": 0}, "spent": spent, "reused": NO_SPEND, "wasted": NO_SPEND,
    }  # fmt: skip
    assert record["notes"] == {"answered_by_app": 6}
    assert KEY not in everything_written(tmp_path / "out") + capsys.readouterr().err
    # The same run over a changed input asks for what is new and nothing else.
    rows.append({"request_id": "new", "request": "Question 6?"})
    assert main(flags(tmp_path, app, rows, *judged_by(judge), "--judges", "relevance_to_query,safety")) == 0
    assert [request.text for request in app.requests[6:]] == ["Question 6?"]
    assert len(judge.requests) == 16
    again = run_json(tmp_path)["app"]
    assert (again["spent"]["calls"], again["reused"]) == (1, spent)
    assert {k: by_id(tmp_path)["r2"][k] for k in found["r2"]} == found["r2"]


def test_rows_with_a_response_or_a_trace_are_not_asked_about_and_an_unused_application_may_be_away(tmp_path):
    with FakeEndpoint() as closed:
        pass
    spans = [{"span_id": "r", "parent_id": None, "attributes": {"mlflow.spanInputs": '"q"'}}]
    rows = [
        {"request_id": "a", "request": "q", "response": ""},
        {"request_id": "b", "request": "q", "trace": {"info": {"trace_id": "tr-1"}, "data": {"spans": spans}},
         "retrieved_context": ["c"], "expected_response": "e"},
    ]  # fmt: skip
    run = flags(tmp_path, closed, rows)
    del run[-2:]  # the key
    assert main(run) == 0
    found = by_id(tmp_path)
    assert (found["a"]["response_text"], found["b"]["response_text"]) == ("", None)
    assert found["b"]["agent/error_message"] is None
    assert run_json(tmp_path)["app"]["answers"] == {"given": 0, "failed": 0}
    assert all(gate["name"] != "max_error_rate:(app)" for gate in run_json(tmp_path)["gates"])


def test_a_row_that_the_application_fails_on_has_an_error_and_no_response(tmp_path, app, capsys):
    refusals = {
        "Question 0?": error(400, message="Zanzibar is not known"),
        "Question 1?": error(500),
        "Question 2?": Answer(200, {"response": None, "usage": {"prompt_tokens": 7, "completion_tokens": 1}}),
    }
    app.respond = lambda request: refusals.get(request.text, Completion("Fine."))
    context = [{"doc_uri": "a", "content": "Question chunk."}]
    rows = questions(4, retrieved_context=context, expected_retrieved_context=[{"doc_uri": "a"}])
    assert main(flags(tmp_path, app, rows)) == 3
    assert "gate max_error_rate:(app) failed: 0.75, limit 0.05" in capsys.readouterr().err
    found = by_id(tmp_path)
    assert [found[f"r{i}"]["agent/error_message"] for i in range(4)] == [
        "http_400: the endpoint rejected the request (some_error)",
        "http_500: server error after 6 attempts",
        "invalid_reply: no response",
        None,
    ]
    for i in range(3):
        row = found[f"r{i}"]
        assert (row["response"], row["response_text"], row["agent/latency_seconds"]) == (None, None, None)
        assert row["response/llm_judged/safety/rating"] is None
        assert row["response/llm_judged/safety/error_message"] is None, "not applicable, and no error of the judge"
        assert row["retrieval/llm_judged/chunk_relevance/ratings"] is not None
        assert row["retrieval/ground_truth/document_recall"] == 1.0
    safety = read_metrics(tmp_path / "out")["overall", "response/llm_judged/safety/rating/percentage"]
    assert (safety["n_scored"], safety["n_not_applicable"], safety["n_error"]) == (1, 3, 0)
    record = run_json(tmp_path)["app"]
    assert record["answers"] == {"given": 1, "failed": 3}
    assert (record["spent"]["calls"], record["wasted"]["calls"], record["wasted"]["input_tokens"]) == (1, 1, 7)
    assert "Zanzibar" not in everything_written(tmp_path / "out")
    # A re-run asks again for what failed, and only for that.
    app.respond = lambda request: Completion("Fine now.")
    asked = len(app.requests)
    (tmp_path / "out" / "run.json").unlink()
    assert main(flags(tmp_path, app, rows)) == 0
    assert sorted(request.text for request in app.requests[asked:]) == [f"Question {i}?" for i in range(3)]


@pytest.mark.parametrize(("answer", "said"), [(error(401), "--app_api_key"), (error(404), "--app_base_url")])
def test_an_application_that_refuses_from_the_start_fails_the_run_in_one_line(tmp_path, app, capsys, answer, said):
    app.respond = lambda request: answer
    assert main(flags(tmp_path, app, questions(5))) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"beamjudge: the run failed: endpoint app ({app.base_url}, model agent) ")
    assert said in line
    assert KEY not in line
    assert not (tmp_path / "out" / "run.json").exists()


def test_an_application_that_nobody_serves_fails_the_run_in_one_line(tmp_path, app, capsys):
    with FakeEndpoint() as closed:
        pass
    assert main(flags(tmp_path, closed, questions(2))) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "cannot be reached" in line
    assert "--app_base_url" in line


@pytest.mark.parametrize(
    ("answer", "reason"), [(error(401), "unauthorized"), (error(429, "insufficient_quota"), "quota")]
)
def test_an_application_that_refuses_in_the_middle_stops_the_run_and_the_next_one_goes_on(
    tmp_path, app, answer, reason
):
    app.script(Completion("One."), Completion("Two."))
    app.respond = lambda request: answer
    run = flags(tmp_path, app, questions(5), "--max_concurrency", "1")
    assert main(run) == 4
    found = by_id(tmp_path)
    messages = [row["agent/error_message"] for row in found.values()]
    assert sorted(map(str, messages)) == ["None", "None", *[f"stopped:{reason}"] * 3]
    assert run_json(tmp_path)["status"] == "stopped"
    assert len(app.requests) == 3, "the first refusal is the last call"
    app.respond = lambda request: Completion("Later.")
    assert main(run) == 0
    assert len(app.bill.requests) == 5, "each answer was paid for once"
    assert (run_json(tmp_path)["app"]["spent"]["calls"], run_json(tmp_path)["app"]["reused"]["calls"]) == (3, 2)


def test_equal_requests_are_one_call_and_logged_objects_are_sent_as_they_are(tmp_path, app):
    chat = {"messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "q"}], "seed": 1}
    rows = [
        *({"request_id": f"s{i}", "request": "Same?"} for i in range(20)),
        {"request_id": "chat", "request": {**chat, "model": "logged", "stream": True}},
        {"request_id": "text", "request": json.dumps(chat)},
        {"request_id": "list", "request": chat["messages"]},
        {"request_id": "other", "request": {"question": "q", "top": 3}},
        {"request_id": "batch", "request": {"dataframe_records": [{"query": "a"}, {"query": "b"}]}},
    ]
    app.respond = lambda request: Completion("A.")
    assert main(flags(tmp_path, app, rows, "--judges", "none")) == 0
    sent = sorted((request.body for request in app.requests), key=str)
    assert sent == sorted(
        [
            {"messages": [{"role": "user", "content": "Same?"}], "model": "agent"},
            {**chat, "model": "agent"},
            {"messages": chat["messages"], "model": "agent"},
            {"question": "q", "top": 3, "model": "agent"},
            {"query": "a", "model": "agent"},
            {"query": "b", "model": "agent"},
        ],
        key=str,
    )
    assert {row["response_text"] for row in read_rows(tmp_path / "out")} == {"A."}
    assert len(by_id(tmp_path)) == 26
    spend = run_json(tmp_path)["app"]
    assert (spend["spent"]["calls"], spend["reused"]["calls"]) == (6, 20)


def test_what_the_application_retrieved_is_judged_and_what_the_row_has_stays(tmp_path, app, judge):
    reply = {
        "response": "The tram.",
        "retrieved_context": [{"doc_uri": "found", "content": "Take the tram."}],
        "usage": {"input_tokens": 11, "output_tokens": 2},
    }
    app.respond = lambda request: Answer(200, reply)
    rows = [
        {"request_id": "a", "request": "How?", "expected_retrieved_context": [{"doc_uri": "found"}]},
        {"request_id": "b", "request": "How, then?", "retrieved_context": ["Logged chunk."], "latency_ms": 250,
         "usage": {"input_tokens": 1, "output_tokens": 1}},
    ]  # fmt: skip
    assert main(flags(tmp_path, app, rows, *judged_by(judge), "--judges", "groundedness,chunk_relevance")) == 0
    found = by_id(tmp_path)
    assert found["a"]["retrieved_context"] == [{"doc_uri": "found", "content": "Take the tram."}]
    assert found["a"]["retrieval/llm_judged/chunk_relevance/ratings"] == ["yes"]
    assert found["a"]["response/llm_judged/groundedness/rating"] == "yes"
    assert found["a"]["retrieval/ground_truth/document_recall"] == 1.0
    assert found["a"]["agent/total_token_count"] == 13
    assert sum("Take the tram." in request.text for request in judge.requests) == 2
    assert [chunk["content"] for chunk in found["b"]["retrieved_context"]] == ["Logged chunk."]
    assert (found["b"]["agent/total_token_count"], found["b"]["agent/latency_seconds"]) == (2, 0.25)


def test_the_trace_in_a_databricks_reply_is_read(tmp_path, app):
    retrieved = [{"page_content": "From the trace.", "metadata": {"doc_uri": "t"}}]
    spans = [
        {"span_id": "r", "parent_id": None, "attributes": {"mlflow.spanInputs": '"q"', "mlflow.spanOutputs": '"a"'}},
        {"span_id": "s", "parent_id": "r", "attributes": {
            "mlflow.spanType": '"RETRIEVER"', "mlflow.spanOutputs": json.dumps(retrieved)}},
    ]  # fmt: skip
    trace = {"info": {"trace_id": "tr-1", "execution_duration_ms": 1500}, "data": {"spans": spans}}
    app.respond = lambda request: Completion("Said.", extra={"databricks_output": {"trace": trace}})
    assert main(flags(tmp_path, app, questions(1))) == 0
    row = by_id(tmp_path)["r0"]
    assert row["response_text"] == "Said."
    assert row["retrieved_context"] == [{"doc_uri": "t", "content": "From the trace."}]
    assert row["agent/latency_seconds"] == 1.5
    assert row["notes"] == ["answered_by_app", "context_from_trace"]


def test_a_slow_answer_delays_no_other_row(tmp_path, app):
    """The first row is held until all others are answered; with 2 slots and a window of 4 rows it is not the end."""
    others = threading.Event()

    def respond(request):
        if request.text == "Question 0?":
            return Held(others, Completion("Late."))
        if len(app.requests) == 30:
            others.set()
        return Completion("Soon.")

    app.respond = respond
    assert main(flags(tmp_path, app, questions(30), "--max_concurrency", "2", "--judges", "none")) == 0
    assert by_id(tmp_path)["r0"]["response_text"] == "Late."
    assert app.max_in_flight <= 2


def test_a_repeated_bundle_pays_once(tmp_path, app):
    assert main(flags(tmp_path, app, questions(10), "--direct_runner_bundle_repeat=1")) == 0
    assert len(app.bill.requests) == 10
    assert len(by_id(tmp_path)) == 10


def test_text_that_is_not_stored_is_in_no_file(tmp_path, app):
    app.respond = lambda request: Completion("Zanzibar")
    run = flags(tmp_path, app, questions(3), "--store_text", "none", "--store_rationales", "off")
    assert main(run) == 0
    tables = list((tmp_path / "out").rglob("*.parquet"))
    assert "Zanzibar" not in "".join(str(pq.read_table(path).to_pylist()) for path in tables)
    assert by_id(tmp_path)["r1"]["response/llm_judged/safety/rating"] == "yes"
    assert by_id(tmp_path)["r1"]["response/text/characters"] == 8


def test_another_model_is_another_run_and_asks_anew(tmp_path, app, capsys):
    run = flags(tmp_path, app, questions(2), "--judges", "none")
    assert main(run) == 0
    first = run_json(tmp_path)["run_id"]
    run[run.index("agent")] = "agent-2"
    assert main(run) == 2
    assert main([*run, "--overwrite"]) == 0
    assert run_json(tmp_path)["run_id"] != first
    assert [request.body["model"] for request in app.requests] == ["agent", "agent", "agent-2", "agent-2"]


def test_caps_foresee_the_answers_and_leave_the_application_alone(tmp_path, app, judge):
    run = flags(tmp_path, app, questions(40), *judged_by(judge), "--judges", "safety", "--max_judge_calls", "7")
    assert main(run) == 0
    assert (len(app.requests), len(judge.requests)) == (40, 7)
    assert sum(row["sampled"] for row in read_rows(tmp_path / "out")) == 7


@pytest.mark.parametrize(("cap", "value"), [("max_judge_calls", "7"), ("max_cost_usd", "0.5")])
def test_caps_that_documents_of_the_application_could_break_are_refused(tmp_path, app, judge, capsys, cap, value):
    (tmp_path / "price.yaml").write_text("endpoints: {default: {price_per_million: {input: 1, output: 1}}}")
    run = flags(tmp_path, app, questions(3), *judged_by(judge), "--config", str(tmp_path / "price.yaml"))
    assert main([*run, "--judges", "safety,chunk_relevance", f"--{cap}", value]) == 2
    said = capsys.readouterr().err
    assert f"--{cap} cannot be kept with --app_model and chunk_relevance: the documents that" in said
    assert len(said.splitlines()) == 1
    assert app.requests == judge.requests == []


def test_a_cap_on_cost_needs_to_know_how_long_answers_are(tmp_path, app, judge, capsys):
    (tmp_path / "price.yaml").write_text("endpoints: {default: {price_per_million: {input: 1, output: 1}}}")
    run = flags(tmp_path, app, questions(3), *judged_by(judge), "--judges", "safety", "--max_cost_usd", "5")
    assert main([*run, "--config", str(tmp_path / "price.yaml")]) == 2
    assert "add endpoints.app.parameters: {max_tokens: N}" in capsys.readouterr().err
    (tmp_path / "long.yaml").write_text(
        "endpoints: {default: {price_per_million: {input: 1, output: 1}}, app: {parameters: {max_tokens: 50}}}"
    )
    assert main([*run, "--config", str(tmp_path / "long.yaml")]) == 0
    assert len(judge.requests) == 3


def test_the_estimate_shows_the_application_and_the_judges_of_its_answers(tmp_path, app, judge, capsys):
    run = flags(tmp_path, app, questions(5), *judged_by(judge), "--judges", "safety", "--estimate")
    assert main(run) == 0
    assert app.requests == judge.requests == []
    lines = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines() if line}
    assert lines["application"][:3] == ["agent", "5", "5"]
    assert lines["safety"][:3] == ["judge-1", "5", "5"]
    assert lines["all"][:2] == ["5", "10"]


def test_check_says_how_many_rows_the_application_would_answer_and_asks_it(tmp_path, app, capsys):
    rows = [*questions(3), {"request": "q", "response": "a"}]
    assert main(flags(tmp_path, app, rows, "--judges", "safety", command="check")) == 0
    printed = capsys.readouterr().out
    assert f"3 rows without a response, which the application agent at {app.base_url} would answer" in printed
    assert "endpoint app (agent): the application answers" in printed
    assert next(line.split() for line in printed.splitlines() if line.startswith("safety")) == ["safety", "4"]
    app.respond = lambda request: error(401)
    assert main(flags(tmp_path, app, rows, "--judges", "safety", command="check")) == 1
    assert "endpoint app (agent): endpoint app" in capsys.readouterr().out


def test_a_run_that_is_complete_is_not_run_again(tmp_path, app, capsys):
    run = flags(tmp_path, app, questions(2), "--judges", "none")
    assert main(run) == 0
    app.respond = lambda request: Hang()
    assert main(run) == 0
    assert len(app.requests) == 2


def test_runs_with_different_applications_are_not_merged(tmp_path, app, capsys):
    folders = []
    for number, model in enumerate(("agent", "agent-2")):
        folder = tmp_path / str(number)
        folder.mkdir()
        run = flags(folder, app, questions(2), "--judges", "none")
        run[run.index("agent")] = model
        assert main(run) == 0
        folders.append(str(folder / "out"))
    merge = ["merge", *folders, "--output", str(tmp_path / "both"), "--quiet"]
    assert main(merge) == 2
    assert "the application under test is not the same" in capsys.readouterr().err
    assert main([*merge, "--allow_different_judges"]) == 0
    record = json.loads((tmp_path / "both" / "run.json").read_text())
    assert record["app"]["answers"] == {"given": 4, "failed": 0}


@pytest.mark.parametrize("asks_first", [True, False])
def test_a_run_with_an_application_and_one_without_merge_in_any_order(tmp_path, app, asks_first):
    (tmp_path / "logged").mkdir()
    log = tmp_path / "logged" / "log.jsonl"
    log.write_text(json.dumps({"request": "q", "response": "a"}) + "\n")
    logged = str(tmp_path / "logged" / "out")
    plain = ["evaluate", "--input", str(log), "--output", logged, "--judges", "none", "--quiet"]
    assert main(plain) == 0
    assert main(flags(tmp_path, app, questions(2), "--judges", "none")) == 0
    folders = [str(tmp_path / "out"), logged][:: 1 if asks_first else -1]
    merge = ["merge", *folders, "--output", str(tmp_path / "both"), "--allow_different_judges", "--quiet"]
    assert main(merge) == 0
    record = json.loads((tmp_path / "both" / "run.json").read_text())
    assert record["app"]["answers"] == {"given": 2, "failed": 0}
    assert record["app"]["spent"]["calls"] == 2
