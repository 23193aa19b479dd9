"""Questions for a list: of notes ("which projects are active?", "what did I do last week?"), read as
filters; of open tasks ("what is still to do for the hide?"); or of the notes that link to one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import chain
from pathlib import Path
from string import digits

from llama_index.core.schema import NodeWithScore

from notehop.app.answer.draft import MAX_QUOTED_NOTES, NOTHING_LISTED_PREFIX
from notehop.app.answer.material import CONNECTED_ROLE, headings_at, ranked_headings
from notehop.app.lists.comparison import (
    find_compared_lines,
    find_property_lines,
    find_series_lines,
    parse_comparison,
)
from notehop.app.lists.link_questions import find_labelled_lines, find_link_lines
from notehop.app.lists.note_conditions import (
    ASKS_ABOUT_TIME,
    ASKS_FOR_LIST,
    find_conditions,
    find_denied,
    find_listing_note,
    folder_note_path,
)
from notehop.app.lists.note_lines import (
    find_dated_lines,
    find_line_of_named_note,
    find_other_value_lines,
    find_role_lines,
    find_typed_lines,
)
from notehop.app.lists.period import MONTH, Period, find_period_chunks, has_month_note, parse_period
from notehop.app.lists.rewording import NewestNote, find_newest_note
from notehop.app.lists.tasks import BOXES, DueFilter, TaskFilter, find_tasks, parse_task_questions
from notehop.app.lists.vault_question import (
    ACTION_WORDS,
    WORDS,
    VaultQuestion,
    all_folders,
    content_words,
    normalize_words,
    notes_stating_day,
)
from notehop.app.models import Filters
from notehop.app.retrieval.chain import RetrievalRequest
from notehop.app.retrieval.components import Nodes, Trace, hit_with_metadata
from notehop.app.retrieval.filters import (
    AllowedChunks,
    AnyNoteExists,
    Condition,
    FilteredQuery,
    apply_filters,
    keep_allowed,
)
from notehop.app.retrieval.intents import ALL_FUNCTION_WORDS, name_candidates
from notehop.app.retrieval.relevance import asks_for_templates, make_template_test, read_templates
from notehop.indexing.display import counted, on_one_line
from notehop.indexing.graph.files import fold as folded
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.stores.rows import ChunkId, ChunkRow
from notehop.indexing.tokens.tokenizer import Tokenizer
from notehop.indexing.vault.dates import day_in_name

FROM_NOTE_HEADING = "From the note {}"
MAX_LISTED_NOTES = 20  # notes that are listed where a question asks for all of a kind
_NAME_FIELDS = ("title", "h1", "h2", "h3")  # fields of the lexical index
_NEWEST, _EVERY_NOTE = re.compile(WORDS["newest"]), re.compile(WORDS["every_note"])
_YEAR = re.compile(r"\b(?:19|20)\d\d\b(?!-)")
_NOTES_THAT_SAY = re.compile(WORDS["notes_that_say"], re.IGNORECASE)
_ASKS_WHAT_IT_SAYS = re.compile(WORDS["asks_what_it_says"], re.IGNORECASE)
_VERBS = re.compile(r"\{(\w+)\|(\w+)\}")  # of one note, and of several
_SAYS = re.compile(r"^(?![ \t]*#)[^\n]*\w", re.MULTILINE)  # something beside headings and tags


@dataclass(frozen=True, slots=True)
class ListQuestion:
    """A question for a list of notes, of their lines, or of open tasks.

    ``filtered`` selects the notes to list. ``lines`` are the lines to list, with their numbers, by passage;
    ``tasks`` selects the open tasks of each passage. ``description`` heads the list: what the lines have in
    common, or when the tasks are due. ``passages`` are shown in place of a list, under the
    ``description``; a ``description`` alone says that there is nothing to list, above what is near.
    """

    filtered: FilteredQuery
    description: str = ""
    lines: Mapping[ChunkId, tuple[str, int]] = field(default_factory=dict)
    tasks: Mapping[ChunkId, TaskFilter] = field(default_factory=dict)
    passages: tuple[ChunkId, ...] = ()

    @property
    def is_list(self) -> bool:
        """Whether something is listed: else the question is searched for, in what the filters leave."""
        listed = self.description or self.tasks or self.lines or self.passages
        return self.filtered.has_no_terms or bool(listed)

    def to_request(self, request: RetrievalRequest) -> RetrievalRequest:
        """Return the request with the passages that are to be listed."""
        passages = self.passages or tuple(self.tasks or self.lines)
        if self.description and not passages:
            return request
        limit = request.query.top_k or MAX_LISTED_NOTES
        most = min(len(passages), limit) or limit
        query = request.query.model_copy(update={"top_k": most})
        return replace(request, query=query, passages=passages)

    def label_hits(self, hits: Nodes, request: RetrievalRequest) -> Nodes:
        """Return the hits with the heading of the list in ``metadata["listed"]``."""
        if request.passages:
            hits = hits[: request.query.top_k]
        if self.lines:
            is_cut = len(self.lines) > len(hits) == request.query.top_k
            count = len(self.lines) if is_cut else len(hits)
            description = _VERBS.sub(lambda verb: verb[1 if count == 1 else 2], self.description)
            if description != self.description:
                description = f"{counted(count, 'note')} {description}"
            heading = f"{description}{f'; {len(hits)} of them' if is_cut else ''}"
            hits = [_cut_to_line(hit, *self.lines[hit.node.node_id]) for hit in hits]
        elif self.tasks:
            items = [self.tasks[hit.node_id].find_ranges(hit.get_content()) for hit in hits]
            pairs = zip(hits, items, strict=True)
            hits = [hit_with_metadata(hit, tasks=ranges) for hit, ranges in pairs if ranges]
            notes = counted(len({hit.node.metadata["path"] for hit in hits}), "note")
            more = "" if len(items) == len(self.tasks) else f", of the first {notes} with some"
            due = f" {self.description}" if self.description else ""
            done = any(one.due and one.due.done for one in self.tasks.values())
            tasks = counted(sum(map(len, items)), "task" if done else "open task")
            heading = f"{tasks}{due} in {notes}{more}"
        elif self.description:
            heading = self.description
            hits = [hit for hit in hits if hit.node.metadata.get("role") != CONNECTED_ROLE]
        else:
            notes_left = self.filtered.notes.only or frozenset[str]()
            is_complete = len(hits) != request.query.top_k
            count = len(hits) if is_complete else len(notes_left - self.filtered.notes.without)
            match = f"match{'es' * (count == 1)} {', '.join(self.filtered.filter_texts)}"
            match = match if self.filtered.filter_texts else "in the vault"
            more = f"; the newest {len(hits)}" if count > len(hits) else ""
            heading = f"{counted(count, 'note')} {match}{more}"
        return [hit_with_metadata(hit, listed=heading) for hit in hits]


def _cut_to_line(hit: NodeWithScore, text: str, line: int) -> NodeWithScore:
    """A passage as one sentence or line of it."""
    if not text:
        return hit
    whole, about = hit.node.get_content(), hit.node.metadata
    above = headings_at(whole, ranked_headings(about), max(0, whole.find(text.split("\n")[-1])))
    place = {"heading_path": above, "heading_ranks": None}
    cut = hit_with_metadata(hit, first_line=line, last_line=line, **place)
    cut.node.set_content(text)
    return cut


_OF_NOTES = re.compile(rf"{WORDS['links']['notes']}|link(?:s|t|en)?\b", re.IGNORECASE)


def _read_links_question(question: VaultQuestion, filtered: FilteredQuery) -> ListQuestion | None:
    """Read a question for the notes that link to one; None where it is another."""
    if (result := find_link_lines(question)) is None:
        return None
    (description, lines), passages = result
    if lines or not passages:
        return ListQuestion(filtered, description, lines) if lines else None
    if not _OF_NOTES.search(question.text):
        return None  # "What is stress linked to?" may ask for what it comes with.
    description = _VERBS.sub(r"\1", description)
    return ListQuestion(filtered, f"{NOTHING_LISTED_PREFIX}note {description}.", passages=passages)


def _read_tasks_question(
    question: VaultQuestion, filtered: FilteredQuery, trace: Trace, newest: NewestNote | None
) -> ListQuestion | None:
    """Read a question for open tasks; None where it is another, or there is none to be listed, and a
    section, or note, with its word for tasks may tell of some."""
    view = question.view
    if newest is not None:
        title = view.notes_at([newest.path])[newest.path].title
        question = replace(question, text=question.text.replace(newest.phrase, title))
    questions = [*parse_task_questions(question.text, question.today, view.notes_named)]
    if not questions:
        return None
    done = any(one.due and one.due.done for one in questions)
    with_box = map(view.catalog.chunks_holding, BOXES[done])
    ids = keep_allowed(dict.fromkeys(chain.from_iterable(with_box)), filtered.allowed)
    ids = [one for one in ids if not question.is_template(view.path_of(one) or "")]
    asks_for_tasks = False
    for one in questions:
        tasks, asks_for_tasks = find_tasks(question, one, ids)
        if tasks:
            return ListQuestion(filtered, one.due.description if one.due else "", tasks=tasks)
    first = questions[0]
    if first.due and (first.due.only or done):
        return None
    message = on_one_line(f"{NOTHING_LISTED_PREFIX}{first.no_tasks_message.removeprefix('no ')}.")
    if first.due is not None and (first.task_word or first.due.strictly):
        other = None if first.task_word else DueFilter(None, "")
        others, _ = find_tasks(question, replace(first, due=other), ids)
        if others:
            return ListQuestion(filtered, message, passages=tuple(others)[:1])
    strictly = first.due is None or first.due.strictly
    if first.task_word and strictly and not first.subject:
        words = question.tokens(first.task_word)
        called = (view.lexical.holding(words, name) for name in _NAME_FIELDS)
        if not keep_allowed(chain.from_iterable(called), filtered.allowed):
            return ListQuestion(filtered, message)
    if asks_for_tasks:
        trace.warn(on_one_line(first.no_tasks_message))
    return None


def parse_list_question(
    filtered: FilteredQuery,
    view: Snapshot,
    tokenizer: Tokenizer,
    any_exists: AnyNoteExists,
    trace: Trace,
    vault: Path,
) -> ListQuestion | None:
    """Parse a question for a list; None where it is another question. Tried in this order: links, tasks
    and numbered notes, typed names, dated lines, numbers, kinds of notes, then lines of one note.

    :param any_exists: whether any of some notes still exists.
    :param vault: whose templates are none of the notes, unless they are asked for.
    """
    if filtered.has_no_terms or filtered.is_empty:
        return None
    text, labels = filtered.text, view.labels
    is_template = make_template_test(vault, text)
    question = VaultQuestion(text, view, tokenizer, is_template, filtered.allowed)
    today, newest_note = question.today, find_newest_note(question)
    if answer := (
        _read_links_question(question, filtered)
        or _read_tasks_question(question, filtered, trace, newest_note)
        or _read_named_note(filtered, view, trace)
    ):
        return answer
    if listed := find_typed_lines(question):
        return ListQuestion(filtered, *listed)
    if _EVERY_NOTE.match(question.plain):
        return ListQuestion(_list_all(filtered, question))
    period = parse_period(text, today)
    if period and period.yearly and has_month_note(text, view.notes_named):
        period = None  # June is somebody
    plain = question.plain if period is None else normalize_words(period.rest)
    if period and plain.count(" ") < 2 and ALL_FUNCTION_WORDS.issuperset(plain.split()):
        plain = WORDS["asks"][0]  # nothing but a time: "at the end of May"
    if period and (dated_lines_found := find_dated_lines(question, plain, period)):
        return ListQuestion(filtered, *dated_lines_found)
    period = period and period.apply_bounds(text)
    newest = _NEWEST.search(plain) if period is None else None
    if newest is not None:
        plain = f"{WORDS['asks'][0]} {newest['kind']}"
    notes_in_period = None if period is None else labels.dated(*period.iso_bounds)
    compared = parse_comparison(text if period is None else period.rest)
    if compared and (comparison := find_compared_lines(question, compared, notes_in_period)):
        (description, lines), passages = comparison
        if lines:
            return ListQuestion(filtered, f"{{has|have}} {description}", lines)
        nothing = f"{NOTHING_LISTED_PREFIX}note has {description}."
        return ListQuestion(filtered, nothing, passages=passages) if passages else None
    conditions: tuple[Condition, ...] = ()
    # "Which meetings were in March" names a kind, "what did we read in March" may.
    names_kind = ASKS_FOR_LIST.search(plain) or not ASKS_ABOUT_TIME.search(plain)
    periods = period and (
        period.with_earlier_years() if names_kind else period.candidate_periods(plain, question)
    )
    for one_period in periods or (None,):
        if conditions := find_conditions(question, plain, one_period):
            break
    years = [] if conditions or period or not ASKS_ABOUT_TIME.search(plain) else _YEAR.findall(text)
    if len(years) == 1 and (of_year := parse_period(f"in {years[0]}", today)):  # "réunions de 2026"
        rest = normalize_words(text.replace(years[0], ""))
        if conditions := find_conditions(question, rest, of_year):
            plain, period = rest, of_year
    values = chain.from_iterable(normalize_words(one.value).split() for one in conditions)
    if compared and not {*compared.numbers}.isdisjoint(values):
        conditions = ()  # what is equal is neither above nor below
    if not conditions and (series := find_series_lines(question, period, any_exists)):
        return ListQuestion(filtered, *series)
    for kinds, not_so in () if conditions else find_denied(question, plain):
        if not_so.kind == "tag":
            conditions = (*kinds, not_so._replace(negated=True))
            break
        if differing := find_other_value_lines(question, kinds, not_so, notes_in_period):
            return ListQuestion(filtered, *differing)
    phrase_match = None if conditions else _NOTES_THAT_SAY.search(text)
    if phrase_match is not None and (names := name_candidates(phrase_match["words"])):
        conditions = (Condition("phrase", names[-1]),)
    newest_kind = normalize_words(newest_note.kind) if newest_note else ""
    if not conditions and newest and newest_note and newest_kind == newest["kind"]:
        total = newest_note.total
        heading = f"The newest of {total:,} notes" if total > 1 else "The one note"
        return _quote_note(newest_note.path, view, filtered, f"{heading} with “{newest_note.kind}”")
    if not conditions and (line := find_line_of_named_note(question)):
        title, place = line
        return ListQuestion(filtered, FROM_NOTE_HEADING.format(title), {place[0]: place[1:]})
    finders = (find_role_lines, find_labelled_lines, find_property_lines)
    for find_lines in () if conditions else finders:
        if listed := find_lines(question):
            return ListQuestion(filtered, *listed)
    if not conditions:
        return _read_time_question(question, plain, period, filtered, trace) if period else None

    def select(*more: Condition) -> FilteredQuery | None:
        all_of = [*conditions, *more]
        phrases = [one.value for one in all_of if one.kind == "phrase"]
        others = (str(one) for one in all_of if one.kind != "phrase")
        filters = " ".join((*filtered.filter_texts, *others))
        narrowed = apply_filters(filters, Filters(phrases=phrases), view, tokenizer, any_exists)
        return None if narrowed.is_empty or not narrowed.has_no_terms else narrowed

    selected = select()
    if selected is None:
        return None
    folders = all_folders(selected.notes.only or ())
    templates = frozenset() if asks_for_templates(text) else read_templates(vault).folders
    skipped = [one for one in folders if folded(one) in templates]
    # What a folder is about is told by the note of its name, which is none of its notes.
    folder_notes = (folder_note_path(one.value) for one in conditions if one.kind == "path")
    skipped += [one for one in folder_notes if any(map(selected.notes, labels.under(one)))]
    if skipped:
        selected = select(*(Condition("path", one, negated=True) for one in skipped)) or selected
    if selected.notes.only is None:
        return ListQuestion(_list_all(selected, question))
    if period is not None:
        count = len(selected.notes.only or ())
        selected = _drop_copied_dates(selected, view)
        if copied := count - len(selected.notes.only or ()):
            notes = counted(copied, "note")
            trace.warn(f"{notes} not listed, of that time by the file alone, as most are")
        if not selected.notes.only:
            return None
    matched = selected.notes.only or frozenset()
    if newest is not None:
        for other in sorted({*view.notes_named(newest["kind"])} - matched):
            trace.warn(on_one_line(f"the note {other} may tell of a later one"))
        return _find_newest(selected, question)
    path = find_listing_note(plain, view, matched) if period is None else None
    if path is not None and any_exists([path]):
        title = view.notes_at([path])[path].title
        if path in view.notes_named(" ".join(content_words(plain))):
            return _quote_note(path, view, filtered)
        trace.warn(f"the note {on_one_line(title)} lists notes, too: {on_one_line(path)}")
    return ListQuestion(selected)


def _list_all(filtered: FilteredQuery, question: VaultQuestion) -> FilteredQuery:
    """All notes with passages that are left, templates aside, as a list."""
    allowed, view = filtered.allowed, question.view
    paths = view.labels.paths() if allowed is None else filter(None, view.paths_of(allowed))
    only = frozenset(path for path in paths if not question.is_template(path))
    return filtered._replace(notes=replace(filtered.notes, only=only), has_no_terms=True)


def _drop_copied_dates(filtered: FilteredQuery, view: Snapshot) -> FilteredQuery:
    """Without the notes that are dated by their files alone, where most of the vault has files of that time:
    it was copied then, and the time says nothing."""
    of_file = [
        path
        for path, row in view.notes_at(filtered.notes.only or ()).items()
        if row.created is None and row.modified == row.mtime_ns / 1e9 and not day_in_name(path)
    ]
    dates = {path: day[:10] for path, day in view.catalog.dates(of_file).items()}
    copied = {day for day in dates.values() if _is_copy_day(date.fromisoformat(day), view)}
    excluded = {path for path, day in dates.items() if day in copied}
    only = (filtered.notes.only or frozenset()) - excluded
    return filtered._replace(notes=replace(filtered.notes, only=only))


def _is_copy_day(day: date, view: Snapshot) -> bool:
    """Tell whether most notes are dated that day, the one before or after."""
    near = view.labels.dated(f"{day - timedelta(days=1)}", f"{day + timedelta(days=2)}")
    # A journal that is copied keeps the days in its names.
    counts = [sum(day_in_name(path) is None for path in all_of) for all_of in (near, view.labels.paths())]
    return 2 * counts[0] > counts[1]


def _read_named_note(filtered: FilteredQuery, view: Snapshot, trace: Trace) -> ListQuestion | None:
    """Read a question for what a numbered note says ("what happened in session 9?", with a note *Session
    09*), which few of its words are in, or for one thing of a short one ("who did we meet in session
    9?"); None where it is another."""
    if (match := _ASKS_WHAT_IT_SAYS.search(filtered.text)) is None:
        return None
    name = name_candidates(match["name"])[-1]
    stem = name.rstrip(digits)
    number = name[len(stem) :].lstrip("0")
    padded = (f"{stem}{number.zfill(width)}" for width in range(1, 5))
    paths = next(filter(None, map(view.notes_named, (name, *padded))), [])
    period = parse_period(name, date.today())
    chunks = [one for path in paths for one in _passages_with_text(view, path, filtered.allowed)]
    if len(paths) != 1 or (match["one"] and (period or len(chunks) > MAX_QUOTED_NOTES)):
        return None
    heading = "What the note {} says" if match["one"] else FROM_NOTE_HEADING
    note = _quote_note(paths[0], view, filtered, heading)
    others = view.labels.dated(*period.iso_bounds) - {*paths} if period and note else None
    if others:
        more = f"{counted(len(others), 'more note')} of that time"
        trace.warn(on_one_line(f"{more}; to have them listed, ask for “notes of {name}”"))
    return note


def _quote_note(
    path: str, view: Snapshot, filtered: FilteredQuery, heading: str = FROM_NOTE_HEADING
) -> ListQuestion | None:
    """Answer with the main passages of a note; None if it has none."""
    passages = _main_passages(view, path, filtered.allowed)
    heading = heading.format(view.notes_at([path])[path].title)
    return ListQuestion(filtered, heading, passages=passages) if passages else None


def _main_passages(view: Snapshot, path: str, allowed: AllowedChunks) -> tuple[ChunkId, ...]:
    """The longest passages of a note that say something, in the order of its text."""
    chunks = _passages_with_text(view, path, allowed)
    longest = sorted(chunks, key=lambda one: -len(one.text))[:MAX_QUOTED_NOTES]
    return tuple(one.id for one in chunks if one in longest)


def _passages_with_text(view: Snapshot, path: str, allowed: AllowedChunks) -> list[ChunkRow]:
    """The passages of a note that say something."""
    texts = [one for one in view.chunks_of(path) if one.kind != "properties"]
    return [one for one in texts if _SAYS.search(one.text) and keep_allowed([one.id], allowed)]


def _find_newest(filtered: FilteredQuery, question: VaultQuestion) -> ListQuestion | None:
    """The newest of the notes of a kind: by the day that each says it is of, up to today, else by its
    number; None where not all say one."""
    view, paths = question.view, filter(filtered.notes, filtered.notes.only or ())
    notes = [path for path in paths if not question.is_template(path)]
    rows, dates = view.notes_at(notes), view.catalog.dates(notes)
    ages: dict[str, str] | dict[str, list[int]] = {}
    if len(notes_stating_day(rows)) == len(notes):
        ages = {path: dates[path] for path in notes if dates[path][:10] <= f"{question.today}"}
    else:
        numbers = {path: re.findall(r"\d{1,9}", rows[path].title) for path in notes}
        if all(numbers.values()):
            ages = {path: [*map(int, found)] for path, found in numbers.items()}
    if not ages:
        return None
    path = max(sorted(ages), key=ages.__getitem__)
    filters = ", ".join(filtered.filter_texts)
    description = f"The newest of {counted(len(notes), 'note')} with {filters}"
    # Of one that says nothing yet, all that there is.
    passages = _main_passages(view, path, filtered.allowed) or tuple(view.chunk_ids_of(path))
    return ListQuestion(filtered, description, passages=passages)


def _read_time_question(
    question: VaultQuestion, plain: str, period: Period, filtered: FilteredQuery, trace: Trace
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
    years = period.candidate_periods(plain, question)
    period = next((one for one in years if daily(one.first, one.end)), period)
    first, end, is_open = period.first, period.end, period.end == date.max
    day = f"{first}" if end - first == one_day else ""
    days = day or f"{first} {'or later' if is_open else f'to {end - one_day}'}"
    words = {*question.tokens({*content_words(plain)} - ACTION_WORDS)}
    mentioning = set() if is_open else find_period_chunks(period, question)
    daily_chunks = {one for path in daily(first, end) for one in labels.chunk_ids(path)}
    if daily_chunks and words == set().union(*view.lexical.held(words, daily_chunks).values()):
        mentioning = daily_chunks
    mentioning = {*keep_allowed(mentioning | daily_chunks, filtered.allowed)}
    matched = set().union(*view.lexical.held(words, mentioning).values())
    # Nobody writes of yesterday what it is called today.
    is_date = period.yearly or re.search(r"\d", filtered.text) is not None
    has_most_words = len(words) < 2 - (not day) or 2 * len(matched) >= len(words)
    if not is_open and mentioning & daily_chunks and has_most_words:
        trace.warn(f"searched in what is dated {days} or speaks of it")
        text = f"{period.rest[: period.at]}{day}{period.rest[period.at :]}"
        in_period = filtered._replace(allowed=frozenset(mentioning))
        keeps = period.yearly or (day and is_date) or not text.strip()
        return ListQuestion(in_period if keeps else in_period._replace(text=text))
    asks_little = not words and ASKS_ABOUT_TIME.search(plain) is not None
    around = end <= question.today and daily(first - MONTH, end + MONTH)
    if not labels.dated(*period.iso_bounds) and (asks_little or (around and len(words) == 1)):
        if not (is_open or (is_date and mentioning)):
            return ListQuestion(filtered, f"{NOTHING_LISTED_PREFIX}note is dated {days}.")
        trace.warn(f"no note is dated {days}; this is what else speaks of it")
    return None
