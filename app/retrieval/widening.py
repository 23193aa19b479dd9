"""Owns the widening of one signal's query by the aliases of the notes another one found.

Touches: index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from llama_index.core.schema import QueryBundle

from notehop.app.retrieval.index_view import ViewSource
from notehop.app.retrieval.trace import view_for
from notehop.indexing.graph.files import fold
from notehop.indexing.stores.model import ChunkId


@dataclass(frozen=True, slots=True)
class AliasWidening:
    """Adds the aliases of the best notes of the signal ``source`` to the query of ``target``.

    ``notes`` is how many notes give their aliases.
    """

    view: ViewSource
    notes: int = 5
    source: str = "semantic"
    target: str = "lexical"

    def __post_init__(self) -> None:
        if self.notes < 1:
            raise ValueError(f"notes is {self.notes}; widening needs at least 1")

    def widened(self, query: QueryBundle, ranking: Sequence[ChunkId]) -> QueryBundle:
        """Return the query for the target: the one given, or a copy with aliases after it.

        :param ranking: chunks, best first; their notes' aliases are added note by note, each once
            and none that stands in the query already.
        """
        view = view_for(query, self.view)
        paths = dict.fromkeys(path for one in ranking if (path := view.path_of(one)) is not None)
        notes = view.notes_at(list(paths)[: self.notes]).values()
        aliases = {_key(alias): alias for note in notes for alias in note.aliases}
        there = f" {_key(query.query_str)} "
        new = [alias for key, alias in aliases.items() if f" {key} " not in there]
        return replace(query, query_str=" ".join([query.query_str, *new])) if new else query


def _key(text: str) -> str:
    return " ".join(fold(text).split())
