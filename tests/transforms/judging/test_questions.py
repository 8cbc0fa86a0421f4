"""What is asked of a row, what is decided without asking, and how answers become an assessment."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from beamjudge.schemas.assessment import Assessment, Outcome, Verdict
from beamjudge.schemas.judges import BUILT_IN_JUDGES, JudgeSpec, Need, Protocol
from beamjudge.schemas.row import Document, Guidelines, Row, TokenUsage, Turn
from beamjudge.schemas.run_config import Endpoint
from beamjudge.schemas.spend import JudgeSpend, Spend
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.judging.degenerate import decide
from beamjudge.transforms.judging.minicheck import DOCUMENT_BYTES, documents
from beamjudge.transforms.judging.question import JudgeInputs, Question
from beamjudge.transforms.judging.questions import assemble, can_judge, plan_questions

_SPECS = {spec.name: spec for spec in BUILT_IN_JUDGES}
_NO_GUIDELINES = Guidelines()
_RULES = Guidelines(rules=("Be brief.",))
_NAMED = Guidelines(named=(("tone", ("Be kind.",)), ("english", ("Use English.", "No slang."))))
_RESPONSE_JUDGES = (
    "relevance_to_query",
    "groundedness",
    "safety",
    "correctness",
    "guideline_adherence",
    "global_guideline_adherence",
    "relevancy",
    "fact_check",
)


def _binding(name: str, protocol: Protocol | None = None) -> JudgeBinding:
    spec = _SPECS[name]
    return JudgeBinding(spec, "", protocol or spec.protocol, "default", Endpoint(model="m"))


def _context(*contents: str | None) -> tuple[Document, ...]:
    return tuple(Document(f"doc{rank}", content) for rank, content in enumerate(contents))


def _row(**fields: Any) -> Row:
    row = Row(
        request_id="1",
        timestamp=None,
        request="{}",
        response="{}",
        request_text="Q?",
        history=(Turn("user", "Hello."),),
        response_text="A.",
        expected_response="E.",
        expected_responses=(),
        expected_facts=None,
        guidelines=_RULES,
        retrieved_context=_context("first", "second"),
        expected_retrieved_context=None,
        usage=TokenUsage(),
        latency_seconds=None,
        notes=(),
        source_file="f",
        source_position="0",
    )
    return replace(row, **fields)


def _decided(name: str, global_guidelines: Guidelines = _RULES, **fields: Any) -> Assessment:
    planned = plan_questions(_binding(name), _row(**fields), global_guidelines)
    assert isinstance(planned, Assessment), f"{name} asks {planned}"
    assert can_judge(_binding(name), _row(**fields), global_guidelines) is (
        planned.verdict.outcome is not Outcome.NOT_APPLICABLE or planned.verdict.rationale is not None
    )
    return planned


def _asked(name: str, global_guidelines: Guidelines = _RULES, **fields: Any) -> tuple[JudgeInputs, ...]:
    planned = plan_questions(_binding(name), _row(**fields), global_guidelines)
    assert isinstance(planned, tuple), f"{name} is decided: {planned}"
    assert planned
    assert {question.judge for question in planned} == {name}
    assert can_judge(_binding(name), _row(**fields), global_guidelines)
    return tuple(question.inputs for question in planned)


def test_a_judge_gets_what_it_needs_and_no_more() -> None:
    shared = JudgeInputs("Q?", history=(Turn("user", "Hello."),))
    context = ("first", "second")
    assert _asked("relevance_to_query") == (replace(shared, response="A."),)
    assert _asked("safety") == (replace(shared, response="A."),)
    assert _asked("groundedness") == (replace(shared, response="A.", context=context),)
    assert _asked("fact_check") == (replace(shared, response="A.", context=context),)
    assert _asked("correctness") == (replace(shared, response="A.", expected_responses=("E.",)),)
    assert _asked("context_sufficiency") == (replace(shared, context=context, expected_responses=("E.",)),)
    assert _asked("guideline_adherence") == (replace(shared, response="A.", guidelines=("Be brief.",)),)
    assert _asked("global_guideline_adherence") == (replace(shared, response="A.", guidelines=("Be brief.",)),)
    assert _asked("chunk_relevance") == (replace(shared, context=("first",)), replace(shared, context=("second",)))


def test_expectations_are_alternatives_or_facts() -> None:
    (inputs,) = _asked("correctness", expected_responses=("F.", " ", "E."))
    assert inputs.expected_responses == ("E.", "F.")
    (inputs,) = _asked("correctness", expected_response=None, expected_facts=("a", "", "b"))
    assert (inputs.expected_responses, inputs.expected_facts) == ((), ("a", "b"))
    (inputs,) = _asked("correctness", expected_response=None, expected_responses=("F.",))
    assert inputs.expected_responses == ("F.",)
    (inputs,) = _asked("correctness", expected_facts=())  # an empty list of facts counts as absent
    assert inputs.expected_responses == ("E.",)


@pytest.mark.parametrize("name", _RESPONSE_JUDGES)
def test_without_a_response_its_judges_do_not_apply(name: str) -> None:
    assert _decided(name, response_text=None).verdict == Verdict.not_applicable()


@pytest.mark.parametrize("name", ["chunk_relevance", "context_sufficiency"])
def test_retrieval_judges_need_no_response(name: str) -> None:
    assert all(inputs.response is None for inputs in _asked(name, response_text=None))
    assert _asked(name, response_text="")


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("groundedness", {"retrieved_context": None}),
        ("relevancy", {"retrieved_context": None}),
        ("fact_check", {"retrieved_context": None}),
        ("chunk_relevance", {"retrieved_context": None}),
        ("context_sufficiency", {"retrieved_context": None}),
        ("context_sufficiency", {"expected_response": None}),
        ("context_sufficiency", {"expected_response": None, "retrieved_context": ()}),
        ("correctness", {"expected_response": None}),
        ("correctness", {"expected_response": None, "response_text": ""}),
        ("guideline_adherence", {"guidelines": None}),
        ("guideline_adherence", {"guidelines": None, "response_text": ""}),
    ],
)
def test_an_input_that_was_not_given_gives_no_rationale(name: str, fields: dict[str, Any]) -> None:
    assert _decided(name, **fields) == Assessment(Verdict.not_applicable())


def test_a_run_without_guidelines_has_none_to_follow() -> None:
    assert _decided("global_guideline_adherence", _NO_GUIDELINES) == Assessment(Verdict.not_applicable())


@pytest.mark.parametrize(
    ("name", "fields", "rating", "word"),
    [
        ("relevance_to_query", {"response_text": ""}, "no", "response"),
        ("relevance_to_query", {"response_text": " \n\t\u3000"}, "no", "response"),
        ("correctness", {"response_text": ""}, "no", "response"),
        ("guideline_adherence", {"response_text": ""}, "no", "response"),
        ("global_guideline_adherence", {"response_text": ""}, "no", "response"),
        ("safety", {"response_text": ""}, "yes", "response"),
        ("groundedness", {"response_text": ""}, None, "response"),
        ("relevancy", {"response_text": ""}, None, "response"),
        ("fact_check", {"response_text": ""}, None, "response"),
        ("groundedness", {"response_text": "", "retrieved_context": ()}, None, "response"),
        ("chunk_relevance", {"retrieved_context": ()}, None, "found nothing"),
        ("context_sufficiency", {"retrieved_context": ()}, "no", "found nothing"),
        ("groundedness", {"retrieved_context": ()}, "no", "found nothing"),
        ("relevancy", {"retrieved_context": ()}, "no", "found nothing"),
        ("fact_check", {"retrieved_context": ()}, "no", "found nothing"),
        ("chunk_relevance", {"retrieved_context": _context(None, None)}, None, "content"),
        ("context_sufficiency", {"retrieved_context": _context(None)}, None, "content"),
        ("groundedness", {"retrieved_context": _context(None)}, None, "content"),
        ("relevancy", {"retrieved_context": _context(None)}, None, "content"),
        ("fact_check", {"retrieved_context": _context(None)}, None, "content"),
        ("groundedness", {"retrieved_context": _context(" ", None)}, "no", "text"),
        ("context_sufficiency", {"retrieved_context": _context("", "\n")}, "no", "text"),
        ("correctness", {"expected_response": None, "expected_facts": ()}, None, "expected"),
        ("correctness", {"expected_response": None, "expected_facts": (), "response_text": ""}, None, "expected"),
        ("correctness", {"expected_response": " "}, None, "expected"),
        ("context_sufficiency", {"expected_response": None, "expected_facts": ()}, None, "expected"),
        ("guideline_adherence", {"guidelines": Guidelines()}, None, "guidelines"),
        ("guideline_adherence", {"guidelines": Guidelines(rules=(" ",))}, None, "guidelines"),
    ],
)
def test_degenerate_inputs_are_decided_by_rule(
    name: str, fields: dict[str, Any], rating: str | None, word: str
) -> None:
    assessment = _decided(name, **fields)
    assert assessment.verdict.rating == rating
    assert assessment.verdict.rationale is not None
    assert word in assessment.verdict.rationale
    assert assessment.chunks is None
    assert assessment.verdict.spend == Spend()


_BY_RULE = {None: None, "yes": ("scored", "yes"), "no": ("scored", "no"), "not_applicable": ("not_applicable", None)}


@pytest.mark.parametrize("on_empty_context", _BY_RULE)
@pytest.mark.parametrize("on_blank_response", _BY_RULE)
def test_what_an_empty_input_means_is_the_judges_declaration(on_blank_response: Any, on_empty_context: Any) -> None:
    needs = frozenset({Need.RESPONSE, Need.CONTEXT})
    spec = JudgeSpec(
        "own",
        "response",
        "row",
        needs,
        "?",
        on_blank_response=on_blank_response,
        on_empty_context=on_empty_context,
    )

    def said(**fields: Any) -> tuple[str, str | None] | None:
        verdict = decide(spec, _row(**fields), None)
        return None if verdict is None else (verdict.outcome.value, verdict.rating)

    assert said() is None
    assert said(response_text=" ") == _BY_RULE[on_blank_response]
    assert said(retrieved_context=()) == _BY_RULE[on_empty_context]
    assert said(retrieved_context=_context(" ", None)) == _BY_RULE[on_empty_context]
    both = _BY_RULE[on_blank_response] or _BY_RULE[on_empty_context]
    assert said(response_text="", retrieved_context=()) == both


@pytest.mark.parametrize(
    ("need", "own", "global_", "rules"),
    [
        (Need.GUIDELINES, _RULES, _NO_GUIDELINES, ("Be brief.",)),
        (Need.GLOBAL_GUIDELINES, None, _RULES, ("Be brief.",)),
        (Need.GUIDELINES, None, _RULES, None),
        (Need.GLOBAL_GUIDELINES, _RULES, _NO_GUIDELINES, None),
    ],
)
def test_whose_guidelines_are_checked_is_the_judges_declaration(
    need: Need, own: Guidelines | None, global_: Guidelines, rules: tuple[str, ...] | None
) -> None:
    spec = JudgeSpec("own", "response", "guidelines", frozenset({Need.RESPONSE, need}), "?")
    binding = JudgeBinding(spec, "", spec.protocol, "default", Endpoint(model="m"))
    planned = plan_questions(binding, _row(guidelines=own), global_)
    if rules is None:
        assert planned == Assessment(Verdict.not_applicable())
    else:
        assert isinstance(planned, tuple)
        assert [question.inputs.guidelines for question in planned] == [rules]


def test_chunks_without_text_keep_their_rank() -> None:
    context = _context(None, "a", " ", "b")
    (inputs,) = _asked("groundedness", retrieved_context=context)
    assert inputs.context == ("", "a", " ", "b")
    assert [inputs.context for inputs in _asked("chunk_relevance", retrieved_context=context)] == [("a",), ("b",)]


def test_answers_return_to_their_chunks() -> None:
    row = _row(retrieved_context=_context(None, "a", " ", "b"))
    questions = plan_questions(_binding("chunk_relevance"), row, _RULES)
    assert isinstance(questions, tuple)
    answers = [
        replace(
            Verdict.scored("yes", "fits", spend=Spend(1, 10, 0, 2, 0, 0.5)), notes=("truncated:retrieved_context",)
        ),
        Verdict.failed("no reply", Spend(2, 5, 0, 0, 0, 0.25)),
    ]
    assessment = assemble(_binding("chunk_relevance"), row, _RULES, questions, answers)
    assert assessment.chunks is not None
    assert [chunk.outcome.value for chunk in assessment.chunks] == ["not_applicable", "scored", "scored", "error"]
    assert [chunk.rating for chunk in assessment.chunks] == [None, "yes", "no", None]
    assert assessment.precision == 0.5
    assert assessment.verdict.outcome is Outcome.SCORED
    assert assessment.verdict.error_message is None
    assert assessment.verdict.cost == JudgeSpend(spent=Spend(1, 10, 0, 2, 0, 0.5), wasted=Spend(2, 5, 0, 0, 0, 0.25))
    assert assessment.verdict.notes == ("truncated:retrieved_context",)


def test_a_row_fails_only_when_every_rated_chunk_does() -> None:
    row = _row(retrieved_context=_context(None, "a", "b"))
    questions = plan_questions(_binding("chunk_relevance"), row, _RULES)
    assert isinstance(questions, tuple)
    answers = [Verdict.failed("no reply"), Verdict.failed("no reply")]
    assessment = assemble(_binding("chunk_relevance"), row, _RULES, questions, answers)
    assert assessment.verdict == Verdict.failed("2 of 3 chunks could not be rated: no reply")
    assert assessment.precision is None


def test_blank_chunks_are_irrelevant_without_a_call() -> None:
    assessment = _decided("chunk_relevance", retrieved_context=_context("", None))
    assert assessment.verdict.outcome is Outcome.SCORED
    assert assessment.chunks is not None
    assert [chunk.rating for chunk in assessment.chunks] == ["no", None]
    assert assessment.precision == 0.0


def _answer_named(guidelines: Guidelines, *answers: Verdict) -> Assessment:
    row = _row(guidelines=guidelines)
    questions = plan_questions(_binding("guideline_adherence"), row, _NO_GUIDELINES)
    assert isinstance(questions, tuple)
    return assemble(_binding("guideline_adherence"), row, _NO_GUIDELINES, questions, answers)


def test_named_guidelines_are_asked_by_name() -> None:
    asked = _asked("global_guideline_adherence", _NAMED)
    assert [inputs.guidelines for inputs in asked] == [("Be kind.",), ("Use English.", "No slang.")]


def test_named_guidelines_are_joined_by_and() -> None:
    yes, no, failed = Verdict.scored("yes", "ok"), Verdict.scored("no", "rude"), Verdict.failed("no reply")
    kept = _answer_named(_NAMED, yes, yes)
    assert kept.verdict.rating == "yes"
    assert kept.named == (("tone", yes), ("english", yes))
    broken = _answer_named(_NAMED, failed, no)
    assert broken.verdict == Verdict.scored("no", "Not followed: english: rude")
    undecided = _answer_named(_NAMED, yes, failed)
    assert undecided.verdict == Verdict.failed("1 of 2 named guidelines could not be rated: no reply")


@pytest.mark.parametrize("kinds", list(product(["yes", "no", "error", "undecided", "no rules"], repeat=3)))
def test_one_name_that_nobody_could_check_is_no_yes(kinds: tuple[str, ...]) -> None:
    answers = {
        "yes": Verdict.scored("yes", "ok"),
        "no": Verdict.scored("no", "rude"),
        "error": Verdict.failed("no reply"),
        "undecided": Verdict.not_applicable("no rule understands it"),
    }
    guidelines = Guidelines(
        named=tuple((f"g{i}", () if kind == "no rules" else (f"Rule {i}.",)) for i, kind in enumerate(kinds))
    )
    asked = [kind for kind in kinds if kind != "no rules"]
    if not asked:
        assert _decided("guideline_adherence", guidelines=guidelines).verdict.outcome is Outcome.NOT_APPLICABLE
        return
    verdict = _answer_named(guidelines, *(answers[kind] for kind in asked)).verdict
    undecided = [f"g{i}" for i, kind in enumerate(kinds) if kind == "undecided"]
    if "no" in asked:
        assert verdict.rating == "no"
    elif "error" in asked:
        failed = asked.count("error")
        assert verdict == Verdict.failed(f"{failed} of {len(asked)} named guidelines could not be rated: no reply")
    elif undecided:
        reasons = "; ".join(f"{name}: no rule understands it" for name in undecided)
        assert verdict == Verdict.not_applicable(f"Undecided: {reasons}")
    else:
        assert verdict.rating == "yes"


def test_a_name_without_rules_does_not_apply() -> None:
    guidelines = Guidelines(named=(("none", ()), ("tone", ("Be kind.",))))
    assessment = _answer_named(guidelines, Verdict.scored("yes", "ok"))
    assert [(name, verdict.outcome.value) for name, verdict in assessment.named] == [
        ("none", "not_applicable"),
        ("tone", "scored"),
    ]
    assert assessment.verdict.rating == "yes"
    empty = Guidelines(named=(("none", ()),))
    assert _decided("guideline_adherence", guidelines=empty).verdict.outcome is Outcome.NOT_APPLICABLE


def test_an_empty_response_follows_no_named_guideline() -> None:
    assessment = _decided("global_guideline_adherence", _NAMED, response_text="")
    assert [(name, verdict.rating) for name, verdict in assessment.named] == [("tone", "no"), ("english", "no")]
    assert assessment.verdict.rating == "no"


def test_a_row_verdict_is_the_judges_own() -> None:
    verdict = Verdict.scored("no", "wrong", score=2.0, spend=Spend(1))
    question = Question("safety", JudgeInputs("Q?"))
    assert assemble(_binding("safety"), _row(), _RULES, (question,), (verdict,)) == Assessment(verdict)
    with pytest.raises(ValueError, match="1 questions, but 0 verdicts"):
        assemble(_binding("safety"), _row(), _RULES, (question,), ())


def _minicheck(row: Row, *answers: Verdict) -> Verdict:
    binding = _binding("groundedness", Protocol.MINICHECK)
    questions = plan_questions(binding, row, _NO_GUIDELINES)
    assert isinstance(questions, tuple)
    return assemble(binding, row, _NO_GUIDELINES, questions, answers).verdict


_SUPPORTED = "Every sentence is supported by a document."
_YES, _NO, _FAILED = Verdict.scored("yes", None), Verdict.scored("no", None), Verdict.failed("no reply")


def test_minicheck_asks_sentence_by_sentence_and_document_by_document() -> None:
    long = "x" * (DOCUMENT_BYTES - 5)
    row = _row(response_text="One is red. Two is blue.", retrieved_context=_context(long, None, " ", "last one"))
    questions = plan_questions(_binding("groundedness", Protocol.MINICHECK), row, _NO_GUIDELINES)
    assert isinstance(questions, tuple)
    assert [(question.inputs.response, question.inputs.context) for question in questions] == [
        ("One is red.", (long,)),
        ("One is red.", ("last one",)),
        ("Two is blue.", (long,)),
        ("Two is blue.", ("last one",)),
    ]
    assert _minicheck(row, _YES, _NO, _FAILED, _YES).rating == "yes"
    assert _minicheck(row, _YES, _NO, _NO, _NO) == Verdict.scored("no", 'Not supported by any document: "Two is blue."')
    assert _minicheck(row, _FAILED, _NO, _NO, _NO).rating == "no"
    undecided = _minicheck(row, _YES, _NO, _FAILED, _NO)
    assert undecided == Verdict.failed("1 of 2 sentences could not be rated: no reply")


def test_minicheck_passes_over_sentences_that_are_neither_true_nor_false() -> None:
    row = _row(response_text="Sure! Two is blue.", retrieved_context=_context("x" * DOCUMENT_BYTES, "last one"))
    courtesy = Verdict.not_applicable("a courtesy")
    assert _minicheck(row, courtesy, courtesy, _NO, _YES) == Verdict.scored("yes", _SUPPORTED)
    assert _minicheck(row, courtesy, courtesy, _NO, _NO).rating == "no"
    assert _minicheck(row, courtesy, courtesy, _NO, _FAILED).error_message == (
        "1 of 2 sentences could not be rated: no reply"
    )
    # One document that cannot tell takes nothing from what the other one says.
    assert _minicheck(row, courtesy, _YES, courtesy, _YES).rating == "yes"
    assert _minicheck(row, courtesy, _YES, courtesy, _NO).rating == "no"
    assert _minicheck(row, courtesy, _FAILED, _YES, _YES).outcome is Outcome.ERROR
    nothing = _minicheck(row, courtesy, courtesy, courtesy, courtesy)
    assert nothing == Verdict.not_applicable("No sentence of the response states anything that could be supported.")


_QUOTA = Verdict.failed("stopped:quota")


@pytest.mark.parametrize(
    ("name", "protocol", "what"),
    [
        ("groundedness", None, None),
        ("groundedness", Protocol.MINICHECK, "sentences"),
        ("chunk_relevance", None, "chunks"),
        ("guideline_adherence", None, "named guidelines"),
    ],
)
def test_what_was_stopped_stays_told_however_answers_are_joined(
    name: str, protocol: Protocol | None, what: str | None
) -> None:
    """Of all ways in which verdicts become one: the row's error begins as theirs do, and the row counts as stopped."""
    row = _row(response_text="One. Two.", retrieved_context=_context("a" * DOCUMENT_BYTES, "b"), guidelines=_NAMED)
    binding = _binding(name, protocol)
    questions = plan_questions(binding, row, _NO_GUIDELINES)
    assert isinstance(questions, tuple)

    def joined(*answers: Verdict) -> Assessment:
        return assemble(binding, row, _NO_GUIDELINES, questions, [*answers, *[_YES] * len(questions)][: len(questions)])

    every = joined(*[_QUOTA] * len(questions))
    message = "stopped:quota" if what is None else f"stopped:quota: 2 of 2 {what} could not be rated"
    assert (every.verdict.error_message, every.verdict.stopped) == (message, True)
    assert sum(part.stopped for part in every.parts()) == (2 if what in ("chunks", "named guidelines") else 1)
    if what is not None:
        failed = joined(*[_FAILED] * (len(questions) - 1), _QUOTA).verdict
        assert failed.error_message == f"stopped:quota: 2 of 2 {what} could not be rated: no reply"
    assert not joined(_FAILED).verdict.stopped
    assert not joined(_NO).verdict.stopped


def test_a_sentence_that_decides_alone_does_not_hide_that_others_were_stopped() -> None:
    row = _row(response_text="One is red. Two is blue.", retrieved_context=_context("first"))
    unsupported = _minicheck(row, _NO, _QUOTA)
    assert (unsupported.rating, unsupported.stopped) == ("no", True)
    assert Assessment(unsupported).parts()[0].stopped


def test_documents_keep_short_contents_together_and_cut_long_ones_at_sentences() -> None:
    assert documents(["a", "b"]) == ("a\nb",)
    sentence = "Word " * 200 + "end."  # 1,004 bytes
    long = " ".join([sentence] * 8)
    first, second = documents(["short", long])
    assert first.split("\n") == ["short", *[sentence] * 5]
    assert second.split("\n") == [sentence] * 3
    unbroken = documents(["漢" * 5000])
    assert "".join(piece.replace("\n", "") for piece in unbroken) == "漢" * 5000
    assert all(len(piece.encode()) <= DOCUMENT_BYTES for piece in (*unbroken, first, second))
    assert documents([]) == ()
