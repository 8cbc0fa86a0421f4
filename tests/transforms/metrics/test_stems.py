"""Porter's stems: examples of the paper, and nltk's stemmer as the oracle."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer

from beamjudge.transforms.metrics.text.stems import stem

_ORACLE = PorterStemmer()
_BEGINNINGS = st.text("aeiouybcdgklmnprstvwxz", max_size=6)
_ENDINGS = st.sampled_from(
    [
        *("", "s", "es", "ies", "ied", "sses", "ss", "ed", "eed", "ing", "ying", "y", "e", "ll", "lled", "ational"),
        *("tional", "enci", "anci", "izer", "bli", "abli", "alli", "entli", "eli", "ousli", "ization", "ation", "ator"),
        *("alism", "iveness", "fulness", "ousness", "aliti", "iviti", "biliti", "fulli", "logi", "icate", "ative"),
        *("alize", "iciti", "ical", "ful", "ness", "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement"),
        *("ment", "ent", "ion", "sion", "tion", "ou", "ism", "ate", "iti", "ous", "ive", "ize", "bled", "izing", "at"),
    ]
)


@settings(max_examples=800, deadline=None)
@given(parts=st.tuples(_BEGINNINGS, _ENDINGS, _ENDINGS))
def test_equal_to_nltk(parts):
    word = "".join(parts)
    assert stem(word) == _ORACLE.stem(word)


@pytest.mark.parametrize(
    "word",
    [
        *("sky", "skies", "dying", "lying", "tying", "news", "inning", "innings", "outing", "outings", "canning"),
        *("cannings", "howe", "proceed", "exceed", "succeed", "die", "dies", "died", "tie", "ties", "flies", "fly"),
        *("spied", "y", "yyy", "by", "is", "as", "café", "naïve", "größe", "кошки", "1,000", "it's", "a-b", "syzygy"),
    ],
)
def test_odd_words_are_nltks_too(word):
    assert stem(word) == _ORACLE.stem(word)


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        *(("caresses", "caress"), ("ponies", "poni"), ("cats", "cat"), ("agreed", "agre"), ("plastered", "plaster")),
        *(("motoring", "motor"), ("hopping", "hop"), ("filing", "file"), ("happy", "happi"), ("relational", "relat")),
        *(("formalize", "formal"), ("replacement", "replac"), ("adoption", "adopt"), ("controll", "control")),
    ],
)
def test_examples_of_the_paper(word, stemmed):
    assert stem(word) == stemmed
