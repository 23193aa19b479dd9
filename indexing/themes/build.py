"""Makes the themes of a generation, from those of an earlier one where there are any.

Touches: index (reads).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from notehop.config.settings import ThemesSettings
from notehop.indexing.graph.communities import (
    EdgeWeights,
    connected_parts,
    count_links,
    edge_weights,
    grouped,
    louvain,
    match_communities,
    modularity,
    move_notes,
    refine,
)
from notehop.indexing.graph.pagerank import pagerank
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.lexical import LexicalIndex
from notehop.indexing.themes.model import Theme, Themes
from notehop.indexing.themes.words import as_written, content_tokens, small_words, telling_tokens
from notehop.indexing.tokens import Tokenizer
from notehop.indexing.vault.dates import day_in_name

HUBS = 5
"""Notes at the centre of a theme, of which one names it."""

SUMMED_UP = 12
"""Most central notes that a language model sums a theme up from: what it is about, at a cost that a
large theme does not raise, and that a change at its edge does not cause again."""

DRIFTED = 0.05
"""Share of the notes that may change, one by one, until all of the partition is looked at again."""

FEW = 20
"""Changed notes that are no drift in a vault of any size."""

WORSE = 0.02
"""Modularity that may be lost until then, whatever the number of changes."""

BETTER = 0.01
"""Modularity that a partition from nothing must gain for communities to be given up: people know
their themes by name, and Louvain finds others as good by looking at notes in another order."""

_ID = 8
"""Hexadecimal digits of an id."""


Lexicon = Callable[[], tuple[Tokenizer, LexicalIndex]]
"""Gives the words of the vault: how they are read, and how many passages hold each."""


def made_with(settings: ThemesSettings) -> str:
    """Names what the partition depends on."""
    return f"communities 1, resolution {settings.resolution:g}, from {settings.min_notes} notes"


def make_themes(
    view: CatalogSnapshot,
    is_template: Callable[[str], bool],
    lexicon: Lexicon,
    settings: ThemesSettings,
    last: Themes | None = None,
) -> Themes:
    """The themes of a generation.

    With those of an earlier generation of the same catalog, the notes that changed since go where
    they belong, and only the communities that they left, joined or are in are described anew. When
    the partition has drifted, all of it is looked at again, from what it was; it is given up for a
    new one only if that is better by :data:`BETTER`.

    :param is_template: tells of a path whether it is left out: a template links what its notes
        will have in common, and is about none of it.
    :param lexicon: asked for only where a theme is described.
    :param last: what was made before. Of those of a later generation, of another index of the
        vault, or made with other settings, nothing is taken over but the names of themes that are
        the same, and what was written about notes that say the same.
    """
    name = made_with(settings)
    before = last
    if last is None or (last.stamp, last.made_with) != (view.stamp, name):
        before = None
    elif last.generation == view.generation:
        return last
    elif last.generation > view.generation:
        before = None
    notes = [path for path in view.indexed_paths() if not is_template(path)]
    counts = count_links(notes, view.leading_links())
    weights = edge_weights(notes, counts)
    changed = set(notes) if before is None else set(view.relinked_paths(before.generation))
    groups, quality, drift = _partition(weights, changed, settings.resolution, before)
    kept = {one.id: one for one in last.themes} if last is not None else {}
    # A theme that shrinks below the least size is none any more; its id stays its own.
    large = [group for group in groups if len(group) >= settings.min_notes]
    stamps = view.stamps()
    same = match_communities(large, {id_: one.notes for id_, one in kept.items()})
    content = {path: stamps[path].content_hash for path in notes}
    describe = _Describer(view, counts, weights, lexicon, content, anew=before is None)
    themes = describe.all(large, {at: kept[id_] for at, id_ in same.items()}, kept)
    return Themes(
        generation=view.generation,
        stamp=view.stamp,
        made_with=name,
        themes=tuple(sorted(themes, key=lambda one: (-len(one.notes), one.id))),
        small=tuple(tuple(sorted(group)) for group in groups if len(group) < settings.min_notes),
        unlinked=tuple(path for path, near in weights.items() if not near),
        quality=quality,
        drift=drift,
    )


def _partition(
    weights: EdgeWeights, changed: Collection[str], resolution: float, before: Themes | None
) -> tuple[list[frozenset[str]], float, int]:
    """The communities, the modularity when all of them were looked at last, the changes since."""
    linked = {path for path, near in weights.items() if near}
    if before is None:
        groups = louvain(weights, resolution)
        return groups, modularity(weights, groups, resolution), 0
    membership = {p: one.id for one in before.themes for p in one.notes if p in linked}
    membership |= {p: f"+{group[0]}" for group in before.small for p in group if p in linked}
    movable = [path for path in linked if path in changed or path not in membership]
    groups = connected_parts(weights, grouped(move_notes(weights, membership, movable, resolution)))
    quality = modularity(weights, groups, resolution)
    drift = before.drift + len(changed)
    if drift <= max(FEW, DRIFTED * len(weights)) and quality >= before.quality - WORSE:
        return groups, before.quality, drift
    now = {path: min(group) for group in groups for path in group}
    groups = refine(weights, now, resolution)
    quality = modularity(weights, groups, resolution)
    anew = louvain(weights, resolution)
    if modularity(weights, anew, resolution) > quality + BETTER:
        groups, quality = anew, modularity(weights, anew, resolution)
    return groups, quality, 0


class _Describer:
    """Gives communities names and words; those that are as they were keep theirs."""

    def __init__(
        self,
        view: CatalogSnapshot,
        counts: Counter[tuple[str, str]],
        weights: EdgeWeights,
        lexicon: Lexicon,
        content: Mapping[str, str],
        *,
        anew: bool,
    ) -> None:
        self._view = view
        self._weights = weights
        self._anew = anew
        self._lexicon = lexicon
        self._content = content
        self._links: dict[str, list[tuple[str, int]]] = {}
        for (source, target), count in counts.items():
            self._links.setdefault(source, []).append((target, count))

    def all(
        self,
        groups: Sequence[frozenset[str]],
        same: Mapping[int, Theme],
        known: Mapping[str, Theme],
    ) -> list[Theme]:
        """The groups as themes.

        :param same: place in ``groups`` -> the theme that it was.
        :param known: ids that are taken.
        """
        taken = set(known)
        found: list[Theme] = []
        for at, group in enumerate(groups):
            was = same.get(at)
            central = self._by_rank(group)
            digest = self._digest(group, central)
            as_before = was is not None and (was.digest, was.notes) == (digest, central)
            if was is not None and as_before and not self._anew:
                found.append(was)
                continue
            after = _named_after(central, self._weights, was)
            id_ = was.id if was is not None else _new_id(after, taken)
            taken.add(id_)
            summary = was.summary if was is not None else None
            if summary is not None and summary.digest != source_digest(central, self._content):
                summary = None
            words = self._words(central)
            found.append(Theme(id_, "", after, words, central, digest, summary))
        return self._named(found)

    def _by_rank(self, group: frozenset[str]) -> tuple[str, ...]:
        """The notes by PageRank over the links between them, then by path."""
        paths = sorted(group)
        links = (
            (path, target)
            for path in paths
            for target, count in self._links.get(path, ())
            for _ in range(count)
        )
        ranks = pagerank(paths, links)
        return tuple(sorted(paths, key=lambda path: (-round(ranks[path], 9), path)))

    def _digest(self, group: frozenset[str], central: Sequence[str]) -> str:
        contents = [f"{path}\0{self._content[path]}" for path in sorted(group)]
        return _hash("\n".join([*contents, "", *central]))

    def _words(self, notes: Sequence[str]) -> tuple[str, ...]:
        tokenizer, index = self._lexicon()
        path_of = {key.id: key.path for key in self._view.chunk_keys(notes)}
        passages: dict[str, list[frozenset[str]]] = {}
        for id_, fields in self._view.chunk_tokens(path_of):
            passages.setdefault(path_of[id_], []).append(content_tokens(fields))
        telling = telling_tokens(passages, index.frequency, len(index), small_words(tokenizer))
        texts = (chunk.text for path in notes[: 4 * HUBS] for chunk in self._view.chunks_of(path))
        return tuple(as_written(telling, texts, tokenizer))

    def _named(self, themes: Iterable[Theme]) -> list[Theme]:
        """The themes with the titles of the notes that they are named after.

        Of two notes of one title each is told apart by its folder.
        """
        found = list(themes)
        rows = self._view.notes_at([one.named_after for one in found])
        titles = {path: row.title for path, row in rows.items()}
        twice = Counter(titles.values())
        named: list[Theme] = []
        for one in found:
            title = titles.get(one.named_after, one.named_after)
            folder = one.named_after.rpartition("/")[0].rpartition("/")[2]
            if twice[title] > 1 and folder and folder != title:
                title = f"{title} ({folder})"
            named.append(one if one.name == title else replace(one, name=title))
        return named


def _named_after(central: Sequence[str], weights: EdgeWeights, was: Theme | None) -> str:
    """The note that names a theme: that which most of its notes are linked with, either way; of two
    the more central. One that it was named after stays while it is among the first. A note of a day
    names none if there is another."""
    among = frozenset(central)
    near = {path: sum(other in among for other in weights[path]) for path in central}
    lasting = [path for path in central if day_in_name(path) is None] or list(central)
    lasting.sort(key=lambda path: -near[path])
    if was is not None and was.named_after in lasting[:HUBS]:
        return was.named_after
    return lasting[0]


def source_digest(notes: Sequence[str], content: Mapping[str, str]) -> str:
    """Names what a summary of a theme is made from: its most central notes and their content.

    :param notes: the most central first.
    :param content: note -> hash of its content; a note that is none any more may be missing.
    """
    sources = sorted(notes[:SUMMED_UP])
    return _hash("\n".join(f"{path}\0{content.get(path, '')}" for path in sources))


def _new_id(path: str, taken: Collection[str]) -> str:
    """An id that follows from the note, so that an index made anew has the same."""
    id_ = _hash(path)[:_ID]
    number = 2
    while id_ in taken:
        id_ = f"{_hash(path)[:_ID]}-{number}"
        number += 1
    return id_


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
