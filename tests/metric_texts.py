"""Texts in many scripts, and strategies that make texts of the pieces on which tokenizers and scores differ."""

from hypothesis import strategies as st

SCRIPTS = {
    "thai": "สวัสดีครับ",
    "japanese": "今日は良い天気ですね",
    "chinese": "你好，世界",
    "korean": "안녕하세요",
    "russian": "Привет, мир!",
    "arabic": "مرحبا بالعالم",
    "hindi": "नमस्ते दुनिया",
    "khmer": "សួស្តី",
    "emoji": "😀👍🏽",
    "one_emoji": "❤️",
    "greek": "Καλημέρα",
    "vietnamese": "Xin chào thế giới",
    "german": "Größe naïve",
}

_ENGLISH = ("the", "a", "cat", "cats", "cat.", "(cat)", "sat", "1.5", "on,", "-", "mat", "running", "runs", "The")
_FOREIGN = (
    *(
        "кошка",
        "Кошка",
        "сидит",
        "मैं",
        "घर",
        "漢字",
        "かな",
        "カナ",
        "ไทย",
        "é",
        "e\u0301",
        "ß",
        "ﬁ",
        "한국",
        "😀",
        "，",
    ),
    *("。", "“q”", "١٢", "İ", "\u3000", "\u2028", "\U00020000"),
)

ASCII_WORDS = st.lists(st.sampled_from(_ENGLISH), max_size=16)
ANY_WORDS = st.lists(st.sampled_from(_ENGLISH + _FOREIGN), max_size=16)
ASCII_TEXT = st.one_of(
    st.lists(st.sampled_from([*(f"{word} " for word in _ENGLISH), "\n", "  ", "&amp; ", "-\n", "x"]), max_size=24).map(
        "".join
    ),
    st.text(st.characters(max_codepoint=127), max_size=30),
)
ANY_TEXT = st.one_of(ANY_WORDS.map(" ".join), ANY_WORDS.map("".join), st.text(max_size=30))
