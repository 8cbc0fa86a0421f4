"""Signatures of text metrics in sacrebleu's notation: which settings, and the numbers of which library's release."""

from typing import Final

from beamjudge.transforms.metrics.text.analyzers import analyzer_version

# The releases whose numbers these metrics give; tests compare with exactly these.
SACREBLEU: Final = "2.6.0"
ROUGE_SCORE: Final = "0.1.2"
NLTK: Final = "3.10.4"


def tokenizer_name(setting: str) -> str:
    """BLEU's tokenizer behind a setting of `text_tokenizer`: `rouge` stands for all libraries' defaults."""
    return "13a" if setting == "rouge" else setting


def tokenizer_signature(setting: str) -> str:
    """The same as sacrebleu's signatures name it, with the version of an analyzer."""
    return analyzer_version(tokenizer_name(setting))


def sacrebleu_signature(**settings: str) -> str:
    """A signature as sacrebleu writes it. Rows differ in their number of references, which it calls `var`."""
    return library_signature(SACREBLEU, nrefs="var", **settings)


def library_signature(version: str, **settings: str) -> str:
    """The signature of a metric whose library has no notation of its own."""
    return "|".join([*(f"{name}:{value}" for name, value in settings.items()), f"version:{version}"])
