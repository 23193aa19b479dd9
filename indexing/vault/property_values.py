"""What the properties of a note say, value by value with its line, as a reader would put it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from notehop.indexing.vault.front_matter import MAX_CHARACTERS, FrontMatter
from notehop.indexing.vault.model import PropertyValue
from notehop.indexing.vault.yaml_values import KeyPath

# Keys by their words, folded; `imdbId` and `area_ha` have two.
_WORDS = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")

_NO_FACT = re.compile(
    r"(?:ids?|uuid|uid|guid|title|private|notehop|publish|permalink|slug|layout|css|cssclass(?:es)?"
    r"|icon|iconize|sticker|banner|cover|thumbnail|kanban|plugin|excalidraw|template|lang|locale"
    r"|nav|stub|schema|modified|updated|lastmod|mtime|ctime)"
)
"""First or last words of keys that say how a note is kept or shown, or when it was last changed, which many
programs write at each change."""

_BY_THE_WAY = re.compile(
    r"tags?|alias(?:es)?|(?:page-?|note-?)?type|created(?:-(?:at|on))?|creation-date|date-created"
)
"""Keys that the index knows by other ways, or that stand in every note: where there is nothing else
and the note has text, they are no passage."""

_SWITCH = ("no", "yes")

_BLANKS = ("{{", "<%")
"""How what a template leaves to be filled in begins."""

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_SERIAL = re.compile(r"[0-9A-Za-z_-]{16,}")
_TIMESTAMP = re.compile(r"1\d{12}(?:\.\d+)?|20\d{12}")
"""Milliseconds since the epoch, `20231104093012`: numbers for programs."""

_WIKILINK = re.compile(r"!?\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]")
_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]]+)\]\([^()\s]+\)")


def property_values(front_matter: FrontMatter) -> tuple[PropertyValue, ...]:
    """What a front matter says, in the order of its text.

    Left out are values that are empty, blanks of a template, or names for programs (ids, hashes,
    timestamps), and keys that tell how a note is kept or shown.
    """
    found: list[PropertyValue] = []
    length = 0
    for value in _values(front_matter):
        length += len(value.text)
        if length > MAX_CHARACTERS:
            break  # more than the front matter may have: only what stands behind aliases repeats
        found.append(value)
    return tuple(found)


def says_something(values: tuple[PropertyValue, ...]) -> bool:
    """Whether any of them is more than the name, tags, type, date of birth or a switch of a note."""
    return not all(
        value.text in _SWITCH or _BY_THE_WAY.fullmatch(_slug(value.key)) for value in values
    )


def _values(front_matter: FrontMatter) -> Iterator[PropertyValue]:
    stack: list[tuple[KeyPath, KeyPath, Any]] = [((), (), front_matter.values)]
    while stack:
        path, names, value = stack.pop()
        if isinstance(value, dict):
            stack += (
                ((*path, key), (*names, key), item)
                for key, item in reversed(value.items())
                if not _is_for_programs(key)
            )
        elif isinstance(value, list):
            numbered = list(enumerate(value))
            stack += (((*path, str(at)), names, item) for at, item in reversed(numbered))
        elif names and (said := _said(value)):
            yield PropertyValue(
                key=" ".join(" ".join(names).split()),
                text=said,
                key_line=front_matter.key_line(path),
                line=front_matter.value_line(path),
            )


def _is_for_programs(key: str) -> bool:
    words = [word.casefold() for word in _WORDS.findall(_HUMP.sub(" ", key))]
    return not words or any(_NO_FACT.fullmatch(word) for word in (words[0], words[-1]))


def _slug(key: str) -> str:
    return "-".join(re.split(r"[-_\s]+", key.casefold().strip()))


def _said(value: Any) -> str:
    """A value as text, links by their words; empty for one that says nothing."""
    if isinstance(value, bool):
        return _SWITCH[value]
    written = "" if value is None else str(value)
    if any(blank in written for blank in _BLANKS):
        return ""
    text = " ".join(_MARKDOWN_LINK.sub(r"\1", _WIKILINK.sub(_words, written)).split())
    return "" if _is_for_a_program(text) or not any(map(str.isalnum, text)) else text


def _is_for_a_program(text: str) -> bool:
    if _UUID.fullmatch(text) or _TIMESTAMP.fullmatch(text):
        return True
    # `5a7103beeb92`, `16n2qbhtcnrblwxmx3deglu`: digits among the letters, and no blank.
    return bool(_SERIAL.fullmatch(text)) and len(re.findall(r"\d+", text)) > 1 and "-" not in text


def _words(link: re.Match[str]) -> str:
    shown = (link[2] or "").strip()
    target, _, fragment = link[1].partition("#")
    return shown or target.rpartition("/")[2].removesuffix(".md").strip() or fragment.lstrip("^#")
