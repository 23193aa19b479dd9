"""Owns what a query is after, as the rules of :mod:`notehop.app.retrieval.intent_rules` tell. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from notehop.app.retrieval.intent_rules import ABOUT, AFTER, AROUND, RULES, Intent, Rule

MOST_WORDS = 24
"""Words of a query that can be a question about one thing; longer ones are text."""

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "-": " ", "_": " ", ":": " "})
_LONG_GAP = " " * 10
EDGES = " \t\r\n.,;:!?¿¡…\"'“”„«»()[]{}*#"

Named = Callable[[Collection[str]], Collection[str]]
"""Names -> those of them that are the title or an alias of a note."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a query is after, and what about: ``about`` is its text where no rule took it.

    ``rule`` is the one that took it, None where none did or the intent was named.
    """

    intent: Intent
    about: str
    rule: Rule | None = None


def read(text: str, named: Named) -> Reading:
    """Return the intent of a query by the first rule that takes it, ``none`` if there is none.

    :param named: asked once at most, and only where a strict rule could take the query.
    """
    taken = list(_taken(text))
    loose = next(((rule, about) for rule, about in taken if not rule.strict), None)
    strict = [(rule, names_of(about)) for rule, about in taken if rule.strict]
    if strict and (loose is None or taken[0][0].strict):
        known = set(named([name for _, names in strict for name in names]))
        for rule, names in strict:
            whole = next((name for name in names if name in known), None)
            if whole is not None:
                return Reading(rule.intent, whole, rule)
    if loose is not None:
        return Reading(loose[0].intent, loose[1], loose[0])
    return Reading("none", text)


def about(text: str, intent: Intent) -> Reading:
    """Return the reading of a query whose intent is known: a rule of it may say what about."""
    for rule, found in _taken(text):
        if rule.intent == intent:
            return Reading(intent, found)
    return Reading(intent, text)


def names_of(said: str) -> list[str]:
    """The names that words may stand for: as they are, and without words around a name."""
    found = [bare(said)]
    for name in found:
        words = name.split()
        before = (bare(name[len(one) :]) for one in AROUND if _starts(name, one))
        after = (bare(name[: -len(one)]) for one in AFTER if _ends(name, one))
        found += [one for one in (*before, *after) if one and len(words) > 1 and one not in found]
        if "'" in name and name.lower().endswith("'s") and (own := name[:-2]) not in found:
            found.append(own)
    return [name for name in found if name]


def bare(name: str) -> str:
    """A name without the punctuation around it."""
    return name.strip(EDGES)


def _taken(text: str) -> Iterator[tuple[Rule, str]]:
    """The rules that take a text, with what stands in the hole, as it is written."""
    question = question_of(text)
    if question is None or not _any_pattern().fullmatch(question[1]):
        return
    plain, written = question
    for rule, pattern in _patterns():
        if found := pattern.fullmatch(written):
            first, end = found.span("x")
            if said := plain[first:end].strip(EDGES):
                yield rule, said


def question_of(text: str) -> tuple[str, str] | None:
    """A text that may be a question about one thing, as it is written and as patterns take it.

    None for what is too long for one, or holds a rule of dashes: a pattern tries every way to share
    the blanks of a long run among its words.
    """
    plain = unicodedata.normalize("NFC", " ".join(text.split())).strip(EDGES)
    if not plain or len(plain.split()) > MOST_WORDS:
        return None
    written = f"{flat(plain)} "
    if len(written.split()) > 2 * MOST_WORDS or _LONG_GAP in written:
        return None
    return plain, written


def flat(text: str) -> str:
    """Small letters without accents, character by character, so that places stay the same."""
    bare = (unicodedata.normalize("NFD", letter)[0] for letter in text.translate(_APOSTROPHES))
    return "".join(letter.lower()[0] for letter in bare)


@cache
def _patterns() -> Sequence[tuple[Rule, re.Pattern[str]]]:
    return tuple((rule, re.compile(pattern_of(rule.phrase))) for rule in RULES)


@cache
def _any_pattern() -> re.Pattern[str]:
    """Takes what any rule takes: most queries are taken by none, and one look tells."""
    return re.compile("|".join(pattern_of(rule.phrase).replace("?P<x>", "?:") for rule in RULES))


def pattern_of(phrase: str) -> str:
    """The regular expression of a phrase, a blank after each word; ``l'`` needs none.

    It takes a text of :func:`flat` with a blank after it.
    """
    written = ""
    for part in re.findall(r"\([^)]*\)|\[[^\]]*\]|\{x\}|[^ ]+", phrase):
        if part == ABOUT:
            written += "(?P<x>.+?) +"
        else:
            words = [flat(one).strip() for one in part.strip("()[]").split("|")]
            either = "|".join(
                re.escape(one).replace(r"\ ", " +") + (" *" if one.endswith("'") else " +")
                for one in words
            )
            written += f"(?:{either})" + ("?" if part.startswith("[") else "")
    return written


def _starts(name: str, word: str) -> bool:
    blank = "" if word.endswith("'") else " "
    return name.translate(_APOSTROPHES).lower().startswith(word + blank)


def _ends(name: str, word: str) -> bool:
    return name.translate(_APOSTROPHES).lower().endswith(f" {word}")
