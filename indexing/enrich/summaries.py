"""The summaries of notes as they are read: by path, and only where they are of the text as it is.

Touches: index (reads ``enrichment.sqlite``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from notehop.config.errors import IndexFailure
from notehop.indexing.enrich.store import EnrichmentStore
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.model import NoteRow, NoteStatus

OWN_SUMMARY = ("summary", "description", "abstract", "excerpt")
"""Properties in which people sum a note up, the first of them that says something."""


def has_own_summary(front_matter: Mapping[str, Any]) -> bool:
    """Whether a note sums itself up: nobody else need do so then."""
    properties = {str(key).lower(): value for key, value in front_matter.items()}
    return any(
        isinstance(properties.get(key), str) and properties[key].strip() for key in OWN_SUMMARY
    )


@dataclass(frozen=True, slots=True)
class Summary:
    """A note in a line. ``model`` names the model that wrote it; None for the note's own words."""

    text: str
    model: str | None = None


class Summaries:
    """What an index has of summaries; without any, nothing. Threads may share it."""

    def __init__(self, layout: IndexLayout) -> None:
        """Open nothing yet."""
        self._layout = layout

    def of(self, notes: Iterable[NoteRow]) -> dict[str, Summary]:
        """Path -> summary, of those notes that have one of their text as it is indexed.

        One by a model goes before an extract. A store that cannot be read has none.
        """
        hashes = {
            note.path: note.content_hash for note in notes if note.status is NoteStatus.INDEXED
        }
        if not hashes or not self._layout.enrichment.is_file():
            return {}
        found: dict[str, Summary] = {}
        try:
            store = EnrichmentStore.reading(self._layout.enrichment)
            if store is None:
                return {}
            with store:
                for use, text in store.of_notes(hashes, ("summary", "extract")):
                    if use.note_hash != hashes[use.path] or not text.text:
                        continue
                    if text.kind == "summary":
                        found[use.path] = Summary(text.text, text.model)
                    else:
                        found.setdefault(use.path, Summary(text.text))
        except IndexFailure:
            return {}
        return found
