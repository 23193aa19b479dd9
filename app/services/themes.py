"""Lists the themes of a vault, and finds the sources of an answer about them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest

from llama_index.core.schema import NodeWithScore

from notehop.app import models
from notehop.app.retrieval.chain import RetrievalRequest
from notehop.app.retrieval.components import TracedQuery, to_node, with_metadata
from notehop.app.retrieval.filters import apply_filters, conditions_of_fields, keep_allowed, split_filters
from notehop.app.retrieval.intents import find_themes_subject
from notehop.app.retrieval.relevance import read_templates
from notehop.app.services.ask import THEMES
from notehop.app.services.engine import Engine, Run
from notehop.app.services.notes.current_notes import CurrentNotes
from notehop.config.errors import SwitchedOff
from notehop.indexing.stores.rows import ChunkId
from notehop.indexing.themes import Theme, Themes, make_themes
from notehop.indexing.vault.dates import day_in_name

OFF = (
    "themes are switched off; for good, write themes.enabled = true at the top of notehop.toml "
    "(notehop status says where that is); for once, set NOTEHOP_THEMES__ENABLED=true (docs/themes.md)"
)

DEPTH = 60  # notes that are looked for: a theme that has none among so many is not about the query

NEAR = 0.75
"""Share of the best similarity that a note must reach which holds no word of the query: a search by
meaning ranks every note of the vault, whatever it says."""

FIRST = 5
"""Offset of the ranks that are added up: a theme that is found first outweighs several that are
found far behind, however many notes they have."""

SHARE = 0.25  # what a theme must have of the best one's weight; less is chance

NOTES = 3  # notes of a theme that are named in a list
SPARE = 2  # notes looked at for each that is named: one that changed since may have nothing to show

ALL = "What are the main themes of these notes?"
"""What is asked where a query for themes has nothing but filters."""

MOST = 8  # themes that are listed, and that an answer is made of
SOURCES = 4  # passages of each theme that an answer may cite, from its notes that say most


@dataclass(slots=True)
class _Left:
    """The notes that count, with their weights: what filters leave, or what a search for a subject finds
    (``hits``). ``first`` has the first passage of each that filters leave, where there are some."""

    weights: dict[str, float]
    hits: dict[str, NodeWithScore] = field(default_factory=dict)
    first: dict[str, ChunkId] = field(default_factory=dict)

    def themes(self, themes: Themes) -> list[tuple[Theme, list[str]]]:
        """The themes that have some, those of most weight first, then by id; each with its notes, the
        weightiest first.

        Of alike ones the note that names it comes first, notes of days last: that many things were
        linked on a day makes it no centre.
        """
        found: list[tuple[float, Theme, list[str]]] = []
        for theme in themes.themes:
            notes = [path for path in theme.notes if path in self.weights]
            notes.sort(
                key=lambda path: (
                    -self.weights[path],
                    path != theme.named_after,
                    day_in_name(path) is not None,
                )
            )
            if notes:
                found.append((sum(self.weights[path] for path in notes), theme, notes))
        found.sort(key=lambda one: (-one[0], one[1].id))
        least = SHARE * found[0][0] if self.hits and found else 0.0
        return [(theme, notes) for weight, theme, notes in found if weight >= least]


class VaultThemes:
    """Threads share it. Nothing is read before themes are asked for."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._settings = engine.place.settings
        self._turn = threading.Lock()
        self._made: tuple[tuple[str, int], Themes] | None = None

    def listed(self, now: CurrentNotes, query: models.ThemesQuery) -> models.ThemesResult:
        most = query.max or MOST
        traced, themes = TracedQuery(""), self._themes(now)
        chosen = self._left(now, traced, query.filters, literal=True).themes(themes)
        there = (_view(now, theme, notes) for theme, notes in chosen)
        views = list(islice((shown for shown in there if shown is not None), most))
        return models.ThemesResult(
            themes=views,
            total=len(chosen) if len(views) == most else len(views),
            small=themes.small,
            unlinked=themes.unlinked,
            warnings=list(dict.fromkeys([*traced.trace.warnings, *now.reply_warnings()])),
            filters=traced.trace.filters,
            generation=now.generation,
        )

    def or_else(self, otherwise: Run, *, asked: bool) -> Run:
        """What finds the sources of a question: of themes if it is one for them.

        The metadata of a source about themes tells its theme: ``theme`` holds ``id``, ``name``,
        ``count`` and ``about``. What the query asks, without its filters, stands in its
        trace.

        :param asked: whether it is, whatever its words say.
        """

        def run(query: TracedQuery, request: RetrievalRequest) -> list[NodeWithScore]:
            intent = request.query.intent or self._settings.retrieval.intent
            if asked or intent == "auto":
                with self._engine.current() as now:
                    written = split_filters(now, query.query_str, literal=request.query.literal)
                    about = find_themes_subject(written.text)
                    if about is None and asked:
                        about = written.text.strip()
                    if about is not None:
                        query.trace.text = written.text.strip() or ALL
                        conditions = " ".join(map(str, written.conditions))
                        with query.trace.timed(THEMES):
                            return self._sources(now, query, request.query, about, conditions)
            return otherwise(query, request)

        return run

    def _sources(
        self, now: CurrentNotes, query: TracedQuery, asked: models.BaseQuery, about: str, said: str
    ) -> list[NodeWithScore]:
        """The passages that an answer may cite; ``about`` is a subject, empty for all themes, ``said``
        the filters in the question."""
        trace, text = query.trace, query.trace.text
        themes = self._themes(now)
        inner = TracedQuery(f"{about} {said}".strip(), trace=trace)
        left = self._left(now, inner, asked.filters, literal=asked.literal, about=about)
        chosen = left.themes(themes)
        trace.text = text
        trace.count("index", generation=now.generation, chunks=now.chunk_count)
        trace.count(THEMES, themes=len(chosen), all=len(themes.themes))
        # The first of each theme, then the second: where room is short, all themes have some.
        each = (_nodes(now, theme, notes, left, about) for theme, notes in chosen[:MOST])
        nodes = [node for row in zip_longest(*each) for node in row if node is not None]
        for warning in now.reply_warnings():
            trace.warn(warning)
        return nodes

    def _themes(self, now: CurrentNotes) -> Themes:
        if not self._settings.themes.enabled:
            raise SwitchedOff(OFF)
        of, vault = (now.catalog.stamp, now.catalog.generation), self._engine.place.vault
        with self._turn:
            if self._made is None or self._made[0] != of:
                self._made = of, make_themes(now.catalog, read_templates(vault).contains)
            return self._made[1]

    def _left(
        self,
        now: CurrentNotes,
        query: TracedQuery,
        filters: models.Filters,
        *,
        literal: bool,
        about: str = "",
    ) -> _Left:
        """The notes of a subject, or all that filters leave."""
        if about:
            hits = self._engine.retrieve(query, RetrievalRequest.best_notes(DEPTH, filters, literal=literal))
            # Those that hold a word of the query, or mean nearly what the nearest does.
            near = [_score(hit, "semantic") or 0.0 for hit in hits]
            bar = NEAR * max(near, default=0.0)
            telling = {
                str(hit.node.metadata["path"]): hit
                for hit, nearness in zip(hits, near, strict=True)
                if _score(hit, "lexical") is not None or nearness >= bar
            }
            return _Left({p: 1 / (FIRST + n) for n, p in enumerate(telling, start=1)}, telling)
        view, tokenizer = now.indexed, self._engine.tokenizer
        if not query.query_str and not any(conditions_of_fields(filters)):
            return _Left(dict.fromkeys(view.paths(), 1.0))
        narrowed = apply_filters(query.query_str, filters, view, tokenizer, now.any_of, literal=literal)
        query.trace.filters = list(narrowed.filter_texts)
        for warning in narrowed.warnings:
            query.trace.warn(warning)
        every = chain.from_iterable(view.chunk_ids_of(path) for path in view.paths())
        ids = [] if narrowed.is_empty else keep_allowed(every, narrowed.allowed)
        # Of a note the first comes last, and stays.
        first = {path: id_ for id_ in reversed(ids) if (path := view.path_of(id_))}
        return _Left(dict.fromkeys(first, 1.0), first=first)


def _score(hit: NodeWithScore, signal: str) -> float | None:
    score = hit.node.metadata.get("signals", {}).get(signal, {}).get("score")
    return None if score is None else float(score)


def _view(now: CurrentNotes, theme: Theme, notes: list[str]) -> models.ThemeView | None:
    """A theme as far as its notes stand in the vault; None if none of them does."""
    rows = now.notes_at(theme.notes)
    notes = [path for path in notes if path in rows]
    if not notes:
        return None
    said = now.in_a_line({path: rows[path] for path in notes[:NOTES]})
    summary = said[notes[0]]
    return models.ThemeView(
        id=theme.id,
        # Where the note that gave it is gone, the title of the next.
        name=theme.name if theme.named_after in rows else rows[notes[0]].title,
        summary=summary.text,
        written_by=summary.model,
        count=len(notes),
        notes=[
            models.ThemeNote(**now.place_of(rows[path]), text=one.text, written_by=one.model)
            for path, one in said.items()
        ],
    )


def _nodes(
    now: CurrentNotes, theme: Theme, notes: list[str], left: _Left, about: str
) -> Iterator[NodeWithScore]:
    """The first passages of a theme, one a note."""
    rows = now.notes_at(theme.notes)
    there = [path for path in notes[: SPARE * SOURCES] if path in rows]
    name = theme.name if theme.named_after in rows or not there else rows[there[0]].title
    told = {"id": theme.id, "name": name, "count": len(rows), "about": about}
    given = 0
    for path in there:
        if given == SOURCES:
            break
        if (hit := left.hits.get(path)) is not None:
            node, score = hit.node, hit.score
        else:
            siblings = now.chunk_ids_of(path)
            chunks = now.chunks([left.first[path]] if path in left.first else siblings[:1])
            if not chunks:
                continue
            node = to_node(next(iter(chunks.values())), rows[path], siblings)
            score = 1 / (given + 1)
        given += 1
        yield NodeWithScore(node=with_metadata(node, theme=told), score=score)
