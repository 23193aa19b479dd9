"""An index read as if some links were not in the vault: would the notes find each other still?

Touches: index (reads).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from notehop.app.evaluation.questions import LinkPair
from notehop.indexing.graph.model import Status
from notehop.indexing.graph.pagerank import pagerank
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.model import LinkRow
from notehop.indexing.stores.reader import Generation, Ranking, Reader, Snapshot

if TYPE_CHECKING:
    from notehop.indexing.stores.layout import IndexLayout


def reader_without(links: frozenset[LinkPair]) -> Callable[..., Reader]:
    """What opens an index whose readers do not see these links, as :meth:`Reader.open` does."""

    def read(
        layout: IndexLayout,
        expected: Mapping[str, object] | None = None,
        *,
        ranking: Ranking | None = None,
    ) -> Reader:
        reader = HeldOutReader.open(layout, expected, ranking=ranking)
        reader.without = Without(links)
        return reader

    return read


class Without:
    """Links that are not shown, and PageRank without them, worked out once for each generation."""

    def __init__(self, links: frozenset[LinkPair]) -> None:
        self._links = links
        self._turn = threading.Lock()
        self._made: tuple[int, Mapping[str, float]] | None = None

    def shown(self, links: Iterable[LinkRow]) -> list[LinkRow]:
        """The links that are left."""
        return [link for link in links if (link.path, link.target_path) not in self._links]

    def pagerank(self, view: HeldOut) -> Mapping[str, float]:
        """PageRank by what is left."""
        with self._turn:
            if self._made is None or self._made[0] != view.generation:
                links = (
                    (link.path, link.target_path)
                    for link in self.shown(view.all_links())
                    if link.target_path and link.status in (Status.RESOLVED, Status.AMBIGUOUS)
                )
                paths = [note.path for note in view.notes()]
                self._made = (view.generation, pagerank(paths, links))
            return self._made[1]


class HeldOut(Snapshot):
    """A generation without some of its links."""

    def __init__(self, held: Generation, view: CatalogSnapshot, without: Without) -> None:
        super().__init__(held, view)
        self._without = without

    def all_links(self) -> Iterable[LinkRow]:
        """Every link of the generation, those that are not shown included."""
        return self._view.links()

    def links_from(self, paths: Iterable[str]) -> list[LinkRow]:
        """The links that stand in these notes, but for those held out."""
        return self._without.shown(super().links_from(paths))

    def links_to(self, paths: Iterable[str]) -> list[LinkRow]:
        """The links that lead to these files, but for those held out."""
        return self._without.shown(super().links_to(paths))

    @property
    def pagerank(self) -> Mapping[str, float]:
        """PageRank without what is held out."""
        return self._without.pagerank(self)


class HeldOutReader(Reader):
    """A reader whose generations lack some links, those that PageRank counts included."""

    without: Without

    def _snapshot_of(self, held: Generation, view: CatalogSnapshot) -> Snapshot:
        return HeldOut(held, view, self.without)
