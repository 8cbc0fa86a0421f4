"""The identity of a call: calls with the same key are made once."""

import hashlib
from collections.abc import Sequence

from beamjudge.schemas.json_value import canonical_json
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.judging.render import Message
from beamjudge.transforms.judging.request_form import requested_parameters


def content_key(binding: JudgeBinding, messages: Sequence[Message]) -> str:
    """SHA-256 (hex) over the endpoint, model, requested parameters, judge hash and rendered messages.

    The parameters are those that the configuration asks for, whatever the endpoint then makes of them.
    """
    endpoint = binding.endpoint
    identity = [
        endpoint.base_url,
        endpoint.model,
        requested_parameters(endpoint),
        binding.hash,
        [[message.role, message.content] for message in messages],
    ]
    return hashlib.sha256(canonical_json(identity).encode("utf-8", "surrogatepass")).hexdigest()
