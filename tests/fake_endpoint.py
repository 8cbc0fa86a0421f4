"""A scripted OpenAI-compatible endpoint over a real loopback socket, for tests.

    with FakeEndpoint() as endpoint:
        endpoint.script(Answer(429, headers={"Retry-After": "1"}), Reset())   # the next requests, in order
        endpoint.respond = lambda body: Completion("no")                     # all others; default: a structured yes
        ... base_url=endpoint.base_url ...
        assert len(endpoint.requests) == 3

Steps: `Completion` (a chat completion), `Answer` (any status, headers and body), `Reset` (the connection breaks, also
in mid-body), `Hang` (no answer until the endpoint closes), `Drip` (a byte at a time, without end), `Held` (another
step, once an event is set).

What a provider would bill is counted in `bill`: every answer with status 200 that begins, but for pages of HTML and
error objects; tokens only where the answer tells them.
"""

import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

YES = '{"rationale": "because", "rating": "yes"}'
NO = '{"rationale": "because", "rating": "no"}'


@dataclass(frozen=True)
class Completion:
    """A chat completion whose message has `content`; `message` and `extra` replace or add fields."""

    content: str | None = YES
    prompt_tokens: int = 100
    completion_tokens: int = 20
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    finish_reason: str = "stop"
    message: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        usage = {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens},
            "completion_tokens_details": {"reasoning_tokens": self.reasoning_tokens},
        }
        message = {"role": "assistant", "content": self.content, **self.message}
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        return {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice], "usage": usage, **self.extra}


@dataclass(frozen=True)
class Answer:
    """Any HTTP answer. A `body` that is no string or bytes is sent as JSON."""

    status: int = 200
    body: Any = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"

    def raw(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


def error(
    status: int, code: str | None = None, message: str = "it failed", param: str | None = None, **headers: str
) -> Answer:
    """An error as OpenAI writes it; `retry_after="1"` becomes the header `retry-after: 1`."""
    body = {"error": {"message": message, "type": "some_error", "param": param, "code": code}}
    return Answer(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


@dataclass(frozen=True)
class Reset:
    """The connection breaks: at once, or after this many bytes of a body that was announced longer."""

    after_bytes: int | None = None


@dataclass(frozen=True)
class Hang:
    """No answer, ever."""


@dataclass(frozen=True)
class Drip:
    """A body that comes one byte at a time and never ends."""

    seconds: float = 0.02


@dataclass(frozen=True)
class Held:
    """`then`, but only once `until` is set."""

    until: threading.Event
    then: "Step" = field(default_factory=Completion)


Step: TypeAlias = "Completion | Answer | Reset | Hang | Drip | Held"


@dataclass(frozen=True)
class Request:
    """What was asked: the decoded body, the headers by lower-case name, and the path."""

    body: dict[str, Any]
    headers: dict[str, str]
    path: str

    @property
    def text(self) -> str:
        """The contents of all messages, one after the other."""
        return "\n".join(str(message["content"]) for message in self.body["messages"])


@dataclass
class Bill:
    """What was billed: the requests, and the tokens that the client could know of."""

    requests: list[Request] = field(default_factory=list)
    input_tokens: int = 0
    output_tokens: int = 0


class FakeEndpoint:
    """The endpoint, as a context manager. What it was asked is in `requests`, in the order of arrival."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.respond: Callable[[Request], Step] = lambda request: Completion()
        self.requests: list[Request] = []
        self.bill = Bill()
        self.in_flight = 0
        self.max_in_flight = 0
        self.connections = 0
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._script: list[Step] = []
        self._scheme = "https" if tls else "http"
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.endpoint, self._server.tls = self, tls
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def base_url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._server.server_port}/v1"

    def script(self, *steps: Step) -> None:
        """Answer the next requests with these steps, in order, and `respond` to those after them."""
        with self._lock:
            self._script.extend(steps)

    def __enter__(self) -> "FakeEndpoint":
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def take(self, request: Request) -> Step:
        with self._lock:
            self.requests.append(request)
            self.in_flight += 1
            self.max_in_flight = max(self.max_in_flight, self.in_flight)
            step = self._script.pop(0) if self._script else None
        return self.respond(request) if step is None else step

    def connect(self) -> None:
        with self._lock:
            self.connections += 1

    def leave(self) -> None:
        with self._lock:
            self.in_flight -= 1

    def charge(self, request: Request, step: Step) -> None:
        is_page = isinstance(step, Answer) and (step.status != 200 or step.raw().startswith((b"<", b'{"error"')))
        if isinstance(step, Hang) or is_page or step == Reset():
            return
        body = step.body() if isinstance(step, Completion) else step.body if isinstance(step, Answer) else None
        usage = body.get("usage") if isinstance(body, dict) else None
        with self._lock:
            self.bill.requests.append(request)
            self.bill.input_tokens += usage.get("prompt_tokens", 0) if usage else 0
            self.bill.output_tokens += usage.get("completion_tokens", 0) if usage else 0


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256
    endpoint: FakeEndpoint
    tls: ssl.SSLContext | None = None

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Handle a connection, on a thread of its own."""
        self.endpoint.connect()
        if self.tls:
            request = self.tls.wrap_socket(request, server_side=True)
        super().finish_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: what matters is in `requests`."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        endpoint = self.server.endpoint
        if endpoint.closing.is_set():  # a connection that outlived its endpoint
            return self._break()
        request = Request(body, headers, self.path)
        step = endpoint.take(request)
        try:
            while isinstance(step, Held):
                if not _wait(step.until, endpoint.closing):
                    return self._break()
                step = step.then
        finally:
            # Before the answer is sent: the client's next call may arrive before this thread goes on.
            endpoint.charge(request, step)
            endpoint.leave()
        return self._play(step)

    def _play(self, step: Step) -> None:
        closing = self.server.endpoint.closing
        if isinstance(step, Completion):
            self._answer(Answer(200, step.body()))
        elif isinstance(step, Answer):
            self._answer(step)
        elif isinstance(step, Reset):
            if step.after_bytes is not None:
                self._head(200, {}, "application/json", step.after_bytes + 1000)
                self.wfile.write(b'{"id": "' + b"x" * step.after_bytes)
            self._break()
        elif isinstance(step, Hang):
            closing.wait()
        elif isinstance(step, Drip):
            self._head(200, {}, "application/json", 10**9)
            while not closing.wait(step.seconds):
                self.wfile.write(b" ")
                self.wfile.flush()

    def _answer(self, answer: Answer) -> None:
        raw = answer.raw()
        self._head(answer.status, answer.headers, answer.content_type, len(raw))
        self.wfile.write(raw)
        self.wfile.flush()

    def _head(self, status: int, headers: Mapping[str, str], content_type: str, length: int) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _break(self) -> None:
        """Close with a reset, as a crashing server does."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True


def _wait(event: threading.Event, closing: threading.Event) -> bool:
    """Whether `event` was set before the endpoint closed."""
    while not event.wait(0.05):
        if closing.is_set():
            return False
    return True
