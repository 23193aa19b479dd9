"""The vectors of chunks and of link sentences in Chroma; the only importer of chromadb.

chromadb is imported when a store is opened: a search whose vector tables are current never does.

Touches: index; network, when the store is a server named by URL.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from notehop.config.errors import (
    IndexDamaged,
    IndexFailure,
    IndexMismatch,
    IndexUnwritable,
    UsageError,
)
from notehop.indexing import faults
from notehop.indexing.stores import vectors_shared

Collection = Literal["chunks", "links"]
"""``chunks``: a vector a chunk, by chunk id. ``links``: one a link sentence, by sentence id."""

Matrix = NDArray[np.float32]

_GET = 1_000
"""Ids asked for at a time: the store's SQLite takes 32,766 variables, and answers are float64."""

_DECIMALS = 6

_GRAPH = {
    "hnsw:space": "cosine",
    # The store's own index serves whoever reads the collection with Chroma; notehop searches its
    # tables. Built with Chroma's 100, it took two thirds of the time of writing; with 20 it takes a
    # third of that, and with a wider search finds as much (recall@10 0.985 of 40,000 real vectors,
    # 0.992 with Chroma's own numbers).
    "hnsw:construction_ef": 20,
    "hnsw:M": 12,
    "hnsw:search_ef": 400,
}

_UNWRITABLE = (
    "unable to open database",
    "disk is full",
    "disk i/o error",
    "file too large",
    "readonly",
    "read-only",
    "permission denied",
    "no space left",
)
"""Words of the store's messages that say the disk refused, not that the data is bad."""


class Vectors:
    """One store of vectors of one length, compared by cosine.

    A process on whose folder another one writes must open it anew to see what was written.
    """

    def __init__(self, client: Any, label: str, dimensions: int, folder: Path | None) -> None:
        self.label = label
        self.dimensions = dimensions
        self._client = client
        self._folder = folder
        self._collections: dict[str, Any] = {}

    @classmethod
    def open(cls, where: Path | str, dimensions: int) -> Vectors:
        """Open the store in a folder, which is made if need be, or on a server (``http://…``).

        :raises UsageError: for a URL that is none.
        :raises IndexDamaged: if the folder cannot be read.
        :raises IndexUnwritable: if it cannot be made or written.
        :raises IndexFailure: if the server cannot be reached.
        """
        if isinstance(where, Path):
            with _translated(str(where)):
                client = vectors_shared.acquire(where, _embedded)
                return cls(client, str(where), dimensions, where)
        parts = urlsplit(where)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{where}: not the URL of a Chroma server; write http://host:8000")
        secure = parts.scheme == "https"
        with _translated(where):
            client = _server(parts.hostname, parts.port or (443 if secure else 8000), secure)
        return cls(client, where, dimensions, None)

    def close(self) -> None:
        """Let go of the store; a second time is nothing."""
        client, self._client = self._client, None
        self._collections.clear()
        if client is None:
            return
        if self._folder is None:
            client.close()
        else:
            vectors_shared.release(self._folder, client)

    def __enter__(self) -> Vectors:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def upsert(self, collection: Collection, ids: Sequence[str], matrix: NDArray[Any]) -> None:
        """Set the vectors of these ids, new or not; no ids, nothing to do.

        :param matrix: shape (len(ids), dimensions), rows of length 1.
        :raises ValueError: for another shape, numbers that are not finite, or an id twice.
        :raises IndexUnwritable: if the disk is full or read-only; some batches may be written.
        """
        rows = np.ascontiguousarray(matrix, dtype=np.float32)
        if rows.shape != (len(ids), self.dimensions):
            raise ValueError(
                f"{len(ids)} ids and vectors of shape {rows.shape}; "
                f"expected ({len(ids)}, {self.dimensions})"
            )
        if len(set(ids)) < len(ids) or not all(ids):
            raise ValueError("an id is empty or stands twice among those of the vectors")
        if not np.isfinite(rows).all():
            raise ValueError("a vector holds a number that is not finite")
        if not len(ids):
            return
        with _translated(self.label, writing=True):
            store = self._collection(collection, create=True)
            size = self._client.get_max_batch_size()
            for start in range(0, len(ids), size):
                stop = start + size
                store.upsert(ids=list(ids[start:stop]), embeddings=rows[start:stop])
                faults.point(f"{collection}-vectors-upserted")

    def delete(self, collection: Collection, ids: Iterable[str]) -> None:
        """Remove these ids; those that are not there are passed over.

        :raises IndexUnwritable: if the disk is full or read-only.
        """
        gone = sorted(set(ids))
        with _translated(self.label, writing=True):
            store = self._collection(collection, create=False) if gone else None
            if store is None:
                return
            size = min(_GET, self._client.get_max_batch_size())
            for start in range(0, len(gone), size):
                store.delete(ids=gone[start : start + size])
                faults.point(f"{collection}-vectors-deleted")

    def get(self, collection: Collection, ids: Iterable[str]) -> tuple[list[str], Matrix]:
        """The ids that are there, in the order given, each once, and their vectors.

        :returns: vectors of shape (found, dimensions), rows of length 1.
        """
        wanted = list(dict.fromkeys(ids))
        found: dict[str, NDArray[Any]] = {}
        with _translated(self.label):
            store = self._collection(collection, create=False) if wanted else None
            if store is not None:
                for start in range(0, len(wanted), _GET):
                    answer = store.get(ids=wanted[start : start + _GET], include=["embeddings"])
                    found.update(zip(answer["ids"], answer["embeddings"], strict=True))
        known = [one for one in wanted if one in found]
        matrix = np.array([found[one] for one in known], dtype=np.float32)
        return known, matrix.reshape(len(known), self.dimensions)

    def ids(self, collection: Collection) -> set[str]:
        """All ids of a collection."""
        with _translated(self.label):
            store = self._collection(collection, create=False)
            return set() if store is None else set(store.get(include=[])["ids"])

    def count(self, collection: Collection) -> int:
        """How many vectors a collection holds."""
        with _translated(self.label):
            store = self._collection(collection, create=False)
            return 0 if store is None else int(store.count())

    def nearest(
        self, collection: Collection, vector: NDArray[Any], k: int
    ) -> list[tuple[str, float]]:
        """About the k nearest (the store's index is approximate) and their cosine to 6 decimals.

        Best first, ties by id; fewer than k if there are not so many, empty for k < 1. It may know
        ids that a generation of the catalog lacks: drop them.

        :param vector: shape (dimensions,).
        """
        query = np.asarray(vector, dtype=np.float32)
        if query.shape != (self.dimensions,):
            raise ValueError(f"the query has shape {query.shape}, not ({self.dimensions},)")
        with _translated(self.label):
            store = self._collection(collection, create=False)
            if store is None or k < 1 or not store.count():
                return []
            answer = store.query(
                query_embeddings=query[np.newaxis, :], n_results=k, include=["distances"]
            )
        hits = [
            (one, round(1.0 - float(distance), _DECIMALS))
            for one, distance in zip(answer["ids"][0], answer["distances"][0], strict=True)
        ]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))

    def _collection(self, name: Collection, *, create: bool) -> Any:
        """The collection, or None if there is none and none shall be made."""
        if self._client is None:
            raise ValueError(f"{self.label}: the vector store is closed")
        if name not in self._collections:
            from chromadb.errors import NotFoundError

            if create:
                self._collections[name] = self._client.get_or_create_collection(
                    name, embedding_function=None, metadata=_GRAPH
                )
            else:
                try:
                    self._collections[name] = self._client.get_collection(
                        name, embedding_function=None
                    )
                except NotFoundError:
                    return None
        return self._collections[name]


def elements(folder: Path) -> int:
    """How many vectors the files of a store have room taken by, those left over included.

    What is replaced or deleted keeps its place in the store's graphs, whose lists of lengths have
    four bytes for each.
    """
    total = 0
    for lengths in folder.glob("*/length.bin"):
        with suppress(OSError):
            total += lengths.stat().st_size // 4
    return total


def _settings() -> Any:
    from chromadb.config import Settings

    # No telemetry; and no settings from a file .env that happens to lie in the current folder.
    return Settings(_env_file=None, anonymized_telemetry=False)


def _embedded(path: str) -> Any:
    import chromadb
    from chromadb.api.shared_system_client import SharedSystemClient

    try:
        return chromadb.PersistentClient(path=path, settings=_settings())
    except BaseException:
        # An engine that did not start (disk full, read-only) would be handed out again for this
        # path, broken, for as long as the process lives.
        SharedSystemClient._identifier_to_system.pop(path, None)
        raise


def _server(host: str, port: int, secure: bool) -> Any:
    import chromadb

    return chromadb.HttpClient(host=host, port=port, ssl=secure, settings=_settings())


@contextmanager
def _translated(label: str, *, writing: bool = False) -> Iterator[None]:
    from chromadb.errors import ChromaError, InvalidArgumentError
    from httpx import HTTPError

    try:
        yield
    except InvalidArgumentError as exc:
        raise IndexMismatch(
            f"{label}: the vectors do not fit ({exc}); run: notehop index --rebuild"
        ) from exc
    except OSError as exc:
        raise IndexUnwritable(
            f"{label}: the vectors cannot be reached ({exc.strerror or exc}); "
            "free space or mend the permissions, then run: notehop index"
        ) from exc
    except ChromaError as exc:
        raise _failure(label, str(exc), writing) from exc
    except (HTTPError, ValueError) as exc:
        # A ValueError is how the client says that a server is not there when it connects.
        if isinstance(exc, ValueError) and "connect" not in str(exc).lower():
            raise
        raise IndexFailure(
            f"{label}: the vector store does not answer ({exc}); is its server running?"
        ) from exc
    except BaseException as exc:
        # The engine's own panics are no Exceptions, and their class cannot be imported.
        if type(exc).__name__ == "PanicException":
            raise _failure(label, str(exc), writing) from exc
        raise


def _failure(label: str, says: str, writing: bool) -> IndexFailure:
    lower = says.lower()
    if any(word in lower for word in _UNWRITABLE):
        return IndexUnwritable(
            f"{label}: the vectors cannot be written ({says}); free space or mend the permissions, "
            "then run: notehop index"
        )
    doing = "written" if writing else "read"
    return IndexDamaged(f"{label}: the vectors cannot be {doing} ({says}); run: notehop index")
