"""The themes of a generation: communities of its graph of links, named after their notes. Pure."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from notehop.indexing.graph.communities import EdgeWeights, edge_weights, louvain
from notehop.indexing.graph.pagerank import pagerank
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.vault.dates import day_in_name

MIN_NOTES = 3  # that make a theme; a smaller group of linked notes is none


@dataclass(frozen=True, slots=True)
class Theme:
    """A community of notes that is large enough to be told of.

    ``named_after`` is the note whose title is its ``name``; its ``id`` follows from the path of that.
    ``notes`` are its paths, the most central first.
    """

    id: str
    name: str
    named_after: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Themes:
    """The themes of one generation of an index, the largest first, then by id.

    ``small`` counts the notes of communities with too few to be themes, ``unlinked`` those that no
    link connects with another one.
    """

    themes: tuple[Theme, ...]
    small: int
    unlinked: int


def make_themes(view: CatalogSnapshot, is_template: Callable[[str], bool]) -> Themes:
    """The themes of a generation.

    :param is_template: tells of a path whether it is left out: a template links what its notes
        will have in common, and is about none of it.
    """
    notes = [path for path in view.indexed_paths() if not is_template(path)]
    links = list(view.leading_links())
    weights = edge_weights(notes, links)
    groups = louvain(weights)
    leaving: dict[str, list[tuple[str, str]]] = {}
    for pair in links:
        leaving.setdefault(pair[0], []).append(pair)
    found: dict[str, tuple[str, ...]] = {}
    for group in groups:
        if len(group) >= MIN_NOTES:
            ranks = pagerank(group, (pair for path in group for pair in leaving.get(path, ())))
            central = tuple(sorted(group, key=lambda path: (-round(ranks[path], 9), path)))
            found[_named_after(central, weights)] = central
    titles = {path: row.title for path, row in view.notes_at(found).items()}
    twice = Counter(titles.values())
    themes: list[Theme] = []
    for after, central in found.items():
        name, folder = titles.get(after, after), after.rpartition("/")[0].rpartition("/")[2]
        if twice[name] > 1 and folder and folder != name:
            name = f"{name} ({folder})"
        id_ = hashlib.sha256(after.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        themes.append(Theme(id_, name, after, central))
    return Themes(
        themes=tuple(sorted(themes, key=lambda one: (-len(one.notes), one.id))),
        small=sum(len(group) for group in groups if len(group) < MIN_NOTES),
        unlinked=sum(not near for near in weights.values()),
    )


def _named_after(central: Sequence[str], weights: EdgeWeights) -> str:
    """The note that most of a theme's notes are linked with, of a day only if there is no other."""
    among = frozenset(central)
    lasting = [path for path in central if day_in_name(path) is None] or central
    return max(lasting, key=lambda path: sum(other in among for other in weights[path]))
