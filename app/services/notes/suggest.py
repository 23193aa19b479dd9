"""Suggests links that a vault lacks: notes named without a link, names that several notes link to though no
note has them, and for one note also those that are alike.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, takewhile
from posixpath import basename

import numpy as np

from notehop.app.models import Mention, Suggestion, Suggestions
from notehop.app.retrieval.relevance import read_templates
from notehop.app.services.notes.current_notes import CurrentNotes, as_now
from notehop.app.services.notes.find_note import called_alike, link_to, note_meant
from notehop.app.services.notes.mentions import (
    DAY,
    READ,
    SENTENCE,
    first_naming,
    is_below_a_head,
    names_of,
    passages_with,
    pattern_of,
)
from notehop.indexing.graph.files import NOTE_SUFFIX, fold, is_note, link_name
from notehop.indexing.graph.resolve import Status
from notehop.indexing.stores.catalog_read import slices
from notehop.indexing.stores.catalog_rows import unpack_tokens
from notehop.indexing.stores.lexical import idf
from notehop.indexing.stores.rows import ChunkId, LinkRow, Matrix
from notehop.indexing.tokens.tokenizer import Tokenizer
from notehop.indexing.vault.plain import flat, sentence_spans, shortened, words_of

COMPARED = 5  # pairs whose notes are read for the names of each other, for each that is wanted

AGAIN = 2
"""Times that a note may lack a link, or be lacking one to it, in a list of the whole vault."""

LEAST = 0.02  # score below which nothing is suggested: of such pairs, one in 250 was linked
LEAST_WORDS = 0.1
"""Share of the telling words below which a note that is not among the nearest is none to link to, however
many do: of links taken out of two vaults, 1 was of the 25 such pairs, and 31 of the other 413."""

WEIGHTS = {"constant": -7.0, "nearness": 0.9, "words": 2.5, "links": 1.5, "named": 5.9}
"""Of a logistic regression that tells links taken out of four vaults from pairs that had none."""

POPULAR = 30
"""Links of a note that count: with more, every note would be told to link to the vault's hubs."""

SAYING, TELLING = 64, 60
"""First passages of a note whose words are looked at, and words of them by which others are compared
with it: those that tell it best."""

PASSAGES = 12
"""Passages of a note that are compared with the vault: of a longer one, evenly spread ones."""

NEAREST = 60  # passages that are nearest to each of them
NEIGHBOURS = 10  # notes that count as near to another; where that is not looked at, none is taken for nearer
BLOCK = 1_000  # passages that are read at a time

LOOKED_AT = 20_000
"""Characters of a note in which names of other notes are looked for; what stands further on is found
from the notes that it names, and in the list of the whole vault."""

COMMON = 100
"""Passages that hold the words of a name, with more of which it names nothing in a list of all."""

_PARAGRAPH = re.compile(r"[^\n]+(?:\n(?![ \t]*(?:[-*+>|#\n]|\d{1,9}[.)]))[^\n]+)*")
_SUFFIX = re.compile(
    r"\.(?:avif|bmp|gif|jpe?g|png|svg|webp|mp3|m4a|ogg|wav|mp4|mov|webm|pdf|base|canvas|csv|html?|js|json|py|ts|txt)$"
)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two notes without a link.

    ``rank`` counts from 0 the notes that are more similar to the source. ``words`` says how much
    they share of the words that tell one of them, 0 to 1 for the note that shares most. ``said`` is
    where the source names the target, ``rarity``, 0 to 1, that of the name: a word that every note
    says is hardly one.
    """

    source: str
    target: str
    rank: int
    words: float = 0.0
    said: Mention | None = None
    rarity: float = 0.0

    @property
    def ends(self) -> frozenset[str]:
        """The notes, whichever way the link would lead."""
        return frozenset((self.source, self.target))


def suggest(now: CurrentNotes, tokenizer: Tokenizer, said: str | None, limit: int) -> Suggestions:
    pairs = _UnlinkedPairs(now, tokenizer, None if said is None else note_meant(now, said)[0])
    every = [*pairs.described(limit), *_missing_notes(now, limit, pairs.path)]
    every.sort(key=lambda one: (-one.score, one.source, one.target))
    return Suggestions(
        suggestions=every[:limit], warnings=now.reply_warnings(), generation=now.indexed.generation
    )


def _missing_notes(now: CurrentNotes, limit: int, path: str | None) -> list[Suggestion]:
    """Names of no note that two notes link to (of them ``path``, if given), those that most do first."""
    catalog = now.indexed.catalog
    if path is None:
        links = catalog.links_with(Status.UNRESOLVED)
    else:
        own = [one for one in now.links_from([path]) if one.status == Status.UNRESOLVED]
        links = catalog.links_named({link_name(one.raw_target) for one in own})
    by_name: dict[str, dict[str, LinkRow]] = {}
    for link in links:
        name = link_name(link.raw_target)
        if link.status == Status.UNRESOLVED and name and not _SUFFIX.search(name):
            by_name.setdefault(name, {}).setdefault(link.path, link)
    shared = [places for places in by_name.values() if len(places) > 1]
    found: list[Suggestion] = []
    for places in sorted(shared, key=lambda one: (-len(one), min(one)))[: 2 * limit]:
        standing = {link.path: link for link in now.current_links([*places.values()])}
        if len(standing) < 2 or (path is not None and path not in standing):
            continue
        link = standing[path or min(standing)]
        name = basename(link.raw_target)
        found.append(
            Suggestion(
                kind="dangling",
                source=link.path,
                target=name,
                title=name,
                line=link.line,
                # In a property, that and its value say it.
                text=words_of(link.sentence) or f"{(link.property or '').partition('.')[0]}: {name}",
                link=f"[[{name}]]",
                score=round(len(standing) / (2 * len(standing) + 6), 2),
                notes=len(standing),
                uri=now.uri(link.path),
            )
        )
    return found[:limit]


class _UnlinkedPairs:
    """The notes of a vault, or that and one of its notes, that could be linked and are not.

    A note of a day is named by every date, and one that is called ``errors`` by every text that
    has some: in a list of the whole vault, neither counts.

    ``_linked`` are added to as they are needed: which notes are linked, either way.
    """

    def __init__(self, now: CurrentNotes, tokenizer: Tokenizer, path: str | None) -> None:
        self.path = path
        self._now = now
        self._view = now.indexed
        self._tokenizer = tokenizer
        self._templates = read_templates(now.place.vault)
        self._linked: dict[str, set[str]] = {}

    def described(self, limit: int) -> list[Suggestion]:
        """The most likely pairs as they stand now, with evidence; of the whole vault no note takes most."""
        now, whole = self._now, self.path is None
        found_by = (self._naming(), []) if self.path is None else self._around(self.path)
        likely = self._best_first(self._read(*found_by, COMPARED * max(limit, 20)))
        counts: Counter[tuple[str, str]] = Counter()
        files = called_alike(now.catalog, [pair.target for pair in likely])
        found: list[Suggestion] = []
        for pair in likely:
            if len(found) == limit or self._score(pair) < LEAST:
                break
            rows = now.notes_at((pair.source, pair.target))
            sides = (("source", pair.source), ("target", pair.target))
            if len(rows) < 2 or (whole and any(counts[side] == AGAIN for side in sides)):
                continue
            if pair.said is None and pair.words < LEAST_WORDS and pair.rank > NEIGHBOURS:
                continue
            if pair.said is not None:
                line, text, name = pair.said.line, pair.said.sentence, pair.said.name
            elif (common := self._in_common(pair)) is not None:
                (line, text), name = common, ""
            else:
                continue
            counts.update(sides)
            link = link_to(files, pair.source, pair.target, name)
            if "|" in link and self._is_in_a_table(pair.source, line):
                link = link.replace("|", "\\|")  # a bare stroke would end the cell
            found.append(
                Suggestion(
                    kind="mention" if pair.said else "alike",
                    source=pair.source,
                    target=pair.target,
                    title=rows[pair.target].title,
                    line=line,
                    text=text,
                    link=link,
                    score=round(self._score(pair), 2),
                    uri=now.uri(pair.source),
                )
            )
        return found

    def _is_in_a_table(self, path: str, line: int) -> bool:
        """Whether a line of a note is a row below the head of a table, as it is now."""
        note = next(as_now(self._now.place, [path]))
        lines = [] if note is None else note.text.split("\n")[:line]
        return any(map(is_below_a_head, takewhile(lambda one: "|" in one, reversed(lines))))

    def _around(self, path: str) -> tuple[list[_Pair], list[_Pair]]:
        """Pairs of one note one of which may name the other, and the most similar ones."""
        view = self._view
        self._add(view.catalog.leading_links([path]))
        passed_over = self._linked.get(path, set())
        near, words = self._nearest(path), self._words(path)
        naming: list[_Pair] = []
        made: set[str] = set()
        if (note := next(as_now(self._now.place, [path]))) is not None:
            text = fold(" ".join(note.text[: note.body_start + LOOKED_AT].split()))
            naming = [
                _Pair(path, target, 0, rarity=self._rarity(name))
                for name, target in self._names(view.paths(), text)
                if target != path and pattern_of([name]).search(text)
            ]
            sources: dict[str, float] = {}
            for name in names_of((note.name, note.title, *note.aliases), self._tokenizer.language):
                ids, rarity = passages_with(view, self._tokenizer, name), self._rarity(name)
                for source in {str(view.path_of(one)) for one in ids} - {path, *passed_over}:
                    if self._can_be_linked(source):
                        sources[source] = max(rarity, sources.get(source, 0.0))
            nearest = sorted(sources, key=lambda one: (near.get(one, len(near)), one))[:READ]
            naming += [_Pair(source, path, 0, rarity=sources[source]) for source in nearest]
            # A link that was made a moment ago is not in the index yet.
            made = {link_name(link.target) for link in note.links}
            made -= {link_name(link.raw_target) for link in view.links_from([path])}
        ends = [(path, one) for one in {**near, **words} if not _is_day(one)]
        alike = [_Pair(*(pair if is_note(path) else pair[::-1]), 0) for pair in ends]
        others = {other for pair in (*naming, *alike) for other in (pair.source, pair.target)}
        self._add(view.catalog.leading_links(others))

        def possible(pairs: Iterable[_Pair]) -> list[_Pair]:
            found: list[_Pair] = []
            for pair in pairs:
                other = pair.target if pair.source == path else pair.source
                linked = other in passed_over or link_name(other) in made
                if not linked and self._can_be_linked(other):
                    rank, shared = near.get(other, len(near)), words.get(other, 0.0)
                    found.append(replace(pair, rank=rank, words=shared))
            return found

        return possible(naming), possible(alike)

    def _read(self, naming: Sequence[_Pair], alike: Sequence[_Pair], most: int) -> list[_Pair]:
        """The best of some pairs, each once, with the place where one really names the other; what is not
        alike and names nothing is left out."""
        whole = self.path is None
        best: dict[frozenset[str], _Pair] = {}
        for pair in self._best_first([*naming, *alike]):
            best.setdefault(pair.ends, pair)
        similar = {pair.ends: pair for pair in alike}
        # What speaks of the same and names nothing is not read for its sake.
        named = {pair.ends for pair in naming}
        paths = sorted({path for key in islice(best, most) if key in named for path in key})
        notes = dict(zip(paths, as_now(self._now.place, paths), strict=True))
        rows, longer = self._now.notes_at(paths), self._names_by_word()
        found: list[_Pair] = []
        for key, pair in islice(best.items(), most):
            for source, target in ((pair.source, pair.target), (pair.target, pair.source)):
                note, row = notes.get(source), rows.get(target)
                # A link can be written into a note alone: not into a page of a PDF, or a card.
                if note is None or row is None or not is_note(source):
                    continue
                others = {
                    name
                    for own in (link_name(target), *map(fold, (row.title, *row.aliases)))
                    for name in longer.get(own.partition(" ")[0], ())
                    if f" {own} " in f" {name} "
                }
                said = first_naming(note, row, self._tokenizer.language, others)
                if said is None or (whole and (_is_small(said.name) or _is_day(target))):
                    continue
                rarity = self._rarity(said.name)
                found.append(replace(pair, source=source, target=target, said=said, rarity=rarity))
                break
            else:
                if key in similar:
                    found.append(similar[key])
        if not whole:
            return found
        shared = {path: self._words(path) for path in {pair.source for pair in found}}
        return [replace(one, words=shared[one.source].get(one.target, 0.0)) for one in found]

    def _can_be_linked(self, path: str) -> bool:
        return is_note(path) and not self._templates.contains(path)

    def _score(self, pair: _Pair) -> float:
        """How likely a link is wanted, 0 to 1."""
        links = len(self._linked.get(pair.target, ()))
        value = (
            WEIGHTS["constant"]
            + WEIGHTS["nearness"] * 5 / (5 + pair.rank)
            + WEIGHTS["words"] * pair.words
            + WEIGHTS["links"] * math.log1p(min(links, POPULAR))
            + WEIGHTS["named"] * pair.rarity
        )
        return 1 / (1 + math.exp(-value))

    def _best_first(self, pairs: Iterable[_Pair]) -> list[_Pair]:
        return sorted(pairs, key=lambda one: (-self._score(one), one.source, one.target))

    def _add(self, links: Iterable[tuple[str, str]]) -> None:
        for source, target in links:
            if source != target:
                self._linked.setdefault(source, set()).add(target)
                self._linked.setdefault(target, set()).add(source)

    def _names(self, paths: Iterable[str], text: str | None = None) -> list[tuple[str, str]]:
        """(name, note) of file names, titles and aliases, folded, in order, of a text those that it holds;
        none that every text says."""
        files = ((link_name(path), path) for path in paths)
        names = {*files, *self._view.catalog.names()}
        held = [one for one in names if text is None or one[0] in text]
        return sorted(one for one in held if names_of([one[0]], self._tokenizer.language))

    def _names_by_word(self) -> dict[str, set[str]]:
        """Word -> the names of several words that hold it."""
        found: dict[str, set[str]] = {}
        names = chain(self._view.paths(), (name for name, _ in self._view.catalog.names()))
        for words in (link_name(name).split() for name in names):
            for word in words if len(words) > 1 else ():
                found.setdefault(word, set()).add(" ".join(words))
        return found

    def _naming(self) -> list[_Pair]:
        """Pairs of the whole vault: notes that hold the words of another's name, and no link with it."""
        view = self._view
        self._add(view.catalog.leading_links())
        notes = {path for path in view.paths() if self._can_be_linked(path)}
        named: dict[ChunkId, list[tuple[str, str, float]]] = {}
        for name, target in self._names(notes):
            if target in notes and not _is_day(target):
                ids = passages_with(view, self._tokenizer, name)
                for id_ in ids if len(ids) <= COMMON else ():
                    named.setdefault(id_, []).append((name, target, self._rarity(name)))
        pairs: list[_Pair] = []
        for some in slices(sorted(named), BLOCK):
            for chunk in view.chunks(some).values():
                if chunk.path not in notes:
                    continue
                text = fold(chunk.text)
                for name, target, rarity in named[chunk.id]:
                    linked = self._linked.get(target, ())
                    if name in text and chunk.path != target and chunk.path not in linked:
                        pairs.append(_Pair(chunk.path, target, NEIGHBOURS, rarity=rarity))
        return pairs

    def _nearest(self, path: str) -> dict[str, int]:
        """Note -> rank, of those with the passages that are nearest, best first."""
        view = self._view
        ids = [chunk.id for chunk in view.chunks_of(path) if chunk.kind != "properties"]
        _, matrix = view.chunk_vectors.rows(ids[:: max(1, -(-len(ids) // PASSAGES))])
        best: dict[str, float] = {}
        for vector in matrix:
            for other, cosine in view.chunk_vectors.top(vector, NEAREST + len(ids)):
                note = view.path_of(other)
                if note is not None and note != path:
                    best[note] = max(cosine, best.get(note, -1.0))
        ordered = sorted(best, key=lambda note: (-best[note], note))
        return {note: rank for rank, note in enumerate(ordered)}

    def _words(self, path: str) -> dict[str, float]:
        """Note -> how much it says of the words that tell one, in parts of the note that says most."""
        view = self._view
        counts: Counter[str] = Counter()
        for chunk in view.chunks(view.chunk_ids_of(path)[:SAYING]).values():
            for tokens in unpack_tokens(chunk.tokens).values():
                counts.update(tokens)
        often = {token: float(min(count, 3)) for token, count in counts.items()}
        worth = {
            token: count * idf(view.lexical.frequency(token), view.chunk_count)
            for token, count in often.items()
        }
        telling = sorted(worth, key=lambda token: (-worth[token], token))[:TELLING]
        found: dict[str, float] = {}
        for chunk_id, score in view.lexical.top({one: often[one] for one in telling}, 5 * NEAREST):
            note = view.path_of(chunk_id)
            if note is not None and note != path:
                found.setdefault(note, score)
        most = max(found.values(), default=1.0)
        return {note: score / most for note, score in found.items()}

    def _in_common(self, pair: _Pair) -> tuple[int, str] | None:
        """The line and the sentence of the source that shares most with the target, by the weight of
        rare words; of the most similar passages as they are now."""
        view, tokenizer = self._view, self._tokenizer

        def texts(path: str) -> tuple[list[ChunkId], Matrix]:
            chunks = view.chunks_of(path)
            return view.chunk_vectors.rows(one.id for one in chunks if one.kind != "properties")

        (ours, left), (theirs, right) = texts(pair.source), texts(pair.target)
        if not ours or not theirs:
            return None
        row, column = np.unravel_index(int(np.argmax(left @ right.T)), (len(ours), len(theirs)))
        chunks = self._now.chunks((ours[row], theirs[column]))
        if len(chunks) < 2:
            return None
        here, words = chunks[ours[row]], set(tokenizer(chunks[theirs[column]].text))
        # Paragraph by paragraph, without headings; all of it if it has nothing else.
        sentences = [
            (paragraph.start() + start, paragraph.start() + end)
            for paragraph in _PARAGRAPH.finditer(here.text)
            if not paragraph[0].startswith("#")
            for start, end in sentence_spans(paragraph[0], tokenizer.language)
        ]

        def shared(span: tuple[int, int]) -> float:
            both = sorted(words.intersection(tokenizer(here.text[slice(*span)])))
            rare = (view.chunk_count / (1 + view.lexical.frequency(word)) for word in both)
            return sum(math.log(1 + weight) for weight in rare)

        start, end = max(sentences or [(0, len(here.text))], key=shared)
        line = here.first_line + here.text.count("\n", 0, start)
        return line, shortened(flat(here.text[start:end]), SENTENCE)

    def _rarity(self, name: str) -> float:
        """1 for a name that one passage says, 0 for one that all do."""
        holding = len(passages_with(self._view, self._tokenizer, name))
        return 1 - math.log(max(1, holding)) / math.log(max(2, self._view.chunk_count))


def _is_day(path: str) -> bool:
    """Whether a note is that of a day, week or month: notes of days are alike, and not linked for it."""
    return DAY.fullmatch(basename(path).removesuffix(NOTE_SUFFIX)) is not None


def _is_small(said: str) -> bool:
    return said.isalpha() and said.islower()
