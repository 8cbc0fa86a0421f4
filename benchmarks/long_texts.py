"""Texts of any length that begin like a body, or are one of nothing but small pieces, for `normalize.py`."""

import base64
import json
from collections.abc import Callable

_CHUNK = '{"choices":[{"delta":{"content":"word"}}]}'


def _fill(unit: str) -> Callable[[int], str]:
    return lambda size: unit * (size // len(unit))


def _listed(before: str, unit: str, after: str) -> Callable[[int], str]:
    return lambda size: before + ",".join([unit] * (size // (len(unit) + 1))) + after


def _nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def _ending(end: str) -> Callable[[int], str]:
    """A list of messages of which the last says this, as JSON."""
    return lambda size: READ["messages"](size).removesuffix("]}") + ',{"role":"user","content":' + end


def _distinct_events(size: int) -> str:
    chunks = (_CHUNK.replace("word", str(number)) for number in range(size // (len(_CHUNK) + 10)))
    return "".join(f"data: {chunk}\n\n" for chunk in chunks)


def _named_events(size: int) -> str:
    count = size // (len(_CHUNK) + 24)
    return "".join(f"event: e{number}\ndata: {_CHUNK.replace('word', str(number))}\n\n" for number in range(count))


# What is no body, or only its beginning: refused.
REFUSED: dict[str, Callable[[int], str]] = {
    "open braces": _fill("{"),
    "open objects": _fill('{"a":'),
    "blanks": lambda size: " " * size + "{",
    "quotes": lambda size: '"' + '\\"' * (size // 2),
    "backslashes": lambda size: '"' + "\\" * size,
    "repr": lambda size: "{'messages': '" + "x" * size + "'}",
    "lines of data": _fill("data: x\n"),
    "colons": _fill(":\n"),
    "lines of JSON": _fill('{"a": "bcdefgh"}\n'),
    "smallest lines": _fill("{}\n"),
    "broken events": _fill('data: {"choices": [\n\n'),
    "prose": _fill("{ It opens at six. "),
    "tags": _fill("<a><b>c</b></a>"),
    "base64": lambda size: base64.b64encode(b"\0\1\2" * (size // 4)).decode(),
    "spaced lines": _fill("data: x\n\n"),
    "last bracket wrong": _ending('"x"}]]'),
    "integers, cut": lambda size: "[" + "1," * (size // 2),
    "lists 45 deep": _listed("[", _nested(45), "]"),
    "lists 100 deep": _listed("[", _nested(100), "]"),
}
# What is a body, in as many pieces as fit.
READ: dict[str, Callable[[int], str]] = {
    "JSON in JSON": lambda size: json.dumps(json.dumps({"choices": [{"message": {"content": "x" * size}}]})),
    "picture": lambda size: json.dumps({"messages": [{"content": [{"type": "image_url", "image_url": "A" * size}]}]}),
    "events": _fill(f"data: {_CHUNK}\n\n"),
    "different events": _distinct_events,
    "chunks": _listed("[", _CHUNK, "]"),
    "messages": _listed('{"messages":[', '{"role":"user","content":"x"}', "]}"),
    "parts": _listed('{"content":[', '{"type":"text","text":"x"}', "]}"),
    "numbers": _listed('{"data":[', "1.5", "]}"),
    "empty messages": _listed('{"messages":[', "{}", "]}"),
    "contents": _listed('{"contents":[', '{"parts":[{"text":"x"}]}', "]}"),
    "texts": _listed('{"contents":[', '"x"', "]}"),
    "calls": _listed('{"candidates":[{"content":{"parts":[', '{"functionCall":{"name":"f","args":{}}}', "]}}]}"),
    "pairs": _listed('{"query":"x","history":[', '["user","x"]', "]}"),
    "conversations": _listed('{"conversations":[', '{"from":"human","value":"x"}', "]}"),
    "LangChain's messages": _listed('{"messages":[', '{"type":"human","content":"x"}', "]}"),
    "unknown parts": _listed('{"messages":[{"role":"user","content":[', '{"json":{}}', "]}]}"),
    "rows of a batch": _listed('{"dataframe_split":{"columns":["messages"],"data":[', "1", "]}}"),
    "text at the end": lambda size: READ["events"](20_000) + "data: x\n\n" * (size // 9),
    "comments at the end": lambda size: READ["events"](20_000) + ":\n" * (size // 2),
    "named events": _named_events,
    "NaN at the end": _ending("NaN}]}"),
    "surrogate at the end": _ending('"\\ud800"}]}'),
}
# Other columns, in as many pieces as fit.
CONTEXTS: dict[str, Callable[[int], str]] = {
    "strings": _listed("[", '"x"', "]"),
    "documents": _listed("[", '{"content":"x"}', "]"),
}
_SPAN = {
    "traceId": "t",
    "spanId": "s",
    "name": "x",
    "attributes": [{"key": "gen_ai.system", "value": {"stringValue": "x"}}],
}
SPANS: dict[str, Callable[[int], str]] = {
    "empty spans": _listed("[", "{}", "]"),
    "spans of OTLP": _listed('{"resourceSpans":[{"scopeSpans":[{"spans":[', json.dumps(_SPAN), "]}]}]}"),
    "spans of MLflow": _listed('{"spans":[', '{"span_id":"s","attributes":{"mlflow.spanInputs":"x"}}', "]}"),
    "observations": _listed('{"observations":[', '{"type":"SPAN","traceId":"t","startTime":1}', '],"id":"t"}'),
    "runs": _listed('{"spans":[', '{"id":"r","run_type":"llm","inputs":{},"outputs":{}}', "]}"),
}
