"""One endpoint over a real socket: forms of requests and replies, the model's context, spend, secrets."""

import logging
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_endpoint import NO, YES, Answer, Completion, FakeEndpoint, Request, Step, error
from judge_harness import Asker, ask_one, config_for, question

from beamjudge.schemas.assessment import Outcome, Verdict
from beamjudge.schemas.judges import Protocol
from beamjudge.schemas.spend import Spend
from beamjudge.transforms.judging.failures import from_status
from beamjudge.transforms.judging.fitting import estimate_tokens
from beamjudge.transforms.judging.keys import KeyUnavailable, expand_headers, resolve_key

KEY = "sk-very-secret-0123456789"
PROMPT_WORDS = "plum-coloured heron"


@pytest.fixture
def endpoint() -> Iterator[FakeEndpoint]:
    with FakeEndpoint() as running:
        yield running


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def test_asks_with_json_schema_and_reads_the_verdict(endpoint: FakeEndpoint) -> None:
    endpoint.script(Completion(NO, prompt_tokens=1000, completion_tokens=50, cached_tokens=400, reasoning_tokens=30))
    price = {"input": 2.0, "cached_input": 0.5, "output": 8.0}
    verdict = ask_one(endpoint, endpoint={"price_per_million": price, "parameters": {"seed": 7, "top_k": 1}})
    # (600 * 2 + 400 * 0.5 + 50 * 8) / 1e6: what was thought is part of the 50.
    assert verdict == Verdict.scored("no", "because", spend=Spend(1, 1000, 400, 50, 30, pytest.approx(0.0018)))
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
    assert ask_one(endpoint).spend == Spend(1, 0, 0, 0, 0, None)


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


def test_json_of_another_content_type_is_read(endpoint: FakeEndpoint) -> None:
    endpoint.script(Answer(200, Completion(YES).body(), content_type="text/plain"))
    assert ask_one(endpoint).rating == "yes"


def test_content_in_parts_is_read(endpoint: FakeEndpoint) -> None:
    endpoint.script(
        Completion(message={"content": [{"type": "text", "text": YES[:9]}, {"type": "text", "text": YES[9:]}]})
    )
    assert ask_one(endpoint).rating == "yes"


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


# What an endpoint says of a prompt that is too long, with the tokens of its context and of the prompt.
TOO_LONG = [
    (
        error(
            400,
            "context_length_exceeded",
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 12001 tokens.",
            "messages",
        ),
        (8192, 12001),
    ),
    (  # vLLM
        Answer(
            400,
            {
                "object": "error",
                "message": "This model's maximum context length is 8192 tokens. However, you requested 12501 tokens "
                "(12001 in the messages, 500 in the completion). Please reduce the length of the messages.",
                "type": "BadRequestError",
                "param": None,
                "code": 400,
            },
        ),
        (8192, 12001),
    ),
    (  # llama.cpp
        Answer(
            400,
            {
                "error": {
                    "code": 400,
                    "message": "the request exceeds the available context size, try increasing it",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 12001,
                    "n_ctx": 8192,
                }
            },
        ),
        (8192, 12001),
    ),
    (  # llama.cpp's older server said so with status 500
        Answer(500, {"error": {"code": 500, "message": "x", "type": "exceed_context_size_error", "n_ctx": 8192}}),
        (8192, None),
    ),
    (error(400, message="prompt is too long: 12001 tokens > 8192 maximum"), (8192, 12001)),  # Anthropic
    (  # Gemini
        Answer(
            400,
            [
                {
                    "error": {
                        "message": "The input token count (12001) exceeds the maximum number of tokens allowed (8192)."
                    }
                }
            ],
        ),
        (8192, 12001),
    ),
    (  # Mistral
        error(400, message="Prompt contains 12001 tokens, too large for model with 8192 maximum context length"),
        (8192, 12001),
    ),
    (error(400, message="Requested tokens (12001) exceed context window of 8192"), (8192, 12001)),  # llama-cpp-python
    (  # Text Generation Inference
        error(422, message="`inputs` must have less than 8192 tokens. Given: 12001"),
        (8192, 12001),
    ),
    (error(400, message="Input is too long for requested model."), (None, None)),  # Bedrock
    (Answer(413, "the request is too large", content_type="text/plain"), (None, None)),
]


@pytest.mark.parametrize(("answer", "told"), TOO_LONG)
def test_what_an_endpoint_says_of_its_context(answer: Answer, told: tuple[int | None, int | None]) -> None:
    failure = from_status(answer.status, {}, answer.raw()).failure
    assert failure.too_long == told
    assert failure.message == "context_too_long: the request does not fit the model's context"


def test_a_prompt_that_is_too_long_is_cut_as_the_endpoint_says(endpoint: FakeEndpoint) -> None:
    """An endpoint of 4,096 tokens that counts four characters a token; the client does not know either."""

    def respond(request: Request) -> Step:
        tokens = len(request.text) // 4
        if tokens <= 4096 - 1024:
            return Completion()
        said = (
            f"This model's maximum context length is 4096 tokens. However, your messages resulted in {tokens} tokens."
        )
        return error(400, "context_length_exceeded", said, "messages")

    endpoint.respond = respond
    long = "A heron is a bird that stands. " * 800  # 24,800 characters, 6,200 tokens
    inputs = {"judge": "groundedness", "context": (long, "Short."), "response": "A heron stands. " * 20}
    with Asker(config_for(endpoint.base_url, judges=["groundedness"])) as asker:
        verdicts = [asker.ask_one(question(number, **inputs)) for number in range(3)]
    assert [verdict.rating for verdict in verdicts] == ["yes"] * 3
    assert [verdict.notes for verdict in verdicts] == [("truncated:retrieved_context",)] * 3
    assert len(endpoint.requests) == 4, "learned from the first"
    for request in endpoint.requests[1:]:
        assert 0.9 * 3072 <= len(request.text) / 4 <= 3072, "not cut by more than it has to be"
        for whole in ("Short.", inputs["response"], "Question"):
            assert str(whole) in request.text


def test_what_cannot_be_cut_is_an_error_after_one_call(endpoint: FakeEndpoint) -> None:
    endpoint.respond = lambda request: TOO_LONG[0][0]
    with Asker(config_for(endpoint.base_url, judges=["groundedness"])) as asker:
        verdict = asker.ask_one(question(1, "groundedness", response="Fine. " * 5000, context=("Short.",)))
        assert verdict.error_message == "context_too_long: the request does not fit the model's context"
        assert len(endpoint.requests) == 1
        # One that is still too long after the cut is not cut again.
        asker.ask_one(question(2, "groundedness", context=("word " * 8000,)))
        assert len(endpoint.requests) == 3
        endpoint.respond = lambda request: Completion()
        assert asker.ask_one(question(3, "groundedness", context=("word " * 8000,))).notes == (), "nothing was learned"


def test_estimates_of_tokens() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("abcdef") == 2
    assert estimate_tokens("abcdefg") == 3
    assert estimate_tokens("日本") == 4  # six bytes
    assert estimate_tokens("ab日") == 1 + 2
