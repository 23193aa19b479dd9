"""Everything that an index says of its vault, as values that can be compared."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tests.support import product

QUESTIONS = ("tides at the sea wall", "Ewe Point", "high water", "潮汐", "foo_bar 2026.4.10", "Bram")

_OWN_META = {"identity", "generation", "commit", "vault", "written"}
"""What two indexes of equal content need not share."""

_LIKENESS = 1e-6
"""How far two copies of a vector may differ: the store scales what it is given to length 1."""

Told = dict[str, Any]
"""Name of a thing -> what is said of it."""


def catalog_rows(address: product.CatalogAddress) -> Told:
    """Every row of the catalog, by table and key; without generations, which tell how it came."""
    told: Told = {}
    with product.Catalog.open(address, read_only=True) as catalog, catalog.snapshot() as view:
        for table in product.METADATA.sorted_tables:
            if table.name == "changes":
                continue
            columns = [column.name for column in table.columns]
            keys = [column.name for column in table.primary_key]
            for row in view.answer(table.select(), tuple):
                said = dict(zip(columns, row, strict=True))
                if table.name == "meta" and said["key"] in _OWN_META:
                    continue
                said.pop("generation", None)
                if table.name == "notes" and said["status"] == "skipped" and not said["content_hash"]:
                    # Kept out unread: nobody follows its size and time.
                    del said["size"], said["mtime_ns"]
                told[f"{table.name} {[said[key] for key in keys]}"] = said
    return told


def graph_of(snapshot: product.Snapshot) -> Told:
    rows = snapshot.notes_at(snapshot.paths())
    graph = product.build_graph(rows.values(), snapshot.links_from(rows))
    told: Told = {f"node {path}": said for path, said in graph.nodes(data=True)}
    for source, target, key, said in graph.edges(keys=True, data=True):
        told[f"edge {source} -> {target} ({key})"] = said
    return told


def ranks_of(snapshot: product.Snapshot) -> Told:
    _ = snapshot.pagerank  # sets the work going beside the queries, as queries do
    return {f"rank of {path}": rank for path, rank in snapshot.pagerank.items()}


def lexical_hits(snapshot: product.Snapshot, tokens: set[str]) -> Told:
    """What each token finds, and each of some questions: ids and scores, best first."""
    words = product.Tokenizer("en")
    asked: dict[str, list[str]] = {token: [token] for token in tokens}
    asked |= {question: words.query(question) for question in QUESTIONS}
    told: Told = {f"hits of {text}": snapshot.lexical.top(query, 500) for text, query in asked.items()}
    told["documents"] = snapshot.lexical.ids()
    return told


def tokens_of(snapshot: product.Snapshot) -> set[str]:
    chunks = snapshot.chunks(one for path in snapshot.paths() for one in snapshot.chunk_ids_of(path))
    fields = (product.unpack_tokens(chunk.tokens) for chunk in chunks.values())
    return {token for held in fields for tokens in held.values() for token in tokens}


def places(snapshot: product.Snapshot) -> Told:
    """What a reader knows of notes, chunks and links without asking the catalog's tables."""
    told: Told = {"warnings": snapshot.warnings}
    for path in snapshot.paths():
        told[f"chunks of {path}"] = [
            (one.id, one.ordinal, one.text, one.first_line, one.last_line) for one in snapshot.chunks_of(path)
        ]
        told[f"links from {path}"] = snapshot.links_from([path])
        told[f"links to {path}"] = snapshot.links_to([path])
    for note in snapshot.notes():
        told[f"note {note.path}"] = snapshot.note(note.path), snapshot.notes_named(note.title)
    return told


def table_vectors(snapshot: product.Snapshot) -> Told:
    """The vectors that the reader compares: of all chunks, and of the sentences that links have."""
    links = snapshot.links_from(n.path for n in snapshot.notes())
    sentences = {link.sentence_id for link in links if link.sentence_id is not None}
    ids = sorted(snapshot.chunk_vectors.ids)
    told: Told = {"ids of chunks": ids}
    for name, (found, rows) in (
        ("chunk", snapshot.chunk_vectors.rows(ids)),
        ("sentence", snapshot.catalog.vectors("links", sentences)),
    ):
        told |= {f"{name} {one}": row for one, row in zip(found, rows, strict=True)}
    return told


def mirrored(layout: product.IndexLayout) -> Told:
    """What the mirror holds for other programs: of a copy, for Chroma writes when it is opened."""
    import chromadb

    copy = Path(shutil.copytree(layout.chroma, layout.root.with_name("chroma-copy")))
    try:
        client = chromadb.PersistentClient(str(copy), chromadb.Settings(anonymized_telemetry=False))
        found = client.get_collection(product.COLLECTION, embedding_function=None).get(
            include=["documents", "embeddings", "metadatas"]
        )
        client.close()
    finally:
        shutil.rmtree(copy)
    rows = zip(*(found[key] for key in ("ids", "documents", "embeddings", "metadatas")), strict=True)
    told: Told = {}
    for one, text, vector, about in rows:
        told[f"mirrored {one}"] = text, about["path"], about["title"]
        told[f"vector of {one}"] = vector
    return told


def to_be_mirrored(catalog: product.Catalog) -> Told:
    """What it should hold."""
    told: Told = {}
    titles = {note.path: note.title for note in catalog.notes()}
    ids = [key.id for key in catalog.chunk_keys()]
    for one, vector in zip(*catalog.vectors("chunks", ids), strict=True):
        told[f"vector of {one}"] = vector
    for path in titles:
        told |= {f"mirrored {o.id}": (o.text, path, titles[path]) for o in catalog.chunks_of(path)}
    return told


def differences(found: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    """Each thing that is not as expected, in words; nothing if all is equal."""
    for name in sorted(found.keys() | expected.keys()):
        if name not in found:
            yield f"missing: {name}: {expected[name]}"
        elif name not in expected:
            yield f"too much: {name}: {found[name]}"
        elif not _equal(found[name], expected[name]):
            yield f"{name}:\n  followed: {found[name]}\n  anew:     {expected[name]}"


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return bool(np.allclose(one, other, rtol=0, atol=_LIKENESS))
    return bool(one == other)
