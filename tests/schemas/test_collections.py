"""The collection of garbage while a long text is put into normal form: paused, and afterwards as it was."""

import gc
import json
from collections.abc import Callable, Iterator

import pytest

from beamjudge.schemas.json_text import decode_json
from beamjudge.schemas.requests import normalize_request
from beamjudge.schemas.responses import normalize_response

# Bodies of many pieces, beyond a million characters.
_MESSAGES = [{"role": "user", "content": f"Question {number}, long enough?"} for number in range(25_000)]
REQUEST = json.dumps({"messages": _MESSAGES})
_CHUNKS = [{"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "word "}}]}] * 12_000
RESPONSE = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in _CHUNKS) + "data: [DONE]\n\n"


@pytest.fixture
def collections() -> Iterator[list[int]]:
    """The generation of each collection that begins."""
    begun: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            begun.append(info["generation"])

    gc.collect()
    gc.callbacks.append(note)
    yield begun
    gc.callbacks.remove(note)


@pytest.mark.parametrize(("normalize", "text"), [(normalize_request, REQUEST), (normalize_response, RESPONSE)])
def test_no_collection_while_a_long_text_is_normalised(
    collections: list[int], normalize: Callable[[str], object], text: str
) -> None:
    assert len(text) > 1 << 20
    form = normalize(text)
    assert len(collections) <= 1, "the one that was put off to the end"
    assert form is not None
    assert gc.isenabled()


@pytest.mark.parametrize("text", [REQUEST, REQUEST[:-1] + ', "a": [NaN, "\\ud800"]}'])
def test_no_collection_while_a_long_text_is_decoded(collections: list[int], text: str) -> None:
    decode_json(text)
    assert len(collections) <= 1, "the one that was put off to the end"


def test_collections_go_on_after_a_long_text_that_cannot_be_read() -> None:
    with pytest.raises(json.JSONDecodeError):
        decode_json(REQUEST[:-1])
    assert gc.isenabled()


def test_collections_that_are_off_stay_off() -> None:
    gc.disable()
    try:
        normalize_request(REQUEST)
        assert not gc.isenabled()
    finally:
        gc.enable()
