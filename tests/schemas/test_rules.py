"""What a rule may be, and that everything else is one clear line before a run."""

from datetime import date

import pytest
from pydantic import ValidationError

from beamjudge.schemas.rules import Rule
from beamjudge.schemas.run_config import RunConfig


def _error(**rule):
    with pytest.raises(ValidationError) as caught:
        Rule.model_validate(rule)
    first, *_ = caught.value.errors()
    message = str(first.get("ctx", {}).get("error", first["msg"]))
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", ["", "Has_link", "1st", "_x", "has-link", "has link", "été", "a/b"])
def test_names_are_lower_case_words(name):
    assert _error(name=name, contains="x").startswith(f"got {name!r}; expected lower-case letters")


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({}, "r has no condition; expected exactly one of contains, regex, json_schema, max_length"),
        ({"contains": "x", "max_length": 3}, "r has contains and max_length; expected exactly one of"),
        ({"contains": ""}, "String should have at least 1 character"),
        ({"max_length": -1}, "Input should be greater than or equal to 0"),
        ({"max_length": "9"}, "Input should be a valid integer"),
        ({"regex": "("}, r"got '('; expected a regular expression that RE2 knows (missing ): ()"),
        ({"regex": "(?=x)"}, "got '(?=x)'; expected a regular expression that RE2 knows (invalid perl operator: (?=)"),
        ({"regex": r"(a)\1"}, r"(invalid escape sequence: \1)"),
        ({"json_schema": "object"}, "Input should be a valid dictionary"),
        (
            {"json_schema": {"type": "objekt"}},
            "is no JSON schema: 'objekt' is not valid under any of the given schemas",
        ),
        ({"json_schema": {"pattern": "(?=x)"}}, "that RE2 knows"),
        ({"json_schema": {"patternProperties": {"(?=x)": True}}}, "that RE2 knows"),
        ({"json_schema": {"$ref": "#/$defs/missing"}}, "refers to '#/$defs/missing', which is not in the schema"),
        ({"json_schema": {"items": {"$ref": "https://example.com/s.json"}}}, "refers to 'https://example.com/s.json'"),
        ({"json_schema": {"$ref": "#"}}, "is a JSON schema that refers to itself without end"),
        ({"json_schema": {"const": {1, 2}}}, "holds a value that JSON does not have"),
        ({"json_schema": {"const": date(2026, 11, 30)}}, "holds a value that JSON does not have"),
        ({"json_schema": {"const": float("nan")}}, "JSON does not have (nan); expected a JSON schema"),
    ],
)
def test_conditions(conditions, message):
    assert message in _error(name="r", **conditions)


def test_schemas_may_refer_to_themselves_and_to_the_drafts():
    Rule(name="tree", json_schema={"properties": {"child": {"$ref": "#"}}})
    Rule(name="schema", json_schema={"$ref": "https://json-schema.org/draft/2020-12/schema"})
    Rule(name="named", json_schema={"$id": "https://example.com/a", "$defs": {"b": {"$id": "b"}}, "$ref": "b"})


def test_two_rules_of_one_name_are_an_error():
    rules = [{"name": "a", "contains": "x"}, {"name": "b", "contains": "x"}, {"name": "a", "max_length": 3}]
    with pytest.raises(ValidationError, match="two rules are named a; expected a name of its own for each"):
        RunConfig.model_validate({"input": ["l"], "output": "o", "rules": rules})
