"""The mock endpoint of `mock_endpoint.js` as a context manager, and what a perfect schedule makes of its latencies."""

import heapq
import json
import subprocess
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple


class Latency(NamedTuple):
    """A constant latency where both are equal, else lognormal."""

    median_ms: float
    p99_ms: float


CONSTANT = Latency(200, 200)
HEAVY_TAIL = Latency(200, 3000)


class Calls(NamedTuple):
    """What the endpoint saw: the latency of each call in order of arrival, and seconds from the first to the last.

    `late_ms` is by how much answers left later than drawn, on average.
    """

    drawn_ms: list[float]
    seconds: float
    max_in_flight: int
    late_ms: float
    statuses: dict[str, int]

    @property
    def number(self) -> int:
        return len(self.drawn_ms)

    def share_of_ideal(self, slots: int, calls_per_bundle: int | None = None) -> float:
        """What a perfect greedy schedule would have needed for these calls, as a share of what was needed."""
        size = calls_per_bundle or self.number
        bundles = (self.drawn_ms[start : start + size] for start in range(0, self.number, size))
        return sum(greedy_seconds(bundle, slots) for bundle in bundles) / self.seconds


def greedy_seconds(latencies_ms: Sequence[float], slots: int) -> float:
    """The time in which `slots` that are never idle finish the calls, each taking the next in order."""
    free_at = [0.0] * slots
    for latency in latencies_ms:
        heapq.heappush(free_at, heapq.heappop(free_at) + latency)
    return max(free_at) / 1000


class Mock:
    """A running mock endpoint; `configure` forgets the calls that it has seen."""

    def __enter__(self) -> "Mock":
        script = Path(__file__).with_name("mock_endpoint.js")
        self._process = subprocess.Popen(["node", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        port = json.loads(self._process.stdout.readline())["port"]
        self._address = f"http://127.0.0.1:{port}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    @property
    def base_url(self) -> str:
        return f"{self._address}/v1"

    def configure(self, latency: Latency, seed: int = 1, fail_share: float = 0.0) -> None:
        self._request("/configure", {"latency": latency._asdict(), "seed": seed, "fail_share": fail_share})

    def calls(self) -> Calls:
        stats = self._request("/stats")
        seconds = (stats["last_ms"] - stats["first_ms"]) / 1000
        late_ms = stats["late_ms"] / len(stats["drawn_ms"])
        return Calls(stats["drawn_ms"], seconds, stats["max_in_flight"], late_ms, stats["statuses"])

    def count(self) -> int:
        number: int = self._request("/count")
        return number

    def _request(self, path: str, body: Mapping[str, object] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(self._address + path, data) as response:
            return json.load(response)
