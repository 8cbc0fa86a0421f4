"""The judge client: one per worker process and configuration, with its own event loop on its own thread."""

import asyncio
import hashlib
import logging
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeAlias

from beamjudge.schemas.assessment import Outcome, Verdict, stopped_message
from beamjudge.schemas.errors import RunFailed
from beamjudge.schemas.json_value import Json, canonical_json
from beamjudge.schemas.spend import NO_SPEND
from beamjudge.schemas.stored_verdict import StoredVerdict
from beamjudge.transforms.judging import lexical
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.judging.connections import Connections, new_event_loop
from beamjudge.transforms.judging.content_key import content_key
from beamjudge.transforms.judging.endpoint import EndpointClient, Shared
from beamjudge.transforms.judging.fitting import Prompt, fit_prompt
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
# Verdicts that have just arrived: enough for all that looked into the store a moment before they did.
_RECENT = 1024

Done: TypeAlias = Callable[[Verdict], None]


class JudgeClient:
    """Answers questions; equal questions in flight are one call, and a stored verdict is none.

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
        self._lock = threading.Lock()
        self._closed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._endpoints: dict[str, EndpointClient] = {}
        # The three below belong to the loop's thread.
        self._in_flight: dict[str, list[_Asker]] = {}
        self._tasks: set[asyncio.Task[Verdict]] = set()
        self._recent: OrderedDict[str, Verdict] = OrderedDict()

    @property
    def is_throttled(self) -> bool:
        """Whether a rate limit, ours or an endpoint's, holds calls back at this moment."""
        return self._throttling.held > 0

    def submit(self, binding: JudgeBinding, question: Question, done: Done, request_id: str | None = None) -> None:
        """Ask `question`; `done` gets the verdict, exactly once: at once, or later on the client's thread.

        Never raises. What one call has spent is in the verdict of one of those who asked for it; the others have it as
        reused. `request_id` is the row that asks.
        """
        try:
            verdict = (
                lexical.answer(question)
                if binding.endpoint.is_lexical
                else self._ask(binding, question, _Asker(done, request_id))
            )
        except Exception as error:
            verdict = _broken(error)
        if verdict is not None:
            done(verdict)

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

    def _ask(self, binding: JudgeBinding, question: Question, asker: "_Asker") -> Verdict | None:
        """Hand the question to the loop's thread, or the verdict if it is stored or cannot be asked for."""
        if self.fatal:
            return Verdict.failed(_CLOSED)
        prompt = fit_prompt(binding, question.inputs)
        if prompt is None:
            return Verdict.failed("context_too_long: the prompt does not fit context_tokens even with its context cut")
        key = content_key(binding, prompt.messages)
        stored = self._store.get(key, asker.request_id) if self._store else None
        if stored:
            return as_reused(stored.verdict())
        with self._lock:
            if self._closed:
                return Verdict.failed(_CLOSED)
            try:
                endpoint = self._endpoint_of(binding)
            except (KeyUnavailable, ValueError) as error:
                self.fatal = self.fatal or f"endpoint {binding.endpoint_name}: {error}"
                return Verdict.failed(_CLOSED)
            self._running_loop().call_soon_threadsafe(self._start, key, endpoint, binding, question, prompt, asker)
        return None

    def _endpoint_of(self, binding: JudgeBinding) -> EndpointClient:
        name = binding.endpoint_name
        if name not in self._endpoints:
            self._endpoints[name] = EndpointClient(name, binding.endpoint, self._shared, self.fail)
        return self._endpoints[name]

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = new_event_loop()
            self._thread = threading.Thread(target=_run, args=(self._loop,), name="beamjudge-judges", daemon=True)
            self._thread.start()
        return self._loop

    # From here on everything runs on the loop's thread.

    def _start(
        self,
        key: str,
        endpoint: EndpointClient,
        binding: JudgeBinding,
        question: Question,
        prompt: Prompt,
        asker: "_Asker",
    ) -> None:
        if key in self._in_flight:
            self._in_flight[key].append(asker)
            return
        if key in self._recent:  # it arrived between the look into the store and now
            verdict = self._recent[key]
            self._put(key, binding, verdict, [asker])
            asker.done(as_reused(verdict))
            return
        self._in_flight[key] = [asker]
        task = asyncio.get_running_loop().create_task(endpoint.ask(binding, question.inputs, prompt))
        self._tasks.add(task)
        task.add_done_callback(partial(self._deliver, key, binding))
        if self.fatal:
            task.cancel()

    def _deliver(self, key: str, binding: JudgeBinding, task: "asyncio.Task[Verdict]") -> None:
        self._tasks.discard(task)
        if task.cancelled():
            verdict = Verdict.failed(_CLOSED)
        else:
            error = task.exception()
            verdict = _broken(error) if error else task.result()
        PROGRESS.add("calls_failed" if verdict.outcome is Outcome.ERROR else "calls_done", 1)
        askers = self._in_flight.pop(key)
        if verdict.rating is not None:
            self._keep(key, binding, verdict, askers)
        for asker in askers:
            asker.done(verdict)
            verdict = as_reused(verdict)

    def _keep(self, key: str, binding: JudgeBinding, verdict: Verdict, askers: "list[_Asker]") -> None:
        """Store a verdict before anybody learns of it: a bundle that ends flushes all that it got."""
        self._recent[key] = verdict
        if len(self._recent) > _RECENT:
            self._recent.popitem(last=False)
        self._put(key, binding, verdict, askers)

    def _put(self, key: str, binding: JudgeBinding, verdict: Verdict, askers: "list[_Asker]") -> None:
        if self._store:
            ids = dict.fromkeys(asker.request_id for asker in askers if asker.request_id is not None)
            kept = verdict if self._keeps_rationales else replace(verdict, rationale=None)
            self._store.put(_stored(key, binding, kept, self._run_id, tuple(ids)))

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


class _Asker(NamedTuple):
    """Who waits for a verdict: what to call with it, and the row that it is for."""

    done: Done
    request_id: str | None


def as_reused(verdict: Verdict) -> Verdict:
    """The verdict for one who did not pay for it."""
    return replace(verdict, spend=NO_SPEND, reused=verdict.reused + verdict.spend, wasted=NO_SPEND)


def _open_store(plan: RunPlan) -> VerdictStore | None:
    """The attempt's store; rules are not stored, being faster than any store."""
    config, attempt = plan.config, plan.attempt
    if attempt is None or all(judge.endpoint.is_lexical for judge in plan.judges):
        return None
    return VerdictStore(config.verdict_folder, config.run_id, attempt.id, reuse=not config.no_verdict_reuse)


def _stored(
    key: str, binding: JudgeBinding, verdict: Verdict, run_id: str, request_ids: tuple[str, ...]
) -> StoredVerdict:
    assert verdict.rating is not None
    return StoredVerdict(
        key,
        binding.spec.name,
        binding.hash,
        binding.model,
        verdict.rating,
        verdict.rationale,
        verdict.score,
        verdict.notes,
        verdict.spend,
        run_id,
        time.time(),
        request_ids,
    )


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


def _broken(error: BaseException) -> Verdict:
    """The verdict for a fault of ours. The error's own text may hold the judged text, so only its place is logged."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].name}:{frames[-1].lineno}" if frames else "unknown"
    _LOGGER.error("a judge call failed with %s at %s", type(error).__name__, place)
    return Verdict.failed(f"internal: {type(error).__name__}")


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
        [
            [judge.spec.name, judge.hash, judge.endpoint_name, judge.endpoint.model_dump(mode="json")]
            for judge in plan.judges
        ],
    ]
    return hashlib.sha256(canonical_json(identity).encode()).hexdigest()
