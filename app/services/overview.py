"""What the notes of a vault can be filtered by. Touches: index (reads), vault-read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath

from notehop.app.models import PropertyUse, VaultOverview
from notehop.app.services.current_notes import CurrentNotes
from notehop.app.services.place import Place
from notehop.indexing.stores.labels import DATE, TAG, TYPE, label_rows, property_key
from notehop.indexing.stores.model import NoteRow
from notehop.indexing.stores.reader import Snapshot

VALUES = 5
"""Values of a property that are named."""


def overview(view: Snapshot, place: Place) -> VaultOverview:
    """Count tags, folders, types and properties over the notes that are in the vault now."""
    now = CurrentNotes(view, place)
    return overview_of(place.name, now.notes_at(view.paths()).values()).model_copy(
        update={"warnings": now.reply_warnings(), "generation": view.generation}
    )


def overview_of(name: str, notes: Iterable[NoteRow]) -> VaultOverview:
    """The same of the rows of notes, as of generation 0. Pure."""
    counts: dict[str, Counter[str]] = {TAG: Counter(), TYPE: Counter(), DATE: Counter()}
    folders: Counter[str] = Counter()
    having: Counter[str] = Counter()
    total = 0
    for note in notes:
        total += 1
        folders.update(str(one) for one in PurePosixPath(note.path).parents if one.name)
        labels = label_rows(note)
        having.update({label for label, _ in labels})
        for label, value in labels:
            counts.setdefault(label, Counter())[value] += 1
    days = sorted(moment[:10] for moment in counts[DATE])
    return VaultOverview(
        name=name,
        notes=total,
        first=days[0] if days else None,
        last=days[-1] if days else None,
        folders=_most_first(folders),
        tags=_most_first(counts[TAG]),
        types=_most_first(counts[TYPE]),
        properties={
            key: PropertyUse(
                notes=number, values=[one for one in _most_first(counts[label]) if one][:VALUES]
            )
            for label, number in _most_first(having).items()
            if (key := property_key(label)) is not None
        },
        generation=0,
    )


def _most_first(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
