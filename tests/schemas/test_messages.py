import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamjudge.schemas.foreign_messages import is_foreign_message, to_message
from beamjudge.schemas.messages import content_text, message_role, message_text, message_turn

WORDS = st.sampled_from(["", " ", "x", "user", "assistant", "human", "AI", "tool", "somebody"])
PARTS = st.sampled_from(
    [
        "x",
        None,
        {},
        {"text": "x"},
        {"text": ""},
        {"type": "text", "text": "x"},
        {"type": "thinking"},
        {"type": "tool_use", "id": "c"},
        {"type": "tool_result", "content": "six"},
        {"toolResult": {"content": [{"json": {}}]}},
        {"cachePoint": {}},
        {"type": "strange"},
    ]
)
FIELDS = {
    "role": WORDS | st.none() | st.just(5),
    "content": WORDS | st.none() | st.lists(PARTS, max_size=3) | PARTS,
    "text": WORDS | st.lists(PARTS, max_size=2),
    "refusal": WORDS,
    "audio": st.sampled_from([{}, {"transcript": "x"}, "x"]),
    "tool_calls": st.sampled_from([[], [{"id": "c"}], None]),
    "function_call": st.sampled_from([{}, {"name": "f"}]),
    "reasoning": WORDS,
    "name": WORDS,
}


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
        ([{"block_type": "text", "text": "a"}, {"type": "text", "text": {"value": "b"}}], "a\nb", ()),
        ([{"type": "", "block_type": "text", "text": "a"}], "[part]", ("non_text_part",)),
        ([{"data": "a"}, {"content": "b"}], "[part]\n[part]", ("non_text_part",)),
        # A wrapper comes first, wherever it stands.
        ([{"image": {"a": 1}, "guardContent": {"text": {"text": "x"}}}], "x", ()),
        ([{"guardContent": {"text": {"text": "x"}}, "image": {"a": 1}}], "x", ()),
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


@given(st.fixed_dictionaries({}, optional=FIELDS))
def test_a_turn_is_a_role_and_a_text(message):
    assert message_turn(message) == (message_role(message), *message_text(message))


@pytest.mark.parametrize(
    ("logged", "message"),
    [
        ({"role": "user", "type": "human", "content": None, "parts": ["x"]}, {"role": "user", "content": ["x"]}),
        (
            {"lc": 1, "id": ["HumanMessage"], "kwargs": {"content": "x"}, "role": "system", "blocks": ""},
            {"role": "user", "content": "x"},
        ),
        ({"lc": 1, "id": ["AIMessage"], "kwargs": {"content": "x"}, "role": 0}, {"role": "assistant", "content": "x"}),
        ({"lc": 1, "role": "user", "blocks": ["x"]}, {"role": "user", "content": ["x"]}),
        (["human", "x"], {"role": "user", "content": "x"}),
        (["user", [{"text": "x"}]], {"role": "user", "content": [{"text": "x"}]}),
    ],
)
def test_messages_that_could_be_of_two_forms(logged, message):
    made = to_message(logged)
    assert is_foreign_message(logged)
    assert {name: made[name] for name in ("role", "content")} == message


@pytest.mark.parametrize("message", [{}, {"name": "x"}, {"id": 1, "metadata": {}}])
def test_a_message_that_says_nothing(message):
    assert message_turn(message) == ("user", "", ())
    assert not is_foreign_message(message)
    assert to_message(message) is message


@pytest.mark.parametrize(
    ("content", "role"),
    [
        ([{"type": "tool_result", "content": "six"}], "tool"),
        ([{"cachePoint": {}}, {"toolResult": {}}, None], "tool"),
        ([{"cachePoint": {}}], "user"),
        ([], "user"),
        ([{"type": "tool_result", "content": "six"}, {"text": ""}], "user"),
        ([{"type": "tool_result", "content": "six"}, {"type": "thinking"}], "user"),
        ([{"type": "tool_use"}, {"type": "tool_result", "content": "six"}], "user"),
        ({"type": "tool_result", "content": "six"}, "user"),
    ],
)
def test_results_alone_are_a_tools_turn(content, role):
    assert message_turn({"role": "user", "content": content}).role == role
    assert message_role({"role": "user", "content": content}) == role
