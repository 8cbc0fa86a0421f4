import pytest

from beamjudge.schemas.messages import content_text, message_text


@pytest.mark.parametrize(
    ("content", "text", "notes"),
    [
        ("a", "a", ()),
        (None, "", ()),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb", ()),
        ([{"text": "a"}, "b", None], "a\nb", ()),
        ({"type": "input_text", "text": "a"}, "a", ()),
        (
            [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "data:"}}],
            "a\n[image]",
            ("non_text_part",),
        ),
        (
            [{"type": "input_audio"}, {"type": "input_file"}, {"type": "video"}],
            "[audio]\n[file]\n[video]",
            ("non_text_part",),
        ),
        ([{"type": "strange thing!"}, {}], "[part]\n[part]", ("non_text_part",)),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}], "a", ("reasoning_not_shown",)),
        ([{"type": "refusal", "refusal": "no"}], "no", ("refusal",)),
        ([{"type": "tool_use", "name": "f"}], '[{"name":"f","type":"tool_use"}]', ("tool_calls_only",)),
        ([{"type": ["text"], "text": "a"}, {"type": {}}], "a\n[part]", ("non_text_part",)),
        (7, "7", ()),
    ],
)
def test_content(content, text, notes):
    assert content_text(content) == (text, notes)


def test_content_goes_before_refusal_and_calls():
    message = {"content": "a", "refusal": "r", "tool_calls": [{}]}
    assert message_text(message) == ("a", ("tool_calls_not_shown",))


def test_blank_content_gives_way_to_a_refusal():
    assert message_text({"content": " ", "refusal": "r", "tool_calls": [{}]}) == ("r", ("refusal",))


def test_legacy_function_call():
    assert message_text({"content": None, "function_call": {"name": "f"}}) == ('{"name":"f"}', ("tool_calls_only",))
