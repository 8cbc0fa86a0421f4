"""Texts of any length that begin like a body, or are one of nothing but small pieces, for `normalize.py`."""

import base64
import json
from collections.abc import Callable

_CHUNK = '{"choices":[{"delta":{"content":"word"}}]}'


def _fill(unit: str) -> Callable[[int], str]:
    return lambda size: unit * (size // len(unit))


def _listed(before: str, unit: str, after: str) -> Callable[[int], str]:
    return lambda size: before + ",".join([unit] * (size // (len(unit) + 1))) + after


def _distinct_events(size: int) -> str:
    chunks = (_CHUNK.replace("word", str(number)) for number in range(size // (len(_CHUNK) + 10)))
    return "".join(f"data: {chunk}\n\n" for chunk in chunks)


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
}
