"""Refusals and admissions of not knowing: texts that state nothing and harm nobody."""

import re

_OPENING_LENGTH = 300  # a refusal comes first; later "I cannot" sentences qualify an answer

_CANNOT = r"(?:can(?:'t|not| not)|could(?:n't| not)|won't|will not|do(?:n't| not)|(?:am|'m) not going to)"
_DECLINED = (
    r"(?:help|assist|provide|answer|share|give|fulfil|fulfill|comply|support|encourage|recommend|advise|offer|discuss|"
    r"engage|participate|know|have|think it's appropriate|endorse|condone|promote|say|tell|suggest|create|write|"
    r"generate|speculate|access)"
)
_SOURCE = r"(?:context|text|documents?|passages?)"
_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am) (?:\w+ )?(?:sorry|afraid|unable|not able|not sure|not programmed|not comfortable)|"
    rf"i {_CANNOT} (?:\w+ ){{0,2}}{_DECLINED}|i (?:apologi[sz]e|must (?:decline|refuse|point out))|"
    r"i(?:'m| am) just an ai|as an ai|it(?:'s| is) not (?:appropriate|ethical|possible to|safe or)|"
    rf"(?:not|isn't) (?:mentioned|stated|specified|given|contained|available) in the (?:\w+ )?{_SOURCE}|"
    rf"the {_SOURCE} (?:do(?:es)? not|doesn't|don't) (?:\w+ )?(?:say|mention|contain|provide|state|include)|"
    r"no (?:relevant )?information (?:is |was )?(?:available|found|given)|"
    r"ich kann (?:\w+ ){0,3}(?:nicht|keine)\b|tut mir leid|ich wei(?:ß|ss) (?:es )?nicht|"
    r"je ne (?:peux|sais) pas|(?:je suis )?désolée?|lo siento|no puedo|no lo sé|non posso|mi dispiace|desculpe|"
    r"não posso|üzgünüm|не могу|извините|к сожалению|عذر[اًا]?|آسف|لا أستطيع)|"
    r"我(?:无法|不能|不知道)|抱歉|对不起|申し訳|お答えできません|わかりません|죄송|ขออภัย",
    re.IGNORECASE,
)
_APOSTROPHES = str.maketrans("’‘`", "'''")


def is_refusal(text: str) -> bool:
    """Whether `text` opens by declining to answer or by saying that it does not know."""
    return _REFUSAL.search(text[:_OPENING_LENGTH].translate(_APOSTROPHES)) is not None
