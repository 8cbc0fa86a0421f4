"""The connections of a worker process: one long-lived pool for all endpoints, and requests in their leanest form.

What is sent is what the `openai` package would send (a test compares them), without the models and parameter
transforms that take most of that package's time per call.
"""

import asyncio
import os
import ssl
import urllib.request
from dataclasses import dataclass
from importlib import metadata
from typing import NamedTuple

import aiohttp
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from beamjudge.schemas.run_config import DEFAULT_BASE_URL, Endpoint
from beamjudge.transforms.judging.failures import connection_failed, not_a_completion, timed_out
from beamjudge.transforms.judging.keys import expand_headers, resolve_key

_CONNECT_SECONDS = 10.0
# Shorter than the five seconds after which common servers (uvicorn) close an idle connection: one that is closed in the
# moment of its reuse would cost a repetition.
_IDLE_SECONDS = 4.0
_MAX_REPLY_BYTES = 16 * 2**20


def new_event_loop() -> asyncio.AbstractEventLoop:
    """A loop for the judges' thread: uvloop's where there is one, as it takes less CPU time."""
    try:
        import uvloop
    except ImportError:  # on Windows
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


class Response(NamedTuple):
    """What came back, read to its end."""

    status: int
    headers: CIMultiDictProxy[str]
    body: bytes


@dataclass(frozen=True)
class Target:
    """Where an endpoint's calls go, worked out once: address, headers, and the proxy that the environment names."""

    url: URL
    headers: CIMultiDict[str]
    proxy: str | None

    @classmethod
    def of(cls, endpoint: Endpoint) -> "Target":
        """Raises KeyUnavailable, and ValueError for an address that is none."""
        url = completions_url(endpoint.base_url)
        headers = CIMultiDict(
            {
                "Authorization": f"Bearer {resolve_key(endpoint)}",
                "Content-Type": "application/json",
                "Accept": "application/json",
                "User-Agent": f"beamjudge/{metadata.version('beamjudge')}",
            }
        )
        if endpoint.base_url == DEFAULT_BASE_URL:
            for name, variable in (("OpenAI-Organization", "OPENAI_ORG_ID"), ("OpenAI-Project", "OPENAI_PROJECT_ID")):
                if os.environ.get(variable):
                    headers[name] = os.environ[variable]
        headers.update(expand_headers(endpoint.headers))
        return cls(url, headers, _proxy(url))


def completions_url(base_url: str) -> URL:
    """The address of chat completions below `base_url`; a query (Azure's `?api-version=`) stays at its end."""
    url = URL(base_url)
    return url.with_path(f"{url.raw_path.rstrip('/')}/chat/completions", encoded=True).with_query(url.raw_query_string)


class Connections:
    """A pool of connections; lives on one event loop, and is made there with the first call.

    A call ends after `timeout` seconds, whatever it waits for then: a server may be silent, or send a byte a second.
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._session: aiohttp.ClientSession | None = None

    async def post(self, target: Target, body: bytes) -> Response:
        """The reply to `body`. Raises CallFailed where none came, or not all of it."""
        if self._session is None:
            self._session = _new_session(self._timeout)
        has_begun = False
        try:
            async with self._session.post(target.url, data=body, headers=target.headers, proxy=target.proxy) as reply:
                has_begun = reply.status == 200
                return Response(reply.status, reply.headers, await _read(reply))
        except asyncio.TimeoutError as error:
            # A connection that does not come about in its own, shorter time is another failure.
            if isinstance(error, aiohttp.ConnectionTimeoutError):
                raise connection_failed(error, has_begun=False) from None
            raise timed_out(self._timeout, has_begun) from None
        except (aiohttp.ClientError, OSError) as error:
            raise connection_failed(error, has_begun) from None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


def _new_session(timeout: float) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        # How many calls are in flight is decided by the limits, not by the pool.
        connector=aiohttp.TCPConnector(
            limit=0, keepalive_timeout=_IDLE_SECONDS, ttl_dns_cache=300, ssl=ssl.create_default_context()
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=timeout, sock_connect=_CONNECT_SECONDS),
    )


async def _read(reply: aiohttp.ClientResponse) -> bytes:
    """The body. A reply that does not end must not fill the memory before its deadline comes."""
    chunks, size = [], 0
    async for chunk in reply.content.iter_any():
        chunks.append(chunk)
        size += len(chunk)
        if size > _MAX_REPLY_BYTES:
            raise not_a_completion("longer than 16 MiB")
    return b"".join(chunks)


def _proxy(url: URL) -> str | None:
    """The proxy that HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names for `url`, unless NO_PROXY excludes it."""
    if urllib.request.proxy_bypass(f"{url.host}:{url.port}"):
        return None
    proxies = urllib.request.getproxies()
    return proxies.get(url.scheme) or proxies.get("all")
