"""What was written about the notes of an index, and what is not.

Touches: index (reads).
"""

from __future__ import annotations

from notehop.app.models.status import EnrichedTexts, EnrichmentNow, NotWritten
from notehop.app.services.place import Place
from notehop.config.errors import IndexFailure
from notehop.indexing.enrich.store import EnrichmentStore


def enrichment_now(place: Place) -> EnrichmentNow | None:
    """Describe the enrichment; None where the settings ask for none."""
    asked = place.settings.enrich
    if asked.summaries == "off" and asked.headers == "off":
        return None
    nothing = EnrichmentNow(texts=[], failed=[], stopped=None, at=None)
    try:
        store = EnrichmentStore.reading(place.layout.enrichment)
        if store is None:
            return nothing
        with store:
            tally, failures, last = store.tally(), store.failures(), store.meta().get("last", {})
    except IndexFailure as exc:
        return nothing.model_copy(update={"stopped": str(exc)})
    return EnrichmentNow(
        texts=[
            EnrichedTexts.model_validate({"kind": kind, "have": have, "lack": lack})
            for kind, (have, lack) in sorted(tally.items())
        ],
        failed=[
            NotWritten(path=one.path, kind=one.kind, reason=one.reason, tries=one.tries)
            for one in failures
        ],
        stopped=last.get("stopped"),
        at=last.get("at"),
    )
