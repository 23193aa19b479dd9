"""Lists the links of a vault straight from its files: no index, no model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from notehop.app.services.notes.find_note import find_note
from notehop.app.services.open_vault import Place
from notehop.indexing.changes import compare, scan
from notehop.indexing.graph.files import VaultFiles, is_pdf
from notehop.indexing.graph.resolve import Outline, ResolvedLink, outline_of_note, resolve_link
from notehop.indexing.vault.front_matter import read_front_matter
from notehop.indexing.vault.model import Note
from notehop.indexing.vault.parse import decode, read_note
from notehop.indexing.vault.properties import read_properties
from notehop.indexing.vault.walk import FileEntry

if TYPE_CHECKING:
    import networkx as nx

TELLING = ("alias", "private", "notehop")
"""A front matter without any of these words has no aliases and keeps no note out."""


class _Vault:
    """Reads notes of a vault, each at most once."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.walk = scan(place.vault, place.settings.vault)
        self.files = {file.path: file for file in self.walk.files}
        self.problems: list[tuple[str, str]] = []
        self.outlines: dict[str, Outline] = {}
        self._notes: dict[str, Note | None] = {}

    def read(self, path: str) -> Note | None:
        """A note without its text; None if it cannot be read."""
        if path not in self._notes:
            self._notes[path] = self._read(path)
        return self._notes[path]

    def _read(self, path: str) -> Note | None:
        if is_pdf(path):
            # Nothing links from it, and to look for a page would take a second a file.
            name = path.rpartition("/")[2]
            return Note(path, name, title=name, text="", body_start=0, content_hash=path)
        comments = self.place.settings.vault.comment_links
        read = read_note(self.place.vault, self.files[path], "", comment_links=comments)
        if read.note is None:
            self.problems.append((path, read.problem or "cannot be read"))
            return None
        self.outlines[path] = outline_of_note(read.note)
        return replace(read.note, text="", edits=())

    def outline(self, path: str) -> Outline | None:
        """The outline of a note, for a fragment that leads into it."""
        file = self.files.get(path)
        if file is None or file.kind != "note" or self.too_large(file):
            return None
        self.read(path)
        return self.outlines.get(path)

    def too_large(self, file: FileEntry) -> bool:
        """Whether the index would leave the note out for its size."""
        limit = self.place.settings.vault.max_note_bytes
        return file.kind == "note" and file.size > limit and not is_pdf(file.path)

    def names_alone(self, path: str) -> Note | None:
        """Aliases of a note and why it keeps itself out, by its front matter: the rest is not read."""
        try:
            text, _ = decode(path, (self.place.vault / path).read_bytes())
        except OSError:
            return None
        if not text.startswith("---") or not any(word in text.lower() for word in TELLING):
            return None
        return read_properties(path, read_front_matter(path, text))

    def targets(self, out: set[str], named: Callable[[str], Note | None]) -> VaultFiles:
        """What links can lead to; ``out`` are files that are kept out."""
        excluded, aliases = set(out), {}
        for path, file in self.files.items():
            note = named(path) if file.kind == "note" and path not in out else None
            if note is not None and note.excluded is not None:
                excluded.add(path)
            elif note is not None and note.aliases:
                aliases[path] = note.aliases
        return VaultFiles(self.files, excluded, aliases)

    def resolved(self, files: VaultFiles, source: str) -> list[ResolvedLink]:
        """The links of a note."""
        note = self.read(source)
        links = () if note is None else note.links
        return [resolve_link(files, source, link, self.outline) for link in links]


class Survey(_Vault):
    """A vault read whole: what an index of it would know of its links and names.

    :ivar notes: those that the index would hold, by path, without their texts.
    :ivar others: the files that are no notes and are not kept out.
    :ivar skipped: (path, reason), like ``failed`` and ``passed_over``.
    """

    def __init__(self, place: Place) -> None:
        """:raises VaultError: if the vault cannot be listed."""
        super().__init__(place)
        changes = compare(self.walk, {}, {}, place.settings.vault.max_note_bytes)
        out = {file.path for file, _ in changes.skip}
        out |= {path for path, excluded in changes.attach.items() if excluded}
        files = self.targets(out, self.read)
        read = {file.path: note for file in changes.read if (note := self.read(file.path))}
        private = [(path, note.excluded) for path, note in read.items() if note.excluded]
        self.notes = {path: note for path, note in read.items() if note.excluded is None}
        self.links = [link for path in self.notes for link in self.resolved(files, path)]
        self.others = [path for path, excluded in changes.attach.items() if not excluded]
        self.skipped = sorted([*((file.path, why) for file, why in changes.skip), *private])
        self.failed, self.passed_over = sorted(self.problems), self.walk.problems


def list_links(
    place: Place, note: str | None = None
) -> tuple[Sequence[ResolvedLink], Sequence[tuple[str, str]]]:
    """Return every link of the vault's indexed notes, or of one note, with what it leads to, by note and
    text order; and (path, reason) of what could not be read.

    :param note: path or name of a note, as :func:`find_note` takes it; it is listed even if the index
        leaves it out.
    :raises VaultError: if the vault cannot be listed.
    :raises UsageError: if ``note`` is none, or several.
    """
    if note is None:
        whole = Survey(place)
        return whole.links, (*whole.passed_over, *whole.failed)
    vault = _Vault(place)
    source = find_note(VaultFiles(vault.files), place.vault, note)
    out = {path for path, file in vault.files.items() if file.excluded or vault.too_large(file)}
    return vault.resolved(vault.targets(out, vault.names_alone), source), vault.problems


def link_graph(place: Place) -> tuple[nx.MultiDiGraph, Sequence[tuple[str, str]]]:
    """The graph of a vault's links as its files are now, and what could not be read.

    A node is a note's path with its ``title``; an edge a link between two notes, under its place
    among those of its note, with ``kind``, ``line``, ``sentence``, ``status`` and, where it has
    them, ``via`` and ``fragment``.

    :raises VaultError: if the vault cannot be listed.
    """
    import networkx as nx

    found = Survey(place)
    graph = nx.MultiDiGraph()
    graph.add_nodes_from((path, {"title": note.title}) for path, note in found.notes.items())
    places: Counter[str] = Counter()
    for one in found.links:
        number = places[one.source]
        places[one.source] += 1
        if one.resolution.path in found.notes:
            told = {
                "kind": one.link.kind.value,
                "line": one.link.line,
                "sentence": one.link.sentence,
                "status": one.resolution.status.value,
                "via": one.resolution.via and one.resolution.via.value,
                "fragment": one.link.fragment,
            }
            known = {key: value for key, value in told.items() if value is not None}
            graph.add_edge(one.source, one.resolution.path, number, **known)
    return graph, found.failed
