"""The one order in which an index is written.

Touches: index (writes).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from indexing.pipeline.batch import Prepared
from indexing.pipeline.sweep import Sweep
from indexing.stores.catalog import Catalog
from indexing.stores.layout import IndexLayout
from indexing.stores.reader_upkeep import write_ahead
from indexing.stores.vectors import Vectors


class Writer:
    """Writes prepared batches: new vectors, one transaction, then the vectors left unreferenced."""

    def __init__(
        self,
        layout: IndexLayout,
        catalog: Catalog,
        vectors: Callable[[], Vectors],
        stamp: str,
        sweep: Sweep,
    ) -> None:
        """Take what is written.

        :param vectors: opens the vector store; called when a batch first needs it.
        :param stamp: of the catalog, as it is after the batch.
        """
        self._catalog = catalog
        self._vectors = vectors
        self._layout = layout
        self._stamp = stamp
        self._sweep = sweep

    def write(self, prepared: Prepared, meta: dict[str, Any]) -> int:
        """Write one batch and return its generation; a failure leaves the one before.

        :param meta: entries of the catalog's meta that change with it.
        :raises IndexUnwritable: if the disk is full or read-only.
        """
        batch = replace(prepared.batch, meta=meta)
        if not prepared.touches_vectors:
            return self._catalog.commit(batch)
        vectors = self._vectors()
        with self._sweep.writing():
            vectors.upsert("chunks", *prepared.chunks)
            vectors.upsert("links", *prepared.sentences)
            write_ahead(self._layout, self._stamp, chunks=prepared.chunks, links=prepared.sentences)
            generation = self._catalog.commit(batch)
            vectors.delete("chunks", sorted(prepared.replaced))
            still = self._catalog.known_sentences(prepared.unsaid)
            vectors.delete("links", sorted(prepared.unsaid - still))
        return generation
