// An OpenAI-compatible chat endpoint that answers after latencies it draws, in a process of its own, and reports them.
//
//   node mock_endpoint.js        prints {"port": N} and serves until its standard input closes
//
//   POST /configure              {"latency": {"median_ms": 200, "p99_ms": 3000}, "seed": 1, "fail_share": 0.05}
//                                p99_ms equal to median_ms is a constant latency, more is lognormal; forgets all calls
//   GET  /count                  the number of calls that came
//   GET  /stats                  drawn_ms in the order of arrival, first_ms and last_ms on one clock, in flight, statuses
//   POST anything else           a chat completion with a verdict; a share of calls fails with 429 (at once) or 500
"use strict";

const http = require("node:http");

const Z99 = 2.3263478740408408; // the 0.99 quantile of the standard normal distribution
const REFUSAL_MS = 20;
const RATIONALE = "Every key claim of the response is supported by the context.";
const STRUCTURED = completion(JSON.stringify({ rationale: RATIONALE, rating: "yes" }));
const YES_NO = completion(`Yes. ${RATIONALE}`);

let config, random, calls;

function completion(content) {
  const message = { role: "assistant", content, refusal: null };
  const usage = {
    prompt_tokens: 500,
    completion_tokens: 30,
    total_tokens: 530,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: "stop" }];
  return Buffer.from(
    JSON.stringify({ id: "chatcmpl-mock", object: "chat.completion", created: 1790000000, model: "mock", choices, usage }),
  );
}

// mulberry32: a small generator that is the same everywhere; numbers in [0, 1).
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function configure(given) {
  config = { latency: { median_ms: 200, p99_ms: 200 }, seed: 1, fail_share: 0, ...given };
  random = generator(config.seed);
  calls = { drawn_ms: [], late_ms: 0, first_ms: null, last_ms: null, in_flight: 0, max_in_flight: 0, statuses: {} };
}

function drawLatency() {
  const { median_ms: median, p99_ms: p99 } = config.latency;
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return median * Math.exp((Math.log(p99 / median) / Z99) * normal);
}

function answer(response, status, body, type = "application/json") {
  response.writeHead(status, { "Content-Type": type, "Content-Length": body.length });
  response.end(body);
}

function complete(request, response) {
  const arrived = performance.now();
  const failing = random() < config.fail_share;
  const status = failing ? (random() < 0.5 ? 429 : 500) : 200;
  const drawn = drawLatency();
  const latency = status === 429 ? REFUSAL_MS : drawn;
  const mine = calls;
  mine.first_ms ??= arrived;
  mine.drawn_ms.push(latency);
  mine.statuses[status] = (mine.statuses[status] ?? 0) + 1;
  mine.in_flight += 1;
  mine.max_in_flight = Math.max(mine.max_in_flight, mine.in_flight);
  setTimeout(() => {
    mine.in_flight -= 1;
    mine.last_ms = performance.now();
    mine.late_ms += mine.last_ms - arrived - latency;
    const asked = request.includes("response_format") ? STRUCTURED : YES_NO;
    answer(response, status, status === 200 ? asked : Buffer.from('{"error": {"message": "mock fault"}}'));
  }, latency);
}

function handle(request, response) {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    if (request.url === "/configure") {
      configure(JSON.parse(Buffer.concat(parts)));
      answer(response, 200, Buffer.from("{}"));
    } else if (request.url === "/count") {
      answer(response, 200, Buffer.from(JSON.stringify(calls.drawn_ms.length)));
    } else if (request.url === "/stats") {
      answer(response, 200, Buffer.from(JSON.stringify(calls)));
    } else {
      complete(Buffer.concat(parts), response);
    }
  });
}

configure({});
const server = http.createServer({ keepAliveTimeout: 120000 }, handle);
server.listen(0, "127.0.0.1", 1024, () => console.log(JSON.stringify({ port: server.address().port })));
process.stdin.resume().on("end", () => process.exit(0));
