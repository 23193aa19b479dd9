"""Brings the index of a vault up to it.

Touches: vault-read, index, model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.container.place import Place

if TYPE_CHECKING:
    from indexing.report import Progress, Report


def update_index(
    place: Place,
    *,
    progress: Progress | None = None,
    rebuild: bool = False,
    allow_mass_delete: bool = False,
) -> Report:
    """Index what changed since the last run; with ``rebuild``, everything from nothing.

    :raises NotehopError: as :meth:`indexing.pipeline.Indexer.run`.
    """
    from indexing.pipeline import Indexer

    indexer = Indexer(place.vault, place.settings, place.layout, progress)
    return indexer.run(rebuild=rebuild, allow_mass_delete=allow_mass_delete)
