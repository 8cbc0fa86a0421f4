"""What goes over the wire: addresses, headers, proxies, certificates, and the same request as the openai package's."""

import asyncio
import datetime
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from fake_endpoint import Completion, FakeEndpoint, Hang, Request
from judge_harness import AT_ONCE, Asker, config_for, question

from beamjudge.schemas.run_config import Endpoint
from beamjudge.transforms.judging.connections import Target, completions_url
from beamjudge.transforms.judging.keys import KeyUnavailable

KEY = "sk-a-key"


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeEndpoint]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with FakeEndpoint() as running:
        yield running


@pytest.mark.parametrize(
    ("base_url", "address"),
    [
        ("http://h:8000/v1", "http://h:8000/v1/chat/completions"),
        ("https://h/v1/", "https://h/v1/chat/completions"),
        ("https://h", "https://h/chat/completions"),
        ("https://h/a%2Fb/v1", "https://h/a%2Fb/v1/chat/completions"),
        ("https://x.openai.azure.com/openai/v1/", "https://x.openai.azure.com/openai/v1/chat/completions"),
        (
            "https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21",
            "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21",
        ),
    ],
)
def test_the_address_of_completions(base_url: str, address: str) -> None:
    assert str(completions_url(base_url)) == address


def asked_by(client: openai.AsyncOpenAI, request: Request) -> None:
    """Have the openai package send the body of `request`."""

    async def ask() -> None:
        async with client:
            await client.chat.completions.create(**request.body)

    asyncio.run(ask())


# What is about the library itself, or lets the server choose how to send the reply.
LIBRARYS_OWN = ("user-agent", "accept-encoding", "connection", "host", "content-length")


def compared(request: Request) -> tuple[str, dict[str, Any], dict[str, str]]:
    headers = {
        name: value
        for name, value in request.headers.items()
        if name not in LIBRARYS_OWN and not name.startswith("x-stainless")
    }
    return request.path, request.body, headers


def test_the_request_is_that_of_the_openai_package(endpoint: FakeEndpoint) -> None:
    with Asker(config_for(endpoint.base_url, endpoint={"parameters": {"seed": 3}})) as asker:
        asker.ask_one(question(1, response='Grüße, 你好 \U0001f600 "quoted"'))
    asked_by(openai.AsyncOpenAI(base_url=endpoint.base_url), endpoint.requests[0])
    ours, theirs = endpoint.requests
    assert compared(ours) == compared(theirs)


def test_the_request_is_that_of_the_openai_package_for_azure(
    endpoint: FakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_KEY", KEY)
    root = endpoint.base_url.removesuffix("/v1")
    azure = f"{root}/openai/deployments/judge-1?api-version=2024-10-21"
    with Asker(config_for(azure, endpoint={"headers": {"api-key": "${AZURE_KEY}"}})) as asker:
        asker.ask_one()
    client = openai.AsyncAzureOpenAI(azure_endpoint=root, api_key=KEY, api_version="2024-10-21")
    asked_by(client, endpoint.requests[0])
    ours, theirs = (compared(request) for request in endpoint.requests)
    # Azure takes either header; the package sends one of them.
    ours[2].pop("authorization")
    assert ours == theirs


def test_the_own_address_of_openai_gets_organisation_and_project(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("OPENAI_API_KEY", KEY), ("OPENAI_ORG_ID", "org-1"), ("OPENAI_PROJECT_ID", "proj-1")):
        monkeypatch.setenv(name, value)
    client = openai.AsyncOpenAI()
    own = {**client.default_headers, **client.auth_headers}
    ours = Target.of(Endpoint(model="m"))
    for name in ("Authorization", "OpenAI-Organization", "OpenAI-Project"):
        assert ours.headers[name] == own[name]
    other = Target.of(Endpoint(model="m", base_url="https://llm.example/v1"))
    assert "OpenAI-Organization" not in other.headers


def test_proxies_come_from_the_environment(endpoint: FakeEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", endpoint.base_url.removesuffix("/v1"))
    with Asker(config_for("http://judge.example/v1")) as asker:
        assert asker.ask_one().rating == "yes"
    assert endpoint.requests[0].path == "http://judge.example/v1/chat/completions"
    monkeypatch.setenv("no_proxy", "judge.example")
    assert Target.of(Endpoint(model="m", base_url="http://judge.example/v1")).proxy is None


def test_an_address_that_is_none_is_fatal_in_one_line() -> None:
    with Asker(config_for("http://h:99999/v1")) as asker:
        asker.ask_one()
        assert asker.client.fatal is not None
        assert "endpoint default" in asker.client.fatal
        assert "99999" in asker.client.fatal or "Port" in asker.client.fatal
    with pytest.raises(KeyUnavailable):
        Target.of(Endpoint(model="m", api_key="env:NO_SUCH_KEY"))


def test_connections_are_kept_and_used_again(endpoint: FakeEndpoint) -> None:
    with Asker(config_for(endpoint.base_url, max_concurrency=2)) as asker:
        assert {verdict.rating for verdict in asker.ask(*[question(number) for number in range(40)])} == {"yes"}
    assert endpoint.connections <= 2


def test_a_call_that_is_given_up_leaves_its_connection(endpoint: FakeEndpoint) -> None:
    """The late answer to a call that timed out must not be read as the answer to the next."""
    endpoint.script(Hang(), Completion())
    with Asker(config_for(endpoint.base_url, max_concurrency=1, judge_timeout=0.4)) as asker:
        assert asker.ask_one().rating == "yes"
    assert endpoint.connections == 2


def self_signed(folder: Path) -> Path:
    """A certificate for 127.0.0.1 that nobody trusts, with its key."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.timezone.utc)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    day = datetime.timedelta(days=1)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - day, now + day)
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = folder / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return file


def test_a_certificate_that_is_not_trusted_is_fatal_at_once(tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(self_signed(tmp_path))
    with FakeEndpoint(context) as endpoint, Asker(config_for(endpoint.base_url), AT_ONCE) as asker:
        assert asker.ask_one().error_message == "connection: the server's certificate is not trusted"
        assert asker.client.fatal is not None
        assert "certificate is not trusted" in asker.client.fatal
        assert endpoint.connections == 1, "it is not tried again"


def test_a_certificate_of_an_own_authority_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = self_signed(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with FakeEndpoint(context) as endpoint, Asker(config_for(endpoint.base_url)) as asker:
        assert asker.ask_one().rating == "yes"


def test_nothing_is_left_running(endpoint: FakeEndpoint) -> None:
    before = set(threading.enumerate())
    with Asker(config_for(endpoint.base_url.replace("127.0.0.1", "localhost"))) as asker:
        assert asker.ask_one().rating == "yes"
    left = [thread.name for thread in set(threading.enumerate()) - before if "process_request" not in thread.name]
    assert not left
