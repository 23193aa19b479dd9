"""The lines of notes that a question asks for: with a day of a property ("contracts that end in 2026"), with
another value of one ("invoices that are not paid"), saying who has a role ("who is the technician?"), or what
a property of a note that is named says ("pages of the Book of Knots")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from datetime import timedelta
from functools import cache, reduce
from itertools import chain, product

from notehop.app.answer.citations import fence_after
from notehop.app.answer.draft import MAX_QUOTED_NOTES
from notehop.app.answer.quotes.exact import SYNONYMS, WORD, is_agent_noun
from notehop.app.answer.quotes.question import parse_question
from notehop.app.lists.period import Period, day_said
from notehop.app.lists.vault_question import (
    BEGINNING,
    DONE,
    HAVING,
    LONGEST,
    NO_KIND,
    NOT,
    WORDS,
    Line,
    VaultQuestion,
    accented,
    plain_words,
    telling,
)
from notehop.app.retrieval.filters import Condition, Paths, among
from notehop.app.retrieval.intents import BEFORE, SMALL, Subject, bare, names_of
from notehop.indexing.stores.labels import TYPE, key_label, property_key
from notehop.indexing.stores.model import ChunkId, ChunkRow, NoteRow
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.vault.plain import sentence_spans

Lines = tuple[str, dict[ChunkId, tuple[str, int]]]
"""What the notes have in common whose lines these are, and the line of each, by its passage."""

ARTICLE = "|".join(map(re.escape, BEFORE))
LABELLED = re.compile(r"[\s>*_+(\[-]*(?P<key>[^\W\d_][^:\n]{0,40}):{1,2}[\s*_\[]*(?P<value>\S.*)")
_SAME_KEY: Sequence[Sequence[str]] = WORDS["typed"]["held"]
_HELD = rf"(?:{'|'.join(chain(*_SAME_KEY))})\s?[-+]\s?"
_TYPED = re.compile(
    rf"(?<![\w/.:<`-])(?:/[a-z][\w-]*(?![\w/.])|--[a-z][\w-]*|`[^`\n]+`"
    rf"|(?:{_HELD})+(?:{WORDS['typed']['key']})(?!\w))",
    re.IGNORECASE,
)
_OF_TYPED = frozenset(WORDS["typed"]["asking"]) | DONE
_ENTRY = (
    r"\s*(?:(?P<head>#+ )|\|\s*|[-*+] +)[*_`\[(]*(?:{})(?![\w-])(?(head)\W*(?:\w+\W*){{0,2}}$|.*\w)"
)
"""The beginning of a row, an item or a heading that says something of what is typed."""
_HEADED = re.compile(r"^#{1,6} ", re.MULTILINE)
_LETTER = re.compile(r"[^\W\d_]")
_OPEN_ENDED = re.compile(WORDS["open_ended"], re.IGNORECASE)
SUMS = frozenset(WORDS["sums"])
_ROLES = frozenset(WORDS["rewriting"]["roles"])
_WHO = re.compile(
    rf"^(?:(?P<who>{'|'.join(WORDS['rewriting']['who'])}) )?"
    rf"(?:{'|'.join(map(plain_words, BEFORE))}) (?P<role>.+)$"
)
_OF_A_NUMBER = frozenset(WORDS["of_a_number"])
_ELIDED = re.compile(r"\b(\w{1,2}['’])(?=\w{3})")  # "l'alarme"
SHORTENED = 3  # letters of a key that is the beginning of a word ("tel")
# Words that a role has, and lines that may tell who somebody is: more are of several things.
OF_A_ROLE = 3


def labelled(chunk: ChunkRow) -> Iterator[tuple[int, str, re.Match[str]]]:
    """The lines of a passage that begin as a property does, with their numbers; those of code do not."""
    fence = "```" if chunk.kind == "code" else None
    for number, line in enumerate(chunk.text.splitlines(), chunk.first_line):
        fence = fence_after(fence, line)
        if fence is None and (said := LABELLED.match(line)):
            yield number, line, said


def lines_called(question: VaultQuestion) -> Lines | None:
    """Read a question for no more than commands, flags or keys as typed ("what does /drop do?", "ctrl-r
    in Inkwell"): the rows, items and headings that begin with them; None where it is another, or one of them
    begins none, or several passages tell of it."""
    names = dict.fromkeys(one.strip("`") for one in _TYPED.findall(question.text))
    asked = telling(plain_words(_TYPED.sub("", question.text)))
    beside = frozenset(question.tokens(one for one in asked if one not in _OF_TYPED))
    lines: dict[ChunkId, tuple[str, int]] = {}
    for name in names:
        found = _entries(name, beside, question)
        if not found or len({*found, *lines}) > MAX_QUOTED_NOTES:
            return None
        for one, (text, number) in found.items():
            before, first = lines.get(one, ("", number))
            rows = text.split("\n")[2:] if before.startswith("|") else [text]
            lines[one] = "\n".join([*filter(None, [before]), *rows]), first
    return (f"What the notes have on {', '.join(names)}", lines) if lines else None


def _entries(
    name: str, beside: frozenset[str], question: VaultQuestion
) -> dict[ChunkId, tuple[str, int]]:
    """The entries that begin with what is typed, each by its passage, that have the words beside it or stand
    in a note with them."""
    view, lexical = question.view, question.view.lexical
    held = re.match(_HELD, name, re.IGNORECASE)
    keys = re.split(r"\s?[-+]\s?", name.casefold()) if held else [name]
    alike = [next((one for one in _SAME_KEY if key in one), (key,)) for key in keys]
    typed = r"\s?[-+ ]\s?".join(f"(?:{'|'.join(map(re.escape, one))})" for one in alike)
    begins = re.compile(_ENTRY.format(typed), re.IGNORECASE)
    said = product(
        map(question.tokens, map("-".join, product(*alike))), ("content", "h1", "h2", "h3")
    )
    ids = set().union(*(lexical.holding(words, field) for words, field in said))
    found: dict[ChunkId, tuple[str, int]] = {}
    for path in sorted({view.path_of(one) or "" for one in among(sorted(ids), question.allowed)}):
        table: list[str] = []  # the head of the one that goes on
        for chunk in view.chunks_of(path):
            fence, lines = None, chunk.text.split("\n")
            for at, line in enumerate(lines):
                fence = fence_after(fence, line)
                table = [*table, line][:2] if line.startswith("|") else []
                entry = None if fence or chunk.kind == "code" else begins.match(line)
                if entry is None:
                    continue
                text = "\n".join([*table, line])
                if entry["head"]:
                    text = _HEADED.split("\n".join(lines[at + 1 :]), maxsplit=1)[0].strip()
                if beside <= {*question.tokens(f"{path} {text}")} and _LETTER.search(text):
                    found.setdefault(chunk.id, (text, chunk.first_line + at))
    return found


def dated_lines(question: VaultQuestion, plain: str, period: Period) -> Lines | None:
    """Read a question for the notes with a day of a property, or in a line of their text that begins as one
    does, in a time ("which contracts end in 2026?", "birthdays in May"); None where it is another.

    :param plain: its words, without those of the time.
    """
    text, labels, named = question.text, question.view.labels, telling(plain)
    asked_words = question.tokens(named)
    words = question.tokens(word for word in named if word not in HAVING | DONE)
    if not named or max(len(words), len(named) / 2) > LONGEST:
        return None
    if NOT.search(plain) or _OPEN_ENDED.search(text) or period.bounded(text) is not period:
        return None
    kinds = question.candidates(plain)
    own_words = cache(lambda key: question.key_of_a_day(key, asked_words))
    in_text = [
        one
        for one in _lines_in_text(asked_words, period, question)
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
        rest = [word for word in words if word not in own]
        for path in notes & question.notes_called(rest, kinds):
            before = found.setdefault(path, (said, key, value, line))[3]
            several |= bool(line and before and line[2] != before[2])
    if several and all(line for *_, line in found.values()):
        return None  # one note with an entry for each
    lines: dict[ChunkId, tuple[str, int]] = {}
    for path, (_, key, value, line) in sorted(found.items(), key=lambda one: (one[1][0], one[0])):
        place = question.line_of(key, value, path)
        if place and not question.is_template(path):
            place = line or place
            lines[place[0]] = place[1:]
    keys = " or ".join(dict.fromkeys(key for _, key, _, _ in found.values()))
    last = period.end - timedelta(days=1)
    days = f"{period.first:%B}" if last > period.first else f"{period.first.day} {period.first:%B}"
    if not period.yearly:
        days = f"{period.first}" if last == period.first else f"{period.first} to {last}"
    return (f"{{has|have}} {keys} in {days}", lines) if lines else None


def _lines_in_text(
    words: Sequence[str], period: Period, question: VaultQuestion
) -> Iterator[tuple[str, str, Paths, Line]]:
    """The key, value, note and place of lines such as "Created: 2024-05-23", in passages with any of the
    words and a part of a day in that time."""

    def holding(*parts: str) -> set[ChunkId]:
        return question.view.lexical.holding(parts, "content")

    ids = set().union(*map(holding, words))
    ids &= set().union(*(holding(*question.tokenizer(part)) for part in period.written))
    for one in question.view.chunks(among(sorted(ids), question.allowed)).values():
        for number, line, said in labelled(one) if one.kind != "properties" else ():
            key, place = said["key"].rstrip("*_ "), (one.id, line.strip(), number)
            yield key_label(key), said["value"], frozenset([one.path]), place


def lines_of_others(
    question: VaultQuestion, kinds: Sequence[Condition], denied: Condition, within: Paths | None
) -> Lines | None:
    """The notes of some kinds that have another value of a property, or for an empty one do not have it."""
    paths = frozenset(one for one in question.notes_meeting(kinds) if not question.is_template(one))
    paths = paths if within is None else paths & within
    values = {value: notes & paths for value, notes in question.values(denied.key).items()}
    if denied.value:
        del_of = values.pop(denied.value, Paths())
        values = {value: notes - del_of for value, notes in values.items()}
        said = f"{{has|have}} another {denied.key} than {denied.value}"
    elif not any(values.values()):
        return None  # None of the kind has it: nothing says what it would be to have it.
    else:
        values = {"": paths.difference(*values.values())}
        said = f"{{has|have}} no {denied.key}"
    lines = question.lines_of(
        (denied.key, value, path) for value, notes in values.items() for path in sorted(notes)
    )
    return (said, lines) if lines else None


def line_of_named(question: VaultQuestion) -> tuple[str, Line] | None:
    """Read a question for a property, by its key, of the note that it names: the note's title, and the line;
    None where it asks for anything beside, or how or why."""
    forms, plain = {*parse_question(question.text).forms}, question.plain
    if forms & {"howto", "reason", "comparison"} or NOT.search(plain) or _OPEN_ENDED.search(plain):
        return None
    for paths, said in _notes_and_words(question):
        those = [path for path in paths if not question.is_template(path)]
        words = [word for word in said if word not in _OF_A_NUMBER] or said
        # Each word, and how else it is spelt.
        alike = [
            frozenset(question.tokenizer.weights([one], question.view.lexical))
            for one in question.tokens(words)
        ]
        if not alike or len(those) != 1:
            continue
        row = question.view.notes_at(those)[those[0]]
        for key in map(str, row.front_matter):
            begins = plain_words(key)
            own = frozenset(question.tokens(telling(begins)))
            shortened = len(begins) == SHORTENED and any(
                {begins, *words} <= one for one in SYNONYMS
            )
            does = "person" in forms and is_agent_noun(begins, said) and len(said) == 1
            named = own <= frozenset().union(*alike) and all(own & one for one in alike)
            if shortened or does or named:
                other = does and not named and not begins.startswith(tuple(alike[0]))
                place = _sentence_of_doer(alike[0], row, question) if other else None
                place = place or question.line_of(key_label(key), None, row.path)
                # Nobody, and no place, is called by a number or a day.
                value = place[1].rpartition(":")[2] if place else ""
                tells = _LETTER.search(value) or not forms & {"person", "place"}
                if place and place[1] and tells:
                    return row.title, place
    return None


def _sentence_of_doer(verb: Set[str], note: NoteRow, question: VaultQuestion) -> Line | None:
    """The sentence of a note in which somebody does with it what a verb says ("Ruth runs the marathon")."""
    about = {*question.tokens([note.title])}
    for chunk in question.view.chunks_of(note.path):
        for first, end in sentence_spans(chunk.text) if chunk.kind == "text" else ():
            words = WORD.findall(said := chunk.text[first:end].strip())
            who = (one[0].isupper() and one.casefold() not in SMALL for one in words)
            does = (not verb.isdisjoint(question.tokens([one])) for one in words[1:])
            if about & {*question.tokens(words)} and any(map(all, zip(who, does, strict=False))):
                return chunk.id, said, chunk.first_line + chunk.text.count("\n", 0, first)
    return None


def _notes_and_words(question: VaultQuestion) -> Iterator[tuple[Paths, Sequence[str]]]:
    """The notes of each name that stands in a question, the longest first, and the other words that tell
    something; where none does, the notes with some of its words in their titles."""
    view, text = question.view, _ELIDED.sub(r"\1 ", question.text)
    named = Subject(view, text, None).named
    for first, end in named:
        # "Ben" is a small word of another language, and somebody here.
        rest = plain_words(f"{text[:first]} {text[end:]}")
        small = (one for one in rest.split() if one in SMALL and question.tokenizer(one))
        yield named[first, end], telling(rest) + [one for one in small if view.notes_named(one)]
    titles = {
        word: frozenset(filter(None, view.paths_of(view.lexical.holding(own, "title"))))
        for word in (() if named else telling(plain_words(text)))
        if (own := question.tokens(word))
    }
    if called := [paths for paths in titles.values() if paths]:
        yield reduce(frozenset.intersection, called), [one for one in titles if not titles[one]]


def lines_of_role(question: VaultQuestion) -> Lines | None:
    """Read a question for who has a role, or belongs to a group; None where it is another, or no note says so
    by a property or in a line that begins with it ("Committee: Ida, Per"); a role alone ("the chair?") is
    asked for as a property has it."""
    view, found = question.view, _WHO.match(question.plain)
    role, whole = (found["role"], not found["who"]) if found else ("", False)
    tokens = question.tokens(role)
    if not 0 < len(tokens) <= OF_A_ROLE or view.named_any(names_of(role)):
        return None
    lines: dict[ChunkId, tuple[str, int]] = {}
    ids = among(sorted(view.lexical.holding(tokens, "content")), question.allowed)
    for one in view.chunks(() if whole else ids).values():
        for number, line, said in labelled(one) if one.kind != "properties" else ():
            if question.tokens(said["key"]) == tokens and not question.is_template(one.path):
                lines[one.id] = line.strip(), number
    if len(lines) > OF_A_ROLE:
        lines = {}
    known = sorted(roles_in(role, view), key=lambda one: role not in one[1].split())
    # Who is the president is no honorary president, where somebody is just that.
    so = [one for one in known if is_role(one[0]) and plain_words(one[1]) == role]
    for key, value, notes in so or (() if whole else known):
        # A mother-in-law is no mother.
        words = value.casefold().split()
        stems = [" ".join(question.tokens(one)) for one in words]
        begins, ends = stems[: len(tokens)] == tokens, stems[-len(tokens) :] == tokens
        # The assistant to the director is another than the director.
        apart = len(words) > len(tokens) and words[-len(tokens) - 1] in SMALL
        if stems == tokens or (is_role(key) and (begins or (ends and not apart))):
            places = question.lines_of((key, value, path) for path in sorted(notes))
            lines |= {one: line for one, line in places.items() if line[0]}
    ends_of = (question.text[one.start() :] for one in re.finditer(r"\w+", question.text))
    typed = next((bare(one) for one in ends_of if plain_words(one) == role), role)
    return (f"{{tells|tell}} of the {typed}", lines) if lines else None


def roles_in(plain: str, view: Snapshot) -> Iterator[tuple[str, str, Paths]]:
    """The key and value of the properties whose value may have words of a text, and their notes."""
    begins = {word[:BEGINNING] for word in telling(plain)}
    for name, value in view.labels.with_any(accented(begins)):
        key = property_key(name) or (TYPE if name == TYPE else None)
        if key is not None and (key == TYPE or key not in NO_KIND) and value != "true":
            yield key, value, view.labels.having(name, value)


def is_role(key: str) -> bool:
    return not _ROLES.isdisjoint(plain_words(key).split())
