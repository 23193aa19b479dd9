"""The mirror of the catalog in Chroma, for other LlamaIndex programs; no search of notehop reads it.

Chroma may end or hang the process that has it open, so a child process writes it::

    python -m notehop.indexing.stores.chroma INDEX_FOLDER

It holds the chunks, as ``ChromaVectorStore`` adds nodes. What it holds is written down last, so that
one that was cut off is filled anew. The only importer of chromadb.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from posixpath import dirname
from typing import Any, TypedDict

from notehop.config.errors import IndexFailure
from notehop.indexing import crash_points
from notehop.indexing.process import run_to_its_end, when_input_ends
from notehop.indexing.stores.catalog import Catalog, CatalogSnapshot, read_catalog_state
from notehop.indexing.stores.catalog_read import slices
from notehop.indexing.stores.filter_labels import date_label
from notehop.indexing.stores.layout import IndexLayout, ServerCatalog, read_json, replace_file
from notehop.indexing.stores.rows import Matrix

COLLECTION = "chunks"

_STATE = "mirror.json"

_AT_ONCE = 1_000  # chunks written together: 10 MB with their texts

_SECONDS = 60.0
_SECONDS_A_MEGABYTE = 3.0
"""How long the child may take, and how much longer for each MB of catalog: ten times what it does."""

_GRAPH = {
    "hnsw:space": "cosine",
    # With Chroma's 100, building took three times as long; with 20 and a wider search it finds as
    # much (recall@10 0.985 of 40,000 real vectors, 0.992 with Chroma's own numbers).
    "hnsw:construction_ef": 20,
    "hnsw:M": 12,
    "hnsw:search_ef": 400,
}


@dataclass(frozen=True, slots=True)
class MirrorState:
    """The generation that the mirror holds."""

    generation: int
    stamp: str


class MirrorFailed(Exception):
    """The mirror holds something else than the catalog."""


class Rows(TypedDict):
    """Chunks as ``ChromaVectorStore`` adds nodes, by column."""

    ids: list[str]
    embeddings: Matrix
    documents: list[str]
    metadatas: list[dict[str, Any]]


def read_rows(view: CatalogSnapshot, ids: Sequence[str]) -> Rows:
    """The rows of those chunks that have a vector."""
    from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
    from llama_index.core.vector_stores.utils import node_to_metadata_dict

    found, matrix = view.vectors("chunks", ids)
    chunks = view.chunks(found)
    notes = view.notes_at({chunk.path for chunk in chunks.values()})
    rows = Rows(ids=found, embeddings=matrix, documents=[], metadatas=[])
    for one, chunk in chunks.items():
        note = notes[chunk.path]
        node = TextNode(
            id_=one,
            text=chunk.text,
            metadata={
                "path": chunk.path,
                "title": note.title,
                "folder": dirname(chunk.path),
                "heading": " > ".join(chunk.heading_path),
                "first_line": chunk.first_line,
                "last_line": chunk.last_line,
                "kind": chunk.kind,
                "tags": ", ".join(note.tags),
                "type": note.page_type or "",
                "date": date_label(note),
            },
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=chunk.path)},
        )
        rows["documents"].append(chunk.text)
        metadata = node_to_metadata_dict(node, remove_text=True, flat_metadata=True)
        rows["metadatas"].append(metadata)
    return rows


def read_mirror(layout: IndexLayout) -> MirrorState | None:
    """What the mirror holds; None if there is none that was finished."""
    return read_json(MirrorState, layout.chroma / _STATE)


def mirror_due(layout: IndexLayout) -> bool:
    """Whether the mirror has to be brought to the generation of the run that ended last."""
    newest, state = read_catalog_state(layout), read_mirror(layout)
    if newest is None or not newest.generation:
        return False
    return state != MirrorState(newest.generation, newest.stamp)


def mirror_problem(layout: IndexLayout, view: CatalogSnapshot) -> str | None:
    """Why the mirror is not there; None if it is, be it behind."""
    state = read_mirror(layout)
    if state is None:
        return "there is no copy for other programs"
    if state.stamp != view.stamp or state.generation > view.generation:
        return "it is of another index"
    return None


def remove_mirror(layout: IndexLayout) -> None:
    """Remove the mirror, and so every word and number of it; IndexUnwritable if the disk
    refuses."""
    # First what says that it is whole, in case this is cut off.
    layout.remove(layout.chroma / _STATE)
    layout.remove(layout.chroma)
    crash_points.point("mirror-removed")


def write_in_child(
    layout: IndexLayout, interrupted: Callable[[], bool], *, seconds: float = _SECONDS
) -> str | None:
    """Run :func:`write_mirror` in a process of its own; why it failed, or None.

    :param interrupted: asked now and then; the child is killed once it says so, or takes too long.
    :param seconds: that it may take, beside what it gets for the size of the catalog.
    """
    # -P: the folder that this process runs in, a vault perhaps, is not where modules come from.
    command = [sys.executable, "-P", "-m", "notehop.indexing.stores.chroma", str(layout.root)]
    if (server := layout.database) is not None:
        command += [server.url, server.schema, *server.allowed]
    try:
        with Catalog.open(layout.catalog, read_only=True) as catalog:
            megabytes = catalog.database.size / 1e6
        until = time.monotonic() + seconds + _SECONDS_A_MEGABYTE * megabytes
        code, last = run_to_its_end(command, lambda: interrupted() or time.monotonic() >= until)
    except (OSError, IndexFailure) as exc:
        return str(exc)
    if not code:
        return None
    if interrupted():
        return "it was interrupted"
    return "it does not answer" if time.monotonic() >= until else last or "it ended its process"


Write = Callable[[IndexLayout, Callable[[], bool]], str | None]


def update_mirror(
    layout: IndexLayout, interrupted: Callable[[], bool] = lambda: False, write: Write = write_in_child
) -> str | None:
    """Bring the mirror to the generation of the run that ended last; one that fails is filled anew.

    :returns: a warning if there is no mirror now; nothing else depends on it.
    :raises IndexUnwritable: if what failed cannot be removed.
    """
    if not mirror_due(layout):
        return None
    problem = "not whole" if read_mirror(layout) is None else write(layout, interrupted)
    if problem is not None and not interrupted():
        remove_mirror(layout)
        problem = write(layout, interrupted)
    if problem is None:
        return None
    remove_mirror(layout)
    if interrupted():
        return None
    return (
        f"{layout.chroma}: the copy for other programs was not made ({problem}); "
        "no search reads it; the next run tries again"
    )


def write_mirror(layout: IndexLayout) -> None:
    """Take in what changed since the generation that the mirror holds: everything, if it has none;
    MirrorFailed if it holds something else then."""
    import chromadb
    from chromadb.config import Settings

    state = read_mirror(layout)
    with Catalog.open(layout.catalog, read_only=True) as catalog, catalog.snapshot() as view:
        if state is not None and (state.stamp != view.stamp or state.generation > view.generation):
            raise MirrorFailed("it is of another index")
        (layout.chroma / _STATE).unlink(missing_ok=True)
        crash_points.point("mirror-begun")
        layout.chroma.mkdir(mode=0o700, exist_ok=True)
        # No telemetry; and no settings from a file .env that happens to lie in the current folder.
        settings = Settings(_env_file=None, anonymized_telemetry=False)
        client: Any = chromadb.PersistentClient(str(layout.chroma), settings)
        with closing(client):
            collection = client.get_or_create_collection(COLLECTION, embedding_function=None, metadata=_GRAPH)
            paths = None if state is None else view.changed_paths(state.generation)
            for part in slices(paths or [], _AT_ONCE):
                collection.delete(where={"document_id": {"$in": list(part)}})
            for ids in slices([key.id for key in view.chunk_keys(paths)], _AT_ONCE):
                collection.add(**read_rows(view, ids))
                crash_points.point("mirror-added")
            held, wanted = collection.count(), len(view.chunk_keys())
            if held != wanted:
                raise MirrorFailed(f"it holds {held} of {wanted} chunks")
        crash_points.point("mirror-written")
        done = MirrorState(view.generation, view.stamp)
        replace_file(layout.chroma / _STATE, json.dumps(asdict(done)))


def main(root: str, url: str = "", schema: str = "", *allowed: str) -> int:
    """Write the mirror of the index in a folder, whose catalog may be on a server; the last line on
    stderr says what failed."""

    when_input_ends(partial(os._exit, 1))
    os.umask(0o077)
    server = ServerCatalog(url, schema, allowed=allowed) if url else None
    write_mirror(IndexLayout(Path(root), server))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
