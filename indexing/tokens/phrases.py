"""Owns phrases: whether a text says some words one after the other, in these forms.

Words are those of the index without their stems: case, accents and what stands between words
(blanks, punctuation, marks of formatting) do not matter, endings do.
"""

from __future__ import annotations

from functools import lru_cache

from notehop.indexing.tokens.surfaces import MAX_LENGTH, spoken, surfaces

_REMEMBERED = 50_000
"""Surfaces remembered with their words: some 15 MB."""


class Phrase:
    """Words that are to stand one after the other.

    ``words`` is empty for a text without any; such a phrase stands in every text.
    """

    def __init__(self, text: str) -> None:
        self.words = words_said(text)
        self._said = _joined(self.words)

    def stands_in(self, said: str) -> bool:
        """Whether a text says the phrase.

        :param said: what :func:`said_by` made of the text.
        """
        return self._said in said


def words_said(text: str) -> list[str]:
    """The words of a text in order, folded, not stemmed; of unspaced scripts the characters."""
    return said_by(text).split()


def said_by(text: str) -> str:
    """The words of a text in order, a blank between them and at both ends."""
    said: list[str] = []
    for surface in surfaces(text):
        if surface.isascii() and surface.isalpha() and len(surface) <= MAX_LENGTH:
            # Most words by far; the rest of the rules would come to the same.
            said.append(surface.lower())
        elif len(surface) <= MAX_LENGTH:
            said += _remembered(surface)
        else:
            said += spoken(surface)
    return _joined(said)


_remembered = lru_cache(maxsize=_REMEMBERED)(spoken)


def _joined(words: list[str]) -> str:
    return f" {' '.join(words)} " if words else " "
