"""Owns stemming: words without accents -> the part that their forms share, by Snowball."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import Stemmer

from notehop.indexing.tokens.fold import fold

VERSION: str = Stemmer.version()

_ALGORITHMS: Mapping[str, str] = {
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "nl": "dutch",
    "pt": "portuguese",
    "ru": "russian",
    "sv": "swedish",
}
_LATIN = {"ru": "en", "zh": "en", "ja": "en", "ko": "en"}

# Endings that Snowball knows with an accent only; the accent is put back before stemming, or
# `comunicación` and `comunicaciones` would part. Of the pairs of words (by their counts in man
# pages) that stemming with all accents brings together, folding first would part 7.3 % in Spanish,
# 7.7 in Portuguese and 18.8 in French; so it parts 3.0, 0.8 and 2.0. Italian (0.9), German, Dutch
# and Swedish lose next to nothing.
_ENDINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "es": (("cion", "ción"),),
    "fr": (("ee", "ée"), ("ees", "ées"), ("iere", "ière"), ("ieres", "ières")),
    "pt": (
        ("cao", "ção"),
        ("coes", "ções"),
        ("avel", "ável"),
        ("aveis", "áveis"),
        ("ivel", "ível"),
        ("iveis", "íveis"),
        ("encia", "ência"),
        ("encias", "ências"),
    ),
}


def latin_language(language: str) -> str:
    """The language that words in Latin letters are in: English where the language has none."""
    return _LATIN.get(language, language)


class Stems:
    """Stems the words of one language: Latin ones by it, Cyrillic ones as Russian. Thread-safe.

    Accents are folded before stemming, so that a word typed without them is the same word. With
    ``und`` every word is its own stem.
    """

    def __init__(self, language: str) -> None:
        latin = latin_language(language)
        self._latin = _stemmer(latin)
        self._cyrillic = _stemmer("und" if language == "und" else "ru")
        self._endings = _ENDINGS.get(latin, ())
        # A stemmer keeps a buffer of its own and must not be entered twice at once.
        self._lock = threading.Lock()

    def __call__(self, word: str) -> str:
        """The stem of ``word``, which is case-folded and folded."""
        stemmer = self._cyrillic if "\u0400" <= word[:1] < "\u0530" else self._latin
        if stemmer is None:
            return word
        for plain, accented in self._endings:
            if word.endswith(plain):
                word = word[: -len(plain)] + accented
                break
        with self._lock:
            return fold(stemmer.stemWord(word))


def _stemmer(language: str) -> Stemmer.Stemmer | None:
    # Its own cache of 10,000 words would repeat that of the tokenizer.
    return Stemmer.Stemmer(_ALGORITHMS[language], 0) if language in _ALGORITHMS else None
