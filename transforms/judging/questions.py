"""What a judge is asked about a row, and how the answers become the row's assessment. Both are pure functions.

One question per row for most judges; one per chunk that has text for a chunk judge; one per name for named guidelines;
one per sentence and document for MiniCheck, which rates single sentences.
"""

from collections.abc import Sequence
from dataclasses import replace

from beamjudge.schemas.assessment import Assessment, Outcome, Verdict
from beamjudge.schemas.judges import JudgeSpec, Need, Protocol
from beamjudge.schemas.row import Guidelines, Row
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.judging.degenerate import decide, expected_facts, expected_responses, is_blank, stated
from beamjudge.transforms.judging.joining import failed_whole, with_costs
from beamjudge.transforms.judging.minicheck import documents, rate_sentences
from beamjudge.transforms.judging.question import JudgeInputs, Question
from beamjudge.transforms.judging.sentences import split_sentences

_NO_CONTENT = Verdict.not_applicable("The chunk has no content.")
_BLANK_CHUNK = Verdict.scored("no", "The chunk is blank.")
_NO_RULES = Verdict.not_applicable("The list of guidelines under this name is empty.")


def plan_questions(binding: JudgeBinding, row: Row, global_guidelines: Guidelines) -> Assessment | tuple[Question, ...]:
    """What to ask about `row`, or the assessment where it is decided without a call. Never an empty tuple."""
    spec = binding.spec
    guidelines = _guidelines(spec, row, global_guidelines)
    decided = decide(spec, row, guidelines)
    if decided is not None:
        return _decided_assessment(decided, guidelines)
    inputs = _inputs(binding, row, guidelines)
    return tuple(Question(spec.name, one) for one in inputs) or assemble(binding, row, global_guidelines, (), ())


def assemble(
    binding: JudgeBinding,
    row: Row,
    global_guidelines: Guidelines,
    questions: Sequence[Question],
    verdicts: Sequence[Verdict],
) -> Assessment:
    """The row's assessment from the verdicts on `questions`, which `plan_questions` gave, in their order."""
    spec = binding.spec
    if len(verdicts) != len(questions):
        raise ValueError(f"{spec.name}: {len(questions)} questions, but {len(verdicts)} verdicts")
    if binding.protocol is Protocol.MINICHECK:
        sentences = [question.inputs.response or "" for question in questions]
        return Assessment(with_costs(rate_sentences(zip(sentences, verdicts, strict=True)), verdicts))
    if spec.unit == "chunk":
        return _assemble_chunks(row, verdicts)
    guidelines = _guidelines(spec, row, global_guidelines)
    if guidelines is not None and guidelines.named:
        return _assemble_named(guidelines, verdicts)
    return Assessment(verdicts[0])


def can_judge(binding: JudgeBinding, row: Row, global_guidelines: Guidelines) -> bool:
    """Whether the judge has something to say of `row`: a rating, or the rule by which it is not applicable."""
    decided = decide(binding.spec, row, _guidelines(binding.spec, row, global_guidelines))
    return decided is None or decided.outcome is not Outcome.NOT_APPLICABLE or decided.rationale is not None


def _guidelines(spec: JudgeSpec, row: Row, global_guidelines: Guidelines) -> Guidelines | None:
    """The guidelines that the judge checks; null where it checks none, or none were given."""
    if spec.guidelines_of == "row":
        return row.guidelines
    if spec.guidelines_of == "run" and (global_guidelines.rules or global_guidelines.named):
        return global_guidelines
    return None


def _decided_assessment(verdict: Verdict, guidelines: Guidelines | None) -> Assessment:
    named = guidelines.named if guidelines else ()
    return Assessment(verdict, named=tuple((name, verdict if stated(rules) else _NO_RULES) for name, rules in named))


def _inputs(binding: JudgeBinding, row: Row, guidelines: Guidelines | None) -> list[JudgeInputs]:
    """The inputs of each question; what the judge has no need of is left out."""
    spec = binding.spec
    contents = tuple(document.content or "" for document in row.retrieved_context or ())
    if binding.protocol is Protocol.MINICHECK:
        # The request is left out, so that a sentence that stands in many responses is asked once.
        pieces = documents(content for content in contents if not is_blank(content))
        sentences = split_sentences(row.response_text or "")
        return [JudgeInputs("", response=sentence, context=(piece,)) for sentence in sentences for piece in pieces]
    shared = JudgeInputs(
        row.request_text,
        history=row.history,
        response=row.response_text if Need.RESPONSE in spec.needs else None,
        context=contents if Need.CONTEXT in spec.needs else (),
        expected_responses=expected_responses(row) if Need.EXPECTATION in spec.needs else (),
        expected_facts=expected_facts(row) if Need.EXPECTATION in spec.needs else (),
        guidelines=stated(guidelines.rules) if guidelines else (),
    )
    if spec.unit == "chunk":
        return [replace(shared, context=(content,)) for content in contents if not is_blank(content)]
    if guidelines is not None and guidelines.named:
        return [replace(shared, guidelines=stated(rules)) for _, rules in guidelines.named if stated(rules)]
    return [shared]


def _assemble_chunks(row: Row, verdicts: Sequence[Verdict]) -> Assessment:
    """One verdict per chunk in rank order; a chunk that failed costs only itself, unless all that were rated failed."""
    answers = iter(verdicts)
    chunks = []
    for document in row.retrieved_context or ():
        if document.content is None:
            chunks.append(_NO_CONTENT)
        else:
            chunks.append(_BLANK_CHUNK if is_blank(document.content) else next(answers))
    failed = [chunk for chunk in chunks if chunk.outcome is Outcome.ERROR]
    if any(chunk.outcome is Outcome.SCORED for chunk in chunks):
        verdict = Verdict(Outcome.SCORED)
    elif failed:
        verdict = failed_whole(failed, len(failed), len(chunks), "chunks")
    else:
        verdict = Verdict.not_applicable()
    return Assessment(with_costs(verdict, verdicts), chunks=tuple(chunks))


def _assemble_named(guidelines: Guidelines, verdicts: Sequence[Verdict]) -> Assessment:
    """One verdict per name, and their conjunction. A name without rules asks for nothing and is passed over."""
    answers = iter(verdicts)
    asked = [(name, next(answers)) for name, rules in guidelines.named if stated(rules)]
    found = dict(asked)
    named = tuple((name, found.get(name, _NO_RULES)) for name, _ in guidelines.named)
    return Assessment(with_costs(_conjunction(asked), verdicts), named=named)


def _conjunction(asked: Sequence[tuple[str, Verdict]]) -> Verdict:
    """Any no is a no; else any error is an error; else any that nobody could decide leaves it undecided; else yes."""
    broken = [(name, verdict) for name, verdict in asked if verdict.rating == "no"]
    failed = [verdict for _, verdict in asked if verdict.outcome is Outcome.ERROR]
    undecided = [(name, verdict) for name, verdict in asked if verdict.outcome is Outcome.NOT_APPLICABLE]
    if broken:
        return Verdict.scored("no", f"Not followed: {_reasons(broken)}")
    if failed:
        # Without the names: those of a row are the row's text.
        return failed_whole(failed, len(failed), len(asked), "named guidelines")
    if undecided:
        return Verdict.not_applicable(f"Undecided: {_reasons(undecided)}")
    return Verdict.scored("yes", f"Followed: {', '.join(name for name, _ in asked)}")


def _reasons(named: Sequence[tuple[str, Verdict]]) -> str:
    return "; ".join(f"{name}: {verdict.rationale}" if verdict.rationale else name for name, verdict in named)
