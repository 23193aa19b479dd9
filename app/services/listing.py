"""Questions for a list: of notes ("which projects are active?", "what did I do last week?"), read as
filters; of open tasks ("what is still to do for the hide?"); or of the notes that link to one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import partial, reduce
from itertools import chain, islice
from pathlib import Path

from llama_index.core.schema import NodeWithScore

from notehop.app.answer.draft import NONE
from notehop.app.models import Filters
from notehop.app.retrieval.chain import Wanted
from notehop.app.retrieval.components import Trace, noted
from notehop.app.retrieval.filters import (
    Condition,
    Kind,
    Narrowed,
    Paths,
    Stands,
    among,
    narrow,
    notes_of,
)
from notehop.app.retrieval.intents import SMALL, names_of
from notehop.app.retrieval.relevance import asks_for_templates, read_templates, templates_of
from notehop.app.services.period import Period, period_of
from notehop.app.services.tasks import Due, OpenTasks, open_tasks, task_question
from notehop.indexing.graph.files import fold as folded
from notehop.indexing.shown import counted, on_one_line
from notehop.indexing.stores.labels import TAG, TYPE, NoteLabels, property_key
from notehop.indexing.stores.model import ChunkId, LinkRow
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens.tokenizer import Tokenizer
from notehop.indexing.tokens.words import fold
from notehop.indexing.vault.dates import day_in_name

LISTED_MOST = 20  # notes that are listed where a question asks for all of a kind
LONGEST = 4  # words beside the small ones that may name what is to be listed
BEGINNING = 3  # letters of a word that a value has to have for it to be read: endings differ
CHOICES = 64  # ways to read a question that are tried

_WORDS = tomllib.loads(Path(__file__).with_name("lists.toml").read_text("utf-8"))
_ASKS = re.compile(rf"^(?:(?:{'|'.join(_WORDS['polite'])}) )?(?:{'|'.join(_WORDS['asks'])})\b")
_ASKS_OF_A_TIME = re.compile(rf"{_ASKS.pattern}|^(?:{'|'.join(_WORDS['asks_of_a_time'])})")
_OF_A_KIND = re.compile(_WORDS["of_a_kind"])
_WORD = re.compile(r"[^\W_]+")
_ASKING, _DONE = SMALL | {*_WORDS["asking"]}, frozenset(_WORDS["done"])
_HAVING, _NO_KIND = frozenset(_WORDS["having"]), frozenset(_WORDS["no_kind"])
_GOES_ON, _IS_DONE = re.compile(_WORDS["goes_on"]), re.compile(_WORDS["is_done"])

_ASKS_FOR_LINKS = re.compile(
    rf"^(?:{'|'.join(_WORDS['asks_for_links'])}) (?P<name>.+?)[?. ]*$", re.IGNORECASE
)
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S", re.MULTILINE)

Named = tuple[frozenset[str], Condition]
"""Words of a question, as the index has them, and what they name."""


@dataclass(frozen=True, slots=True)
class ListQuestion:
    """A question for a list.

    ``narrowed`` is what it leaves, where notes are listed; ``tasks`` what is wanted of the passages with
    open tasks, and ``said`` when they are due; ``links`` those that lead to the note ``said``, by the
    passage. ``none`` are passages to show where there is nothing to list, which ``said`` tells.
    """

    narrowed: Narrowed
    said: str = ""
    tasks: Mapping[ChunkId, OpenTasks] = field(default_factory=dict)
    links: Mapping[ChunkId, LinkRow] = field(default_factory=dict)
    none: tuple[ChunkId, ...] = ()

    def wanted(self, wanted: Wanted) -> Wanted:
        """What is wanted, with what is to be listed."""
        passages = self.none or tuple(self.tasks or self.links)
        limit = wanted.asked.top_k or LISTED_MOST
        most = min(len(passages), limit) or limit
        asked = wanted.asked.model_copy(update={"top_k": most})
        return replace(wanted, asked=asked, passages=passages)

    def told(self, found: Sequence[NodeWithScore], wanted: Wanted) -> list[NodeWithScore]:
        """What was listed, with what it has in common and how much of it there is."""
        if wanted.passages:
            found = found[: wanted.asked.top_k]
        if self.none:
            listed = self.said
        elif self.links:
            cut = len(self.links) > len(found) == wanted.asked.top_k
            notes = counted(len(self.links) if cut else len(found), "note")
            link, more = "links" if notes == "1 note" else "link", f"; {len(found)} of them"
            listed = f"{notes} {link} to {self.said}{more if cut else ''}"
            found = [_at_link(hit, self.links[hit.node.node_id]) for hit in found]
        elif self.tasks:
            items = [self.tasks[hit.node.node_id].items(hit.node.get_content()) for hit in found]
            found = [
                NodeWithScore(node=noted(hit.node, tasks=own), score=hit.score)
                for hit, own in zip(found, items, strict=True)
                if own
            ]
            notes = counted(len({hit.node.metadata["path"] for hit in found}), "note")
            more = "" if len(items) == len(self.tasks) else f", of the newest {notes} with some"
            due = f" {self.said}" if self.said else ""
            listed = f"{counted(sum(map(len, items)), 'open task')}{due} in {notes}{more}"
        else:
            left = self.narrowed.notes.only or frozenset[str]()
            whole = len(found) != wanted.asked.top_k
            count = len(found) if whole else len(left - self.narrowed.notes.without)
            match = f"{count:,} {'note matches' if count == 1 else 'notes match'}"
            more = f"; the newest {len(found)}" if count > len(found) else ""
            listed = f"{match} {', '.join(self.narrowed.said)}{more}"
        return [
            NodeWithScore(node=noted(hit.node, listed=listed), score=hit.score) for hit in found
        ]


def _at_link(hit: NodeWithScore, link: LinkRow) -> NodeWithScore:
    """A passage as the sentence of its link."""
    if not link.sentence:
        return hit
    node = noted(hit.node, first_line=link.line, last_line=link.line)
    node.set_content(link.sentence)
    return NodeWithScore(node=node, score=hit.score)


def _links_asked(asked: Narrowed, view: Snapshot) -> ListQuestion | None:
    """Read a question for the notes that link to one; None where it is another."""
    found = _ASKS_FOR_LINKS.search(asked.text)
    if found is None:
        return None
    named = ((name, view.notes_named(name)) for name in names_of(found["name"]))
    name, paths = next(((name, paths) for name, paths in named if paths), ("", ()))
    links: dict[ChunkId, LinkRow] = {}
    seen = {*paths}
    for link in view.links_to(paths):
        if link.path not in seen:
            seen.add(link.path)
            links[link.chunk_id or view.chunk_ids_of(link.path)[0]] = link
    if paths and not links:
        first = (one for path in paths for one in view.chunk_ids_of(path)[:1])
        unlinked = tuple(among(first, asked.allowed))
        said = f"{NONE}note links to {name}."
        return ListQuestion(asked, said, none=unlinked) if unlinked else None
    allowed = {*among(links, asked.allowed)}
    links = {one: link for one, link in links.items() if one in allowed}
    return ListQuestion(asked, name, links=links) if links else None


def _tasks_asked(
    asked: Narrowed, view: Snapshot, tokenizer: Tokenizer, trace: Trace, vault: Path
) -> ListQuestion | None:
    """Read a question for open tasks; None where it is another, or there is none to be listed."""
    question = task_question(asked.text, date.today(), view.notes_named)
    if question is None:
        return None
    is_template = templates_of(vault, asked.text)
    ids = among(view.catalog.chunks_holding("[ ]"), asked.allowed)
    ids = [one for one in ids if not is_template(view.path_of(one) or "")]
    words = partial(_tokens, tokenizer=tokenizer)
    found, there = open_tasks(view, question, asked.text, ids, words)
    if found:
        return ListQuestion(asked, question.due.said if question.due else "", found)
    if question.due is not None:
        other = None if question.tasks else Due(None, "")
        others, _ = open_tasks(view, replace(question, due=other), asked.text, ids, words)
        if others:
            said = on_one_line(f"{NONE}{question.none.removeprefix('no ')}.")
            return ListQuestion(asked, said, none=tuple(others)[:1])
    if there:
        trace.warn(on_one_line(question.none))
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
    text, today, labels = asked.text, date.today(), view.labels
    if links := _links_asked(asked, view):
        return links
    if tasks := _tasks_asked(asked, view, tokenizer, trace, vault):
        return tasks
    period = period_of(text, today)
    plain = _plain(text if period is None else period.rest)
    found = _conditions(plain, period, labels, tokenizer, today)
    if not found:
        if period is not None and _asks_for_few_days(plain, period):
            first, last = period.first, period.end - timedelta(days=1)
            if not labels.dated(*period.days):
                days = f"{first}" if last == first else f"{first} to {last}"
                trace.warn(f"no note is dated {days}; this is what else speaks of it")
        return None

    def left(*conditions: Condition) -> Narrowed | None:
        filters = " ".join(map(str, (*asked.said, *found, *conditions)))
        narrowed = narrow(filters, Filters(), view, tokenizer, stands)
        return None if narrowed.nothing or not narrowed.lists else narrowed

    kept = left()
    if kept is not None and not asks_for_templates(text):
        templates = read_templates(vault).folders
        skipped = [one for one in _folders(kept.notes.only or ()) if folded(one) in templates]
        if skipped:
            kept = left(*(Condition("path", one, negated=True) for one in skipped))
    if kept is None:
        return None
    matched = kept.notes.only or frozenset[str]()
    path = _list_of(plain, view, matched) if period is None else None
    if path is not None and stands([path]):
        title = view.notes_at([path])[path].title
        if path in view.notes_named(" ".join(_telling(plain))):
            return None  # the note is the list: it is quoted
        trace.warn(f"the note {on_one_line(title)} lists notes, too: {on_one_line(path)}")
    return ListQuestion(kept)


def _telling(plain: str) -> list[str]:
    """The words of a question that tell what is to be listed."""
    return [word for word in plain.split() if word not in _ASKING]


def _list_of(plain: str, view: Snapshot, matched: Paths) -> str | None:
    """The note that goes by what is to be listed, alone or with a word beside it ("MOC Ethics"), and lists
    as many as ``matched``; None if there is none."""
    words = {*_telling(plain)}
    called = [
        (len(own), path)
        for name, path in view.catalog.names()
        if words and words <= (own := {*_plain(name).split()}) and len(own) <= len(words) + 1
    ]
    for _, path in sorted(called):
        text = "\n".join(one.text for one in view.chunks_of(path))
        links = {link.target_path for link in view.links_from([path]) if link.target_path}
        listed = max(len(links), len(_ITEM.findall(text)))
        if path not in matched and listed >= max(3, len(matched)):
            return path
    return None


def _asks_for_few_days(plain: str, period: Period) -> bool:
    """Whether nothing is asked for but what is dated in a month at most."""
    nothing_else = _DONE.issuperset(_telling(plain))
    return period.is_short and nothing_else and _ASKS_OF_A_TIME.search(plain) is not None


def _conditions(
    plain: str, period: Period | None, labels: NoteLabels, tokenizer: Tokenizer, today: date
) -> tuple[Condition, ...]:
    """What the notes have to meet that a question wants listed; empty where it asks for something
    else, or has a word that is no type, property, tag, folder or time of the vault."""
    if not (_ASKS if period is None else _ASKS_OF_A_TIME).search(plain):
        return ()
    named = _telling(plain)
    idle = _HAVING if period is None else _HAVING | _DONE
    left_over = [word for word in named if word not in idle]
    if len(left_over) > LONGEST or len(named) > 2 * LONGEST or (period is None and not left_over):
        return ()
    found = _candidates(plain, labels, tokenizer)
    kinds = frozenset[str]().union(*(words for words, _ in found))
    named = [
        word for word in named if word not in idle or not kinds.isdisjoint(_tokens(word, tokenizer))
    ]
    tokens = _tokens(" ".join(named), tokenizer) if named else []
    read: list[tuple[int, tuple[Condition, ...]]] = []
    for chosen in islice(_covering(tokens, found), CHOICES):
        notes = [notes_of(one, labels, today) for one in chosen]
        if period is not None:
            notes.append(labels.dated(*period.days))
        left = reduce(frozenset.intersection, notes)
        if _is_a_kind(chosen, left, plain, period):
            read.append((len(left), chosen))
    most = max((count for count, _ in read), default=0)
    # A type says what a note is; a folder of twice as many may be what people mean.
    best = next((chosen for count, chosen in read if count and 2 * count >= most), None)
    if best is None or period is None:
        return best or ()
    first, end = period.days
    return (*best, Condition("after", first), Condition("before", end))


def _is_a_kind(chosen: Sequence[Condition], left: Paths, plain: str, period: Period | None) -> bool:
    """Whether the notes are what is asked for, and not what they say."""
    if any(one.kind in ("type", "property") for one in chosen):
        return True
    if period is not None:
        # The time of a file says little: a copy of the vault has new ones.
        return bool(chosen) or (period.is_short and any(map(day_in_name, left)))
    # One note with a tag may hold the list that is asked for.
    return len(left) > 1 and not _OF_A_KIND.search(plain)


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(fold(text).casefold()))


def _tokens(text: str, tokenizer: Tokenizer) -> list[str]:
    """The words of a text as the index has them, small ones too."""
    return tokenizer(" ".join(_WORDS["singular"].get(word, word) for word in _plain(text).split()))


def _candidates(plain: str, labels: NoteLabels, tokenizer: Tokenizer) -> list[Named]:
    """Conditions all of whose words a question has, and those words; the surest kind first."""

    def named(text: str) -> frozenset[str]:
        return frozenset(_tokens(text, tokenizer))

    asked = named(plain)
    said = _telling(plain)
    begins = {word[:BEGINNING] for word in (*said, *_tokens(" ".join(said), tokenizer))}
    patterns = (
        re.escape(word) + (r"(?![^\W_])" if len(word) < BEGINNING else "")
        for word in sorted(begins)
    )
    one_of_them = re.compile(rf"(?<![^\W_])(?:{'|'.join(patterns)})")
    opposite = {(not on, token) for on, token in _states(" ".join(said), tokenizer)}
    found: dict[str, list[Named]] = {"type": [], "property": [], "tag": [], "path": []}

    def add(kind: Kind, words: frozenset[str], value: str) -> None:
        if words and words <= asked:
            found[kind].append((words, Condition(kind, value)))

    for name, value in labels.with_any(begins):
        if value != "true" and one_of_them.search(value) is None:
            continue
        key = property_key(name)
        if name == TYPE:
            add("type", named(value), value)
        elif name == TAG:
            add("tag", named(value.rpartition("/")[2]), value)
        elif key is not None and key not in _NO_KIND and not value.startswith("[["):
            key_words, words = named(key), named(value)
            by_key = key_words & asked
            if value == "true":
                words = key_words
            elif by_key == key_words and 1 < len(words) <= LONGEST:
                # "Which projects does Nuria lead?" has one of her names.
                words = (words & asked) - key_words
            if (
                words
                and words <= asked
                and (by_key or not value[0].isdigit())
                and opposite.isdisjoint(_states(value, tokenizer))
            ):
                found["property"].append((words | by_key, Condition("property", value, key)))
    for folder in _folders(labels.paths()):
        add("path", named(folder.rpartition("/")[2]), folder)
    return [*chain.from_iterable(found.values())]


def _states(text: str, tokenizer: Tokenizer) -> set[tuple[bool, str]]:
    """The words that say that something goes on, or that it is done (False), as the index has them, which
    has one word for both: books that I am reading are not those that I read."""
    said = ((_GOES_ON.search(word), word) for word in _plain(text).split())
    return {
        (on is not None, token)
        for on, word in said
        if on or _IS_DONE.search(word)
        for token in _tokens(word, tokenizer)
    }


def _folders(paths: Iterable[str]) -> list[str]:
    """The folders that hold notes, and those that these lie in, sorted."""
    found: set[str] = set()
    for folder in {path.rpartition("/")[0] for path in paths}:
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return sorted(found)


def _covering(tokens: Sequence[str], found: Sequence[Named]) -> Iterator[tuple[Condition, ...]]:
    """The ways to say all of the words by conditions."""
    if not tokens:
        yield ()
        return
    for words, condition in found:
        if tokens[0] in words:
            left = [token for token in tokens if token not in words]
            for rest in _covering(left, found):
                yield (condition, *rest)
