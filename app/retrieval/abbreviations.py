"""Whether a text spells an abbreviation out. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from notehop.indexing.tokens.words import FUNCTION_WORDS, fold

ABBREVIATION_LETTERS = range(2, 9)  # characters of an abbreviation
MAX_LONG_FORM_CHARS = 100  # characters beside it in which its long form stands
_SEPARATOR = re.compile(r"\W{0,4}?(?:[:=(|–—]| -)")


def is_spelt_out(name: str, text: str) -> bool:
    """Whether the words behind an abbreviation, or before it in brackets, have its letters in order, as
    "DHW: degree heating weeks" and "credible interval (CrI)" do.

    After Schwartz and Hearst (PSB 2003), but no more than one word is passed over between two letters, and
    what neither a sign nor the beginning of a line sets apart has to have them as its initials.
    """
    letters = fold(name).lower()
    if not letters.isalnum() or len(letters) not in ABBREVIATION_LETTERS:
        return False
    for match in re.finditer(rf"(?<!\w){letters}(?!\w)", plain := fold(text), re.IGNORECASE):
        if sum(map(str.isupper, match[0])) < 2:
            continue
        behind = plain[match.end() : match.end() + MAX_LONG_FORM_CHARS].partition("\n")[0]
        before = plain[max(0, match.start() - MAX_LONG_FORM_CHARS) : match.start()].rpartition("\n")[2]
        begins = len(letters) > 2 and not re.search(r"\w", before)
        apart = begins or _SEPARATOR.match(behind) is not None
        words = _words_without(letters, behind)
        if apart and any(_has_letters_in_order(letters, one) for one in _word_runs(words)):
            return True
        if not apart and _are_initials(letters, words):
            return True
        words = _words_without(letters, before)[-2 * len(letters) :] if before.endswith("(") else []
        if any(_has_letters_in_order(letters, words[at:]) for at in range(len(words))):
            return True
    return False


def _are_initials(letters: str, words: Sequence[str]) -> bool:
    """Whether words have these initials, small words aside; any two words may have two of them."""
    some = (one[: len(letters)] for one in _word_runs(words))
    return len(letters) > 2 and any("".join(word[0] for word in one) == letters for one in some)


def _word_runs(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The words, and those without small ones, whose initials an abbreviation may leave out."""
    return words, [word for word in words if word not in _FUNCTION_WORDS]


def _words_without(name: str, text: str) -> list[str]:
    return [one for one in re.findall(r"\w+", text.lower()) if not one.startswith(name)]


def _has_letters_in_order(letters: str, words: Sequence[str], left: str = "") -> bool:
    """Whether words have letters in order, each as the initial of one of the next two, or within what is left
    of the last."""
    if not letters:
        return True
    first, others = letters[0], letters[1:]
    return any(
        word.startswith(first) and _has_letters_in_order(others, words[at + 1 :], word[1:])
        for at, word in enumerate(words[:2])
    ) or (first in left and _has_letters_in_order(others, words, left.partition(first)[2]))


_FUNCTION_WORDS = frozenset().union(*FUNCTION_WORDS.values())
_WORD = re.compile(r"[^\W\d_]+")


def has_long_form(about: str, text: str) -> bool:
    """Whether a text that has an abbreviation spells it out, or has words in a row with its letters as their
    initials.

    :param about: folded.
    """
    if len(about) not in ABBREVIATION_LETTERS or " " in about:
        return False
    plain = fold(text).casefold()
    if re.search(rf"\b{re.escape(about)}\b", plain) is None:
        return False
    words = [word for word in _WORD.findall(plain) if word != about]
    initials = ("".join(word[0] for word in some) for some in _word_runs(words))
    return any(about in each for each in initials) or is_spelt_out(about, text)
