"""Names in a text, told by their capitals, and those that another text lacks. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from notehop.indexing.tokens.words import fold
from notehop.indexing.vault.dates import MONTH_NUMBERS

Tokenize = Callable[[str], Sequence[str]]
"""Text -> its words, folded and stemmed, function words included."""

NAME_TOKEN = re.compile(r"[^\W_]+(?:['’.\-][^\W_]+)*")
_CONTEXT_CHARS = 80  # characters before a word that tell whether a sentence begins with it

_BEGIN = re.compile(r"[.!?:;|\n“”\"«»(\[]\s*(?:[-*+>#]+\s*)?$")


def capitalized_names(text: str) -> list[str]:
    """Return the words with a capital where no sentence begins, and those with letters and digits.

    Months are none: dates are read elsewhere (:mod:`notehop.app.answer.facts`).
    """
    names = []
    for match in NAME_TOKEN.finditer(text):
        word = match[0]
        letters = any(one.isalpha() for one in word)
        digits = any(one.isdigit() for one in word)
        if letters and digits:
            if re.fullmatch(r"v?\d.*", word) is None:
                names.append(word)
            continue
        before = text[max(0, match.start() - _CONTEXT_CHARS) : match.start()].rstrip(" \t*_=~>#-")
        begins = not before or _BEGIN.search(before) is not None
        # A word with an ending of possession and no article is a name wherever it stands.
        owns = re.search(r"['’]s$", word) is not None
        shouts = len(word) > 1 and word.isupper()
        if not letters or not word[0].isupper() or (begins and not shouts and not owns):
            continue
        if len(word) > 1 and fold(word).casefold() not in MONTH_NUMBERS:
            names.append(word)
    return list(dict.fromkeys(names))


def first_word(text: str) -> str:
    """Return the first word of a sentence if it has a capital: only who knows the name can tell
    whether it is one."""
    found = NAME_TOKEN.search(text)
    return found[0] if found and found[0][0].isupper() and found[0][1:].islower() else ""


def missing_names(names: Collection[str], known: Collection[str], words: Tokenize) -> list[str]:
    """Return the names that a source does not have, as they are written.

    A name is there if each of its words is, or one that begins as it does (``Dane``, ``Danish``).

    :param known: the words of the source, its title and headings included.
    """
    missing = []
    for name in names:
        plain = re.sub(r"['’]s$", "", name)
        parts = [one for one in words(plain) if one]
        if parts and not all(_has_word_or_stem(part, known) for part in parts):
            missing.append(name)
    return missing


def _has_word_or_stem(part: str, known: Collection[str]) -> bool:
    if part in known:
        return True
    begin = part[: max(4, len(part) - 3)]
    return len(part) >= 5 and part.isalpha() and any(one.startswith(begin) for one in known)
