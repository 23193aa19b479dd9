"""The lines of notes that a question asks for: with a day of a property ("contracts that end in 2026"), with
another value of one ("invoices that are not paid"), saying who has a role ("who is the technician?"), or what
a property of a note that is named says ("pages of the Book of Knots")."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from functools import cache, reduce
from itertools import chain, islice

from notehop.app.answer.passages import properties
from notehop.app.answer.question import SAID_ALIKE, read
from notehop.app.lists.kinds import (
    BEGINNING,
    CHOICES,
    DONE,
    HAVING,
    LONGEST,
    NO_KIND,
    NOT,
    WORDS,
    accented,
    asks_for_a_list,
    candidates,
    covering,
    key_of_a_day,
    key_words,
    notes_meeting,
    plain_words,
    telling,
    tokens_of,
)
from notehop.app.lists.period import Period, day_said
from notehop.app.retrieval.filters import AllowedChunks, Condition, Narrowed, Paths, among, notes_of
from notehop.app.retrieval.intents import BEFORE, SMALL, Subject, bare, names_of
from notehop.indexing.stores.labels import TYPE, key_label, property_key, property_label
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens.tokenizer import Tokenizer

Line = tuple[ChunkId, str, int]
"""A line of a note: its passage, text and number."""
Lines = tuple[str, dict[ChunkId, tuple[str, int]]]
"""What the notes have in common whose lines these are, and the line of each, by its passage."""

ARTICLE = "|".join(map(re.escape, BEFORE))
LABELLED = re.compile(r"[\s>*_+(\[-]*(?P<key>[^\W\d_][^:\n]{0,40}):{1,2}[\s*_\[]*(?P<value>\S.*)")
_TEXT = re.compile(r".+")
_LETTER = re.compile(r"[^\W\d_]")
_OPEN_ENDED = re.compile(WORDS["open_ended"], re.IGNORECASE)
_SUMS, _WHAT_THEY_HAVE = frozenset(WORDS["sums"]), re.compile(WORDS["what_they_have"])
_ROLES = frozenset(WORDS["rewriting"]["roles"])
_WHO = re.compile(
    rf"^(?:(?P<who>{'|'.join(WORDS['rewriting']['who'])}) )?"
    rf"(?:{'|'.join(map(plain_words, BEFORE))}) (?P<role>.+)$"
)
_OF_A_NUMBER = frozenset(WORDS["of_a_number"])
_ELIDED = re.compile(r"\b(\w{1,2}['’])(?=\w{3})")  # "l'alarme"
SHORTENED = 3  # letters of a key that is the beginning of a word ("tel")
OF_A_ROLE = (
    3  # words that it has, and lines that may tell who somebody is: more are of several things
)


def dated_lines(
    plain: str,
    period: Period,
    asked: Narrowed,
    view: Snapshot,
    tokenizer: Tokenizer,
    is_template: Callable[[str], bool],
) -> Lines | None:
    """Read a question for the notes with a day of a property, or in a line of their text that begins as one
    does, in a time ("which contracts end in 2026?", "birthdays in May"); None where it is another."""
    labels, named = view.labels, telling(plain)
    asked_words = tokens_of(" ".join(named), tokenizer)
    words = tokens_of(" ".join(word for word in named if word not in HAVING | DONE), tokenizer)
    if not named or max(len(words), len(named) / 2) > LONGEST:
        return None
    if (
        NOT.search(plain)
        or _OPEN_ENDED.search(asked.text)
        or period.bounded(asked.text) is not period
    ):
        return None
    kinds = candidates(plain, labels, tokenizer)
    own_words = cache(lambda key: key_of_a_day(key, asked_words, tokenizer))
    in_text = [
        one
        for one in _lines_in_text(asked_words, period, asked, view, tokenizer)
        # Of a longer time, notes say by their names and properties when they were made.
        if period.end - period.first <= timedelta(days=1) or one[0] not in NO_KIND
    ]
    found: dict[str, tuple[tuple[int, ...], str, str, Line | None]] = {}
    properties = (
        (key, value.strip("['\"]"), labels.having(name, value), None)
        for name, value in labels.with_any(period.written)
        if (key := property_key(name)) is not None
        # The day of a link without quotes in the front matter was not read.
        if key not in NO_KIND or value[:2] == "['" or any(key == one[1] for one in found.values())
    )
    several = False
    for key, value, notes, line in chain(in_text, properties):
        own = own_words(key)
        day = day_said(value, yearly=period.yearly) if own else None
        if day is None or not period.holds(day):
            continue
        said = day.timetuple()[period.yearly : 3]
        for chosen in islice(covering([word for word in words if word not in own], kinds), CHOICES):
            those = (notes_of(one, labels, date.today()) for one in chosen)
            for path in reduce(frozenset.intersection, those, notes):
                before = found.setdefault(path, (said, key, value, line))[3]
                several |= bool(line and before and line[2] != before[2])
    if several and all(line for *_, line in found.values()):
        return None  # one note with an entry for each
    ordered = sorted(found.items(), key=lambda item: (item[1][0], item[0]))
    lines: dict[ChunkId, tuple[str, int]] = {}
    for path, (_, key, value, line) in ordered:
        place = line_of(key, value, path, view, asked.allowed)
        if place and not is_template(path):
            place = line or place
            lines[place[0]] = place[1:]
    keys = " or ".join(dict.fromkeys(key for _, key, _, _ in found.values()))
    last = period.end - timedelta(days=1)
    days = f"{period.first:%B}" if last > period.first else f"{period.first.day} {period.first:%B}"
    if not period.yearly:
        days = f"{period.first}" if last == period.first else f"{period.first} to {last}"
    return (f"{{has|have}} {keys} in {days}", lines) if lines else None


def _lines_in_text(
    words: Sequence[str], period: Period, asked: Narrowed, view: Snapshot, tokenizer: Tokenizer
) -> Iterator[tuple[str, str, Paths, Line]]:
    """The key, value, note and place of lines such as "Created: 2024-05-23", in passages with any of the
    words and a part of a day in that time."""

    def holding(*parts: str) -> set[ChunkId]:
        return view.lexical.holding(parts, "content")

    ids = set().union(*map(holding, words))
    ids &= set().union(*(holding(*tokenizer(part)) for part in period.written))
    for one in view.chunks(among(sorted(ids), asked.allowed)).values():
        for number, line in enumerate(one.text.splitlines()):
            if one.kind != "properties" and (said := LABELLED.match(line)):
                key, place = (
                    said["key"].rstrip("*_ "),
                    (one.id, line.strip(), one.first_line + number),
                )
                yield key_label(key), said["value"], frozenset([one.path]), place


def line_of(
    key: str, value: str | None, path: str, view: Snapshot, allowed: AllowedChunks
) -> Line | None:
    """The line of a note's properties with a value, None for any: its passage, text and number; its first
    passage where none has it, or for an empty one, and None where none of the note is allowed."""
    ids = among((one.id for one in view.chunks_of(path)), allowed)
    for one in view.chunks(() if value == "" else ids).values():
        found = [(each.text, each.ranges[0][0]) for each in properties(one.text)]
        for text, at in found or [(line[0], line.start()) for line in _TEXT.finditer(one.text)]:
            name, _, said = text.partition(":")
            if key_label(name) == key and (value or "") in said.casefold():
                return one.id, text.strip(), one.first_line + one.text.count("\n", 0, at)
    return (ids[0], "", 0) if ids else None


def lines_of_others(
    kinds: Sequence[Condition],
    denied: Condition,
    within: Paths | None,
    asked: Narrowed,
    view: Snapshot,
    is_template: Callable[[str], bool],
) -> Lines | None:
    """The notes of some kinds that have another value of a property, or for an empty one do not have it."""
    labels, key = view.labels, property_label(denied.key)
    paths = frozenset(path for path in notes_meeting(kinds, labels) if not is_template(path))
    paths = paths if within is None else paths & within
    values = {value: labels.having(key, value) & paths for value in labels.values(key) if value}
    lines: dict[ChunkId, tuple[str, int]] = {}
    if denied.value:
        paths -= values.get(denied.value, frozenset())
        said = f"{{has|have}} another {denied.key} than {denied.value}"
    else:
        if not any(values.values()):
            return None  # None of the kind has it: nothing says what it would be to have it.
        values = {"": paths.difference(*values.values())}
        said = f"{{has|have}} no {denied.key}"
    for value, notes in values.items():
        for path in sorted(paths & notes):
            if place := line_of(denied.key, value, path, view, asked.allowed):
                lines[place[0]] = place[1:]
    return (said, lines) if lines else None


def lines_of_property(
    asked: Narrowed, view: Snapshot, tokenizer: Tokenizer, is_template: Callable[[str], bool]
) -> Lines | None:
    """Read a question for what all notes of a kind have for a property ("deadlines of the grants"); None
    where it is another."""
    plain = plain_words(asked.text)
    if NOT.search(plain) or not (asks_for_a_list(plain) or _WHAT_THEY_HAVE.match(plain)):
        return None
    words = tokens_of(" ".join(telling(plain)), tokenizer)
    for key in view.labels.property_keys() if 1 < len(words) <= LONGEST else ():
        own = key_words(key, words, tokenizer)
        rest = [one for one in words if one not in own]
        kind = [one for one in rest if one not in _SUMS]
        found = candidates(plain, view.labels, tokenizer) if own and kind else []
        for chosen in islice(covering(kind, found), CHOICES if own and kind else 0):
            those = notes_meeting(chosen, view.labels)
            label = property_label(key)
            values = {
                one: view.labels.having(label, one) & those for one in view.labels.values(label)
            }
            lines: dict[ChunkId, tuple[str, int]] = {}
            for value, path in sorted((one, path) for one in values if one for path in values[one]):
                place = (
                    None if is_template(path) else line_of(key, value, path, view, asked.allowed)
                )
                if place and place[1]:
                    lines.setdefault(place[0], place[1:])
            if len(lines) > 1:
                summed = " (they are not added up)" if kind != rest else ""
                lack = those.difference(*values.values())
                if left := sum(not is_template(one) for one in lack):
                    summed += f" ({left:,} more {'has' if left == 1 else 'have'} none)"
                return f"{{has|have}} {key}{summed}", lines
    return None


def line_of_named(
    asked: Narrowed, view: Snapshot, tokenizer: Tokenizer, is_template: Callable[[str], bool]
) -> tuple[str, Line] | None:
    """Read a question for a property, by its key, of the note that it names: the note's title, and the line;
    None where it asks for anything beside, or how or why."""
    forms, plain = {*read(asked.text).forms}, plain_words(asked.text)
    if forms & {"howto", "reason", "comparison"} or NOT.search(plain) or _OPEN_ENDED.search(plain):
        return None
    for paths, said in _notes_and_words(asked.text, view, tokenizer):
        those = [path for path in paths if not is_template(path)]
        words = [word for word in said if word not in _OF_A_NUMBER] or said
        # Each word, and how else it is spelt.
        alike = [
            frozenset(tokenizer.weights([one], view.lexical))
            for one in tokens_of(" ".join(words), tokenizer)
        ]
        if not alike or len(those) != 1:
            continue
        row = view.notes_at(those)[those[0]]
        for key in map(str, row.front_matter):
            own = frozenset(tokens_of(" ".join(telling(plain_words(key))), tokenizer))
            begins = plain_words(key)
            shortened = len(begins) == SHORTENED and any(
                {begins, *words} <= one for one in SAID_ALIKE
            )
            if shortened or (own <= frozenset().union(*alike) and all(own & one for one in alike)):
                place = line_of(key_label(key), None, row.path, view, asked.allowed)
                # Nobody, and no place, is called by a number or a day.
                value = place[1].partition(":")[2] if place else ""
                tells = _LETTER.search(value) or not forms & {"person", "place"}
                if place and place[1] and tells:
                    return row.title, place
    return None


def _notes_and_words(
    text: str, view: Snapshot, tokenizer: Tokenizer
) -> Iterator[tuple[Paths, Sequence[str]]]:
    """The notes of each name that stands in a text, the longest first, and the other words that tell
    something; where none does, the notes with some of its words in their titles."""
    text = _ELIDED.sub(r"\1 ", text)
    named = Subject(view, text, None).named
    for first, end in sorted(named, key=lambda span: (span[0] - span[1], span[0])):
        # "Ben" is a small word of another language, and somebody here.
        rest = plain_words(f"{text[:first]} {text[end:]}")
        small = (one for one in rest.split() if one in SMALL and tokenizer(one))
        yield (named[first, end], telling(rest) + [one for one in small if view.notes_named(one)])
    titles = {
        word: frozenset(filter(None, view.paths_of(view.lexical.holding(own, "title"))))
        for word in (() if named else telling(plain_words(text)))
        if (own := tokens_of(word, tokenizer))
    }
    if called := [paths for paths in titles.values() if paths]:
        yield reduce(frozenset.intersection, called), [one for one in titles if not titles[one]]


def lines_of_role(
    asked: Narrowed, view: Snapshot, tokenizer: Tokenizer, is_template: Callable[[str], bool]
) -> Lines | None:
    """Read a question for who has a role, or belongs to a group; None where it is another, or no note says so
    by a property or in a line that begins with it ("Committee: Ida, Per"); a role alone ("the chair?") is
    asked for as a property has it."""
    found = _WHO.match(plain_words(asked.text))
    role, whole = (found["role"], not found["who"]) if found else ("", False)
    tokens = tokens_of(role, tokenizer)
    if not 0 < len(tokens) <= OF_A_ROLE or view.named_any(names_of(role)):
        return None
    lines: dict[ChunkId, tuple[str, int]] = {}
    ids = among(sorted(view.lexical.holding(tokens, "content")), asked.allowed)
    for one in view.chunks(() if whole else ids).values():
        for number, line in enumerate(one.text.splitlines(), one.first_line):
            said = None if one.kind == "properties" else LABELLED.match(line)
            if said and tokens_of(said["key"], tokenizer) == tokens and not is_template(one.path):
                lines[one.id] = line.strip(), number
    if len(lines) > OF_A_ROLE:
        lines = {}
    known = sorted(roles_in(role, view), key=lambda one: role not in one[1].split())
    # Who is the president is no honorary president, where somebody is just that.
    so = [one for one in known if is_role(one[0]) and plain_words(one[1]) == role]
    for key, value, notes in so or (() if whole else known):
        # A mother-in-law is no mother.
        words = value.casefold().split()
        stems = [" ".join(tokens_of(one, tokenizer)) for one in words]
        begins, ends = stems[: len(tokens)] == tokens, stems[-len(tokens) :] == tokens
        # The assistant to the director is another than the director.
        apart = len(words) > len(tokens) and words[-len(tokens) - 1] in SMALL
        if stems != tokens and not (is_role(key) and (begins or (ends and not apart))):
            continue
        for path in sorted(notes):
            place = None if is_template(path) else line_of(key, value, path, view, asked.allowed)
            if place and place[1]:
                lines[place[0]] = place[1:]
    ends_of = (asked.text[one.start() :] for one in re.finditer(r"\w+", asked.text))
    typed = next((bare(one) for one in ends_of if plain_words(one) == role), role)
    return (f"{{tells|tell}} of the {typed}", lines) if lines else None


def roles_in(plain: str, view: Snapshot) -> Iterator[tuple[str, str, Paths]]:
    """The key and value of the properties whose value may have words of a text, and their notes."""
    begins = {word[:BEGINNING] for word in telling(plain)}
    for name, value in view.labels.with_any([*chain.from_iterable(map(accented, sorted(begins)))]):
        key = property_key(name) or (TYPE if name == TYPE else None)
        if key is not None and (key == TYPE or key not in NO_KIND) and value != "true":
            yield key, value, view.labels.having(name, value)


def is_role(key: str) -> bool:
    return not _ROLES.isdisjoint(plain_words(key).split())
