"""Which names a sentence states, and what it denies: compared with its source, word by word. Pure.

Words are compared as the index reads them, folded and stemmed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from notehop.indexing.tokens.words import fold
from notehop.indexing.vault.dates import month_named

Words = Callable[[str], Sequence[str]]
"""Text -> its words, folded and stemmed, function words included."""

SCOPE = 6
"""Words that say something behind a negation that are taken to be denied, within its clause."""

_TOKEN = re.compile(r"[^\W_]+(?:['’.\-][^\W_]+)*")
_BREAK = re.compile(
    r"[.!?:;,()\[\]“”\"«»|\n]|\s[–—-]\s|(?:^|\s)(?:but|aber|sondern|mais|pero|ma|mas|maar|men|но)(?=\s)"
)
_BEFORE = 80
"""Characters before a word that tell whether a sentence begins with it."""

_BEGIN = re.compile(r"[.!?:;|\n“”\"«»(\[]\s*(?:[-*+>#]+\s*)?$")

_DENY = """
    no not never none nothing nobody nowhere neither nor without cannot cant dont doesnt didnt isnt
    arent wasnt werent wont wouldnt shouldnt couldnt hasnt havent hadnt
    nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne weder
    pas jamais sans aucun aucune rien ni
    nunca jamas sin ningun ninguna nada nadie tampoco
    non mai senza nessuno nessuna niente nulla
    nao sem nenhum nenhuma ninguem
    niet geen nooit niets niemand zonder
    inte icke ingen inget aldrig utan ej
    не нет ни без никогда ничего никто
    """
_NEGATIONS = frozenset(_DENY.split())
_ONLY_ALONE = frozenset(("ni", "mai", "men", "ej", "sin", "nada", "non", "pas"))
"""Words that deny in one language and say something else in English notes; with a capital they
are names."""


@dataclass(frozen=True, slots=True)
class Denied:
    """Words of a text, and those among them that stand nowhere but
    behind a negation in their clause."""

    words: frozenset[str]
    denied: frozenset[str]
    mark: str = ""


def names_of(text: str) -> list[str]:
    """Return the words with a capital where no sentence begins, and those with letters and digits.

    Months are none: dates are read elsewhere (:mod:`notehop.app.answer.facts`).
    """
    found = []
    for match in _TOKEN.finditer(text):
        word = match[0]
        letters = any(one.isalpha() for one in word)
        digits = any(one.isdigit() for one in word)
        if letters and digits:
            if re.fullmatch(r"v?\d.*", word) is None:
                found.append(word)
            continue
        before = text[max(0, match.start() - _BEFORE) : match.start()].rstrip(" \t*_=~>#-")
        begins = not before or _BEGIN.search(before) is not None
        # A word with an ending of possession and no article is a name wherever it stands.
        owns = re.search(r"['’]s$", word) is not None
        shouts = len(word) > 1 and word.isupper()
        if not letters or not word[0].isupper() or (begins and not shouts and not owns):
            continue
        if len(word) > 1 and month_named(fold(word).casefold()) is None:
            found.append(word)
    return list(dict.fromkeys(found))


def first_word(text: str) -> str:
    """Return the first word of a sentence if it has a capital: only who knows the name can tell
    whether it is one."""
    found = _TOKEN.search(text)
    return found[0] if found and found[0][0].isupper() and found[0][1:].islower() else ""


def unnamed(names: Collection[str], known: Collection[str], words: Words) -> list[str]:
    """Return the names that a source does not have, as they are written.

    A name is there if each of its words is, or one that begins as it does (``Dane``, ``Danish``).

    :param known: the words of the source, its title and headings included.
    """
    found = []
    for name in names:
        plain = re.sub(r"['’]s$", "", name)
        parts = [one for one in words(plain) if one]
        if parts and not all(_is_there(part, known) for part in parts):
            found.append(name)
    return found


def _is_there(part: str, known: Collection[str]) -> bool:
    if part in known:
        return True
    begin = part[: max(4, len(part) - 3)]
    return len(part) >= 5 and part.isalpha() and any(one.startswith(begin) for one in known)


def denied(text: str, words: Words, content: Callable[[Sequence[str]], Sequence[str]]) -> Denied:
    """Return what a text denies.

    :param content: leaves of some words those that say something.
    """
    stated: set[str] = set()
    hidden: set[str] = set()
    mark = ""
    for clause in _clauses(text):
        tokens = [match[0] for match in _TOKEN.finditer(clause)]
        left = 0
        for token in tokens:
            plain = re.sub(r"['’]", "", fold(token).casefold())
            if plain in _NEGATIONS and not (plain in _ONLY_ALONE and token[0].isupper()):
                left = SCOPE
                mark = mark or token
                continue
            said = content(words(token))
            if said and left:
                hidden.update(said)
                left -= 1
            else:
                stated.update(said)
    return Denied(frozenset(stated | hidden), frozenset(hidden - stated), mark)


def turned(sentence: Denied, source: Denied) -> bool:
    """Whether one denies what the other states, of what both speak of.

    A sentence that denies anything needs a source that denies something. A source may deny what the
    sentence leaves out.
    """
    shared = sentence.words & source.words
    if sentence.mark and not source.mark:
        return bool(shared)
    differ = (sentence.denied ^ source.denied) & shared
    return len(differ) >= 2 or (bool(differ) and len(differ) >= len(shared) / 5)


def _clauses(text: str) -> list[str]:
    return [one for one in _BREAK.split(text) if one and one.strip()]
