"""Owns what a reply says of its filters: which leaves nothing, and what there is instead.

Touches: index.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from posixpath import basename, dirname

from app.retrieval.filters.condition import Condition
from app.retrieval.filters.plan import Plan
from app.retrieval.filters.resolve import Labels, notes_of
from indexing.graph.names import fold
from indexing.shown import counted, on_one_line
from indexing.stores.labels import TAG, TYPE, key_label, property_label, tag_label, value_label

NAMED = 5
"""Tags, folders or values that are named instead of one that is not there."""

KEYS_NAMED = 15
"""Keys of front matter that are named."""


def of_plan(plan: Plan, labels: Labels) -> list[str]:
    """Remarks on what looks like a filter and was taken for text."""
    told = [
        f"{on_one_line(text)} was searched for as text: no note has the property "
        f"{text.lstrip('-').partition(':')[0]} ({_keys(labels)})"
        for text in plan.unknown
    ]
    told += [
        f"{key}: was searched for as text: write the value right after the colon, without a blank"
        for key in plan.without_value
    ]
    return told


def of_conditions(conditions: Sequence[Condition], labels: Labels, today: date) -> list[str]:
    """A remark on each condition that no note meets, negated or not: it may be misspelt."""
    return [
        _unmet(condition, labels)
        for condition in conditions
        if condition.kind != "phrase" and not notes_of(condition, labels, today)
    ]


def of_nothing(
    conditions: Sequence[Condition],
    labels: Labels,
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


def _unmet(condition: Condition, labels: Labels) -> str:
    said = _shown(condition)
    value = condition.value
    if condition.kind == "tag":
        tags = labels.values(TAG)
        otherwise = "it is spelt like none there is" if tags else "no note has any"
        nearest = _named("the nearest are", _near(tag_label(value), tags), otherwise)
        return f"{said}: no note has this tag; {nearest}"
    if condition.kind == "path":
        near = _near_folders(value, labels.paths())
        return f"{said}: no note is there; {_named('folders like it are', near, _PATH_HELP)}"
    if condition.kind == "type":
        types = _often(labels.values(TYPE))
        return f"{said}: no note is of this type; {_named('there are', types, 'no note has one')}"
    if condition.kind == "property":
        name = property_label(condition.key)
        if not labels.has(name):
            return f"{said}: no note has this property; {_keys(labels)}"
        values = {one: n for one, n in labels.values(name).items() if not one.startswith("[[")}
        near = _near(value_label(value), values) or _often(values)
        key = key_label(condition.key)
        return (
            f"{said}: no note has this value; {_named(f'{key} is', near, f'{key} is empty')}; "
            "to search for the words, put them in quotes"
        )
    return f"{said}: no note is of that time"


_PATH_HELP = "folders are named from the vault's root, and a name with blanks is quoted"


def _keys(labels: Labels) -> str:
    keys = labels.keys()
    return _named("there are", keys[:KEYS_NAMED], "no note has any", len(keys) - KEYS_NAMED)


def _named(lead: str, names: Sequence[str], otherwise: str, more: int = 0) -> str:
    if not names:
        return otherwise
    rest = f" and {more} more" if more > 0 else ""
    return f"{lead}: {', '.join(on_one_line(name) for name in names)}{rest}"


def _near(value: str, known: Collection[str]) -> list[str]:
    """Names that are spelt like a value or hold it, nearest first; those it is nested in last."""
    spelt = get_close_matches(value, known, n=NAMED, cutoff=0.6)
    within = sorted(name for name in known if value in name) if value else []
    return list(dict.fromkeys([*spelt, *within]))[:NAMED]


def _often(known: Mapping[str, int]) -> list[str]:
    """The values that most notes have."""
    values = [value for value in known if value]
    return sorted(values, key=lambda value: (-known[value], value))[:NAMED]


def _near_folders(place: str, paths: Iterable[str]) -> list[str]:
    folders: dict[str, str] = {}
    for path in paths:
        folder = dirname(path)
        while folder and fold(folder) not in folders:
            folders[fold(folder)] = folder
            folder = dirname(folder)
    asked = fold(place).strip("/")
    same = [one for one in sorted(folders) if basename(one) == basename(asked)]
    spelt = get_close_matches(asked, sorted(folders), n=NAMED, cutoff=0.6)
    within = [one for one in sorted(folders) if asked and asked in one]
    return [folders[one] for one in dict.fromkeys([*same, *spelt, *within])][:NAMED]
