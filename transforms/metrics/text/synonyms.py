"""WordNet's synonyms, where nltk and its WordNet data are installed."""

import importlib.util
import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

_LOADING = Lock()  # nltk's corpora are loaded on first use, which is not safe on several threads


def wordnet_is_installed() -> bool:
    """Whether nltk is here and finds its WordNet data, told without importing it, which takes a second and 90 MB."""
    if importlib.util.find_spec("nltk") is None:
        return False
    return any(
        Path(folder, "corpora", name).exists() for folder in _data_folders() for name in ("wordnet", "wordnet.zip")
    )


def _data_folders() -> Iterator[str]:
    """The folders where nltk looks for its data."""
    yield from filter(None, os.environ.get("NLTK_DATA", "").split(os.pathsep))
    yield os.path.expanduser("~/nltk_data")
    for place in ("nltk_data", "share/nltk_data", "lib/nltk_data"):
        yield os.path.join(sys.prefix, place)
    for place in ("/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib"):
        yield f"{place}/nltk_data"


@lru_cache(maxsize=16_384)
def synonyms(word: str) -> frozenset[str]:
    """The word itself and all single words that share a synset with it."""
    lemmas = (lemma.name() for synset in _wordnet().synsets(word) for lemma in synset.lemmas())
    return frozenset((word, *(name for name in lemmas if "_" not in name)))


@lru_cache(maxsize=1)
def _wordnet() -> Any:
    with _LOADING:
        from nltk.corpus import wordnet

        wordnet.ensure_loaded()
    return wordnet
