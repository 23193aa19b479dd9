"""What the filters of a query leave of one generation of the index, and what is to be said of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from itertools import islice
from posixpath import basename, dirname

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from notehop.app.models import Filters
from notehop.app.retrieval.filters.apply import (
    EVERY_NOTE,
    Allowed,
    Notes,
    among,
    chunks_left,
    notes_left,
    notes_of,
)
from notehop.app.retrieval.filters.parse import Condition, Written, plan
from notehop.app.retrieval.nodes import light_node
from notehop.indexing.graph.files import fold
from notehop.indexing.shown import counted, on_one_line
from notehop.indexing.stores.labels import (
    TAG,
    TYPE,
    NoteLabels,
    key_label,
    property_label,
    tag_label,
    value_label,
)
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens import Tokenizer

NEWEST = "newest"
"""The name under which the place of a listed note stands in its record."""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A query without its filters, and what they leave.

    ``allowed`` is None where there are no filters; ``nothing`` tells that they leave nothing.
    ``lists`` tells that there is no word to search for. ``said`` are the filters as they are
    written in a query.
    """

    text: str
    notes: Notes
    allowed: Allowed | None
    nothing: bool
    lists: bool
    said: tuple[str, ...]
    warnings: tuple[str, ...]


def narrow(
    query: str,
    filters: Filters,
    view: Snapshot,
    tokenizer: Tokenizer,
    stands: Stands,
    *,
    literal: bool = False,
) -> Narrowed:
    """Read the filters of a query, in its text and apart, and find the chunks they leave.

    :param stands: whether any of some notes is there still: no other is named in a remark.
    :param literal: whether the text holds no filters, whatever it looks like.
    :raises QueryError: if there is neither text nor filter, or a date is none.
    """
    labels = view.labels
    today = date.today()
    asked = plan(
        query, filters, lambda key: labels.has(property_label(key)), today, literal=literal
    )
    conditions = asked.conditions
    warnings = of_plan(asked, labels, stands)
    notes, allowed = EVERY_NOTE, None
    if conditions:
        notes = notes_left(conditions, labels, today)
        allowed = chunks_left(notes, conditions, view, labels, tokenizer)
        warnings += of_conditions(conditions, labels, today, stands)
    nothing = bool(conditions) and allowed is None
    if nothing:
        warnings += of_nothing(
            conditions,
            labels,
            today,
            lambda one: chunks_left(EVERY_NOTE, [one], view, labels, tokenizer) is not None,
        )
    return Narrowed(
        text=asked.text,
        notes=notes,
        allowed=allowed,
        nothing=nothing,
        lists=asked.lists,
        said=tuple(map(str, conditions)),
        warnings=tuple(warnings),
    )


class NewestRetriever(BaseRetriever):
    """Lists the newest notes that filters leave, each by its first chunk that they leave, templates
    last: what a query without words finds. Notes that say nothing are passed over."""

    def __init__(
        self, view: Snapshot, narrowed: Narrowed, count: int, is_template: Callable[[str], bool]
    ) -> None:
        super().__init__()
        self._view = view
        self._narrowed = narrowed
        self._count = count
        self._is_template = is_template

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:  # noqa: ARG002
        view, narrowed = self._view, self._narrowed
        found: list[ChunkId] = []
        templates: list[ChunkId] = []
        for path in view.labels.newest_first(narrowed.notes, narrowed.notes.only):
            ids = among(view.chunk_ids_of(path), narrowed.allowed)[:1]
            if any(chunk.text.strip() for chunk in view.chunks(ids).values()):
                (templates if self._is_template(path) else found).extend(ids)
            if len(found) == self._count:
                break
        hits: list[NodeWithScore] = []
        for rank, chunk_id in enumerate([*found, *templates][: self._count], start=1):
            record = {NEWEST: {"rank": rank, "score": None, "weight": None}}
            node = light_node(chunk_id, signals=record)
            hits.append(NodeWithScore(node=node, score=1 / rank))
        return hits


NAMED = 5
"""Tags, folders or values that are named instead of one that is not there."""

LOOKED_AT = 24
"""Notes of a name that are held against the files."""

Stands = Callable[[Collection[str]], bool]
"""Whether any of some notes is there still; ``bool`` takes them as they were indexed.

What only a note says that became private since is named to nobody."""

KEYS_NAMED = 15
"""Keys of front matter that are named."""


def of_plan(plan: Written, labels: NoteLabels, stands: Stands = bool) -> list[str]:
    """Remarks on what looks like a filter and was taken for text."""
    told = [
        f"{on_one_line(text)} was searched for as text: no note has the property "
        f"{text.lstrip('-').partition(':')[0]} ({_keys(labels, stands)})"
        for text in plan.unknown
    ]
    told += [
        f"{key}: was searched for as text: write the value right after the colon, without a blank"
        for key in plan.without_value
    ]
    told += [
        f"filters.phrases: {phrase!r} holds no word and narrows nothing; it was left out"
        for phrase in plan.wordless
    ]
    return told


def of_conditions(
    conditions: Sequence[Condition], labels: NoteLabels, today: date, stands: Stands = bool
) -> list[str]:
    """A remark on each condition that no note meets, negated or not: it may be misspelt."""
    return [
        _unmet(condition, labels, stands)
        for condition in conditions
        if condition.kind != "phrase" and not _any(notes_of(condition, labels, today), stands)
    ]


def of_nothing(
    conditions: Sequence[Condition],
    labels: NoteLabels,
    today: date,
    stands_alone: Callable[[Condition], bool],
) -> list[str]:
    """Say why nothing is left, as far as :func:`of_conditions` does not.

    :param stands_alone: whether any passage meets the condition of a phrase.
    """
    unsaid = [one for one in conditions if one.kind == "phrase" and not stands_alone(one)]
    if unsaid:
        return [f"{_shown(one)}: {_NEVER_MET[one.negated]}" for one in unsaid]
    counts = {one: len(notes_of(one, labels, today)) for one in conditions if one.kind != "phrase"}
    if any(not count and not one.negated for one, count in counts.items()):
        return []
    said = [
        _shown(one) + (f" ({counted(counts[one], 'note')})" if one in counts else "")
        for one in conditions
    ]
    if len(said) == 1:
        return [f"{said[0]}: this keeps out every note"]
    return [f"nothing meets all filters; alone they name: {', '.join(said)}"]


_NEVER_MET = {
    False: "no passage says this; without the quotes its words are searched for",
    True: "every passage says this",
}


def _shown(condition: Condition) -> str:
    return on_one_line(str(condition))


def _unmet(condition: Condition, labels: NoteLabels, stands: Stands) -> str:
    said = _shown(condition)
    value = condition.value
    if condition.kind == "tag":
        tags = labels.values(TAG)
        otherwise = "it is spelt like none there is" if tags else "no note has any"
        near = _standing(_near(tag_label(value), tags), labels, TAG, stands)
        return f"{said}: no note has this tag; {_named('the nearest are', near, otherwise)}"
    if condition.kind == "path":
        folders = _near_folders(value, labels.paths())
        near = _first((one for one in folders if _first_stand(labels.under(one), stands)), NAMED)
        return f"{said}: no note is there; {_named('folders like it are', near, _PATH_HELP)}"
    if condition.kind == "type":
        types = _standing(_often(labels.values(TYPE)), labels, TYPE, stands)
        return f"{said}: no note is of this type; {_named('there are', types, 'no note has one')}"
    if condition.kind == "property":
        name = property_label(condition.key)
        if not _has(condition.key, labels, stands):
            return f"{said}: no note has this property; {_keys(labels, stands)}"
        values = {one: n for one, n in labels.values(name).items() if not one.startswith("[[")}
        near = _standing(_near(value_label(value), values), labels, name, stands)
        near = near or _standing(_often(values), labels, name, stands)
        key = key_label(condition.key)
        return (
            f"{said}: no note has this value; {_named(f'{key} is', near, f'{key} is empty')}; "
            "to search for the words, put them in quotes"
        )
    return f"{said}: no note is of that time"


_PATH_HELP = "folders are named from the vault's root, and a name with blanks is quoted"


def _any(paths: Collection[str], stands: Stands) -> bool:
    """Whether notes are there; of more than a few, it is taken that one of them is."""
    return len(paths) > LOOKED_AT or stands(paths)


def _first_stand(paths: Iterable[str], stands: Stands) -> bool:
    return stands(sorted(paths)[:LOOKED_AT])


def _standing(names: Iterable[str], labels: NoteLabels, label: str, stands: Stands) -> list[str]:
    """The first of the values that a note still has."""
    return _first((one for one in names if _first_stand(labels.having(label, one), stands)), NAMED)


def _has(key: str, labels: NoteLabels, stands: Stands) -> bool:
    """Whether a note still has a property, by its first values."""
    name = property_label(key)
    values = _first(labels.values(name), LOOKED_AT)
    paths = [path for value in values for path in _first(labels.having(name, value), LOOKED_AT)]
    return _first_stand(paths, stands)


def _first(names: Iterable[str], most: int) -> list[str]:
    return list(islice(names, most))


def _keys(labels: NoteLabels, stands: Stands) -> str:
    keys = [key for key in labels.keys()[: 2 * KEYS_NAMED] if _has(key, labels, stands)]
    more = len(labels.keys()) - KEYS_NAMED
    return _named("there are", keys[:KEYS_NAMED], "no note has any", more)


def _named(lead: str, names: Sequence[str], otherwise: str, more: int = 0) -> str:
    if not names:
        return otherwise
    rest = f" and {more} more" if more > 0 else ""
    return f"{lead}: {', '.join(on_one_line(name) for name in names)}{rest}"


def _near(value: str, known: Collection[str]) -> list[str]:
    """Names that are spelt like a value or hold it, nearest first; those it is nested in last."""
    spelt = get_close_matches(value, known, n=LOOKED_AT, cutoff=0.6)
    within = sorted(name for name in known if value in name) if value else []
    return list(dict.fromkeys([*spelt, *within]))[:LOOKED_AT]


def _often(known: Mapping[str, int]) -> list[str]:
    """The values that most notes have."""
    values = [value for value in known if value]
    return sorted(values, key=lambda value: (-known[value], value))[:LOOKED_AT]


def _near_folders(place: str, paths: Iterable[str]) -> list[str]:
    folders: dict[str, str] = {}
    for path in paths:
        folder = dirname(path)
        while folder and fold(folder) not in folders:
            folders[fold(folder)] = folder
            folder = dirname(folder)
    asked = fold(place).strip("/")
    same = [one for one in sorted(folders) if basename(one) == basename(asked)]
    spelt = get_close_matches(asked, sorted(folders), n=LOOKED_AT, cutoff=0.6)
    within = [one for one in sorted(folders) if asked and asked in one]
    return [folders[one] for one in dict.fromkeys([*same, *spelt, *within])][:LOOKED_AT]
