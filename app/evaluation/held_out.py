"""An index read as if some links were not in the vault: would the notes find each other still?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from notehop.app.evaluation.questions import LinkPair
from notehop.indexing.graph.model import Status
from notehop.indexing.graph.pagerank import pagerank
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.model import LinkRow
from notehop.indexing.stores.reader import Generation, Reader, Snapshot


def reader_without(links: frozenset[LinkPair]) -> Callable[..., Reader]:
    """What opens an index whose readers do not see these links, as :meth:`Reader.open` does.

    PageRank does not count them either; it is worked out once for each generation.
    """
    known: dict[int, Mapping[str, float]] = {}

    def shown(rows: Iterable[LinkRow]) -> list[LinkRow]:
        return [link for link in rows if (link.path, link.target_path) not in links]

    class HeldOut(Snapshot):
        """A generation without these links."""

        def links_from(self, paths: Iterable[str]) -> list[LinkRow]:
            return shown(super().links_from(paths))

        def links_to(self, paths: Iterable[str]) -> list[LinkRow]:
            return shown(super().links_to(paths))

        @property
        def pagerank(self) -> Mapping[str, float]:
            if self.generation not in known:
                edges = (
                    (link.path, link.target_path)
                    for link in shown(self._view.links())
                    if link.target_path and link.status in (Status.RESOLVED, Status.AMBIGUOUS)
                )
                known[self.generation] = pagerank([note.path for note in self.notes()], edges)
            return known[self.generation]

    class HeldOutReader(Reader):
        """A reader of such generations."""

        def _snapshot_of(self, held: Generation, view: CatalogSnapshot) -> Snapshot:
            return HeldOut(held, view)

    return HeldOutReader.open
