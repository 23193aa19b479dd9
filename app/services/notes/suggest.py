"""Suggests links that a vault lacks: notes that are alike or named without a link, and names that several
notes link to though no note has them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from posixpath import basename

import numpy as np

from notehop.app.models import Mention, Suggestion, Suggestions
from notehop.app.retrieval.relevance import idf
from notehop.app.services.notes.current_notes import CurrentNotes, as_now, flat
from notehop.app.services.notes.find_note import note_meant
from notehop.app.services.notes.mentions import (
    DAY,
    SENTENCE,
    first_naming,
    is_called,
    mentions_of,
    names_in,
    names_of,
    passages_with,
    property_values,
)
from notehop.app.services.notes.related import called_alike, link_to
from notehop.indexing.graph.files import NOTE_SUFFIX, fold, is_note, link_name
from notehop.indexing.graph.resolve import Status
from notehop.indexing.stores.catalog_read import slices
from notehop.indexing.stores.catalog_rows import unpack_tokens
from notehop.indexing.stores.model import ChunkId, ChunkRow, LinkRow, Matrix
from notehop.indexing.templates import read_templates
from notehop.indexing.tokens.tokenizer import Tokenizer
from notehop.indexing.vault.plain import words_of
from notehop.indexing.vault.sentences import sentence_spans, shortened

COMPARED = 5
"""Pairs of the whole vault whose notes are read for the names of each other, for each that is wanted."""

AGAIN = 2
"""Times that a note may lack a link, or be lacking one to it, in a list of the whole vault."""

LEAST = 0.02  # score below which nothing is suggested: of such pairs, one in 250 was linked
SHOWS = 2  # words that two notes share in the sentence that is shown of them, in such a list

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
NEIGHBOURS = 10  # notes that are compared with each note, where all of the vault are
BLOCK = 1_000  # notes compared with all others at a time

COPY = 0.985
"""Cosine from which two notes are taken for copies of each other: ``doctor`` lists those."""

COMMON = 100
"""Passages that hold the words of a name, with more of which it names nothing in a list of all."""

_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
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


def suggest(
    now: CurrentNotes,
    tokenizer: Tokenizer,
    said: str | None,
    limit: int,
) -> Suggestions:
    """Suggest links, as :meth:`VaultHandle.suggest`."""
    pairs = _UnlinkedPairs(now, tokenizer)
    catalog = now.indexed.catalog
    path = None
    if said is None:
        found = pairs.of_vault(COMPARED * max(limit, 20))
        links = catalog.links_with(Status.UNRESOLVED)
    else:
        path, _ = note_meant(now, said)
        found = pairs.around(path)
        own = [one for one in now.links_from([path]) if one.status == Status.UNRESOLVED]
        links = catalog.links_named({link_name(one.raw_target) for one in own})
    every = pairs.described(found, limit, whole=path is None)
    every += _missing_notes(now, links, limit, path)
    every.sort(key=lambda one: (-one.score, one.source, one.target))
    return Suggestions(
        suggestions=every[:limit], warnings=now.reply_warnings(), generation=now.indexed.generation
    )


def _missing_notes(
    now: CurrentNotes, links: Iterable[LinkRow], limit: int, path: str | None
) -> list[Suggestion]:
    """Names of no note that two notes link to (of them ``path``, if given), those that most do first."""
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
                text=words_of(link.sentence)
                or f"{(link.property or '').partition('.')[0]}: {name}",
                link=f"[[{name}]]",
                score=round(len(standing) / (2 * len(standing) + 6), 2),
                notes=len(standing),
                uri=now.uri(link.path),
            )
        )
    return found[:limit]


class _UnlinkedPairs:
    """The notes of a vault that could be linked and are not.

    ``_linked`` are added to as they are needed: which notes are linked, either way.
    """

    def __init__(self, now: CurrentNotes, tokenizer: Tokenizer) -> None:
        self._now = now
        self._view = now.indexed
        self._tokenizer = tokenizer
        self._templates = read_templates(now.place.vault)
        self._linked: dict[str, set[str]] = {}

    def described(self, pairs: Iterable[_Pair], limit: int, *, whole: bool) -> list[Suggestion]:
        """The most likely pairs as they stand now, with evidence; of the whole vault no note takes most."""
        now = self._now
        likely = [pair for pair in self._best_first(pairs) if self._score(pair) >= LEAST]
        counts: Counter[tuple[str, str]] = Counter()
        files = called_alike(now.catalog, [pair.target for pair in likely])
        found: list[Suggestion] = []
        for pair in likely:
            if len(found) == limit:
                break
            rows = now.notes_at((pair.source, pair.target))
            sides = (("source", pair.source), ("target", pair.target))
            if len(rows) < 2 or (whole and any(counts[side] == AGAIN for side in sides)):
                continue
            if pair.said is not None:
                line, text, name = pair.said.line, pair.said.sentence, pair.said.name
            elif (common := self._in_common(pair, SHOWS if whole else 0)) is not None:
                (line, text), name = common, ""
            else:
                continue
            counts.update(sides)
            found.append(
                Suggestion(
                    kind="mention" if pair.said else "alike",
                    source=pair.source,
                    target=pair.target,
                    title=rows[pair.target].title,
                    line=line,
                    text=text,
                    link=link_to(files, pair.source, pair.target, name),
                    score=round(self._score(pair), 2),
                    uri=now.uri(pair.source),
                )
            )
        return found

    def around(self, path: str) -> list[_Pair]:
        """The notes that one could be linked with, which of them names the other, and how near they
        are."""
        view, catalog = self._view, self._view.catalog
        self._add([*catalog.leading_links([path]), *catalog.links_leading_to([path])])
        near, words = self._nearest(path), self._words(path)
        read = next(as_now(self._now.place, [path]))
        note = None if read is None else read.note
        named: dict[str, Mention] = {}
        naming: dict[str, Mention] = {}
        made: set[str] = set()
        if note is not None:
            named = names_in(view, note, self._tokenizer.language)
            for one in mentions_of(view, self._now.place, self._tokenizer, note)[0]:
                if is_called(one.name, (note.name, note.title, *note.aliases)):
                    naming.setdefault(one.path, one)
            # A link that was made a moment ago is not in the index yet.
            made = {link_name(link.target) for link in note.links}
            made -= {link_name(link.raw_target) for link in view.links_from([path])}
        pairs: list[_Pair] = []
        passed_over = self._linked.get(path, set()) | {path}
        for other in dict.fromkeys([*near, *named, *naming, *words]):
            if other in passed_over or not self._can_be_linked(other) or link_name(other) in made:
                continue
            if _is_day(other) and other not in named and other not in naming:
                continue
            # A link can be written into a note alone: not into a page of a PDF, or a card.
            forth = is_note(path) and (other in named or other not in naming)
            source, target = (path, other) if forth else (other, path)
            said = (named if forth else naming).get(other)
            rank, rarity = near.get(other, len(near)), self._rarity(said)
            pairs.append(_Pair(source, target, rank, words.get(other, 0.0), said, rarity))
        targets = {pair.target for pair in pairs}
        self._add([*catalog.leading_links(targets), *catalog.links_leading_to(targets)])
        return pairs

    def of_vault(self, most: int) -> list[_Pair]:
        """The best pairs of the whole vault, each once, with the words that both say and the place
        where one names the other.

        A note of a day is named by every date, and one that is called ``errors`` by every text that
        has some: in a list of the whole vault, neither counts.

        :param most: pairs whose notes are read.
        """
        self._add(self._view.catalog.leading_links())
        paths = [path for path in self._view.paths() if self._can_be_linked(path)]
        alike = self._alike([one for one in paths if not _is_day(one)])
        single: dict[frozenset[str], _Pair] = {}
        for pair in self._best_first([*self._naming(paths), *alike]):
            single.setdefault(frozenset((pair.source, pair.target)), pair)
        best = [*islice(single.values(), most)]
        read = sorted({path for pair in best for path in (pair.source, pair.target)})
        files = dict(zip(read, as_now(self._now.place, read), strict=True))
        rows = self._now.notes_at(read)
        shared = {path: self._words(path) for path in {pair.source for pair in best}}
        ranks = {frozenset((one.source, one.target)): one.rank for one in alike}
        found: list[_Pair] = []
        for pair in best:
            rank = ranks.get(frozenset((pair.source, pair.target)))
            words = shared[pair.source].get(pair.target, 0.0)
            for source, target in ((pair.source, pair.target), (pair.target, pair.source)):
                file = files[source]
                if file is None or file.note is None or target not in rows or _is_day(target):
                    continue
                values = property_values(file.note)
                said = first_naming(file.note, values, rows[target], self._tokenizer.language)
                if said is not None and not _is_small(said.name):
                    near = NEIGHBOURS if rank is None else rank
                    found.append(_Pair(source, target, near, words, said, self._rarity(said)))
                    break
            else:
                if rank is not None:
                    found.append(_Pair(pair.source, pair.target, rank, words))
        return found

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

    def _can_be_linked(self, path: str) -> bool:
        return is_note(path) and not self._templates.holds(path)

    def _add(self, links: Iterable[tuple[str, str]]) -> None:
        for source, target in links:
            if source != target:
                self._linked.setdefault(source, set()).add(target)
                self._linked.setdefault(target, set()).add(source)

    def _alike(self, paths: Sequence[str]) -> list[_Pair]:
        """The most similar pairs without a link, by the mean vectors of the notes."""
        vectors = self._view.chunk_vectors
        means = np.zeros((len(paths), vectors.dimensions), dtype=np.float32)
        for at, path in enumerate(paths):
            _, rows = vectors.rows(self._view.chunk_ids_of(path))
            if len(rows):
                mean = rows.mean(axis=0)
                means[at] = mean / max(float(np.linalg.norm(mean)), 1e-9)
        pairs: dict[frozenset[str], _Pair] = {}
        count = min(NEIGHBOURS + 1, len(paths))
        for first in range(0, len(paths), BLOCK):
            for at, row in enumerate(means[first : first + BLOCK] @ means.T, first):
                largest = np.argpartition(-row, count - 1)[:count]
                ordered = largest[np.argsort(-row[largest], kind="stable")].tolist()
                near = [paths[other] for other in ordered if other != at and row[other] <= COPY]
                for rank, target in enumerate(near):
                    if target in self._linked.get(paths[at], ()):
                        continue
                    pair = _Pair(paths[at], target, rank)
                    key = frozenset((paths[at], target))
                    if key not in pairs or self._score(pair) > self._score(pairs[key]):
                        pairs[key] = pair
        return [*pairs.values()]

    def _naming(self, paths: Sequence[str]) -> list[_Pair]:
        """The notes that hold the words of another's name, and no link with it."""
        view, tokenizer, notes = self._view, self._tokenizer, set(paths)
        named: dict[ChunkId, list[tuple[str, str, float]]] = {}
        names = sorted({*((link_name(path), path) for path in paths), *view.catalog.names()})
        for name, target in names:
            if target in notes and not _is_day(target) and names_of([name], tokenizer.language):
                ids = passages_with(view, tokenizer, name)
                for id_ in ids if len(ids) <= COMMON else ():
                    named.setdefault(id_, []).append((name, target, self._rare(len(ids))))
        pairs: list[_Pair] = []
        for some in slices(sorted(named), BLOCK):
            for chunk in view.chunks(some).values():
                if chunk.path not in notes:
                    continue
                body = _HEADING.sub("", chunk.text)
                folded = fold(body)
                for name, target, rarity in named[chunk.id]:
                    if chunk.path == target or chunk.path in self._linked.get(target, ()):
                        continue
                    # One small word of the text is hardly a name.
                    places = re.finditer(re.escape(name), folded)
                    if any(not _is_small(body[slice(*one.span())]) for one in places):
                        pairs.append(_Pair(chunk.path, target, NEIGHBOURS, rarity=rarity))
        return pairs

    def _nearest(self, path: str) -> dict[str, int]:
        """Note -> rank, of those with the passages that are nearest, best first."""
        view = self._view
        ids = [chunk.id for chunk in view.chunks_of(path) if chunk.kind == "text"]
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

    def _in_common(self, pair: _Pair, least: int) -> tuple[int, str] | None:
        """The line and the sentence of the source that shares most with the target, by the weight of
        rare words, if it shares at least so many."""
        passages = self._most_similar(pair)
        if passages is None:
            return None
        here, there = passages
        tokenizer, view = self._tokenizer, self._view
        theirs = set(tokenizer(there.text))
        best = (-1.0, 0, 0, 0)
        # Paragraph by paragraph, without headings; all of it if it has nothing else.
        sentences = [
            (paragraph.start() + start, paragraph.start() + end)
            for paragraph in _PARAGRAPH.finditer(here.text)
            if not paragraph[0].startswith("#")
            for start, end in sentence_spans(paragraph[0], tokenizer.language)
        ]
        for start, end in sentences or [(0, len(here.text))]:
            words = sorted(theirs.intersection(tokenizer(here.text[start:end])))
            weights = (view.chunk_count / (1 + view.lexical.frequency(word)) for word in words)
            shared = sum(math.log(1 + weight) for weight in weights)
            best = max(best, (shared, -start, end, len(words)))
        _, start, end, common = best
        if common < least:
            return None
        line = here.first_line + here.text.count("\n", 0, -start)
        return line, shortened(flat(here.text[-start:end]), SENTENCE)

    def _most_similar(self, pair: _Pair) -> tuple[ChunkRow, ChunkRow] | None:
        """The most similar passages of the text of two notes as they are now."""
        view = self._view

        def texts(path: str) -> tuple[list[ChunkId], Matrix]:
            chunks = view.chunks_of(path)
            return view.chunk_vectors.rows(one.id for one in chunks if one.kind == "text")

        (ours, left), (theirs, right) = texts(pair.source), texts(pair.target)
        if not ours or not theirs:
            return None
        row, column = np.unravel_index(int(np.argmax(left @ right.T)), (len(ours), len(theirs)))
        chunks = self._now.chunks((ours[row], theirs[column]))
        return (chunks[ours[row]], chunks[theirs[column]]) if len(chunks) == 2 else None

    def _rarity(self, said: Mention | None) -> float:
        if said is None:
            return 0.0
        return self._rare(len(passages_with(self._view, self._tokenizer, said.name)))

    def _rare(self, holding: int) -> float:
        """1 for a name that one passage says, 0 for one that all do."""
        return 1 - math.log(max(1, holding)) / math.log(max(2, self._view.chunk_count))


def _is_day(path: str) -> bool:
    """Whether a note is that of a day, week or month: notes of days are alike, and not linked for it."""
    return DAY.fullmatch(basename(path).removesuffix(NOTE_SUFFIX)) is not None


def _is_small(said: str) -> bool:
    return said.isalpha() and said.islower()
