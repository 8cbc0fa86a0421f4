"""From a question to the messages that a judge model gets.

A prompt file is the judge's task and criteria, a line `---`, and the data with a placeholder a piece. The rules about
data and the form of the answer are the same for every judge of a protocol and follow the criteria. Judged text is data:
each piece is fenced by a marker that no piece contains, and it is substituted in one pass, so that a placeholder or a
brace in it stays what it is.
"""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

from beamjudge.prompts import load_prompt
from beamjudge.schemas.hashing import feed
from beamjudge.schemas.json_value import Json, canonical_json
from beamjudge.schemas.judges import Protocol
from beamjudge.transforms.judging.binding import JudgeBinding
from beamjudge.transforms.judging.question import JudgeInputs

# The value of `response_format.json_schema`. The rationale comes first, so that the rating follows from it.
REPLY_SCHEMA: Final[dict[str, Json]] = {
    "name": "verdict",
    "strict": True,
    "schema": {
        "type": "object",
        "properties": {
            "rationale": {"type": "string"},
            "rating": {"type": "string", "enum": ["yes", "no"]},
        },
        "required": ["rationale", "rating"],
        "additionalProperties": False,
    },
}

PLACEHOLDERS: Final = (
    "request",
    "response",
    "retrieved_context",
    "expected_response",
    "expected_facts",
    "guidelines",
    "history",
)
_PLACEHOLDER = re.compile(r"\{(" + "|".join(PLACEHOLDERS) + r")\}")
_MINICHECK_PLACEHOLDER = re.compile(r"\{(document|claim)\}")
_DATA_BELOW = "\n---\n"
_NOT_HEX = bytes(set(range(128)) - set(b"0123456789abcdef"))
_PLAIN_ROLE = re.compile(r"[A-Za-z][A-Za-z_ -]{0,19}")
_NOTHING = "(none)"


class Message(NamedTuple):
    """One chat message; `message._asdict()` is what an OpenAI-compatible endpoint takes."""

    role: str
    content: str


class _Piece(NamedTuple):
    name: str
    text: str


def render(binding: JudgeBinding, inputs: JudgeInputs) -> tuple[Message, ...]:
    """The messages of one question: a system and a user message, or MiniCheck's one user message.

    Equal inputs give equal messages, in every process and run: stored verdicts are found by them.
    """
    if binding.protocol is Protocol.MINICHECK:
        return (Message("user", _minicheck(binding.prompt, inputs)),)
    template = _template(binding.prompt, binding.protocol)
    pieces = {name: _pieces(name, inputs) for name in template.names}
    fence = _fence([piece.text for group in pieces.values() for piece in group])
    blocks = {name: "\n".join([_fenced(fence, piece) for piece in group]) for name, group in pieces.items()}
    system = f"{template.criteria}{template.rules.replace('{fence}', fence)}{template.answer}"
    return (Message("system", system), Message("user", _filled(template.lines, blocks)))


class _Line(NamedTuple):
    """A line of a prompt's data: its text, and the placeholder that it is nothing but."""

    text: str
    placeholder: str | None


class _Template(NamedTuple):
    """What a prompt has in common for all questions: the system message around the fence, and the data's lines."""

    criteria: str
    rules: str
    answer: str
    lines: tuple[_Line, ...]
    names: tuple[str, ...]


@cache
def _template(prompt: str, protocol: Protocol) -> _Template:
    criteria, separator, data = prompt.partition(_DATA_BELOW)
    if not separator:
        criteria, data = "", prompt
    lines = []
    for line in data.strip().split("\n"):
        alone = _PLACEHOLDER.fullmatch(line.strip())
        lines.append(_Line(line, alone[1] if alone else None))
    return _Template(
        f"{criteria.strip()}\n\n".lstrip(),
        load_prompt("rules").strip(),
        f"\n\n{load_prompt(f'answer_{protocol.value}').strip()}",
        tuple(lines),
        tuple(dict.fromkeys(_PLACEHOLDER.findall(data))),
    )


def _filled(template: Sequence[_Line], blocks: dict[str, str]) -> str:
    """The data part with its blocks: a line of its own for each, and no line for a piece that the row does not have."""
    lines: list[str] = []
    for line in template:
        if line.placeholder is None:
            lines.append(_PLACEHOLDER.sub(lambda match: f"\n{blocks[match[1]] or _NOTHING}\n", line.text))
        elif blocks[line.placeholder]:
            lines.append(blocks[line.placeholder])
    return "\n".join(lines)


def _pieces(name: str, inputs: JudgeInputs) -> list[_Piece]:
    """The data that one placeholder stands for, a piece for each thing that must be told apart."""
    if name == "request":
        return [_Piece("request", inputs.request)]
    if name == "response":
        return [] if inputs.response is None else [_Piece("response", inputs.response)]
    if name == "retrieved_context":
        return _numbered_pieces("retrieved_context", "chunk", inputs.context)
    if name == "expected_response":
        return _numbered_pieces("expected_response", "alternative", inputs.expected_responses)
    if name == "history":
        return [_Piece(f"earlier turn, {_role(turn.role)}", turn.text) for turn in inputs.history]
    items = inputs.expected_facts if name == "expected_facts" else inputs.guidelines
    listed = "\n".join(f"{number}. {item}" for number, item in enumerate(items, start=1))
    return [_Piece(name, listed)] if items else []


def _numbered_pieces(name: str, unit: str, texts: tuple[str, ...]) -> list[_Piece]:
    """One piece a text, numbered by its rank among all; a blank text keeps its number and is left out."""
    if len(texts) == 1:
        return [_Piece(name, texts[0])]
    return [
        _Piece(f"{name}, {unit} {number} of {len(texts)}", text)
        for number, text in enumerate(texts, start=1)
        if text.strip()
    ]


def _role(role: str) -> str:
    """The role as it was logged, unless it is no plain word: a marker must not carry logged text."""
    return role if _PLAIN_ROLE.fullmatch(role) else "other"


def _fenced(fence: str, piece: _Piece) -> str:
    return f"<<{fence} {piece.name}>>\n{piece.text}\n<<{fence} end>>"


def _fence(texts: list[str]) -> str:
    """A marker made from the data that none of the data contains, however it is spelled.

    Case, compatibility forms (full-width digits) and characters set in between do not count as a difference: a model
    may well read through them.
    """
    skeleton = _hex_skeleton("".join(texts))
    seed = canonical_json(list(texts)).encode()
    digest = _digits(seed)
    while digest in skeleton:
        digest = _digits(digest.encode() + seed)
    return f"data-{digest}"


def _digits(seed: bytes) -> str:
    digest = hashlib.sha256()
    feed(digest, seed)
    return digest.hexdigest()[:16]


def _hex_skeleton(text: str) -> str:
    """The hexadecimal digits of `text` in order, lower case, compatibility forms included, and nothing else."""
    lowered = text.lower()
    if not lowered.isascii():
        # By character: normalising a whole text takes quadratic time on a long run of combining marks.
        forms = {ord(char): unicodedata.normalize("NFKC", char).lower() for char in set(lowered) if not char.isascii()}
        lowered = lowered.translate(forms)
    return lowered.encode("ascii", "ignore").translate(None, _NOT_HEX).decode("ascii")


def _minicheck(prompt: str, inputs: JudgeInputs) -> str:
    """MiniCheck's two lines: line breaks in the document or the claim become spaces, so that neither adds a line."""
    values = {
        "document": " ".join(" ".join(inputs.context).split()),
        "claim": " ".join((inputs.response or "").split()),
    }
    return _MINICHECK_PLACEHOLDER.sub(lambda match: values[match[1]], prompt.strip())
