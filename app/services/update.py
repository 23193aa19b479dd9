"""Brings the index of a vault up to it.

Touches: vault-read, index, model, network (a language model that the settings name).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notehop.app.services.place import Place

if TYPE_CHECKING:
    from notehop.indexing.enrich.report import Agree
    from notehop.indexing.report import Progress, Report


def update_index(
    place: Place,
    *,
    progress: Progress | None = None,
    rebuild: bool = False,
    allow_mass_delete: bool = False,
    agree: Agree | None = None,
) -> Report:
    """Index what changed since the last run; with ``rebuild``, everything from nothing.

    Then have written about the notes what the settings ask for (``[enrich]``).

    :param agree: told what a language model is to write and what that costs; says why not to go on,
        or None to go on. Without it, it goes on if the budget of a run covers all of it.
    :raises NotehopError: as :meth:`notehop.indexing.pipeline.Indexer.run`.
    """
    from notehop.indexing.enrich.enricher import enrich, with_enrichment
    from notehop.indexing.enrich.report import within_budget
    from notehop.indexing.pipeline import Indexer

    indexer = Indexer(place.vault, place.settings, place.layout, progress)
    report = indexer.run(rebuild=rebuild, allow_mass_delete=allow_mass_delete)
    return with_enrichment(report, enrich(indexer, agree or within_budget))
