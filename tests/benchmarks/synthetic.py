"""Indexes of any size, written straight to the stores: words by Zipf's law, vectors drawn.

As a program it makes one and prints the most memory that took: ``python -m
tests.benchmarks.synthetic FOLDER NOTES``.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.support.product import (
    Batch,
    Catalog,
    ChunkRow,
    IndexLayout,
    LinkRow,
    NoteRecord,
    NoteRow,
    NoteStatus,
    bring_up_to_date,
    stamp_of,
    write_ahead,
)
from tests.support.product import VectorsVectors as Vectors

DIMENSIONS = 384
SECTIONS = 3
LINKS = 5
WORDS = 200_000
SECTION_WORDS = 120
HEADING_WORDS = 3
BATCH = 1_000

FINGERPRINT = {"model": "drawn", "dimensions": DIMENSIONS, "language": "en"}

Matrix = NDArray[np.float32]


def peak_mb() -> float:
    """The most memory of this process so far; not ru_maxrss, which begins with its parent's."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1e3


def no_store() -> Vectors:
    """There is none: the tables hold all vectors."""
    raise AssertionError("the vector store is not to be opened")


@dataclass
class Synthetic:
    """Notes of three sections of 120 words and five links, repeatable."""

    notes: int
    chance: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def __post_init__(self) -> None:
        self._words = np.array(["".join(w) for w in islice(product("aeinorst", repeat=6), WORDS)])
        self._reach = np.cumsum(1 / np.arange(1, WORDS + 1))

    def words(self, count: int) -> list[str]:
        """So many words, drawn by their frequency."""
        at = np.searchsorted(self._reach, self.chance.random(count) * self._reach[-1])
        return [str(word) for word in self._words[at]]

    def vectors(self, count: int) -> Matrix:
        """So many vectors of length 1."""
        drawn = self.chance.standard_normal((count, DIMENSIONS), dtype=np.float32)
        return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)

    def path(self, number: int) -> str:
        """Where a note stands."""
        return f"Folder {number % 40:02d}/Note {number}.md"

    def note(self, number: int, edit: str = "") -> NoteRecord:
        """A note; ``edit`` changes the text of its second section, and the links in it."""
        path = self.path(number)
        chunks = []
        for at in range(SECTIONS):
            said = self.words(SECTION_WORDS)
            heading = self.words(HEADING_WORDS)
            id_ = _name(f"{path} {at} {edit if at == 1 else ''}")
            tokens = {"content": tuple(said), "title": ("note", str(number)), "h2": tuple(heading)}
            chunks.append(
                ChunkRow(
                    id=id_,
                    path=path,
                    ordinal=at,
                    heading_path=(f"Note {number}", " ".join(heading)),
                    first_line=10 * at + 1,
                    last_line=10 * at + 9,
                    text=" ".join(said),
                    embedded_hash=id_ * 2,
                    tokens=tokens,
                )
            )
        targets = (self.chance.random(LINKS) ** 2 * self.notes).astype(int).tolist()
        links = tuple(
            self._link(
                path, at, target, chunks[at % SECTIONS].id, edit if at % SECTIONS == 1 else ""
            )
            for at, target in enumerate(targets)
        )
        row = NoteRow(
            path=path,
            title=f"Note {number}",
            status=NoteStatus.INDEXED,
            content_hash=_name(path + edit) * 2,
            size=3_000,
            mtime_ns=number,
            modified=1.7e9,
            line_count=30,
        )
        return NoteRecord(row, tuple(chunks), links)

    def _link(self, path: str, at: int, target: int, holder: str, edit: str) -> LinkRow:
        return LinkRow(
            path=path,
            ordinal=at,
            chunk_id=holder,
            line=at + 1,
            kind="link",
            syntax="wikilink",
            raw=f"[[Note {target}]]",
            raw_target=f"Note {target}",
            fragment=None,
            display=None,
            sentence=f"{' '.join(self.words(10))} [[Note {target}]].",
            sentence_id=_name(f"{path} {at} said {edit}"),
            property=None,
            status="resolved",
            via="name",
            target_path=self.path(target),
            target_chunk_id=_name(f"{self.path(target)} 0 "),
            fragment_found=None,
        )

    def write(
        self,
        layout: IndexLayout,
        catalog: Catalog,
        notes: Sequence[NoteRecord],
        known: Collection[str] = (),
    ) -> int:
        """Write notes in the order of the product; ``known`` are ids that have their vector."""
        batch = Batch(upsert=tuple(notes), meta={"fingerprint": FINGERPRINT, "vault": "none"})
        chunks = [one.id for note in notes for one in note.chunks if one.id not in known]
        said = (str(one.sentence_id) for note in notes for one in note.links)
        sentences = [one for one in dict.fromkeys(said) if one not in known]
        write_ahead(
            layout,
            stamp_of({**catalog.meta(), **batch.meta}),
            chunks=(chunks, self.vectors(len(chunks))),
            links=(sentences, self.vectors(len(sentences))),
        )
        return catalog.commit(batch)

    def edit(self, layout: IndexLayout, catalog: Catalog, number: int, edit: str) -> int:
        """Write one note again, with another second section."""
        path = self.path(number)
        known = {key.id for key in catalog.chunk_keys([path])} | set(catalog.sentence_ids([path]))
        return self.write(layout, catalog, [self.note(number, edit)], known)


def make(layout: IndexLayout, notes: int) -> None:
    """Make an index as a first run does: in batches, then the derived parts."""
    layout.create(layout.root.parent / "vault")
    synthetic = Synthetic(notes)
    with Catalog.open(layout.catalog, create=True) as catalog:
        for start in range(0, notes, BATCH):
            numbers = range(start, min(start + BATCH, notes))
            synthetic.write(layout, catalog, [synthetic.note(number) for number in numbers])
        bring_up_to_date(layout, catalog, no_store)


def _name(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


if __name__ == "__main__":
    make(IndexLayout(Path(sys.argv[1])), int(sys.argv[2]))
    print(peak_mb())
