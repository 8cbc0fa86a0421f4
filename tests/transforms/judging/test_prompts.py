"""The prompt files: there is one a judge, and each asks for exactly what its judge has."""

import re

import pytest

from beamjudge.prompts import load_prompt
from beamjudge.schemas.judges import BUILT_IN_JUDGES, JudgeSpec, Need
from beamjudge.transforms.judging.render import PLACEHOLDERS

_NEEDED = {
    Need.RESPONSE: {"response"},
    Need.CONTEXT: {"retrieved_context"},
    Need.EXPECTATION: {"expected_response", "expected_facts"},
    Need.GUIDELINES: {"guidelines"},
    Need.GLOBAL_GUIDELINES: {"guidelines"},
}


@pytest.mark.parametrize("spec", BUILT_IN_JUDGES, ids=lambda spec: spec.name)
def test_a_prompt_names_what_its_judge_needs_and_no_more(spec: JudgeSpec) -> None:
    criteria, separator, data = load_prompt(spec.name).partition("\n---\n")
    assert separator
    placeholders = re.findall(r"\{(\w+)\}", data)
    assert len(placeholders) == len(set(placeholders))
    assert set(placeholders) <= set(PLACEHOLDERS)
    conversation = set() if spec.name == "fact_check" else {"request", "history"}
    assert set(placeholders) == conversation.union(*(_NEEDED[need] for need in spec.needs))
    assert not re.search(r"\{\w+\}", criteria)
    assert data.strip().endswith("?")  # the question comes last, after the data


def test_the_two_guideline_judges_apply_the_same_criteria() -> None:
    own = load_prompt("guideline_adherence").split("\n\n")
    run = load_prompt("global_guideline_adherence").split("\n\n")
    assert own[1:] == run[1:]
    assert own[0] != run[0]


def test_minicheck_has_its_two_lines_only() -> None:
    assert load_prompt("minicheck").strip() == "Document: {document}\nClaim: {claim}"


def test_every_structured_prompt_names_json() -> None:
    assert "JSON" in load_prompt("answer_structured")  # response_format json_object demands the word


def test_a_judge_without_a_prompt_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        load_prompt("no_such_judge")
