"""MiniCheck (Tang et al. 2024) rates whether one sentence is supported by one document: its documents and its sums."""

from collections.abc import Iterable

from beamjudge.schemas.assessment import Outcome, Verdict
from beamjudge.transforms.judging.joining import failed_whole
from beamjudge.transforms.judging.sentences import split_sentences

# About 1,500 tokens in any script: document and claim fit the smallest window that such a model is usually served with.
DOCUMENT_BYTES = 6000


def documents(contents: Iterable[str]) -> tuple[str, ...]:
    """The contents in rank order, packed into documents of at most DOCUMENT_BYTES of UTF-8.

    Contents stay whole where they fit, and short ones share a document, since a sentence may rest on two of them. A
    long one is cut at sentence borders, a longer sentence where it has to be.
    """
    packed: list[list[str]] = []
    room = 0
    for part in _parts(contents):
        size = _size(part) + 1
        if size > room:
            packed.append([])
            room = DOCUMENT_BYTES + 1
        packed[-1].append(part)
        room -= size
    return tuple("\n".join(parts) for parts in packed)


def rate_sentences(answers: Iterable[tuple[str, Verdict]]) -> Verdict:
    """The verdict over all sentences: yes when every one is supported by some document.

    An unsupported sentence decides, and the rationale names it; else one that could not be rated is an error. Answers
    that are not applicable say nothing: a sentence with no other (a courtesy) is passed over.
    """
    by_sentence: dict[str, list[Verdict]] = {}
    for sentence, verdict in answers:
        rated = by_sentence.setdefault(sentence, [])
        if verdict.outcome is not Outcome.NOT_APPLICABLE:
            rated.append(verdict)
    stated = {sentence: verdicts for sentence, verdicts in by_sentence.items() if verdicts}
    ratings = {sentence: {verdict.rating for verdict in verdicts} for sentence, verdicts in stated.items()}
    unsupported = [f'"{sentence}"' for sentence, found in ratings.items() if found == {"no"}]
    if unsupported:
        return Verdict.scored("no", f"Not supported by any document: {'; '.join(unsupported)}")
    unrated = [sentence for sentence, found in ratings.items() if "yes" not in found]
    if unrated:
        causes = (verdict for sentence in unrated for verdict in stated[sentence])
        return failed_whole(causes, len(unrated), len(by_sentence), "sentences")
    if not stated:
        return Verdict.not_applicable("No sentence of the response states anything that could be supported.")
    return Verdict.scored("yes", "Every sentence is supported by a document.")


def _parts(contents: Iterable[str]) -> Iterable[str]:
    for content in contents:
        if _size(content) <= DOCUMENT_BYTES:
            yield content
        else:
            for sentence in split_sentences(content):
                yield from _cut(sentence)


def _cut(sentence: str) -> Iterable[str]:
    # Four bytes is the most that a character takes, so that a piece never is too long.
    step = len(sentence) if _size(sentence) <= DOCUMENT_BYTES else DOCUMENT_BYTES // 4
    return (sentence[start : start + step] for start in range(0, len(sentence), step))


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
