"""The one order in which an index is written.

Touches: index (writes).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from notehop.indexing.pipeline.batch import Prepared
from notehop.indexing.pipeline.sweep import Sweep
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.lag import note_lag
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.limits import LIMITS, Limits
from notehop.indexing.stores.model import Batch
from notehop.indexing.stores.vectors import Vectors


class Writer:
    """Writes prepared batches: new vectors, one transaction, then the vectors left unreferenced.

    Where the vector store may lag behind, it is left as it is, and a file says what it will have to
    take in.
    """

    def __init__(
        self,
        layout: IndexLayout,
        catalog: Catalog,
        vectors: Callable[[], Vectors],
        sweep: Sweep,
        may_lag: Callable[[], bool],
        limits: Limits = LIMITS,
    ) -> None:
        """Take what is written.

        :param vectors: opens the vector store; called when a batch first needs it.
        :param may_lag: whether the vector store may be left behind, if the batch is small.
        """
        self._catalog = catalog
        self._vectors = vectors
        self._layout = layout
        self._sweep = sweep
        self._may_lag = may_lag
        self._limits = limits

    def write(self, prepared: Prepared, meta: dict[str, Any]) -> int:
        """Write one batch and return its generation; a failure leaves the one before.

        :param meta: entries of the catalog's meta that change with it.
        :raises IndexUnwritable: if the disk is full or read-only.
        """
        batch = replace(
            prepared.batch,
            meta=meta,
            vectors={"chunks": prepared.chunks, "links": prepared.sentences},
        )
        if not prepared.touches_vectors:
            return self._catalog.commit(batch)
        if prepared.vectors <= self._limits.lag_batch and self._may_lag():
            return self._commit_ahead(prepared, batch)
        vectors = self._vectors()
        with self._sweep.writing():
            vectors.upsert("chunks", *prepared.chunks)
            vectors.upsert("links", *prepared.sentences)
            generation = self._catalog.commit(batch)
            vectors.delete("chunks", sorted(prepared.replaced))
            still = self._catalog.known_sentences(prepared.unsaid)
            vectors.delete("links", sorted(prepared.unsaid - still))
        return generation

    def _commit_ahead(self, prepared: Prepared, batch: Batch) -> int:
        """Write a batch that the vector store takes in later."""
        said = {link.sentence_id for record in batch.upsert for link in record.links}
        note_lag(
            self._layout,
            added={"chunks": prepared.chunks[0], "links": prepared.sentences[0]},
            left={"chunks": prepared.replaced, "links": prepared.unsaid - said},
        )
        return self._catalog.commit(batch)
