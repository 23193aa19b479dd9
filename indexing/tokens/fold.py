"""Owns diacritic folding: what is left of a word when its accents are taken away."""

from __future__ import annotations

import unicodedata

# Letters with a stroke or a ligature do not decompose in Unicode, yet people type them without.
_PLAIN = {
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ł": "l",
    "ħ": "h", "ı": "i", "þ": "th", "ŧ": "t", "ё": "е",
}  # fmt: skip

# Marks that only decorate the letter before them: Latin, Greek and stress marks, Hebrew points,
# Arabic vowel signs; and what is invisible: soft hyphen, zero-width signs, tatweel, selectors.
# Vowel signs of Indic scripts are not among them: they are letters there.
_DROPPED = (
    (0x00AD, 0x00AD),
    (0x0300, 0x036F),
    (0x0483, 0x0487),
    (0x0591, 0x05C7),
    (0x0610, 0x061A),
    (0x0640, 0x0640),
    (0x064B, 0x065F),
    (0x0670, 0x0670),
    (0x06D6, 0x06ED),
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x200B, 0x200D),
    (0x2060, 0x2060),
    (0x20D0, 0x20FF),
    (0xFE00, 0xFE0F),
    (0xFE20, 0xFE2F),
    (0xFEFF, 0xFEFF),
)

# Latin and Greek. Elsewhere a mark makes another letter: й is not и, ї is not і, が is not か.
_DECORATED = ((0x00C0, 0x03FF), (0x1E00, 0x1FFF), (0x2C60, 0x2C7F), (0xA720, 0xA7FF))


class _Table(dict[int, str]):
    """Code point -> its plain form, worked out when first met (the shape `str.translate` takes)."""

    def __missing__(self, code: int) -> str:
        self[code] = plain = _plain(code)
        return plain


def _plain(code: int) -> str:
    character = chr(code)
    if any(first <= code <= last for first, last in _DROPPED):
        return ""
    if any(first <= code <= last for first, last in _DECORATED):
        letters = unicodedata.normalize("NFD", character)
        bare = (letter for letter in letters if not unicodedata.combining(letter))
        return "".join(_PLAIN.get(letter, letter) for letter in bare)
    return _PLAIN.get(character, character)


_TABLE = _Table()


def fold(word: str) -> str:
    """Take the diacritics off ``word``, in NFC; strokes (ł, ø) only off letters in lower case."""
    return word if word.isascii() else word.translate(_TABLE)
