"""Spans that say everything in attributes, in every spelling that OpenTelemetry's exporters have for them.

OTLP JSON (github.com/open-telemetry/opentelemetry-proto, `attributes: [{"key", "value": {"stringValue"}}]`), the
console and file exporters of the SDKs (`attributes` as an object, `context`), Phoenix's data frames (columns
`attributes.input.value`, `context.span_id`), attributes nested into objects, and TruLens' event table
(`record_attributes`, `trace`), and attributes that are a record's own columns.
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

from beamjudge.schemas.json_text import as_list, decode_container, is_list, is_object
from beamjudge.schemas.json_value import Json
from beamjudge.schemas.traces.spans import Times
from beamjudge.schemas.traces.values import text_of, time_nanoseconds

Attributes = dict[str, Json]
# Attributes whose value may be an object, which is the value and no further level of the name.
_VALUES = frozenset({"input.value", "output.value", "metadata", "llm.invocation_parameters", "document.metadata"})
_SCALARS = frozenset(
    {"stringValue", "string_value", "doubleValue", "double_value", "boolValue", "bool_value", "bytesValue"}
)
_COLUMN = "attributes."
# Every span has one of these, so that a record with one as a column has its attributes there.
OWN_COLUMNS = frozenset({"openinference.span.kind", "gen_ai.operation.name", "gen_ai.system", "gen_ai.provider.name"})
_HOLD_ATTRIBUTES = OWN_COLUMNS | {"attributes", "record_attributes"}
# Usual fields of a span, none of which is an attribute by itself: a span with no others has no attributes as columns.
_FIELDS = frozenset(
    {"traceId", "spanId", "parentSpanId", "traceState", "flags", "name", "kind", "startTimeUnixNano", "endTimeUnixNano"}
    | {"attributes", "events", "links", "status", "context", "parent_id", "start_time", "end_time", "status_code"}
)
# Objects with a span's ids, and the fields that may hold its parent's id: a span without any has none elsewhere.
_OWN_IDS = ("spanId", "span_id")
_CONTEXTS = ("context", "spanContext", "_spanContext", "trace")
_HOLDERS = frozenset({*_CONTEXTS, "record", "parentSpanContext"})
_MOST_DIGITS = 9
# Every leaf below an object repeats the object's name; longer ones are none that anything asks for.
_LONGEST_NAME = 256


class SpanEvent(NamedTuple):
    name: str
    attributes: Attributes


class AttributeSpan(NamedTuple):
    """One span; attributes have dotted names."""

    id: str | None
    parent: str | None
    name: str | None
    times: Callable[[], Times]
    failed: bool
    attributes: Attributes
    events: tuple[SpanEvent, ...] = ()


def read_attribute_span(span: dict[str, Json]) -> AttributeSpan:
    """A logged span in any of the spellings. Never raises."""
    found = span.get("spanId") or _first(span, "span_id", "context.span_id") or _first(_context(span), *_OWN_IDS)
    parent = _first(span, "parentSpanId", "parent_span_id", "parent_id", "parentId")
    if parent is None and not _HOLDERS.isdisjoint(span):
        above = _object(span.get("parentSpanContext"))  # JavaScript's SDK
        inside = _object(span.get("record")).get("parent_span_id")  # TruLens
        parent = inside or _context(span).get("parent_id") or above.get("spanId")
    name = span.get("name") or _object(span.get("record")).get("name")
    return AttributeSpan(
        text_of(found),
        None if str(parent).strip("0") == "" else text_of(parent),
        text_of(name),
        lambda: _times(span),
        is_error(span.get("status") or _first(span, "status", "status_code")),
        read_attributes(span),
        events_of(span) if span.get("events") else (),
    )


def _times(span: dict[str, Json]) -> Times:
    return Times(
        time_nanoseconds(
            *(span.get(name) for name in ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")),
            span.get("start_timestamp"),
        ),
        time_nanoseconds(
            *(span.get(name) for name in ("endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")),
            span.get("timestamp") if "start_timestamp" in span else None,
        ),
    )


def trace_id_of(span: dict[str, Json]) -> str | None:
    """The id of the trace that a span is of."""
    own = _first(span, "traceId", "trace_id", "context.trace_id")
    return text_of(own or _first(_context(span), "traceId", "trace_id"))


def has_attributes(span: dict[str, Json]) -> bool:
    """Whether a record has attributes as spans have them, and not as Datadog's export wraps its own."""
    if not span or span.get("type") == "span":
        return False
    if not _HOLD_ATTRIBUTES.isdisjoint(span):
        if isinstance(span.get("attributes"), (dict, list, str)) or not OWN_COLUMNS.isdisjoint(span):
            return True
        if isinstance(span.get("record_attributes"), (dict, str)):
            return True
    return any_begins(span, _COLUMN)


def any_begins(names: Collection[str], prefix: str | tuple[str, ...]) -> bool:
    """Whether any of the names begins so, or in one of these ways. (A loop is several times as fast as `any` here.)"""
    if isinstance(prefix, str) and prefix not in "\n".join(names):  # as in most records
        return False
    for name in names:  # noqa: SIM110
        if name.startswith(prefix):
            return True
    return False


def read_attributes(span: dict[str, Json]) -> Attributes:
    """The attributes of a span with dotted names."""
    logged = span.get("attributes", span.get("record_attributes"))
    if isinstance(logged, str) and (container := decode_container(logged)) is not None:
        logged = container.value
    if logged is None and not OWN_COLUMNS.isdisjoint(span):
        logged = span
    attributes = _flat(logged)
    if _FIELDS.issuperset(span):  # as in most spans
        return attributes
    for name, value in span.items():
        if name.startswith(_COLUMN) and value is not None:
            path = name[len(_COLUMN) :]
            attributes.update(_flattened(value, path) if is_object(value) else {path: value})
    return attributes


def attribute_names(span: dict[str, Json]) -> Collection[str]:
    """The names of a span's attributes, without reading their values where they are not nested."""
    logged = span.get("attributes", span.get("record_attributes"))
    if is_list(logged):
        return [key for item in logged if is_object(item) and isinstance(key := item.get("key"), str)]
    is_flat = is_object(logged) and not any(is_object(value) for value in logged.values())
    if is_object(logged) and is_flat and not any_begins(span, _COLUMN):
        return logged.keys()
    return read_attributes(span).keys()


def numbered(attributes: Attributes, name: str) -> list[Attributes] | None:
    """The elements of `name.0.field`, `name.1.field`, ... by number, or of a list under `name`; null without any."""
    logged = attributes.get(name)
    if isinstance(logged, str) and (container := decode_container(logged)) is not None:
        logged = container.value
    if is_list(logged):
        return [_flattened(item, "") for item in logged if is_object(item)]
    found: dict[int, Attributes] = {}
    prefix = name + "."
    for key, value in attributes.items():
        if key.startswith(prefix):
            digits, _, field = key[len(prefix) :].partition(".")
            if digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS:
                found.setdefault(int(digits), {})[field] = value
    return [found[number] for number in sorted(found)] if found else None


def events_of(span: dict[str, Json]) -> tuple[SpanEvent, ...]:
    """The events of a span that have a name."""
    return tuple(
        SpanEvent(name, _flat(event.get("attributes")))
        for event in as_list(span.get("events"))
        if is_object(event) and (name := text_of(event.get("name"))) is not None
    )


def _flat(logged: Json) -> Attributes:
    if is_list(logged):
        return {
            key: _any_value(item.get("value"))
            for item in logged
            if isinstance(item, dict) and isinstance(key := item.get("key"), str)
        }
    return _flattened(logged, "") if is_object(logged) else {}


def _flattened(logged: dict[str, Json], prefix: str) -> Attributes:
    """Nested objects as dotted names; without recursion, since logs nest as deep as they like."""
    if not prefix and dict not in map(type, logged.values()):  # as in most spans
        return {name: value for name, value in logged.items() if value is not None}
    flat: Attributes = {}
    waiting: list[tuple[str, Json]] = [(prefix, logged)]
    while waiting:
        path, value = waiting.pop()
        if is_object(value) and value and path not in _VALUES and len(path) <= _LONGEST_NAME:
            waiting += [(f"{path}.{name}" if path else name, item) for name, item in reversed(value.items())]
        elif value is not None:  # the columns of a data frame that this span has no value in
            flat[path] = value
    return flat


def _any_value(value: Json) -> Json:
    """OTLP's AnyValue as JSON. Lists and objects in it are read to the depth that attributes have."""
    if not isinstance(value, dict):
        return value
    for kind, held in value.items():
        if kind in _SCALARS:
            return held
        if kind in ("intValue", "int_value"):
            is_digits = isinstance(held, str) and held.lstrip("-").isdigit() and len(held) < 20
            return int(str(held)) if is_digits and str(held).isascii() else held
        if kind in ("arrayValue", "array_value") and is_object(held):
            return [_any_value(item) for item in as_list(held.get("values"))]
        if kind in ("kvlistValue", "kvlist_value") and is_object(held):
            return dict(_flat(held.get("values")))
    return None


def _context(span: dict[str, Json]) -> dict[str, Json]:
    """The ids of a span, in an object of their own."""
    for name in _CONTEXTS:
        if is_object(context := span.get(name)) and context:
            return context
    return {}


def is_error(status: Json) -> bool:
    """Whether a span's status, an object or its code, says that it failed."""
    if not status:
        return False
    code = _first(status, "code", "status_code") if is_object(status) else status
    return code == 2 or (isinstance(code, str) and code.upper().endswith("ERROR"))


def _first(value: dict[str, Json], *names: str) -> Json:
    for name in names:
        if (found := value.get(name)) is not None and found != "":
            return found
    return None


def _object(value: Json) -> dict[str, Json]:
    return value if is_object(value) else {}
