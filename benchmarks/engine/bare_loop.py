"""What the engine is compared with: a bare asyncio loop that keeps `slots` calls in flight and does nothing else.

    python bare_loop.py openai|aiohttp BASE_URL CALLS SLOTS     prints {"cpu_ms": per call, "calls_per_second": ...}

`openai` is the plain client of that package; `aiohttp` posts and decodes JSON, and is what calls cost at the least.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable

BODY = {
    "model": "mock",
    "temperature": 0,
    "messages": [{"role": "system", "content": "x" * 1500}, {"role": "user", "content": "y" * 2500}],
}


async def measure(call: Callable[[], Awaitable[object]], calls: int, slots: int) -> dict[str, float]:
    remaining = iter(range(calls))

    async def work() -> None:
        for _ in remaining:
            await call()

    await call()
    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(slots)))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"cpu_ms": cpu / calls * 1000, "calls_per_second": calls / wall}


async def with_openai(base_url: str, calls: int, slots: int) -> dict[str, float]:
    import openai

    async with openai.AsyncOpenAI(api_key="none", base_url=base_url, max_retries=0) as client:
        return await measure(lambda: client.chat.completions.create(**BODY), calls, slots)


async def with_aiohttp(base_url: str, calls: int, slots: int) -> dict[str, float]:
    import aiohttp

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, headers={"Authorization": "Bearer none"}) as session:

        async def call() -> object:
            async with session.post(f"{base_url}/chat/completions", json=BODY) as reply:
                return await reply.json()

        return await measure(call, calls, slots)


if __name__ == "__main__":
    name, address, number, in_flight = sys.argv[1:]
    loop = {"openai": with_openai, "aiohttp": with_aiohttp}[name]
    print(json.dumps(asyncio.run(loop(address, int(number), int(in_flight)))))
