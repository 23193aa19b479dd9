"""The notes that a new one has to do with, by the hybrid ranking of its text."""

from __future__ import annotations

from collections.abc import Iterable
from posixpath import basename, dirname
from urllib.parse import quote

from llama_index.core.schema import NodeWithScore

from notehop.app.models import Connection
from notehop.app.retrieval.chain import Wanted
from notehop.app.retrieval.trace import TracedQuery
from notehop.app.services.engine import Engine
from notehop.app.services.notes.current_notes import CurrentNotes
from notehop.indexing.capture import Kept
from notehop.indexing.embed.onnx_embedding import QueryEmbedder
from notehop.indexing.graph.files import NOTE_SUFFIX, VaultFiles, link_name
from notehop.indexing.graph.model import Status
from notehop.indexing.graph.resolve import resolve_path
from notehop.indexing.stores.catalog_read import CatalogReads
from notehop.indexing.stores.model import NoteStatus
from notehop.indexing.vault.plain import plain_text

_FORBIDDEN = frozenset("[]#^|")
"""What a wikilink cannot hold."""


def find_related(engine: Engine, now: CurrentNotes, kept: Kept) -> list[Connection]:
    """Return related notes, best first: none that the new one links to, and not itself."""
    settings = now.place.settings
    most = settings.capture.connections
    text = query_text(kept, engine.embedder, settings.retrieval.max_query_chars)
    linked = _linked(now.catalog, kept)
    wanted = Wanted.best_notes(min(100, most + len(linked) + 1), literal=True)
    hits = engine.retrieve(TracedQuery(text), wanted)
    chosen = {_path(hit): hit for hit in hits if _path(hit) not in {*linked, kept.path}}
    paths = list(chosen)[:most]
    rows = now.notes_at(paths)
    said = now.in_a_line(rows, {path: chosen[path].node.get_content() for path in rows})
    files = called_alike(now.catalog, paths)
    found: list[Connection] = []
    for path, row in rows.items():
        hit = chosen[path]
        headings = list(hit.node.metadata.get("heading_path") or ())
        found.append(
            Connection(
                path=path,
                title=row.title,
                folder=dirname(path),
                heading=" > ".join(headings),
                snippet=said[path].text,
                score=round(float(hit.score or 0.0), 4),
                link=link_to(files, kept.path, path),
                uri=now.uri(path, headings),
                written_by=said[path].model,
            )
        )
    return found


def query_text(kept: Kept, embedder: QueryEmbedder, longest: int) -> str:
    """What is searched for: title and text of the note, as far as the model reads.

    :param longest: characters that a query may have.
    """
    note = kept.note
    title = note.title if "title" in note.front_matter else ""
    body = " ".join(plain_text(note, note.body_start, len(note.text)).split())
    said = f"{title} {body}".strip()[:longest]
    tokens = embedder.tokens(said)
    room = embedder.max_tokens - embedder.tokens.overhead
    return said if len(tokens) <= room else said[: tokens[max(room, 1) - 1][1]]


def link_to(files: VaultFiles, source: str, target: str) -> str:
    """The shortest link that leads from one note to another and to no other file. Pure.

    :param files: of the vault, at least those of the target's name.
    """
    parts = target.split("/")
    for start in range(len(parts) - 1, -1, -1):
        path = "/".join(parts[start:])
        for written in (path.removesuffix(NOTE_SUFFIX), path):
            found = resolve_path(files, source, written)
            if found.status is Status.RESOLVED and found.path == target:
                return _written(written, target)
    return _written(target, target)


def _written(path: str, target: str) -> str:
    if _FORBIDDEN.isdisjoint(path):
        return f"[[{path}]]"
    shown = basename(target).removesuffix(NOTE_SUFFIX)
    shown = "".join(f"\\{char}" if char in "[]" else char for char in shown)
    return f"[{shown}]({quote(target)})"


def _linked(catalog: CatalogReads, kept: Kept) -> set[str]:
    """The notes that a new one links to."""
    targets = [link.target for link in kept.note.links if link.target]
    if not targets:
        return set()
    files = called_alike(catalog, targets)
    aliases = catalog.aliases()
    for path, names in aliases.items():
        if any(link_name(name) in {link_name(one) for one in targets} for name in names):
            if path not in files:
                files.add(path)
            files.set_aliases(path, names)
    found = (resolve_path(files, kept.path, target).path for target in targets)
    return {path for path in found if path is not None}


def called_alike(catalog: CatalogReads, said: Iterable[str]) -> VaultFiles:
    """The files of the vault that links of these names could lead to."""
    names = {link_name(one) for one in said}

    def alike(paths: Iterable[str]) -> list[str]:
        return [path for path in paths if link_name(path) in names]

    attached = catalog.attachments()
    skipped = alike(note.path for note in catalog.notes(NoteStatus.SKIPPED))
    excluded = [*skipped, *(path for path in alike(attached) if attached[path])]
    return VaultFiles([*alike(catalog.indexed_paths()), *alike(attached)], excluded)


def _path(hit: NodeWithScore) -> str:
    return str(hit.node.metadata.get("path", ""))
