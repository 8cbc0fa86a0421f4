"""The identity of a call: calls with the same key are made once."""

import hashlib
from collections.abc import Sequence

from beamjudge.schemas.hashing import feed
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.judging.render import Message


def content_key(binding: JudgeBinding, messages: Sequence[Message]) -> str:
    """SHA-256 (hex) over the endpoint, model, requested parameters, judge hash and rendered messages.

    The parameters are those that the configuration asks for, whatever the endpoint then makes of them. The messages
    follow the rest with the length of each, as bytes: writing them as JSON would take longer than hashing them.
    """
    digest = hashlib.sha256(binding.identity)
    for message in messages:
        content = message.content.encode("utf-8", "surrogatepass")
        digest.update(f"\n{message.role} {len(content)}\n".encode())
        feed(digest, content)
    return digest.hexdigest()
