"""Questions for open tasks ("what is still to do for the hide?"): the passages whose boxes are not ticked."""

from __future__ import annotations

import re
from collections.abc import Iterable

from notehop.app.answer.tasks import open_items
from notehop.app.retrieval.subject import SMALL
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.stores.reader import Snapshot

_TASKS = r"(?:tasks?|to-?dos?|action items?|check ?boxes)"
_OPEN = r"(?:open|outstanding|unfinished|pending|remaining|undone|left|unticked|unchecked)"
_ASKS = re.compile(
    rf"\b{_OPEN} {_TASKS}\b"
    rf"|\b{_TASKS}(?: that)?(?: are| is|'s)?(?: still| there)*"
    rf" (?:{_OPEN}|not (?:yet )?(?:done|finished)|to do)\b"
    r"|\b(?:still|left|remains?) to (?:be )?(?:do|done)\b|\bto-?do list\b|\bleft to do\b"
    r"|\b(?:offene[nrs]?|unerledigte[nrs]?) (?:aufgaben|todos?|punkte)\b"
    r"|\b(?:aufgaben|todos) sind (?:noch )?offen\b|\bnoch zu (?:tun|erledigen)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w[\w'’.-]*", re.UNICODE)
_ASKING = frozenset(
    (
        "all", "any", "anything", "everything", "give", "have", "i", "list", "many", "me", "my",
        "need", "notes", "now", "our", "please", "right", "show", "still", "tell", "vault", "we",
        "what's", "whats", "what’s", "alle", "meine", "zeige", "zeig", "noch",
    )
)  # fmt: skip
"""Words of such a question that name nothing."""


def subject_asked(text: str) -> str | None:
    """What a question wants the open tasks of; empty for all, None where it asks for something else."""
    found = _ASKS.search(text)
    if found is None:
        return None
    words = [one for one in _WORD.finditer(text) if not found.start() <= one.start() < found.end()]
    named = [one for one in words if one[0].casefold() not in SMALL | _ASKING]
    if not named:
        return ""
    return text[named[0].start() : named[-1].end()]


def _meant(view: Snapshot, subject: str, question: str) -> set[str]:
    """The notes of a name, with the small word before it where it is a part of it ("the oven")."""
    before = re.search(rf"(\w+)\s+{re.escape(subject)}", question)
    longer = f"{before[1]} {subject}" if before else subject
    return set(view.notes_named(subject) or view.notes_named(longer))


def with_open_tasks(
    view: Snapshot, subject: str, question: str, ids: Iterable[ChunkId]
) -> tuple[tuple[ChunkId, ...], list[str]] | None:
    """The passages with open tasks, of the newest notes first, and the names that they are about.

    :param subject: the name of a note, whose tasks are wanted and those that speak of it; empty for
        all tasks.
    :param ids: the passages that may be among them.
    :returns: None where no note has that name.
    """
    own: set[str] = set()
    names: list[str] = []
    if subject:
        own = _meant(view, subject, question)
        if not own:
            return None
        names = sorted(
            {name for row in view.notes_at(own).values() for name in (row.title, *row.aliases)}
        )
    said = {one.id: one for one in view.chunks(ids).values()}
    paths = {one.path for one in said.values()}
    dates = view.catalog.dates(paths)
    ordered = sorted(paths, key=lambda path: (path in own, dates.get(path, ""), path), reverse=True)
    found = tuple(
        one.id
        for path in ordered
        for one in said.values()
        if one.path == path and open_items(one.text, () if path in own else names)
    )
    return found, names
