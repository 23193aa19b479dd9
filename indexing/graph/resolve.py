"""Resolution: where a link leads, and to which lines, by the app's rules.

The rules are numbered as in ``docs/links.md``; each is tried only where those before it found
nothing, except that rule 5 and rule 4 end the search: a link that says where its file is never
leads elsewhere. An edge that the owner did not make is worse than a missing one.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import takewhile
from typing import Literal
from unicodedata import category, normalize

from notehop.indexing.graph.files import (
    NOTE_SUFFIX,
    VaultFile,
    VaultFiles,
    competing,
    fold,
    is_pdf,
    is_readable,
)
from notehop.indexing.vault.model import Link, Note

# Named for one ambiguous link: ten thousand notes of one name that link to it would fill the index.
MAX_CANDIDATES = 20

_ASCII_SYMBOLS = frozenset("$+<=>^`|~")  # punctuation to the app, and to Unicode symbols

_WIKILINK = re.compile(r"!?\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]")
_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")


class Status(StrEnum):
    """The outcome of resolving one link. ``ambiguous`` has a target too: the first candidate."""

    RESOLVED = "resolved"
    AMBIGUOUS = "ambiguous"
    UNRESOLVED = "unresolved"
    EXCLUDED = "excluded"


Via = Literal["self", "path", "name", "alias"]
"""Which rule found the target: the empty path; an exact path in the vault, written from the root or
with ``/``, ``./`` or ``../``; the end of a path; a note's other name."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """Where the path part of a link leads: a file of any type, None when unresolved. ``candidates``
    are the files that fit, best first, when there are several; not all of very many."""

    status: Status
    path: str | None = None
    via: Via | None = None
    candidates: tuple[str, ...] = ()


_UNRESOLVED = Resolution(Status.UNRESOLVED)


@dataclass(frozen=True, slots=True)
class Outline:
    """What fragments of a note can name; the shape in which the catalog keeps it.

    ``headings`` are (level, text, line) in text order, ``blocks`` (id, first line, last line), lines
    from 1; ``line_count`` closes the last section.
    """

    headings: tuple[tuple[int, str, int], ...]
    blocks: tuple[tuple[str, int, int], ...]
    line_count: int


@dataclass(frozen=True, slots=True)
class FragmentSpan:
    """The lines of a note that a fragment names, both ends included."""

    first_line: int
    last_line: int


def outline_of_note(note: Note) -> Outline:
    return Outline(
        headings=tuple((heading.level, heading.text, heading.line) for heading in note.headings),
        blocks=tuple((block.id, block.first_line, block.last_line) for block in note.blocks),
        line_count=note.text.count("\n") + (not note.text.endswith("\n")),
    )


@dataclass(frozen=True, slots=True)
class ResolvedLink:
    """A link and where it leads. ``fragment_found`` is None, and so is ``span``, when the link has no
    fragment or leads to no note."""

    source: str
    link: Link
    resolution: Resolution
    span: FragmentSpan | None = None
    fragment_found: bool | None = None


def resolve_path(files: VaultFiles, source: str, target: str) -> Resolution:
    """Find the file that the path part of a link in the note ``source`` means: for an empty one the
    source itself. ``target`` is decoded, without fragment and display text."""
    if not target:
        return Resolution(Status.RESOLVED, source, "self")
    found = _by_place(files, source, target)
    if found is None and (trimmed := target.strip()) != target:
        # As written first: a file name may begin or end with a space.
        found = _by_place(files, source, trimmed) if trimmed else _UNRESOLVED
    if found is None and len(carriers := files.carriers(target)) == 1:  # rule 9
        found = Resolution(Status.RESOLVED, carriers[0], "alias")
    return found or _UNRESOLVED


def resolve_link(
    files: VaultFiles, source: str, link: Link, outline_of: Callable[[str], Outline | None]
) -> ResolvedLink:
    """Resolve a link with its fragment.

    :param outline_of: of a path, None where it was not read; for fragments into what is not excluded.
    """
    fragment = (link.fragment or "").strip()
    if not link.target.strip() and link.fragment is None:
        return ResolvedLink(source, link, _UNRESOLVED)  # ``[[|text]]``: the app finds nothing
    resolution = resolve_path(files, source, link.target)
    path = resolution.path
    outline = None
    if fragment and path and is_readable(path) and resolution.status is not Status.EXCLUDED:
        if is_pdf(path):
            # ``page=3&rect=…``; without a page it says how it is shown.
            fragment = fragment.partition("&")[0]
        if not is_pdf(path) or fragment.startswith("page="):
            outline = outline_of(path)
    if outline is None:
        return ResolvedLink(source, link, resolution)
    span = find_fragment(outline, fragment)
    return ResolvedLink(source, link, resolution, span, span is not None)


def _by_place(files: VaultFiles, source: str, target: str) -> Resolution | None:
    """Rules 3 to 8; None leaves the link to what comes after them."""
    key = fold(target)
    exact = key.startswith(("/", "./", "../"))
    if key.startswith("/"):
        key = key[1:]
    elif exact:
        # Rule 4. What ends in "." or ".." names a folder; the note of its name would be found, but
        # the link does not say its name, and would not be found by it.
        if "//" in key or key.rpartition("/")[2] in ("", ".", ".."):
            return _UNRESOLVED
        key = posixpath.normpath(posixpath.join(posixpath.dirname(fold(source)), key))
        if key.startswith("../"):
            return _UNRESOLVED
    if key and not key.endswith("/"):
        # Rule 3: the name as written, of any type; then as the name of a note.
        for wanted in (key, key + NOTE_SUFFIX):
            fitting = files.named(wanted)
            twins = [*takewhile(lambda file: file.key == wanted, fitting)]  # noqa: B023
            if twins:  # rules 4, 5 and 6
                return _resolution(competing(twins), target, "path")
            if fitting and not exact:
                # Rule 7: below the linking note's folder first, then the shortest path, then by path.
                folder = fold(source).rpartition("/")[0] + "/"
                ranked = sorted(competing(fitting), key=lambda file: not file.key.startswith(folder))
                return _resolution(ranked[:MAX_CANDIDATES], target, "name")
    return _UNRESOLVED if exact else None


def _resolution(ranked: Sequence[VaultFile], target: str, via: Via) -> Resolution:
    """The first of some files; of those whose paths differ in case only, the one spelled as the link."""
    keys = [file.key for file in ranked]
    if len(set(keys)) < len(keys):
        written = normalize("NFC", target).lstrip("./")
        ends = (written, written + NOTE_SUFFIX)
        spelled = {f.path for f in ranked if normalize("NFC", f.path).endswith(ends)}
        ranked = sorted(ranked, key=lambda f: (keys.index(f.key), f.path not in spelled, f.path))
    best, several = ranked[0], len(ranked) > 1
    status = Status.AMBIGUOUS if several else Status.RESOLVED
    return Resolution(
        Status.EXCLUDED if best.excluded else status,
        best.path,
        via,
        tuple(file.path for file in ranked) if several else (),
    )


def find_fragment(outline: Outline, fragment: str) -> FragmentSpan | None:
    """Find what a fragment (what follows the first ``#``) names; None for no such place.

    A last part that begins with ``^`` is a block id, compared without case; headings written
    before it are not looked at, for an id is unique in its note (of two, the first counts).
    Otherwise the parts are headings in text order, each deeper than the one before (not
    necessarily directly below it), and the first chain of headings that fits is taken; its last
    section ends before the next heading of the same or a higher rank.
    """
    parts = [part for written in fragment.split("#") if (part := written.strip())]
    if not parts:
        return None
    if parts[-1].startswith("^"):
        wanted = parts[-1][1:].strip().lower()
        named = (lines for name, *lines in outline.blocks if name.lower() == wanted)
        return next((FragmentSpan(*lines) for lines in named), None)
    headings = outline.headings
    # From the last part back: where the first chain ends that begins at each heading, if one does.
    *before, wanted = map(_key, parts)
    keys = [heading_keys(text) for _, text, _ in headings]
    ends = [at if wanted in keys[at] else None for at in range(len(headings))]
    for part in reversed(before):
        found: list[int | None] = [None] * len(headings)
        nearest: dict[int, int] = {}  # rank -> the next heading at which the rest can begin
        for at in range(len(headings) - 1, -1, -1):
            level = headings[at][0]
            below = [place for rank, place in nearest.items() if rank > level]
            if below and part in keys[at]:
                found[at] = ends[min(below)]
            if ends[at] is not None:
                nearest[level] = at
        ends = found
    last = next((at for at in ends if at is not None), None)
    if last is None:
        return None
    level, _, line = headings[last]
    after = (line for rank, _, line in headings[last + 1 :] if rank <= level)
    return FragmentSpan(line, next(after, outline.line_count + 1) - 1)


@lru_cache(maxsize=65_536)
def heading_keys(text: str) -> tuple[str, ...]:
    """The keys of a heading: as written, and as shown where it holds links. For ``See [[Plan|now]]``
    the app writes ``[[Note#See Plan now]]``, and people what they read, ``[[Note#See now]]``."""
    shown = _WIKILINK.sub(lambda link: link[1] if link[2] is None else link[2], text)
    return tuple(dict.fromkeys((_key(text), _key(_MARKDOWN_LINK.sub(r"\1", shown)))))


def _key(text: str) -> str:
    """Folded, punctuation replaced by spaces, spaces collapsed; of punctuation alone, as it is."""
    folded = fold(text)
    letters = (" " if char in _ASCII_SYMBOLS or category(char).startswith("P") else char for char in folded)
    return " ".join("".join(letters).split()) or folded.strip()
