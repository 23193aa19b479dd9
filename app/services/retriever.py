"""The retrieval of a vault as one LlamaIndex retriever that is always of the newest generation.

Touches: index and model, through the handle that makes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NoReturn

from llama_index.core import Settings
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from notehop.app.answer.material import open_uri
from notehop.app.retrieval.chain import Wanted
from notehop.app.retrieval.nodes import noted
from notehop.app.retrieval.trace import TracedQuery, traced

Run = Callable[[TracedQuery, Wanted], list[NodeWithScore]]


class VaultRetriever(BaseRetriever):
    """Finds sources, best first, then (unless switched off) the notes they are linked with.

    Connected notes have ``metadata["role"] == "connected"``: they are context, not to be cited.
    Each query sees one generation of the index, the newest.
    """

    def __init__(self, run: Run, wanted: Wanted, vault: str) -> None:
        """:param vault: its name, for the links that open a note."""
        super().__init__(callback_manager=Settings.callback_manager)
        self._run = run
        self._wanted = wanted
        self._vault = vault

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        # Warnings are the reply's where somebody reads the query's trace; else they are logged.
        return [
            self._linked(hit) for hit in self._run(traced(query_bundle, kept=False), self._wanted)
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        # Model, index and files are read without asyncio: a thread keeps the loop free.
        return await asyncio.to_thread(self._retrieve, query_bundle)

    def _linked(self, hit: NodeWithScore) -> NodeWithScore:
        about = hit.node.metadata
        uri = open_uri(self._vault, about["path"], about["heading_path"])
        return NodeWithScore(node=noted(hit.node, uri=uri), score=hit.score)

    def __deepcopy__(self, _: object) -> VaultRetriever:
        # The vault is open once: a copy asks the same.
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a retriever of an open vault cannot be pickled; open the vault there, and ask it for one"
        )
