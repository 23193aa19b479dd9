"""Signals that look at the candidates of the others: links between them, their age, recent notes.

Each takes what the others found, fused, best first, and gives chunks with a score above 0, distinct,
in the order of its ranking. ``now`` is in seconds since the epoch and only tells what is to come.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time
from functools import lru_cache

from notehop.app.retrieval.components import Hits
from notehop.app.retrieval.filters import AllowedChunks, keep_allowed
from notehop.app.retrieval.intents import SubjectFinder
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.stores.rows import ChunkId, NoteRow
from notehop.indexing.vault.dates import day_in_name

DAY_S = 86_400.0  # seconds

HALF_LIFE_S = 30 * DAY_S
MAX_AGE_S = 120 * DAY_S
"""Past the window a note grows no older: four half-lives leave one sixteenth, never nothing."""

_PERIOD = re.compile(r"(?P<year>\d{4})-(?:[Ww](?P<week>\d{2})|(?P<month>\d{2}))")


@lru_cache(maxsize=50_000)
def date_in_path(path: str) -> float | None:
    """The day in the name of a note, of a week or a month (``2026-W41``, ``2026-10``) its first, in seconds
    since the epoch (noon, UTC, which is on that day nearly anywhere); None if it has none."""
    day = day_in_name(path)
    found = _PERIOD.fullmatch(posixpath.basename(path).removesuffix(".md").strip())
    if day is None and found is not None:
        year, week, month = found["year"], found["week"], found["month"]
        with suppress(ValueError):
            day = date.fromisoformat(f"{year}-W{week}-1" if week else f"{year}-{month}-01")
    return None if day is None else datetime.combine(day, time(12), UTC).timestamp()


def stated_time(note: NoteRow) -> float | None:
    """Return when a note itself says that it was last worked on; None where only its file says so: the day in
    its name, whatever a tool wrote into it since, else its properties, last change before creation."""
    day = date_in_path(note.path)
    if day is not None:
        return day
    return note.modified if note.modified != note.mtime_ns / 1e9 else note.created


def last_worked_on(note: NoteRow) -> float:
    """Return when a note was last worked on, in seconds since the epoch, as it says or else its file."""
    own = stated_time(note)
    return note.modified if own is None else own


def recency_score(worked_on: float, now: float) -> float:
    """1 for a note changed now or in the future, halved every 30 days, for 120 at most."""
    age = min(max(now - worked_on, 0.0), MAX_AGE_S)
    return float(0.5 ** (age / HALF_LIFE_S))


def _newest(times: Iterable[float], now: float) -> float | None:
    """The newest of the times that is not to come: a day in the future is a plan or a mistake."""
    # It is tomorrow somewhere.
    return max((one for one in times if one <= now + DAY_S), default=None)


def best_by_note(view: Snapshot, candidates: Iterable[ChunkId], most: int) -> dict[str, ChunkId]:
    """Path -> the best chunk of each note, in the order of the candidates, at most so many notes: a long
    one does not take all the first ranks."""
    found: dict[str, ChunkId] = {}
    for chunk_id in candidates:
        path = view.path_of(chunk_id)
        if path is not None and path not in found:
            found[path] = chunk_id
            if len(found) == most:
                break
    return found


MAX_GRAPH_NOTES = 30  # best notes whose links count: those behind them are chance hits of one signal


def rank_by_links(view: Snapshot, candidates: Sequence[ChunkId], k: int) -> Hits:
    """Rank notes among the candidates by the links that others among them hold to them.

    A backlink counts 1 / (``k`` + rank of the note that holds it), so that a hub that everybody links
    to gains nothing by that; ``k`` is the rank offset of the fusion. Ties break by PageRank.
    """
    best = best_by_note(view, candidates, MAX_GRAPH_NOTES)
    rank = {path: at for at, path in enumerate(best, start=1)}
    links = {
        (link.path, link.target_path)
        for link in view.links_from(best)
        if link.target_path in rank and link.target_path != link.path
    }
    votes: dict[str, float] = {}
    for source, target in sorted(links):
        votes[str(target)] = votes.get(str(target), 0.0) + 1 / (k + rank[source])
    pagerank = view.pagerank if votes else {}
    order = sorted(votes, key=lambda path: (-votes[path], -pagerank.get(path, 0.0), path))
    return [(best[path], votes[path]) for path in order]


MAX_RECENCY_NOTES = 50  # best notes that are ranked: a new note far down is one of chance


def rank_by_recency(view: Snapshot, candidates: Sequence[ChunkId], now: float) -> Hits:
    """Rank notes among the candidates by when they were worked on, newest first, ties of a day as found.

    Their age is counted from the newest of them that is not to come: the same notes give the same
    ranking next year. A note older than 120 days has no vote, nor has one that does not say its time
    where its file is 120 days newer than all that do: the files of a copied vault are all of a day.

    :returns: the best chunk of each note; the score halves every 30 days, from 1.
    """
    best = best_by_note(view, candidates, MAX_RECENCY_NOTES)
    notes = view.notes_at(best)
    saying = {path: stated for path, note in notes.items() if (stated := stated_time(note)) is not None}
    last_stated = _newest(saying.values(), now)
    others = {path: note.modified for path, note in notes.items() if path not in saying}
    if last_stated is not None:
        others = {path: time for path, time in others.items() if time <= last_stated + MAX_AGE_S}
    times = saying | others
    last = _newest(times.values(), now)
    if last is None:
        return []
    recent = {path: times[path] for path in best if path in times}
    recent = {path: time for path, time in recent.items() if last - MAX_AGE_S < time <= last}
    order = sorted(recent, key=lambda path: -(recent[path] // DAY_S))
    return [(best[path], recency_score(recent[path], last)) for path in order]


RECENT_WINDOW_S = 30 * DAY_S  # how far behind the last news a note may be
MAX_RECENT_NOTES = 3  # notes that are brought: more would take the places of the subject itself


def rank_recent_notes(
    view: Snapshot,
    subject: SubjectFinder,
    candidates: Sequence[ChunkId],
    now: float,
    allowed: AllowedChunks = None,
) -> Hits:
    """Bring the last notes that link to the subject, each by the allowed chunk that holds the link.

    First notes of a day (a daily note, a meeting, what has a date of creation), newest first, then
    notes that go on (a project's page, a list), by their last change: what stands around the link may
    be older. Those count that are at most 30 days older than the newest; what is dated in the future
    is left out. The score halves every 30 days, from 1.
    """
    # Note -> the first of its chunks that links to the subject, of notes outside it.
    holding: dict[str, ChunkId] = {}
    about = subject.find_notes(candidates)
    for link in view.links_to(about):
        if link.path not in holding and link.path not in about:
            ids = [link.chunk_id] if link.chunk_id else view.chunk_ids_of(link.path)
            for chunk_id in keep_allowed(ids, allowed)[:1]:
                holding[link.path] = chunk_id
    days = {path: day for path in holding if (day := date_in_path(path)) is not None}
    times_by_note = _newest_in_window(days, now)
    if len(times_by_note) < MAX_RECENT_NOTES:
        # Not read before they are needed: an old hub has thousands of notes that link to it.
        notes = view.notes_at(path for path in holding if path not in days)
        days |= {path: note.created for path, note in notes.items() if note.created is not None}
        others = [note for path, note in notes.items() if path not in days]
        # Where some say it themselves, the files of the others do not count: in a vault that was
        # copied they are all of that day.
        saying = [note for note in others if stated_time(note) is not None] or others
        news = _newest_in_window(days | {note.path: last_worked_on(note) for note in saying}, now)
        times_by_note = {path: time for path, time in news.items() if path in days} | news
    last = max(times_by_note.values(), default=0.0)
    first = list(times_by_note.items())[:MAX_RECENT_NOTES]
    return [(holding[path], recency_score(time, last)) for path, time in first]


def _newest_in_window(times: dict[str, float], now: float) -> dict[str, float]:
    """Keep the times in the window that ends with the newest, newest first, ties by path."""
    last = _newest(times.values(), now)
    if last is None:
        return {}
    near = [path for path, time in times.items() if last - RECENT_WINDOW_S <= time <= last]
    return {path: times[path] for path in sorted(near, key=lambda path: (-times[path], path))}
