"""Questions for open tasks, boxes that are not ticked: of a note, about a name, or due at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta

from notehop.app.lists.period import Period, parse_day, parse_period, time_pattern
from notehop.app.lists.vault_question import (
    NEGATION,
    WORDS,
    VaultQuestion,
    normalize_words,
    notes_stating_day,
)
from notehop.app.retrieval.intents import ALL_FUNCTION_WORDS, name_candidates, strip_punctuation
from notehop.indexing.stores.rows import ChunkId, ChunkRow
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
_DUE_MARK, _PLAIN_DAY = _pattern(_TASKS["due_mark"]), _pattern(_TASKS["plain_day"])
_WORD = re.compile(r"\w[\w'’.-]*")
_ASKING = frozenset(_TASKS["asking"])
_BOX = {
    box: re.compile(rf"^[ \t>]*(?:[-*+]|\d{{1,9}}[.)])[ \t]+\[{box}\][ \t]+(\S.*)$", re.M)
    for box in (" ", "[xX]")
}
MAX_TITLED_NOTES = 8  # notes with the words of a question in their names that are looked at
BOXES = {False: ("[ ]",), True: ("[x]", "[X]")}  # whether a task is done -> its box


def due_day(task: str, *, done: bool = False) -> date | None:
    """The day on which a task is due, or was ``done``, by its line: ``📅 2026-06-03``, ``due: 2026-06-03``,
    ``(due 3 June 2026)``; None if it says none, or no year."""
    for mark in (_DONE_MARK if done else _DUE_MARK).finditer(task):
        if day := parse_day(task[mark.end() : mark.end() + 24].removeprefix("[["), last=True):
            return day
    return None


@dataclass(frozen=True, slots=True)
class DueFilter:
    """When tasks have to be due; a ``period`` of None is any day. ``strictly``: a note of that time does
    not do. ``only``: which alone are taken, whenever they are due. ``done``: those done then."""

    period: Period | None
    description: str
    strictly: bool = True
    only: Callable[[str], bool] | None = None
    done: bool = False

    def matches(self, task: str, day_of_note: str) -> bool:
        """Tell whether a task is due then; where no day is said of it, whether its note is of that time."""
        if self.only is not None:
            return self.only(task)
        if self.done and self.period is None:
            return True
        day = due_day(task, done=self.done)
        if day is None and not self.strictly and self.period:
            days = (parse_day(one[0]) for one in _PLAIN_DAY.finditer(task))
            note_day = date.fromisoformat(day_of_note[:10]) if day_of_note else None
            day = next(filter(None, days), note_day)
        return day is not None and (self.period is None or self.period.contains(day))


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """Selects open tasks of a passage: those that say one of the names, or all, and are due."""

    names: tuple[str, ...] = ()
    due: DueFilter | None = None
    day_of_note: str = ""

    def find_ranges(self, text: str) -> list[tuple[int, int]]:
        """Return the half-open ranges of the matching tasks in a text."""
        # Whole words, "plants" for "plant" too: the end of a week is no "Weekend".
        patterns = [
            re.compile(rf"(?<!\w){re.escape(name)}[^\W\d_]{{0,2}}(?!\w)", re.IGNORECASE)
            for name in self.names
        ]
        return [
            match.span(1)
            for match in _BOX["[xX]" if self.due and self.due.done else " "].finditer(text)
            if not patterns or any(name.search(match[1]) for name in patterns)
            if self.due is None or self.due.matches(match[1], self.day_of_note)
        ]


@dataclass(frozen=True, slots=True)
class TaskQuestion:
    """What a question wants the open tasks of, empty for all, and when they are due. ``task_word`` is its
    word for tasks, empty where it asks for what is due or left to do."""

    subject: str
    due: DueFilter | None
    task_word: str

    @property
    def no_tasks_message(self) -> str:
        """Say that there is no such task."""
        if self.due is not None:
            about = f" of what speaks of {self.subject}" if self.subject else ""
            return f"no open task{about} is {self.due.description}"
        if self.subject:
            return f"no open task (- [ ]) stands in {self.subject} or speaks of it"
        return "no note has an open task, a box that is not ticked"


def parse_task_questions(
    text: str, today: date, find_named: Callable[[str], object]
) -> Iterator[TaskQuestion]:
    """Read a question for open tasks; none where it asks for something else, and where it names a day or
    month without a year one for each that may be meant, the likeliest first.

    :param find_named: the notes that are called so: a note of that name may be one of a day.
    """
    if find_named(strip_punctuation(text)) and _STATE.search(text) is None:
        return  # a note is called "Tasks"
    if _TASK.search(text):
        text = _OF_THE.sub("this ", text)
    match = _ASKS.search(text)
    overdue, is_due = _OVERDUE.search(text), _DUE.search(text)
    periods: list[Period] = []
    if match is None or not find_named(_find_subject(text, match)):
        last, coming = (parse_period(text, today, ahead=ahead) for ahead in (False, True))
        if last and coming:
            noted = not is_due and _NOTED.search(text[: last.at])
            is_past = overdue or noted or _PAST.search(text)
            periods = [*last.with_earlier_years(), coming] if is_past else [*coming.with_earlier_years()]
    rest_text = " ".join((periods[0].rest if periods else text).split())
    dues: list[DueFilter | None] = [None]
    done = None if NEGATION.search(normalize_words(text)) else _DONE.search(rest_text)
    if done:
        times = [_make_due(text, one, strictly=False) for one in periods]
        days = [
            replace(one, done=True, description=one.description.replace("due or noted", "done"))
            for one in times
        ]
        dues = [*days] or [DueFilter(None, "done", strictly=False, done=True)]
    elif periods:
        dues = [_make_due(text, one, strictly=bool(overdue or is_due)) for one in periods]
    elif _UNDATED.search(text):
        dues = [DueFilter(None, "without a due date", strictly=False, only=_is_undated)]
    elif (important := _IMPORTANT.search(text)) and not overdue and _TASK.search(text):
        said_so = f"marked as {important[0]}"
        dues = [DueFilter(None, said_so, strictly=False, only=_is_important), None]
    elif is_due and not overdue:
        if NEGATION.search(normalize_words(text[: is_due.start()])):
            return  # tasks without a due date
        dues = [DueFilter(None, "due on a day that it says")]
    if overdue and not done:
        dues = [_make_overdue(due, today) for due in dues]
    if dues[0] is not None:
        match = done or (_ASKS_AT_A_TIME.search(rest_text) if match is None else _ASKS.search(rest_text))
    if match is None:
        return
    word = _TASK.search(match[0])
    tasks = "" if word is None else word[0]
    for due in dues:
        if due is None or due.period is not None or tasks:  # "what is due?" may be a rent
            marked = due is not None and due.only is _is_important
            yield TaskQuestion(_find_subject(rest_text, match, marked=marked), due, tasks)


def _is_undated(task: str) -> bool:
    return due_day(task) is None


def _is_important(task: str) -> bool:
    return _MARK_OF_IMPORTANT.search(task) is not None


def _make_due(text: str, period: Period, *, strictly: bool) -> DueFilter:
    period = replace(period.apply_bounds(text), yearly=False)
    first, last = period.first, period.end - timedelta(days=1)
    if first == date.min:
        return DueFilter(period, f"due before {period.end}")
    if period.end == date.max:
        return DueFilter(period, f"due from {first} on")
    days = f"{first}" if last == first else f"{first} to {last}"
    return DueFilter(period, f"due {days}" if strictly else f"due or noted {days}", strictly)


def _make_overdue(due: DueFilter | None, today: date) -> DueFilter:
    """Make the filter of tasks that are overdue, in a period if one is named other than today."""
    if due is None or due.period is None or due.period.first == today:
        return DueFilter(Period(date.min, today, ""), "overdue")
    return replace(
        due,
        period=replace(due.period, end=min(due.period.end, today)),
        description=f"overdue and {due.description}",
    )


def _find_subject(text: str, match: re.Match[str], *, marked: bool = False) -> str:
    """The words of a question that say what the tasks are of, and not that they are ``marked``."""
    when = (_DUE, _OVERDUE, _UNDATED, *((_IMPORTANT,) if marked else ()))
    matches = [match, *(one for pattern in when for one in pattern.finditer(text))]
    words = [
        one
        for one in _WORD.finditer(text)
        if not any(each.start() <= one.start() < each.end() for each in matches)
        and fold(one[0]).casefold() not in ALL_FUNCTION_WORDS | _ASKING
    ]
    return text[words[0].start() : words[-1].end()] if words else ""


def find_tasks(
    question: VaultQuestion, task_question: TaskQuestion, ids: Iterable[ChunkId]
) -> tuple[Mapping[ChunkId, TaskFilter], bool]:
    """Find the passages with matching tasks, due soonest first, then those of the newest notes, with what
    selects the tasks of each; and whether the question is for tasks of this vault, though there are none.

    :param ids: of passages with a box.
    """
    view, subject_notes, filed_paths = question.view, set[str](), set[str]()
    subject, names = task_question.subject, list[str]()
    if subject:
        # With the small word before it where it is a part of the name ("the oven").
        before = re.search(rf"(\w+)\s+{re.escape(subject)}", question.text)
        longer = [f"{before[1]} {subject}"] if before else []
        subject_names = name_candidates(subject)
        known_notes = (view.notes_named(name) for name in (*subject_names, *longer))
        subject_notes = set(next(filter(None, known_notes), ()))
        filed_paths = question.notes_filed_under(subject_notes)
        # Those of a folder, a tag or a type are the tasks of its notes, as these are listed.
        kinds = [one for one in question.match_terms(normalize_words(subject)) if not one[1].key]
        of_kind = {*question.notes_named_by(question.tokens(subject), kinds)} if kinds else set()
        if subject_notes <= of_kind:
            filed_paths |= of_kind
        # Else the one note with that in its name that others are filed under.
        if not subject_notes and not filed_paths:
            titled = view.paths_of(view.lexical.holding(question.tokens(subject), "title"))
            titled_paths = sorted({one for one in titled if one})[:MAX_TITLED_NOTES]
            each = (question.notes_filed_under([path]) for path in titled_paths)
            filed_notes = [*filter(None, each)]
            filed_paths = filed_notes[0] if len(filed_notes) == 1 else set()
        own_rows = view.notes_at(subject_notes).values()
        # What no note is called is looked for in the tasks themselves.
        names = sorted({name for row in own_rows for name in (row.title, *row.aliases)}) or subject_names[-1:]
    by_note: dict[str, list[ChunkRow]] = {}
    for one in view.chunks(ids).values():
        by_note.setdefault(one.path, []).append(one)
    # A note that has none may be what the tasks of others are of.
    has_none = subject and subject_notes.isdisjoint(by_note)
    words = frozenset(question.tokens(subject) if has_none else ())
    rows = view.notes_at(by_note)
    # "The seminar" is the note, or the section, that has the word in its name.
    placed = {
        one.id
        for path, row in rows.items()
        for one in by_note[path]
        if words and words <= {*question.tokens((row.title, *one.heading_path))}
    }
    subject_notes |= {one.path for of_note in by_note.values() for one in of_note if one.id in placed}
    dates, says_day = view.catalog.dates(by_note), {*notes_stating_day(rows)}
    ordered = sorted(by_note, key=lambda path: (dates.get(path, ""), path), reverse=True)
    filters_by_chunk: dict[ChunkId, TaskFilter] = {}
    soonest: dict[ChunkId, tuple[bool, date]] = {}
    for path in ordered:
        day = dates.get(path, "") if path in says_day else ""
        for one in by_note[path]:
            is_own = path in subject_notes
            takes_all = one.id in placed or path in filed_paths or (is_own and not placed)
            wanted = TaskFilter(() if takes_all else tuple(names), task_question.due, day)
            if items := wanted.find_ranges(one.text):
                filters_by_chunk[one.id] = wanted
                days = (due_day(one.text[start:end]) for start, end in items)
                soonest[one.id] = (not is_own, min(filter(None, days), default=date.max))
    in_order = sorted(filters_by_chunk, key=soonest.__getitem__)
    is_asked = bool(filters_by_chunk or subject_notes or not subject)
    return {one: filters_by_chunk[one] for one in in_order}, is_asked
