"""The offline judge `lexical`: deterministic rules over the text for every built-in judge, without a model.

For first steps, tests and screening. Every rationale begins with "Lexical rules:" and names the evidence.
"""

from collections.abc import Callable, Mapping

from beamjudge.schemas.assessment import Verdict
from beamjudge.transforms.judging.lexical.agreement import context_sufficiency, correctness
from beamjudge.transforms.judging.lexical.guidelines import guideline_adherence
from beamjudge.transforms.judging.lexical.relevance import chunk_relevance, relevance_to_query
from beamjudge.transforms.judging.lexical.safety import safety
from beamjudge.transforms.judging.lexical.support import fact_check, groundedness, relevancy
from beamjudge.transforms.judging.question import JudgeInputs, Question

_RULES: Mapping[str, Callable[[JudgeInputs], Verdict]] = {
    "relevance_to_query": relevance_to_query,
    "groundedness": groundedness,
    "safety": safety,
    "correctness": correctness,
    "guideline_adherence": guideline_adherence,
    "global_guideline_adherence": guideline_adherence,
    "chunk_relevance": chunk_relevance,
    "context_sufficiency": context_sufficiency,
    "relevancy": relevancy,
    "fact_check": fact_check,
}


def answer(question: Question) -> Verdict:
    """The rules' verdict on `question`: a pure function of it, linear in its text, for any text.

    Where no rule can tell (a guideline that none understands, a response that states nothing), the verdict is not
    applicable with the reason. A judge that has no rules gives a verdict with an error message.
    """
    rule = _RULES.get(question.judge)
    if rule is None:
        return Verdict.failed(f"the lexical judge has no rules for {question.judge!r}; it knows {', '.join(_RULES)}")
    return rule(question.inputs)


__all__ = ["answer"]
