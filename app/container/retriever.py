"""The retrieval of a vault as one LlamaIndex retriever that is always of the newest generation.

Touches: index and model, through the handle that makes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from notehop.app.container.assembly import Wanted
from notehop.app.retrieval.trace import TracedQuery, traced

Run = Callable[[TracedQuery, Wanted], list[NodeWithScore]]


class VaultRetriever(BaseRetriever):
    """Finds sources, best first, then (unless switched off) the notes they are linked with.

    Connected notes have ``metadata["role"] == "connected"``: they are context, not to be cited.
    Each query sees one generation of the index, the newest.
    """

    def __init__(self, run: Run, wanted: Wanted) -> None:
        super().__init__()
        self._run = run
        self._wanted = wanted

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        # Warnings are the reply's where somebody reads the query's trace; else they are logged.
        return self._run(traced(query_bundle, kept=False), self._wanted)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        # Model, index and files are read without asyncio: a thread keeps the loop free.
        return await asyncio.to_thread(self._retrieve, query_bundle)
