"""The rules of the configuration, each a share of responses that keep to it."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from beamjudge.schemas.assessment import MetricValue
from beamjudge.schemas.json_value import Json, canonical_json
from beamjudge.schemas.metric import Column, ColumnType, share_spec
from beamjudge.schemas.row import Row
from beamjudge.schemas.rules import Rule, compile_regex, schema_validator
from beamjudge.transforms.metrics.family import MetricFamily
from beamjudge.transforms.metrics.text.tokenizers import to_nfc


@dataclass(frozen=True, slots=True)
class _Contains:
    """Whether the text is in the response, in the same case; spellings of the same characters are the same."""

    wanted: str

    def __call__(self, response: str) -> bool:
        return self.wanted in to_nfc(response)


@dataclass(frozen=True, slots=True)
class _Matches:
    """Whether the pattern is found anywhere in the response."""

    pattern: str

    def __call__(self, response: str) -> bool:
        found = compile_regex(self.pattern).search(to_nfc(response).encode("utf-8", "replace"))
        return found is not None


@dataclass(frozen=True, slots=True)
class _FitsSchema:
    """Whether the whole response is JSON that is valid under the schema."""

    schema_json: str

    def __call__(self, response: str) -> bool:
        try:
            value = _parse(response)
            return bool(schema_validator(self.schema_json).is_valid(value))
        except (ValueError, OverflowError, RecursionError):  # no JSON, or numbers and nesting beyond what Python checks
            return False


@dataclass(frozen=True, slots=True)
class _IsAtMost:
    """Whether the response has at most so many characters, as `response/text/characters` counts them."""

    length: int

    def __call__(self, response: str) -> bool:
        return len(to_nfc(response)) <= self.length


_Condition = _Contains | _Matches | _FitsSchema | _IsAtMost


@dataclass(frozen=True, slots=True)
class _Rules:
    """Each rule's outcome; null where there is no response."""

    conditions: tuple[tuple[str, _Condition], ...]

    def __call__(self, row: Row) -> Mapping[str, MetricValue]:
        response = row.response_text
        return {column: None if response is None else keeps(response) for column, keeps in self.conditions}


def rule_family(rules: Sequence[Rule]) -> MetricFamily:
    """All rules of a configuration."""
    conditions = tuple((f"response/rule/{rule.name}", _condition(rule)) for rule in rules)
    return MetricFamily(
        name="rules",
        columns=tuple(Column(column, ColumnType.BOOLEAN) for column, _ in conditions),
        specs=tuple(share_spec(column) for column, _ in conditions),
        compute=_Rules(conditions),
    )


def _condition(rule: Rule) -> _Condition:
    if rule.contains is not None:
        return _Contains(to_nfc(rule.contains))
    if rule.regex is not None:
        return _Matches(to_nfc(rule.regex))
    if rule.json_schema is not None:
        return _FitsSchema(canonical_json(rule.json_schema))
    if rule.max_length is None:
        raise ValueError(f"rule {rule.name} has no condition")
    return _IsAtMost(rule.max_length)


def _parse(text: str) -> Json:
    value: Json = json.loads(text, parse_float=_finite, parse_constant=_refuse)
    return value


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError("a number too large for a double")
    return value


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
