"""Questions for open tasks, boxes that are not ticked: of a note, about a name, or due at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta

from notehop.app.lists.period import Period, day_said, period_of, time_pattern
from notehop.app.lists.vault_question import NOT, WORDS, VaultQuestion, plain_words, saying_a_day
from notehop.app.retrieval.intents import SMALL, bare, names_of
from notehop.indexing.stores.model import ChunkId, ChunkRow
from notehop.indexing.tokens.words import fold

_TASKS = WORDS["tasks"]


def _pattern(*written: str) -> re.Pattern[str]:
    text = "|".join(written)
    for name in ("open", "task", "due", "overdue", "done"):
        text = text.replace(f"{{{name}}}", _TASKS[name])
    return re.compile(text, re.IGNORECASE)


_ASKS, _ASKS_AT_A_TIME = _pattern(*_TASKS["asks"]), _pattern(*_TASKS["asks_at_a_time"])
_DUE, _OVERDUE = _pattern(r"\b(?:{due})\b"), _pattern(r"\b(?:{overdue})\b")
_STATE, _TASK = _pattern("{open}|{overdue}"), _pattern("{task}")
_PAST, _NOTED = _pattern(_TASKS["past"]), _pattern(_TASKS["noted"])
_UNDATED, _IMPORTANT = (_pattern(rf"\b{_TASKS[one]}\b") for one in ("undated", "important"))
_OF_THE, _MARK_OF_IMPORTANT = time_pattern(_TASKS["of_the"]), _pattern(_TASKS["mark_of_important"])
_DONE, _DONE_MARK = _pattern(*_TASKS["asks_for_done"]), _pattern(_TASKS["done_mark"])
_MARK, _PLAIN_DAY = _pattern(_TASKS["due_mark"]), _pattern(_TASKS["plain_day"])
_WORD = re.compile(r"\w[\w'’.-]*")
_ASKING = frozenset(_TASKS["asking"])
_BOX = {
    box: re.compile(rf"^[ \t>]*(?:[-*+]|\d{{1,9}}[.)])[ \t]+\[{box}\][ \t]+(\S.*)$", re.M)
    for box in (" ", "[xX]")
}
TITLED = 8  # notes with the words of a question in their names that are looked at
OPEN, TICKED = ("[ ]",), ("[x]", "[X]")


def due_day(task: str, *, done: bool = False) -> date | None:
    """The day on which a task is due, or was ``done``, by its line: ``📅 2026-06-03``, ``due: 2026-06-03``,
    ``(due 3 June 2026)``; None if it says none, or no year."""
    for mark in (_DONE_MARK if done else _MARK).finditer(task):
        if day := day_said(task[mark.end() : mark.end() + 24].removeprefix("[["), last=True):
            return day
    return None


@dataclass(frozen=True, slots=True)
class Due:
    """When tasks are wanted to be due; None is any day. ``strictly``: a note of that time does not do.
    ``only``: which alone are taken, whenever they are due. ``done``: those that were done then."""

    period: Period | None
    said: str
    strictly: bool = True
    only: Callable[[str], bool] | None = None
    done: bool = False

    def takes(self, task: str, day_of_note: str) -> bool:
        """Whether a task is due then; where no day is said of it, whether its note is of that time."""
        if self.only is not None:
            return self.only(task)
        if self.done and self.period is None:
            return True
        day = due_day(task, done=self.done)
        if day is None and not self.strictly and self.period:
            said = (day_said(one[0]) for one in _PLAIN_DAY.finditer(task))
            noted = date.fromisoformat(day_of_note[:10]) if day_of_note else None
            day = next(filter(None, said), noted)
        return day is not None and (self.period is None or self.period.holds(day))


@dataclass(frozen=True, slots=True)
class OpenTasks:
    """What is wanted of the open tasks of a passage: those that say one of the names, or all."""

    names: tuple[str, ...] = ()
    due: Due | None = None
    day_of_note: str = ""

    def items(self, text: str) -> list[tuple[int, int]]:
        """The half-open ranges of the open tasks in a text that are wanted."""
        # Whole words, "plants" for "plant" too: the end of a week is no "Weekend".
        said = [
            re.compile(rf"(?<!\w){re.escape(name)}[^\W\d_]{{0,2}}(?!\w)", re.IGNORECASE)
            for name in self.names
        ]
        return [
            found.span(1)
            for found in _BOX["[xX]" if self.due and self.due.done else " "].finditer(text)
            if not said or any(name.search(found[1]) for name in said)
            if self.due is None or self.due.takes(found[1], self.day_of_note)
        ]


@dataclass(frozen=True, slots=True)
class TaskQuestion:
    """What a question wants the open tasks of, empty for all, and when they are due. ``tasks`` is its word
    for tasks, empty where it asks for what is due or left to do."""

    subject: str
    due: Due | None
    tasks: str

    @property
    def none(self) -> str:
        """That there is none."""
        if self.due is not None:
            about = f" of what speaks of {self.subject}" if self.subject else ""
            return f"no open task{about} is {self.due.said}"
        if self.subject:
            return f"no open task (- [ ]) stands in {self.subject} or speaks of it"
        return "no note has an open task, a box that is not ticked"


def task_questions(
    text: str, today: date, named: Callable[[str], object]
) -> Iterator[TaskQuestion]:
    """Read a question for open tasks; none where it asks for something else, and where it names a day or
    month without a year one for each that may be meant, the likeliest first.

    :param named: whether a note is called so: a note of that name may be one of a day.
    """
    if named(bare(text)) and _STATE.search(text) is None:
        return  # a note is called "Tasks"
    if _TASK.search(text):
        text = _OF_THE.sub("this ", text)
    found = _ASKS.search(text)
    overdue, is_due = _OVERDUE.search(text), _DUE.search(text)
    periods: list[Period] = []
    if found is None or not named(_subject(text, found)):
        last, coming = (period_of(text, today, ahead=ahead) for ahead in (False, True))
        if last and coming:
            noted = not is_due and _NOTED.search(text[: last.at])
            is_past = overdue or noted or _PAST.search(text)
            periods = [*last.and_before(), coming] if is_past else [*coming.and_before()]
    said = " ".join((periods[0].rest if periods else text).split())
    dues: list[Due | None] = [None]
    done = None if NOT.search(plain_words(text)) else _DONE.search(said)
    if done:
        times = [_due(text, one, strictly=False) for one in periods]
        days = [
            replace(one, done=True, said=one.said.replace("due or noted", "done")) for one in times
        ]
        dues = [*days] or [Due(None, "done", strictly=False, done=True)]
    elif periods:
        dues = [_due(text, one, strictly=bool(overdue or is_due)) for one in periods]
    elif _UNDATED.search(text):
        dues = [Due(None, "without a due date", strictly=False, only=_is_undated)]
    elif (important := _IMPORTANT.search(text)) and not overdue and _TASK.search(text):
        said_so = f"marked as {important[0]}"
        dues = [Due(None, said_so, strictly=False, only=_is_important), None]
    elif is_due and not overdue:
        if NOT.search(plain_words(text[: is_due.start()])):
            return  # tasks without a due date
        dues = [Due(None, "due on a day that it says")]
    if overdue and not done:
        dues = [_overdue(due, today) for due in dues]
    if dues[0] is not None:
        found = done or (_ASKS_AT_A_TIME.search(said) if found is None else _ASKS.search(said))
    if found is None:
        return
    word = _TASK.search(found[0])
    tasks = "" if word is None else word[0]
    for due in dues:
        if due is None or due.period is not None or tasks:  # "what is due?" may be a rent
            marked = due is not None and due.only is _is_important
            yield TaskQuestion(_subject(said, found, marked=marked), due, tasks)


def _is_undated(task: str) -> bool:
    return due_day(task) is None


def _is_important(task: str) -> bool:
    return _MARK_OF_IMPORTANT.search(task) is not None


def _due(text: str, period: Period, *, strictly: bool) -> Due:
    period = replace(period.bounded(text), yearly=False)
    first, last = period.first, period.end - timedelta(days=1)
    if first == date.min:
        return Due(period, f"due before {period.end}")
    if period.end == date.max:
        return Due(period, f"due from {first} on")
    days = f"{first}" if last == first else f"{first} to {last}"
    return Due(period, f"due {days}" if strictly else f"due or noted {days}", strictly)


def _overdue(due: Due | None, today: date) -> Due:
    """Those that are not done though they were due, of a time if one is named other than today."""
    if due is None or due.period is None or due.period.first == today:
        return Due(Period(date.min, today, ""), "overdue")
    return replace(
        due,
        period=replace(due.period, end=min(due.period.end, today)),
        said=f"overdue and {due.said}",
    )


def _subject(text: str, found: re.Match[str], *, marked: bool = False) -> str:
    """The words of a question that say what the tasks are of, and not that they are ``marked``."""
    when = (_DUE, _OVERDUE, _UNDATED, *((_IMPORTANT,) if marked else ()))
    said = [found, *(one for pattern in when for one in pattern.finditer(text))]
    named = [
        one
        for one in _WORD.finditer(text)
        if not any(each.start() <= one.start() < each.end() for each in said)
        and fold(one[0]).casefold() not in SMALL | _ASKING
    ]
    return text[named[0].start() : named[-1].end()] if named else ""


def open_tasks(
    question: VaultQuestion, asked: TaskQuestion, ids: Iterable[ChunkId]
) -> tuple[Mapping[ChunkId, OpenTasks], bool]:
    """What is wanted of the passages with open tasks, what is due soonest first, then those of the newest
    notes; and whether the question is one for tasks of this vault, though there may be none.

    :param ids: of passages with a box.
    """
    view, own, filed = question.view, set[str](), set[str]()
    subject, names = asked.subject, list[str]()
    if subject:
        # With the small word before it where it is a part of the name ("the oven").
        before = re.search(rf"(\w+)\s+{re.escape(subject)}", question.text)
        longer = [f"{before[1]} {subject}"] if before else []
        called = names_of(subject)
        known = (view.notes_named(name) for name in (*called, *longer))
        own = set(next(filter(None, known), ()))
        filed = question.filed_under(own)
        # Those of a folder, a tag or a type are the tasks of its notes, as these are listed.
        kinds = [one for one in question.candidates(plain_words(subject)) if not one[1].key]
        of_kind = {*question.notes_called(question.tokens(subject), kinds)} if kinds else set()
        if own <= of_kind:
            filed |= of_kind
        if not own and not filed:  # the one note with that in its name that others are filed under
            titled = view.paths_of(view.lexical.holding(question.tokens(subject), "title"))
            named = sorted({one for one in titled if one})[:TITLED]
            those = [*filter(None, (question.filed_under([one]) for one in named))]
            filed = those[0] if len(those) == 1 else set()
        own_rows = view.notes_at(own).values()
        # What no note is called is looked for in the tasks themselves.
        names = (
            sorted({name for row in own_rows for name in (row.title, *row.aliases)}) or called[-1:]
        )
    by_note: dict[str, list[ChunkRow]] = {}
    for one in view.chunks(ids).values():
        by_note.setdefault(one.path, []).append(one)
    # A note that has none may be what the tasks of others are of.
    words = frozenset(question.tokens(subject) if subject and own.isdisjoint(by_note) else ())
    rows = view.notes_at(by_note)
    # "The seminar" is the note, or the section, that has the word in its name.
    placed = {
        one.id
        for path, row in rows.items()
        for one in by_note[path]
        if words and words <= {*question.tokens((row.title, *one.heading_path))}
    }
    own |= {one.path for of_note in by_note.values() for one in of_note if one.id in placed}
    dates, says_day = view.catalog.dates(by_note), {*saying_a_day(rows)}
    ordered = sorted(by_note, key=lambda path: (dates.get(path, ""), path), reverse=True)
    found: dict[ChunkId, OpenTasks] = {}
    soonest: dict[ChunkId, tuple[bool, date]] = {}
    for path in ordered:
        day = dates.get(path, "") if path in says_day else ""
        for one in by_note[path]:
            whole = one.id in placed or path in filed or (path in own and not placed)
            wanted = OpenTasks(() if whole else tuple(names), asked.due, day)
            if items := wanted.items(one.text):
                found[one.id] = wanted
                days = (due_day(one.text[start:end]) for start, end in items)
                soonest[one.id] = (path not in own, min(filter(None, days), default=date.max))
    in_order = sorted(found, key=soonest.__getitem__)
    return {one: found[one] for one in in_order}, bool(found or own or not subject)
