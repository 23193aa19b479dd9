"""Suggests links that a vault lacks: notes that are alike or named without a link, and names that several
notes link to though no note has them; and names the notes that a captured one has to do with.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from posixpath import basename, dirname
from urllib.parse import quote

import numpy as np

from notehop.app.models import Connection, Suggestion, Suggestions
from notehop.app.retrieval.chain import Wanted
from notehop.app.retrieval.trace import TracedQuery
from notehop.app.services.engine import Engine
from notehop.app.services.notes.current_notes import CurrentNotes, flat
from notehop.app.services.notes.find_note import note_meant
from notehop.app.services.notes.read_note import SENTENCE
from notehop.app.services.notes.unlinked_pairs import Naming, Pair, UnlinkedPairs
from notehop.indexing.capture import Kept
from notehop.indexing.embed.onnx_embedding import QueryEmbedder
from notehop.indexing.graph.files import NOTE_SUFFIX, VaultFiles, link_name
from notehop.indexing.graph.resolve import Status, resolve_path
from notehop.indexing.report import Progress
from notehop.indexing.stores.catalog_read import CatalogReads
from notehop.indexing.stores.model import ChunkId, LinkRow, Matrix, NoteStatus
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens import Tokenizer
from notehop.indexing.vault.plain import plain_text, words_of
from notehop.indexing.vault.sentences import sentence_spans, shortened

COMPARED = 5
"""Pairs of the whole vault whose notes are read for the names of each other, for each that is wanted."""

AGAIN = 2
"""Times that a note may lack a link, or be lacking one to it, in a list of the whole vault."""

LEAST = 0.02  # score below which nothing is suggested: of such pairs, one in 250 was linked
SHOWS = 2  # words that two notes share in the sentence that is shown of them, in such a list

_PARAGRAPH = re.compile(r"[^\n]+(?:\n(?![ \t]*(?:[-*+>|#\n]|\d{1,9}[.)]))[^\n]+)*")

_SUFFIX = re.compile(
    r"\.(?:avif|bmp|gif|jpe?g|png|svg|webp|mp3|m4a|ogg|wav|mp4|mov|webm|pdf|base|canvas|csv|html?|js|json|py|ts|txt)$"
)

_PLAIN = frozenset("[]#^|")
"""What a wikilink cannot hold."""


def suggest(
    now: CurrentNotes,
    tokenizer: Tokenizer,
    said: str | None,
    limit: int,
    progress: Progress | None = None,
) -> Suggestions:
    """Suggest links from and to a note, or the best of the whole vault; most likely first.

    :param said: the note's path, title or alias; None for the whole vault.
    :param progress: where it shows how far it is with the whole vault.
    :raises NoteMissing: if there is no such note.
    :raises UsageError: if several notes are meant.
    """
    pairs = UnlinkedPairs(now, tokenizer, progress or Progress())
    catalog = now.indexed.catalog
    if said is None:
        found = pairs.of_vault(COMPARED * max(limit, 20))
        wanted = _wanted(now, catalog.links_with(Status.UNRESOLVED), limit)
    else:
        path = note_meant(now, said)
        found = pairs.around(path)
        own = [one for one in now.links_from([path]) if one.status == Status.UNRESOLVED]
        names = {link_name(one.raw_target) for one in own}
        wanted = _wanted(now, catalog.links_named(names), limit, path)
    likely = [pair for pair in pairs.best_first(found) if pairs.score(pair) >= LEAST]
    every = _described(now, tokenizer, pairs, likely, limit, whole=said is None) + wanted
    every.sort(key=lambda one: (-one.score, one.source, one.target))
    return Suggestions(
        suggestions=every[:limit],
        warnings=now.reply_warnings(),
        generation=now.indexed.generation,
    )


def _described(
    now: CurrentNotes,
    tokenizer: Tokenizer,
    pairs: UnlinkedPairs,
    likely: Sequence[Pair],
    limit: int,
    *,
    whole: bool,
) -> list[Suggestion]:
    """The most likely pairs as they stand in the vault, each with its evidence."""
    counts: Counter[tuple[str, str]] = Counter()
    files = called_alike(now.catalog, [pair.target for pair in likely])
    found: list[Suggestion] = []
    for pair in likely:
        if len(found) == limit:
            break
        rows = now.notes_at((pair.source, pair.target))
        sides = (("source", pair.source), ("target", pair.target))
        if len(rows) < 2 or (whole and any(counts[side] == AGAIN for side in sides)):
            continue
        said = pair.said or _alike_in(now, tokenizer, pair, SHOWS if whole else 0)
        if said is None:
            continue
        counts.update(sides)
        found.append(
            Suggestion(
                kind="mention" if pair.said else "alike",
                source=pair.source,
                target=pair.target,
                title=rows[pair.target].title,
                line=said.line,
                text=said.sentence,
                link=_link(files, pair, said.name),
                score=round(pairs.score(pair), 2),
                uri=now.uri(pair.source),
            )
        )
    return found


def _link(files: VaultFiles, pair: Pair, name: str) -> str:
    """The link to insert; where the text names the note otherwise, shown as it does."""
    link = link_to(files, pair.source, pair.target)
    inside = link.removeprefix("[[").removesuffix("]]")
    if not name or not link.startswith("[[") or name == inside or not _PLAIN.isdisjoint(name):
        return link
    return f"[[{inside}|{name}]]"


def _alike_in(now: CurrentNotes, tokenizer: Tokenizer, pair: Pair, least: int) -> Naming | None:
    """The sentence of the source that shares most with the target, by the weight of rare words."""
    chunks = now.chunks(pair.chunks or ())
    if len(chunks) < 2 or any(chunk.kind != "text" for chunk in chunks.values()):
        chunks = now.chunks(_nearest_passages(now.indexed, pair))
    if len(chunks) < 2:
        return None
    here, there = chunks.values()
    lexical, every = now.indexed.lexical, now.indexed.chunk_count
    theirs = set(tokenizer(there.text))
    best = (-1.0, 0, 0, 0)
    # Paragraph by paragraph, without headings; all of it if it has nothing else.
    sentences = [
        (paragraph.start() + start, paragraph.start() + end)
        for paragraph in _PARAGRAPH.finditer(here.text)
        if not paragraph[0].startswith("#")
        for start, end in sentence_spans(paragraph[0], tokenizer.language)
    ]
    for start, end in sentences or [(0, len(here.text))]:
        words = set(tokenizer(here.text[start:end])) & theirs
        shared = sum(math.log(1 + every / (1 + lexical.frequency(word))) for word in words)
        best = max(best, (shared, -start, end, len(words)))
    _, start, end, common = best
    if common < least:
        return None
    line = here.first_line + here.text.count("\n", 0, -start)
    return Naming("", line, shortened(flat(here.text[-start:end]), SENTENCE))


def _nearest_passages(view: Snapshot, pair: Pair) -> tuple[ChunkId, ...]:
    """The most similar passages of the text of two notes; none where one has no text."""

    def texts(path: str) -> tuple[list[ChunkId], Matrix]:
        return view.chunk_vectors.rows(one.id for one in view.chunks_of(path) if one.kind == "text")

    (ours, left), (theirs, right) = texts(pair.source), texts(pair.target)
    if not ours or not theirs:
        return ()
    row, column = np.unravel_index(int(np.argmax(left @ right.T)), (len(ours), len(theirs)))
    return ours[row], theirs[column]


def _wanted(
    now: CurrentNotes, links: Iterable[LinkRow], limit: int, path: str | None = None
) -> list[Suggestion]:
    """Names of no note that at least two notes link to, those that most do first."""
    by_name: dict[str, dict[str, LinkRow]] = {}
    for link in links:
        name = link_name(link.raw_target)
        if link.status == Status.UNRESOLVED and name and not _SUFFIX.search(name):
            by_name.setdefault(name, {}).setdefault(link.path, link)
    shared = [places for places in by_name.values() if len(places) > 1]
    found: list[Suggestion] = []
    for places in sorted(shared, key=lambda one: (-len(one), min(one)))[: 2 * limit]:
        standing = {link.path: link for link in now.current_links([*places.values()])}
        if len(standing) < 2 or (path is not None and path not in standing):
            continue
        link = standing[path or min(standing)]
        name = basename(link.raw_target)
        found.append(
            Suggestion(
                kind="dangling",
                source=link.path,
                target=name,
                title=name,
                line=link.line,
                # In a property, that and its value say it.
                text=words_of(link.sentence)
                or f"{(link.property or '').partition('.')[0]}: {name}",
                link=f"[[{name}]]",
                score=round(len(standing) / (2 * len(standing) + 6), 2),
                notes=len(standing),
                uri=now.uri(link.path),
            )
        )
    return found[:limit]


def find_related(engine: Engine, now: CurrentNotes, kept: Kept) -> list[Connection]:
    """Return related notes, best first: none that the new one links to, and not itself."""
    settings = now.place.settings
    most = settings.capture.connections
    text = query_text(kept, engine.embedder, settings.retrieval.max_query_chars)
    linked = _linked(now.catalog, kept)
    wanted = Wanted.best_notes(min(100, most + len(linked) + 1), literal=True)
    hits = engine.retrieve(TracedQuery(text), wanted)
    by_path = {str(hit.node.metadata["path"]): hit for hit in hits}
    chosen = {path: hit for path, hit in by_path.items() if path not in {*linked, kept.path}}
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
    if _PLAIN.isdisjoint(path):
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
            known = files.get(path)
            files.add(path, excluded=bool(known and known.excluded), aliases=names)
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
