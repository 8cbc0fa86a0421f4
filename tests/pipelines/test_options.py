"""Flags and file -> configuration: what is wrong is one line that names the place, the value and the fix."""

import os
import re

import pytest

from beamjudge.pipelines.flags import Parser, add_evaluate_flags
from beamjudge.pipelines.options import read_config
from beamjudge.schemas.errors import UsageError

MINIMAL = ["--input", "a.jsonl", "--output", "out"]


def configure(*argv, runner_flags=()):
    parser = Parser()
    add_evaluate_flags(parser)
    return read_config(parser.parse_args(list(argv)), runner_flags)


def write(tmp_path, text):
    path = tmp_path / "run.yaml"
    path.write_text(text)
    return str(path)


def test_flags_alone_judge_with_lexical_rules():
    launch = configure(*MINIMAL)
    assert launch.lexical_by_default
    assert launch.config.endpoints["default"].model == "lexical"
    assert launch.config.input == ["a.jsonl"]
    assert launch.config.gates.max_reject_rate == 0.05


def test_file_and_flags_make_one_configuration_and_a_flag_wins(tmp_path):
    path = write(
        tmp_path,
        """
input: [logs/*.jsonl]
output: eval/
columns: {request: prompt}
judges: [safety, groundedness]
metrics: [document_recall, tokens, latency, text, form]
global_guidelines: {english: [The response must be in English.]}
endpoints:
  default: {base_url: "https://llm.example/v1", model: small, parameters: {temperature: 0}, context_tokens: 128000,
            price_per_million: {input: 0.4, cached_input: 0.1, output: 1.6}, requests_per_minute: 3000}
  other: {model: bespoke-minicheck, base_url: "http://localhost:11434/v1"}
judge_settings:
  groundedness: {endpoint: other, protocol: minicheck}
slice_by: [model, locale]
sample_rate: 0.1
gates: {max_error_rate: 0.2, min_rows: 1, min_value: {response/llm_judged/safety/rating/percentage: 0.99}}
""",
    )
    config = configure("--config", path, "--judge_model", "large", "--min_rows", "7", "--min_value", "a=0.5").config
    assert config.endpoints["default"].model == "large"
    assert config.endpoints["default"].base_url == "https://llm.example/v1"
    assert config.endpoints["default"].price_per_million.cached_input == 0.1
    assert config.endpoint_of("groundedness").model == "bespoke-minicheck"
    assert config.protocol_of("groundedness", None).value == "minicheck"
    assert config.selected_judges() == ("groundedness", "safety")
    assert config.gates.min_rows == 7
    assert config.gates.max_error_rate == 0.2
    assert config.gates.min_value == {"response/llm_judged/safety/rating/percentage": 0.99, "a": 0.5}
    assert config.guidelines.named == (("english", ("The response must be in English.",)),)


@pytest.mark.parametrize(
    ("endpoints", "settings", "flags"),
    [
        ("{default: {model: lexical}}", "{groundedness: {protocol: minicheck}}", ()),
        (
            "{default: {model: m}, rules: {model: lexical}}",
            "{fact_check: {endpoint: rules, protocol: minicheck}}",
            (),
        ),
        # A flag that judges offline for once meets a protocol that was meant for a model.
        ("{default: {model: m}}", "{relevancy: {protocol: minicheck}}", ("--judge_model", "lexical")),
    ],
)
def test_rules_are_not_asked_as_minicheck_is(tmp_path, endpoints, settings, flags):
    path = write(tmp_path, f"input: a\noutput: b\nendpoints: {endpoints}\njudge_settings: {settings}\n")
    with pytest.raises(UsageError) as error:
        configure("--config", path, *flags)
    assert ".protocol: minicheck is how a model is asked" in str(error.value)
    assert "is lexical: its rules need no protocol" in str(error.value)
    assert "\n" not in str(error.value)
    other = settings.replace("minicheck", "yes_no")
    path = write(tmp_path, f"input: a\noutput: b\nendpoints: {endpoints}\njudge_settings: {other}\n")
    assert configure("--config", path, *flags).config.judge_settings


def test_document_recall_is_accepted_among_the_judges():
    config = configure(*MINIMAL, "--judges", "document_recall", "--metrics", "none").config
    assert config.selected_judges() == ()
    assert config.selected_metrics() == ("document_recall",)


@pytest.mark.parametrize("judges", ["[document_recall]", "none", "[none]", "[]"])
def test_a_file_without_judges_needs_no_model(tmp_path, judges):
    launch = configure("--config", write(tmp_path, f"input: a\noutput: b\njudges: {judges}"))
    assert launch.config.selected_judges() == ()
    assert not launch.lexical_by_default


def test_bare_on_and_off_are_no_booleans(tmp_path):
    text = "input: a\noutput: b\njudges: none\nstore_rationales: off\nreshuffle: on"
    config = configure("--config", write(tmp_path, text)).config
    assert (config.store_rationales, config.reshuffle) == ("off", "on")


def test_a_gate_of_the_wrong_kind_beside_its_flag(tmp_path):
    path = write(tmp_path, "input: a\noutput: b\njudges: none\ngates: {min_value: 3}")
    with pytest.raises(UsageError, match=r"gates.min_value: got a number in the config file; expected NAME: NUMBER"):
        configure("--config", path, "--min_value", "a=1")


def test_run_date_fills_input_and_output(tmp_path):
    config = configure(
        "--input", "logs/dt={run_date}/*.jsonl", "--output", "e/{run_date}", "--run_date", "2026-11-29"
    ).config
    assert config.input == ["logs/dt=2026-11-29/*.jsonl"]
    assert config.output == "e/2026-11-29"
    path = write(
        tmp_path, "input: a\noutput: 'e/{run_date}'\nrun_date: 2026-11-29\nendpoints: {default: {model: lexical}}"
    )
    assert configure("--config", path).config.output == "e/2026-11-29"


def test_the_run_id_covers_what_changes_tables_and_nothing_else():
    base = configure(*MINIMAL).config.run_id
    for same in (
        ["--min_rows", "3"],
        ["--max_concurrency", "2"],
        ["--output", "elsewhere"],
        ["--judge_processes", "4"],
    ):
        assert configure(*MINIMAL, *same).config.run_id == base
    for other in (["--judges", "safety"], ["--slice_by", "model"], ["--judge_model", "m"], ["--sample_rate", "0.5"]):
        assert configure(*MINIMAL, *other).config.run_id != base


def test_variables_are_filled_in_but_never_in_headers(tmp_path, monkeypatch):
    monkeypatch.setenv("HOST", "llm.example")
    monkeypatch.setenv("TOKEN", "very-secret")
    path = write(
        tmp_path,
        "input: a\noutput: b\nendpoints: {default: {model: m, base_url: 'http://${HOST}/', headers: {x: '${TOKEN}'}}}",
    )
    endpoint = configure("--config", path).config.endpoints["default"]
    assert endpoint.base_url == "http://llm.example/"
    assert endpoint.headers == {"x": "${TOKEN}"}


def test_variables_are_filled_in_at_any_depth_and_once(tmp_path, monkeypatch):
    monkeypatch.setenv("TEAM", "${OTHER}")
    path = write(
        tmp_path, "input: a\noutput: b\nendpoints: {default: {model: m, parameters: {metadata: {team: ['${TEAM}']}}}}"
    )
    endpoint = configure("--config", path).config.endpoints["default"]
    assert endpoint.parameters == {"metadata": {"team": ["${OTHER}"]}}


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--output", "o"], "--input is missing"),
        (["--input", "i"], "--output is missing"),
        (
            [*MINIMAL, "--judges", "safty"],
            "--judges: unknown judge 'safty'; expected none, or some of relevance_to_query",
        ),
        ([*MINIMAL, "--judges", "saftey"], "did you mean safety?"),
        ([*MINIMAL, "--judges", "safety,none"], "--judges: none stands alone; got safety, none"),
        ([*MINIMAL, "--columns", "prompt=request"], "did you mean request=prompt, our name first?"),
        ([*MINIMAL, "--metrics", "blue"], "--metrics: unknown metric 'blue'"),
        ([*MINIMAL, "--sample_rate", "2"], "--sample_rate: got 2.0; expected less than or equal to 1"),
        ([*MINIMAL, "--min_value", "a=nan"], "--min_value: got nan; expected a finite number"),
        ([*MINIMAL, "--max_record_mb", "inf"], "--max_record_mb: got inf; expected a finite number"),
        ([*MINIMAL, "--judge_timeout", "inf"], "--judge_timeout: got inf; expected a finite number"),
        ([*MINIMAL, "--judges", ""], "--judges: got ''; expected NAME[,NAME]"),
        ([*MINIMAL, "--judges", " , "], "--judges: got ' , '; expected NAME[,NAME]"),
        ([*MINIMAL, "--runner_option", "justname"], "--runner_option: got 'justname'; expected NAME=VALUE"),
        ([*MINIMAL, "--sample_rate", "x"], "--sample_rate: got 'x'; expected a number"),
        ([*MINIMAL, "--max_concurrency", "0"], "--max_concurrency: got 0; expected greater than 0"),
        (
            [*MINIMAL, "--judge_base_url", "http://a/v1"],
            "--judge_base_url or base_url is given without a model; add --judge_model NAME",
        ),
        (
            [*MINIMAL, "--judge_base_url", "a/v1", "--judge_model", "m"],
            "--judge_base_url: got 'a/v1'; expected http:// or https://",
        ),
        ([*MINIMAL, "--columns", "prompt"], "--columns: got 'prompt'; expected NAME=VALUE"),
        ([*MINIMAL, "--columns", "promt=x"], "--columns: unknown input column 'promt'"),
        ([*MINIMAL, "--min_value", "0.5"], "--min_value: got '0.5'; expected NAME=NUMBER"),
        ([*MINIMAL, "--slice_by", "a,a"], "--slice_by: a slice is named twice"),
        (
            [*MINIMAL, "--run_date", "soon"],
            "--run_date: got 'soon'; expected a day such as 2026-11-29, today or yesterday",
        ),
        (["--input", "{run_date}", "--output", "o"], "add --run_date"),
        ([*MINIMAL, "--run_date", "today", "--time_zone", "Mars"], "--time_zone: got 'Mars'"),
        ([*MINIMAL, "--config", "missing.yaml"], "--config: cannot read 'missing.yaml' (No such file or directory)"),
    ],
)
def test_wrong_flags_are_one_clear_line(argv, said):
    with pytest.raises(UsageError) as error:
        configure(*argv)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("input: a\noutput: b\njudges: none\ngates: {max_reject: 1}", "did you mean max_reject_rate?"),
        ("run_date: 2026-13-45", "is not valid YAML"),
        ("a: !!int x", "is not valid YAML"),
        ("columns: " + "[" * 3000, "is not valid YAML"),
        ('global_guidelines: ["\\ud800"]', "is not valid YAML"),
        ("input: ['']\noutput: b\njudges: none", "--input is missing"),
        ("- a", "holds a list; expected keys and values"),
        ("input: [", "is not valid YAML at line 1"),
        ("input: a\noutput: b\n", "no judge model; add"),
        (
            "input: a\noutput: b\nendpoints: {default: {model: m, headers: [a]}}",
            "endpoints.default.headers: got a list",
        ),
        ("input: a\noutput: b\nendpoints: {default: {model: m, headers: 3}}", "endpoints.default.headers: got 3"),
        (
            "input: a\noutput: b\nendpoints: {default: {model: m, parameters: {stop: 2026-11-30}}}",
            "stop holds a value that JSON does not have (date); expected text, numbers",
        ),
        (
            "input: a\noutput: b\nendpoints: {default: {model: m, parameters: {temperature: .nan}}}",
            "temperature holds a value that JSON does not have",
        ),
        ("input: a\noutput: b\nendpoints: {default: [m]}", "endpoints.default: got a list"),
        ("input: a\noutput: b\njudges: none\ngates: [min_rows]", "gates: got a list"),
        ("input: a\noutput: b\njudge: [safety]", "unknown key 'judge'; did you mean judges?"),
        ("input: a\noutput: b\nmin_rows: 3", "min_rows stands at the top level; expected it under gates"),
        ("input: a\noutput: b\nsample_rate: often\njudges: none", "sample_rate: got 'often'; expected a number"),
        ("input: 7\noutput: b\njudges: none", "input: got 7; expected a list"),
        ("input: a\noutput: b\nendpoints: 3", "endpoints: got a number; expected names with their settings"),
        (
            "input: a\noutput: b\nendpoints: {default: {model: m, modle: x}}",
            "endpoints.default.modle: unknown key; expected one of model, base_url, api_key",
        ),
        ("input: a\noutput: b\nendpoints: {default: {model: m, base_url: 'http://${NOPE}/'}}", "${NOPE} is not set"),
        (
            "input: a\noutput: b\nendpoints: {default: {model: m}}\njudge_settings: {safety: {endpoint: big}}",
            "judge_settings.safety.endpoint: no endpoint 'big'; endpoints has default",
        ),
        (
            "input: a\noutput: b\njudges: none\ngates: {min_rows: many}",
            "gates.min_rows: got 'many'; expected a whole number",
        ),
    ],
)
def test_a_wrong_file_is_one_clear_line_that_names_it(tmp_path, text, said):
    path = write(tmp_path, text)
    with pytest.raises(UsageError) as error:
        configure("--config", path)
    assert said in str(error.value)
    assert path in str(error.value) or "endpoints" in str(error.value) or "--input" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_pasted_key_is_refused_without_repeating_it():
    with pytest.raises(UsageError) as error:
        configure(*MINIMAL, "--judge_model", "m", "--judge_api_key", "sk-12345")
    assert "expected a reference: env:NAME" in str(error.value)
    assert "12345" not in str(error.value)


def test_parameters_with_numbers_as_keys_are_what_is_sent(tmp_path):
    path = write(
        tmp_path, "input: a\noutput: b\nendpoints: {default: {model: m, parameters: {logit_bias: {50256: -100}}}}"
    )
    config = configure("--config", path).config
    assert config.endpoints["default"].parameters == {"logit_bias": {"50256": -100}}
    assert len(config.run_id) == 16


def test_a_limit_per_minute_needs_the_number_of_processes_unless_the_runner_tells_it(tmp_path):
    path = write(tmp_path, "input: a\noutput: b\nendpoints: {default: {model: m, requests_per_minute: 60}}")
    assert configure("--config", path).config.judge_processes == 1
    flags = ["--direct_num_workers=3", "--direct_running_mode", "multi_processing"]
    assert configure("--config", path, runner_flags=flags).config.judge_processes == 3
    flags = ["--direct_num_workers", "0", "--direct_running_mode=multi_processing"]
    assert configure("--config", path, runner_flags=flags).config.judge_processes == os.cpu_count()
    with pytest.raises(UsageError, match=re.escape("add --judge_processes N")):
        configure("--config", path, "--runner", "FlinkRunner")


def test_the_application_under_test_is_an_endpoint_whose_flags_win(tmp_path):
    path = write(
        tmp_path,
        """
endpoints:
  default: {model: lexical}
  app: {model: agent, base_url: "http://old.example/v1", headers: {X-Team: a}, requests_per_minute: 60}
""",
    )
    flags = ["--app_base_url", "http://new.example/v1", "--app_api_key", "env:AGENT_KEY"]
    app = configure(*MINIMAL, "--config", path, *flags).config.app
    assert app is not None
    assert (app.model, app.base_url, app.api_key) == ("agent", "http://new.example/v1", "env:AGENT_KEY")
    assert (app.headers, app.requests_per_minute) == ({"X-Team": "a"}, 60)
    assert configure(*MINIMAL).config.app is None


def test_what_the_application_is_changes_the_run_and_how_it_is_reached_does_not():
    def run_id(*flags):
        return configure(*MINIMAL, *flags).config.run_id

    ids = [run_id(), run_id("--app_model", "a"), run_id("--app_model", "b"),
           run_id("--app_model", "a", "--app_base_url", "http://x/v1")]  # fmt: skip
    assert len(set(ids)) == 4
    assert run_id("--app_model", "a", "--app_api_key", "env:OTHER") == ids[1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("app: {base_url: 'http://x/v1'}", r"endpoints\.app is given without a model; add --app_model NAME"),
        ("app: {model: lexical}", r"endpoints\.app\.model: lexical are rules that judge and cannot answer"),
        ("app: {model: a, context_tokens: 5}", r"endpoints\.app\.context_tokens: .* never cut; remove it"),
        ("app: {model: a, api_key: sk-1}", r"endpoints\.app\.api_key: expected a reference"),
    ],
)
def test_an_application_that_cannot_answer_is_refused(tmp_path, text, said):
    path = write(tmp_path, f"endpoints:\n  default: {{model: lexical}}\n  {text}\n")
    with pytest.raises(UsageError, match=said) as refused:
        configure(*MINIMAL, "--config", path)
    assert "sk-1" not in str(refused.value)


def test_no_judge_is_asked_at_the_application(tmp_path):
    text = "endpoints: {default: {model: lexical}, app: {model: a}}\njudge_settings: {safety: {endpoint: app}}\n"
    with pytest.raises(UsageError, match="app is the application under test and no judge"):
        configure(*MINIMAL, "--config", write(tmp_path, text))
    with pytest.raises(UsageError, match="add --app_model NAME"):
        configure(*MINIMAL, "--app_base_url", "http://x/v1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("global_guidelines: {a: 2026-11-29}", r"global_guidelines\.a: got a date; expected a list"),
        ("time_zone: Nowhere/Here", "--time_zone: got 'Nowhere/Here'; expected a zone's name"),
        ("min: 1\nmin: 2", "the key 'min' is given twice, again at line 5; expected each key once"),
        ("gates: {min_rows: 1, min_rows: 2}", "the key 'min_rows' is given twice, again at line 4"),
    ],
)
def test_values_that_cannot_be_meant(tmp_path, text, said):
    with pytest.raises(UsageError, match=said):
        configure("--config", write(tmp_path, f"input: a\noutput: b\njudges: none\n{text}\n"))
