"""What calls cost: list prices as dated data, and the most that a question can cost before it is asked."""

from dataclasses import dataclass

from beamjudge.schemas.prices import price_of
from beamjudge.schemas.run_config import Price
from beamjudge.schemas.spend import Spend
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.judging.fitting import fit_prompt, reply_tokens
from beamjudge.transforms.judging.question import Question
from beamjudge.transforms.judging.spend import cost_usd


@dataclass(frozen=True)
class PriceBound:
    """An upper bound of what a judge's questions use: an upper guess of the prompt's tokens, and the longest reply."""

    binding: JudgeBinding
    price: Price | None
    reply_tokens: int

    @classmethod
    def of(cls, binding: JudgeBinding) -> "PriceBound":
        return cls(binding, price_of(binding.endpoint), reply_tokens(binding.endpoint))

    def of_question(self, question: Question) -> Spend:
        """One call's bound; a question whose prompt cannot be made to fit is never sent."""
        prompt = fit_prompt(self.binding, question.inputs)
        if prompt is None:
            return Spend()
        return Spend(1, prompt.tokens, 0, self.reply_tokens, cost_usd(prompt.tokens, 0, self.reply_tokens, self.price))
