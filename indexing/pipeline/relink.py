"""Links of untouched notes that lead elsewhere because other notes came, went or changed.

Touches: index (reads).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from notehop.indexing.graph.files import VaultFiles
from notehop.indexing.graph.model import ResolvedLink
from notehop.indexing.graph.resolve import resolve_link
from notehop.indexing.pipeline.records import as_written, redirected
from notehop.indexing.pipeline.targets import Targets
from notehop.indexing.stores.catalog_read import CatalogReads
from notehop.indexing.stores.model import LinkRow


def relink(
    catalog: CatalogReads,
    files: VaultFiles,
    targets: Targets,
    *,
    names: Collection[str],
    changed: Iterable[str],
    except_from: Collection[str],
    every_link: bool = False,
) -> tuple[LinkRow, ...]:
    """Resolve again the links that a change can move, and return those that it did move.

    :param names: link names (:func:`notehop.indexing.graph.files.affected_names`) of files that came, went,
        or got other aliases.
    :param changed: notes whose outline or chunks may be other than before.
    :param except_from: notes whose links are written or deleted anyway.
    :param every_link: look at all links, whatever ``names`` and ``changed`` say.
    :returns: sorted by path and ordinal.
    """
    found = catalog.links() if every_link else catalog.links_named(names)
    rows = {(row.path, row.ordinal): row for row in found}
    if not every_link:
        rows |= {(row.path, row.ordinal): row for row in catalog.links_to(changed)}
    again = [
        (row, resolve_link(files, row.path, as_written(row), targets.outline))
        for key, row in sorted(rows.items())
        if key[0] not in except_from
    ]
    targets.load_chunks(_notes(resolved for _, resolved in again))
    moved = [(row, redirected(row, res, targets.chunk_of(res))) for row, res in again]
    return tuple(new for row, new in moved if new != row)


def _notes(links: Iterable[ResolvedLink]) -> set[str]:
    return {link.resolution.path for link in links if link.resolution.path is not None}
