"""Values of attributes, which may be JSON text."""

import pytest

from beamjudge.schemas.traces.values import decoded


@pytest.mark.parametrize(
    ("value", "is_read_as"),
    [
        ('"LLM"', "LLM"),
        (' "LLM" ', "LLM"),
        ('""', ""),
        ('"', '"'),
        (r'"a\"b"', 'a"b'),
        (r'"caf\u00e9 au lait"', "café au lait"),
        ('"a" or "b"', '"a" or "b"'),
        ('{"a": "b"}', {"a": "b"}),
        (5, 5),
    ],
)
def test_json_text_is_decoded_and_other_text_is_itself(value, is_read_as):
    assert decoded(value) == is_read_as
