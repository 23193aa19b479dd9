"""What the properties of a note say: its title, tags, dates, and each value with its line. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeVar

from notehop.indexing.vault.dates import seconds_of
from notehop.indexing.vault.front_matter import FrontMatter
from notehop.indexing.vault.model import Note, PropertyValue, each_once

# What the app takes for a character of a tag.
TAG_CHARACTERS = r"[^\u2000-\u206F\u2E00-\u2E7F'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s]"

LONGEST_KEY = 500  # characters that are kept of one: each value below it has them
BETWEEN = " ·"  # ends a property that another follows: `genre: Sci-fi · rating: 7`

_TAG = re.compile(rf"{TAG_CHARACTERS}+")
_MARKS = r"(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*"  # what may stand before the text of a line
_FIELD = r"(?P<key>[^\W\d_][\w /-]{0,40})[*_~]{0,3}::[*_~]{0,3}(?:[ \t]+|(?<=[^\W\d]::)(?=\d))"
_LINE_FIELD = re.compile(rf"{_MARKS}(?P<field>[*_~]{{0,3}}{_FIELD}(?P<value>\S.*))")
_BRACKETED = tuple(
    re.compile(rf"(?P<field>\{one}[ \t]*{_FIELD}(?P<value>{inside})\{end})(?!\()")
    for one, inside, end in (
        ("[", r"(?:\[\[[^\[\]]*\]\]|[^\[\]])+", "]"),
        ("(", r"(?:\([^()]*\)|[^()])+", ")"),
    )
)
_TASK_LINE = re.compile(rf"{_MARKS}\[.\][ \t]")
_UNSEEN = re.compile(r"(`+)[^`]*\1|%%.*?%%|<!--.{0,2000}?-->")  # code and comments within a line
_LINKS = re.compile(r"(?:\[\[[^\[\]]+\]\][, \t]*)+")
_KEY_WORDS = 4  # of the name of a field: more are a sentence
_CREATED = (
    *("created", "date", "created at", "date created", "creation date", "created on"),
    *("datum", "erstellt", "erstellt am", "angelegt", "erstellungsdatum", "date de creation"),
    *("fecha", "creado", "data", "creato", "criado", "aangemaakt", "skapad"),
)
_MODIFIED = (
    *("modified", "updated", "last modified", "date modified", "modified at", "updated at"),
    *("last updated", "date updated", "modification date", "lastmod", "modified on"),
    *("geandert", "geandert am", "aktualisiert", "modifie", "modificado", "actualizado"),
    *("modificato", "aggiornato"),
)
OWN_SUMMARY = ("summary", "description", "abstract", "excerpt")
"""Properties in which people sum a note up, the first of them that says something."""

_TYPES = ("type", "page type", "pagetype", "note type", "notetype")

_NO = ("false", "no", "off", "0")
_YES = ("true", "yes", "on", "1")
_NOTHING = ("", "~", "null")
_BROKEN_KEY = re.compile(r"^[ \t{,?-]*[\"']?(private|notehop)[\"']?[ \t]*:(.*(?:\n[ \t]+\S.*)*)", re.I | re.M)

# Keys by their words, folded; `imdbId` and `area_ha` have two.
_WORDS = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")

# First or last words of keys that say how a note is kept or shown, or when it was last changed, which
# many programs write at each change.
_NO_FACT = re.compile(
    r"(?:ids?|uuid|uid|guid|title|private|notehop|publish|permalink|slug|layout|css|cssclass(?:es)?"
    r"|icon|iconize|sticker|banner|cover|thumbnail|kanban|plugin|excalidraw|template|lang|locale"
    r"|nav|navigation|sidebar|breadcrumbs?|redirects?|canonical|pagination|stub|schema|modified|updated|lastmod|mtime|ctime)"
)
# Keys that the index knows by other ways, or that stand in every note: where there is nothing else and
# the note has text, they are no passage.
_BY_THE_WAY = re.compile(
    r"tags?|alias(?:es)?|(?:page ?|note ?)?type|created(?: (?:at|on))?|creation date|date created"
)
_SWITCH = ("no", "yes")
_FAR = 20  # lines between two properties that are not told together
_MEANT = {
    *(*_CREATED, *_MODIFIED, *_TYPES, *OWN_SUMMARY),
    *("tags", "tag", "aliases", "alias", "title", "private", "notehop"),
}
_BLANKS = ("{{", "<%")  # how what a template leaves to be filled in begins

# UUIDs, milliseconds since the epoch, `20231104093012`.
_FOR_PROGRAMS = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|1\d{12}(?:\.\d+)?|20\d{12}")
_SERIAL = re.compile(r"[0-9A-Za-z_]{16,}")
_WIKILINK = re.compile(r"!?\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]")
_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]]+)\]\([^()\s]+\)")

Stretch = tuple[int, int]  # of a text, as offsets

V = TypeVar("V")


def read_properties(path: str, front_matter: FrontMatter) -> Note:
    """The note that a path and a front matter tell of, without its text.

    Keys compare without case; ``-``, ``_`` and blanks are equal.
    """
    values = _by_name(front_matter.values)
    name = path.rpartition("/")[2]
    if name.lower().endswith(".md"):
        name = name[:-3]
    aliases: list[str] = []
    for entry in (values.get("aliases"), values.get("alias")):
        # A comma separates only where no list was written: in a list it is part of the name.
        parts = entry.split(",") if isinstance(entry, str) else _listed(entry)
        aliases += [alias for part in parts if (alias := _word(part)) is not None]
    tags: list[str] = []
    warnings = [*front_matter.warnings]
    for key, entry in front_matter.values.items():
        for item in _listed(entry) if _name(key) in ("tags", "tag") else ():
            word = _word(item)
            if word is not None and is_tag(tag := word.removeprefix("#").rstrip("/")):
                tags.append(tag)
            elif word is not None:
                line = min((at for of, at in front_matter.lines.items() if of[0] == key), default=1)
                warnings.append(
                    f"{path}:{line}: {word[:80]!r} is no tag, and the app ignores it too; write tags "
                    "as a list of words without blanks or commas"
                )
    return Note(
        path=path,
        name=name,
        title=_word(values.get("title")) or name,
        text="",
        body_start=0,
        content_hash="",
        aliases=each_once(aliases),
        tags=each_once(tags),
        page_type=_first(_word(_plain(values.get(key))) for key in _TYPES),
        created=_first(seconds_of(values.get(key)) for key in _CREATED),
        modified=modified_in(front_matter.values),
        front_matter=front_matter.values,
        properties=tuple(_property_values(front_matter)),
        excluded=_excluded(front_matter),
        warnings=tuple(warnings),
    )


def inline_fields(line: str) -> Iterator[tuple[str, str, Stretch]]:
    """The (key, value, place) of the fields in a line as the plugin Dataview has them: all of it, or a list
    item, is ``key:: value``, or ``[key:: value]`` stands in it; those of a task are its own."""
    if "::" not in line or _TASK_LINE.match(line):
        return
    seen = _UNSEEN.sub(lambda hidden: " " * len(hidden[0]), line)
    found = sorted((one for kind in _BRACKETED for one in kind.finditer(seen)), key=lambda one: one.start())
    for one in found or filter(None, [_LINE_FIELD.match(seen)]):
        start, end = one.span("value")
        if (value := line[start:end].strip(" \t*_~")) and len(one["key"].split()) <= _KEY_WORDS:
            yield one["key"].strip(), value, one.span("field")


def with_fields(front_matter: Mapping[str, Any], fields: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The properties of a note, which those fields of its text join whose keys are not among them and
    mean nothing of their own, such as tags and dates."""
    known, joining = {_name(str(key)) for key in front_matter}, dict[str, tuple[str, list[str]]]()
    for key, value in fields:
        name = _name(key)
        if name not in known and name not in _MEANT and not any(one in value for one in _BLANKS):
            links = _WIKILINK.finditer(value) if _LINKS.fullmatch(value) else ()
            said = joining.setdefault(name, (key, []))[1]
            said += [link[0] for link in links] or [value]
    added = {key: said if len(said) > 1 else said[0] for key, said in joining.values()}
    return {**front_matter, **added}


def modified_in(properties: Mapping[str, Any]) -> float | None:
    """When the properties say that their note was changed, in seconds since the epoch, if they do."""
    values = _by_name(properties)
    return _first(seconds_of(values.get(key)) for key in _MODIFIED)


def is_tag(name: str) -> bool:
    """A tag has one character or more that is no digit, and none of those that end a tag."""
    return bool(_TAG.fullmatch(name)) and not name.isdigit() and name.strip("/") != ""


def _by_name(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The values by the form in which keys are compared; of two keys that are equal, the first."""
    return {_name(key): value for key, value in reversed([*properties.items()])}


def _name(key: str) -> str:
    return " ".join(re.split(r"[-_\s]+", key.casefold()))


def _first(found: Iterable[V | None]) -> V | None:
    return next((item for item in found if item is not None), None)


def _word(value: Any) -> str | None:
    """A scalar as text; None for anything empty or nested."""
    is_word = isinstance(value, str | int | float) and not isinstance(value, bool)
    return " ".join(str(value).split()) or None if is_word else None


def _plain(value: Any) -> Any:
    """The first of a list; the words of a link: a type is often a link to the type's note."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, str) and (link := re.fullmatch(r"\s*\[\[(.+)\]\]\s*", value)):
        target, _, display = link[1].partition("|")
        return display.strip() or target.partition("#")[0].rpartition("/")[2]
    return value


def linked_names(properties: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the notes that properties link to, and what links show in place of them, each once."""
    links = _WIKILINK.findall(json.dumps(properties, ensure_ascii=False))
    named = ((target.partition("#")[0].rpartition("/")[2], shown) for target, shown in links)
    return tuple(dict.fromkeys(name.strip() for pair in named for name in pair if name.strip()))


def _listed(entry: Any) -> list[Any]:
    return entry if isinstance(entry, list) else [entry]


def _excluded(front_matter: FrontMatter) -> str | None:
    """Why the owner keeps the note out: what is not plainly harmless, not read, or said twice, protects."""
    written = [
        (_name(key), "" if value is None else str(value)) for key, value in front_matter.values.items()
    ]
    written += [(_name(key), "said twice") for _, key in front_matter.repeated]
    written += [
        (key.casefold(), value.partition(" #")[0].strip(" \t\n\"'},"))
        for key, value in _BROKEN_KEY.findall(front_matter.broken or "")
    ]
    for key, harmless, keeps_out in (("private", _NO, "true"), ("notehop", _YES, "false")):
        for name, value in written:
            word = value.strip().casefold()
            if name == key and word not in (*harmless, *_NOTHING):
                if word in (*_YES, *_NO):
                    return f"{key}: {keeps_out} in its front matter"
                return f"{key} in its front matter is not plainly {harmless[0]}"
    return None


def _property_values(front_matter: FrontMatter) -> Iterator[PropertyValue]:
    """What a front matter says to a reader, in the order of its text."""
    for _, names, value, key_line, line in front_matter.scalars(_is_for_programs):
        if text := _text_of(value):
            key = " ".join(" ".join(names).split())[:LONGEST_KEY]
            yield PropertyValue(key, text, key_line, line)


def _is_for_programs(key: str) -> bool:
    words = [word.casefold() for word in _WORDS.findall(_HUMP.sub(" ", key))]
    return not words or any(_NO_FACT.fullmatch(word) for word in (words[0], words[-1]))


def _text_of(value: Any) -> str:
    """A value as text, links by their words; empty for one that says nothing."""
    if isinstance(value, bool):
        return _SWITCH[value]
    written = "" if value is None else str(value)
    if any(blank in written for blank in _BLANKS):
        return ""
    text = " ".join(_MARKDOWN_LINK.sub(r"\1", _WIKILINK.sub(_words, written)).split())
    # `5a7103beeb92`, `16n2qbhtcnrblwxmx3deglu`: digits among the letters, and no blank.
    is_serial = _SERIAL.fullmatch(text) and len(re.findall(r"\d+", text)) > 1
    if is_serial or _FOR_PROGRAMS.fullmatch(text) or not any(map(str.isalnum, text)):
        return ""
    return text


def _words(link: re.Match[str]) -> str:
    shown = (link[2] or "").strip()
    target, _, fragment = link[1].partition("#")
    return shown or target.rpartition("/")[2].removesuffix(".md").strip() or fragment.lstrip("^#")


def property_texts(note: Note, has_text: bool, fits: int) -> list[tuple[str, int, int]]:
    """The properties of a note as text, laid over the lines that they stand in.

    A value that repeats what the note is called says nothing, but its type (`type: budget`).

    :param has_text: whether the note says something beside them; then its names, tags, type, date of
        birth and switches alone are nothing.
    :param fits: characters of a text; one property alone may have more.
    :returns: (text, first line, last line), a line of text for each line of the note.
    """
    called = {_spelling(name) for name in (note.name, note.title, *_first_heading(note))}
    facts = tuple(
        one
        for one in note.properties
        if _spelling(one.text) not in called or _BY_THE_WAY.fullmatch(_name(one.key.strip()))
    )
    if has_text and all(
        one.text in _SWITCH or _BY_THE_WAY.fullmatch(_name(one.key.strip())) for one in facts
    ):
        facts = ()
    if not facts:
        return []
    texts: list[tuple[str, int, int]] = []
    waiting: list[tuple[int, str]] = []
    length = 0
    for (key, key_line), group in groupby(facts, key=lambda one: (one.key, one.key_line)):
        values = list(group)
        size = sum(len(value.text) + 2 for value in values) + len(key) + len(BETWEEN)
        if waiting and (length + size > fits or key_line - waiting[-1][0] > _FAR):
            texts.append(_laid_out(waiting))
            waiting, length = [], 0
        waiting.append((key_line, f"{key}:"))
        waiting += ((value.line, f"{value.text},") for value in values[:-1])
        waiting.append((values[-1].line, f"{values[-1].text}{BETWEEN}"))
        length += size
    return [*texts, _laid_out(waiting)]


def _first_heading(note: Note) -> Iterable[str]:
    return (one.plain for one in note.headings[:1] if not one.fact)


def _spelling(name: str) -> str:
    return " ".join(re.findall(r"\w+", name.casefold())) or name


def _laid_out(parts: Sequence[tuple[int, str]]) -> tuple[str, int, int]:
    """What stands on which line, as a text."""
    first, last = min(line for line, _ in parts), max(line for line, _ in parts)
    lines: list[list[str]] = [[] for _ in range(first, last + 1)]
    # What stands behind the last property of a text has nothing to be kept apart from.
    for line, part in [*parts[:-1], (parts[-1][0], parts[-1][1].removesuffix(BETWEEN))]:
        lines[line - first].append(part)
    return "\n".join(map(" ".join, lines)), first, last
