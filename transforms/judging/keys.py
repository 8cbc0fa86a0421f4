"""API keys and header values: resolved where the calls are made, from references, and never repeated in a message."""

import importlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from beamjudge.schemas.run_config import Endpoint

# What is sent to an endpoint that needs no key; the client library insists on one.
PLACEHOLDER_KEY = "not-needed"
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_HEADER_SAFE = re.compile(r"[\x21-\x7e]+")


class KeyUnavailable(Exception):
    """A reference that does not resolve here; the message names the reference and never what it stands for."""


def resolve_key(endpoint: Endpoint) -> str:
    """The endpoint's API key, or a placeholder where none is needed. Raises KeyUnavailable."""
    try:
        key = _resolve(endpoint.api_key)
    except KeyUnavailable:
        if endpoint.needs_key:
            raise
        return PLACEHOLDER_KEY
    if not _HEADER_SAFE.fullmatch(key):
        # The HTTP library would say so as well, but with the key in its message.
        raise KeyUnavailable(f"api_key {endpoint.api_key}: holds a blank or a character that no HTTP header can carry")
    return key


def expand_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """`headers` with every `${NAME}` in a value replaced from the environment. Raises KeyUnavailable."""
    expanded = {}
    for name, template in headers.items():
        for variable in _VARIABLE.findall(template):
            if not os.environ.get(variable):
                raise KeyUnavailable(f"header {name}: the environment variable {variable} is not set")
        value = _VARIABLE.sub(lambda found: os.environ[found.group(1)], template)
        if not all(_HEADER_SAFE.fullmatch(word) for word in value.split(" ") if word):
            raise KeyUnavailable(f"header {name}: its value holds a character that no HTTP header can carry")
        expanded[name] = value
    return expanded


def _resolve(reference: str) -> str:
    scheme, _, name = reference.partition(":")
    if scheme == "env":
        key = os.environ.get(name, "")
        if not key:
            raise KeyUnavailable(f"api_key {reference}: the environment variable {name} is not set")
    elif scheme == "file":
        try:
            key = Path(name).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise KeyUnavailable(f"api_key {reference}: cannot be read ({type(error).__name__})") from None
        if not key:
            raise KeyUnavailable(f"api_key {reference}: the file is empty")
    else:
        key = _gcp_secret(reference, name)
    return key


def _gcp_secret(reference: str, name: str) -> str:
    """The secret `name`: a full resource name, or a short one in the project of GOOGLE_CLOUD_PROJECT."""
    try:
        manager = importlib.import_module("google.cloud.secretmanager")
    except ImportError:
        raise KeyUnavailable(
            f"api_key {reference}: needs the package google-cloud-secret-manager (pip install 'beamjudge[gcp]')"
        ) from None
    if not name.startswith("projects/"):
        project = os.environ.get("GOOGLE_CLOUD_PROJECT")
        if not project:
            raise KeyUnavailable(
                f"api_key {reference}: give projects/PROJECT/secrets/{name}, or set GOOGLE_CLOUD_PROJECT"
            )
        name = f"projects/{project}/secrets/{name}"
    if "/versions/" not in name:
        name = f"{name}/versions/latest"
    try:
        response = manager.SecretManagerServiceClient().access_secret_version(request={"name": name})
    except Exception as error:  # the client raises errors of several packages: API, credentials, transport
        raise KeyUnavailable(f"api_key {reference}: cannot be read ({type(error).__name__})") from None
    return str(response.payload.data.decode("utf-8")).strip()
