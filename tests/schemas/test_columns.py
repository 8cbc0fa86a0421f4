import pytest

from beamjudge.schemas.columns import (
    BadType,
    read_context,
    read_expected_context,
    read_guidelines,
    read_id,
    read_references,
    read_strings,
)
from beamjudge.schemas.row import Document, Guidelines

BARE, DROPPED = ("bare_string_as_list",), ("null_elements_dropped",)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("007", ("007", ())),
        (10254939386542155531, ("10254939386542155531", ("id_to_string",))),
        (True, ("true", ("id_to_string",))),
        (1.5, ("1.5", ("id_to_string",))),
        (None, (None, ())),
        ("", (None, ())),
    ],
)
def test_ids(value, read):
    assert read_id(value) == read


@pytest.mark.parametrize(
    ("value", "strings", "notes"),
    [
        (["a", "b"], ("a", "b"), ()),
        ("a", ("a",), BARE),
        ('["a", "b"]', ("a", "b"), ()),
        ("[1] is cited", ("[1] is cited",), BARE),
        ("[1]", ("[1]",), BARE),
        (["a", None], ("a",), DROPPED),
        ([], (), ()),
        (" ", None, ()),
        (None, None, ()),
    ],
)
def test_lists_of_strings(value, strings, notes):
    assert read_strings(value) == (strings, notes)


def test_a_reference_that_is_json_text_is_itself():
    assert read_references('["a"]') == (('["a"]',), ())
    assert read_references(["a", "b"]) == (("a", "b"), ())
    assert read_references("") == (("",), ())


@pytest.mark.parametrize(
    ("value", "guidelines", "notes"),
    [
        (["Be short."], Guidelines(rules=("Be short.",)), ()),
        ("Be short.", Guidelines(rules=("Be short.",)), BARE),
        ({"tone": ["Be kind.", "Be calm."]}, Guidelines(named=(("tone", ("Be kind.", "Be calm.")),)), ()),
        ({"tone": "Be kind."}, Guidelines(named=(("tone", ("Be kind.",)),)), BARE),
        ('{"tone": ["Be kind."]}', Guidelines(named=(("tone", ("Be kind.",)),)), ()),
        ('["Be short."]', Guidelines(rules=("Be short.",)), ()),
        ([["tone", ["Be kind."]]], Guidelines(named=(("tone", ("Be kind.",)),)), ()),
        ({"tone": ["Be kind."], "length": None}, Guidelines(named=(("tone", ("Be kind.",)),)), DROPPED),
        (
            'The response must be JSON like {"a": 1}.',
            Guidelines(rules=('The response must be JSON like {"a": 1}.',)),
            BARE,
        ),
        ([], None, ()),
        ({}, None, ()),
        (None, None, ()),
    ],
)
def test_guidelines(value, guidelines, notes):
    assert read_guidelines(value) == (guidelines, notes)


@pytest.mark.parametrize(
    ("value", "documents", "notes"),
    [
        ([{"doc_uri": "d", "content": "c"}], (Document("d", "c"),), ()),
        ([{"doc_uri": "d"}], (Document("d", None),), ()),
        ([{"doc_uri": None, "content": "c", "id": "i"}], (Document(None, "c"),), ()),
        ([{"doc_uri": 7}], (Document("7", None),), ("doc_uri_to_string",)),
        (["a", "b"], (Document(None, "a"), Document(None, "b")), ()),
        ("The only passage.", (Document(None, "The only passage."),), BARE),
        ('[{"doc_uri": "d", "content": "c"}]', (Document("d", "c"),), ()),
        ([{"doc_uri": "d1", "content": None}, None], (Document("d1", None),), DROPPED),
        ([{"page_content": "c", "metadata": {"source": "s"}}], (Document("s", "c"),), ()),
        ([], (), ()),
        (None, None, ()),
    ],
)
def test_retrieved_context(value, documents, notes):
    assert read_context(value) == (documents, notes)


def test_expected_context_takes_no_bare_strings():
    assert read_expected_context([{"doc_uri": "d"}]) == ((Document("d", None),), ())
    with pytest.raises(BadType):
        read_expected_context(["d"])
    with pytest.raises(BadType):
        read_expected_context("d")


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (read_id, {}),
        (read_references, 1),
        (read_references, [1]),
        (read_strings, {}),
        (read_strings, ["a", 1]),
        (read_guidelines, 5),
        (read_guidelines, {"a": 5}),
        (read_context, 5),
        (read_context, {"doc_uri": "d"}),
        (read_context, [5]),
        (read_context, [{"doc_uri": "d", "content": 5}]),
    ],
)
def test_wrong_types(read, value):
    with pytest.raises(BadType, match="expected"):
        read(value)
