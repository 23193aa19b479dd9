"""The themes of a generation: communities of its graph of links, named after their notes. Pure."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import log

from notehop.indexing.graph.communities import EdgeWeights, count_links, edge_weights, louvain
from notehop.indexing.graph.pagerank import pagerank
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.lexical import LexicalIndex
from notehop.indexing.tokens.languages import FUNCTION_WORDS
from notehop.indexing.tokens.tokenizer import Tokenizer
from notehop.indexing.tokens.words import split_words
from notehop.indexing.vault.dates import day_in_name

MIN_NOTES = 3  # that make a theme; a smaller group of linked notes is none
CENTRAL = 20  # notes of a theme in which the spelling of its words is looked for
MOST = 8  # words of a theme: more do not fit a line, and say little
_SPARE = 4  # tokens looked at for each word: of some no word can be shown
_SHORTEST = 3
"""Letters of a word in a script with letters; shorter ones are abbreviations of everything."""

_FIELDS = ("h1", "h2", "h3", "content")
"""What a passage says. Titles and tags stand with each passage of a note, and would count as often
as it has passages."""


@dataclass(frozen=True, slots=True)
class Theme:
    """A community of notes that is large enough to be told of.

    ``named_after`` is the note whose title is its ``name``; its ``id`` follows from the path of that.
    ``words`` are those that tell it from the rest of the vault, the most telling first. ``notes``
    are its paths, the most central first.
    """

    id: str
    name: str
    named_after: str
    words: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Themes:
    """The themes of one generation of an index, the largest first, then by id.

    ``small`` counts the notes of communities with too few to be themes, ``unlinked`` those that no
    link connects with another one.
    """

    generation: int
    stamp: str
    themes: tuple[Theme, ...]
    small: int
    unlinked: int

    @cached_property
    def of_note(self) -> Mapping[str, Theme]:
        """Note -> its theme, for the notes of themes."""
        return {path: theme for theme in self.themes for path in theme.notes}


def make_themes(
    view: CatalogSnapshot,
    is_template: Callable[[str], bool],
    tokenizer: Tokenizer,
    index: LexicalIndex,
    last: Themes | None = None,
) -> Themes:
    """The themes of a generation.

    :param is_template: tells of a path whether it is left out: a template links what its notes
        will have in common, and is about none of it.
    :param index: how many passages hold each word, read by the tokenizer.
    :param last: what was made before: of an earlier generation of the same
        catalog, only communities whose notes changed are described anew.
    """
    changed: set[str] | None = None
    if last is not None and last.stamp == view.stamp:
        if last.generation == view.generation:
            return last
        if last.generation < view.generation:
            changed = set(view.changed_paths(last.generation, relinked=True))
    notes = [path for path in view.indexed_paths() if not is_template(path)]
    links = count_links(notes, view.leading_links())
    weights = edge_weights(notes, links)
    groups = louvain(weights)
    known = {frozenset(one.notes): one for one in last.themes} if last is not None else {}
    leaving: dict[str, list[tuple[str, str]]] = {}
    for pair, number in links.items():
        leaving.setdefault(pair[0], []).extend([pair] * number)
    themes: list[Theme] = []
    for group in groups:
        if len(group) < MIN_NOTES:
            continue
        if group in known and changed is not None and changed.isdisjoint(group):
            themes.append(known[group])
            continue
        ranks = pagerank(group, (pair for path in group for pair in leaving.get(path, ())))
        central = tuple(sorted(group, key=lambda path: (-round(ranks[path], 9), path)))
        after = _named_after(central, weights)
        id_ = hashlib.sha256(after.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        themes.append(Theme(id_, "", after, _words(view, central, tokenizer, index), central))
    return Themes(
        generation=view.generation,
        stamp=view.stamp,
        themes=tuple(sorted(_named(view, themes), key=lambda one: (-len(one.notes), one.id))),
        small=sum(len(group) for group in groups if len(group) < MIN_NOTES),
        unlinked=sum(not near for near in weights.values()),
    )


def _named(view: CatalogSnapshot, themes: Sequence[Theme]) -> Iterator[Theme]:
    """The themes with the titles of their notes, of two equal ones each with its folder."""
    rows = view.notes_at([one.named_after for one in themes])
    titles = {path: row.title for path, row in rows.items()}
    twice = Counter(titles.values())
    for one in themes:
        title = titles.get(one.named_after, one.named_after)
        folder = one.named_after.rpartition("/")[0].rpartition("/")[2]
        if twice[title] > 1 and folder and folder != title:
            title = f"{title} ({folder})"
        yield replace(one, name=title)


def _named_after(central: Sequence[str], weights: EdgeWeights) -> str:
    """The note that most of a theme's notes are linked with, of a day only if there is no other."""
    among = frozenset(central)
    lasting = [path for path in central if day_in_name(path) is None] or central
    return max(lasting, key=lambda path: sum(other in among for other in weights[path]))


def _words(
    view: CatalogSnapshot, notes: Sequence[str], tokenizer: Tokenizer, index: LexicalIndex
) -> tuple[str, ...]:
    """The words that tell notes from the rest of the vault, the most telling first, as their texts write
    them most often.

    Told by ``p * log(p / q)`` for a share p of the notes' passages and q of the vault's that hold a
    token: what it adds to the divergence of the two (Kullback and Leibler 1951). Plain tf-idf lets
    words win that are frequent everywhere. A token that only one note of several holds is no theme,
    nor is one that is no word of the texts by itself, such as a part of a compound; a pair of characters
    of a script without spaces is its own word.
    """
    path_of = {key.id: key.path for key in view.chunk_keys(notes)}
    passages: Counter[str] = Counter()
    holders: dict[str, set[str]] = {}
    for id_, fields in view.chunk_tokens(path_of):
        held = {token for field in _FIELDS for token in fields.get(field, ())}
        passages.update(held)
        for token in held:
            holders.setdefault(token, set()).add(path_of[id_])
    least = min(2, len(set(path_of.values())))
    small = _small_words(tokenizer)
    scores: dict[str, float] = {}
    for token, among in passages.items():
        says_something = _unspaced(token) or (len(token) >= _SHORTEST and token.isalpha())
        if len(holders[token]) < least or token in small or not says_something:
            continue
        share = among / len(path_of)
        gain = log(share * len(index) / max(index.frequency(token), among))
        if gain > 0:
            scores[token] = share * gain
    telling = sorted(scores, key=lambda token: (-scores[token], token))[: MOST * _SPARE]
    spelt: dict[str, Counter[str]] = {token: Counter() for token in telling}
    for path in notes[:CENTRAL]:
        for chunk in view.chunks_of(path):
            for surface in split_words(chunk.text):
                found = tokenizer(surface)
                if len(found) == 1 and found[0] in spelt:
                    spelt[found[0]][surface] += 1
    words = (
        _spelling(spelt[token]) if spelt[token] else token
        for token in telling
        if spelt[token] or _unspaced(token)
    )
    return tuple(dict.fromkeys(words))[:MOST]


@lru_cache(maxsize=4)
def _small_words(tokenizer: Tokenizer) -> frozenset[str]:
    """The tokens of words that say nothing: those of the vault's language, and of English."""
    small = FUNCTION_WORDS.get(tokenizer.language, frozenset()) | FUNCTION_WORDS["en"]
    return frozenset(token for word in sorted(small) for token in tokenizer(word))


def _spelling(counts: Counter[str]) -> str:
    """Small letters, unless the word is a name: mostly written with capitals."""
    small = Counter({word: count for word, count in counts.items() if not word[:1].isupper()})
    chosen = small if 2 * small.total() >= counts.total() and small else counts
    return min(chosen, key=lambda word: (-chosen[word], word))


def _unspaced(token: str) -> bool:
    return len(token) == 2 and token[0] >= "\u3040" and token[0].isalpha()
