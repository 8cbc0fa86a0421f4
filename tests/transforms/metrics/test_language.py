"""The language of a response and of its request: sentences of this test's own in many languages, and what is null."""

import dataclasses
from importlib.metadata import version

import pytest

from beamjudge.schemas.metric import ColumnType, MetricKind
from beamjudge.transforms.metrics.language import LANGUAGE, LANGUAGES, language_of

_LANGUAGE, _MATCHES = "response/text/language", "response/text/language_matches_request"
_SENTENCES = {
    "en": "I don't know at what time the train leaves, but you can ask at the counter.",
    "de": "Ich weiß nicht, wann der Zug fährt, aber Sie können am Schalter fragen.",
    "fr": "Je ne sais pas à quelle heure part le train, mais vous pouvez demander au guichet.",
    "es": "No sé a qué hora sale el tren, pero puede preguntar en la ventanilla.",
    "pt": "Não sei a que horas parte o trem, mas você pode perguntar no balcão.",
    "it": "Non so a che ora parte il treno, ma può chiedere allo sportello.",
    "nl": "Ik weet niet hoe laat de trein vertrekt, maar u kunt het aan het loket vragen.",
    "sv": "Jag vet inte när tåget går, men du kan fråga i luckan.",
    "pl": "Nie wiem, o której odjeżdża pociąg, ale może pan zapytać w okienku.",
    "cs": "Nevím, v kolik hodin odjíždí vlak, ale můžete se zeptat u přepážky.",
    "fi": "En tiedä, mihin aikaan juna lähtee, mutta voit kysyä luukulta.",
    "hu": "Nem tudom, hány órakor indul a vonat, de megkérdezheti a pénztárnál.",
    "ro": "Nu știu la ce oră pleacă trenul, dar puteți întreba la ghișeu.",
    "tr": "Trenin saat kaçta kalktığını bilmiyorum ama gişeye sorabilirsiniz.",
    "vi": "Tôi không biết tàu khởi hành lúc mấy giờ.",
    "ru": "Я не знаю, во сколько отправляется поезд, но вы можете спросить в кассе.",
    "uk": "Я не знаю, о котрій годині відправляється потяг, але ви можете запитати в касі.",
    "el": "Δεν ξέρω τι ώρα φεύγει το τρένο, αλλά μπορείτε να ρωτήσετε στο ταμείο.",
    "ar": "لا أعرف متى يغادر القطار، لكن يمكنك أن تسأل في شباك التذاكر.",
    "fa": "نمی‌دانم قطار چه ساعتی حرکت می‌کند، اما می‌توانید از باجه بپرسید.",
    "he": "אני לא יודע באיזו שעה יוצאת הרכבת, אבל אפשר לשאול בקופה.",
    "hi": "मुझे नहीं पता कि ट्रेन कितने बजे निकलती है, लेकिन आप काउंटर पर पूछ सकते हैं।",
    "bn": "ট্রেন কখন ছাড়বে আমি জানি না, তবে আপনি কাউন্টারে জিজ্ঞাসা করতে পারেন।",
    "th": "ผมไม่ทราบว่ารถไฟออกกี่โมง",
    "km": "ខ្ញុំមិនដឹងថារថភ្លើងចេញម៉ោងប៉ុន្មានទេ",
    "ja": "電車が何時に出るかわかりません。",
    "ko": "기차가 몇 시에 떠나는지 모르겠습니다.",
    "zh": "我不知道火车几点出发。",
}


@pytest.mark.parametrize("language", _SENTENCES)
def test_languages(language):
    assert language_of(_SENTENCES[language]) == language
    assert language in LANGUAGES


@pytest.mark.parametrize(
    "text",
    [
        *("", "ok", "Yes.", "Nein, danke.", "Madrid", "你好", "12345", "😀" * 30, "1234567890 " * 10),
        *('{"id": 17, "x": [1, 2, 3]}', "https://example.com/a/b?c=d"),
    ],
)
def test_short_texts_and_texts_of_no_language_have_none(text):
    assert language_of(text) is None


def _values(make_row, response, request):
    return LANGUAGE.compute(dataclasses.replace(make_row(response), request_text=request))


@pytest.mark.parametrize(
    ("response", "request_text", "language", "matches"),
    [
        (_SENTENCES["de"], "Wann fährt der nächste Zug nach Hamburg?", "de", True),
        (_SENTENCES["en"], "Wann fährt der nächste Zug nach Hamburg?", "en", False),
        (_SENTENCES["en"], "Hm?", "en", None),
        ("Ja.", "Wann fährt der nächste Zug nach Hamburg?", None, None),
        ("", "Wann fährt der nächste Zug nach Hamburg?", None, None),
        (None, "Wann fährt der nächste Zug nach Hamburg?", None, None),
    ],
)
def test_rows(make_row, response, request_text, language, matches):
    assert _values(make_row, response, request_text) == {_LANGUAGE: language, _MATCHES: matches}


def test_agreement_is_a_share_and_the_language_a_label():
    assert [(column.name, column.type) for column in LANGUAGE.columns] == [
        (_LANGUAGE, ColumnType.STRING),
        (_MATCHES, ColumnType.BOOLEAN),
    ]
    (spec,) = LANGUAGE.specs
    assert (spec.key, spec.kind) == (_MATCHES, MetricKind.SHARE)
    assert LANGUAGE.signatures == {f"{_MATCHES}/percentage": f"model:py3langid|version:{version('py3langid')}"}


def test_paragraphs_in_five_languages(shared_lines):
    texts = [
        (case["lang"], case[part])
        for case in shared_lines("data/reference_rouge/rouge_multilingual_computed.jsonl")
        for part in ("target", "prediction")
    ]
    told = [(language, language_of(text)) for language, text in texts]
    assert sum(language == found for language, found in told) >= 0.98 * len(told)
    assert all(found in (language, None) for language, found in told)
