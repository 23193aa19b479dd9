"""A question beside the vault that it is asked of: its words as the index has them, what they name there, and
the lines of properties."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property, reduce
from itertools import chain, islice
from pathlib import Path
from unicodedata import normalize

from notehop.app.answer.quotes.passages import split_properties
from notehop.app.answer.quotes.reading import is_about_person
from notehop.app.retrieval.filters import AllowedChunks, Condition, Kind, Paths, among, notes_of
from notehop.app.retrieval.intents import SMALL
from notehop.indexing.stores.labels import TAG, TYPE, key_label, property_key, property_label
from notehop.indexing.stores.model import ChunkId, LinkRow, NoteRow
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens.tokenizer import Tokenizer
from notehop.indexing.tokens.words import fold
from notehop.indexing.vault.dates import day_in_name
from notehop.indexing.vault.properties import inline_fields

LONGEST = 4  # words beside the small ones that may name what is to be listed
BEGINNING = 3  # letters of a word that a value has to have for it to be read: endings differ
YEAR_LONG = timedelta(days=366)
CHOICES = 64  # ways to read a question that are tried
ANYWHERE = "**/"  # what a glob for a folder begins with
_MARKS = "\u0300\u0301\u0302\u0303\u0308\u030a\u030c\u0327"  # that combine to accents

WORDS = tomllib.loads(Path(__file__).with_name("lists.toml").read_text("utf-8"))
NOT = re.compile(WORDS["not"])
ASKING, DONE = SMALL | {*WORDS["asking"]}, frozenset(WORDS["done"])
_BESIDE = frozenset(WORDS["beside"])
HAVING, NO_KIND = frozenset(WORDS["having"]), frozenset(WORDS["no_kind"])
YEAR = re.compile(r"(?:19|20)\d\d")
_OF_A_DAY = SMALL | {*WORDS["of_a_day"]}
_WORD = re.compile(r"[^\W_]+")
_LINE = re.compile(r".+")
_DOER = re.compile(WORDS["doer"])
_GOES_ON, _IS_DONE = re.compile(WORDS["goes_on"]), re.compile(WORDS["is_done"])

Named = tuple[frozenset[str], Condition]
"""Words of a question, as the index has them, and what they name."""
Line = tuple[ChunkId, str, int]
"""A line of a note: its passage, text and number."""


@dataclass(frozen=True)
class VaultQuestion:
    """A question, and the vault of which it is asked.

    ``is_template`` says by its path whether a note is a template that the question does not ask for;
    ``allowed`` are the passages that may be looked at, None for all.
    """

    text: str
    view: Snapshot
    tokenizer: Tokenizer
    is_template: Callable[[str], bool]
    allowed: AllowedChunks = None
    today: date = field(default_factory=date.today)
    _named: dict[str, list[Named]] = field(default_factory=dict, repr=False)

    @cached_property
    def plain(self) -> str:
        return plain_words(self.text)

    @cached_property
    def days(self) -> Paths:
        """The notes that are called by a day, without templates."""
        paths = self.view.labels.paths()
        return frozenset(one for one in paths if day_in_name(one) and not self.is_template(one))

    @cached_property
    def last_year(self) -> date:
        """A year before the newest note that is called by a day up to today; the first day for none."""
        days = filter(None, map(day_in_name, self.days))
        newest = max((one for one in days if one <= self.today), default=date.min + YEAR_LONG)
        return newest - YEAR_LONG

    @cached_property
    def words_for_days(self) -> frozenset[str]:
        """Those of which a list of days is asked for, as the index has them."""
        return frozenset(self.tokens(WORDS["of_a_day"]))

    def tokens(self, said: str | Iterable[str]) -> list[str]:
        """The words of a text as the index has them, small ones too."""
        words = plain_words(said if isinstance(said, str) else " ".join(said)).split()
        return self.tokenizer(" ".join(WORDS["singular"].get(word, word) for word in words))

    def key_words(self, key: str, asked: Collection[str]) -> frozenset[str]:
        """The words of a key that are asked for, where all of them are: who owns a thing is its owner."""
        each = map(self.tokens, dict.fromkeys((key, _DOER.sub("", key))))
        return next((frozenset(one) for one in each if one and {*one} <= {*asked}), frozenset())

    def key_of_a_day(self, key: str, asked: Collection[str]) -> frozenset[str]:
        """As :meth:`key_words`, of a key whose value is a day: what was read has a "date read"."""
        words = (word for word in plain_words(key).split() if word not in _OF_A_DAY)
        own = self.key_words(" ".join(words) or key, asked)
        return own and own.union({*asked}.intersection(self.tokens(key)))

    def candidates(self, plain: str) -> list[Named]:
        """Conditions all of whose words a text has, and those words; the surest kind first."""
        if plain not in self._named:
            found = [*chain.from_iterable(self._candidates(plain).values())]
            asked = self.tokens(plain)
            # An "unknown status" is no unknown place.
            under = {one.value: one.key for _, one in found if self.key_words(one.key, asked)}
            self._named[plain] = [
                each for each in found if each[1].key in ("", under.get(each[1].value, each[1].key))
            ]
        return self._named[plain]

    def _candidates(self, plain: str) -> dict[str, list[Named]]:
        def named(text: str) -> frozenset[str]:
            return frozenset(self.tokens(text))

        labels, asked, said = self.view.labels, named(plain), telling(plain)
        begins = {word[:BEGINNING] for word in (*said, *self.tokens(said))}
        patterns = (
            re.escape(word) + (r"(?![^\W_])" if len(word) < BEGINNING else "")
            for word in sorted(begins)
        )
        one_of_them = re.compile(rf"(?<![^\W_])(?:{'|'.join(patterns)})")
        opposite = {(not on, token) for on, token in self._states(" ".join(said))}
        found: dict[str, list[Named]] = {"type": [], "property": [], "tag": [], "path": []}

        def add(kind: Kind, words: frozenset[str], value: str) -> None:
            if words and words <= asked:
                found[kind].append((words, Condition(kind, value)))

        for name, value in labels.with_any(accented(begins)):
            if value != "true" and one_of_them.search(fold(value).casefold()) is None:
                continue
            key = property_key(name)
            if name == TYPE:
                add("type", named(value), value)
            elif name == TAG:
                add("tag", named(value.rpartition("/")[2]), value)
            elif key is not None and key not in NO_KIND and not value.startswith("[["):
                whole, words = named(key), named(value)
                full = self.key_words(key, asked)
                by_key = full or whole & asked
                if value == "true":
                    words = whole
                elif full and 1 < len(words) <= LONGEST and not words <= asked:
                    # "Which projects does Nuria lead?" has one of her names.
                    words = frozenset(one for one in words & asked if not one.isdigit()) - by_key
                if (
                    words
                    and words <= asked
                    and (by_key or not value[0].isdigit() or YEAR.fullmatch(value))
                    and opposite.isdisjoint(self._states(value))
                ):
                    found["property"].append((words | by_key, Condition("property", value, key)))
        same_name: dict[str, list[str]] = {}
        for folder in folders_of(labels.paths()):
            same_name.setdefault(folder.rpartition("/")[2].casefold(), []).append(folder)
        for folders in same_name.values():
            name = folders[0].rpartition("/")[2]
            for folder in ([f"{ANYWHERE}{name}/**"] if len(folders) > 1 else []) + folders:
                add("path", named(name), folder)
        return found

    def _states(self, text: str) -> set[tuple[bool, str]]:
        """The words that say that something goes on, or that it is done (False), as the index has them,
        which has one word for both: books that I am reading are not those that I read."""
        said = ((_GOES_ON.search(word), word) for word in plain_words(text).split())
        return {
            (on is not None, token)
            for on, word in said
            if on or _IS_DONE.search(word)
            for token in self.tokens(word)
        }

    def readings(
        self, tokens: Sequence[str], found: Sequence[Named]
    ) -> Iterator[tuple[Condition, ...]]:
        """The first ways to say all of the words by conditions; none of them is looked for in vain."""
        return islice(_covering(tokens, found), CHOICES)

    def notes_meeting(self, conditions: Iterable[Condition]) -> Paths:
        """The notes that meet them all, today; all notes for none."""
        labels = self.view.labels
        each = [notes_of(one, labels, self.today) for one in conditions]
        return reduce(frozenset.intersection, each) if each else frozenset(labels.paths())

    def notes_called(self, tokens: Sequence[str], found: Sequence[Named]) -> Paths:
        """The notes that all of the words name, however they are read; all notes for no words."""
        return Paths().union(*map(self.notes_meeting, self.readings(tokens, found)))

    def filed_under(self, paths: Iterable[str]) -> set[str]:
        """The notes that belong to any of these by a property that is one link ("project: [[Petrel]]"); who
        is named in a note does not have it."""
        view, things = self.view, list[str]()
        for path, row in view.notes_at({*paths}).items():
            folder = path.rpartition("/")[0]
            if not is_about_person({"folder": folder, "type": row.page_type, "tags": row.tags}):
                things.append(path)
        linked = (one for one in view.links_to(things) if one.property)
        filed = [one for one in linked if plain_words(one.property or "") not in _BESIDE]
        links = Counter(map(_place_of, view.links_from({one.path for one in filed})))
        return {one.path for one in filed if links[_place_of(one)] == 1}

    def linked_by_part(self, plain: str) -> list[Named]:
        """Properties that link to a note, by the words of its name that a text has; none for words of two."""
        asked = {one for one in self.tokens(telling(plain)) if not one.isdigit()}
        rows = self.view.labels.with_any(accented({one[:BEGINNING] for one in telling(plain)}))
        links = {(name, value[2:].rstrip("]")) for name, value in rows if value.startswith("[[")}
        notes = self.view.named_any(value for _, value in links)
        found: dict[tuple[str, frozenset[str]], list[Condition]] = {}
        for name, value in sorted(links):
            key, words = property_key(name), frozenset(asked.intersection(self.tokens(value)))
            if key is not None and key not in NO_KIND and words and value in notes:
                found.setdefault((key, words), []).append(Condition("property", value, key))
        return [(words, those[0]) for (_, words), those in found.items() if len(those) == 1]

    def values(self, key: str) -> dict[str, Paths]:
        """The values of a property, other than an empty one, and the notes with each."""
        labels, label = self.view.labels, property_label(key)
        return {value: labels.having(label, value) for value in labels.values(label) if value}

    def lack_said(self, paths: Paths, listed: Collection[str]) -> str:
        """How many notes, templates aside, have none of what those that are listed have, and another
        property that these have: what else lies in their folder is of another kind."""
        rows = self.view.notes_at({*paths, *listed})
        keys = {*chain.from_iterable(rows[one].front_matter for one in listed)} - NO_KIND
        alike = (one for one in paths if not keys or not keys.isdisjoint(rows[one].front_matter))
        count = sum(not self.is_template(one) for one in alike)
        return f" ({count:,} more {'has' if count == 1 else 'have'} none)" if count else ""

    def line_of(self, key: str, value: str | None, path: str) -> Line | None:
        """The line of a note's properties with a value, None for any: its passage, text and number; its
        first passage where none has it, or for an empty one, and None where none of the note is allowed."""
        ids = among((one.id for one in self.view.chunks_of(path)), self.allowed)
        chunks = self.view.chunks(() if value == "" else ids).values()
        for one in sorted(chunks, key=lambda one: one.kind != "properties"):
            found = [(each.text, each.ranges[0][0]) for each in split_properties(one.text)]
            for text, at in (*found, *_lines_and_fields(one.text)):
                name, _, said = text.strip("[(*_~ ").partition(":")
                if key_label(name.rstrip("*_~")) == key and (value or "") in said.casefold():
                    return one.id, text.strip(), one.first_line + one.text.count("\n", 0, at)
        return (ids[0], "", 0) if ids else None

    def lines_of(
        self, those: Iterable[tuple[str, str | None, str]]
    ) -> dict[ChunkId, tuple[str, int]]:
        """The lines of properties, each by its key, value and note, by their passages, the first of each;
        none of templates."""
        found: dict[ChunkId, tuple[str, int]] = {}
        for key, value, path in those:
            place = None if self.is_template(path) else self.line_of(key, value, path)
            if place and not found.get(place[0], ("", 0))[0]:
                found[place[0]] = place[1:]
        return found


def _lines_and_fields(text: str) -> Iterator[tuple[str, int]]:
    """The lines of a text and where each begins; of one with inline fields, each of those."""
    for line in _LINE.finditer(text):
        places = [place for _, _, place in inline_fields(line[0])]
        for start, end in places or [(0, len(line[0]))]:
            yield line[0][start:end], line.start() + start


def _place_of(link: LinkRow) -> tuple[str, str]:
    """The note and property of a link; one of a list has its number behind it."""
    return link.path, (link.property or "").partition(".")[0]


def saying_a_day(rows: Mapping[str, NoteRow]) -> list[str]:
    """The notes that say of what day they are: the time of a file says little, a copy has a new one."""
    return [path for path, row in rows.items() if row.created is not None or day_in_name(path)]


def telling(plain: str) -> list[str]:
    """The words of a question that tell what is to be listed."""
    return [word for word in plain.split() if word not in ASKING]


def plain_words(text: str) -> str:
    return " ".join(_WORD.findall(fold(text).casefold()))


def accented(beginnings: Iterable[str]) -> list[str]:
    """The beginnings of words, and what they are with an accent on one of their letters."""
    found = []
    for begins in sorted(beginnings):
        found.append(begins)
        for at, letter in enumerate(begins):
            with_marks = (normalize("NFC", letter + mark) for mark in _MARKS)
            found += (
                f"{begins[:at]}{one}{begins[at + 1 :]}" for one in with_marks if len(one) == 1
            )
    return found


def folders_of(paths: Iterable[str]) -> list[str]:
    """The folders that hold notes, and those that these lie in, sorted."""
    found: set[str] = set()
    for folder in {path.rpartition("/")[0] for path in paths}:
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return sorted(found)


def _covering(tokens: Sequence[str], found: Sequence[Named]) -> Iterator[tuple[Condition, ...]]:
    if not tokens:
        yield ()
        return
    if not {*tokens} <= {*chain.from_iterable(words for words, _ in found)}:
        return
    for words, condition in found:
        if tokens[0] in words:
            left = [token for token in tokens if token not in words]
            for rest in _covering(left, found):
                yield (condition, *rest)
