"""Names the notes that a captured one has to do with, and the link to write to each."""

from __future__ import annotations

from collections.abc import Iterable
from posixpath import basename
from urllib.parse import quote

from notehop.app.models import Connection
from notehop.app.retrieval.chain import Wanted
from notehop.app.retrieval.components import TracedQuery
from notehop.app.retrieval.filters import MAX_QUERY_CHARS
from notehop.app.services.engine import Engine
from notehop.app.services.notes.current_notes import CurrentNotes
from notehop.indexing.graph.files import NOTE_SUFFIX, VaultFiles, link_name
from notehop.indexing.graph.resolve import Status, resolve_path
from notehop.indexing.stores.catalog_read import CatalogReads
from notehop.indexing.stores.model import NoteStatus
from notehop.indexing.vault.model import Note
from notehop.indexing.vault.plain import plain_text

MOST = 5  # related notes that are named for a captured one

NOT_IN_LINKS = frozenset("[]#^|")  # what a wikilink cannot hold


def find_related(engine: Engine, now: CurrentNotes, kept: Note) -> list[Connection]:
    """Return related notes, best first: none that the new one links to, and not itself."""
    linked = _linked(now.catalog, kept)
    wanted = Wanted.best_notes(min(100, MOST + len(linked) + 1), literal=True)
    hits = engine.retrieve(TracedQuery(_query_text(engine, kept)), wanted)
    by_path = {str(hit.node.metadata["path"]): hit for hit in hits}
    paths = [path for path in by_path if path not in {*linked, kept.path}][:MOST]
    rows = now.notes_at(paths)
    said = now.in_a_line(rows, {path: by_path[path].node.get_content() for path in rows})
    files = called_alike(now.catalog, paths)
    found: list[Connection] = []
    for path, row in rows.items():
        headings = list(by_path[path].node.metadata.get("heading_path") or ())
        found.append(
            Connection(
                **now.place_of(row, headings),
                heading=" > ".join(headings),
                snippet=said[path].text,
                score=round(float(by_path[path].score or 0.0), 4),
                link=link_to(files, kept.path, path),
                written_by=said[path].model,
            )
        )
    return found


def _query_text(engine: Engine, note: Note) -> str:
    """Title and text of the note, as far as a query and the model go."""
    embedder = engine.embedder
    title = note.title if "title" in note.front_matter else ""
    body = " ".join(plain_text(note, note.body_start, len(note.text)).split())
    text = f"{title} {body}".strip()[:MAX_QUERY_CHARS]
    tokens = embedder.tokens(text)
    room = embedder.max_tokens - embedder.tokens.overhead
    return text if len(tokens) <= room else text[: tokens[max(room, 1) - 1][1]]


def _linked(catalog: CatalogReads, kept: Note) -> set[str]:
    """The notes that a new one links to."""
    targets = [link.target for link in kept.links if link.target]
    if not targets:
        return set()
    files = called_alike(catalog, targets)
    names = {link_name(target) for target in targets}
    for path, aliases in catalog.aliases().items():
        if not names.isdisjoint(map(link_name, aliases)):
            known = files.get(path)
            files.add(path, excluded=bool(known and known.excluded), aliases=aliases)
    found = (resolve_path(files, kept.path, target).path for target in targets)
    return {path for path in found if path is not None}


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
    names = {link_name(one) for one in said}

    def alike(paths: Iterable[str]) -> list[str]:
        return [path for path in paths if link_name(path) in names]

    attached = catalog.attachments()
    skipped = alike(note.path for note in catalog.notes(NoteStatus.SKIPPED))
    excluded = [*skipped, *(path for path in alike(attached) if attached[path])]
    return VaultFiles([*alike(catalog.indexed_paths()), *alike(attached)], excluded)
