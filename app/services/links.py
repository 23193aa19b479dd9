"""Lists the links of a vault straight from its files: no index, no model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from notehop.app.services.notes.find_note import find_note
from notehop.app.services.open_vault import Place
from notehop.indexing.changes import compare, scan
from notehop.indexing.graph.files import VaultFiles, is_pdf
from notehop.indexing.graph.fragments import Outline, outline_of_note
from notehop.indexing.graph.model import ResolvedLink
from notehop.indexing.graph.resolve import resolve_link
from notehop.indexing.vault.front_matter import read_front_matter
from notehop.indexing.vault.model import Link, Note
from notehop.indexing.vault.parse import decode, read_note
from notehop.indexing.vault.properties import read_properties
from notehop.indexing.vault.walk import FileEntry

if TYPE_CHECKING:
    import networkx as nx

TELLING = ("alias", "private", "notehop")
"""A front matter without any of these words has no aliases and keeps no note out."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Links by note and text order; ``problems`` are (path, reason) of what could not be read."""

    links: tuple[ResolvedLink, ...]
    problems: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ReadNote:
    """What stays of a note once it was read; ``excluded`` says why it keeps itself out."""

    links: tuple[Link, ...]
    outline: Outline | None
    title: str
    aliases: tuple[str, ...]
    warnings: tuple[str, ...]
    content_hash: str
    excluded: str | None


@dataclass(frozen=True, slots=True)
class Survey:
    """A vault read whole: what an index of it would know of its links and names.

    ``notes`` are those that the index would hold, by path; ``others`` the files that are no notes
    and are not kept out. ``skipped``, ``failed`` and ``passed_over`` are (path, reason).
    """

    links: tuple[ResolvedLink, ...]
    notes: Mapping[str, ReadNote]
    others: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]
    failed: tuple[tuple[str, str], ...]
    passed_over: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Vault:
    """Reads notes of a vault, each at most once."""

    place: Place
    files: Mapping[str, FileEntry]
    problems: list[tuple[str, str]] = field(default_factory=list)
    kept: dict[str, ReadNote | None] = field(default_factory=dict)

    def read(self, path: str) -> ReadNote | None:
        """What there is of a note; None if it cannot be read."""
        if path not in self.kept:
            self.kept[path] = self._read(path)
        return self.kept[path]

    def outline(self, path: str) -> Outline | None:
        """The outline of a note, for a fragment that leads into it."""
        file = self.files.get(path)
        if file is None or file.kind != "note" or self.too_large(file):
            return None
        found = self.read(path)
        return found.outline if found else None

    def too_large(self, file: FileEntry) -> bool:
        """Whether the index would leave the note out for its size."""
        limit = self.place.settings.vault.max_note_bytes
        return file.kind == "note" and file.size > limit and not is_pdf(file.path)

    def properties_of(self, path: str) -> tuple[tuple[str, ...], bool]:
        """Aliases of a note and whether it keeps itself out, read from its front matter alone."""
        try:
            text, _ = decode(path, (self.place.vault / path).read_bytes())
        except OSError:
            return (), False
        if not text.startswith("---") or not any(word in text.lower() for word in TELLING):
            return (), False
        told = read_properties(path, read_front_matter(path, text))
        return told.aliases, told.excluded is not None

    def names_read(self, path: str) -> tuple[tuple[str, ...], bool]:
        """The same of a note that is read whole."""
        note = self.read(path)
        return (note.aliases, note.excluded is not None) if note else ((), False)

    def names(
        self, out: set[str], describe: Callable[[str], tuple[tuple[str, ...], bool]]
    ) -> VaultFiles:
        """What links can lead to.

        :param out: files that are kept out.
        :param describe: gives the aliases of a note, and whether it keeps itself out.
        """
        excluded, aliases = set(out), {}
        for path, file in self.files.items():
            if file.kind != "note" or path in out:
                continue
            names, keeps_out = describe(path)
            if keeps_out:
                excluded.add(path)
            elif names:
                aliases[path] = names
        return VaultFiles(self.files, excluded, aliases)

    def resolved(
        self, files: VaultFiles, sources: Iterable[str], *, keep_all: bool
    ) -> Iterator[ResolvedLink]:
        """The links of notes; with ``keep_all`` those too of notes that keep themselves out."""
        for source in sources:
            kept = self.read(source)
            if kept is None or (kept.excluded is not None and not keep_all):
                continue
            for link in kept.links:
                yield resolve_link(files, source, link, self.outline)

    def _read(self, path: str) -> ReadNote | None:
        if is_pdf(path):
            # Nothing links from it, and to look for a page would take a second a file.
            return ReadNote((), None, path.rpartition("/")[2], (), (), path, None)
        comments = self.place.settings.vault.comment_links
        read = read_note(self.place.vault, self.files[path], "", comment_links=comments)
        if read.note is None:
            self.problems.append((path, read.problem or "cannot be read"))
            return None
        note: Note = read.note
        return ReadNote(
            links=note.links,
            outline=outline_of_note(note),
            title=note.title,
            aliases=note.aliases,
            warnings=note.warnings,
            content_hash=note.content_hash,
            excluded=note.excluded,
        )


def list_links(place: Place, note: str | None = None) -> Listing:
    """Return every link of the vault's indexed notes, or of one note, with what it leads to.

    :param note: path or name of a note, as :func:`find_note` takes it; it is listed even if the index
        leaves it out.
    :raises VaultError: if the vault cannot be listed.
    :raises UsageError: if ``note`` is none, or several.
    """
    if note is None:
        whole = survey(place)
        return Listing(whole.links, (*whole.passed_over, *whole.failed))
    found = scan(place.vault, place.settings.vault)
    vault = _Vault(place, {file.path: file for file in found.files})
    source = find_note(VaultFiles(vault.files), place.vault, note)
    out = {file.path for file in found.files if file.excluded or vault.too_large(file)}
    # The names of a note are in its front matter: the rest of most notes need not be read.
    files = vault.names(out, vault.properties_of)
    links = vault.resolved(files, [source], keep_all=True)
    return Listing(tuple(links), tuple(vault.problems))


def link_graph(place: Place) -> tuple[nx.MultiDiGraph, tuple[tuple[str, str], ...]]:
    """The graph of a vault's links as its files are now, and what could not be read.

    A node is a note's path with its ``title``; an edge a link between two notes, under its place
    among those of its note, with ``kind``, ``line``, ``sentence``, ``status`` and, where it has
    them, ``via`` and ``fragment``.

    :raises VaultError: if the vault cannot be listed.
    """
    import networkx as nx

    found = survey(place)
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


def survey(place: Place) -> Survey:
    """Read a vault whole.

    :raises VaultError: if the vault cannot be listed.
    """
    found = scan(place.vault, place.settings.vault)
    changes = compare(found, {}, {}, {}, place.settings.vault.max_note_bytes)
    vault = _Vault(place, {file.path: file for file in found.files})
    sources = [file.path for file in changes.read]
    kept_out = {file.path for file, _ in changes.skip}
    kept_out |= {path for path, excluded in changes.attach.items() if excluded}
    files = vault.names(kept_out, vault.names_read)
    links = tuple(vault.resolved(files, sources, keep_all=False))
    read = {path: note for path in sources if (note := vault.read(path)) is not None}
    private = [(path, note.excluded) for path, note in read.items() if note.excluded is not None]
    return Survey(
        links=links,
        notes={path: note for path, note in read.items() if note.excluded is None},
        others=tuple(path for path, excluded in changes.attach.items() if not excluded),
        skipped=tuple(sorted([*((file.path, why) for file, why in changes.skip), *private])),
        failed=tuple(sorted(vault.problems)),
        passed_over=found.problems,
    )
