"""The themes of a generation: communities of its graph of links, with names that last, and their file
beside the index (``themes.json``)."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import count
from math import log
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from notehop.config.settings import ThemesSettings
from notehop.indexing.graph.communities import (
    EdgeWeights,
    count_links,
    edge_weights,
    louvain,
    match_communities,
)
from notehop.indexing.graph.pagerank import pagerank
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.layout import replace_file, unwritable
from notehop.indexing.stores.lexical import LexicalIndex
from notehop.indexing.tokens import Tokenizer
from notehop.indexing.tokens.languages import FUNCTION_WORDS
from notehop.indexing.tokens.words import split_words
from notehop.indexing.vault.dates import day_in_name

HUBS = 5  # notes at the centre of a theme, of which one names it
SUMMED_UP = 12
"""Most central notes that a language model sums a theme up from: what it is about, at a cost that a
large theme does not raise, and that a change at its edge does not cause again."""

MOST = 8  # words of a theme: more do not fit a line, and say little
_SPARE = 4  # tokens looked at for each word: of some no word can be shown
_SHORTEST = 3
"""Letters of a word in a script with letters; shorter ones are abbreviations of everything."""

_FIELDS = ("h1", "h2", "h3", "content")
"""What a passage says. Titles and tags stand with each passage of a note, and would count as often
as it has passages."""


@dataclass(frozen=True, slots=True)
class Written:
    """A summary that a language model wrote; ``digest`` names what it was made from."""

    text: str
    model: str
    digest: str


@dataclass(frozen=True, slots=True)
class Theme:
    """A community of notes that is large enough to be told of.

    ``id`` stays when notes join and leave. ``named_after`` is the note whose title is its ``name``.
    ``words`` are those that tell it from the rest of the vault, the most telling first. ``notes``
    are its paths, the most central first.
    """

    id: str
    name: str
    named_after: str
    words: tuple[str, ...]
    notes: tuple[str, ...]
    summary: Written | None = None


@dataclass(frozen=True)
class Themes:
    """The themes of one generation of an index, the largest first, then by id.

    ``small`` are the communities with too few notes to be themes, ``unlinked`` the notes that no
    link connects with another one. ``made_with`` names the settings.
    """

    generation: int
    stamp: str
    made_with: str
    themes: tuple[Theme, ...] = ()
    small: tuple[tuple[str, ...], ...] = ()
    unlinked: tuple[str, ...] = ()

    @cached_property
    def of_note(self) -> Mapping[str, Theme]:
        """Note -> its theme, for the notes of themes."""
        return {path: theme for theme in self.themes for path in theme.notes}


_FORMAT = 1

_THEMES = TypeAdapter(Themes)


def read_themes(path: Path) -> Themes | None:
    """The themes in a file; None if there are none, or if a byte is not what was written.

    They may be of another index (``stamp``), or made with other settings (``made_with``).
    """
    try:
        file = json.loads(path.read_bytes())
        if file["format"] != _FORMAT or file["crc"] != _checksum(file["themes"]):
            return None
        return _THEMES.validate_python(file["themes"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def write_themes(path: Path, themes: Themes | None) -> None:
    """Replace the file, or take it away: it may hold words of notes that left since. Raises
    IndexUnwritable if the disk refuses; what was there stays."""
    try:
        if themes is None:
            path.unlink(missing_ok=True)
            path.with_suffix(".new").unlink(missing_ok=True)
            return
        plain = _THEMES.dump_python(themes, mode="json")
        file = {"format": _FORMAT, "crc": _checksum(plain), "themes": plain}
        replace_file(path, json.dumps(file, indent=0))
    except OSError as exc:
        raise unwritable(path.parent, exc) from exc


def _checksum(plain: Any) -> int:
    return zlib.crc32(json.dumps(plain, sort_keys=True).encode())


Lexicon = Callable[[], tuple[Tokenizer, LexicalIndex]]
"""Gives the words of the vault: how they are read, and how many passages hold each."""


MIN_NOTES = 3  # that make a theme; a smaller group of linked notes is none


def made_with(settings: ThemesSettings) -> str:
    """Names what the partition depends on."""
    return f"communities 1, resolution {settings.resolution:g}, from {MIN_NOTES} notes"


def make_themes(
    view: CatalogSnapshot,
    is_template: Callable[[str], bool],
    lexicon: Lexicon,
    settings: ThemesSettings,
    last: Themes | None = None,
) -> Themes:
    """The themes of a generation.

    With those of an earlier generation of the same catalog, the partition begins with what it was,
    and only communities whose notes changed are described anew.

    :param is_template: tells of a path whether it is left out: a template links what its notes
        will have in common, and is about none of it.
    :param lexicon: asked for only where a theme is described.
    :param last: what was made before. Of those of a later generation, of another index of the
        vault, or made with other settings, nothing is taken over but the names of themes that are
        the same, and what was written about notes that say the same.
    """
    name = made_with(settings)
    before = None
    if last is not None and (last.stamp, last.made_with) == (view.stamp, name):
        if last.generation == view.generation:
            return last
        before = last if last.generation < view.generation else None
    notes = [path for path in view.indexed_paths() if not is_template(path)]
    links = count_links(notes, view.leading_links())
    weights = edge_weights(notes, links)
    if before is None:
        changed = set(notes)
        groups = louvain(weights, settings.resolution)
    else:
        changed = set(view.changed_paths(before.generation, relinked=True))
        known_groups = (*(one.notes for one in before.themes), *before.small)
        homes = {path: min(group) for group in known_groups for path in group}
        groups = louvain(weights, settings.resolution, homes)
    known = {one.id: one for one in last.themes} if last is not None else {}
    # A theme that shrinks below the least size is none any more; its id stays its own.
    large = [group for group in groups if len(group) >= MIN_NOTES]
    same = match_communities(large, {id_: one.notes for id_, one in known.items()})
    content = content_hashes(view)
    leaving: dict[str, list[tuple[str, str]]] = {}
    for pair, number in links.items():
        leaving.setdefault(pair[0], []).extend([pair] * number)
    themes: list[Theme] = []
    for at, group in enumerate(large):
        was = known[same[at]] if at in same else None
        if was is not None and group == set(was.notes) and changed.isdisjoint(group):
            themes.append(was)
            continue
        ranks = pagerank(group, (pair for path in group for pair in leaving.get(path, ())))
        central = tuple(sorted(group, key=lambda path: (-round(ranks[path], 9), path)))
        after = _named_after(central, weights, was)
        summary = was.summary if was is not None else None
        if summary is not None and summary.digest != source_digest(central, content):
            summary = None
        if was is None:
            # It follows from the note, so that an index made anew has the same.
            first, taken = _hash(after)[:8], {*known, *(one.id for one in themes)}
            numbered = (first if number == 1 else f"{first}-{number}" for number in count(1))
            id_ = next(one for one in numbered if one not in taken)
        else:
            id_ = was.id
        themes.append(Theme(id_, "", after, _words(view, central, *lexicon()), central, summary))
    return Themes(
        generation=view.generation,
        stamp=view.stamp,
        made_with=name,
        themes=tuple(sorted(_named(view, themes), key=lambda one: (-len(one.notes), one.id))),
        small=tuple(tuple(sorted(group)) for group in groups if len(group) < MIN_NOTES),
        unlinked=tuple(path for path, near in weights.items() if not near),
    )


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


def content_hashes(view: CatalogSnapshot) -> dict[str, str]:
    return {path: stamp.content_hash for path, stamp in view.stamps().items()}


def source_digest(notes: Sequence[str], content: Mapping[str, str]) -> str:
    """Names what a summary of a theme is made from: its most central notes and their content.

    :param notes: the most central first.
    :param content: note -> hash of its content; a note that is none any more may be missing.
    """
    sources = sorted(notes[:SUMMED_UP])
    return _hash("\n".join(f"{path}\0{content.get(path, '')}" for path in sources))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


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
    for path in notes[: 4 * HUBS]:
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
