"""One endpoint as a worker process uses it: its connections, what it has taught, its limits and its breaker."""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import openai

from beamjudge.schemas.assessment import Verdict
from beamjudge.schemas.run_config import Endpoint
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.judging.completion import Completion, read_completion
from beamjudge.transforms.judging.failures import CallFailed, Failure, Stop, from_client_error, not_a_completion
from beamjudge.transforms.judging.fitting import TRUNCATED, Prompt, reply_tokens
from beamjudge.transforms.judging.keys import expand_headers, resolve_key
from beamjudge.transforms.judging.limits import EndpointLimits, Slots
from beamjudge.transforms.judging.reply import read_reply
from beamjudge.transforms.judging.request_form import Change, next_change, request_body
from beamjudge.transforms.judging.retry import Deadline, RetryPolicy, call_with_retries
from beamjudge.transforms.judging.spend import spend_of

_LOGGER = logging.getLogger(__name__)
_CONNECT_SECONDS = 10.0


@dataclass(frozen=True)
class CallSettings:
    """How every call of a client is made: seconds for a question, retries, and worker processes that share limits."""

    timeout: float
    policy: RetryPolicy
    processes: int


@dataclass
class _Call:
    """One question on its way: the changes that it tries, and what was last sent for it."""

    binding: JudgeBinding
    prompt: Prompt
    deadline: Deadline
    tried: frozenset[Change] = frozenset()
    sent_with: frozenset[Change] = frozenset()
    body: dict[str, Any] = field(default_factory=dict)


class EndpointClient:
    """Asks one endpoint. Every method but the constructor runs on the client's event loop.

    `slots` are the calls in flight of the whole process. `on_fatal` is told the one line for the user when the
    endpoint turns out to be unusable before its first success. The constructor raises KeyUnavailable.
    """

    def __init__(
        self, name: str, endpoint: Endpoint, settings: CallSettings, slots: Slots, on_fatal: Callable[[str], None]
    ) -> None:
        self._name, self._endpoint, self._settings, self._on_fatal = name, endpoint, settings, on_fatal
        self._limits = EndpointLimits(
            slots, endpoint.requests_per_minute, endpoint.tokens_per_minute, settings.processes
        )
        self._learned: frozenset[Change] = frozenset()
        self._has_succeeded = False
        self._stop: Stop | None = None
        self._http = openai.AsyncOpenAI(
            api_key=resolve_key(endpoint),
            base_url=endpoint.base_url,
            default_headers=expand_headers(endpoint.headers),
            max_retries=0,
            # The deadline of the question ends a call that hangs; a model may be silent for as long as it thinks.
            timeout=openai.Timeout(None, connect=_CONNECT_SECONDS),
        )

    async def close(self) -> None:
        await self._http.close()

    async def ask(self, binding: JudgeBinding, prompt: Prompt) -> Verdict:
        """The judge's verdict; every failure is a verdict too."""
        call = _Call(binding, prompt, Deadline(self._settings.timeout))
        while True:
            try:
                completion = await call_with_retries(partial(self._attempt, call), self._settings.policy, call.deadline)
            except CallFailed as error:
                change = next_change(error.failure, call.body, call.sent_with)
                if change is None or change in call.tried:
                    return Verdict.failed(error.failure.message)
                call.tried |= {change}
            else:
                return self._answered(call, completion)

    async def _attempt(self, call: _Call, attempt: int) -> Completion:
        """One request, in the form that the endpoint is known to take by the time it is let through."""
        tokens = call.prompt.tokens + reply_tokens(self._endpoint)
        has_begun = attempt > 1 or bool(call.tried)
        self._check_open()
        async with self._limits.admitted(tokens, has_begun, self._check_open) as admission:
            call.sent_with = self._learned | call.tried
            call.body = request_body(self._endpoint, call.prompt.messages, call.binding.protocol, call.sent_with)
            try:
                completion = read_completion(await call.deadline.run(self._post(call.body)))
            except CallFailed as error:
                admission.refused = error.failure.rate_limited
                self._note_stop(error.failure.stop)
                raise
            spend = spend_of(completion.usage, None)
            if spend.input_tokens:
                admission.used_tokens(spend.input_tokens + spend.output_tokens)
            return completion

    async def _post(self, body: dict[str, Any]) -> object:
        """The decoded body of the reply, or its text if it is not marked as JSON. Raises CallFailed.

        The client's `post` is used, as its typed methods would spend more time on models and parameters than the rest
        of the call, and would not send parameters that they do not know.
        """
        try:
            return await self._http.post("/chat/completions", cast_to=object, body=body)
        except openai.APIError as error:
            raise from_client_error(error) from None
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
            raise not_a_completion("not JSON") from None

    def _answered(self, call: _Call, completion: Completion) -> Verdict:
        self._has_succeeded = True
        for change in sorted(call.sent_with - self._learned):
            _LOGGER.warning("endpoint %s (model %s) %s: from now on", self._name, self._endpoint.model, change)
        self._learned |= call.sent_with
        verdict = read_reply(completion.reply, call.binding.protocol)
        return replace(
            verdict,
            spend=spend_of(completion.usage, self._endpoint.price_per_million),
            notes=(*verdict.notes, TRUNCATED) if call.prompt.truncated else verdict.notes,
        )

    def _check_open(self) -> None:
        if self._stop:
            raise CallFailed(Failure(f"stopped:{self._stop.value}"))

    def _note_stop(self, stop: Stop | None) -> None:
        """Open the breaker; but an endpoint that never answered and refuses everything ends the run."""
        if stop is None or self._stop:
            return
        self._stop = stop
        if stop is Stop.QUOTA or self._has_succeeded:
            _LOGGER.error("endpoint %s is not asked any more: %s", self._name, stop.value)
        else:
            self._on_fatal(_fatal_line(self._name, self._endpoint, stop))


def _fatal_line(name: str, endpoint: Endpoint, stop: Stop) -> str:
    where = f"endpoint {name} ({endpoint.base_url}, model {endpoint.model})"
    if stop is Stop.UNAUTHORIZED:
        key = f"the key {endpoint.api_key}" if endpoint.needs_key else "calls without a valid key"
        return f"{where} refuses {key} (HTTP 401); check --judge_api_key"
    if stop is Stop.FORBIDDEN:
        return f"{where} forbids the call (HTTP 403); check what the key {endpoint.api_key} may use"
    return f"{where} does not know this path or model (HTTP 404); check --judge_base_url and --judge_model"
