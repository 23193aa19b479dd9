"""Owns recent-notes recall: the last notes that link to what the query is about.

Touches: index.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from llama_index.core.schema import QueryBundle

from notehop.app.retrieval.expansion import recency
from notehop.app.retrieval.filters.allowed import Allowed, among
from notehop.app.retrieval.index_view import Hits, IndexView
from notehop.app.retrieval.note_time import DAY, day_of, newest, own_day, says_its_time, worked_on
from notehop.app.retrieval.subject import Subject
from notehop.indexing.stores.model import ChunkId, NoteRow

WINDOW = 30 * DAY
"""How far behind the last news a note may be."""

NOTES = 3
"""Notes that are brought: the last news and what came before it. More would take the places of the
subject itself, and a question about how something stands has one answer, not a history."""


class RecentSignal:
    """Brings the last notes that link to the subject, each by the chunk that holds the link.

    First notes of a day (a daily note, a meeting, what has a date of creation), newest first: what
    they say is of that day. Then notes that go on (a project's page, a list), by their last change,
    for what stands around the link may be older. Those count that are at most 30 days older than
    the newest, so that the last news of what rested for a year is found as well; what is dated in
    the future is left out.
    """

    def __init__(
        self,
        view: IndexView,
        subject: Subject,
        *,
        clock: Callable[[], float],
        allowed: Allowed | Collection[ChunkId] | None = None,
    ) -> None:
        """Wire the signal to one generation.

        :param clock: seconds since the epoch; only tells what is still to come.
        :param allowed: bring these chunks only; None for all.
        """
        self._view = view
        self._subject = subject
        self._clock = clock
        self._allowed = allowed

    def rank(self, query: QueryBundle, candidates: Sequence[ChunkId]) -> Hits:  # noqa: ARG002
        """Return one chunk a note, newest first; the score halves every 30 days, from 1."""
        subject = self._subject.notes(candidates)
        holding = self._holding(subject)
        now = self._clock()
        days = {path: day for path in holding if (day := day_of(path)) is not None}
        found = _last(days, now)
        if len(found) < NOTES:
            # Not read before they are needed: an old hub has thousands of notes that link to it.
            notes = self._view.notes_at(path for path in holding if path not in days)
            days |= _own_days(notes.values())
            others = _worked_on(note for note in notes.values() if note.path not in days)
            news = _last(days | others, now)
            found = {path: time for path, time in news.items() if path in days} | news
        last = max(found.values(), default=0.0)
        return [(holding[path], recency(time, last)) for path, time in list(found.items())[:NOTES]]

    def _holding(self, subject: Collection[str]) -> dict[str, ChunkId]:
        """Note -> the first of its chunks that links to the subject, of notes outside it."""
        found: dict[str, ChunkId] = {}
        for link in self._view.links_to(subject):
            if link.path in found or link.path in subject:
                continue
            ids = [link.chunk_id] if link.chunk_id else self._view.chunk_ids_of(link.path)
            for chunk_id in among(ids, self._allowed)[:1]:
                found[link.path] = chunk_id
        return found


def _own_days(notes: Iterable[NoteRow]) -> dict[str, float]:
    days = ((note.path, own_day(note)) for note in notes)
    return {path: day for path, day in days if day is not None}


def _worked_on(notes: Iterable[NoteRow]) -> dict[str, float]:
    """When notes were worked on. Where some say it themselves, the files of the others do not
    count: in a vault that was copied they are all of that day."""
    known = list(notes)
    saying = [note for note in known if says_its_time(note)]
    return {note.path: worked_on(note) for note in saying or known}


def _last(times: dict[str, float], now: float) -> dict[str, float]:
    """Those of the window that ends with the newest, newest first, ties by path."""
    last = newest(times.values(), now)
    if last is None:
        return {}
    near = [path for path, time in times.items() if last - WINDOW <= time <= last]
    return {path: times[path] for path in sorted(near, key=lambda path: (-times[path], path))}
