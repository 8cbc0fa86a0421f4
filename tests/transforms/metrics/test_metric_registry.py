"""Which families a configuration selects, and what holds for every one of them."""

import dataclasses
import pickle

import pytest

from beamjudge.schemas.metric import ColumnType, MetricKind
from beamjudge.schemas.row import TokenUsage
from beamjudge.schemas.rules import Rule
from beamjudge.schemas.run_config import METRIC_GROUPS, METRIC_NAMES, RunConfig
from beamjudge.transforms.metrics.registry import CORPUS_SCORERS, applies, metric_families

_TYPES = {
    ColumnType.FLOAT: float,
    ColumnType.INTEGER: int,
    ColumnType.BOOLEAN: bool,
    ColumnType.STRING: str,
}


_RULES = [Rule(name="short", max_length=3), Rule(name="has_link", regex="https?://")]


def _families(metrics=None, judges=None, **settings):
    return metric_families(RunConfig(input=["log.jsonl"], output="out", metrics=metrics, judges=judges, **settings))


def _names(metrics, judges=None):
    return [family.name for family in _families(metrics, judges)]


def test_all_but_ter_by_default():
    assert _names(None) == [*(name for name in METRIC_NAMES if name != "ter"), "tokenizer"]
    assert {family.name for family in _families([*METRIC_GROUPS, "ter"])} == {*METRIC_NAMES, "tokenizer"}


def test_families_are_in_the_order_of_their_names():
    assert _names([*METRIC_GROUPS, "ter"]) == [*METRIC_NAMES, "tokenizer"]


@pytest.mark.parametrize(
    ("metrics", "judges", "names"),
    [
        (["none"], None, []),
        (["none"], ["document_recall"], ["document_recall"]),
        (["text"], None, [*(name for name in METRIC_GROUPS["text"] if name != "ter"), "tokenizer"]),
        (["ter"], None, ["ter", "tokenizer"]),
        (["mrr", "precision_at_k"], None, ["precision_at_k", "mrr"]),
        (["rouge"], None, ["rouge", "tokenizer"]),
        (["form", "latency"], None, ["latency", "length", "is_refusal", "is_json", "language"]),
    ],
)
def test_groups_and_names(metrics, judges, names):
    assert _names(metrics, judges) == names


def test_columns_are_unique_and_typed_as_computed(make_row):
    sentence = "Das ist ein ganz gewöhnlicher Satz auf Deutsch."
    full = make_row(sentence, "Ein Satz.", ["a"], ["a"], TokenUsage(1, 2, 3), 0.5)
    full = dataclasses.replace(full, request_text=sentence)
    seen = set()
    for family in _families([*METRIC_GROUPS, "ter"], rules=_RULES):
        for row in (full, make_row()):
            values = family.compute(row)
            corpora = {spec.key for spec in family.specs if spec.kind is MetricKind.CORPUS}
            assert set(values) == {column.name for column in family.columns} | corpora
        for column in family.columns:
            assert column.name not in seen
            seen.add(column.name)
            assert type(family.compute(full)[column.name]) is _TYPES[column.type]
            assert family.compute(make_row())[column.name] is None


def test_every_metric_is_observed_under_a_value_of_its_family():
    for family in _families([*METRIC_GROUPS, "ter"], rules=_RULES):
        columns = {column.name for column in family.columns}
        for spec in family.specs:
            assert spec.judge is None
            if spec.kind is MetricKind.CORPUS:
                assert spec.scorer in CORPUS_SCORERS
            else:
                assert spec.key in columns


def test_rules_run_wherever_metrics_do():
    assert [family.name for family in _families(["latency"], rules=_RULES)] == ["latency", "rules"]
    assert _families(["none"], rules=_RULES) == ()
    assert [column.name for column in _families(["latency"], rules=_RULES)[1].columns] == [
        "response/rule/short",
        "response/rule/has_link",
    ]


@pytest.mark.parametrize(
    ("metrics", "columns"),
    [
        (["rougeL", "rouge2"], ["response/text/rouge2", "response/text/rougeL", "response/text/tokenizer"]),
        (["words"], ["response/text/words"]),
        (["language_matches_request"], ["response/text/language_matches_request"]),
        (["output_token_count", "latency_seconds"], ["agent/output_token_count", "agent/latency_seconds"]),
        (
            ["ndcg_at_5", "ndcg_at_1", "mrr"],
            [f"retrieval/ground_truth/{name}" for name in ("ndcg_at_1", "ndcg_at_5", "mrr")],
        ),
        (["length", "words"], [f"response/text/{name}" for name in ("characters", "words", "sentences", "is_empty")]),
    ],
)
def test_single_columns_may_be_named(make_row, metrics, columns):
    families = _families(metrics)
    assert [column.name for family in families for column in family.columns] == columns
    keys = [spec.key for family in families for spec in family.specs]
    assert keys == [name for name in columns if not name.endswith("tokenizer")]
    for family in families:
        assert {name.rpartition("/")[0] for name in family.signatures} <= set(columns)
        assert {column.name for column in family.columns} <= set(family.compute(make_row("a", "b")))


def test_ranks_are_configured():
    (family,) = _families(["ndcg_at_k"], retrieval_k=[20, 2])
    assert [column.name for column in family.columns] == [f"retrieval/ground_truth/ndcg_at_{k}" for k in (2, 20)]


@pytest.mark.parametrize("setting", ["13a", "intl", "zh", "char", "rouge"])
def test_no_text_is_composed_where_a_tokenizer_is_named(make_row, setting):
    """Every score then is its library's, so two spellings of one character are two characters."""
    row = make_row("cafe\u0301", "café")
    for family in _families(["chrf", "chrfpp", "meteor", "exact_match", "token_f1", "edit_similarity"]):
        assert family.name == "tokenizer" or next(iter(family.compute(row).values())) > 0.49
    for family in _families(["exact_match", "token_f1", "meteor"], text_tokenizer=setting):
        assert family.name == "tokenizer" or list(family.compute(row).values()) == [0.0] or setting == "char"
    (edits, _) = _families(["edit_similarity"], text_tokenizer=setting)
    assert list(edits.compute(row).values()) == [pytest.approx(3 / 5)]


def test_huge_texts_are_not_compared(make_row):
    """Edit distance and longest common subsequence take time in the order of the lengths' product."""
    for family in _families(["text", "ter"]):
        assert set(family.compute(make_row("a " * 60_000, "b")).values()) == {None}
        assert set(family.compute(make_row("a", ["b", "c " * 60_000])).values()) == {None}
        assert set(family.compute(make_row("a " * 50_000, "b")).values()) != {None}


def test_families_pickle():
    families = _families([*METRIC_GROUPS, "ter"], rules=_RULES)
    assert pickle.loads(pickle.dumps(families)) == families


def test_the_tokenizer_is_named_beside_the_scores(make_row):
    (tokenizer,) = [family for family in _families(["bleu"]) if family.name == "tokenizer"]
    column = "response/text/tokenizer"
    assert tokenizer.compute(make_row("a", "b"))[column] == "13a"
    assert tokenizer.compute(make_row("a", ["b", "猫"]))[column] == "zh"
    assert tokenizer.compute(make_row("a"))[column] is None


@pytest.mark.parametrize(("setting", "tokenizer"), [("intl", "intl"), ("char", "char"), ("rouge", "13a")])
def test_a_named_tokenizer_is_the_one_of_every_row(make_row, setting, tokenizer):
    (family,) = [family for family in _families(["bleu"], text_tokenizer=setting) if family.name == "tokenizer"]
    for text in ("a cat", "猫"):
        assert family.compute(make_row(text, text)) == {"response/text/tokenizer": tokenizer}


@pytest.mark.parametrize(
    ("given", "scorable"),
    [
        ({}, False),
        ({"expected": "a reference"}, False),
        ({"retrieved": ["a"]}, False),
        ({"retrieved": ["a"], "expected_uris": ["b"]}, True),
        ({"usage": TokenUsage(total_tokens=7)}, True),
        ({"latency_seconds": 0.0}, True),
        ({"response": ""}, True),
    ],
)
def test_applies(make_row, given, scorable):
    assert applies(_families(), make_row(**given)) is scorable


def test_nothing_applies_without_families(make_row):
    assert applies((), make_row("a response")) is False
