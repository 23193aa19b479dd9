"""Notes that share a name, title or alias. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from notehop.app.models import Duplicate
from notehop.app.services.links import ReadNote
from notehop.indexing.graph.files import alias_key, fold, link_name

Kind = Literal["name", "title", "alias"]


def duplicates(notes: Mapping[str, ReadNote]) -> list[Duplicate]:
    """What names more than one note: names, titles and aliases, each by how many share it.

    An alias also counts that is another note's name: links go to that note, never to the alias.
    Titles that are shared by just the notes of one name are told as that name alone.
    """
    names = [(link_name(path), _name(path), path) for path in notes]
    titles = [(fold(note.title).strip(), note.title, path) for path, note in notes.items()]
    carried = [
        (alias_key(alias), alias, path) for path, note in notes.items() for alias in note.aliases
    ]
    aliased = {key for key, _, _ in carried}
    shared = _shared("name", names)
    known = {tuple(one.paths) for one in shared}
    same_title = [one for one in _shared("title", titles) if tuple(one.paths) not in known]
    others = [(key, name, path) for key, name, path in names if key in aliased]
    same_alias = [
        one for one in _shared("alias", [*carried, *others]) if tuple(one.paths) not in known
    ]
    return [*shared, *same_title, *same_alias]


def _shared(kind: Kind, named: Iterable[tuple[str, str, str]]) -> list[Duplicate]:
    """Groups of (key, name as written, path) of more than one path; largest first."""
    groups: dict[str, dict[str, str]] = {}
    for key, name, path in named:
        if key:
            groups.setdefault(key, {}).setdefault(path, name)
    found = [
        Duplicate(kind=kind, name=group[min(group)], paths=sorted(group))
        for group in groups.values()
        if len(group) > 1
    ]
    return sorted(found, key=lambda one: (-len(one.paths), one.name))


def _name(path: str) -> str:
    return path.rpartition("/")[2][: -len(".md")]
