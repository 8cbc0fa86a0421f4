"""What the client asks endpoints: a judge's question, or the application's request; and what becomes of the answers.

Both are looked up, asked once, stored and counted by the same code: an `Ask` says what differs.
"""

import json
import logging
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from beamjudge.schemas.answer import APP, Answer, Answered
from beamjudge.schemas.assessment import Verdict
from beamjudge.schemas.json_value import canonical_json
from beamjudge.schemas.run_config import Endpoint
from beamjudge.schemas.spend import NO_SPEND
from beamjudge.schemas.stored_verdict import StoredVerdict
from beamjudge.transforms.judging.app import AppBinding, AppRequest
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.judging.endpoint import EndpointClient
from beamjudge.transforms.judging.fitting import Prompt
from beamjudge.transforms.judging.question import Question

_LOGGER = logging.getLogger(__name__)
A = TypeVar("A", Verdict, Answered)


class Ask(ABC, Generic[A]):
    """One call to an endpoint. Asks with the same `key` (64 hex digits) are made once."""

    key: str

    @property
    @abstractmethod
    def endpoint_name(self) -> str: ...

    @property
    @abstractmethod
    def endpoint(self) -> Endpoint: ...

    @abstractmethod
    async def put_to(self, client: EndpointClient) -> A:
        """Ask, and give the answer; every failure is an answer too."""

    @abstractmethod
    def failed(self, message: str) -> A:
        """The answer where none came; `message` holds no text of a row."""

    @abstractmethod
    def recalled(self, stored: StoredVerdict) -> A | None:
        """The answer that is stored, with what was once spent on it; null where it cannot be read."""

    @abstractmethod
    def to_store(self, answer: A, run_id: str, request_ids: tuple[str, ...]) -> StoredVerdict | None:
        """What is stored of an answer; null for a failure."""


@dataclass(frozen=True)
class JudgeAsk(Ask[Verdict]):
    """A judge's question, for which `prompt` was made. `keeps_rationale`: whether the rationale is stored."""

    key: str
    binding: JudgeBinding
    question: Question
    prompt: Prompt
    keeps_rationale: bool

    @property
    def endpoint_name(self) -> str:
        return self.binding.endpoint_name

    @property
    def endpoint(self) -> Endpoint:
        return self.binding.endpoint

    async def put_to(self, client: EndpointClient) -> Verdict:
        return await client.ask(self.binding, self.question.inputs, self.prompt)

    def failed(self, message: str) -> Verdict:
        return Verdict.failed(message)

    def recalled(self, stored: StoredVerdict) -> Verdict:
        return stored.verdict()

    def to_store(self, answer: Verdict, run_id: str, request_ids: tuple[str, ...]) -> StoredVerdict | None:
        if answer.rating is None:
            return None
        return StoredVerdict(
            self.key,
            self.binding.spec.name,
            self.binding.hash,
            self.binding.model,
            answer.rating,
            answer.rationale if self.keeps_rationale else None,
            answer.score,
            answer.notes,
            answer.spend,
            run_id,
            time.time(),
            request_ids,
        )


@dataclass(frozen=True)
class AppAsk(Ask[Answered]):
    """A request to the application under test. `keeps_answer`: whether its answer, a row's text, may be stored."""

    key: str
    app: AppBinding
    request: AppRequest
    keeps_answer: bool

    @property
    def endpoint_name(self) -> str:
        return self.app.endpoint_name

    @property
    def endpoint(self) -> Endpoint:
        return self.app.endpoint

    async def put_to(self, client: EndpointClient) -> Answered:
        return await client.answer(self.request)

    def failed(self, message: str) -> Answered:
        return Answered.failed(message)

    def recalled(self, stored: StoredVerdict) -> Answered | None:
        try:
            return Answered(Answer.from_json(json.loads(stored.answer or "")), spend=stored.spend)
        except (ValueError, LookupError, TypeError):
            _LOGGER.warning("a stored answer of the application cannot be read: it is asked for again")
            return None

    def to_store(self, answer: Answered, run_id: str, request_ids: tuple[str, ...]) -> StoredVerdict | None:
        if answer.answer is None or not self.keeps_answer:
            return None
        return StoredVerdict(
            self.key,
            APP,
            self.app.hash,
            self.app.endpoint.model,
            rating=None,
            rationale=None,
            score=None,
            notes=(),
            spend=answer.spend,
            run_id=run_id,
            created=time.time(),
            request_ids=request_ids,
            answer=canonical_json(answer.answer.to_json()),
        )


def as_reused(answer: A) -> A:
    """The answer for one who did not pay for it."""
    return replace(answer, spend=NO_SPEND, reused=answer.reused + answer.spend, wasted=NO_SPEND)
