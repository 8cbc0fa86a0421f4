"""Rules of a configuration as columns: what each condition says of a response."""

import pickle

import pytest

from beamjudge.schemas.metric import ColumnType, MetricKind
from beamjudge.schemas.rules import Rule
from beamjudge.transforms.metrics.rules import rule_family

_PERSON = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string", "pattern": "^[A-Z]"}, "age": {"type": "integer", "minimum": 0}},
    "patternProperties": {"^x_": {"type": "number"}},
    "additionalProperties": False,
}
_TREE = {
    "$defs": {"node": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
    "$ref": "#/$defs/node",
}


def _outcome(make_row, response, **condition):
    return rule_family([Rule(name="rule", **condition)]).compute(make_row(response))["response/rule/rule"]


@pytest.mark.parametrize(
    ("condition", "response", "kept"),
    [
        ({"contains": "https://"}, "See https://example.com.", True),
        ({"contains": "https://"}, "See HTTPS://example.com.", False),
        ({"contains": "é"}, "cafe\u0301", True),
        ({"contains": "e\u0301"}, "café", True),
        ({"regex": r"\b\d{3}-\d{4}\b"}, "Call 555-1234 now.", True),
        ({"regex": r"\b\d{3}-\d{4}\b"}, "Call 5555-1234 now.", False),
        ({"regex": "(?i)sorry"}, "SORRY!", True),
        ({"regex": "^.$"}, "漢", True),
        ({"regex": "^caf.$"}, "cafe\u0301", True),
        ({"regex": "^$"}, "", True),
        ({"max_length": 4}, "漢字漢字", True),
        ({"max_length": 4}, "12345", False),
        ({"max_length": 4}, "cafe\u0301", True),
        ({"max_length": 0}, "", True),
        ({"json_schema": _PERSON}, '{"name": "Ada", "age": 36, "x_height": 1.6}', True),
        ({"json_schema": _PERSON}, '{"name": "ada"}', False),
        ({"json_schema": _PERSON}, '{"name": "Ada", "x_height": "tall"}', False),
        ({"json_schema": _PERSON}, '{"name": "Ada", "other": 1}', False),
        ({"json_schema": _PERSON}, '{"age": 36}', False),
        ({"json_schema": _PERSON}, "Ada", False),
        ({"json_schema": _PERSON}, '{"name": "Ada", "age": NaN}', False),
        ({"json_schema": {"type": "string"}}, '"a text"', True),
        ({"json_schema": {"type": "string"}}, "a text", False),
        ({"json_schema": {"multipleOf": 0.01}}, "1e999", False),
        ({"json_schema": {"multipleOf": 0.01}}, "1" * 2000, False),
        ({"json_schema": {"type": "integer"}}, "9" * 10_000, False),
        ({"json_schema": _TREE}, "[[], [[]]]", True),
        ({"json_schema": _TREE}, "[[], [1]]", False),
        ({"json_schema": _TREE}, "[" * 900 + "]" * 900, False),
        (
            {"json_schema": {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "null"}]}},
            "[1]",
            False,
        ),
    ],
)
def test_conditions(make_row, condition, response, kept):
    assert _outcome(make_row, response, **condition) is kept


def test_a_pattern_that_would_take_others_forever(make_row):
    """Back-tracking engines take time exponential in the number of letters for this."""
    assert _outcome(make_row, "a" * 50_000, regex="^(a+)+$") is True
    assert _outcome(make_row, "a" * 50_000 + "!", regex="^(a+)+$") is False
    assert _outcome(make_row, f'"{"a" * 50_000}!"', json_schema={"pattern": "^(a+)+$"}) is False


def test_columns_and_shares(make_row):
    family = rule_family([Rule(name="has_link", contains="://"), Rule(name="short", max_length=3)])
    assert family.compute(make_row("yes")) == {"response/rule/has_link": False, "response/rule/short": True}
    assert family.compute(make_row(None)) == {"response/rule/has_link": None, "response/rule/short": None}
    assert [(column.name, column.type) for column in family.columns] == [
        ("response/rule/has_link", ColumnType.BOOLEAN),
        ("response/rule/short", ColumnType.BOOLEAN),
    ]
    assert [(spec.kind, spec.names) for spec in family.specs] == [
        (MetricKind.SHARE, ((f"response/rule/{name}/percentage", "value"),)) for name in ("has_link", "short")
    ]


def test_rules_pickle_as_text(make_row):
    family = rule_family([Rule(name="a", regex="x+"), Rule(name="b", json_schema=_PERSON)])
    family.compute(make_row("x"))
    assert pickle.loads(pickle.dumps(family)) == family
