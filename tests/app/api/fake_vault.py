"""A vault that answers without index and model, and keeps what it was asked."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.support import product

STATUS = product.IndexStatus(
    vault="/notes/My vault",
    name="My vault",
    index_dir="/index",
    catalog="/index/catalog.sqlite",
    settings_file="/notehop.toml",
    problem=None,
    generation=7,
    updated=1_700_000_000.0,
    age=60.0,
    bytes=3,
    notes={"indexed": 1},
    chunks=1,
    links={},
    skipped=[product.Kept(path="Secret.md", reason="private")],
    failed=[],
    passed_over=[],
    pending=product.PendingChanges(read=1, skip=0, gone=0),
    watcher=None,
    writer=product.Holder(pid=1, host="here", command="notehop index", since="2026-05-02T12:00:00"),
    server=None,
    made_with={"model": "readable"},
    settings={},
)

NOTES = ("Atlas.md", "people/Priya 1-1.md")


def note_view(path: str, text: str, title: str) -> product.NoteView:
    """A note of no properties and links."""
    return product.NoteView(
        **{"path": path, "title": title, "text": text, "page_type": None, "created": None},
        **{name: [] for name in ("aliases", "tags", "outline", "links", "backlinks")},
        folder=path.rpartition("/")[0],
        modified=0.0,
        lines=(1, text.count("\n") + 1),
        uri=f"obsidian://open?vault=V&file={quote(path, safe='')}",
        generation=7,
    )


class FakeVault:
    """Repeats the question; raises ``fails`` instead when there is one."""

    name = "My vault"
    generation = 7
    place = product.Place(
        Path("/notes/My vault"), product.load_settings(), product.IndexLayout(Path("/index"))
    )

    def __init__(self, fails: Exception | None = None) -> None:
        self.fails = fails
        self.asked: list[product.Query | product.SuggestQuery] = []
        self.ready = False
        self.closed = False
        self.warmed = threading.Event()
        self.threads: set[str] = set()

    def warm(self) -> None:
        self.ready = True
        self.warmed.set()

    def ask(self, query: product.Query) -> product.Answer:
        self._take(query)
        return product.Answer(
            answer=query.query,
            mode="none",
            citations=[],
            sources=[],
            connected_notes=[],
            generation=self.generation,
        )

    def search(self, query: product.SearchQuery) -> product.SearchResult:
        self._take(query)
        return product.SearchResult(hits=[], connected_notes=[], generation=self.generation)

    def themes(self, _: product.ThemesQuery) -> product.ThemesResult:
        return product.ThemesResult(themes=[], total=0, small=0, unlinked=0, generation=self.generation)

    def stream(
        self, query: product.Query, *, cancelled: Callable[[], bool] | None = None
    ) -> Iterator[product.StreamEvent]:
        self._take(query)
        yield product.SourcesEvent(sources=[])
        yield product.ConnectedEvent(connected_notes=[])
        for word in query.query.split():
            if cancelled is not None and cancelled():
                return
            yield product.TokenEvent(text=word)
        yield product.DoneEvent(answer=self.ask(query))

    def browse(self, _: product.BrowseQuery) -> product.BrowseResult:
        self._fail()
        return product.BrowseResult(seeds=[], notes=[], total=0, generation=self.generation)

    def note(self, path_or_name: str, *, section: str | None = None, **_: Any) -> product.NoteView:
        self._fail()
        if path_or_name not in NOTES:
            raise product.NoteMissing(f"{path_or_name}: no such note")
        view = note_view(path_or_name, "Atlas is the map project.", "Atlas")
        return view.model_copy(update={"section": section})

    def picture(self, *_: Any, **__: Any) -> product.GraphView:
        self._fail()
        return product.GraphView(nodes=[], edges=[], total=0, generation=self.generation)

    def suggest(self, note: str | None, limit: int) -> product.Suggestions:
        self._fail()
        self.asked.append(product.SuggestQuery(note=note, limit=limit))
        return product.Suggestions(suggestions=[], generation=self.generation)

    def capture(self, _: product.CaptureQuery) -> product.Captured:
        self._fail()
        return product.Captured(filename="Inbox/note.md", message="kept")

    def embed(self, query: product.EmbedQuery) -> product.Embedded:
        self._fail()
        return product.Embedded(model="readable", dimensions=1, vectors=[[1.0] for _ in query.texts])

    def status(self) -> product.IndexStatus:
        if self.fails is not None:
            raise self.fails
        return STATUS

    def close(self) -> None:
        self.closed = True

    def _fail(self) -> None:
        if self.fails is not None:
            raise self.fails

    def _take(self, query: product.Query) -> None:
        self.threads.add(threading.current_thread().name)
        self._fail()
        if not query.query:
            raise product.QueryError("the query is empty; write what you look for")
        self.asked.append(query)
