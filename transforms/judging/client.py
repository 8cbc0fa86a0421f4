"""The client of all endpoints: one per worker process and configuration, with its own event loop on its own thread."""

import asyncio
import hashlib
import logging
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic

from beamjudge.schemas.answer import Answered
from beamjudge.schemas.assessment import Verdict, stopped_message
from beamjudge.schemas.errors import RunFailed
from beamjudge.schemas.json_value import Json, canonical_json
from beamjudge.transforms.judging import lexical
from beamjudge.transforms.judging.app import AppBinding, app_key
from beamjudge.transforms.judging.asks import A, AppAsk, Ask, JudgeAsk, as_reused
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.judging.connections import Connections, new_event_loop
from beamjudge.transforms.judging.content_key import content_key
from beamjudge.transforms.judging.endpoint import EndpointClient, Shared
from beamjudge.transforms.judging.fitting import fit_prompt
from beamjudge.transforms.judging.keys import KeyUnavailable
from beamjudge.transforms.judging.limits import Slots, Throttling
from beamjudge.transforms.judging.question import Question
from beamjudge.transforms.judging.retry import RetryPolicy
from beamjudge.transforms.judging.verdict_store import VerdictStore
from beamjudge.transforms.plan import RunPlan
from beamjudge.transforms.progress import PROGRESS

_LOGGER = logging.getLogger(__name__)
_CLOSE_SECONDS = 10.0
_CLOSED = stopped_message("closed")
_TOO_LONG = "context_too_long: the prompt does not fit context_tokens even with its context cut"
# Answers that have just arrived: enough for all that looked into the store a moment before they did.
_RECENT = 1024


class JudgeClient:
    """Answers questions to judges and requests to the application; equal ones in flight are one call, a stored one is
    none.

    `fatal` is set once nothing further can be asked: the one line for the user. The thread and the connections are
    made when the first question for an endpoint comes, so rules-only runs have neither. Verdicts are stored for an
    attempt at a run only; the constructor raises RunFailed when its store cannot be read.
    """

    def __init__(self, plan: RunPlan, policy: RetryPolicy | None = None) -> None:
        config = plan.config
        self.fatal: str | None = None
        self._throttling = Throttling()
        self._connections = Connections(config.judge_timeout)
        self._shared = Shared(
            policy or RetryPolicy(),
            config.judge_processes or 1,
            Slots(config.max_concurrency),
            self._throttling,
            self._connections,
        )
        self._run_id = config.run_id
        self._store = _open_store(plan)
        self._keeps_rationales = config.store_rationales == "on"
        self._keeps_text = config.store_text == "full"
        self._lock = threading.Lock()
        self._closed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._endpoints: dict[str, EndpointClient] = {}
        # The three below belong to the loop's thread.
        self._in_flight: dict[str, list[_Asker[Any]]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._recent: OrderedDict[str, Any] = OrderedDict()

    @property
    def is_throttled(self) -> bool:
        """Whether a rate limit, ours or an endpoint's, holds calls back at this moment."""
        return self._throttling.held > 0

    def submit(
        self,
        binding: JudgeBinding,
        question: Question,
        done: Callable[[Verdict], None],
        request_id: str | None = None,
    ) -> None:
        """Ask `question`; `done` gets the verdict, exactly once: at once, or later on the client's thread.

        Never raises. What one call has spent is in the verdict of one of those who asked for it; the others have it as
        reused. `request_id` is the row that asks.
        """
        try:
            if binding.endpoint.is_lexical:
                verdict: Verdict | None = lexical.answer(question)
            elif (prompt := fit_prompt(binding, question.inputs)) is None:
                verdict = Verdict.failed(_TOO_LONG)
            else:
                key = content_key(binding, prompt.messages)
                ask = JudgeAsk(key, binding, question, prompt, self._keeps_rationales)
                verdict = self._ask(ask, _Asker(done, request_id))
        except Exception as error:
            verdict = Verdict.failed(_broken(error))
        if verdict is not None:
            done(verdict)

    def submit_request(
        self, app: AppBinding, unanswered: str, done: Callable[[Answered], None], request_id: str | None = None
    ) -> None:
        """Ask the application under test; as `submit`. `unanswered` is the logged request, a JSON object."""
        try:
            request = app.request(unanswered)
            answered = self._ask(
                AppAsk(app_key(app, request), app, request, self._keeps_text), _Asker(done, request_id)
            )
        except Exception as error:
            answered = Answered.failed(_broken(error))
        if answered is not None:
            done(answered)

    def flush(self) -> None:
        """Bring every verdict that was paid for to file. Raises RunFailed when that is not possible."""
        if self._store:
            self._store.flush()

    def fail(self, message: str) -> None:
        """Give up: every question in flight is answered with an error now, and `fatal` says why."""
        self.fatal = self.fatal or message
        with self._lock:
            if self._loop and not self._closed:
                self._loop.call_soon_threadsafe(self._cancel_all)

    def close(self) -> None:
        """Cancel what is in flight, close the connections, end the thread, and bring to file what was paid for.

        Idempotent. Raises RunFailed when the verdicts cannot be written.
        """
        with self._lock:
            if self._closed:
                return
            self._closed = True
            loop, thread = self._loop, self._thread
        if loop and thread:
            asyncio.run_coroutine_threadsafe(self._shut_down(), loop)
            thread.join(_CLOSE_SECONDS)
        if self._store:
            self._store.close()

    def _ask(self, ask: Ask[A], asker: "_Asker[A]") -> A | None:
        """Hand over to the loop's thread, or give the answer if it is stored or cannot be asked for."""
        if self.fatal:
            return ask.failed(_CLOSED)
        stored = self._store.get(ask.key, asker.request_id) if self._store else None
        recalled = ask.recalled(stored) if stored else None
        if recalled is not None:
            return as_reused(recalled)
        with self._lock:
            if self._closed:
                return ask.failed(_CLOSED)
            try:
                endpoint = self._endpoint_of(ask)
            except (KeyUnavailable, ValueError) as error:
                self.fatal = self.fatal or f"endpoint {ask.endpoint_name}: {error}"
                return ask.failed(_CLOSED)
            self._running_loop().call_soon_threadsafe(self._start, ask, endpoint, asker)
        return None

    def _endpoint_of(self, ask: Ask[A]) -> EndpointClient:
        name = ask.endpoint_name
        if name not in self._endpoints:
            self._endpoints[name] = EndpointClient(name, ask.endpoint, self._shared, self.fail)
        return self._endpoints[name]

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = new_event_loop()
            self._thread = threading.Thread(target=_run, args=(self._loop,), name="beamjudge-judges", daemon=True)
            self._thread.start()
        return self._loop

    # From here on everything runs on the loop's thread.

    def _start(self, ask: Ask[A], endpoint: EndpointClient, asker: "_Asker[A]") -> None:
        key = ask.key
        if key in self._in_flight:
            self._in_flight[key].append(asker)
            return
        if key in self._recent:  # it arrived between the look into the store and now
            asker.done(as_reused(self._kept(ask, self._recent[key], [asker])))
            return
        self._in_flight[key] = [asker]
        task = asyncio.get_running_loop().create_task(ask.put_to(endpoint))
        self._tasks.add(task)
        task.add_done_callback(partial(self._deliver, ask))
        if self.fatal:
            task.cancel()

    def _deliver(self, ask: Ask[A], task: "asyncio.Task[A]") -> None:
        self._tasks.discard(task)
        if task.cancelled():
            answer = ask.failed(_CLOSED)
        else:
            error = task.exception()
            answer = ask.failed(_broken(error)) if error else task.result()
        PROGRESS.add("calls_failed" if answer.error_message is not None else "calls_done", 1)
        askers = self._in_flight.pop(ask.key)
        # Before anybody learns of it: a bundle that ends flushes all that it got.
        if answer.error_message is None:
            answer = self._kept(ask, answer, askers)
        for asker in askers:
            asker.done(answer)
            answer = as_reused(answer)

    def _kept(self, ask: Ask[A], answer: A, askers: "list[_Asker[A]]") -> A:
        """The answer, once it is in the store's hands; a failure where that is not possible, as somebody waits."""
        try:
            if self._store:
                ids = dict.fromkeys(asker.request_id for asker in askers if asker.request_id is not None)
                stored = ask.to_store(answer, self._run_id, tuple(ids))
                if stored:
                    self._store.put(stored)
        except Exception as error:
            return ask.failed(_broken(error))
        self._recent[ask.key] = answer
        if len(self._recent) > _RECENT:
            self._recent.popitem(last=False)
        return answer

    def _cancel_all(self) -> None:
        for task in tuple(self._tasks):
            task.cancel()

    async def _shut_down(self) -> None:
        tasks = tuple(self._tasks)
        self._cancel_all()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._connections.close()
        loop = asyncio.get_running_loop()
        await loop.shutdown_default_executor()
        loop.stop()


@dataclass(frozen=True, slots=True)
class _Asker(Generic[A]):
    """Who waits for an answer: what to call with it, and the row that it is for."""

    done: Callable[[A], None]
    request_id: str | None


def _open_store(plan: RunPlan) -> VerdictStore | None:
    """The attempt's store; rules are not stored, being faster than any store."""
    config, attempt = plan.config, plan.attempt
    if attempt is None or (plan.app is None and all(judge.endpoint.is_lexical for judge in plan.judges)):
        return None
    return VerdictStore(config.verdict_folder, config.run_id, attempt.id, reuse=not config.no_verdict_reuse)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


def _broken(error: BaseException) -> str:
    """The error message for a fault of ours. Its own text may hold the judged text, so only its place is logged."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].name}:{frames[-1].lineno}" if frames else "unknown"
    _LOGGER.error("a call failed with %s at %s", type(error).__name__, place)
    return f"internal: {type(error).__name__}"


# The clients of this process by what they are configured with, and how many use each.
_CLIENTS: dict[str, JudgeClient] = {}
_USERS: dict[JudgeClient, int] = {}
_REGISTRY_LOCK = threading.Lock()


def acquire(plan: RunPlan) -> JudgeClient:
    """The process's client for the plan's judges, to be given back with `release`.

    A client that failed stays with those who hold it: the next run does not inherit its failure.
    """
    key = _configuration_key(plan)
    with _REGISTRY_LOCK:
        client = _CLIENTS.get(key)
        if client is None or client.fatal:
            client = _CLIENTS[key] = JudgeClient(plan)
        _USERS[client] = _USERS.get(client, 0) + 1
    return client


def release(client: JudgeClient) -> None:
    """Give a client back; its last user closes it."""
    with _REGISTRY_LOCK:
        _USERS[client] -= 1
        if _USERS[client]:
            return
        del _USERS[client]
        for key in [key for key, known in _CLIENTS.items() if known is client]:
            del _CLIENTS[key]
    client.close()


def fail_all(message: str) -> None:
    """Make every client of this process give up, so that no bundle waits any longer (an interrupted local run)."""
    with _REGISTRY_LOCK:
        clients = tuple(_USERS)
    for client in clients:
        client.fail(message)


def close_all() -> None:
    """Close every client of this process, whoever still holds it (after an interrupt)."""
    with _REGISTRY_LOCK:
        clients = tuple(_USERS)
    for client in clients:
        try:
            client.close()
        except RunFailed as error:  # the others are to be closed as well
            _LOGGER.error("%s", error)


def _configuration_key(plan: RunPlan) -> str:
    config, attempt = plan.config, plan.attempt
    identity: list[Json] = [
        None if attempt is None else [attempt.id, config.verdict_folder, config.no_verdict_reuse],
        config.max_concurrency,
        config.judge_processes,
        config.judge_timeout,
        None if plan.app is None else plan.app.endpoint.model_dump(mode="json"),
        [
            [judge.spec.name, judge.hash, judge.endpoint_name, judge.endpoint.model_dump(mode="json")]
            for judge in plan.judges
        ],
    ]
    return hashlib.sha256(canonical_json(identity).encode()).hexdigest()
