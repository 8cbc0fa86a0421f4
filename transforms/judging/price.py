"""What calls cost: list prices as dated data, and the most that a question can cost before it is asked."""

from dataclasses import dataclass

from beamjudge.schemas.prices import price_of
from beamjudge.schemas.run_config import Price
from beamjudge.schemas.spend import Spend
from beamjudge.transforms.judging.app import AppBinding
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
        return _bound(prompt.tokens, self.reply_tokens, self.price)


def app_bound(app: AppBinding, unanswered: str) -> Spend:
    """An upper bound of what the application's answer to a row's logged request takes."""
    return _bound(app.request(unanswered).tokens, reply_tokens(app.endpoint), price_of(app.endpoint))


def _bound(given: int, made: int, price: Price | None) -> Spend:
    return Spend(1, given, 0, made, 0, cost_usd(given, 0, made, price))
