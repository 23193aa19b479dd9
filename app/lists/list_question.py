"""Questions for a list: of notes ("which projects are active?", "what did I do last week?"), read as
filters; of open tasks ("what is still to do for the hide?"); or of the notes that link to one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import chain
from pathlib import Path
from string import digits

from llama_index.core.schema import NodeWithScore

from notehop.app.answer.draft import MAX_QUOTED_NOTES, NOTHING_LISTED_PREFIX
from notehop.app.answer.material import CONNECTED_ROLE, headings_at, ranked_headings
from notehop.app.lists.comparison import (
    compared_lines,
    comparison_in,
    lines_of_property,
    lines_of_series,
)
from notehop.app.lists.kinds import (
    ASKS,
    ASKS_OF_A_TIME,
    conditions_of,
    denied,
    note_listing,
    note_of_folder,
)
from notehop.app.lists.lines import (
    dated_lines,
    line_of_named,
    lines_called,
    lines_of_others,
    lines_of_role,
)
from notehop.app.lists.linked_notes import labelled_lines, linked_notes
from notehop.app.lists.period import MONTH, Period, is_called_as_a_month, period_of, speaking_of
from notehop.app.lists.rewording import Newest, newest_meant
from notehop.app.lists.tasks import OPEN, TICKED, Due, OpenTasks, open_tasks, task_questions
from notehop.app.lists.vault_question import (
    DONE,
    WORDS,
    VaultQuestion,
    folders_of,
    plain_words,
    saying_a_day,
    telling,
)
from notehop.app.models import Filters
from notehop.app.retrieval.chain import Wanted
from notehop.app.retrieval.components import Trace, noted
from notehop.app.retrieval.filters import AllowedChunks, Condition, Narrowed, Stands, among, narrow
from notehop.app.retrieval.intents import SMALL, names_of
from notehop.app.retrieval.relevance import asks_for_templates, read_templates, templates_of
from notehop.indexing.graph.files import fold as folded
from notehop.indexing.shown import counted, on_one_line
from notehop.indexing.stores.model import ChunkId, ChunkRow
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens.tokenizer import Tokenizer
from notehop.indexing.vault.dates import day_in_name

FROM_NOTE = "From the note {}"
LISTED_MOST = 20  # notes that are listed where a question asks for all of a kind
_CALLED = ("title", "h1", "h2", "h3")  # fields of the lexical index
_NEWEST = re.compile(WORDS["newest"])
_EVERY_NOTE = re.compile(WORDS["every_note"])
_YEAR = re.compile(r"\b(?:19|20)\d\d\b(?!-)")
_NOTES_THAT_SAY = re.compile(WORDS["notes_that_say"], re.IGNORECASE)
_ASKS_WHAT_IT_SAYS = re.compile(WORDS["asks_what_it_says"], re.IGNORECASE)
_VERBS = re.compile(r"\{(\w+)\|(\w+)\}")  # of one note, and of several
_SAYS = re.compile(r"^(?![ \t]*#)[^\n]*\w", re.MULTILINE)  # something beside headings and tags


@dataclass(frozen=True, slots=True)
class ListQuestion:
    """A question for a list.

    ``narrowed`` is what it leaves, where notes are listed; ``lines`` are those to be listed, and their
    number, by the passage, and ``said`` what they have in common; ``tasks`` what is wanted of the passages
    with open tasks, and ``said`` when they are due. ``others`` are passages that ``said`` tells of alone, by
    their ``lines`` if there are any; where there are none it tells that there is nothing to list, and what
    is found is what is near.
    """

    narrowed: Narrowed
    said: str = ""
    lines: Mapping[ChunkId, tuple[str, int]] = field(default_factory=dict)
    tasks: Mapping[ChunkId, OpenTasks] = field(default_factory=dict)
    others: tuple[ChunkId, ...] = ()

    @property
    def lists(self) -> bool:
        """Whether it is one: else it is searched for, in what it leaves."""
        return self.narrowed.lists or bool(self.said or self.tasks or self.lines or self.others)

    def wanted(self, wanted: Wanted) -> Wanted:
        """What is wanted, with what is to be listed."""
        passages = self.others or tuple(self.tasks or self.lines)
        if self.said and not passages:
            return wanted
        limit = wanted.asked.top_k or LISTED_MOST
        most = min(len(passages), limit) or limit
        asked = wanted.asked.model_copy(update={"top_k": most})
        return replace(wanted, asked=asked, passages=passages)

    def told(self, found: Sequence[NodeWithScore], wanted: Wanted) -> list[NodeWithScore]:
        """What was listed, with what it has in common and how much of it there is."""
        if wanted.passages:
            found = found[: wanted.asked.top_k]
        if self.lines:
            cut = len(self.lines) > len(found) == wanted.asked.top_k
            count = len(self.lines) if cut else len(found)
            said = _VERBS.sub(lambda verb: verb[1 if count == 1 else 2], self.said)
            said = said if said == self.said else f"{counted(count, 'note')} {said}"
            listed = f"{said}{f'; {len(found)} of them' if cut else ''}"
            found = [_at_line(hit, *self.lines[hit.node.node_id]) for hit in found]
        elif self.tasks:
            items = [self.tasks[hit.node.node_id].items(hit.node.get_content()) for hit in found]
            found = [
                NodeWithScore(node=noted(hit.node, tasks=own), score=hit.score)
                for hit, own in zip(found, items, strict=True)
                if own
            ]
            notes = counted(len({hit.node.metadata["path"] for hit in found}), "note")
            more = "" if len(items) == len(self.tasks) else f", of the first {notes} with some"
            due = f" {self.said}" if self.said else ""
            done = any(one.due and one.due.done for one in self.tasks.values())
            tasks = counted(sum(map(len, items)), "task" if done else "open task")
            listed = f"{tasks}{due} in {notes}{more}"
        elif self.said:
            listed = self.said
            found = [hit for hit in found if hit.node.metadata.get("role") != CONNECTED_ROLE]
        else:
            left = self.narrowed.notes.only or frozenset[str]()
            whole = len(found) != wanted.asked.top_k
            count = len(found) if whole else len(left - self.narrowed.notes.without)
            match = f"match{'es' * (count == 1)} {', '.join(self.narrowed.said)}"
            match = match if self.narrowed.said else "in the vault"
            more = f"; the newest {len(found)}" if count > len(found) else ""
            listed = f"{counted(count, 'note')} {match}{more}"
        return [
            NodeWithScore(node=noted(hit.node, listed=listed), score=hit.score) for hit in found
        ]


def _at_line(hit: NodeWithScore, text: str, line: int) -> NodeWithScore:
    """A passage as one sentence or line of it."""
    if not text:
        return hit
    whole, about = hit.node.get_content(), hit.node.metadata
    above = headings_at(whole, ranked_headings(about), max(0, whole.find(text.split("\n")[-1])))
    place = {"heading_path": above, "heading_ranks": None}
    node = noted(hit.node, first_line=line, last_line=line, **place)
    node.set_content(text)
    return NodeWithScore(node=node, score=hit.score)


_OF_NOTES = re.compile(rf"{WORDS['links']['notes']}|link(?:s|t|en)?\b", re.IGNORECASE)


def _links_asked(question: VaultQuestion, asked: Narrowed) -> ListQuestion | None:
    """Read a question for the notes that link to one; None where it is another."""
    if (found := linked_notes(question)) is None:
        return None
    (said, lines), own = found
    if lines or not own:
        return ListQuestion(asked, said, lines) if lines else None
    if not _OF_NOTES.search(question.text):
        return None  # "What is stress linked to?" may ask for what it comes with.
    said = _VERBS.sub(r"\1", said)
    return ListQuestion(asked, f"{NOTHING_LISTED_PREFIX}note {said}.", others=own)


def _tasks_asked(
    question: VaultQuestion, asked: Narrowed, trace: Trace, newest: Newest | None
) -> ListQuestion | None:
    """Read a question for open tasks; None where it is another, or there is none to be listed, and a
    section, or note, with its word for tasks may tell of some."""
    view = question.view
    if newest is not None:
        title = view.notes_at([newest.path])[newest.path].title
        question = replace(question, text=question.text.replace(newest.said, title))
    questions = [*task_questions(question.text, question.today, view.notes_named)]
    if not questions:
        return None
    done = any(one.due and one.due.done for one in questions)
    holding = chain.from_iterable(map(view.catalog.chunks_holding, TICKED if done else OPEN))
    ids = among(dict.fromkeys(holding), asked.allowed)
    ids = [one for one in ids if not question.is_template(view.path_of(one) or "")]
    there = False
    for one in questions:
        found, there = open_tasks(question, one, ids)
        if found:
            return ListQuestion(asked, one.due.said if one.due else "", tasks=found)
    first = questions[0]
    if first.due and (first.due.only or done):
        return None
    said = on_one_line(f"{NOTHING_LISTED_PREFIX}{first.none.removeprefix('no ')}.")
    if first.due is not None and (first.tasks or first.due.strictly):
        other = None if first.tasks else Due(None, "")
        others, _ = open_tasks(question, replace(first, due=other), ids)
        if others:
            return ListQuestion(asked, said, others=tuple(others)[:1])
    strictly = first.due is None or first.due.strictly
    if first.tasks and strictly and not first.subject:
        words = question.tokens(first.tasks)
        called = (view.lexical.holding(words, name) for name in _CALLED)
        if not among(chain.from_iterable(called), asked.allowed):
            return ListQuestion(asked, said)
    if there:
        trace.warn(on_one_line(first.none))
    return None


def list_question(
    asked: Narrowed, view: Snapshot, tokenizer: Tokenizer, stands: Stands, trace: Trace, vault: Path
) -> ListQuestion | None:
    """Read a question for a list; None where it is another question.

    :param stands: whether any of some notes is there still.
    :param vault: whose templates are none of the notes, unless they are asked for.
    """
    if asked.lists or asked.nothing:
        return None
    text, labels = asked.text, view.labels
    question = VaultQuestion(text, view, tokenizer, templates_of(vault, text), asked.allowed)
    today, meant = question.today, newest_meant(question)
    known = (
        _links_asked(question, asked)
        or _tasks_asked(question, asked, trace, meant)
        or _note_asked(asked, view, trace)
    )
    if known:
        return known
    if told := lines_called(question):
        return ListQuestion(asked, *told)
    if _EVERY_NOTE.match(question.plain):
        return ListQuestion(_all_of(asked, question))
    period = period_of(text, today)
    if period and period.yearly and is_called_as_a_month(text, view.notes_named):
        period = None  # June is somebody
    plain = question.plain if period is None else plain_words(period.rest)
    if period and plain.count(" ") < 2 and SMALL.issuperset(plain.split()):
        plain = WORDS["asks"][0]  # nothing but a time: "at the end of May"
    if period and (dated := dated_lines(question, plain, period)):
        return ListQuestion(asked, *dated)
    period = period and period.bounded(text)
    newest = _NEWEST.search(plain) if period is None else None
    if newest is not None:
        plain = f"{WORDS['asks'][0]} {newest['kind']}"
    within = None if period is None else labels.dated(*period.days)
    compared = comparison_in(text if period is None else period.rest)
    if compared and (those := compared_lines(question, compared, within)):
        (said, lines), others = those
        if lines:
            return ListQuestion(asked, f"{{has|have}} {said}", lines)
        return (
            ListQuestion(asked, f"{NOTHING_LISTED_PREFIX}note has {said}.", others=others)
            if others
            else None
        )
    found: tuple[Condition, ...] = ()
    # "Which meetings were in March" names a kind, "what did we read in March" may.
    of_a_kind = ASKS.search(plain) or not ASKS_OF_A_TIME.search(plain)
    times = period and (period.and_before() if of_a_kind else period.meant(plain, question))
    for one in times or (None,):
        if found := conditions_of(question, plain, one):
            break
    years = [] if found or period or not ASKS_OF_A_TIME.search(plain) else _YEAR.findall(text)
    if len(years) == 1 and (of_year := period_of(f"in {years[0]}", today)):  # "réunions de 2026"
        without = plain_words(text.replace(years[0], ""))
        if found := conditions_of(question, without, of_year):
            plain, period = without, of_year
    if compared and any({*plain_words(one.value).split()} & {*compared.numbers} for one in found):
        found = ()  # what is equal is neither above nor below
    if not found and (series := lines_of_series(question, period, stands)):
        return ListQuestion(asked, *series)
    for kinds, not_so in () if found else denied(question, plain):
        if not_so.kind == "tag":
            found = (*kinds, not_so._replace(negated=True))
            break
        if differing := lines_of_others(question, kinds, not_so, within):
            return ListQuestion(asked, *differing)
    saying = None if found else _NOTES_THAT_SAY.search(text)
    if saying is not None and (names := names_of(saying["words"])):
        found = (Condition("phrase", names[-1]),)
    if not found and newest and meant and plain_words(meant.kind) == newest["kind"]:
        of_all = f"The newest of {meant.of:,} notes" if meant.of > 1 else "The one note"
        of_all += f" with “{meant.kind}”"
        return _note(meant.path, view, asked, of_all)
    if not found and (line := line_of_named(question)):
        title, place = line
        return ListQuestion(asked, FROM_NOTE.format(title), {place[0]: place[1:]})
    for lines_for in () if found else (lines_of_role, labelled_lines, lines_of_property):
        if told := lines_for(question):
            return ListQuestion(asked, *told)
    if not found:
        return _of_its_time(question, plain, period, asked, trace) if period else None

    def left(*conditions: Condition) -> Narrowed | None:
        all_of = [*found, *conditions]
        phrases = [one.value for one in all_of if one.kind == "phrase"]
        filters = " ".join((*asked.said, *(str(one) for one in all_of if one.kind != "phrase")))
        narrowed = narrow(filters, Filters(phrases=phrases), view, tokenizer, stands)
        return None if narrowed.nothing or not narrowed.lists else narrowed

    kept = left()
    if kept is None:
        return None
    folders = folders_of(kept.notes.only or ())
    templates = frozenset() if asks_for_templates(text) else read_templates(vault).folders
    skipped = [one for one in folders if folded(one) in templates]
    # What a folder is about is told by the note of its name, which is none of its notes.
    own = (note_of_folder(one.value) for one in found if one.kind == "path")
    skipped += [one for one in own if any(map(kept.notes, labels.under(one)))]
    if skipped:
        kept = left(*(Condition("path", one, negated=True) for one in skipped)) or kept
    if kept.notes.only is None:
        return ListQuestion(_all_of(kept, question))
    if period is not None:
        count = len(kept.notes.only or ())
        kept = _dated_by_themselves(kept, view)
        if copied := count - len(kept.notes.only or ()):
            files = "of that time by the file alone, as most are"
            trace.warn(f"{counted(copied, 'note')} not listed, {files}")
        if not kept.notes.only:
            return None
    matched = kept.notes.only or frozenset()
    if newest is not None:
        for other in sorted({*view.notes_named(newest["kind"])} - matched):
            trace.warn(on_one_line(f"the note {other} may tell of a later one"))
        return _newest(kept, question)
    path = note_listing(plain, view, matched) if period is None else None
    if path is not None and stands([path]):
        title = view.notes_at([path])[path].title
        if path in view.notes_named(" ".join(telling(plain))):
            return _note(path, view, asked)
        trace.warn(f"the note {on_one_line(title)} lists notes, too: {on_one_line(path)}")
    return ListQuestion(kept)


def _all_of(narrowed: Narrowed, question: VaultQuestion) -> Narrowed:
    """All notes with passages that are left, templates aside, as a list."""
    left, view = narrowed.allowed, question.view
    paths = view.labels.paths() if left is None else filter(None, view.paths_of(left))
    only = frozenset(path for path in paths if not question.is_template(path))
    return narrowed._replace(notes=replace(narrowed.notes, only=only), lists=True)


def _dated_by_themselves(kept: Narrowed, view: Snapshot) -> Narrowed:
    """Without the notes that are dated by their files alone, where most of the vault has files of that time:
    it was copied then, and the time says nothing."""
    of_file = [
        path
        for path, row in view.notes_at(kept.notes.only or ()).items()
        if row.created is None and row.modified == row.mtime_ns / 1e9 and not day_in_name(path)
    ]
    dates = {path: said[:10] for path, said in view.catalog.dates(of_file).items()}
    copied = {said for said in dates.values() if _most_are_of(date.fromisoformat(said), view)}
    without = {path for path, said in dates.items() if said in copied}
    only = (kept.notes.only or frozenset()) - without
    return kept._replace(notes=replace(kept.notes, only=only))


def _most_are_of(day: date, view: Snapshot) -> bool:
    """Whether most notes are dated that day, the one before or after."""
    about = view.labels.dated(f"{day - timedelta(days=1)}", f"{day + timedelta(days=2)}")
    # A journal that is copied keeps the days in its names.
    counts = [
        sum(day_in_name(path) is None for path in all_of) for all_of in (about, view.labels.paths())
    ]
    return 2 * counts[0] > counts[1]


def _note_asked(asked: Narrowed, view: Snapshot, trace: Trace) -> ListQuestion | None:
    """Read a question for what a numbered note says ("what happened in session 9?", with a note *Session
    09*), which few of its words are in, or for one thing of a short one ("who did we meet in session
    9?"); None where it is another."""
    if (found := _ASKS_WHAT_IT_SAYS.search(asked.text)) is None:
        return None
    name = names_of(found["name"])[-1]
    before = name.rstrip(digits)
    number = name[len(before) :].lstrip("0")
    padded = (f"{before}{number.zfill(width)}" for width in range(1, 5))
    paths = next(filter(None, map(view.notes_named, (name, *padded))), [])
    period = period_of(name, date.today())
    if len(paths) != 1 or (
        found["one"] and (period or len(_saying(view, paths[0], asked.allowed)) > MAX_QUOTED_NOTES)
    ):
        return None
    note = _note(paths[0], view, asked, "What the note {} says" if found["one"] else FROM_NOTE)
    others = view.labels.dated(*period.days) - {*paths} if period and note else None
    if others:
        more = f"{counted(len(others), 'more note')} of that time"
        trace.warn(on_one_line(f"{more}; to have them listed, ask for “notes of {name}”"))
    return note


def _note(path: str, view: Snapshot, asked: Narrowed, said: str = FROM_NOTE) -> ListQuestion | None:
    """What a note says; None if that is nothing."""
    passages = _main_passages(view, path, asked.allowed)
    said = said.format(view.notes_at([path])[path].title)
    return ListQuestion(asked, said, others=passages) if passages else None


def _main_passages(view: Snapshot, path: str, allowed: AllowedChunks) -> tuple[ChunkId, ...]:
    """The longest passages of a note that say something, in the order of its text."""
    chunks = _saying(view, path, allowed)
    longest = sorted(chunks, key=lambda one: -len(one.text))[:MAX_QUOTED_NOTES]
    return tuple(one.id for one in chunks if one in longest)


def _saying(view: Snapshot, path: str, allowed: AllowedChunks) -> list[ChunkRow]:
    """The passages of a note that say something."""
    texts = [one for one in view.chunks_of(path) if one.kind != "properties"]
    return [one for one in texts if _SAYS.search(one.text) and among([one.id], allowed)]


def _newest(kept: Narrowed, question: VaultQuestion) -> ListQuestion | None:
    """The newest of the notes of a kind: by the day that each says it is of, up to today, else by its
    number; None where not all say one."""
    view, own = question.view, (path for path in kept.notes.only or () if kept.notes(path))
    notes = [path for path in own if not question.is_template(path)]
    rows, dates = view.notes_at(notes), view.catalog.dates(notes)
    ages: dict[str, str] | dict[str, list[int]] = {}
    if len(saying_a_day(rows)) == len(notes):
        ages = {path: dates[path] for path in notes if dates[path][:10] <= f"{question.today}"}
    else:
        numbers = {path: re.findall(r"\d{1,9}", rows[path].title) for path in notes}
        if all(numbers.values()):
            ages = {path: [int(number) for number in own] for path, own in numbers.items()}
    if not ages:
        return None
    path = max(sorted(ages), key=ages.__getitem__)
    said = f"The newest of {counted(len(notes), 'note')} with {', '.join(kept.said)}"
    # Of one that says nothing yet, all that there is.
    passages = _main_passages(view, path, kept.allowed)
    return ListQuestion(
        kept, said, others=passages or tuple(one.id for one in view.chunks_of(path))
    )


def _of_its_time(
    question: VaultQuestion, plain: str, period: Period, asked: Narrowed, trace: Trace
) -> ListQuestion | None:
    """Read a question for what was in a short time: it is searched for in daily notes of that time, of one
    without a year the last that has some, and in what speaks of it; None where they do not have its words.
    Where nothing is of that time, that is said, if it asks for little else."""
    view, labels, one_day = question.view, question.view.labels, timedelta(days=1)

    def daily(first: date, end: date) -> list[str]:
        dated = labels.dated(f"{first}", f"{end}")
        return [path for path in dated if (day := day_in_name(path)) and first <= day < end]

    if not period.is_short:
        return None
    years = period.meant(plain, question)
    period = next((one for one in years if daily(one.first, one.end)), period)
    first, end, is_open = period.first, period.end, period.end == date.max
    day = f"{first}" if end - first == one_day else ""
    days = day or f"{first} {'or later' if is_open else f'to {end - one_day}'}"
    words = {*question.tokens({*telling(plain)} - DONE)}
    there = set() if is_open else speaking_of(period, question)
    own = {one for path in daily(first, end) for one in labels.chunk_ids(path)}
    if own and words == set().union(*view.lexical.held(words, own).values()):
        there = own
    there = {*among(there | own, asked.allowed)}
    held = set().union(*view.lexical.held(words, there).values())
    # Nobody writes of yesterday what it is called today.
    is_date = period.yearly or re.search(r"\d", asked.text) is not None
    if not is_open and there & own and (len(words) < 2 - (not day) or 2 * len(held) >= len(words)):
        trace.warn(f"searched in what is dated {days} or speaks of it")
        text = f"{period.rest[: period.at]}{day}{period.rest[period.at :]}"
        narrowed = asked._replace(allowed=frozenset(there))
        keeps = period.yearly or (day and is_date) or not text.strip()
        return ListQuestion(narrowed if keeps else narrowed._replace(text=text))
    few = not words and ASKS_OF_A_TIME.search(plain) is not None
    around = end <= question.today and daily(first - MONTH, end + MONTH)
    if not labels.dated(*period.days) and (few or (around and len(words) == 1)):
        if not (is_open or (is_date and there)):
            return ListQuestion(asked, f"{NOTHING_LISTED_PREFIX}note is dated {days}.")
        trace.warn(f"no note is dated {days}; this is what else speaks of it")
    return None
