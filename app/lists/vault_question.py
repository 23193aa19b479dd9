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
from notehop.app.answer.quotes.text_analyzer import is_about_person
from notehop.app.retrieval.filters import (
    AllowedChunks,
    Condition,
    ConditionKind,
    Paths,
    keep_allowed,
    notes_matching,
)
from notehop.app.retrieval.intents import ALL_FUNCTION_WORDS
from notehop.indexing.stores.filter_labels import TAG, TYPE, key_label, property_key, property_label
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.stores.rows import ChunkId, LinkRow, NoteRow
from notehop.indexing.tokens.tokenizer import Tokenizer
from notehop.indexing.tokens.words import fold
from notehop.indexing.vault.dates import day_in_name
from notehop.indexing.vault.properties import inline_fields

MAX_LIST_WORDS = 4  # words beside the small ones that may name what is to be listed
PREFIX_LETTERS = 3  # letters of a word that a value has to have for it to be read: endings differ
ONE_YEAR = timedelta(days=366)
MAX_INTERPRETATIONS = 64  # ways to read a question that are tried
ANY_FOLDER = "**/"  # what a glob for a folder begins with
_COMBINING_ACCENTS = "\u0300\u0301\u0302\u0303\u0308\u030a\u030c\u0327"  # that combine to accents

WORDS = tomllib.loads(Path(__file__).with_name("lists.toml").read_text("utf-8"))
NEGATION = re.compile(WORDS["not"])
ASKING_WORDS, ACTION_WORDS = ALL_FUNCTION_WORDS | {*WORDS["asking"]}, frozenset(WORDS["done"])
_MENTION_KEYS = frozenset(WORDS["beside"])
POSSESSION_WORDS, NON_KIND_KEYS = frozenset(WORDS["having"]), frozenset(WORDS["no_kind"])
YEAR_PATTERN = re.compile(r"(?:19|20)\d\d")
_DAY_WORDS = ALL_FUNCTION_WORDS | {*WORDS["of_a_day"]}
_WORD = re.compile(r"[^\W_]+")
_HYPHENATED = re.compile(r"[^\W_]+(?:-[^\W_]+)+")
_LINE = re.compile(r".+")
_DOER_SUFFIX = re.compile(WORDS["doer"])
_ONGOING_FORM, _DONE_FORM = re.compile(WORDS["goes_on"]), re.compile(WORDS["is_done"])

TermMatch = tuple[frozenset[str], Condition]
"""Tokens of a question, and the condition that they name."""
NoteLine = tuple[ChunkId, str, int]
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
    _matches: dict[str, list[TermMatch]] = field(default_factory=dict, repr=False)

    @cached_property
    def plain(self) -> str:
        return normalize_words(self.text)

    def content_words(self, plain: str) -> list[str]:
        """As :func:`content_words`, with the small words of what has a hyphen: "to-read" is not "read"."""
        hyphenated = {*normalize_words(" ".join(_HYPHENATED.findall(self.text))).split()}
        return [word for word in plain.split() if word not in ASKING_WORDS - hyphenated]

    @cached_property
    def dated_notes(self) -> Paths:
        """The notes that are called by a day, without templates."""
        paths = self.view.labels.paths()
        return frozenset(one for one in paths if day_in_name(one) and not self.is_template(one))

    @cached_property
    def year_before_newest(self) -> date:
        """A year before the newest note that is called by a day up to today; the first day for none."""
        days = filter(None, map(day_in_name, self.dated_notes))
        newest = max((one for one in days if one <= self.today), default=date.min + ONE_YEAR)
        return newest - ONE_YEAR

    @cached_property
    def day_tokens(self) -> frozenset[str]:
        """The tokens of the words that ask for a list of days."""
        return frozenset(self.tokens(WORDS["of_a_day"]))

    def tokens(self, text: str | Iterable[str]) -> list[str]:
        """Return the words of a text as the index has them, function words too."""
        words = normalize_words(text if isinstance(text, str) else " ".join(text)).split()
        return self.tokenizer(" ".join(WORDS["singular"].get(word, word) for word in words))

    def matched_key_tokens(self, key: str, asked_tokens: Collection[str]) -> frozenset[str]:
        """Return the tokens of a key if all of them are asked for: who owns a thing is its owner."""
        each = map(self.tokens, dict.fromkeys((key, _DOER_SUFFIX.sub("", key))))
        return next((frozenset(one) for one in each if one and {*one} <= {*asked_tokens}), frozenset())

    def matched_day_key_tokens(self, key: str, asked_tokens: Collection[str]) -> frozenset[str]:
        """As :meth:`matched_key_tokens`, for a key whose value is a day: what was read has a "date read"."""
        words = (word for word in normalize_words(key).split() if word not in _DAY_WORDS)
        key_tokens = self.matched_key_tokens(" ".join(words) or key, asked_tokens)
        return key_tokens and key_tokens.union({*asked_tokens}.intersection(self.tokens(key)))

    def match_terms(self, plain: str) -> list[TermMatch]:
        """Return the conditions all of whose words a text has, with those words; the surest kind first."""
        if plain not in self._matches:
            matches = [*chain.from_iterable(self._match_labels(plain).values())]
            question_tokens = self.tokens(plain)
            # An "unknown status" is no unknown place.
            under = {
                one.value: one.key for _, one in matches if self.matched_key_tokens(one.key, question_tokens)
            }
            self._matches[plain] = [
                each
                for each in matches
                if each[1].key in ("", under.get(each[1].value, each[1].key))
                # What is "to read" is not "read".
                and not any(each[0] < words for words, one in matches if one[::2] == each[1][::2])
            ]
        return self._matches[plain]

    def _match_labels(self, plain: str) -> dict[str, list[TermMatch]]:
        def text_tokens(text: str) -> frozenset[str]:
            return frozenset(self.tokens(text))

        labels, content = self.view.labels, content_words(plain)
        question_tokens = text_tokens(plain)
        begins = {word[:PREFIX_LETTERS] for word in (*content, *self.tokens(content))}
        patterns = (
            re.escape(word) + (r"(?![^\W_])" if len(word) < PREFIX_LETTERS else "") for word in sorted(begins)
        )
        one_of_them = re.compile(rf"(?<![^\W_])(?:{'|'.join(patterns)})")
        opposite = {(not on, token) for on, token in self._state_tokens(" ".join(content))}
        matches: dict[str, list[TermMatch]] = {"type": [], "property": [], "tag": [], "path": []}

        def add(kind: ConditionKind, words: frozenset[str], value: str) -> None:
            if words and words <= question_tokens:
                matches[kind].append((words, Condition(kind, value)))

        for name, value in labels.with_any(add_accents(begins)):
            if value != "true" and one_of_them.search(fold(value).casefold()) is None:
                continue
            key = property_key(name)
            if name == TYPE:
                add("type", text_tokens(value), value)
            elif name == TAG:
                add("tag", text_tokens(value.rpartition("/")[2]), value)
            elif key is not None and key not in NON_KIND_KEYS and not value.startswith("[["):
                key_tokens, words = text_tokens(key), text_tokens(value)
                full = self.matched_key_tokens(key, question_tokens)
                by_key = full or key_tokens & question_tokens
                if value == "true":
                    words = key_tokens
                elif full and 1 < len(words) <= MAX_LIST_WORDS and not words <= question_tokens:
                    # "Which projects does Nuria lead?" has one of her names.
                    words = frozenset(one for one in words & question_tokens if not one.isdigit())
                    words -= by_key
                if (
                    words
                    and words <= question_tokens
                    and (by_key or not value[0].isdigit() or YEAR_PATTERN.fullmatch(value))
                    and opposite.isdisjoint(self._state_tokens(value))
                ):
                    matches["property"].append((words | by_key, Condition("property", value, key)))
        same_name: dict[str, list[str]] = {}
        for folder in all_folders(labels.paths()):
            same_name.setdefault(folder.rpartition("/")[2].casefold(), []).append(folder)
        for folders in same_name.values():
            name = folders[0].rpartition("/")[2]
            for folder in ([f"{ANY_FOLDER}{name}/**"] if len(folders) > 1 else []) + folders:
                add("path", text_tokens(name), folder)
        return matches

    def _state_tokens(self, text: str) -> set[tuple[bool, str]]:
        """The words that say that something goes on, or that it is done (False), as the index has them,
        which has one word for both: books that I am reading are not those that I read."""
        forms = ((_ONGOING_FORM.search(word), word) for word in normalize_words(text).split())
        return {
            (on is not None, token)
            for on, word in forms
            if on or _DONE_FORM.search(word)
            for token in self.tokens(word)
        }

    def interpretations(
        self, tokens: Sequence[str], matches: Sequence[TermMatch]
    ) -> Iterator[tuple[Condition, ...]]:
        """Yield the first ways to cover all of the tokens by conditions."""
        return islice(_cover_tokens(tokens, matches), MAX_INTERPRETATIONS)

    def notes_matching_all(self, conditions: Iterable[Condition]) -> Paths:
        """Return the notes that meet all conditions today; all notes for none."""
        labels = self.view.labels
        each = [notes_matching(one, labels, self.today) for one in conditions]
        return reduce(frozenset.intersection, each) if each else frozenset(labels.paths())

    def notes_named_by(self, tokens: Sequence[str], matches: Sequence[TermMatch]) -> Paths:
        """Return the notes of every interpretation of the tokens; all notes for no tokens."""
        return Paths().union(*map(self.notes_matching_all, self.interpretations(tokens, matches)))

    def notes_filed_under(self, paths: Iterable[str]) -> set[str]:
        """The notes that belong to any of these by a property that is one link ("project: [[Petrel]]"); who
        is named in a note does not have it."""
        view, things = self.view, list[str]()
        for path, row in view.notes_at({*paths}).items():
            folder = path.rpartition("/")[0]
            if not is_about_person({"folder": folder, "type": row.page_type, "tags": row.tags}):
                things.append(path)
        linked = (one for one in view.links_to(things) if one.property)
        filed = [one for one in linked if normalize_words(one.property or "") not in _MENTION_KEYS]
        links = Counter(map(_note_and_property, view.links_from({one.path for one in filed})))
        return {one.path for one in filed if links[_note_and_property(one)] == 1}

    def match_linked_names(self, plain: str) -> list[TermMatch]:
        """Match properties that link to a note by the words of its name in a text; none for words of two."""
        question_tokens = {one for one in self.tokens(content_words(plain)) if not one.isdigit()}
        rows = self.view.labels.with_any(add_accents({one[:PREFIX_LETTERS] for one in content_words(plain)}))
        links = {(name, value[2:].rstrip("]")) for name, value in rows if value.startswith("[[")}
        notes = self.view.named_any(value for _, value in links)
        conditions: dict[tuple[str, frozenset[str]], list[Condition]] = {}
        for name, value in sorted(links):
            key, words = (property_key(name), frozenset(question_tokens.intersection(self.tokens(value))))
            if key is not None and key not in NON_KIND_KEYS and words and value in notes:
                conditions.setdefault((key, words), []).append(Condition("property", value, key))
        return [(words, linked[0]) for (_, words), linked in conditions.items() if len(linked) == 1]

    def property_values(self, key: str) -> dict[str, Paths]:
        """The values of a property, other than an empty one, and the notes with each."""
        labels, label = self.view.labels, property_label(key)
        return {value: labels.having(label, value) for value in labels.values(label) if value}

    def describe_lack(self, paths: Paths, listed: Collection[str]) -> str:
        """Say how many notes, templates aside, lack what the listed ones have, of those that share another
        property with them: what else lies in their folder is of another kind."""
        rows = self.view.notes_at({*paths, *listed})
        keys = {*chain.from_iterable(rows[one].front_matter for one in listed)} - NON_KIND_KEYS
        alike = (one for one in paths if not keys or not keys.isdisjoint(rows[one].front_matter))
        count = sum(not self.is_template(one) for one in alike)
        return f" ({count:,} more {'has' if count == 1 else 'have'} none)" if count else ""

    def property_line(self, key: str, value: str | None, path: str) -> NoteLine | None:
        """The line of a note's properties with a value, None for any: its passage, text and number; its
        first passage where none has it, or for an empty one, and None where none of the note is allowed."""
        ids = keep_allowed((one.id for one in self.view.chunks_of(path)), self.allowed)
        chunks = self.view.chunks(() if value == "" else ids).values()
        for one in sorted(chunks, key=lambda one: one.kind != "properties"):
            lines = [(each.text, each.ranges[0][0]) for each in split_properties(one.text)]
            for text, at in (*lines, *_lines_and_fields(one.text)):
                name, _, value_text = text.strip("[(*_~ ").partition(":")
                if key_label(name.rstrip("*_~")) == key and (value or "") in value_text.casefold():
                    return one.id, text.strip(), one.first_line + one.text.count("\n", 0, at)
        return (ids[0], "", 0) if ids else None

    def property_lines(
        self, properties: Iterable[tuple[str, str | None, str]]
    ) -> dict[ChunkId, tuple[str, int]]:
        """The lines of properties, each by its key, value and note, by their passages, the first of each;
        none of templates."""
        lines: dict[ChunkId, tuple[str, int]] = {}
        for key, value, path in properties:
            line = None if self.is_template(path) else self.property_line(key, value, path)
            if line and not lines.get(line[0], ("", 0))[0]:
                lines[line[0]] = line[1:]
        return lines


def _lines_and_fields(text: str) -> Iterator[tuple[str, int]]:
    """The lines of a text and where each begins; of one with inline fields, each of those."""
    for line in _LINE.finditer(text):
        places = [place for _, _, place in inline_fields(line[0])]
        for start, end in places or [(0, len(line[0]))]:
            yield line[0][start:end], line.start() + start


def _note_and_property(link: LinkRow) -> tuple[str, str]:
    """The note and property of a link; one of a list has its number behind it."""
    return link.path, (link.property or "").partition(".")[0]


def notes_stating_day(rows: Mapping[str, NoteRow]) -> list[str]:
    """Return the notes that say of what day they are: the time of a file is new in a copy."""
    return [path for path, row in rows.items() if row.created is not None or day_in_name(path)]


def content_words(plain: str) -> list[str]:
    """Return the words of a question that say what is to be listed, without question and function words."""
    return [word for word in plain.split() if word not in ASKING_WORDS]


def normalize_words(text: str) -> str:
    return " ".join(_WORD.findall(fold(text).casefold()))


def add_accents(beginnings: Iterable[str]) -> list[str]:
    """Return the beginnings of words, and each with an accent on one of its letters."""
    beginnings_with_accents = []
    for begins in sorted(beginnings):
        beginnings_with_accents.append(begins)
        for at, letter in enumerate(begins):
            with_marks = (normalize("NFC", letter + mark) for mark in _COMBINING_ACCENTS)
            beginnings_with_accents += (
                f"{begins[:at]}{one}{begins[at + 1 :]}" for one in with_marks if len(one) == 1
            )
    return beginnings_with_accents


def all_folders(paths: Iterable[str]) -> list[str]:
    """Return the folders that hold notes and their parent folders, sorted."""
    found: set[str] = set()
    for folder in {path.rpartition("/")[0] for path in paths}:
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return sorted(found)


def _cover_tokens(tokens: Sequence[str], matches: Sequence[TermMatch]) -> Iterator[tuple[Condition, ...]]:
    if not tokens:
        yield ()
        return
    if not {*tokens} <= {*chain.from_iterable(words for words, _ in matches)}:
        return
    for words, condition in matches:
        if tokens[0] in words:
            left = [token for token in tokens if token not in words]
            for rest in _cover_tokens(left, matches):
                yield (condition, *rest)
