"""What needs no judge: rows that lack a judge's inputs, and inputs so empty that a rule gives the verdict.

A row that was not given an input at all is not applicable without a rationale. Where the input was given but is empty,
a rule decides and the rationale says which. An input that is missing goes before one that is empty, an empty
expectation or guideline list before an empty response, and an empty response before an empty context.
"""

from beamjudge.schemas.assessment import Verdict
from beamjudge.schemas.judges import ByRule, JudgeSpec, Need
from beamjudge.schemas.row import Guidelines, Row


def decide(spec: JudgeSpec, row: Row, guidelines: Guidelines | None) -> Verdict | None:
    """The row's verdict where it needs no call, else null. `guidelines` are those that the judge checks."""
    if _lacks_input(spec, row, guidelines):
        return Verdict.not_applicable()
    if Need.EXPECTATION in spec.needs and not has_ground_truth(row):
        return Verdict.not_applicable("The expected response or list of expected facts is empty.")
    if guidelines is not None and not (stated(guidelines.rules) or any(stated(rules) for _, rules in guidelines.named)):
        return Verdict.not_applicable("The list of guidelines is empty.")
    if Need.RESPONSE in spec.needs and is_blank(row.response_text) and spec.on_blank_response is not None:
        return _by_rule(spec.on_blank_response, "The response is empty.")
    return _decide_on_context(spec, row) if Need.CONTEXT in spec.needs else None


def _lacks_input(spec: JudgeSpec, row: Row, guidelines: Guidelines | None) -> bool:
    return (
        (Need.RESPONSE in spec.needs and row.response_text is None)
        or (Need.CONTEXT in spec.needs and row.retrieved_context is None)
        or (Need.EXPECTATION in spec.needs and _has_no_expectation(row))
        or (spec.guidelines_of is not None and guidelines is None)
    )


def _by_rule(rule: ByRule, reason: str) -> Verdict:
    return Verdict.not_applicable(reason) if rule == "not_applicable" else Verdict.scored(rule, reason)


def _has_no_expectation(row: Row) -> bool:
    return row.expected_response is None and row.expected_facts is None and not row.expected_responses


def _decide_on_context(spec: JudgeSpec, row: Row) -> Verdict | None:
    """A list without documents is a retriever that found nothing; documents that are all blank hold as little.

    Chunks without a content were logged without it, so that what the application read is not known.
    """
    contents = [document.content for document in row.retrieved_context or ()]
    if contents and all(content is None for content in contents):
        return Verdict.not_applicable("No retrieved chunk has a content.")
    found_nothing = "The retriever found nothing: the retrieved context is empty."
    if spec.unit == "chunk":
        # There is nothing to ask without a chunk, and a blank chunk is a matter of its own.
        return None if contents else Verdict.not_applicable(found_nothing)
    if spec.on_empty_context is not None and all(is_blank(content) for content in contents):
        return _by_rule(spec.on_empty_context, "No retrieved chunk has any text." if contents else found_nothing)
    return None


def is_blank(text: str | None) -> bool:
    return text is None or not text.strip()


def stated(texts: tuple[str, ...]) -> tuple[str, ...]:
    """The texts that say something, in order, each once."""
    return tuple(dict.fromkeys(text for text in texts if not is_blank(text)))


def expected_responses(row: Row) -> tuple[str, ...]:
    """The row's reference answers that are not blank, the first one first."""
    return stated(((row.expected_response or ""), *row.expected_responses))


def expected_facts(row: Row) -> tuple[str, ...]:
    return stated(row.expected_facts or ())


def has_ground_truth(row: Row) -> bool:
    """Whether the row has an expected response or fact; a blank response and an empty list count as absent."""
    return bool(expected_responses(row) or expected_facts(row))
