"""A judge as a run uses it: its declaration, its prompt, and the endpoint that answers."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from beamjudge.prompts import load_prompt
from beamjudge.schemas.json_value import canonical_json
from beamjudge.schemas.judges import BUILT_IN_JUDGES, JudgeSpec, Protocol
from beamjudge.schemas.run_config import Endpoint, RunConfig

# Raised whenever the reading of replies changes in a way that can change a verdict: it is part of every judge's hash.
PARSER_VERSION = 1


@dataclass(frozen=True)
class JudgeBinding:
    """A judge, its prompt, the name and settings of its endpoint, and how it is asked."""

    spec: JudgeSpec
    prompt: str
    protocol: Protocol
    endpoint_name: str
    endpoint: Endpoint

    @cached_property
    def hash(self) -> str:
        """16 hex digits over what makes the judge this judge: name, version, prompt, protocol, parser version."""
        shared = [load_prompt(name) for name in shared_prompts(self.protocol)]
        identity = [self.spec.name, self.spec.version, self.prompt, *shared, self.protocol.value, PARSER_VERSION]
        return hashlib.sha256(canonical_json(identity).encode()).hexdigest()[:16]

    @cached_property
    def identity(self) -> bytes:
        """What of a call's identity is the same for all of the judge's questions, as canonical JSON."""
        endpoint = self.endpoint
        identity = [endpoint.base_url, endpoint.model, requested_parameters(endpoint), self.hash]
        return canonical_json(identity).encode()

    @property
    def model(self) -> str:
        return self.endpoint.model


def requested_parameters(endpoint: Endpoint) -> dict[str, Any]:
    """The parameters as configured, temperature 0 by default: part of what identifies a verdict."""
    return {"temperature": 0, **endpoint.parameters}


def shared_prompts(protocol: Protocol) -> tuple[str, ...]:
    """The prompt files that every judge of this protocol is asked with, beside its own."""
    return () if protocol is Protocol.MINICHECK else ("rules", f"answer_{protocol.value}")


def bind_judges(config: RunConfig) -> tuple[JudgeBinding, ...]:
    """The run's judges in the order of the built-in list."""
    specs = {spec.name: spec for spec in BUILT_IN_JUDGES}
    bindings = []
    for name in config.selected_judges():
        protocol = config.protocol_of(name, specs[name].protocol)
        prompt = load_prompt("minicheck" if protocol is Protocol.MINICHECK else name)
        settings = config.judge_settings.get(name)
        endpoint_name = settings.endpoint if settings else "default"
        bindings.append(JudgeBinding(specs[name], prompt, protocol, endpoint_name, config.endpoints[endpoint_name]))
    return tuple(bindings)
