"""Small indexes whose content a test can write down in a line."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.support import product

DIMENSIONS = 8

FINGERPRINT: Mapping[str, Any] = {"model": "all-MiniLM-L6-v2", "dimensions": DIMENSIONS}


def name_of(text: str) -> str:
    """32 hexadecimal digits that follow from a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def vector_of(text: str) -> NDArray[np.float32]:
    """A vector of length 1 that follows from a text, shape (DIMENSIONS,)."""
    seed = int(name_of(text)[:8], 16)
    vector = np.random.default_rng(seed).standard_normal(DIMENSIONS).astype(np.float32)
    return vector / np.float32(np.linalg.norm(vector))


def matrix_of(texts: Iterable[str]) -> NDArray[np.float32]:
    """The vectors of texts, shape (n, DIMENSIONS)."""
    rows = [vector_of(text) for text in texts]
    return np.array(rows, dtype=np.float32).reshape(len(rows), DIMENSIONS)


def chunk(path: str, ordinal: int, text: str) -> product.ChunkRow:
    """A chunk of one line; its tokens are its words."""
    embedded = f"{path}\n{text}"
    return product.ChunkRow(
        id=name_of(embedded),
        path=path,
        ordinal=ordinal,
        heading_path=("A", "B") if ordinal else (),
        first_line=ordinal + 1,
        last_line=ordinal + 1,
        text=text,
        embedded_hash=name_of(text) * 2,
        tokens=product.pack_tokens({"content": tuple(text.split()), "title": (path.removesuffix(".md"),)}),
    )


def link(path: str, ordinal: int, target: str, holder: str | None = None) -> product.LinkRow:
    """A link ``[[target]]`` in a sentence of its own, resolved to ``target.md``."""
    sentence = f"See {target} for more."
    return product.LinkRow(
        path=path,
        ordinal=ordinal,
        chunk_id=holder,
        line=1,
        kind="link",
        syntax="wikilink",
        raw=f"[[{target}]]",
        raw_target=target,
        fragment=None,
        display=None,
        sentence=sentence,
        sentence_id=name_of(f"{path}: {sentence}"),
        property=None,
        status="resolved",
        via="name",
        target_path=f"{target}.md",
        target_chunk_id=None,
        fragment_found=None,
    )


def record(path: str, *texts: str, to: Sequence[str] = (), **fields: Any) -> product.NoteRecord:
    """A note with a chunk for each text and a link to each name."""
    chunks = tuple(chunk(path, at, text) for at, text in enumerate(texts))
    holder = chunks[0].id if chunks else None
    row = product.NoteRow(
        path=path, title=path.removesuffix(".md"), status=product.NoteStatus.INDEXED, content_hash="c"
    )
    links = tuple(link(path, at, name, holder) for at, name in enumerate(to))
    return product.NoteRecord(replace(row, **fields), chunks, links)


class SampleIndex:
    """An index on disk, written in the order of the product."""

    def __init__(self, root: Path) -> None:
        self.layout = product.IndexLayout(root)
        self.layout.create(root.parent / "vault")

    def write(self, *upsert: product.NoteRecord) -> None:
        """Commit notes with their vectors."""
        chunks = {one.id: one.text for note in upsert for one in note.chunks}
        links = {one.sentence_id: one.sentence for note in upsert for one in note.links if one.sentence_id}
        vectors = {
            "chunks": (list(chunks), matrix_of(chunks.values())),
            "links": (list(links), matrix_of(links.values())),
        }
        batch = product.Batch(upsert=upsert, meta={"fingerprint": dict(FINGERPRINT)}, vectors=vectors)
        with product.Catalog.open(self.layout.catalog, create=True) as catalog:
            catalog.commit(batch)
            product.bring_up_to_date(self.layout, catalog)
