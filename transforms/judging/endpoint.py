"""One endpoint as a worker process uses it: what it has taught, its limits and its breaker."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

from beamjudge.schemas.answer import Answered
from beamjudge.schemas.assessment import Outcome, Verdict, stopped_message
from beamjudge.schemas.json_value import Json, compact_json
from beamjudge.schemas.prices import price_of
from beamjudge.schemas.run_config import APP_ENDPOINT, Endpoint
from beamjudge.schemas.spend import NO_SPEND, Spend
from beamjudge.transforms.judging.app import AppReply, AppRequest, read_app_reply
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.judging.completion import Completion, read_completion
from beamjudge.transforms.judging.connections import Connections, Target
from beamjudge.transforms.judging.failures import CallFailed, Failure, Stop, from_status
from beamjudge.transforms.judging.fitting import TRUNCATED, Prompt, fit_prompt, reply_tokens, room_after
from beamjudge.transforms.judging.limits import EndpointLimits, RateWindow, Slots, Throttling
from beamjudge.transforms.judging.question import JudgeInputs
from beamjudge.transforms.judging.reply import read_reply
from beamjudge.transforms.judging.request_form import Change, more_room, next_change, request_body
from beamjudge.transforms.judging.retry import RetryPolicy, call_with_retries
from beamjudge.transforms.judging.spend import spend_of

_LOGGER = logging.getLogger(__name__)
# So many questions that were refused, while none was answered, are no accident of theirs.
_REFUSED_QUESTIONS = 8


@dataclass(frozen=True)
class Shared:
    """What the endpoints of a client have in common.

    `processes` are the worker processes that share each endpoint's limits per minute, `slots` the calls in flight of
    this process.
    """

    policy: RetryPolicy
    processes: int
    slots: Slots
    throttling: Throttling
    connections: Connections


@dataclass(kw_only=True)
class _Request:
    """One request on its way, whoever asks: how it fares with the endpoint's limits, and what was paid in vain."""

    has_begun: bool = False
    wasted: Spend = NO_SPEND
    is_held: bool = False  # by the endpoint, which refused its last attempt with 429
    refused_since: float | None = None  # the stretch of refusals in which it was counted


@dataclass
class _Call(_Request):
    """One question on its way: the forms that it tries, and what was last sent for it."""

    binding: JudgeBinding
    inputs: JudgeInputs
    prompt: Prompt
    room: int | None = None  # tokens for the prompt, once the endpoint has said that it is too long ...
    room_is_told: bool = False  # ... and how long it may be
    reply_room: int | None = None  # tokens for the reply, once one was cut off
    cut_off: str | None = None  # what was wrong with that reply
    tried: frozenset[Change] = frozenset()
    sent_with: frozenset[Change] = frozenset()
    bodies: list[dict[str, Any]] = field(default_factory=list)
    prepared: "_Prepared | None" = None


class _Prepared(NamedTuple):
    """A request that is ready to be sent, and the form that it has."""

    form: tuple[frozenset[Change], int | None, Prompt]
    body: dict[str, Any]
    encoded: bytes


class _HasUsage(Protocol):
    """A reply that was read, with the `usage` object that the endpoint reported."""

    @property
    def usage(self) -> Json: ...


_Read = TypeVar("_Read", bound=_HasUsage)


class EndpointClient:
    """Asks one endpoint. Every method but the constructor runs on the client's event loop.

    `on_fatal` is told the one line for the user when the endpoint turns out to be unusable before its first success.
    The constructor raises KeyUnavailable, and ValueError for an address that is none.
    """

    def __init__(self, name: str, endpoint: Endpoint, shared: Shared, on_fatal: Callable[[str], None]) -> None:
        self._name, self._endpoint, self._shared, self._on_fatal = name, endpoint, shared, on_fatal
        self._flags = "app" if name == APP_ENDPOINT else "judge"
        self._price = price_of(endpoint)
        self._target = Target.of(endpoint)
        requests, tokens = (
            RateWindow(limit, shared.processes) if limit else None
            for limit in (endpoint.requests_per_minute, endpoint.tokens_per_minute)
        )
        self._limits = EndpointLimits(shared.slots, shared.throttling, requests, tokens, shared.policy)
        self._learned: frozenset[Change] = frozenset()
        self._learned_room: int | None = None
        self._learned_reply_room: int | None = None
        self._stop: Stop | None = None
        self._has_succeeded = False
        self._has_answered = False
        self._unreachable_in_a_row = 0
        self._on_their_way = 0
        # Since when every reply was a 429, and how many questions got one since then.
        self._refused_since: float | None = None
        self._refused_questions = 0

    async def ask(self, binding: JudgeBinding, inputs: JudgeInputs, prompt: Prompt) -> Verdict:
        """The judge's verdict on `inputs`, for which `prompt` was made; every failure is a verdict too."""
        call = _Call(
            binding, inputs, self._cut_as_learned(binding, inputs, prompt), reply_room=self._learned_reply_room
        )
        self._begin()
        try:
            while True:
                try:
                    completion = await call_with_retries(partial(self._attempt, call), self._shared.policy)
                except CallFailed as error:
                    if self._take_another_form(call, error.failure):
                        continue
                    self._note_given_up(error.failure)
                    # An endpoint that does not take a longer reply has still answered: that is what went wrong.
                    message = call.cut_off if call.cut_off and error.failure.changeable else error.failure.message
                    return Verdict.failed(message, wasted=call.wasted)
                is_cancelled = await _step_aside()
                verdict = self._answered(call, completion)
                if verdict is not None:
                    return verdict
                if is_cancelled:
                    raise asyncio.CancelledError
        finally:
            self._end(call)

    async def answer(self, request: AppRequest) -> Answered:
        """The application's answer to `request`, which is sent as it is; every failure is an answer too."""
        call = _Request()
        tokens = request.tokens + reply_tokens(self._endpoint)
        post = partial(self._post_request, request)
        self._begin()
        try:
            reply = await call_with_retries(lambda _: self._admitted(call, tokens, post), self._shared.policy)
        except CallFailed as error:
            self._note_given_up(error.failure)
            return Answered.failed(error.failure.message, wasted=call.wasted)
        finally:
            self._end(call)
        self._has_succeeded = True
        return Answered(reply.answer, spend=spend_of(reply.usage, self._price), wasted=call.wasted)

    async def _post_request(self, request: AppRequest) -> AppReply:
        started = time.monotonic()
        body = await self._post(request.body)
        return read_app_reply(body, time.monotonic() - started)

    async def _attempt(self, call: _Call, attempt: int) -> Completion:
        """One request, in the form that the endpoint is known to take by the time it is let through."""
        tokens = call.prompt.tokens + (call.reply_room or reply_tokens(self._endpoint))
        self._check_open()
        self._prepare(call)  # before the wait for a slot: once there is one, it should not stand idle
        return await self._admitted(call, tokens, partial(self._post_form, call))

    async def _post_form(self, call: _Call) -> Completion:
        prepared = self._prepare(call)
        call.sent_with = prepared.form[0]
        call.bodies.append(prepared.body)
        return read_completion(await self._post(prepared.encoded))

    async def _admitted(self, call: _Request, tokens: int, post: Callable[[], Awaitable[_Read]]) -> _Read:
        """What `post` gives, once the limits let it through: one attempt, about `tokens` tokens long."""
        # What was refused waits behind the others, which may pass: a request can be too large for its limit.
        first = call.has_begun and not call.is_held
        self._hold(call, False)
        self._check_open()
        async with self._limits.admitted(tokens, first, self._check_open) as admission:
            call.has_begun = True
            try:
                reply = await post()
            except CallFailed as error:
                failure = error.failure
                admission.refused, admission.retry_after = failure.rate_limited, failure.retry_after
                self._hold(call, failure.rate_limited)
                if failure.billed:
                    call.wasted += spend_of(failure.usage, self._price)
                self._note_stop(failure.stop)
                if failure.rate_limited:
                    raise CallFailed(self._refused(call, failure)) from None
                if failure.status is not None:
                    self._end_refusals()
                raise
            self._end_refusals()
            if self._endpoint.tokens_per_minute:
                spend = spend_of(reply.usage, None)
                if spend.input_tokens:
                    admission.used_tokens(spend.input_tokens + spend.output_tokens)
            return reply

    def _prepare(self, call: _Call) -> _Prepared:
        """The request in the form that is known to pass by now."""
        form = (self._learned | call.tried, call.reply_room, call.prompt)
        if call.prepared is None or call.prepared.form != form:
            body = self._body(call)
            call.prepared = _Prepared(form, body, compact_json(body).encode("utf-8", "replace"))
        return call.prepared

    def _body(self, call: _Call) -> dict[str, Any]:
        """The request in the form that `call` has come to."""
        changes = self._learned | call.tried
        return request_body(self._endpoint, call.prompt.messages, call.binding.protocol, changes, call.reply_room)

    async def _post(self, encoded: bytes) -> bytes:
        response = await self._shared.connections.post(self._target, encoded)
        self._has_answered = True
        self._unreachable_in_a_row = 0
        if response.status != 200:
            raise from_status(response.status, response.headers, response.body)
        return response.body

    def _take_another_form(self, call: _Call, failure: Failure) -> bool:
        """Change the request after `failure`, once per kind of change; false if no form is left that was not sent."""
        if failure.too_long:
            if call.room is not None:
                return False
            call.room = room_after(failure.too_long, call.prompt, self._endpoint)
            call.room_is_told = failure.too_long.tokens is not None
            prompt = fit_prompt(call.binding, call.inputs, call.room)
            call.prompt = prompt or call.prompt
        else:
            change = next_change(failure, call.bodies[-1], call.sent_with) if call.bodies else None
            if change is None or change in call.tried:
                return False
            call.tried |= {change}
        return self._body(call) not in call.bodies

    def _answered(self, call: _Call, completion: Completion) -> Verdict | None:
        """The verdict in a reply; null where the reply was cut off and there is a form with more room for it."""
        spend = spend_of(completion.usage, self._price)
        verdict = read_reply(completion.reply, call.binding.protocol)
        if verdict.outcome is Outcome.ERROR:
            self._learn(call, replace_room=False)
            call.wasted += spend
            if completion.reply.finish_reason == "length" and call.cut_off is None:
                call.cut_off = verdict.error_message
                call.reply_room = more_room(call.bodies[-1], spend.output_tokens)
                if self._body(call) not in call.bodies:
                    return None
            return replace(verdict, wasted=call.wasted)
        self._learn(call, replace_room=True)
        notes = (*verdict.notes, TRUNCATED) if call.prompt.truncated else verdict.notes
        return replace(verdict, spend=spend, wasted=call.wasted, notes=notes)

    def _learn(self, call: _Call, replace_room: bool) -> None:
        """Remember the form that has passed, so that no later question is sent in one that does not."""
        self._has_succeeded = True
        for change in sorted(call.sent_with - self._learned):
            _LOGGER.warning("endpoint %s (model %s) %s: from now on", self._name, self._endpoint.model, change)
        self._learned |= call.sent_with
        if call.room is not None and call.room_is_told and call.room > (self._learned_room or 0):
            self._learned_room = call.room
            _LOGGER.warning(
                "endpoint %s (model %s) takes prompts of about %d tokens: longer contexts are cut from now on",
                self._name, self._endpoint.model, call.room,
            )  # fmt: skip
        if replace_room and call.cut_off and call.reply_room is not None:
            self._learned_reply_room = max(call.reply_room, self._learned_reply_room or 0)

    def _cut_as_learned(self, binding: JudgeBinding, inputs: JudgeInputs, prompt: Prompt) -> Prompt:
        """`prompt`, or its like with less context where the endpoint would reject it. One that cannot be cut is sent
        all the same: what the endpoint takes was learned from other texts."""
        if self._learned_room is None or prompt.tokens <= self._learned_room:
            return prompt
        return fit_prompt(binding, inputs, self._learned_room) or prompt

    def _hold(self, call: _Request, held: bool) -> None:
        """Count `call` among those that a rate limit holds back, or no longer."""
        self._shared.throttling.held += held - call.is_held
        call.is_held = held

    def _check_open(self) -> None:
        if self._stop:
            raise CallFailed(Failure(stopped_message(self._stop.value)))

    def _note_stop(self, stop: Stop | None) -> None:
        """Open the breaker; but an endpoint that never answered and refuses everything ends the run."""
        if stop is None or self._stop:
            return
        self._stop = stop
        self._limits.end_pause()
        if stop in (Stop.QUOTA, Stop.RATE_LIMITED) or self._has_succeeded:
            _LOGGER.error("endpoint %s is not asked any more: %s", self._name, stop.value)
        else:
            self._on_fatal(self._fatal_line(_refusal(stop, self._endpoint, self._flags)))

    def _refused(self, call: _Request, failure: Failure) -> Failure:
        """`failure`, a 429; final once the endpoint has answered nobody for as long as the policy's patience lasts.

        If it refused many questions in that time, it is not asked any more: a long log would spend days on it.
        """
        now = time.monotonic()
        if self._refused_since is None:
            self._refused_since = now
        if call.refused_since != self._refused_since:
            call.refused_since = self._refused_since
            self._refused_questions += 1
        if now - self._refused_since < self._shared.policy.patience:
            return failure
        if self._refused_questions >= _REFUSED_QUESTIONS:
            self._note_stop(Stop.RATE_LIMITED)
            return Failure(stopped_message(Stop.RATE_LIMITED.value), status=429, stop=Stop.RATE_LIMITED)
        text = f"{failure.text} for {self._shared.policy.patience:g} s"
        return replace(failure, text=text, retryable=False)

    def _end_refusals(self) -> None:
        self._refused_since, self._refused_questions = None, 0

    def _begin(self) -> None:
        """Count a call. Refusals before a time without any say nothing of this one."""
        if not self._on_their_way:
            self._end_refusals()
        self._on_their_way += 1

    def _end(self, call: _Request) -> None:
        self._on_their_way -= 1
        self._hold(call, False)

    def _note_given_up(self, failure: Failure) -> None:
        """An endpoint to which no connection comes about ends the run at its start, and is not asked any more later:
        a long log would otherwise spend days on waiting for nothing."""
        if not failure.unreachable:
            return
        self._unreachable_in_a_row += 1
        if not self._has_answered:
            self._stop = self._stop or Stop.UNREACHABLE
            reason = failure.message.removeprefix("connection: ")
            self._on_fatal(self._fatal_line(f"cannot be reached: {reason}; check --{self._flags}_base_url"))
        elif self._unreachable_in_a_row >= self._shared.slots.limit:
            self._note_stop(Stop.UNREACHABLE)

    def _fatal_line(self, what: str) -> str:
        return f"endpoint {self._name} ({self._endpoint.address}, model {self._endpoint.model}) {what}"


async def _step_aside() -> bool:
    """Let the call that got this one's slot leave first: reading a reply takes longer than sending the next request.

    Tells whether the caller was cancelled meanwhile, instead of raising: the reply is paid for, so it is to be read.
    """
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        return True
    return False


def _refusal(stop: Stop, endpoint: Endpoint, flags: str) -> str:
    """What an endpoint does; `flags` is how the names of its flags begin."""
    if stop is Stop.UNAUTHORIZED:
        key = f"the key {endpoint.api_key}" if endpoint.needs_key else "calls without a valid key"
        return f"refuses {key} (HTTP 401); check --{flags}_api_key"
    if stop is Stop.FORBIDDEN:
        return f"forbids the call (HTTP 403); check what the key {endpoint.api_key} may use"
    if stop is Stop.NOT_FOUND:
        return f"does not know this path or model (HTTP 404); check --{flags}_base_url and --{flags}_model"
    return f"cannot be reached any more; check --{flags}_base_url"
