"""Owns what of a text is written as a proper name is. Pure."""

from __future__ import annotations

import re

from notehop.app.retrieval.intents import bare
from notehop.app.retrieval.subject import LONGEST, SMALL, Proper
from notehop.indexing.tokens.words import fold

_NOUNS_HAVE_CAPITALS = frozenset(("de",))
_APOSTROPHE = re.compile(r"['’]")
_BEFORE = re.compile(r"[\W_]*")


def proper_names(text: str, language: str) -> Proper:
    """Return what tells of a stretch of the text whether it is written as a proper name.

    It has a capital letter that is not the one a sentence begins with (the text's first word, and
    one after a word written small with a full stop, unlike "Dr. Berg"), and the text writes other
    words that say something without: where all have one ("Harbour Office Plan") it tells nothing.
    In German, where every noun has one, two words have to.

    :param language: a code of :data:`notehop.indexing.tokens.LANGUAGES`, of the notes.
    """
    words = list(re.finditer(r"\S+", text))
    least = 2 if language in _NOUNS_HAVE_CAPITALS else 1
    # A dash or an emoji begins no sentence: the word after it does.
    first = next((at for at, word in enumerate(words) if re.search(r"\w", word[0])), 0)
    begins = {first, *(at + 1 for at, word in enumerate(words) if _ends_sentence(word[0]))}
    capitals = [
        word.span()
        for at, word in enumerate(words[:LONGEST])
        if _has_capital(word[0], begins=at in begins)
    ]
    if not any(_is_plain(bare(word[0])) for word in words):
        return lambda _first, _end: False

    def is_proper(first: int, end: int) -> bool:
        return sum(first < stop and start < end for start, stop in capitals) >= least

    return is_proper


def _has_capital(word: str, *, begins: bool) -> bool:
    said = _BEFORE.sub("", word, count=1)[1:] if begins else word
    return any(one.isupper() for one in said)


def _is_plain(word: str) -> bool:
    """Whether a word says something and is written small."""
    # "what's" is a small word and an ending, "isn't" one small word, which are written without.
    read = {fold(_APOSTROPHE.split(word)[0]), fold(_APOSTROPHE.sub("", word))}
    return word[:1].islower() and read.isdisjoint(SMALL)


def _ends_sentence(word: str) -> bool:
    return word[:1].islower() and word.rstrip("\"'”’»)*_").endswith((".", "!", "?", "…"))
