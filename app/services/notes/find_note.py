"""Finds the notes that a person or a program means by a path or a name: in the index, or in the files
alone; names that were almost written, and the link to write to a note.

Of the index only what still stands in the vault is named: a note that became private since is as if it had
never been.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from posixpath import basename
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, unquote, urlsplit

from notehop.config.errors import NoteMissing, UsageError
from notehop.indexing.display import on_one_line, printable
from notehop.indexing.graph.files import NOTE_SUFFIX, VaultFiles, fold, is_readable, link_name
from notehop.indexing.graph.resolve import Status, resolve_path
from notehop.indexing.vault.plain import read_wikilink, words_of

if TYPE_CHECKING:
    from notehop.app.services.notes.current_notes import CurrentNotes
    from notehop.indexing.stores.catalog_read import CatalogReads


LONGEST = 1_000  # characters of a name: no disk has a longer path that people write notes at
_NEAR = 3  # near names that are told
_LOOKED_AT = 24  # near names that are held against the files
_SHOWN = 200  # characters of a name that are repeated to whoever asked by it
_COMPARED = 200  # characters of a name that is compared with others; a longer one is a text

NOT_IN_LINKS = frozenset("[]#^|")  # what a wikilink cannot hold


def notes_meant(now: CurrentNotes, said: str) -> tuple[tuple[str, ...], NoteAddress]:
    """Return the notes that are meant, several where a name is that of several, and the place in them.

    Tried in order: a path in the vault, with or without ``.md``; a title or an alias; a name as a
    link would give it (the end of a path, or a path from the vault's root after a ``/``); what replies
    call one note alone, its title or first heading; then what :func:`address_of`
    reads in it. A note that is there no more, or is kept out by now, is meant by nothing.

    :raises NoteMissing: if there is none, naming those that are called nearly so.
    """
    address, plain = address_of(said), NoteAddress(said)
    if address is None or not said.strip().startswith("[["):
        try:
            return _notes_named(now, plain.name), plain
        except NoteMissing:
            if address is None:
                raise
    return _notes_named(now, address.name), address


def note_meant(now: CurrentNotes, said: str) -> tuple[str, NoteAddress]:
    """The one note that is meant, as :func:`notes_meant`; UsageError if several are."""
    meant, address = notes_meant(now, said)
    if len(meant) > 1:
        raise UsageError(f"{shown(said)}: {len(meant)} notes: {listed(meant)}; name one by its path")
    return meant[0], address


def seeds_meant(now: CurrentNotes, asked: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """The notes that some names mean, path -> the name; and what is to be said of them."""
    seeds: dict[str, str] = {}
    warnings: list[str] = []
    for said in asked:
        meant, _ = notes_meant(now, said)
        if len(meant) > 1:
            warnings.append(f"{shown(said)}: {len(meant)} notes: {listed(meant)}; all are taken")
        for path in meant:
            seeds.setdefault(path, said)
    return seeds, warnings


@dataclass(frozen=True, slots=True)
class NoteAddress:
    """A place as replies give it: a note, and a heading, ``^block`` or lines (from 1) of it."""

    name: str
    section: str | None = None
    lines: tuple[int, int] | None = None


_LINES = re.compile(r"(.+?):(\d{1,9})(?:[-–](\d{1,9}))?(?: > .*)?", re.DOTALL)


def address_of(said: str) -> NoteAddress | None:
    """The place that is named by more than a note's name; None where it is a name and no more.

    ``Note.md:17-24``, also with `` > Heading`` behind it; ``Note#Heading``; a link in brackets, also
    with lines or a heading behind it; ``note://…`` and ``obsidian://open?…&file=…``. What no file and
    no heading can hold (a NUL, half of a surrogate pair), as it stands or percent-encoded, is in no
    address.
    """
    text = said.strip()
    if len(text) > 4 * LONGEST or not _can_stand(text):
        return None
    lines: tuple[int, int] | None = None
    if text.startswith("note://"):
        name, _, section = (unquote(one) for one in text[len("note://") :].partition("#"))
    elif text.startswith("obsidian://"):
        name, _, section = "".join(parse_qs(urlsplit(text).query).get("file", [])).partition("#")
    elif text.startswith("[[") and text.endswith("]]"):
        name, section = text, ""
    elif found := _LINES.fullmatch(text):
        name, section, first = found[1], "", int(found[2])
        lines = first, int(found[3] or first)
    else:
        name, _, section = text.partition("#")
        if not section.strip():
            return None
    if name.startswith("[[") and name.endswith("]]"):
        link = read_wikilink(name[2:-2])
        name = "" if link is None else link.target
        section = section or ("" if link is None or lines else link.fragment or "")
    if not name.strip() or not _can_stand(section):
        return None
    return NoteAddress(name, section or None, lines)


def _notes_named(now: CurrentNotes, asked: str) -> tuple[str, ...]:
    if not asked.strip() or len(asked) > LONGEST or not _can_stand(asked):
        raise NoteMissing(f"{shown(asked)}: no note of this vault")
    asked = asked.strip()
    for path in (asked, f"{asked}{NOTE_SUFFIX}"):
        if now.chunk_ids_of(path) and now.notes_at([path]):
            return (path,)
    if named := tuple(now.notes_at(now.notes_named(asked))):
        return named
    paths, name = now.paths(), link_name(asked)
    # The files that a link of this name could lead to.
    files = VaultFiles(now.notes_at(path for path in paths if link_name(path) == name))
    found = resolve_path(files, "", asked)
    if found.path is None and len(alone := _shown_as(now, paths, asked)) == 1:
        return alone
    if found.path is None:
        near = _near(paths, now.catalog.aliases(), asked, lambda path: now.any_of([path]))
        close = f"did you mean {listed(near)}?" if near else "name one by its path, title or alias"
        raise NoteMissing(f"{shown(asked)}: no note of this vault; {close}")
    return found.candidates if found.status is Status.AMBIGUOUS else (found.path,)


def _shown_as(now: CurrentNotes, paths: Sequence[str], asked: str) -> tuple[str, ...]:
    """The notes whose title, alias or first heading reads as what was asked for, signs before it aside."""

    def bare(name: str) -> str:
        return " ".join(_SIGNS.sub("", fold(name)).split())

    names = [*now.catalog.names()]
    for path, row in now.indexed.notes_at(paths).items():
        names += [(words_of(text), path) for level, text, _ in row.outline[:1] if level == 1]
    wanted = bare(asked)
    return tuple(now.notes_at({path for name, path in names if wanted and bare(name) == wanted}))


def shown(said: str) -> str:
    """A name as it was asked for, fit to be repeated."""
    text = printable(on_one_line(said.encode("utf-8", "replace").decode()))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def listed(paths: Sequence[str], most: int = 5) -> str:
    """Paths in a message."""
    more = len(paths) - most
    told = on_one_line(", ".join(paths[:most]))
    return f"{told} and {more} more" if more > 0 else told


def _can_stand(said: str) -> bool:
    """Whether a file can hold it: a NUL, or half of a surrogate pair, none can."""
    return "\0" not in said and said.encode("utf-8", "replace").decode() == said


def _near(
    paths: Sequence[str], aliases: Mapping[str, Iterable[str]], said: str, is_there: Callable[[str], bool]
) -> list[str]:
    """Notes that may have been meant: names a slip away, else those that hold what was said."""
    names = [(path.removesuffix(NOTE_SUFFIX), path) for path in paths]
    names += [(link_name(path), path) for path in paths]
    names += [(one, path) for path in paths for one in aliases.get(path, ())]
    wanted = said.removesuffix(NOTE_SUFFIX)
    near = near_names(names, [wanted], _LOOKED_AT)[wanted]
    found = list(islice(filter(is_there, near), _NEAR))
    if not found and len(wanted) > 2:
        # In the name rather than in a folder, then the shortest.
        within = sorted(
            (path for path in paths if fold(wanted) in fold(path)),
            key=lambda path: (fold(wanted) not in link_name(path), len(path)),
        )
        found = list(islice(filter(is_there, within[:_LOOKED_AT]), _NEAR))
    return found


def find_note(files: VaultFiles, vault: Path, said: str) -> str:
    """Return the path of a note in the vault: that of :func:`from_here`, or of a name as in a link.

    :raises UsageError: if no note is meant, or more than one.
    """
    if not said.strip():
        raise UsageError("the name of the note is empty; name it by its path in the vault")
    path = from_here(vault, said)
    if path in files and is_readable(path):
        return path
    found = resolve_path(files, "", path)
    if found.path is None or not is_readable(found.path):
        if os.path.isdir(said):  # noqa: PTH112 (a name too long for a path is none)
            raise UsageError(f"{said} is a folder: a vault is named by --vault")
        own = {path: file.aliases for path, file in files.items() if is_readable(path) and not file.excluded}
        near = _near([*own], own, said, lambda _: True)
        close = f"did you mean {listed(near)}?" if near else "name it by its path in the vault"
        raise UsageError(f"{said}: no note of {vault}; {close}")
    if found.status is Status.AMBIGUOUS:
        every = listed(found.candidates, len(found.candidates))
        raise UsageError(f"{said}: {len(found.candidates)} notes: {every}")
    return found.path


def from_here(vault: Path, said: str) -> str:
    """A note as a shell completes its path, with or without ``.md``: its path in the vault, if there is
    such a file; else as it is."""
    here = os.path.expanduser(said)  # noqa: PTH111 - ``~nobody`` is a name like others
    # Not resolved: a note that is a symbolic link is known under its own name.
    for place in (vault / said, Path.cwd().resolve() / here):
        for path in (os.path.normpath(place), f"{os.path.normpath(place)}{NOTE_SUFFIX}"):
            inside = is_readable(path) and Path(path).is_relative_to(vault)
            if inside and os.path.isfile(path):  # noqa: PTH113
                return Path(path).relative_to(vault).as_posix()
    return said


def link_to(files: VaultFiles, source: str, target: str, shown: str = "") -> str:
    """The shortest link that leads from one note to another and to no other file. Pure.

    :param files: of the vault, at least those of the target's name.
    :param shown: what a wikilink is to show in place of the name of the note.
    """
    parts = target.split("/")
    ends = ["/".join(parts[start:]) for start in range(len(parts) - 1, -1, -1)]
    written = target
    for path in (one for end in ends for one in (end.removesuffix(NOTE_SUFFIX), end)):
        found = resolve_path(files, source, path)
        if found.status is Status.RESOLVED and found.path == target:
            written = path
            break
    if NOT_IN_LINKS.isdisjoint(written):
        plain = not shown or shown == written or not NOT_IN_LINKS.isdisjoint(shown)
        return f"[[{written}]]" if plain else f"[[{written}|{shown}]]"
    name = basename(target).removesuffix(NOTE_SUFFIX)
    name = name.replace("[", "\\[").replace("]", "\\]")
    return f"[{name}]({quote(target)})"


def called_alike(catalog: CatalogReads, said: Iterable[str]) -> VaultFiles:
    """The files of the vault that links of these names could lead to."""
    from notehop.indexing.stores.rows import NoteStatus  # not for who only reads names

    names = {link_name(one) for one in said}

    def alike(paths: Iterable[str]) -> list[str]:
        return [path for path in paths if link_name(path) in names]

    attached = catalog.attachments()
    skipped = alike(note.path for note in catalog.notes(NoteStatus.SKIPPED))
    excluded = [*skipped, *(path for path in alike(attached) if attached[path])]
    aliases = {
        path: own for path, own in catalog.aliases().items() if not names.isdisjoint(map(link_name, own))
    }
    files = [*alike(catalog.indexed_paths()), *aliases, *alike(attached)]
    return VaultFiles(files, excluded, aliases)


_SIGNS = re.compile(r"^[\W_]+")  # an emoji before a title
_MARKS = re.compile(r"[\W_]+")
_DIGITS = re.compile(r"\d+")
_SLACK = (4, 8, 16)  # letters of a name from which one, two, three of them may be slips


def near_names(names: Iterable[tuple[str, str]], asked: Iterable[str], most: int = 3) -> dict[str, list[str]]:
    """Each name that was asked for -> at most so many paths that could have been meant, nearest first.

    Distance counts letters that are missing, too many, wrong or swapped (optimal string alignment).
    Digits are no slips: ``2024-05-01`` is not near to ``2024-05-02``.

    :param names: (name, path of what has it).
    """
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import extract

    def spelling(name: str) -> str:
        return _MARKS.sub(" ", fold(name)).strip()

    by_key: defaultdict[str, set[str]] = defaultdict(set)
    for name, path in names:
        by_key[spelling(name)].add(path)
    keys = sorted((key for key in by_key if 0 < len(key) <= _COMPARED), key=len)
    found: dict[str, list[str]] = {}
    for one in asked:
        key = spelling(one)
        slips, digits = bisect_right(_SLACK, len(key)), _DIGITS.findall(key)
        start = bisect_left(keys, len(key) - slips, key=len)
        long_as = keys[start : bisect_right(keys, len(key) + slips, key=len)]
        close = extract(key, long_as, scorer=OSA.distance, score_cutoff=slips, limit=None)
        alike = sorted((count, choice) for choice, count, _ in close)
        alike = [one for one in alike if _DIGITS.findall(one[1]) == digits]
        paths = (path for _, choice in alike for path in sorted(by_key[choice]))
        found[one] = list(islice(dict.fromkeys(paths), most))
    return found
