"""Which families a configuration selects, and what holds for every one of them."""

import pickle

import pytest

from beamjudge.schemas.metric import ColumnType, MetricKind
from beamjudge.schemas.row import TokenUsage
from beamjudge.schemas.run_config import METRIC_NAMES, RunConfig
from beamjudge.transforms.metrics.registry import CORPUS_SCORERS, applies, metric_families

_TYPES = {
    ColumnType.FLOAT: float,
    ColumnType.INTEGER: int,
    ColumnType.BOOLEAN: bool,
    ColumnType.STRING: str,
}


def _families(metrics=None, judges=None):
    return metric_families(RunConfig(input=["log.jsonl"], output="out", metrics=metrics, judges=judges))


def _names(metrics, judges=None):
    return [family.name for family in _families(metrics, judges)]


def test_all_by_default():
    assert _names(None) == [*METRIC_NAMES, "tokenizer"]


@pytest.mark.parametrize(
    ("metrics", "judges", "names"),
    [
        (["none"], None, []),
        (["none"], ["document_recall"], ["document_recall"]),
        (["text"], None, ["bleu", "rouge", "tokenizer"]),
        (["rouge"], None, ["rouge", "tokenizer"]),
        (["form", "latency"], None, ["latency", "length"]),
    ],
)
def test_groups_and_names(metrics, judges, names):
    assert _names(metrics, judges) == names


def test_columns_are_unique_and_typed_as_computed(make_row):
    full = make_row("Ein kurzer Satz.", "Ein Satz.", ["a"], ["a"], TokenUsage(1, 2, 3), 0.5)
    seen = set()
    for family in _families():
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
    for family in _families():
        columns = {column.name for column in family.columns}
        for spec in family.specs:
            assert spec.judge is None
            if spec.kind is MetricKind.CORPUS:
                assert spec.scorer in CORPUS_SCORERS
            else:
                assert spec.key in columns


def test_families_pickle():
    families = _families()
    assert pickle.loads(pickle.dumps(families)) == families


def test_the_tokenizer_is_named_beside_the_scores(make_row):
    (tokenizer,) = [family for family in _families(["bleu"]) if family.name == "tokenizer"]
    column = "response/text/tokenizer"
    assert tokenizer.compute(make_row("a", "b"))[column] == "13a"
    assert tokenizer.compute(make_row("a", ["b", "猫"]))[column] == "zh"
    assert tokenizer.compute(make_row("a"))[column] is None


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
