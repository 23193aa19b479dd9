"""From cut notes to what one transaction writes, and the vectors it needs.

Touches: index (reads), model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import BaseNode

from notehop.indexing.graph.files import VaultFiles, affected_names
from notehop.indexing.graph.fragments import outline_of_note
from notehop.indexing.graph.model import ResolvedLink
from notehop.indexing.graph.resolve import resolve_link
from notehop.indexing.pipeline.ahead import EmbedAhead
from notehop.indexing.pipeline.cut import Cut, CutNote
from notehop.indexing.pipeline.lookup import Lookup
from notehop.indexing.pipeline.records import ChunkLines, chunk_at, embedded_sentence, link_row
from notehop.indexing.pipeline.relink import relink
from notehop.indexing.pipeline.targets import Targets
from notehop.indexing.pipeline.vectorise import EmbedMissing, KeepKnownVectors, Matrix
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.model import Batch, LinkRow, NoteRecord, NoteRow, NoteStatus


class BatchBuilder:
    """Builds writes against one catalog, each after the one before it was committed."""

    def __init__(
        self,
        *,
        catalog: Catalog,
        files: VaultFiles,
        ahead: EmbedAhead,
        dimensions: int,
    ) -> None:
        """Take what notes are made into rows with.

        :param files: those of the vault; it is brought up to what the notes say.
        """
        self._catalog = catalog
        self._files = files
        self._ahead = ahead
        self._dimensions = dimensions

    def unknown_texts(self, cut: Cut) -> list[str]:
        """What the model will have to see of these notes, as far as the catalog can tell by now.

        A write that is committed meanwhile can make it more or less: :meth:`build` looks again.
        """
        texts, said = cut.texts(), cut.sentences()
        known = self._catalog.chunk_by_embedded_hash(texts)
        spoken = self._catalog.known_sentences(said)
        return [
            *(text for digest, text in texts.items() if digest not in known),
            *(text for one, text in said.items() if one not in spoken),
        ]

    def build(
        self,
        cut: Cut,
        gone: Sequence[str] = (),
        names: Collection[str] = (),
        *,
        every_link: bool = False,
    ) -> Batch:
        """Prepare one write.

        :param gone: paths to delete.
        :param names: link names to resolve again beside those of the notes given.
        :param every_link: resolve all links again.
        """
        written = [item.row.path for item in cut.notes]
        before = self._catalog.notes_at([*written, *gone])
        learnt = self._learn(cut.notes, gone, before)
        kept = self._embed([node for item in cut.notes for node in item.nodes])
        # Of the notes of this write it is told what they hold; the catalog knows all others.
        targets = Targets(self._catalog)
        _publish(targets, cut.notes, gone)
        records = self._records(cut.notes, targets)
        return Batch(
            upsert=records,
            delete=tuple(gone),
            touch=cut.touch,
            relink=relink(
                self._catalog,
                self._files,
                targets,
                names=learnt.union(names),
                changed=[*written, *gone],
                except_from={*written, *gone},
                every_link=every_link,
            ),
            vectors={
                "chunks": self._new_chunks(cut.notes, kept),
                "links": self._new_sentences(records),
            },
        )

    def _learn(
        self, notes: Sequence[CutNote], gone: Sequence[str], before: Mapping[str, NoteRow]
    ) -> frozenset[str]:
        """Bring the files up to these notes; return the names whose links may lead elsewhere."""
        names: set[str] = set()
        for item in notes:
            row, old = item.row, before.get(item.row.path)
            if old is None or old.status is not row.status or old.aliases != row.aliases:
                names |= affected_names(row.path, (*row.aliases, *(old.aliases if old else ())))
            self._files.add(
                row.path, excluded=row.status is NoteStatus.SKIPPED, aliases=row.aliases
            )
        for path in gone:
            old = before.get(path)
            names |= affected_names(path, old.aliases if old else ())
        return frozenset(names)

    def _embed(self, nodes: Sequence[BaseNode]) -> Collection[str]:
        """Give each node its vector; return the ids of those whose vector is in the index."""
        if not nodes:
            return ()
        lookup = Lookup(self._catalog)
        IngestionPipeline(
            transformations=[KeepKnownVectors(lookup=lookup), EmbedMissing(embed=self._ahead.take)],
            disable_cache=True,
        ).run(nodes=nodes, show_progress=False, in_place=True)
        return lookup.kept

    def _records(self, notes: Sequence[CutNote], targets: Targets) -> tuple[NoteRecord, ...]:
        resolved = [
            [resolve_link(self._files, note.path, link, targets.outline) for link in note.links]
            if (note := item.note) is not None
            else []
            for item in notes
        ]
        # In one go: asking for each note took as long as all the rest of this.
        targets.load_chunks(
            res.resolution.path
            for links in resolved
            for res in links
            if res.resolution.path is not None
        )
        return tuple(
            NoteRecord(item.row, item.chunks, tuple(_link_rows(item, links, targets)))
            for item, links in zip(notes, resolved, strict=True)
        )

    def _new_chunks(
        self, notes: Sequence[CutNote], kept: Collection[str]
    ) -> tuple[list[str], Matrix]:
        nodes = [n for item in notes for n in item.nodes if n.node_id not in kept]
        matrix = np.asarray([n.embedding for n in nodes], dtype=np.float32)
        return [n.node_id for n in nodes], matrix.reshape(len(nodes), self._dimensions)

    def _new_sentences(self, records: Sequence[NoteRecord]) -> tuple[list[str], Matrix]:
        said = {
            link.sentence_id: embedded_sentence(record.note.title, link.sentence)
            for record in records
            for link in record.links
            if link.sentence_id is not None
        }
        known = self._catalog.known_sentences(said)
        new = {one: text for one, text in said.items() if one not in known}
        if not new:
            return [], np.zeros((0, self._dimensions), dtype=np.float32)
        return list(new), self._ahead.take(list(new.values()))


def _publish(targets: Targets, notes: Sequence[CutNote], gone: Sequence[str]) -> None:
    """Tell the targets what these notes hold, before any link is resolved."""
    for item in notes:
        # Links lead to text where there is any.
        text = [chunk for chunk in item.chunks if chunk.kind == "text"] or item.chunks[:1]
        lines: ChunkLines = [(c.id, c.first_line, c.last_line) for c in text]
        outline = outline_of_note(item.note) if item.note else None
        targets.put(item.row.path, outline, lines)
    for path in gone:
        targets.put(path, None, ())


def _link_rows(
    item: CutNote, resolved: Sequence[ResolvedLink], targets: Targets
) -> Iterator[LinkRow]:
    holder = chunk_at(
        [int(node.metadata["start"]) for node in item.nodes if node.metadata["kind"] == "text"],
        [chunk.id for chunk in item.chunks if chunk.kind == "text"],
    )
    for ordinal, res in enumerate(resolved):
        yield link_row(
            ordinal,
            item.row.title,
            res,
            holder(res.link.start) if res.link.property is None else None,
            targets.chunk_of(res),
        )
