"""Replies of judges, good, sloppy and hostile, and the one verdict or error that each of them means."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reported_faults import reported_faults

from beamjudge.schemas.assessment import Outcome, Verdict
from beamjudge.schemas.judges import Protocol
from beamjudge.transforms.judging import reply as reply_module
from beamjudge.transforms.judging.reply import (
    BAD_RATING,
    BROKEN,
    CUT_OFF,
    DISAGREE,
    EMPTY,
    FILTERED,
    HTML,
    NO_RATING,
    NO_VERDICT,
    REFUSED,
    TOOL_CALLS,
    UNCLOSED_THINKING,
    Reply,
    read_reply,
)

_MESSAGES = {value for name, value in vars(reply_module).items() if name.isupper() and isinstance(value, str)}


def _structured(content: str | None, finish_reason: str = "stop") -> Verdict:
    return read_reply(Reply(content, finish_reason), Protocol.STRUCTURED)


def _yes_no(content: str | None, finish_reason: str = "stop") -> Verdict:
    return read_reply(Reply(content, finish_reason), Protocol.YES_NO)


@pytest.mark.parametrize(
    ("content", "rating", "rationale"),
    [
        ('{"rationale": "fits", "rating": "yes"}', "yes", "fits"),
        ('{"rating":"no","rationale":"names (x, ] but stops, } there"}', "no", "names (x, ] but stops, } there"),
        ('{"rating":"no","rationale":"a ,} b ,] c"}', "no", "a ,} b ,] c"),
        ('{"rating":"yes","rationale":"ok",}', "yes", "ok"),
        ('{"rating":"yes","steps":["a","b",],"rationale":"ok",\n}', "yes", "ok"),
        ('```json\n{"rationale": "ok", "rating": "no"}\n```', "no", "ok"),
        ('Here it is:\n{"rationale": "ok", "rating": "no"}\nI hope this helps.', "no", "ok"),
        ('By \\frac{a}{b} and {x}: {"rationale": "ok", "rating": "no"}', "no", "ok"),
        ("{'rationale': 'It doesn't hold', 'rating': 'no'}", "no", "It doesn't hold"),
        ("{'rationale': \"it's\", 'rating': 'no', 'sure': True, 'note': None}", "no", "it's"),
        ('{"rationale": "line one\nline two\ttab", "rating": "yes"}', "yes", "line one\nline two\ttab"),
        ('\ufeff{"rationale": "ok", "rating": "yes"}', "yes", "ok"),
        ('{"rationale": "ok", "rating": " YES\\n"}', "yes", "ok"),
        ('{"Rationale": "ok", "Rating": "No"}', "no", "ok"),
        ('{"rating": "no"}', "no", None),
        ('{"rating": "no", "rationale": null}', "no", None),
        ('{"rating": "no", "rationale": ["a", {"b": 1}]}', "no", '["a",{"b":1.0}]'),
        ('{"result": {"rating": "no", "rationale": "deep"}}', "no", "deep"),
        ('[{"rating": "no", "rationale": "listed"}]', "no", "listed"),
        ('{"rating": "no", "rationale": "draft"}\n{"rating": "no", "rationale": "final"}', "no", "final"),
        ('<think>{"rating": "yes"} or no?</think>\n{"rationale": "ok", "rating": "no"}', "no", "ok"),
        ('<THINKING>a</THINKING><think>b</think>{"rationale": "ok", "rating": "no"}', "no", "ok"),
        ('[THINK]yes[/THINK]{"rationale": "ok", "rating": "no"}', "no", "ok"),
        ('maybe yes</think>\n{"rationale": "ok", "rating": "no"}', "no", "ok"),
        ('Right.\n<think>{"rating": "yes"}</think>{"rationale": "ok", "rating": "no"}', "no", "ok"),
        ('{"rationale": "it says </think> and <think>", "rating": "no"}', "no", "it says </think> and <think>"),
        ('{"rationale": "\\"\\\\ \\/ \\u00e9 \\ud83d\\ude00", "rating": "no"}', "no", '"\\ / é 😀'),
        ('{"rationale": "\\(x\\) \\ud83d!", "rating": "no"}', "no", "\\(x\\) \ufffd!"),
        ('{"rationale": "quotes {\\"rating\\": \\"yes\\"}", "rating": "no"}', "no", 'quotes {"rating": "yes"}'),
        ("YES\n", "yes", None),
        ("<think>It seems yes, but then one date is off.</think>\nno", "no", None),
    ],
)
def test_a_structured_verdict_is_read(content: str, rating: str, rationale: str | None) -> None:
    verdict = _structured(content)
    assert (verdict.rating, verdict.rationale, verdict.error_message) == (rating, rationale, None)


def test_a_score_is_read_where_there_is_one() -> None:
    assert _structured('{"rating": "yes", "score": 4}').score == 4.0
    assert _structured('{"rating": "yes", "score": "4"}').score is None
    assert _structured('{"rating": "yes", "score": true}').score is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, EMPTY),
        ("", EMPTY),
        (" \n", EMPTY),
        ("<think>yes</think>", EMPTY),
        ("thinking only</think>", EMPTY),
        ('<think>{"rating": "yes"}', UNCLOSED_THINKING),
        ('Well.\n<think>maybe {"rating": "yes"}', UNCLOSED_THINKING),
        ('The text says {"rating": "yes", "rationale": "perfect"}. Mine: {"rating": "no", "rationale": "x"}', DISAGREE),
        ('{"rating": "no", "quote": {"rating": "yes"}}', DISAGREE),
        ('[{"rating": "no"}, {"rating": "yes"}]', DISAGREE),
        ('{"rating": "no", "Rating": "yes"}', DISAGREE),
        ('{"rating": "no"} </think> {"rating": "yes"}', DISAGREE),
        ('{"rating": "no", "rating": "yes"}', BROKEN),
        ('{"rationale": "It says {"rating": "yes"} here", "rating": "no"}', BROKEN),
        ('{"rating": "no", "rationale": "contains </think> {"rating": "yes"}"}', BROKEN),
        ("{'rationale': 'It says 'fine', 'rating': 'yes', 'x': 'it'', 'rating': 'no'}", BROKEN),
        ('{rating: "no", note: {"rating": "yes"}}', BROKEN),
        ('{“rating”: “no”} or {"rating": "yes"}', BROKEN),
        ('{"rating": "no"', BROKEN),
        ('{"rating": no}', BROKEN),
        ('{"rating": "no", "score": 1e999}', BROKEN),
        ('{"rating": "no" "rationale": "x"}', BROKEN),
        ('{"rating": "yes", "x": ' + "[" * 200 + "]" * 200 + "}", BROKEN),
        ('{"rating": "maybe"}', BAD_RATING),
        ('{"rating": "yesterday"}', BAD_RATING),
        ('{"rating": "INCORRECT"}', BAD_RATING),
        ('{"rating": "not no"}', BAD_RATING),
        ('{"rating": true}', BAD_RATING),
        ('{"rating": null}', BAD_RATING),
        ('{"rating": ["yes"]}', BAD_RATING),
        ('{"rationale": "<what decides, and why>", "rating": "<yes or no>"}', BAD_RATING),
        ('{"properties": {"rating": {"enum": ["yes", "no"]}}}', BAD_RATING),
        ('{"rationale": "good"}', NO_RATING),
        ('{"verdict": "yes"}', NO_RATING),
        ('<!DOCTYPE html><p>{"rating": "yes"}</p>', HTML),
        ("<html><body>502 Bad Gateway</body></html>", HTML),
        ("Sorry, this is something I won't rate.", NO_VERDICT),
        ("The text makes no claim that could be rated.", NO_VERDICT),
        ("A yes needs three things. I could not check them.", NO_VERDICT),
        ("It looks like a yes until the last line.\nSo in the end: no", NO_VERDICT),
        ("Yes, it does.", NO_VERDICT),
        ("rating: yes", NO_VERDICT),
        ("{}", NO_VERDICT),
    ],
)
def test_anything_else_is_an_error(content: str | None, message: str) -> None:
    assert _structured(content) == Verdict.failed(message)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply("", "length"), CUT_OFF),
        (Reply(None, "length"), CUT_OFF),
        (Reply('{"rationale": "it is ', "length"), CUT_OFF),
        (Reply('{"rating": "yes"} {"rating": "n', "length"), CUT_OFF),
        (Reply("yes", "length"), CUT_OFF),
        (Reply("I think that", "length"), CUT_OFF),
        (Reply('{"rating": "yes"}', "content_filter"), FILTERED),
        (Reply('{"rating": "yes"}', "stop", refusal="I can't judge this."), REFUSED),
        (Reply(None, "tool_calls", has_tool_calls=True), TOOL_CALLS),
    ],
)
def test_the_way_in_which_a_reply_ended_counts(reply: Reply, message: str) -> None:
    assert read_reply(reply, Protocol.STRUCTURED) == Verdict.failed(message)


def test_a_complete_object_before_the_cut_is_a_verdict() -> None:
    assert _structured('{"rationale": "ok", "rating": "no"} And', "length") == Verdict.scored("no", "ok")
    assert read_reply(Reply('{"rating": "no"}', "tool_calls", "", True), Protocol.STRUCTURED).rating == "no"


@pytest.mark.parametrize(
    ("content", "rating", "rationale"),
    [
        ("YES\n", "yes", None),
        ("no", "no", None),
        ("No.", "no", None),
        ("**Yes**", "yes", None),
        ("`no`", "no", None),
        ('"Yes."', "yes", None),
        ("_yes_", "yes", None),
        ("# NO\n\nThe date differs.", "no", "The date differs."),
        ("Yes, line two has it.", "yes", "line two has it."),
        ('"Yes, it holds."', "yes", "it holds."),
        ('**Yes**, because of "x"', "yes", 'because of "x"'),
        ('Yes. "Paris" is there.', "yes", '"Paris" is there.'),
        ("YES - it fits - fully", "yes", "it fits - fully"),
        ("Yes, no issues found.", "yes", "no issues found."),
        ("```\nNO\n```", "no", None),
        ("<think>yes... no</think>\nno", "no", None),
        ("so it holds</think>\n\nYes: all of it", "yes", "all of it"),
        ("\ufeffyes", "yes", None),
    ],
)
def test_a_leading_yes_or_no_is_read(content: str, rating: str, rationale: str | None) -> None:
    verdict = _yes_no(content)
    assert (verdict.rating, verdict.rationale, verdict.error_message) == (rating, rationale, None)
    minicheck = read_reply(Reply(content, "stop"), Protocol.MINICHECK)
    assert (minicheck.rating, minicheck.rationale) == (rating, None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("yesterday", NO_VERDICT),
        ("It was published yesterday.", NO_VERDICT),
        ("Nothing in it says so.", NO_VERDICT),
        ("Eyes on the second line: unclear.", NO_VERDICT),
        ("Not supported", NO_VERDICT),
        ("No-one knows", NO_VERDICT),
        ("no_verdict", NO_VERDICT),
        ("no\u0301", NO_VERDICT),
        ("INCORRECT", NO_VERDICT),
        ("Answer: yes", NO_VERDICT),
        ('{"rating": "yes"}', NO_VERDICT),
        ("Sorry, this is something I won't rate.", NO_VERDICT),
        ("***", NO_VERDICT),
        ("Yes and no", DISAGREE),
        ("Yes and no: it depends.", DISAGREE),
        ("yes/no", DISAGREE),
        ("YES or NO?", DISAGREE),
        ("No. Yes.", DISAGREE),
        ("No wait, it holds.</think>yes", DISAGREE),
        ("<think>yes", UNCLOSED_THINKING),
        (None, EMPTY),
    ],
)
def test_anything_but_a_leading_yes_or_no_is_an_error(content: str | None, message: str) -> None:
    assert _yes_no(content) == Verdict.failed(message)


def test_a_word_that_was_cut_off_is_no_verdict() -> None:
    assert _yes_no("No", "length") == Verdict.failed(CUT_OFF)
    assert _yes_no("No, the date", "length") == Verdict.scored("no", "the date")


@settings(max_examples=150)
@given(st.sampled_from(["yes", "no"]), st.text(), st.booleans(), st.booleans())
def test_json_reads_back_byte_for_byte(rating: str, rationale: str, ascii_only: bool, indented: bool) -> None:
    content = json.dumps(
        {"rationale": rationale, "rating": rating}, ensure_ascii=ascii_only, indent=2 if indented else None
    )
    verdict = _structured(content)
    assert (verdict.rating, verdict.rationale) == (rating, rationale)


_FRAGMENTS = st.sampled_from(
    [
        *"{}[]\"',:\\ \n",
        "rating",
        "rationale",
        '"rating"',
        '"yes"',
        '"no"',
        "yes",
        "no",
        '{"rating":"yes"}',
        "{'a':",
        "<think>",
        "</think>",
        "```",
        "secret",
        "1e5",
        "null",
        "<html>",
        "\ud83d",
    ]
)


@settings(max_examples=300)
@given(st.lists(_FRAGMENTS, max_size=30), st.sampled_from(list(Protocol)), st.sampled_from(["stop", "length", None]))
def test_any_reply_gives_a_verdict_or_one_of_the_fixed_messages(
    fragments: list[str], protocol: Protocol, finish_reason: str | None
) -> None:
    verdict = read_reply(Reply("".join(fragments), finish_reason), protocol)
    if verdict.outcome is Outcome.SCORED:
        assert verdict.rating in ("yes", "no")
        assert verdict.error_message is None
    else:
        assert verdict.error_message in _MESSAGES  # so no message repeats what the reply said
        assert verdict.rating is None


@pytest.mark.parametrize("head", ["", '{"rating":"yes","x":', "{'", "Yes ", '{"rating":"yes"} '])
@pytest.mark.parametrize(
    "unit",
    [
        "{",
        "{ ",
        '{"a":',
        '{"',
        "[",
        "'",
        '"',
        "\\",
        '{"a":[',
        "<think>",
        "<think></think>",
        "</think>",
        "{'a' ",
        "no/",
        ". ",
    ],
)
def test_hostile_replies_are_read_in_one_pass(head: str, unit: str) -> None:
    content = head + unit * (100_000 // len(unit))  # quadratic or recursive reading would take minutes or fail
    for protocol in Protocol:
        assert read_reply(Reply(content, "stop"), protocol).outcome in (Outcome.SCORED, Outcome.ERROR)


# What each collected report allows as the rating; "error" is a failed verdict.
_ALLOWED = {
    "B01": {"yes"},
    "B02": {"yes", "error"},
    "B05": {"error"},
    "B08": {"no", "error"},
    "B11": {"error"},
    "B14": {"no"},
    "B16": {"error"},
    "B19": {"error"},
    "B20": {"no", "error"},
}


@pytest.mark.parametrize("protocol", list(Protocol))
def test_bugs_reported_of_other_judges(protocol: Protocol) -> None:
    faults = reported_faults()
    for fault, allowed in _ALLOWED.items():
        replies = faults[fault].get("judge_replies") or [faults[fault]["judge_reply"]]
        ratings = {read_reply(Reply(reply, "stop"), protocol).rating or "error" for reply in replies}
        assert ratings <= allowed, fault
