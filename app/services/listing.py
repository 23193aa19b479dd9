"""Questions for a list of notes ("which projects are active?", "what did I do last week?"), read as
filters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from functools import reduce
from itertools import islice

from notehop.app.retrieval.filters.apply import Paths, notes_of
from notehop.app.retrieval.filters.parse import Condition
from notehop.app.retrieval.subject import SMALL
from notehop.app.services.period import Period, period_of
from notehop.indexing.stores.labels import TAG, TYPE, NoteLabels, property_key
from notehop.indexing.tokens import Tokenizer
from notehop.indexing.tokens.words import fold
from notehop.indexing.vault.dates import day_in_name

LONGEST = 4
"""Words beside the small ones that may name what is to be listed."""

BEGINNING = 3
"""Letters of a word that a value has to have for it to be read: endings differ."""

CHOICES = 64
"""Ways to read a question that are tried."""

_ASKS = re.compile(
    r"^(?:please |can you |could you )?(?:list|show|give me|name|all|every|which|how many"
    r"|who (?:is |are |else is |s )?(?:on|in|at|part of)|who are|wer (?:ist|sind) (?:im|in)"
    r"|what (?!s\b|is\b|was\b|does\b|did\b|do\b|has\b|have\b)"
    r"|welche|wie viele|nenne|zeige?|alle|quels|quelles|combien|cuales|cuant[oa]s|quali|quant[ie]"
    r"|quais|quant[oa]s|welke|hoeveel|vilka|hur manga)\b"
)
_ASKS_OF_A_TIME = re.compile(
    rf"{_ASKS.pattern}"
    r"|^(?:notes|notizen|anything|what (?!(?:is|s|are|will|shall|should|can)\b)"
    r"|was (?!(?:ist|sind|wird|soll)\b))"
)
_OF_A_KIND = re.compile(r"^(?:what|who) (?:are|were)\b")
"""Asks for what notes say, unless they are of that kind: "what are the risks?"."""

_WORD = re.compile(r"[^\W_]+")
_ASKING = frozenset(
    (
        "all", "any", "anything", "count", "current", "currently", "entries", "every", "exist",
        "exists", "files", "find", "folder", "get", "gibt", "give", "got", "have", "kind", "kinds",
        "list", "listed", "many", "me", "moment", "my", "name", "notas", "note", "notes", "notiz",
        "notizen", "now", "our", "page", "pages", "please", "right", "show", "status", "tagged",
        "there", "they", "those", "today", "type", "vault", "viele", "we", "what", "which", "who",
        "zeige",
    )
)  # fmt: skip
"""Words of a question that name nothing that is to be listed."""

_DONE = frozenset(
    (
        "add", "added", "create", "created", "did", "do", "does", "done", "gemacht", "geschrieben",
        "going", "happen", "happened", "happening", "has", "log", "logged", "new", "passiert", "up",
        "war", "was", "were", "work", "worked", "write", "written", "wrote",
    )
)  # fmt: skip
"""Words of a question for a time that name nothing that is to be listed."""

_NO_KIND = frozenset(
    ("type", "tag", "tags", "alias", "aliases", "title", "created", "updated", "date", "id")
)
"""Properties that are asked for in another way, or say nothing of what a note is."""

Named = tuple[frozenset[str], Condition]
"""Words of a question, as the index has them, and what they name."""

_SINGULAR = {"people": "person", "persons": "person", "men": "man", "women": "woman"}


def listing(
    text: str, labels: NoteLabels, tokenizer: Tokenizer, today: date
) -> tuple[Condition, ...]:
    """What the notes have to meet that a question wants listed; empty where it asks for something
    else, or has a word that is no type, property, tag, folder or time of the vault.

    :param text: a question without filters.
    """
    period = period_of(text, today)
    plain = _plain(text if period is None else period.rest)
    if not (_ASKS if period is None else _ASKS_OF_A_TIME).search(plain):
        return ()
    named = [word for word in plain.split() if word not in SMALL | _ASKING]
    left_over = named if period is None else [word for word in named if word not in _DONE]
    if len(left_over) > LONGEST or len(named) > 2 * LONGEST or (period is None and not named):
        return ()
    found = _candidates(plain, labels, tokenizer)
    if period is not None:
        kinds = frozenset[str]().union(*(words for words, _ in found))
        named = [
            word
            for word in named
            if word in left_over or not kinds.isdisjoint(_tokens(word, tokenizer))
        ]
    tokens = _tokens(" ".join(named), tokenizer) if named else []
    read: list[tuple[int, tuple[Condition, ...]]] = []
    for chosen in islice(_covering(tokens, found), CHOICES):
        notes = [notes_of(one, labels, today) for one in chosen]
        if period is not None:
            notes.append(labels.dated(period.first.isoformat(), period.end.isoformat()))
        left = reduce(frozenset.intersection, notes)
        if _is_a_kind(chosen, left, plain, period):
            read.append((len(left), chosen))
    most = max((count for count, _ in read), default=0)
    # A type says what a note is; a folder of twice as many may be what people mean.
    best = next((chosen for count, chosen in read if count and 2 * count >= most), None)
    if best is None:
        return ()
    return best if period is None else (*best, *_within(period))


def nothing_dated(text: str, labels: NoteLabels, today: date) -> str | None:
    """The days that a question names and asks for nothing else of, if no note is dated so."""
    period = period_of(text, today)
    if period is None or period.end - period.first > timedelta(days=31):
        return None
    plain = _plain(period.rest)
    if not _ASKS_OF_A_TIME.search(plain) or set(plain.split()) - SMALL - _ASKING - _DONE:
        return None
    if labels.dated(period.first.isoformat(), period.end.isoformat()):
        return None
    last = period.end - timedelta(days=1)
    return f"{period.first}" if last == period.first else f"{period.first} to {last}"


def _is_a_kind(chosen: Sequence[Condition], left: Paths, plain: str, period: Period | None) -> bool:
    """Whether the notes are what is asked for, and not what they say."""
    if any(one.kind in ("type", "property") for one in chosen):
        return True
    if period is not None:
        # The time of a file says little: a copy of the vault has new ones.
        few = period.end - period.first <= timedelta(days=31)
        return bool(chosen) or (few and any(day_in_name(path) for path in left))
    # One note with a tag may hold the list that is asked for.
    return len(left) > 1 and not _OF_A_KIND.search(plain)


def _within(period: Period) -> Iterator[Condition]:
    yield Condition("after", period.first.isoformat())
    yield Condition("before", period.end.isoformat())


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(fold(text).casefold()))


def _tokens(text: str, tokenizer: Tokenizer) -> list[str]:
    """The words of a text as the index has them, small ones too."""
    return tokenizer(" ".join(_SINGULAR.get(word, word) for word in _plain(text).split()))


def _candidates(plain: str, labels: NoteLabels, tokenizer: Tokenizer) -> list[Named]:
    """Conditions all of whose words a question has, and those words; the surest kind first."""

    def named(text: str) -> frozenset[str]:
        return frozenset(_tokens(text, tokenizer))

    asked = named(plain)
    said = [word for word in plain.split() if word not in SMALL | _ASKING]
    begins = {word[:BEGINNING] for word in (*said, *_tokens(" ".join(said), tokenizer))}
    one_of_them = re.compile(rf"(?<![^\W_])(?:{'|'.join(map(_beginning, sorted(begins)))})")
    types, properties = list[Named](), list[Named]()
    tags, folders = list[Named](), list[Named]()
    for name, value in labels.with_any(begins):
        if value != "true" and one_of_them.search(value) is None:
            continue
        key = property_key(name)
        if name == TYPE:
            if (words := named(value)) and words <= asked:
                types.append((words, Condition("type", value)))
        elif name == TAG:
            if (words := named(value.rpartition("/")[2])) and words <= asked:
                tags.append((words, Condition("tag", value)))
        elif key is not None and key not in _NO_KIND and not value.startswith("[["):
            properties += _of_property(key, value, named(key), named(value), asked)
    for folder in _folders(labels.paths()):
        if (words := named(folder.rpartition("/")[2])) and words <= asked:
            folders.append((words, Condition("path", folder)))
    return [*types, *properties, *tags, *folders]


def _beginning(word: str) -> str:
    return re.escape(word) + (r"(?![^\W_])" if len(word) < BEGINNING else "")


def _of_property(
    key: str, value: str, key_words: frozenset[str], words: frozenset[str], asked: frozenset[str]
) -> Iterator[Named]:
    by_key = key_words & asked
    if value == "true":
        words = key_words
    elif by_key == key_words and 1 < len(words) <= LONGEST:
        # "Which projects does Nuria lead?" has one of her names.
        words = (words & asked) - key_words
    if words and words <= asked and (by_key or not value[0].isdigit()):
        yield words | by_key, Condition("property", value, key)


def _folders(paths: Iterable[str]) -> list[str]:
    """The folders that hold notes, and those that these lie in, sorted."""
    found: set[str] = set()
    for folder in {path.rpartition("/")[0] for path in paths}:
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return sorted(found)


def _covering(tokens: Sequence[str], found: Sequence[Named]) -> Iterator[tuple[Condition, ...]]:
    """The ways to say all of the words by conditions."""
    if not tokens:
        yield ()
        return
    for words, condition in found:
        if tokens[0] in words:
            left = [token for token in tokens if token not in words]
            for rest in _covering(left, found):
                yield (condition, *rest)
