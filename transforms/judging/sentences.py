"""Splitting text into sentences, for judges that rate sentence by sentence. One pass, linear in the text's length."""

import re
import unicodedata

# Sentence ends that need no space behind them: CJK, Devanagari, Arabic, Urdu, Ethiopic, Khmer, Burmese, Tibetan, ...
# (the Sentence_Terminal property of Unicode, without the full stops that also stand inside words and numbers).
_STRONG = "。！？｡．।॥؟۔።፧፨།༎။។៕։‼⁇⁈⁉;᙮᠃᠉᥄᥅᭞᭟᱾᱿꘎꘏꛳꛷꡶꡷꣎꣏꤯꧈꧉꫰꫱꯫܀܁܂߹࠷࠹࠽࠾︒﹖﹗෴"
_WEAK = ".!?…"
_CLOSING = "\"'”’»›」』）)】］]〉》〕〗*_"
_CITATION = r"(?:[ \t]?\[\^?\d{1,3}(?:[,–-] ?\d{1,3}){0,8}\])*"
_END = re.compile(rf"[{re.escape(_STRONG + _WEAK)}]+[{re.escape(_CLOSING)}]*{_CITATION}")
_LINE_MARK = re.compile(r"\A[ \t]*(?:(?:[-*+•◦▪‣·–—]|#{1,6}|>|\(?\d{1,3}[.)]|\(?[a-zA-Z][)])[ \t\u3000]+)*")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_NO_WORD = re.compile(r"[^\w.]")
_NEXT_WORD = re.compile(r"[^\W\d_]+")
_WRAPPED_LENGTH = 40  # a shorter line that ends without a full stop is a heading or a list item, not wrapped prose


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Never the end of a sentence: a name or an explanation follows.
_LEADING_ABBREVIATIONS = _words(
    "mr mrs ms dr prof st sr jr gen col sgt lt capt rev hon pres gov sen vs viz e.g i.e eg ie cf approx dept "
    "hr fr z z.b d.h u.a bzw ggf vgl bspw sog mme mlle p.ex sra srta dra ud ул им т.е т.к см"
)
# No end of a sentence where a number follows.
_NUMBERED_ABBREVIATIONS = _words(
    "no nos nr vol vols ch sec art par pp p pg fig figs eq eqs abb tab s ca c tel núm pág стр рис "
    "jan feb mar apr jun jul aug sep sept oct nov dec"
)
# These may end a sentence: they do when a word follows that usually begins one.
_TRAILING_ABBREVIATIONS = _words("etc inc ltd corp co llc plc gmbh usw al ph.d m.d b.a m.a u.s u.k u.n d.c")
_STARTERS = _words(
    "the a an this that these those it its he she they we you i his her their our your there here in on at for from "
    "with by as if when while after before however but and so then although because since what who how why where "
    "der die das ein eine es er sie wir le la les il elle el los las"
)
_MONTHS = _words("januar februar märz april mai juni juli august september oktober november dezember jahrhundert")


def split_sentences(text: str) -> list[str]:
    """The sentences of `text` in order, stripped, without list markers; text that is not blank gives at least one.

    A line is a border unless prose was wrapped there. A full stop is none after a common abbreviation or an initial,
    within a number, an address or a quotation that the sentence goes on from. Scripts that write no sentence end
    (Thai, Lao) are split at line ends only.
    """
    sentences = [sentence for line in _unwrapped_lines(text) for sentence in _split_line(line)]
    return sentences or ([text.strip()] if text.strip() else [])


def _unwrapped_lines(text: str) -> list[str]:
    """The lines without list markers; wrapped prose is joined. Rulers and the marks of code fences are dropped."""
    joined: list[list[str]] = []
    last = ""
    for line in text.splitlines():
        body = _LINE_MARK.sub("", line).strip()
        marked = not line.strip().startswith(body)
        if _FENCE.match(line) or not any(_is_content(char) for char in body):
            last = ""
        elif not marked and body[0].islower() and len(last) >= _WRAPPED_LENGTH and last[-1] not in _STRONG + ".!?:":
            joined[-1].append(body)
            last = body
        else:
            joined.append([body])
            last = body
    return [" ".join(parts) for parts in joined]


def _is_content(char: str) -> bool:
    return unicodedata.category(char)[0] not in "PZC" and char not in "=+|~<>^`$"


def _split_line(line: str) -> list[str]:
    sentences = []
    start = 0
    for match in _END.finditer(line):
        if _is_border(line, match):
            sentences.append(line[start : match.end()].strip())
            start = match.end()
    sentences.append(line[start:].strip())
    return [sentence for sentence in sentences if any(_is_content(char) for char in sentence)]


def _is_border(line: str, end: re.Match[str]) -> bool:
    after = line[end.end() : end.end() + 40]
    if not after.strip():
        return True
    spaced = after[0].isspace()
    following = after.lstrip()[:1]
    mark = end.group()
    first = mark[0]
    closed = mark[-1] in _CLOSING
    if any(char in _STRONG for char in mark):
        # A full-width full stop may stand in a number; after a closing quote the sentence may go on ("...。」と言った).
        inside_number = first == "．" and line[end.start() - 1 : end.start()].isdigit() and after[0].isdigit()
        return not inside_number and (spaced or not closed or not following.isalpha())
    if not spaced:
        return _unspaced_script(line[end.start() - 1 : end.start()]) and _unspaced_script(after[0])
    if first in "!?":
        return not (closed and following.islower())
    return _full_stop_ends(line[max(0, end.start() - 24) : end.start()], mark, after.lstrip())


def _full_stop_ends(before: str, mark: str, after: str) -> bool:
    """Whether a full stop or an ellipsis between `before` and `after` ends a sentence."""
    word = _NO_WORD.split(before)[-1]
    lower = word.casefold()
    if after[0].islower():
        if mark[0] != "." or len(mark.rstrip(_CLOSING)) > 1 or "." in word:
            return False
        return (len(word) >= 5 or (len(word) >= 3 and word.isdigit())) and lower not in _LEADING_ABBREVIATIONS
    if mark != ".":
        return True
    next_word = _NEXT_WORD.match(after)
    if lower in _LEADING_ABBREVIATIONS or (lower in _NUMBERED_ABBREVIATIONS and after[0].isdigit()):
        return False
    if lower in _TRAILING_ABBREVIATIONS:
        return next_word is None or next_word.group().casefold() in _STARTERS
    if word.isdigit() and len(word) <= 2 and next_word and next_word.group().casefold() in _MONTHS:
        return False
    initial = len(word) == 1 and word.isupper() and word != "I"
    return not (initial and next_word is not None and next_word.group().casefold() not in _STARTERS)


def _unspaced_script(char: str) -> bool:
    """Whether `char` is a letter without case, as in scripts that set no space after a full stop."""
    return unicodedata.category(char) == "Lo" if char else False
