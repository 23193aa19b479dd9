"""The mark that vectors are being written, and the sweep of what a crash left behind.

Touches: index.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from indexing.stores.catalog import Catalog
from indexing.stores.layout import unwritable
from indexing.stores.vectors import Vectors


class Sweep:
    """Knows whether the vector store may hold other vectors than the catalog refers to.

    The mark is a file: set before the first vector of a batch is written, taken away when the last
    unreferenced one is deleted. Found at the start of a run, it means a run before was cut off.
    """

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    @property
    def due(self) -> bool:
        """Whether a run was cut off between its first and its last write."""
        return self._mark.exists()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the mark for the block; it stays when the block fails.

        :raises IndexUnwritable: if it cannot be set.
        """
        try:
            self._mark.touch()
        except OSError as exc:
            raise unwritable(self._mark.parent, exc) from exc
        yield
        self._mark.unlink(missing_ok=True)

    def run(self, catalog: Catalog, vectors: Vectors) -> frozenset[str]:
        """Delete vectors without a chunk or sentence, and clear the mark.

        :returns: paths of notes some of whose vectors are missing; they have to be read again.
        """
        keys = catalog.chunk_keys()
        sentences = catalog.sentence_ids()
        stored = vectors.ids("chunks"), vectors.ids("links")
        vectors.delete("chunks", sorted(stored[0] - {key.id for key in keys}))
        vectors.delete("links", sorted(stored[1].difference(sentences)))
        missing = {key.path for key in keys if key.id not in stored[0]}
        unspoken = set(sentences) - stored[1]
        if unspoken:
            missing |= {link.path for link in catalog.links() if link.sentence_id in unspoken}
        self._mark.unlink(missing_ok=True)
        return frozenset(missing)
