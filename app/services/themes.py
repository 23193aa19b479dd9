"""Lists the themes of a vault, and finds the sources of an answer about them."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, zip_longest

from llama_index.core.schema import NodeWithScore

from notehop.app import models
from notehop.app.retrieval.chain import Wanted
from notehop.app.retrieval.components import TracedQuery, noted, to_node
from notehop.app.retrieval.filters import ParsedQuery, among, narrow, of_fields
from notehop.app.retrieval.intents import asks_for_themes
from notehop.app.services.ask import THEMES, parsed
from notehop.app.services.engine import Engine, Run
from notehop.app.services.notes.current_notes import CurrentNotes
from notehop.config.errors import SwitchedOff
from notehop.indexing.stores.model import NoteRow
from notehop.indexing.templates import read_templates
from notehop.indexing.themes import Theme, Themes, make_themes
from notehop.indexing.vault.dates import day_in_name

OFF = "themes are switched off; set themes.enabled to true (docs/themes.md)"


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


Chosen = tuple[Theme, Mapping[str, NodeWithScore | None]]
"""A theme with its notes that count, the first first; each with the best passage of it, where a query
was looked for."""


MOST = 8  # themes that are listed, and that an answer is made of
SOURCES = 4  # passages of each theme that an answer may cite, from its notes that say most


class VaultThemes:
    """Threads share it. Nothing is read before themes are asked for."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._settings = engine.place.settings
        self._turn = threading.Lock()
        self._made: tuple[tuple[str, int], Themes] | None = None

    def listed(self, now: CurrentNotes, query: models.ThemesQuery) -> models.ThemesResult:
        """List the themes, the largest first."""
        most = query.max or MOST
        traced, themes = TracedQuery(""), self._themes(now)
        chosen, _ = self._chosen(now, themes, traced, "", query.filters, literal=True)
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

    def or_else(self, otherwise: Run, asked: bool | None) -> Run:
        """What finds the sources of a question: of themes if it is one for them.

        The metadata of a source about themes tells its theme: ``theme`` holds ``id``, ``name``,
        ``count`` and ``about``. What the query asks, without its filters, stands in its
        trace.

        :param asked: whether it is; None leaves it to its words.
        """

        def run(query: TracedQuery, wanted: Wanted) -> list[NodeWithScore]:
            intent = wanted.asked.intent or self._settings.retrieval.intent
            by_words = asked is None and self._settings.themes.enabled and intent == "auto"
            if asked or by_words:
                with self._engine.current() as now:
                    written = parsed(now, query.query_str, literal=wanted.asked.literal)
                    about = asks_for_themes(written.text)
                    if about is None and asked:
                        about = written.text.strip()
                    if about is not None:
                        with query.trace.timed(THEMES):
                            return self._sources(now, query, wanted, written, about)
            return otherwise(query, wanted)

        return run

    def _sources(
        self,
        now: CurrentNotes,
        query: TracedQuery,
        wanted: Wanted,
        written: ParsedQuery,
        about: str,
    ) -> list[NodeWithScore]:
        """The passages that an answer may cite; ``about`` is a subject, empty for all themes."""
        trace = query.trace
        themes = self._themes(now)
        conditions = " ".join(map(str, written.conditions))
        inner = TracedQuery(f"{about} {conditions}".strip(), trace=trace)
        asked = wanted.asked
        chosen, left = self._chosen(now, themes, inner, about, asked.filters, asked.literal)
        trace.text = written.text.strip() or ALL
        trace.count("index", generation=now.generation, chunks=now.chunk_count)
        trace.count(THEMES, themes=len(chosen), all=len(themes.themes))
        # The first of each theme, then the second: where room is short, all themes have some.
        each = (_nodes(now, *one, about, SOURCES, left) for one in chosen[:MOST])
        nodes = [node for row in zip_longest(*each) for node in row if node is not None]
        for warning in now.reply_warnings():
            trace.warn(warning)
        return nodes

    def _themes(self, now: CurrentNotes) -> Themes:
        """The themes of a generation."""
        if not self._settings.themes.enabled:
            raise SwitchedOff(OFF)
        of, vault = (now.catalog.stamp, now.catalog.generation), self._engine.place.vault
        with self._turn:
            if self._made is None or self._made[0] != of:
                self._made = of, make_themes(now.catalog, read_templates(vault).holds)
            return self._made[1]

    def _chosen(
        self,
        now: CurrentNotes,
        themes: Themes,
        query: TracedQuery,
        about: str,
        filters: models.Filters,
        literal: bool,
    ) -> tuple[list[Chosen], Mapping[str, str] | None]:
        """The themes of a subject, or all that filters leave."""
        if about:
            wanted = Wanted.best_notes(DEPTH, filters, literal=literal)
            return _by_hits(themes, self._engine.retrieve(query, wanted)), None
        left: dict[str, str] | None = None
        if query.query_str or any(of_fields(filters)):
            view, tokenizer = now.indexed, self._engine.tokenizer
            narrowed = narrow(
                query.query_str, filters, view, tokenizer, now.any_of, literal=literal
            )
            query.trace.filters = list(narrowed.said)
            for warning in narrowed.warnings:
                query.trace.warn(warning)
            if narrowed.nothing:
                left = {}
            elif narrowed.allowed is not None:
                every = chain.from_iterable(view.chunk_ids_of(path) for path in view.paths())
                ids = among(every, narrowed.allowed)
                # Of a note the first comes last, and stays.
                left = {path: id_ for id_ in reversed(ids) if (path := view.path_of(id_))}
        return _by_size(themes, left), left


def _by_size(themes: Themes, left: Collection[str] | None) -> list[Chosen]:
    """All themes, those with most notes first, then by id; each with its central notes first.

    First of all is the one that names it. A note of a day stands behind the others: that many
    things were linked on a day makes it no centre.

    :param left: the notes that filters leave; None for all. A theme without any is none.
    """
    found: list[Chosen] = []
    for theme in themes.themes:
        notes = [path for path in theme.notes if left is None or path in left]
        notes.sort(key=lambda path: (path != theme.named_after, day_in_name(path) is not None))
        if notes:
            found.append((theme, dict.fromkeys(notes)))
    return sorted(found, key=lambda one: (-len(one[1]), one[0].id))


def _by_hits(themes: Themes, hits: Sequence[NodeWithScore]) -> list[Chosen]:
    """The themes that hits (one a note, best first) are in, those with most and best first, ties by id."""
    weights: dict[str, float] = {}
    held: dict[str, dict[str, NodeWithScore | None]] = {}
    nearness = [_score(hit, "semantic") or 0.0 for hit in hits]
    # Those that hold a word of the query, or mean nearly what the nearest does.
    bar = NEAR * max(nearness, default=0.0)
    telling = [
        hit
        for hit, near in zip(hits, nearness, strict=True)
        if _score(hit, "lexical") is not None or near >= bar
    ]
    for rank, hit in enumerate(telling, start=1):
        path = str(hit.node.metadata["path"])
        theme = themes.of_note.get(path)
        if theme is not None:
            weights[theme.id] = weights.get(theme.id, 0.0) + 1 / (FIRST + rank)
            held.setdefault(theme.id, {})[path] = hit
    least = SHARE * max(weights.values(), default=0.0)
    found = [theme for theme in themes.themes if weights.get(theme.id, -1.0) >= least]
    found.sort(key=lambda theme: (-weights[theme.id], theme.id))
    return [(theme, held[theme.id]) for theme in found]


def _score(hit: NodeWithScore, signal: str) -> float | None:
    score = hit.node.metadata.get("signals", {}).get(signal, {}).get("score")
    return None if score is None else float(score)


def _name(theme: Theme, notes: Iterable[str], rows: Mapping[str, NoteRow]) -> str:
    """The name of a theme; where the note that gave it is gone, the title of the next."""
    if theme.named_after in rows:
        return theme.name
    return next((rows[path].title for path in notes if path in rows), "")


def _view(now: CurrentNotes, theme: Theme, notes: Iterable[str]) -> models.ThemeView | None:
    """A theme as far as its notes stand in the vault; None if none of them does."""
    rows = now.notes_at(theme.notes)
    notes = [path for path in notes if path in rows]
    if not notes:
        return None
    named = {path: rows[path] for path in notes[:NOTES]}
    said = now.in_a_line(named)
    summary = said[notes[0]]
    return models.ThemeView(
        id=theme.id,
        name=_name(theme, notes, rows),
        summary=summary.text,
        written_by=summary.model,
        count=len(notes),
        notes=[
            models.ThemeNote(**now.place_of(row), text=said[path].text, written_by=said[path].model)
            for path, row in named.items()
        ],
    )


def _nodes(
    now: CurrentNotes,
    theme: Theme,
    notes: Mapping[str, NodeWithScore | None],
    about: str,
    most: int,
    left: Mapping[str, str] | None,
) -> Iterator[NodeWithScore]:
    """The first passages of a theme, one a note."""
    rows = now.notes_at(theme.notes)
    name = _name(theme, notes, rows)
    told = {"id": theme.id, "name": name, "count": len(rows), "about": about}
    given = 0
    for path, hit in islice(notes.items(), SPARE * most):
        if path not in rows or given == most:
            continue
        if hit is not None:
            node, score = hit.node, hit.score
        else:
            siblings = now.chunk_ids_of(path)
            chunks = now.chunks(siblings[:1] if left is None else [left[path]])
            if not chunks:
                continue
            node = to_node(next(iter(chunks.values())), rows[path], siblings)
            score = 1 / (given + 1)
        given += 1
        yield NodeWithScore(node=noted(node, theme=told), score=score)
