"""What the metrics' flags and keys may say, and the one line that tells what is wrong with them."""

import re

import pytest

from beamjudge.pipelines.flags import Parser, add_evaluate_flags
from beamjudge.pipelines.options import read_config
from beamjudge.schemas.errors import UsageError

_MINIMAL = ("--input", "a.jsonl", "--output", "out")


def _config(*argv):
    parser = Parser()
    add_evaluate_flags(parser)
    return read_config(parser.parse_args([*_MINIMAL, *argv]), ()).config


def _from_file(tmp_path, text):
    path = tmp_path / "run.yaml"
    path.write_text(f"judges: [none]\n{text}")
    return _config("--config", str(path))


def test_defaults():
    config = _config()
    assert config.retrieval_k == [1, 3, 5, 10]
    assert config.text_tokenizer == "auto"
    assert config.rouge_stemmer is False
    assert config.rules == []


def test_flags():
    config = _config("--retrieval_k", "20, 5", "--text_tokenizer", "zh", "--rouge_stemmer", "--metrics", "ter,form")
    assert config.retrieval_k == [5, 20]
    assert config.text_tokenizer == "zh"
    assert config.rouge_stemmer is True
    assert config.selected_metrics() == ("ter", "length", "is_refusal", "is_json", "language")


def test_keys(tmp_path):
    config = _from_file(
        tmp_path,
        """
retrieval_k: 4
text_tokenizer: rouge
rules:
  - {name: has_link, contains: "https://"}
  - {name: polite, regex: '(?i)\\b(please|thank)'}
  - {name: order, json_schema: {type: object, required: [id]}}
  - {name: short, max_length: 280}
""",
    )
    assert config.retrieval_k == [4]
    assert [rule.name for rule in config.rules] == ["has_link", "polite", "order", "short"]
    assert config.rules[2].json_schema == {"type": "object", "required": ["id"]}


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--retrieval_k", "0"], "--retrieval_k: got 0; expected"),
        (["--retrieval_k", "a"], "retrieval_k: got 'a'; expected a whole number"),
        (["--retrieval_k", "3,3"], "--retrieval_k: a rank is given twice"),
        (["--text_tokenizer", "13A"], "text_tokenizer: got '13A'; expected one of auto, 13a, .*; did you mean 13a?"),
        (
            ["--metrics", "ndcg_at_7"],
            r"metrics: ndcg_at_7 is at a rank that is not in retrieval_k \(1, 3, 5, 10\); add it",
        ),
        (["--metrics", "ndcg_at_0"], "--metrics: unknown metric 'ndcg_at_0'; expected none, or some of .*ndcg_at_k"),
        (["--metrics", "none,words"], "--metrics: none stands alone; got none, words"),
        (["--metrics", "rogue"], "--metrics: unknown metric 'rogue'; expected none, or some of .*rouge"),
    ],
)
def test_wrong_flags(argv, message):
    with pytest.raises(UsageError) as caught:
        _config(*argv)
    assert re.search(message.replace("?", r"\?"), str(caught.value))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rules: {name: a, contains: x}", "run.yaml: rules: got an object; expected a list"),
        ("rules: [a]", "run.yaml: rules.0: got 'a'; expected keys with their values"),
        ("rules: [{contains: x}]", "run.yaml: rules.0.name: is missing; add it"),
        ("rules: [{name: a}]", "run.yaml: rules.0: a has no condition; expected exactly one of contains, regex"),
        ("rules: [{name: A, contains: x}]", "run.yaml: rules.0.name: got 'A'; expected lower-case letters"),
        ("rules: [{name: a, contain: x}]", "run.yaml: rules.0.contain: unknown key; .*; did you mean contains?"),
        ("rules: [{name: a, contains: 5}]", "run.yaml: rules.0.contains: got 5; expected a text"),
        ("rules: [{name: a, max_length: 1.5}]", "run.yaml: rules.0.max_length: got 1.5; expected a"),
        (
            "rules: [{name: a, regex: '(?=x)'}]",
            r"run.yaml: rules.0.regex: got '\(\?=x\)'; expected a regular expression",
        ),
        ("rules: [{name: a, json_schema: {type: 5}}]", "run.yaml: rules.0.json_schema: is no JSON schema: 5 is not"),
        (
            "rules: [{name: a, json_schema: {const: 2026-11-29}}]",
            "run.yaml: rules.0.json_schema: holds a value that JSON",
        ),
        (
            "rules: [{name: a, max_length: 1}, {name: a, max_length: 2}]",
            "run.yaml: rules: two rules are named a; expected a name of its own for each",
        ),
        ("retrieval_k: []", "run.yaml: retrieval_k: "),
        ("rouge_stemmer: 1", "run.yaml: rouge_stemmer: got 1; expected true or false"),
    ],
)
def test_wrong_keys(tmp_path, text, message):
    with pytest.raises(UsageError) as caught:
        _from_file(tmp_path, text)
    assert re.search(message if "\\" in message else message.replace("?", r"\?"), str(caught.value))
    assert "\n" not in str(caught.value)


def test_what_changes_tables_changes_the_run():
    assert len({_config(*argv).run_id for argv in ([], ["--retrieval_k", "2"], ["--rouge_stemmer"])}) == 3
    assert _config().run_id != _config("--text_tokenizer", "rouge").run_id
    assert _config().run_id == _config("--retrieval_k", "10,5,3,1").run_id
