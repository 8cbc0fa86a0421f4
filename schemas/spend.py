"""What calls to an endpoint used and cost."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spend:
    """What the calls behind an answer used; `cost_usd` is null where the model's price is not known.

    Cached tokens are some of the input tokens, reasoning tokens some of the output tokens.
    """

    calls: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = 0.0

    def __add__(self, other: "Spend") -> "Spend":
        known = self.cost_usd is not None and other.cost_usd is not None
        return Spend(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.cached_input_tokens + other.cached_input_tokens,
            self.output_tokens + other.output_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            (self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
        )


NO_SPEND = Spend()


@dataclass(frozen=True, slots=True)
class JudgeSpend:
    """What verdicts cost: `spent` on their calls, `reused` once on those that were stored before, and `wasted` on calls
    that were billed and gave no verdict."""

    spent: Spend = NO_SPEND
    reused: Spend = NO_SPEND
    wasted: Spend = NO_SPEND

    def __add__(self, other: "JudgeSpend") -> "JudgeSpend":
        return JudgeSpend(self.spent + other.spent, self.reused + other.reused, self.wasted + other.wasted)


NO_JUDGE_SPEND = JudgeSpend()
