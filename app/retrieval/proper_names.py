"""Owns what of a text is written as a proper name is. Pure."""

from __future__ import annotations

import re

from app.retrieval.intents import bare
from app.retrieval.subject import Proper
from indexing.tokens.function_words import FUNCTION_WORDS

_SMALL = frozenset().union(*FUNCTION_WORDS.values())
_NOUNS_HAVE_CAPITALS = frozenset(("de",))


def proper_names(text: str, language: str) -> Proper:
    """Return what tells of a stretch of the text whether it is written as a proper name.

    It has a capital letter that is not the one a sentence begins with, and the text writes other
    words that say something without: where all have one ("Harbour Office Plan") it tells nothing.
    In German, where every noun has one, two words have to.

    :param language: a code of :data:`indexing.tokens.LANGUAGES`, of the notes.
    """
    words = list(re.finditer(r"\S+", text))
    least = 2 if language in _NOUNS_HAVE_CAPITALS else 1
    capitals = [
        word.span() for at, word in enumerate(words) if _has_capital(bare(word[0]), begins=at == 0)
    ]
    if not any(_is_plain(bare(word[0])) for word in words):
        return lambda _first, _end: False

    def is_proper(first: int, end: int) -> bool:
        return sum(first < stop and start < end for start, stop in capitals) >= least

    return is_proper


def _has_capital(word: str, *, begins: bool) -> bool:
    return any(one.isupper() for one in (word[1:] if begins else word))


def _is_plain(word: str) -> bool:
    """Whether a word says something and is written small."""
    return word[:1].islower() and word.lower() not in _SMALL
