"""One endpoint over a real socket: forms of requests, faults, stopping, spend, secrets."""

import logging
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_endpoint import NO, YES, Answer, Completion, Drip, FakeEndpoint, Hang, Request, Reset, Step, error
from judge_harness import Asker, config_for, question

from beamjudge.schemas.assessment import JudgeSpend, Outcome, Spend, Verdict
from beamjudge.schemas.judges import Protocol
from beamjudge.transforms.judging.fitting import estimate_tokens
from beamjudge.transforms.judging.keys import KeyUnavailable, expand_headers, resolve_key
from beamjudge.transforms.judging.reply import FILTERED, REFUSED

KEY = "sk-very-secret-0123456789"
PROMPT_WORDS = "plum-coloured heron"


@pytest.fixture
def endpoint() -> Iterator[FakeEndpoint]:
    with FakeEndpoint() as running:
        yield running


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def ask_one(endpoint_: FakeEndpoint, **config: Any) -> Verdict:
    with Asker(config_for(endpoint_.base_url, **config)) as asker:
        return asker.ask_one()


def test_asks_with_json_schema_and_reads_the_verdict(endpoint: FakeEndpoint) -> None:
    endpoint.script(Completion(NO, prompt_tokens=1000, completion_tokens=50, cached_tokens=400))
    price = {"input": 2.0, "cached_input": 0.5, "output": 8.0}
    verdict = ask_one(endpoint, endpoint={"price_per_million": price, "parameters": {"seed": 7, "top_k": 1}})
    # (600 * 2 + 400 * 0.5 + 50 * 8) / 1e6
    assert verdict == Verdict.scored("no", "because", spend=Spend(1, 1000, 400, 50, pytest.approx(0.0018)))
    (request,) = endpoint.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    body = request.body
    assert (body["model"], body["temperature"], body["seed"], body["top_k"]) == ("judge-1", 0, 7, 1)
    schema = body["response_format"]["json_schema"]["schema"]
    assert body["response_format"]["type"] == "json_schema"
    assert set(schema["required"]) == {"rating", "rationale"}
    assert "Question 0?" in request.text


def test_configured_parameters_override_the_default(endpoint: FakeEndpoint) -> None:
    assert ask_one(endpoint, endpoint={"parameters": {"temperature": 0.7}}).rating == "yes"
    assert endpoint.requests[0].body["temperature"] == 0.7


def test_a_reply_without_usage_or_price_has_an_unknown_cost(endpoint: FakeEndpoint) -> None:
    endpoint.script(Completion(extra={"usage": None}))
    assert ask_one(endpoint).spend == Spend(1, 0, 0, 0, None)


def test_other_protocols_ask_for_no_format(endpoint: FakeEndpoint) -> None:
    endpoint.script(Completion("Yes. It is."))
    assert ask_one(endpoint, protocol=Protocol.YES_NO).rating == "yes"
    assert "response_format" not in endpoint.requests[0].body


def rejects_formats(*accepted: str | None) -> Any:
    def respond(request: Request) -> Step:
        sent = request.body.get("response_format", {}).get("type")
        return Completion() if sent in accepted else error(400, message=f"response_format {sent} is not supported")

    return respond


@pytest.mark.parametrize(
    ("accepted", "sent"),
    [("json_object", ["json_schema", "json_object"]), (None, ["json_schema", "json_object", None])],
)
def test_learns_the_response_format_once(
    endpoint: FakeEndpoint, accepted: str | None, sent: list[str | None], caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.respond = rejects_formats(accepted)
    with Asker(config_for(endpoint.base_url)) as asker, caplog.at_level(logging.WARNING):
        assert asker.ask_one(question(1)).rating == "yes"
        assert asker.ask_one(question(2)).rating == "yes"
    formats = [request.body.get("response_format", {}).get("type") for request in endpoint.requests]
    assert formats == [*sent, accepted]
    assert caplog.text.count("endpoint default") == len(sent) - 1
    assert "Question" not in caplog.text


@pytest.mark.parametrize(
    ("rejection", "parameters", "expected"),
    [
        (error(400, "unsupported_value", "Only the default is supported.", "temperature"), {}, {}),
        (
            error(400, "unsupported_parameter", "Use 'max_completion_tokens' instead.", "max_tokens"),
            {"max_tokens": 300, "temperature": 1},
            {"max_completion_tokens": 300, "temperature": 1},
        ),
        (
            error(422, message="Extra inputs are not permitted: top_k"),
            {"top_k": 5, "temperature": 1},
            {"temperature": 1},
        ),
        (
            Answer(400, {"detail": "Unknown field 'max_completion_tokens', did you mean max_tokens?"}),
            {"max_completion_tokens": 300, "temperature": 1},
            {"max_tokens": 300, "temperature": 1},
        ),
    ],
)
def test_drops_what_a_model_rejects_once(
    endpoint: FakeEndpoint, rejection: Answer, parameters: dict[str, Any], expected: dict[str, Any]
) -> None:
    endpoint.script(rejection)
    with Asker(config_for(endpoint.base_url, endpoint={"parameters": parameters})) as asker:
        assert [verdict.rating for verdict in (asker.ask_one(question(1)), asker.ask_one(question(2)))] == ["yes"] * 2
    assert len(endpoint.requests) == 3
    for request in endpoint.requests[1:]:
        assert {
            name: request.body[name] for name in request.body if "tok" in name or "temp" in name or "top" in name
        } == (expected)


def test_learns_nothing_from_a_rejection_that_remains(endpoint: FakeEndpoint) -> None:
    """An endpoint may repeat the judged text in its error, and the text may speak of parameters."""
    endpoint.respond = lambda request: (
        error(400, message="invalid: 'temperature and response_format'") if "1?" in request.text else Completion()
    )
    with Asker(config_for(endpoint.base_url)) as asker:
        assert asker.ask_one(question(1)).error_message == "http_400: the endpoint rejected the request (some_error)"
        rejected = len(endpoint.requests)
        assert asker.ask_one(question(2)).rating == "yes"
    bodies = [request.body for request in endpoint.requests]
    forms = [str({name: body[name] for name in sorted(body) if name != "messages"}) for body in bodies[:rejected]]
    assert len(set(forms)) == rejected, "an unchanged request was repeated"
    assert bodies[-1]["temperature"] == 0
    assert bodies[-1]["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (error(400, "invalid_value"), "http_400: the endpoint rejected the request (invalid_value)"),
        (error(413), "http_413: the endpoint rejected the request (some_error)"),
        (error(400, "content_filter"), "content_filter: the endpoint refused the request"),
        (
            error(400, "context_length_exceeded", param="messages"),
            "context_too_long: the request does not fit the model's context",
        ),
        (
            Answer(400, {"error": {"message": "the request exceeds the available context size"}}),
            "context_too_long: the request does not fit the model's context",
        ),
        (Answer(200, "<html>Gateway</html>", content_type="text/html"), "invalid_reply: HTML instead of JSON"),
        (Answer(200, "<html>Gateway</html>"), "invalid_reply: HTML instead of JSON"),
        (Answer(200, {"error": {"message": "no"}}), "invalid_reply: an error object instead of a completion"),
    ],
)
def test_faults_that_are_not_repeated(endpoint: FakeEndpoint, step: Step, kind: str) -> None:
    endpoint.script(step)
    with Asker(config_for(endpoint.base_url)) as asker:
        assert asker.ask_one(question(1)) == Verdict.failed(kind)
        assert asker.ask_one(question(2)).rating == "yes", "the others go on"
    assert len(endpoint.requests) == 2


TOKENS_UNKNOWN = Spend(1, cost_usd=None)


@pytest.mark.parametrize(
    ("step", "kind", "wasted"),
    [
        (Answer(200, '{"choices": [{"mess'), "invalid_reply: not JSON", TOKENS_UNKNOWN),
        (Answer(200, "[" * 100_000), "invalid_reply: not JSON", TOKENS_UNKNOWN),
        (Answer(200, b"\xff\xfe\xfa"), "invalid_reply: not JSON", TOKENS_UNKNOWN),
        (Answer(200, []), "invalid_reply: not a JSON object", TOKENS_UNKNOWN),
        (Answer(200, ""), "invalid_reply: not JSON", TOKENS_UNKNOWN),
        (Answer(200, "x" * 17_000_000), "invalid_reply: longer than 16 MiB", TOKENS_UNKNOWN),
        (
            Answer(200, {"choices": [], "usage": {"prompt_tokens": 10}}),
            "invalid_reply: no choices",
            Spend(1, 10, 0, 0, None),
        ),
        (Answer(200, {"choices": [{"text": "yes"}]}), "invalid_reply: a choice without a message", TOKENS_UNKNOWN),
        (Completion("perhaps"), "the judge's reply holds no verdict", Spend(1, 100, 0, 20, None)),
        (Completion(finish_reason="content_filter"), FILTERED, Spend(1, 100, 0, 20, None)),
        (Completion(None, message={"refusal": "no"}), REFUSED, Spend(1, 100, 0, 20, None)),
    ],
)
def test_replies_that_are_paid_in_vain_are_wasted_and_not_repeated(
    endpoint: FakeEndpoint, step: Step, kind: str, wasted: Spend
) -> None:
    endpoint.script(step)
    assert ask_one(endpoint) == Verdict.failed(kind, wasted)
    assert len(endpoint.requests) == 1


def test_what_was_paid_before_the_verdict_is_wasted(endpoint: FakeEndpoint) -> None:
    endpoint.script(Reset(after_bytes=20), error(500), Completion())
    assert ask_one(endpoint).cost == JudgeSpend(spent=Spend(1, 100, 0, 20, None), wasted=TOKENS_UNKNOWN)


def test_json_of_another_content_type_is_read(endpoint: FakeEndpoint) -> None:
    endpoint.script(Answer(200, Completion(YES).body(), content_type="text/plain"))
    assert ask_one(endpoint).rating == "yes"


def test_content_in_parts_is_read(endpoint: FakeEndpoint) -> None:
    endpoint.script(
        Completion(message={"content": [{"type": "text", "text": YES[:9]}, {"type": "text", "text": YES[9:]}]})
    )
    assert ask_one(endpoint).rating == "yes"


@pytest.mark.parametrize(
    "step",
    [
        error(429),
        error(429, retry_after="0.01"),
        error(408),
        error(409),
        error(500),
        error(502),
        error(503),
        error(529),
        Answer(503, "<html>", content_type="text/html"),
        Answer(200, {"error": {"code": 502, "message": "upstream"}}),
        Reset(),
        Reset(after_bytes=20),
    ],
)
def test_faults_that_pass_are_repeated(endpoint: FakeEndpoint, step: Step) -> None:
    endpoint.script(step, step)
    assert ask_one(endpoint).rating == "yes"
    assert len(endpoint.requests) == 3
    assert endpoint.requests[0].body == endpoint.requests[2].body


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (error(429), "http_429: rate limited after 12 attempts"),
        (error(500), "http_500: server error after 6 attempts"),
        (error(408), "http_408: the endpoint timed out after 6 attempts"),
        (Reset(), "connection: connection lost after 6 attempts"),
        (Reset(after_bytes=20), "connection: connection lost after 6 attempts"),
    ],
)
def test_faults_that_remain(endpoint: FakeEndpoint, step: Step, message: str) -> None:
    endpoint.respond = lambda request: step
    assert ask_one(endpoint).error_message == message


def test_nobody_listens() -> None:
    with FakeEndpoint() as closed:
        base_url = closed.base_url
    with Asker(config_for(base_url)) as asker:
        assert asker.ask_one().error_message == "connection: could not connect after 6 attempts"


@pytest.mark.parametrize("step", [Hang(), Drip()])
def test_a_call_that_does_not_end_is_ended(endpoint: FakeEndpoint, step: Step) -> None:
    endpoint.script(step, step)
    with Asker(config_for(endpoint.base_url, judge_timeout=0.4)) as asker:
        verdict = asker.ask_one(question(1))
    assert verdict.error_message == "timeout: no complete reply in 0.4 s after 2 attempts"
    endpoint.script(step)
    with Asker(config_for(endpoint.base_url, judge_timeout=2)) as asker:
        assert asker.ask_one(question(2)).rating == "yes", "a call that timed out is repeated once"
    assert len(endpoint.requests) == 4


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (error(401), "HTTP 401"),
        (error(403), "HTTP 403"),
        (error(404, "model_not_found"), "HTTP 404"),
        (Answer(404, "Not Found", content_type="text/plain"), "HTTP 404"),
        (error(400, "model_not_found"), "HTTP 404"),
    ],
)
def test_an_endpoint_that_refuses_from_the_start_is_fatal(endpoint: FakeEndpoint, step: Step, words: str) -> None:
    endpoint.respond = lambda request: step
    with Asker(config_for(endpoint.base_url)) as asker:
        verdict = asker.ask_one()
        fatal = asker.client.fatal
        assert asker.ask_one(question(2)).outcome is Outcome.ERROR
    assert verdict.outcome is Outcome.ERROR
    assert fatal is not None
    assert "\n" not in fatal
    assert words in fatal
    assert "endpoint default" in fatal
    assert endpoint.base_url in fatal
    assert KEY not in fatal
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (error(401), "unauthorized"),
        (error(403), "forbidden"),
        (error(404), "not_found"),
        (error(429, "insufficient_quota"), "quota"),
        (error(402), "quota"),
    ],
)
def test_an_endpoint_that_refuses_after_a_success_is_not_asked_again(
    endpoint: FakeEndpoint, step: Step, reason: str
) -> None:
    endpoint.script(Completion(), step)
    with Asker(config_for(endpoint.base_url)) as asker:
        verdicts = [asker.ask_one(question(number)) for number in range(4)]
        assert asker.client.fatal is None
    assert verdicts[0].rating == "yes"
    assert [verdict.error_message for verdict in verdicts[1:]] == [f"stopped:{reason}"] * 3
    assert len(endpoint.requests) == 2


def test_exhausted_quota_is_never_fatal(endpoint: FakeEndpoint) -> None:
    endpoint.respond = lambda request: error(429, "insufficient_quota")
    with Asker(config_for(endpoint.base_url)) as asker:
        assert [asker.ask_one(question(number)).error_message for number in range(2)] == ["stopped:quota"] * 2
        assert asker.client.fatal is None
    assert len(endpoint.requests) == 1


def test_flagged_input_is_no_refusal_of_the_key(endpoint: FakeEndpoint) -> None:
    moderated = {"error": {"code": 403, "message": "flagged", "metadata": {"flagged_input": "...", "reasons": ["x"]}}}
    endpoint.script(Answer(403, moderated))
    assert ask_one(endpoint).error_message == "content_filter: the endpoint refused the request"


def test_neither_key_nor_texts_appear_in_messages_or_logs(
    endpoint: FakeEndpoint, caplog: pytest.LogCaptureFixture
) -> None:
    """A server that repeats whatever it was sent in its errors."""

    def repeat(request: Request) -> Step:
        words = f"{request.headers['authorization']} {request.text}"
        return Answer(400, {"error": {"message": words, "type": words, "code": words, "param": words}})

    endpoint.respond = repeat
    with caplog.at_level(logging.DEBUG), Asker(config_for(endpoint.base_url)) as asker:
        verdict = asker.ask_one(question(response=f"The {PROMPT_WORDS}, temperature and response_format."))
        endpoint.respond = lambda request: Completion(f"{PROMPT_WORDS} {KEY}")
        unreadable = asker.ask_one(question(2, response=PROMPT_WORDS))
    assert verdict.error_message == "http_400: the endpoint rejected the request"
    for secret in (KEY, PROMPT_WORDS):
        assert secret not in str(unreadable.error_message)
        assert secret not in "\n".join(record.getMessage() for record in caplog.records if "beamjudge" in record.name)


def test_no_key_is_needed_for_an_own_endpoint(endpoint: FakeEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert ask_one(endpoint).rating == "yes"


def test_a_missing_key_is_fatal(endpoint: FakeEndpoint) -> None:
    with Asker(config_for(endpoint.base_url, endpoint={"api_key": "env:NO_SUCH_KEY"})) as asker:
        assert asker.ask_one().outcome is Outcome.ERROR
        assert asker.client.fatal is not None
        assert "NO_SUCH_KEY is not set" in asker.client.fatal
    assert not endpoint.requests


def test_headers_are_expanded_from_the_environment(endpoint: FakeEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM", "search quality")
    assert ask_one(endpoint, endpoint={"headers": {"X-Team": "team ${TEAM}"}}).rating == "yes"
    assert endpoint.requests[0].headers["x-team"] == "team search quality"
    with pytest.raises(KeyUnavailable, match="NO_SUCH_NAME is not set"):
        expand_headers({"X-Team": "${NO_SUCH_NAME}"})


def reference(api_key: str) -> Any:
    return config_for("http://127.0.0.1:1/v1", endpoint={"api_key": api_key}).endpoints["default"]


def test_keys_from_files_and_the_secret_manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key").write_text("abc\n")
    assert resolve_key(reference(f"file:{tmp_path}/key")) == "abc"
    with pytest.raises(KeyUnavailable, match="FileNotFoundError"):
        resolve_key(reference(f"file:{tmp_path}/none"))

    asked = []

    class Manager:
        def access_secret_version(self, request: dict[str, str]) -> Any:
            asked.append(request["name"])
            return SimpleNamespace(payload=SimpleNamespace(data=b"from-gcp"))

    manager = SimpleNamespace(SecretManagerServiceClient=Manager)
    monkeypatch.setitem(__import__("sys").modules, "google.cloud.secretmanager", manager)
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p")
    assert resolve_key(reference("gcp-secret:judge")) == "from-gcp"
    assert resolve_key(reference("gcp-secret:projects/q/secrets/judge/versions/3")) == "from-gcp"
    assert asked == ["projects/p/secrets/judge/versions/latest", "projects/q/secrets/judge/versions/3"]
    monkeypatch.setitem(__import__("sys").modules, "google.cloud.secretmanager", None)
    with pytest.raises(KeyUnavailable, match="google-cloud-secret-manager"):
        resolve_key(reference("gcp-secret:judge"))


def test_a_key_that_no_header_can_carry_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROKEN", "two words\n")
    with pytest.raises(KeyUnavailable) as raised:
        resolve_key(reference("env:BROKEN"))
    assert "two words" not in str(raised.value)


def test_a_long_context_is_cut_longest_chunk_first(endpoint: FakeEndpoint) -> None:
    long, short = "a" * 30_000, "b" * 900
    config = config_for(endpoint.base_url, judges=["groundedness"], endpoint={"context_tokens": 8000})
    with Asker(config) as asker:
        verdict = asker.ask_one(question(judge="groundedness", response="c" * 500, context=(long, short)))
    assert verdict.rating == "yes"
    assert verdict.notes == ("truncated:retrieved_context",)
    text = endpoint.requests[0].text
    assert short in text
    assert "c" * 500 in text
    assert "Question 0?" in text
    kept = text.count("a" * 100) * 100
    assert 10_000 < kept < 21_000
    # 8000 tokens, of which 1,024 are kept for the reply; the cut takes no more than it has to.
    assert 6900 < estimate_tokens(text) <= 6976


def test_what_does_not_fit_even_then_is_an_error(endpoint: FakeEndpoint) -> None:
    config = config_for(endpoint.base_url, judges=["groundedness"], endpoint={"context_tokens": 4000})
    with Asker(config) as asker:
        verdict = asker.ask_one(question(judge="groundedness", response="c" * 50_000, context=("a" * 50_000,)))
    assert (verdict.error_message or "").startswith("context_too_long: ")
    assert not endpoint.requests


def test_estimates_of_tokens() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("abcdef") == 2
    assert estimate_tokens("abcdefg") == 3
    assert estimate_tokens("日本") == 4  # six bytes
    assert estimate_tokens("ab日") == 1 + 2
