"""Finds pairs of notes that could be linked and are not: those of one note, or the best of a vault."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from posixpath import basename

import numpy as np

from notehop.app.retrieval.relevance import idf
from notehop.app.services.notes.current_notes import CurrentNotes
from notehop.app.services.notes.read_note import (
    UNSPACED,
    as_now,
    mentions_of,
    names_of,
    passages_with,
    pattern_of,
    sentence_at,
    unlinked,
)
from notehop.indexing.graph.files import NOTE_SUFFIX, fold, is_note, link_name
from notehop.indexing.report import Progress
from notehop.indexing.stores.catalog_read import slices
from notehop.indexing.stores.catalog_rows import unpack_tokens
from notehop.indexing.stores.model import ChunkId, NoteRow
from notehop.indexing.templates import read_templates
from notehop.indexing.tokens import Tokenizer
from notehop.indexing.vault.model import Lines, Note

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

LONGEST_NAME = 6  # words of a name that is looked for in the text of a note

READ = 20_000
"""Characters of a note in which names of other notes are looked for; what stands further on is found
from the notes that it names, and in the list of the whole vault."""

LONGEST_UNSPACED = 8  # signs of one in a text without blanks between words

COMMON = 100
"""Passages that hold the words of a name, with more of which it names nothing in a list of all."""

_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)

_WORD = re.compile(r"\w+(?:['’.&+-]\w+)*[+#]*")

_NO_NAMES = frozenset(("tags", "tag", "aliases", "alias", "title", "type", "cssclasses", "summary"))
"""Properties whose values name no notes."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}|\d{4}-?W\d{2}|\d{4}-\d{2}")


@dataclass(frozen=True, slots=True)
class Naming:
    """Where a note names another without a link: ``line`` from 1, and its sentence.

    ``rarity`` of the name, 0 to 1: a word that every note says is hardly a name.
    """

    name: str
    line: int
    sentence: str
    rarity: float = 0.0


@dataclass(frozen=True, slots=True)
class Pair:
    """Two notes without a link; ``chunks`` are their most similar passages, where some were compared.

    ``rank`` counts from 0 the notes that are more similar to the source. ``words`` says how much
    they share of the words that tell one of them, 0 to 1 for the note that shares most.
    """

    source: str
    target: str
    rank: int
    chunks: tuple[ChunkId, ChunkId] | None = None
    said: Naming | None = None
    words: float = 0.0


class UnlinkedPairs:
    """The notes of a vault that could be linked and are not.

    ``links`` are added to it as they are needed: which notes are linked, either way.
    """

    def __init__(self, now: CurrentNotes, tokenizer: Tokenizer, progress: Progress) -> None:
        """:param progress: where it shows how far it is with the whole vault."""
        self._now = now
        self._view = now.indexed
        self._tokenizer = tokenizer
        self._progress = progress
        self._templates = read_templates(now.place.vault)
        self._linked: dict[str, set[str]] = {}

    def score(self, pair: Pair) -> float:
        """How likely a link is wanted, 0 to 1."""
        links = len(self._linked.get(pair.target, ()))
        value = (
            WEIGHTS["constant"]
            + WEIGHTS["nearness"] * 5 / (5 + pair.rank)
            + WEIGHTS["words"] * pair.words
            + WEIGHTS["links"] * math.log1p(min(links, POPULAR))
            + (0.0 if pair.said is None else WEIGHTS["named"] * pair.said.rarity)
        )
        return 1 / (1 + math.exp(-value))

    def best_first(self, pairs: Iterable[Pair]) -> list[Pair]:
        """Pairs by their score, ties by path."""
        return sorted(pairs, key=lambda one: (-self.score(one), one.source, one.target))

    def around(self, path: str) -> list[Pair]:
        """The notes that one could be linked with, which of them names the other, and how near they
        are."""
        view, catalog = self._view, self._view.catalog
        self._add([*catalog.leading_links([path]), *catalog.links_leading_to([path])])
        near = self._nearest(path)
        read = next(as_now(self._now.place, [path]))
        note = None if read is None else read.note
        named = {} if note is None else self._names_in(note)
        naming: dict[str, Naming] = {}
        if note is not None:
            for one in mentions_of(view, self._now.place, self._tokenizer, note)[0]:
                if _is_called(one.name, (note.name, note.title, *note.aliases)):
                    name = Naming(one.name, one.line, one.sentence, self._rarity(one.name))
                    naming.setdefault(one.path, name)
        pairs: list[Pair] = []
        words = self._words(path)
        # A link that was made a moment ago is not in the index yet.
        made = set() if note is None else {link_name(link.target) for link in note.links}
        made -= {link_name(link.raw_target) for link in view.links_from([path])}
        linked = self._linked.get(path, frozenset[str]())
        for other in dict.fromkeys([*near, *named, *naming, *words]):
            if other == path or other in linked or self._templates.holds(other):
                continue
            if not is_note(other) or link_name(other) in made:
                continue
            if _is_day(other) and other not in named and other not in naming:
                continue
            # A link can be written into a note alone: not into a page of a PDF, or a card.
            forth = is_note(path) and (other in named or other not in naming)
            source, target = (path, other) if forth else (other, path)
            said = (named if forth else naming).get(other)
            rank, chunks = near.get(other, (len(near), None))
            if chunks is not None and not forth:
                chunks = chunks[1], chunks[0]
            pairs.append(Pair(source, target, rank, chunks, said, words.get(other, 0.0)))
        targets = {pair.target for pair in pairs}
        self._add([*catalog.leading_links(targets), *catalog.links_leading_to(targets)])
        return pairs

    def of_vault(self, most: int) -> list[Pair]:
        """The best pairs of the whole vault, each once, with the words that both say and the place
        where one names the other.

        A note of a day is named by every date, and one that is called ``errors`` by every text that
        has some: in a list of the whole vault, neither counts.

        :param most: pairs whose notes are read.
        """
        self._add(self._view.catalog.leading_links())
        paths = [
            path for path in self._view.paths() if is_note(path) and not self._templates.holds(path)
        ]
        pairs = [*self._naming(paths), *self._alike([one for one in paths if not _is_day(one)])]
        single: dict[frozenset[str], Pair] = {}
        for pair in self.best_first(pairs):
            single.setdefault(frozenset((pair.source, pair.target)), pair)
        best = [*islice(single.values(), most)]
        read = sorted({path for pair in best for path in (pair.source, pair.target)})
        files = dict(zip(read, as_now(self._now.place, read), strict=True))
        rows = self._now.notes_at(read)
        shared = {path: self._words(path) for path in {pair.source for pair in best}}
        nearest = {
            frozenset((one.source, one.target)): one.rank for one in pairs if one.said is None
        }
        found: list[Pair] = []
        self._progress.stage("Reading the likeliest", len(best), "pairs")
        for pair in best:
            self._progress.advance(1)
            rank = nearest.get(frozenset((pair.source, pair.target)))
            words = shared[pair.source].get(pair.target, 0.0)
            for source, target in ((pair.source, pair.target), (pair.target, pair.source)):
                file = files[source]
                if file is None or file.note is None or target not in rows or _is_day(target):
                    continue
                said = self._named(file.note, rows[target])
                if said is not None and not _is_small(said.name):
                    near = NEIGHBOURS if rank is None else rank
                    found.append(Pair(source, target, near, None, said, words))
                    break
            else:
                if rank is not None:
                    found.append(replace(pair, rank=rank, said=None, words=words))
        self._progress.close()
        return found

    def _add(self, links: Iterable[tuple[str, str]]) -> None:
        for source, target in links:
            if source != target:
                self._linked.setdefault(source, set()).add(target)
                self._linked.setdefault(target, set()).add(source)

    def _alike(self, paths: Sequence[str]) -> list[Pair]:
        """The most similar pairs without a link, by the mean vectors of the notes."""
        vectors, progress = self._view.chunk_vectors, self._progress
        means = np.zeros((len(paths), vectors.dimensions), dtype=np.float32)
        for at, path in enumerate(paths):
            _, rows = vectors.rows(self._view.chunk_ids_of(path))
            if len(rows):
                mean = rows.mean(axis=0)
                means[at] = mean / max(float(np.linalg.norm(mean)), 1e-9)
        pairs: dict[frozenset[str], Pair] = {}
        progress.stage("Comparing notes", len(paths), "notes")
        count = min(NEIGHBOURS + 1, len(paths))
        for first in range(0, len(paths), BLOCK):
            for at, row in enumerate(means[first : first + BLOCK] @ means.T, first):
                source, rank = paths[at], 0
                largest = np.argpartition(-row, count - 1)[:count]
                for other in largest[np.argsort(-row[largest], kind="stable")].tolist():
                    target = paths[other]
                    if other == at or row[other] > COPY:
                        continue
                    rank += 1
                    if target in self._linked.get(source, ()):
                        continue
                    pair = Pair(source, target, rank - 1)
                    key = frozenset((source, target))
                    if key not in pairs or self.score(pair) > self.score(pairs[key]):
                        pairs[key] = pair
            progress.advance(min(BLOCK, len(paths) - first))
        return self.best_first(pairs.values())

    def _naming(self, paths: Sequence[str]) -> list[Pair]:
        """The notes that hold the words of another's name, and no link with it."""
        view, tokenizer, notes = self._view, self._tokenizer, set(paths)
        rarity: dict[tuple[str, str], float] = {}
        named: dict[ChunkId, list[tuple[str, str]]] = {}
        names = sorted({*((link_name(path), path) for path in paths), *view.catalog.names()})
        self._progress.stage("Looking for names", len(names), "names")
        for block in slices(names, BLOCK):
            self._progress.advance(len(block))
            for name, target in block:
                if target not in notes or _is_day(target):
                    continue
                if not names_of(name, name, (), tokenizer.language):
                    continue
                ids = passages_with(view, tokenizer, name)
                rarity[name, target] = self._rare(len(ids))
                if len(ids) <= COMMON:
                    for id_ in ids:
                        named.setdefault(id_, []).append((name, target))
        pairs: list[Pair] = []
        for some in slices(sorted(named), BLOCK):
            for chunk in view.chunks(some).values():
                for name, target in named[chunk.id]:
                    linked = self._linked.get(target, ())
                    if chunk.path not in notes or chunk.path == target or chunk.path in linked:
                        continue
                    if _says(chunk.text, name):
                        said = Naming(name, 0, "", rarity[name, target])
                        pairs.append(Pair(chunk.path, target, NEIGHBOURS, None, said))
        return pairs

    def _nearest(self, path: str) -> dict[str, tuple[int, tuple[ChunkId, ChunkId]]]:
        """Note -> rank and the two passages, of those whose passages are nearest, best first."""
        view = self._view
        ids = [chunk.id for chunk in view.chunks_of(path) if chunk.kind == "text"]
        own, matrix = view.chunk_vectors.rows(ids[:: max(1, -(-len(ids) // PASSAGES))])
        best: dict[str, tuple[float, tuple[ChunkId, ChunkId]]] = {}
        for id_, vector in zip(own, matrix, strict=True):
            for other, cosine in view.chunk_vectors.top(vector, NEAREST + len(ids)):
                note = view.path_of(other)
                if note is not None and note != path and cosine > best.get(note, (-1.0,))[0]:
                    best[note] = cosine, (id_, other)
        ordered = sorted(best.items(), key=lambda one: (-one[1][0], one[0]))
        return {note: (rank, chunks) for rank, (note, (_, chunks)) in enumerate(ordered)}

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
        for chunk_id, score in view.lexical_top({one: often[one] for one in telling}, 5 * NEAREST):
            note = view.path_of(chunk_id)
            if note is not None and note != path:
                found.setdefault(note, score)
        most = max(found.values(), default=1.0)
        return {note: score / most for note, score in found.items()}

    def _names_in(self, note: Note) -> dict[str, Naming]:
        """Note -> where a note names it without a link."""
        view = self._view
        body = note.text[note.body_start : note.body_start + READ]
        own = _property_values(note)
        words = [one.span() for one in _WORD.finditer(body)]
        runs = {
            " ".join(body[words[at][0] : words[end][1]].split())
            for at in range(len(words))
            for end in range(at, min(at + LONGEST_NAME, len(words)))
        }
        # Without blanks between words, a name may begin at any sign.
        runs |= {
            body[at : at + length]
            for start, end in words
            if UNSPACED.search(body, start, end)
            for at in range(start, end)
            for length in range(2, min(LONGEST_UNSPACED, end - at) + 1)
        }
        known = view.named_any({*runs, *own})
        paths = {path for paths in known.values() for path in paths}
        said = {fold(run) for run in (*runs, *own)}
        # What is titled otherwise is named by its file all the same.
        paths |= {path for path in view.paths() if link_name(path) in said}
        paths.discard(note.path)
        rows = view.notes_at(sorted(paths))
        found = {path: self._named(note, row) for path, row in rows.items()}
        return {path: naming for path, naming in found.items() if naming is not None}

    def _named(self, note: Note, row: NoteRow) -> Naming | None:
        """Where a note first names another in its text, without a link."""
        language = self._tokenizer.language
        name = basename(row.path).removesuffix(NOTE_SUFFIX)
        names = names_of(name, row.title, row.aliases, language)
        if not names:
            return None
        headings = {one.line for one in note.headings}
        lines = Lines(note.text)
        for match in unlinked(note, pattern_of(names)):
            line = lines.at(match.start())
            if line not in headings and _is_called(match[0], names):
                said = " ".join(match[0].split())
                return Naming(
                    said, line, sentence_at(note, match.span(), language), self._rarity(said)
                )
        called = {name.casefold() for name in names}
        for said, (line, sentence) in _property_values(note).items():
            if said.casefold() in called:
                return Naming(said, line, sentence, self._rarity(said))
        return None

    def _rarity(self, name: str) -> float:
        return self._rare(len(passages_with(self._view, self._tokenizer, name)))

    def _rare(self, holding: int) -> float:
        """1 for a name that one passage says, 0 for one that all do."""
        return 1 - math.log(max(1, holding)) / math.log(max(2, self._view.chunk_count))


def _property_values(note: Note) -> dict[str, tuple[int, str]]:
    """Texts that are values of properties -> the line, and the property with its value."""
    lines = note.text[: note.body_start].splitlines()
    found: dict[str, tuple[int, str]] = {}
    for key, value in note.front_matter.items():
        if str(key).casefold() in _NO_NAMES:
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str) and one.strip() and "[[" not in one:
                said = " ".join(one.split())
                at = next((n for n, line in enumerate(lines, 1) if said in line), 1)
                found.setdefault(said, (at, f"{key}: {said}"))
    return found


def _is_called(said: str, names: Iterable[str]) -> bool:
    """Whether a text is a name: of one word only if it begins as one, or ``home`` would name Home."""
    return len(said.split()) > 1 or any(
        said[0] == name[0] for name in names if name.casefold() == said.casefold()
    )


def _is_day(path: str) -> bool:
    """Whether a note is that of a day, week or month: notes of days are alike, and not linked for it."""
    return _DAY.fullmatch(basename(path).removesuffix(NOTE_SUFFIX)) is not None


def _is_small(said: str) -> bool:
    return said.isalpha() and said.islower()


def _says(text: str, name: str) -> bool:
    """Whether a passage seems to name a note: not in a heading, not by one small word."""
    body = _HEADING.sub("", text)
    return any(
        not _is_small(body[slice(*found.span())])
        for found in re.finditer(re.escape(name), fold(body))
    )
