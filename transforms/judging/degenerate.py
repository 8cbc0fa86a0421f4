"""What needs no judge: rows that lack a judge's inputs, and inputs so empty that a rule gives the verdict.

A row that was not given an input at all is not applicable without a rationale. Where the input was given but is empty,
a rule decides and the rationale says which. An input that is missing goes before one that is empty, an empty
expectation or guideline list before an empty response, and an empty response before an empty context.
"""

from beamjudge.schemas.assessment import Rating, Verdict
from beamjudge.schemas.judges import JudgeSpec, Need
from beamjudge.schemas.row import Guidelines, Row

_BLANK_RESPONSE: dict[str, Rating | None] = {
    "relevance_to_query": "no",
    "correctness": "no",
    "guideline_adherence": "no",
    "global_guideline_adherence": "no",
    "groundedness": None,
    "relevancy": None,
    "fact_check": None,
    "safety": "yes",
}
_EMPTY_CONTEXT: dict[str, Rating] = {
    "context_sufficiency": "no",
    "groundedness": "no",
    "relevancy": "no",
    "fact_check": "no",
}


def decide(spec: JudgeSpec, row: Row, guidelines: Guidelines | None) -> Verdict | None:
    """The row's verdict where it needs no call, else null. `guidelines` are those that the judge checks."""
    if _lacks_input(spec, row, guidelines):
        return Verdict.not_applicable()
    if Need.EXPECTATION in spec.needs and not has_ground_truth(row):
        return Verdict.not_applicable("The expected response or list of expected facts is empty.")
    if guidelines is not None and not (stated(guidelines.rules) or any(stated(rules) for _, rules in guidelines.named)):
        return Verdict.not_applicable("The list of guidelines is empty.")
    if Need.RESPONSE in spec.needs and is_blank(row.response_text) and spec.name in _BLANK_RESPONSE:
        rating = _BLANK_RESPONSE[spec.name]
        reason = "The response is empty."
        return Verdict.not_applicable(reason) if rating is None else Verdict.scored(rating, reason)
    return _decide_on_context(spec, row) if Need.CONTEXT in spec.needs else None


def _lacks_input(spec: JudgeSpec, row: Row, guidelines: Guidelines | None) -> bool:
    return (
        (Need.RESPONSE in spec.needs and row.response_text is None)
        or (Need.CONTEXT in spec.needs and row.retrieved_context is None)
        or (Need.EXPECTATION in spec.needs and _has_no_expectation(row))
        or (bool(spec.needs & {Need.GUIDELINES, Need.GLOBAL_GUIDELINES}) and guidelines is None)
    )


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
        return None if contents else Verdict.not_applicable(found_nothing)
    if spec.name in _EMPTY_CONTEXT and all(is_blank(content) for content in contents):
        reason = "No retrieved chunk has any text." if contents else found_nothing
        return Verdict.scored(_EMPTY_CONTEXT[spec.name], reason)
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
