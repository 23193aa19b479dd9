"""What tells a match from chance in one vault: how rare the words of a question are, and how alike
passages that have nothing to do with one another; and templates, which are
held back."""

from __future__ import annotations

import math
import os
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache, partial
from heapq import nsmallest
from itertools import chain, islice
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import NodeWithScore
from numpy.typing import NDArray

from notehop.app.retrieval.components import (
    Nodes,
    TracedQuery,
    VaultPostprocessor,
    stub_node,
    table_chunks,
    with_metadata,
)
from notehop.app.retrieval.filters import AllowedChunks, keep_allowed
from notehop.app.retrieval.intents import ASKS_FOR_NEWEST
from notehop.app.retrieval.retrievers import DISPATCH, known_similarities, known_vector
from notehop.config.small_files import open_plain_file, read_json_file
from notehop.indexing.graph.files import NOTE_SUFFIX, fold, is_note
from notehop.indexing.stores.lexical import LexicalIndex, idf
from notehop.indexing.stores.reader import Generation, Snapshot
from notehop.indexing.stores.rows import ChunkId, ChunkRow
from notehop.indexing.tokens.tokenizer import Tokenizer
from notehop.indexing.tokens.words import EVERYDAY, FUNCTION_WORDS, detect_language
from notehop.indexing.vault.dates import day_in_name

MAX_SAMPLED_PASSAGES = 512  # passages that are compared with each other: 130,000 pairs in some 5 ms

CHANCE_QUANTILE = 0.75
"""Share of pairs of passages out of different notes that a likeness has to be above, to mean
anything. Of the answerable questions over the demo vault and Dendron's manual 91 and 99 in 100 are
nearer than that to a passage; of those about something else, and of gibberish, 2 in 13 and 2 in 13."""

CHANCE_QUANTILE_UNKNOWN = 0.95
"""The same for a query none of whose words is in the vault: models find gibberish like something."""

MIN_SAMPLED_NOTES = 8  # whose likeness says what chance is: fewer may all be about one thing
MAX_REORDERED_HITS = 10  # hits that relevance orders anew: 20 or 40 gain nothing (docs/evaluation.md)
MIN_COVERAGE = 0.5  # share of a query's words, by rarity, with which a passage is no weak match


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of a question that says something, as it stands there and as the index has it: its parts
    and spellings, too, and the compounds that it meets. ``chunks`` counts those that hold its most
    frequent token, 0 for a word that stands nowhere; ``idf`` is the rarity of that, above 0."""

    text: str
    tokens: tuple[str, ...]
    chunks: int
    idf: float

    @property
    def is_missing(self) -> bool:
        """Whether it stands nowhere in the vault."""
        return self.chunks == 0


def question_words(text: str, tokenizer: Tokenizer, vocabulary: LexicalIndex) -> tuple[QueryWord, ...]:
    """Return the words of a question in its order, each once, without function words, and without those that
    questions are asked with where no note has them."""
    # Of a question in another language than the notes no small word is in any of them.
    language = detect_language([text], tokenizer.language)
    small = FUNCTION_WORDS.get(language, frozenset())
    everyday = frozenset(tokenizer(EVERYDAY.get(language, "")))
    words_by_tokens: dict[tuple[str, ...], QueryWord] = {}
    for written, word_tokens in tokenizer.query_words(text):
        meant_tokens = _number_name_tokens(written, word_tokens, vocabulary)
        tokens = tuple(tokenizer.weights(meant_tokens, vocabulary))
        # What stands in capitals is none: "CA", "the IT team".
        abbreviated = len(written) > 1 and written.isupper()
        if tokens not in words_by_tokens and (abbreviated or not small.issuperset(word_tokens)):
            chunks = max(map(vocabulary.frequency, tokens))
            words_by_tokens[tokens] = QueryWord(written, tokens, chunks, idf(chunks, len(vocabulary)))
    return tuple(
        word
        for word in words_by_tokens.values()
        if not (word.is_missing and everyday.issuperset(word.tokens))
    ) or tuple(words_by_tokens.values())


def _number_name_tokens(written: str, own: Sequence[str], vocabulary: LexicalIndex) -> Sequence[str]:
    """Of the tokens of a word with digits, a name such as `F10` or `2024-031`, the one that is the name, and
    words in it: others have a 10. Of a number that no note has as it stands it is its rarest part."""
    if not any(map(str.isdigit, written)):
        return own
    known = sorted(filter(vocabulary.frequency, own), key=vocabulary.frequency)
    if own[0] in known:
        return [own[0], *(one for one in own[1:] if one.isalpha() and len(one) > 1)]
    return known[:1] if known and not any(map(str.isalpha, written)) else own


_pair_similarities: WeakKeyDictionary[Generation, NDArray[np.float32]] = WeakKeyDictionary()
"""Generation -> the cosines of pairs of passages of different notes, ascending; none of few notes."""


def chance_similarity(view: Snapshot, words: Sequence[QueryWord]) -> float:
    """Return the similarity that a passage may have to a query by chance, -1 where nothing is known: the
    more of the query stands nowhere in the vault, the higher."""
    if (likeness := _pair_similarities.get(view.shared)) is None:
        likeness = _pair_similarities[view.shared] = _measure_pairs(view)
    total = math.fsum(word.idf for word in words)
    missing = math.fsum(word.idf for word in words if word.is_missing)
    share = CHANCE_QUANTILE + (CHANCE_QUANTILE_UNKNOWN - CHANCE_QUANTILE) * (
        missing / total if total > 0 else 1.0
    )
    if not len(likeness):
        return -1.0
    # They are sorted, which np.quantile does not know: it takes a millisecond.
    low, part = divmod(share * (len(likeness) - 1), 1)
    below, above = likeness[[int(low), min(int(low) + 1, len(likeness) - 1)]]
    return float(below + (above - below) * part)


def _measure_pairs(view: Snapshot) -> NDArray[np.float32]:
    # Ids are hashes: the first are as good as drawn at random.
    ids, rows = view.chunk_vectors.rows(nsmallest(MAX_SAMPLED_PASSAGES, view.chunk_vectors.ids))
    number: dict[Any, int] = {}
    notes = np.array([number.setdefault(path, len(number)) for path in view.paths_of(ids)])
    if len(number) < MIN_SAMPLED_NOTES:
        return np.empty(0, dtype=np.float32)
    one, other = np.triu_indices(len(ids), k=1)
    apart = notes[one] != notes[other] if len(ids) else np.empty(0, dtype=np.bool_)
    return np.sort(np.round((rows @ rows.T)[one[apart], other[apart]], 6))


class RelevancePostprocessor(VaultPostprocessor):
    """Tells of each source how much better than chance it fits: ``metadata["relevance"]``, 0 to 1, is
    the share of the query's words that it holds, weighed by their rarity, or how far its likeness to
    the query is above the background, whichever is more. ``metadata["weak"]``: it is no nearer than by
    chance, and holds less than half of the words. What the query names exactly is what was asked for.

    With ``weight``, that times its relevance, in units of the best score, is added to the score of each
    of the first :data:`MAX_REORDERED_HITS` hits.
    """

    stage = "relevance"

    tokenizer: Any = Field(exclude=True, description="The Tokenizer of the index.")
    weight: float = Field(
        default=0.0, ge=0, description="What relevance adds to a score; 0 keeps order and scores."
    )

    def process(self, hits: Nodes, query: TracedQuery, view: Snapshot) -> Nodes:
        words = query.words or question_words(query.query_str, self.tokenizer, view.lexical)
        ids = [hit.node.node_id for hit in hits if hit.node.metadata.get("role") != "connected"]
        tokens_by_chunk = view.lexical.held((token for word in words for token in word.tokens), ids)
        chance = chance_similarity(view, words)
        rows = view.chunk_vectors
        vector = known_vector(query, rows)
        likeness = {} if vector is None else known_similarities(rows, vector, ids)
        best = max((hit.score or 0.0 for hit in hits[:MAX_REORDERED_HITS]), default=0.0)
        scored_hits: Nodes = []
        for at, hit in enumerate(hits):
            score, about = hit.score, hit.node.metadata
            if about.get("role") != "connected":
                id_ = hit.node.node_id
                by_words, above = coverage(words, tokens_by_chunk.get(id_, ())), 0.0
                if chance < 1 and id_ in likeness:
                    above = (likeness[id_] - chance) / (1 - chance)
                relevance = round(min(max(by_words, above, 0.0), 1.0), 4)
                weak = above <= 0 and by_words < MIN_COVERAGE
                if DISPATCH in (about.get("signals") or {}):
                    relevance, weak = 1.0, False
                if self.weight and at < MAX_REORDERED_HITS and "held_back" not in about:
                    score = (score or 0.0) + self.weight * best * relevance
                node = with_metadata(hit.node, relevance=relevance, weak=weak)
                hit = NodeWithScore(node=node, score=score)
            scored_hits.append(hit)
        if self.weight:
            scored_hits[:MAX_REORDERED_HITS] = sorted(
                scored_hits[:MAX_REORDERED_HITS], key=lambda hit: -(hit.score or 0.0)
            )
        return scored_hits


def coverage(words: Sequence[QueryWord], passage_tokens: Collection[str]) -> float:
    """Return the share of a question's words, weighed by their rarity, that a passage of these tokens has."""
    total = math.fsum(word.idf for word in words)
    covered = math.fsum(word.idf for word in words if any(token in passage_tokens for token in word.tokens))
    return covered / total if total > 0 else 0.0


HITS_BEFORE_NEWEST = 2  # hits that keep their places before those of the newest notes


MAX_NEWEST_READ = 60  # passages whose lines are read
MAX_NEWEST_SHOWN = 3  # passages that are brought
MIN_LINE_SHARE = 0.7  # share of the words in the best line with which another matches as well


def past_date_in_name(path: str) -> date | None:
    """Return the day in a note's name if it is not in the future; a number with a time is none."""
    day = _date_in_name(path)
    return day if day is not None and day <= date.today() else None


@lru_cache(maxsize=50_000)
def _date_in_name(path: str) -> date | None:
    return None if path.rpartition("/")[2][:8].isdecimal() else day_in_name(path)


def insert_newest(
    view: Snapshot, query: TracedQuery, hits: Nodes, tokenizer: Tokenizer, allowed: AllowedChunks
) -> Nodes:
    """Insert behind the first hits, for a question for the newest, the newest dated notes that have a line
    with most words of the question: by their likeness alone they are as good as older ones."""
    if not ASKS_FOR_NEWEST.search(query.query_str):
        return hits
    words = question_words(ASKS_FOR_NEWEST.sub(" ", query.query_str), tokenizer, view.lexical)
    rarity_by_chunk: dict[str, float] = {}
    for word in words:
        for id_ in set().union(*(view.lexical.holding([one], "content") for one in word.tokens)):
            rarity_by_chunk[id_] = rarity_by_chunk.get(id_, 0.0) + word.idf
    allowed_chunks = keep_allowed([*rarity_by_chunk], allowed)
    days = {id_: day for id_ in allowed_chunks if (day := past_date_in_name(view.path_of(id_) or ""))}
    most = max((rarity_by_chunk[id_] for id_ in days), default=0.0)
    newest = sorted(days, key=lambda id_: (days[id_], id_), reverse=True)
    newest = [id_ for id_ in newest if rarity_by_chunk[id_] > most / 2][:MAX_NEWEST_READ]
    share = {
        id_: max(coverage(words, {*tokenizer(line)}) for line in chunk.text.splitlines() or [""])
        for id_, chunk in view.chunks(newest).items()
    }
    best = max(share.values(), default=0.0)
    first = [id_ for id_ in newest if share.get(id_, 0.0) >= max(MIN_LINE_SHARE * best, 1e-6)][
        :MAX_NEWEST_SHOWN
    ]
    nodes_by_id = {hit.node.node_id: hit.node for hit in hits}
    more: Nodes = []
    for rank, id_ in enumerate(first, start=1):
        record = {"newest": {"rank": rank, "score": None, "weight": None}}
        node = nodes_by_id.get(id_) or stub_node(id_, signals=record)
        more.append(NodeWithScore(node=node, score=hits[:HITS_BEFORE_NEWEST][-1].score if hits else 0.0))
    rest = [hit for hit in hits if hit.node.node_id not in first]
    return [*rest[:HITS_BEFORE_NEWEST], *more, *rest[HITS_BEFORE_NEWEST:]]


TOP_PLACES = 5  # places among which the passage that holds most words of a query stands
MIN_COVERAGE_GAIN = 0.1  # share of the words, by rarity, that it has to hold beyond those before it


def promote_most_words(view: Snapshot, query: TracedQuery, hits: Nodes, tokenizer: Tokenizer) -> Nodes:
    """Move the hit that has more of the query's words than any of the first to the last of their
    places: ranks tell nothing of how far a passage leads, so that two middling ones outvote its first."""
    words = query.words or question_words(query.query_str, tokenizer, view.lexical)
    ids = [hit.node.node_id for hit in hits]
    tokens_by_chunk = view.lexical.held((token for word in words for token in word.tokens), ids)
    shares = [coverage(words, tokens_by_chunk.get(id_, ())) for id_ in ids]
    at = shares.index(max(shares)) if shares else 0
    if at < TOP_PLACES or shares[at] < max(shares[:TOP_PLACES]) + MIN_COVERAGE_GAIN:
        return hits
    moved = NodeWithScore(node=hits[at].node, score=hits[TOP_PLACES - 2].score)
    return [*hits[: TOP_PLACES - 1], moved, *hits[TOP_PLACES - 1 : at], *hits[at + 1 :]]


MAX_TABLE_CHUNKS = 8  # chunks of the tables that are taken whole


def find_rest_of_tables(view: Snapshot, hits: Nodes, allowed: AllowedChunks) -> Nodes:
    """Find the other parts of tables that the first hits have a part of, the best hit's first."""
    first = view.chunks([one.node.node_id for one in hits[:TOP_PLACES]])
    found: dict[ChunkId, ChunkRow] = {}
    for hit in hits[:TOP_PLACES]:
        if chunk := first.get(hit.node.node_id):
            parts = table_chunks(chunk, view.chunk_ids_of(chunk.path), view)
            found |= {one.id: one for one in parts if one.id not in first}
    known = {one.node.node_id: one.node for one in hits}
    return [
        NodeWithScore(node=known.get(id_) or stub_node(id_), score=hits[:TOP_PLACES][-1].score)
        for id_ in keep_allowed([*found], allowed)[:MAX_TABLE_CHUNKS]
    ]


_FOLDER_SETTINGS = {"templates.json": "folder", "plugins/templater-obsidian/data.json": "templates_folder"}
_NOTE_SETTINGS = {"daily-notes.json": "template", "zk-prefixer.json": "template"}
"""Files below ``.obsidian`` with the key that names a folder of templates, or one template."""

_DEFAULT_FOLDERS = frozenset({"Templates", "templates"})
"""The folder at the vault's root where nothing is set."""

_FileStamp = tuple[str, int, int, int]  # a file, its size, and when its content and rights changed

_MAX_TEMPLATE_BYTES = 100_000  # of a template that are read
_MAX_TEMPLATES = 500  # templates: a folder of more is set by mistake, the vault's own perhaps

# What a template leaves to be filled in: `{{date}}`, `<% tp.date.now() %>`.
_PLACEHOLDER = re.compile(r"\{\{[^{}]*\}\}|<%.*?%>", re.DOTALL)
_LETTERS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Templates:
    """``folders`` and ``notes`` as folded paths, and the ``lines`` that stand in any of them.

    A line goes by its letters alone: marks of lists and headings, dates and what was to be filled
    in are not what it says.
    """

    folders: frozenset[str] = frozenset()
    notes: frozenset[str] = frozenset()
    lines: frozenset[str] = frozenset()

    def contains(self, path: str) -> bool:
        """Tell whether a note is a template.

        :param path: relative to the vault.
        """
        key = fold(path)
        if key.removesuffix(NOTE_SUFFIX) in self.notes:
            return True
        return any(key.startswith(f"{folder}/") for folder in self.folders)


def read_templates(root: Path) -> Templates:
    """Read where a vault keeps its templates and what they say; a file that is missing or damaged says
    nothing. They are read again when their size or time changes."""
    named = _read_template_settings(
        tuple(_stamp_files(f"{root}/.obsidian/{file}" for file in _NOTE_SETTINGS))
    )
    notes = frozenset(note.removesuffix(NOTE_SUFFIX) for note in named)
    named = _read_template_settings(
        tuple(_stamp_files(f"{root}/.obsidian/{file}" for file in _FOLDER_SETTINGS))
    )
    folders = named or _DEFAULT_FOLDERS
    files = tuple(islice(_template_files(root, folders, notes), _MAX_TEMPLATES + 1))
    # More are no folder of templates: nothing of it is held back.
    return Templates() if len(files) > _MAX_TEMPLATES else _make_templates(folders, notes, files)


def line_keys(text: str) -> list[str]:
    """Return the letters of each line of a text, folded; lines without letters are left out."""
    said = (" ".join(_LETTERS.findall(line)) for line in _PLACEHOLDER.sub(" ", text).splitlines())
    return [fold(line) for line in said if line]


@lru_cache(maxsize=8)
def _make_templates(
    folders: frozenset[str], notes: frozenset[str], files: tuple[_FileStamp, ...]
) -> Templates:
    lines: set[str] = set()
    for path, *_ in files:
        with suppress(OSError), open_plain_file(path) as stream:
            lines.update(line_keys(stream.read(_MAX_TEMPLATE_BYTES).decode("utf-8", "replace")))
    return Templates(frozenset(map(fold, folders)), frozenset(map(fold, notes)), frozenset(lines))


def _template_files(vault: Path, folders: Iterable[str], notes: Iterable[str]) -> Iterator[_FileStamp]:
    paths = (f"{vault}/{note}{NOTE_SUFFIX}" for note in sorted(notes))
    found = (one for folder in sorted(folders) for one in os.walk(f"{vault}/{folder}"))
    below = (f"{where}/{name}" for where, _, names in found for name in sorted(names))
    notes_below = (one for one in below if is_note(one) and not Path(one).is_symlink())
    return _stamp_files(chain(paths, notes_below))


def _stamp_files(paths: Iterable[str]) -> Iterator[_FileStamp]:
    """The files that are there, as they are now."""
    for path in paths:
        with suppress(OSError):
            stat = os.stat(path)  # noqa: PTH116 (each query looks: this is hot)
            yield path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


@lru_cache(maxsize=16)
def _read_template_settings(files: tuple[_FileStamp, ...]) -> frozenset[str]:
    """Read the folders or notes that files of settings name; nothing where one is damaged."""
    found: set[str] = set()
    for path, *_ in files:
        key = (_FOLDER_SETTINGS | _NOTE_SETTINGS)[path.rpartition("/.obsidian/")[2]]
        with suppress(OSError, ValueError):
            settings = read_json_file(path)
            name = settings.get(key) if isinstance(settings, dict) else None
            if isinstance(name, str) and "\0" not in name and ".." not in name.split("/"):
                name.encode()  # half a surrogate pair is no name
                found.add(name.strip().strip("/"))
    return frozenset(found - {""})


TEMPLATE_REASON = "it is a template"
SKELETON_REASON = "it says no more than a template"

_ASKS_FOR_TEMPLATES = re.compile(
    r"templat|vorlage|plantilla|gabarit|mod[èe]l[eo]|sjablo|шаблон|模[板版]|テンプレ|템플릿", re.IGNORECASE
)

_DATE_OR_TIME = re.compile(
    r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d{2}(?::\d{2})?"
)
"""What fills in the date and time of a template by itself."""


def asks_for_templates(query: str) -> bool:
    """Tell whether a query is about templates themselves."""
    return _ASKS_FOR_TEMPLATES.search(query) is not None


def is_skeleton(text: str, title: str, lines: Collection[str]) -> bool:
    """Tell whether all that a chunk says stands in a template: headings and prompts, not filled in.

    A prompt with a number or a picture behind its colon is filled in (``Weight: 80.5``). What says
    only its ``title`` is none: a note kept in a hurry is called what it says.

    :param lines: of the vault's templates, as :func:`line_keys` gives them.
    """
    for line in text.splitlines():
        value = _DATE_OR_TIME.sub("", line.partition(":")[2])
        if any(sign.isdigit() or unicodedata.category(sign) == "So" for sign in value):
            return False
    said = set(line_keys(text))
    return not said.isdisjoint(lines) and said <= {*lines, *line_keys(title)}


class TemplatePostprocessor(VaultPostprocessor):
    """Holds back templates and passages that say no more than one, and drops those that are empty.

    A hit that is held back keeps ``share`` of its score and says why in ``metadata["held_back"]``.
    None is for a query that asks for templates, nor what the query names exactly.
    """

    stage = "templates"

    vault: Path = Field(description="The folder of the notes.")
    share: float = Field(default=0.5, gt=0, le=1, description="What its score keeps of a template.")

    def process(self, hits: Nodes, query: TracedQuery, view: Snapshot) -> Nodes:
        chunks = view.chunks([hit.node.node_id for hit in hits])
        wanted = self.share == 1 or asks_for_templates(query.query_str)
        templates = Templates() if wanted else read_templates(self.vault)
        paths = [chunk.path for chunk in chunks.values()] if templates.lines else ()
        notes = view.notes_at(paths)
        found: Nodes = []
        for hit in hits:
            chunk, reason, score = chunks.get(hit.node.node_id), "", hit.score or 0.0
            if chunk is not None:
                if not chunk.text.strip():
                    continue  # The chunk of an empty note only stands for it.
                title = notes[chunk.path].title if chunk.path in notes else ""
                if templates.contains(chunk.path):
                    reason = TEMPLATE_REASON
                elif templates.lines and is_skeleton(chunk.text, title, templates.lines):
                    reason = SKELETON_REASON
            if reason and DISPATCH not in hit.node.metadata.get("signals", {}):
                # That of a neighbour may be below nothing, and goes down all the same.
                lowered = score * self.share if score > 0 else score / self.share
                hit = NodeWithScore(node=with_metadata(hit.node, held_back=reason), score=lowered)
            found.append(hit)
        return sorted(found, key=lambda hit: -(hit.score or 0.0))


def make_template_test(vault: Path, query: str) -> Callable[[str], bool]:
    """Make the test whether a path is that of a template; none is for a query about templates."""
    if asks_for_templates(query):
        return lambda _: False
    # Most queries name no note, of which it is asked.
    templates = cache(partial(read_templates, vault))
    return lambda path: templates().contains(path)
