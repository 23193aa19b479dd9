"""Owns the recency signal: candidates that were worked on last.

Touches: index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llama_index.core.schema import QueryBundle

from notehop.app.retrieval.expansion import WINDOW, recency
from notehop.app.retrieval.index_view import Hits, IndexView
from notehop.app.retrieval.note_time import DAY, newest, says_its_time, worked_on
from notehop.app.retrieval.signals.candidates import best_by_note
from notehop.indexing.stores.model import ChunkId

NOTES = 50
"""Best notes that are ranked: a new note far down the candidates is one of chance."""


class RecencySignal:
    """Ranks notes among the candidates by when they were worked on, newest first.

    Their age is counted from the newest of them that is not to come, not from today: the same query
    over the same notes gives the same ranking next year, and a vault that rested has news, too. A
    note older than 120 days has no vote. Notes of one day keep the order in which they were found.

    A vault that was copied has files that are all of that day. So notes that do not say their time
    have no vote where their files are 120 days newer than all that say it, and where nobody says
    it, being of one day, they keep their order.
    """

    def __init__(self, view: IndexView, *, clock: Callable[[], float]) -> None:
        """Wire the signal to one generation.

        :param clock: seconds since the epoch; only tells what is still to come.
        """
        self._view = view
        self._clock = clock

    def prepare(self, candidates: Sequence[ChunkId]) -> None:
        """Have the notes of the best candidates read."""
        self._view.notes_at(best_by_note(self._view, candidates, NOTES))

    def rank(self, query: QueryBundle, candidates: Sequence[ChunkId]) -> Hits:  # noqa: ARG002
        """Return the best chunk of each note; the score halves every 30 days, from 1."""
        best = best_by_note(self._view, candidates, NOTES)
        notes = self._view.notes_at(best)
        times = {path: worked_on(note) for path, note in notes.items()}
        own = [times[path] for path, note in notes.items() if says_its_time(note)]
        now = self._clock()
        said = newest(own, now)
        if said is not None:
            times = {
                path: time
                for path, time in times.items()
                if time <= said + WINDOW or says_its_time(notes[path])
            }
        last = newest(times.values(), now)
        if last is None:
            return []
        recent = {path: time for path, time in times.items() if last - WINDOW < time <= last}
        found = {path: at for at, path in enumerate(best)}
        order = sorted(recent, key=lambda path: (-(recent[path] // DAY), found[path]))
        return [(best[path], recency(recent[path], last)) for path in order]
