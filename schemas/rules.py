"""Rules of a configuration: conditions on a response that are checked without a judge."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from beamjudge.schemas.json_value import Json, canonical_json, plain_json

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_CONDITIONS: Final = ("contains", "regex", "json_schema", "max_length")
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


class Rule(BaseModel):
    """One rule: a name and exactly one condition."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str
    contains: Annotated[str, Field(min_length=1)] | None = None
    regex: str | None = None
    json_schema: dict[str, Any] | None = None
    max_length: Annotated[int, Field(ge=0)] | None = None

    @field_validator("name")
    @classmethod
    def _is_name(cls, value: str) -> str:
        if not _NAME.fullmatch(value):
            raise ValueError(f"got {value!r}; expected lower-case letters, digits and _, beginning with a letter")
        return value

    @field_validator("regex")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        if value is not None:
            compile_regex(value)
        return value

    @field_validator("json_schema")
    @classmethod
    def _is_schema(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        if value is not None:
            try:
                value = plain_json(value)
            except ValueError as error:
                raise ValueError(f"{error}; expected a JSON schema") from None
            schema_validator(canonical_json(value))
        return value

    @model_validator(mode="after")
    def _has_one_condition(self) -> "Rule":
        given = [name for name in _CONDITIONS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"{self.name} has {' and '.join(given) or 'no condition'}; "
                f"expected exactly one of {', '.join(_CONDITIONS)}"
            )
        return self


# Neither compiled form is part of a pipeline's graph: workers make them anew from the text, once.
@lru_cache(maxsize=256)
def compile_regex(pattern: str) -> Any:
    """The pattern, compiled by RE2 for UTF-8 bytes. RE2 takes linear time, so no response can hold up a run.

    Raises ValueError for what RE2 does not know: look-arounds and back-references above all.
    """
    import re2  # only configurations with rules need it

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern.encode("utf-8", "replace"), options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace")
        raise ValueError(f"got {pattern!r}; expected a regular expression that RE2 knows ({reason})") from None


@lru_cache(maxsize=64)
def schema_validator(schema_json: str) -> Any:
    """A validator for the JSON schema, whose patterns are matched by RE2 and whose references are never fetched.

    Raises ValueError for a schema that is not valid, and for a reference that leads nowhere or round in circles.
    """
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, extend, validator_for
    from jsonschema_specifications import REGISTRY
    from referencing.jsonschema import DRAFT202012, specification_with

    schema = json.loads(schema_json)
    draft = validator_for(schema, default=Draft202012Validator)
    try:
        draft.check_schema(schema)
    except SchemaError as error:
        raise ValueError(f"is no JSON schema: {error.message[:200]} (at {error.json_path})") from None
    specification = specification_with(str(schema.get("$schema", "")), default=DRAFT202012)
    resource = specification.create_resource(schema)
    uri = resource.id() or ""
    registry = REGISTRY.with_resource(uri, resource)
    for pattern in _patterns(resource, registry.resolver(uri), specification, set()):
        compile_regex(pattern)
    safe = extend(draft, {"pattern": _pattern, "patternProperties": _pattern_properties})
    validator = safe(schema, registry=REGISTRY)
    try:
        validator.is_valid({})
    except RecursionError:
        raise ValueError("is a JSON schema that refers to itself without end") from None
    return validator


def _patterns(resource: Any, resolver: Any, specification: Any, followed: set[int]) -> Iterator[str]:
    """All patterns of a schema and of what it refers to. Raises ValueError for a reference that leads nowhere."""
    from referencing.exceptions import Unresolvable

    contents = resource.contents
    if isinstance(contents, dict):
        if isinstance(contents.get("pattern"), str):
            yield contents["pattern"]
        yield from contents.get("patternProperties", {})
        for reference in (contents[name] for name in _REFERENCES if isinstance(contents.get(name), str)):
            try:
                found = resolver.lookup(reference)
            except Unresolvable:
                raise ValueError(f"refers to {reference!r}, which is not in the schema; nothing is fetched") from None
            if id(found.contents) not in followed:
                followed.add(id(found.contents))
                target = specification.create_resource(found.contents)
                yield from _patterns(target, found.resolver, specification, followed)
    for part in resource.subresources():
        yield from _patterns(part, resolver.in_subresource(part), specification, followed)


def _pattern(validator: Any, pattern: str, instance: Json, schema: Json) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and not _found(pattern, instance):
        yield ValidationError(f"does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: dict[str, Any], instance: Json, schema: Json) -> Iterator[Any]:
    if isinstance(instance, dict):
        for pattern, subschema in patterns.items():
            for name, value in instance.items():
                if _found(pattern, name):
                    yield from validator.descend(value, subschema, path=name, schema_path=pattern)


def _found(pattern: str, text: str) -> bool:
    return compile_regex(pattern).search(text.encode("utf-8", "replace")) is not None
