"""What a query is after, by the phrases of ``rules.toml``, and what each signal weighs for it."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from notehop.config import Settings
from notehop.indexing.embed.models import languages_read
from notehop.indexing.tokens.languages import NAMES, clear_language

Intent = Literal["none", "status", "discovery", "concept", "person", "timeline"]

ABOUT = "{x}"  # the hole of a rule

_PART = re.compile(r"\([^)]*\)|\[[^\]]*\]|\{x\}|[^ ]+")
_WORD = re.compile(r"[^ ']+")


@dataclass(frozen=True, slots=True)
class Rule:
    """A phrase that tells an intent, or asks for themes, and a query that it takes, with what stands
    there in the hole."""

    intent: Intent
    language: str
    phrase: str
    example: str
    strict: bool = False
    about: str = ""


_TABLE = tomllib.loads(Path(__file__).with_name("rules.toml").read_text("utf-8"))

RULES = tuple(
    Rule(some["intent"], some["language"], phrase, example, some.get("strict", False))
    for some in _TABLE["intents"]
    for phrase, example in some["phrases"]
)
"""In the order in which they are tried."""

THEME_RULES = tuple(
    Rule(
        "none",
        some["language"],
        re.sub(r"<(\w+)>", r"{\1}", phrase.replace("{x}", "{{x}}")).format(**some["words"]),
        example,
        about="".join(about),
    )
    for some in _TABLE["themes"]
    for phrase, example, *about in some["phrases"]
)

BEFORE: Sequence[str] = _TABLE["before"]
AFTER: Sequence[str] = _TABLE["after"]
"""Words around the name of what a query is about that are no part of it."""

MOST_WORDS = 24  # words of a query that can be a question about one thing; longer ones are text

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "-": " ", "_": " ", ":": " "})
_LONG_GAP = " " * 10
EDGES = " \t\r\n.,;:!?¿¡…\"'“”„«»()[]{}*#"

Named = Callable[[Collection[str]], Collection[str]]
"""Names -> those of them that are the title or an alias of a note."""


@dataclass(frozen=True, slots=True)
class IntentReading:
    """What a query is after, and what about: its text where no rule took it. ``rule`` is None where none
    did or the intent was named."""

    intent: Intent
    about: str
    rule: Rule | None = None


def read(text: str, named: Named) -> IntentReading:
    """Return the intent of a query by the first rule that takes it, ``none`` if there is none.

    :param named: asked once at most, only where a strict rule could take the query.
    """
    taken = list(_taken(text))
    loose = next(((rule, about) for rule, about in taken if not rule.strict), None)
    strict = [(rule, names_of(about)) for rule, about in taken if rule.strict]
    if strict and (loose is None or taken[0][0].strict):
        known = set(named([name for _, names in strict for name in names]))
        for rule, names in strict:
            whole = next((name for name in names if name in known), None)
            if whole is not None:
                return IntentReading(rule.intent, whole, rule)
    if loose is not None:
        return IntentReading(loose[0].intent, loose[1], loose[0])
    return IntentReading("none", text)


def about(text: str, intent: Intent) -> IntentReading:
    """Return the reading of a query whose intent is known: a rule of it may say what about."""
    for rule, found in _taken(text):
        if rule.intent == intent:
            return IntentReading(intent, found)
    return IntentReading(intent, text)


def asks_for_themes(text: str) -> str | None:
    """What themes a question asks for: a subject, or the empty text for all; None if it asks for none."""
    return next((said for _, said in taken_by([rule.phrase for rule in THEME_RULES], text)), None)


def names_of(said: str) -> list[str]:
    """The names that words may stand for: as they are, and without words around a name."""
    found = [bare(said)]
    for name in found:
        written = name.translate(_APOSTROPHES).lower()
        shorter = [
            name[len(one) :]
            for one in BEFORE
            if written.startswith(one if one.endswith("'") else f"{one} ")
        ]
        shorter += [name[: -len(one)] for one in AFTER if written.endswith(f" {one}")]
        found += [
            one for one in map(bare, shorter) if one and len(name.split()) > 1 and one not in found
        ]
        if "'" in name and name.lower().endswith("'s") and (own := name[:-2]) not in found:
            found.append(own)
    return [name for name in found if name]


def bare(name: str) -> str:
    """A name without the punctuation around it."""
    return name.strip(EDGES)


def _taken(text: str) -> Iterator[tuple[Rule, str]]:
    """The rules that take a text, with what stands in the hole, as it is written."""
    for at, said in taken_by([rule.phrase for rule in RULES], text):
        if said:
            yield RULES[at], said


def taken_by(phrases: Sequence[str], text: str) -> Iterator[tuple[int, str]]:
    """The phrases that take a whole text, by their place, and what stands in the hole, if any.

    A text that is too long for a question about one thing is none, nor is what holds a rule of
    dashes: a pattern tries every way to share its blanks. Compiled are only phrases whose words stand
    in the text: to compile all took longer than to open an index.
    """
    plain = unicodedata.normalize("NFC", " ".join(text.split())).strip(EDGES)
    if not plain or len(plain.split()) > MOST_WORDS:
        return
    written = f"{flat(plain)} "
    if len(written.split()) > 2 * MOST_WORDS or _LONG_GAP in written:
        return
    words = set(_WORD.findall(written))
    for at, phrase in enumerate(phrases):
        if any(map(words.isdisjoint, _first_words(phrase))):
            continue
        if found := _pattern_of(phrase).fullmatch(written):
            first, end = found.span("x") if ABOUT in phrase else (0, 0)
            yield at, plain[first:end].strip(EDGES)


def flat(text: str) -> str:
    """Small letters without accents, character by character, so that places stay the same."""
    bare = (unicodedata.normalize("NFD", letter)[0] for letter in text.translate(_APOSTROPHES))
    return "".join(letter.lower()[0] for letter in bare)


@cache
def _first_words(phrase: str) -> Sequence[frozenset[str]]:
    """The words with which each part begins that the phrase cannot do without."""
    parts = (part for part in _PART.findall(phrase) if part != ABOUT and part[0] != "[")
    return [frozenset(_WORD.findall(one)[0] for one in _either(part)) for part in parts]


@cache
def _pattern_of(phrase: str) -> re.Pattern[str]:
    """The regular expression of a phrase, a blank after each word; ``l'`` needs none."""
    written = ""
    for part in _PART.findall(phrase):
        if part == ABOUT:
            written += "(?P<x>.+?) +"
        else:
            either = "|".join(
                re.escape(one).replace(r"\ ", " +") + (" *" if one.endswith("'") else " +")
                for one in _either(part)
            )
            written += f"(?:{either})" + ("?" if part.startswith("[") else "")
    return re.compile(written)


def _either(part: str) -> list[str]:
    return [flat(one).strip() for one in part.strip("()[]").split("|")]


DECIDED_BY = "decided_by"  # in the metadata of a hit: the signals that decided its place
DECIDING: Mapping[str, frozenset[str]] = {"status": frozenset({"subject", "recent"})}
"""Intent -> the signals that decide in it, however little what they bring resembles the question."""


def weigh(
    text: str, settings: Settings, intent: Intent, language: str
) -> tuple[dict[str, float], list[str]]:
    """Return the weight of each signal for a query, 0 or more, as its intent and language, or that of the
    notes where it leaves it open, change those of the settings; and in words what language changed.

    A model that does not read a language ranks by the names and numbers in it: as an equal, it
    would drag down what the words find (docs/decisions/words.md has the measurement).
    """
    retrieval = settings.retrieval
    weights = retrieval.weights.model_dump()
    if intent != "none":
        weights |= getattr(retrieval.intents, intent)
    read = languages_read(settings.embedding.model)
    asked = None if read is None else clear_language(text)
    # Notes in no language that is known may be lists, code or what else: that is no reason.
    spoken = asked or ("" if language == "und" else language)
    left = weights | {"semantic": weights["semantic"] * retrieval.unread_share}
    # The last signal that finds hits is left as it is: something has to rank.
    reads = read is None or not spoken or spoken in read or retrieval.unread_share == 1
    if reads or not any(left.values()):
        return weights, []
    whose = "the query is in" if asked else "the notes are in"
    reason = f"{whose} {NAMES.get(spoken, spoken)}, which the embedding model does not read"
    return left, [reason]
