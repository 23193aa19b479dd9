"""Makes the themes of a generation, from those of an earlier one where there are any."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log

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
from notehop.indexing.tokens import Tokenizer
from notehop.indexing.tokens.languages import FUNCTION_WORDS
from notehop.indexing.tokens.words import split_words
from notehop.indexing.vault.dates import day_in_name

HUBS = 5  # notes at the centre of a theme, of which one names it
SUMMED_UP = 12
"""Most central notes that a language model sums a theme up from: what it is about, at a cost that a
large theme does not raise, and that a change at its edge does not cause again."""

DRIFTED = 0.05
"""Share of the notes that may change, one by one, until all of the partition is looked at again."""

FEW = 20  # changed notes that are no drift in a vault of any size
WORSE = 0.02  # modularity that may be lost until then, whatever the number of changes
BETTER = 0.01
"""Modularity that a partition from nothing must gain for communities to be given up: people know
their themes by name, and Louvain finds others as good by looking at notes in another order."""

MOST = 8  # words of a theme: more do not fit a line, and say little
_SPARE = 4  # tokens looked at for each word: of some no word can be shown
_SHORTEST = 3
"""Letters of a word in a script with letters; shorter ones are abbreviations of everything."""

_FIELDS = ("h1", "h2", "h3", "content")
"""What a passage says. Titles and tags stand with each passage of a note, and would count as often
as it has passages."""

_ID = 8  # hexadecimal digits of an id


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
    links: dict[str, list[str]] = {}
    for (source, target), count in counts.items():
        links.setdefault(source, []).extend([target] * count)
    content = {path: stamps[path].content_hash for path in notes}
    describer = _Describer(view, weights, lexicon, links, content)
    themes: list[Theme] = []
    for at, group in enumerate(large):
        was = kept[same[at]] if at in same else None
        if before is None or was is None or was.digest != describer.digest(group):
            was = describer.theme(group, was, {*kept, *(one.id for one in themes)})
        themes.append(was)
    return Themes(
        generation=view.generation,
        stamp=view.stamp,
        made_with=name,
        themes=tuple(sorted(_named(view, themes), key=lambda one: (-len(one.notes), one.id))),
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


@dataclass(frozen=True, slots=True)
class _Describer:
    """Gives communities names and words. ``links`` maps a note to those that it links to, as often as
    it does; ``content`` to the hash of its content."""

    view: CatalogSnapshot
    weights: EdgeWeights
    lexicon: Lexicon
    links: Mapping[str, Sequence[str]]
    content: Mapping[str, str]

    def theme(self, group: frozenset[str], was: Theme | None, taken: Collection[str]) -> Theme:
        """A community as a theme that has no name yet.

        :param was: the theme that it was.
        :param taken: ids that it cannot have.
        """
        central = self._by_rank(group)
        after = _named_after(central, self.weights, was)
        summary = was.summary if was is not None else None
        if summary is not None and summary.digest != source_digest(central, self.content):
            summary = None
        id_ = was.id if was is not None else _new_id(after, taken)
        return Theme(id_, "", after, self._words(central), central, self.digest(group), summary)

    def digest(self, group: frozenset[str]) -> str:
        """Names the notes of a community, their content, and the order of their ranks."""
        contents = [f"{path}\0{self.content[path]}" for path in sorted(group)]
        return _hash("\n".join([*contents, "", *self._by_rank(group)]))

    def _by_rank(self, group: frozenset[str]) -> tuple[str, ...]:
        """The notes by PageRank over the links between them, then by path."""
        paths = sorted(group)
        ranks = pagerank(paths, ((path, to) for path in paths for to in self.links.get(path, ())))
        return tuple(sorted(paths, key=lambda path: (-round(ranks[path], 9), path)))

    def _words(self, notes: Sequence[str]) -> tuple[str, ...]:
        tokenizer, index = self.lexicon()
        path_of = {key.id: key.path for key in self.view.chunk_keys(notes)}
        passages: dict[str, list[frozenset[str]]] = {}
        for id_, fields in self.view.chunk_tokens(path_of):
            passages.setdefault(path_of[id_], []).append(content_tokens(fields))
        telling = telling_tokens(passages, index.frequency, len(index), small_words(tokenizer))
        texts = (chunk.text for path in notes[: 4 * HUBS] for chunk in self.view.chunks_of(path))
        return tuple(as_written(telling, texts, tokenizer))


def _named(view: CatalogSnapshot, themes: Sequence[Theme]) -> Iterator[Theme]:
    """The themes with the titles of the notes that they are named after.

    Of two notes of one title each is told apart by its folder.
    """
    rows = view.notes_at([one.named_after for one in themes])
    titles = {path: row.title for path, row in rows.items()}
    twice = Counter(titles.values())
    for one in themes:
        title = titles.get(one.named_after, one.named_after)
        folder = one.named_after.rpartition("/")[0].rpartition("/")[2]
        if twice[title] > 1 and folder and folder != title:
            title = f"{title} ({folder})"
        yield replace(one, name=title)


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


def telling_tokens(
    passages: Mapping[str, Sequence[Collection[str]]],
    frequency: Callable[[str], int],
    total: int,
    passed_over: Collection[str] = (),
) -> list[str]:
    """The tokens that are more frequent in some notes than in the vault, the most telling first.

    Told by ``p * log(p / q)`` for a share p of the notes' passages and q of the vault's that hold a
    token: what it adds to the divergence of the two (Kullback and Leibler 1951). Plain tf-idf lets
    words win that are frequent everywhere.

    :param passages: note -> the tokens of each of its passages. A token that only one note of
        several holds is no theme.
    :param frequency: token -> passages of the vault that hold it.
    :param total: passages of the vault.
    """
    holding: Counter[str] = Counter()
    notes: Counter[str] = Counter()
    for own in passages.values():
        sets = [frozenset(one) for one in own]
        holding.update(token for one in sets for token in one)
        notes.update(frozenset().union(*sets))
    count = sum(map(len, passages.values()))
    least = min(2, len(passages))
    scores: dict[str, float] = {}
    for token, passages_with in holding.items():
        if notes[token] < least or token in passed_over or not _says_something(token):
            continue
        share = passages_with / count
        gain = log(share * total / max(frequency(token), passages_with))
        if gain > 0:
            scores[token] = share * gain
    return sorted(scores, key=lambda token: (-scores[token], token))[: MOST * _SPARE]


def as_written(tokens: Sequence[str], texts: Iterable[str], tokenizer: Tokenizer) -> list[str]:
    """The words that stand for tokens, as the texts write them most often; at most :data:`MOST`.

    A token that is no word of the texts by itself, such as a part of a compound, is left out; a
    pair of characters of a script without spaces is its own word.
    """
    wanted = frozenset(tokens)
    spelt: dict[str, Counter[str]] = {token: Counter() for token in tokens}
    for text in texts:
        for surface in split_words(text):
            found = tokenizer(surface)
            if len(found) == 1 and found[0] in wanted:
                spelt[found[0]][surface] += 1
    words: list[str] = []
    for token in tokens:
        if counts := spelt[token]:
            words.append(_spelling(counts))
        elif _unspaced(token):
            words.append(token)
    return list(dict.fromkeys(words))[:MOST]


def content_tokens(fields: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """The tokens of what a passage says, from its tokens by field."""
    return frozenset(token for field in _FIELDS for token in fields.get(field, ()))


@lru_cache(maxsize=4)
def small_words(tokenizer: Tokenizer) -> frozenset[str]:
    """The tokens of words that say nothing: those of the vault's language, and of English."""
    small = FUNCTION_WORDS.get(tokenizer.language, frozenset()) | FUNCTION_WORDS["en"]
    return frozenset(token for word in sorted(small) for token in tokenizer(word))


def _spelling(counts: Counter[str]) -> str:
    """Small letters, unless the word is a name: mostly written with capitals."""
    capital = sum(count for word, count in counts.items() if word[:1].isupper())
    small = Counter({word: count for word, count in counts.items() if not word[:1].isupper()})
    chosen = counts if 2 * capital > sum(counts.values()) or not small else small
    return min(chosen, key=lambda word: (-chosen[word], word))


def _says_something(token: str) -> bool:
    if _unspaced(token):
        return True
    return len(token) >= _SHORTEST and not any(char.isdigit() for char in token) and token.isalpha()


def _unspaced(token: str) -> bool:
    return len(token) == 2 and token[0] >= "\u3040" and token[0].isalpha()
