import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamjudge.schemas.requests import REQUESTS, normalize_request
from beamjudge.schemas.requests.batches import Batch, pair_responses, read_batch
from beamjudge.schemas.row import Turn

USER_Q = {"role": "user", "content": "q"}

# Each logged shape with its normal form, the text of its last user turn and the turns before it.
CASES = {
    "string": ("q", {"messages": [USER_Q]}, "q", ()),
    "messages": ({"messages": [USER_Q], "model": "m"}, {"messages": [USER_Q], "model": "m"}, "q", ()),
    "query": ({"query": "q", "history": []}, {"messages": [USER_Q]}, "q", ()),
    "query without history": ({"query": "q"}, {"messages": [USER_Q]}, "q", ()),
    "query after history": (
        {"query": "q", "history": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]},
        {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, USER_Q]},
        "q",
        (Turn("user", "a"), Turn("assistant", "b")),
    ),
    "list": ([USER_Q], {"messages": [USER_Q]}, "q", ()),
    "anthropic": (
        {"system": "s", "messages": [USER_Q], "max_tokens": 9},
        {"messages": [{"role": "system", "content": "s"}, USER_Q], "max_tokens": 9},
        "q",
        (Turn("system", "s"),),
    ),
    "prompt": ({"prompt": "q", "model": "m"}, {"messages": [USER_Q]}, "q", ()),
    "input string": (
        {"input": "q", "instructions": "s"},
        {"messages": [{"role": "system", "content": "s"}, USER_Q]},
        "q",
        (Turn("system", "s"),),
    ),
    "input list": ({"input": [USER_Q]}, {"messages": [USER_Q]}, "q", ()),
    "nested input": ({"request": {"input": [USER_Q]}}, {"messages": [USER_Q]}, "q", ()),
    "struct with null fields": (
        {"messages": None, "query": "q", "history": None, "input": None, "prompt": None, "system": None},
        {"messages": [USER_Q]},
        "q",
        (),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_known_shapes_become_messages(name):
    logged, normal, text, history = CASES[name]
    form = normalize_request(logged)
    assert (form.canonical, form.text, form.history, form.notes) == (normal, text, history, ())


@pytest.mark.parametrize("name", CASES)
def test_every_fixture_is_claimed_by_exactly_one_shape(name):
    assert isinstance(CASES[name][0], str) or len(REQUESTS.claims(CASES[name][0])) == 1


def test_no_combination_of_fields_is_claimed_twice():
    choices = {
        "messages": [None, [USER_Q], [], ["x"]],
        "system": [None, "s"],
        "query": [None, "q"],
        "history": [None, [], ["x"]],
        "input": [None, "i", [USER_Q], [1]],
        "prompt": [None, "p"],
        "request": [None, {"input": "i"}],
        "inputs": [None, ["i"]],
    }
    for values in itertools.product(*choices.values()):
        value = dict(zip(choices, values, strict=True))
        claims = [shape.field for shape in REQUESTS.shapes if shape.name in REQUESTS.claims(value)]
        assert len(claims) == len(set(claims)), (value, claims)


def test_system_and_developer_are_never_the_user_turn():
    form = normalize_request({"messages": [USER_Q, {"role": "developer", "content": "d"}]})
    assert (form.text, form.notes) == ("q", ("later_turns_not_shown",))


def test_last_user_turn_is_asked_and_later_turns_are_noted():
    turns = [USER_Q, {"role": "assistant", "content": "a"}, {"role": "user", "content": "r"}]
    form = normalize_request({"messages": [*turns, {"role": "assistant", "content": "b"}]})
    assert (form.text, form.history) == ("r", (Turn("user", "q"), Turn("assistant", "a")))
    assert form.notes == ("later_turns_not_shown",)


def test_without_a_user_turn_the_last_turn_that_is_not_system_is_taken():
    form = normalize_request([{"role": "assistant", "content": "a"}, {"role": "system", "content": "s"}])
    assert (form.text, form.history, form.notes) == ("a", (), ("no_user_turn",))


@pytest.mark.parametrize("nothing", [None, [], {}, {"messages": []}, {"messages": None}, '{"messages": []}'])
def test_no_request(nothing):
    assert normalize_request(nothing) is None


def test_only_system_turns_are_no_request():
    assert normalize_request({"messages": [{"role": "system", "content": "s"}]}) is None


def test_empty_string_is_a_request():
    assert normalize_request("").text == ""


@pytest.mark.parametrize(("value", "text"), [(42, "42"), (0.5, "0.5"), (False, "false")])
def test_a_number_that_a_function_took_is_its_text(value, text):
    form = normalize_request(value)
    assert form.canonical == {"messages": [{"role": "user", "content": text}]}
    assert (form.text, form.notes) == (text, ("other_request_shape",))
    assert normalize_request(form.canonical).canonical == form.canonical


def test_null_elements_are_dropped_with_a_note():
    form = normalize_request({"messages": [None, USER_Q]})
    assert (form.canonical, form.notes) == ({"messages": [USER_Q]}, ("null_elements_dropped",))


@pytest.mark.parametrize("value", [{"b": 1, "a": True}, ["x", "y"], {"messages": "x"}, {"input": [1]}])
def test_other_values_are_kept_as_canonical_json(value):
    form = normalize_request(value)
    assert (form.canonical, form.notes) == (value, ("other_request_shape",))


def test_other_object_is_json_and_no_repr():
    assert normalize_request({"b": None, "a": True, "c": "é"}).text == '{"a":true,"b":null,"c":"é"}'


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ('{"messages": [{"role": "user", "content": "q"}]}', "q"),
        (' {"query": "q", "history": []}', "q"),
        ('{"input": "q"}', "q"),
    ],
)
def test_envelopes_in_strings_are_parsed(text, asked):
    form = normalize_request(text)
    assert (form.text, form.notes) == (asked, ("parsed_json_string",))


@pytest.mark.parametrize("text", ['{"prompt": "q"}', '{"query": "q"}', '[{"role": "user", "content": "q"}]', "{oops"])
def test_other_json_text_stays_what_the_user_typed(text):
    form = normalize_request(text)
    assert (form.text, form.notes) == (text, ())


def test_responses_api_calls_become_turns():
    items = [
        USER_Q,
        {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "sunny"},
        {"role": "user", "content": [{"type": "input_text", "text": "and now?"}]},
    ]
    form = normalize_request({"input": items})
    call = '[{"arguments":"{}","call_id":"c","name":"f","type":"function_call"}]'
    assert form.text == "and now?"
    assert form.history == (Turn("user", "q"), Turn("assistant", call), Turn("tool", "sunny"))
    assert form.notes == ("tool_calls_only",)


BATCHES = [
    ({"dataframe_records": [{"query": "a"}, {"query": "b"}]}, [{"query": "a"}, {"query": "b"}]),
    ({"dataframe_split": {"columns": ["query", "k"], "data": [["a", 1]]}}, [{"query": "a", "k": 1}]),
    ({"inputs": ["a", "b"]}, ["a", "b"]),
    ({"inputs": "a"}, ["a"]),
    ({"instances": [{"prompt": "a"}]}, [{"prompt": "a"}]),
]


@pytest.mark.parametrize(("request_", "records"), BATCHES)
def test_batches(request_, records):
    assert read_batch(request_).requests == records
    assert REQUESTS.claims(request_) == []


@pytest.mark.parametrize(
    ("response", "count", "expected"),
    [
        ({"predictions": ["a", "b"]}, 2, ["a", "b"]),
        (["a", "b"], 2, ["a", "b"]),
        ('{"predictions": ["a", "b"]}', 2, ["a", "b"]),
        (None, 2, [None, None]),
        ("a", 1, ["a"]),
        ({"predictions": ["a"]}, 2, None),
        ("a", 2, None),
    ],
)
def test_batch_responses_pair_by_position(response, count, expected):
    assert pair_responses(response, Batch([None] * count)) == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["messages", "role", "content", "query", "history", "input", "prompt", "system", "type", "text"]
            )
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(JSON)
def test_normalising_a_normal_form_changes_nothing(value):
    form = normalize_request(value)
    if form is not None and not isinstance(form.canonical, str):
        again = normalize_request(form.canonical)
        assert (again.canonical, again.text, again.history) == (form.canonical, form.text, form.history)


def test_history_keeps_a_messages_blanks():
    form = normalize_request({"messages": [{"role": "assistant", "content": " \n a\t "}, USER_Q]})
    assert form.history == (Turn("assistant", " \n a\t "),)


@pytest.mark.parametrize(("logged", "common"), [("human", "user"), ("ai", "assistant"), ("User", "user")])
def test_history_has_common_roles(logged, common):
    form = normalize_request({"messages": [{"role": logged, "content": "x"}, USER_Q]})
    assert form.history == (Turn(common, "x"),)


def test_the_last_ten_thousand_turns_are_the_history():
    turns = [{"role": "user", "content": str(number)} for number in range(10_001)]
    form = normalize_request({"messages": turns})
    assert (form.text, len(form.history), form.history[0].text, form.notes) == ("10000", 10_000, "0", ())
    form = normalize_request({"messages": [*turns, USER_Q]})
    assert (len(form.history), form.history[0].text, form.notes) == (10_000, "1", ("truncated:history",))
    assert len(form.canonical["messages"]) == 10_002


def test_messages_that_say_nothing_are_turns_of_the_user():
    form = normalize_request({"messages": [{}, {"role": "tool"}, {"role": "assistant"}, {"role": "aide"}, USER_Q]})
    assert form.history == (Turn("user", ""), Turn("tool", ""), Turn("aide", ""))


def test_parts_and_turns_among_contents():
    roles = [{"role": "user", "text": "a"}, {"role": "model", "text": "b"}, {"role": "user", "text": "c"}]
    form = normalize_request({"contents": roles})
    assert (form.text, form.history) == ("c", (Turn("user", "a"), Turn("assistant", "b")))
    nulls = {"functionCall": None, "parts": None, "role": None}
    form = normalize_request({"contents": [{**nulls, "text": "When?"}]})
    assert (form.text, form.notes) == ("When?", ())
    for name, placeholder in (("inlineData", "[image]"), ("inline_data", "[image]"), ("fileData", "[image]")):
        form = normalize_request({"contents": ["a", {name: {"mimeType": "image/png"}}, "b"]})
        assert (form.text, form.notes) == (f"a\n{placeholder}\nb", ("non_text_part",))
    assert normalize_request({"contents": {"text": "a"}}).text == "a"
    assert normalize_request({"contents": [{"name": "files/1", "uri": "https://x"}, "a"]}).text == "[part]\na"
    for name in ("functionCall", "function_call", "executableCode", "executable_code"):
        form = normalize_request({"contents": ["a", {name: {"name": "f"}}]})
        assert (form.text, form.notes) == ("a", ("later_turns_not_shown",)), name
        assert [message["role"] for message in form.canonical["messages"]] == ["user", "assistant"]


@pytest.mark.parametrize("holder", [None, "config"])
@pytest.mark.parametrize("name", ["systemInstruction", "system_instruction"])
def test_the_instruction_of_contents(holder, name):
    for said in ("Be brief.", {"parts": [{"text": "Be brief."}]}):
        beside = {name: said} if holder is None else {holder: {name: said, "temperature": 0}}
        form = normalize_request({"model": "gemini", "contents": "When?", **beside})
        assert (form.text, form.history) == ("When?", (Turn("system", "Be brief."),))


def test_a_turn_of_contents_keeps_its_other_fields():
    form = normalize_request({"contents": [{"role": "model", "parts": {"text": "a"}, "id": 1}, {"parts": None}]})
    assert form.canonical == {
        "messages": [
            {"role": "assistant", "content": [{"text": "a"}], "id": 1},
            {"role": "user", "content": [None]},
        ]
    }


def test_rows_of_a_split_that_are_no_lists_are_empty_requests():
    request = {"dataframe_split": {"columns": ["query"], "data": [["q"], 1, None, []]}}
    assert read_batch(request) == Batch([{"query": "q"}, {}, {}, {}])
