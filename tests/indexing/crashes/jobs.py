"""What is done to an index in a process of its own, which may not outlive it."""

import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.indexing.pipeline.machine import contents
from tests.support import product
from tests.support.notes import mirror_here
from tests.support.readable_model import ReadableModel

BATCH_NOTES = 3
"""Notes a transaction: few, so that a run over a handful of notes writes several."""

Told = dict[str, Any]


def layout_of(home: str, at: str) -> product.IndexLayout:
    """An index of a home, which holds ``vault`` and, at ``index``, the one that follows it.

    The catalog of that one is in a database, where the home has a file with its address.
    """
    address = Path(home) / "database"
    on_server = at == "index" and address.exists()
    database = product.ServerCatalog(address.read_text(), "crashes") if on_server else None
    return product.IndexLayout(Path(home) / at, database)


def index(
    home: str,
    *,
    at: str = "index",
    rebuild: bool = False,
    paths: list[str] | None = None,
    tidies: bool = False,
    mirror: bool = False,
    batch: int = BATCH_NOTES,
    log: str | None = None,
    kill_at: int | str | None = None,
    signal_no: int = signal.SIGKILL,
    most_bytes: int | None = None,
) -> Told:
    """Run the indexer over a home.

    :param paths: look at these alone, as who follows a vault does; an empty one is all of it.
    :param tidies: bring up to date what that left behind.
    :param mirror: keep the mirror in Chroma.
    :param log: a file to write the name of each point into that the run passes.
    :param kill_at: the point, by its name or counted from 0, at which it is sent ``signal_no``.
    :param most_bytes: where the disk refuses to let a file grow further.
    """
    if most_bytes is not None:
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, hard))
    model = ReadableModel()
    if log is not None or kill_at is not None:
        # Whoever runs the tests in the background has made their processes deaf to it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        product.crash_points.hook = _Points(log, kill_at, signal_no)
    try:
        limits = product.Limits(batch_notes=batch)
        indexer = _indexer(home, at, model, limits, mirror=mirror)
        if paths is None:
            report: product.Report | product.Update = indexer.run(rebuild=rebuild, allow_mass_delete=True)
        else:
            report = indexer.update(paths, allow_mass_delete=True)
        if tidies:
            indexer.tidy()
    except KeyboardInterrupt:
        return {"error": "interrupted", "type": "KeyboardInterrupt", "asked": model.asked}
    except product.NotehopError as exc:
        return {"error": str(exc), "type": type(exc).__name__, "asked": model.asked}
    return {
        "error": None,
        "notes": report.notes,
        "embedded": report.embedded,
        "generation": report.generation,
        "warnings": list(report.warnings),
        "asked": model.asked,
        "loaded": model.loaded,
    }


def read(home: str, at: str = "index") -> Told:
    """What a reader sees who opens the index now: chunks, links and notes, and what it finds."""

    def told(snapshot: product.Snapshot) -> Told:
        chunks = {
            path: [
                [one.id, list(one.heading_path), one.first_line, one.last_line, one.text]
                for one in snapshot.chunks_of(path)
            ]
            for path in snapshot.paths()
        }
        known = {one[0] for held in chunks.values() for one in held}
        found = {one for hits in _hits(snapshot) for one, _ in hits}
        return {
            "generation": snapshot.generation,
            "chunks": {path: held for path, held in chunks.items() if held},
            "links": {path: repr(snapshot.links_from([path])) for path in snapshot.paths()},
            "warnings": list(snapshot.warnings),
            "unknown": sorted(found - known),
            "found": len(found),
        }

    return _reading(layout_of(home, at), told)


def content(home: str, at: str = "index") -> Told:
    """All that the index says of its vault, by name, without what depends on how it came to be."""
    layout = layout_of(home, at)

    def told(snapshot: product.Snapshot) -> Told:
        found: Told = dict(contents.catalog_rows(layout.catalog))
        found |= contents.graph_of(snapshot) | contents.ranks_of(snapshot)
        found |= contents.lexical_hits(snapshot, contents.tokens_of(snapshot))
        found |= contents.places(snapshot)
        tables = contents.table_vectors(snapshot)
        found |= {name: "vector" if hasattr(row, "shape") else row for name, row in tables.items()}
        if not product.mirror_due(layout):
            with product.Catalog.open(layout.catalog, read_only=True) as catalog:
                assert not [
                    *contents.differences(contents.mirrored(layout), contents.to_be_mirrored(catalog))
                ]
        return {name: repr(value) for name, value in found.items()}

    return _reading(layout, told)


def mended(home: str, *, mirror: bool = False) -> Told:
    """Run the indexer over a home, then tell all that the index says; an error as it is."""
    done = index(home, mirror=mirror)
    return content(home) if done["error"] is None else done


def _reading(layout: product.IndexLayout, told: Callable[[product.Snapshot], Told]) -> Told:
    try:
        with product.Reader(layout) as reader, reader.snapshot() as snapshot:
            return {"error": None, **told(snapshot)}
    except product.NotehopError as exc:
        return {"error": str(exc), "type": type(exc).__name__}


def _hits(snapshot: product.Snapshot) -> list[list[tuple[str, float]]]:
    words = ("tide", "wall", "bram", "water", "log")
    model = ReadableModel()
    near = [snapshot.chunk_vectors.top(row, 20) for row in model.embed(words)]
    return [*near, *(snapshot.lexical.top([word], 20) for word in words)]


def _indexer(
    home: str, at: str, model: ReadableModel, limits: product.Limits = product.LIMITS, *, mirror: bool = False
) -> product.Indexer:
    settings = product.load_settings().with_overrides(
        {"lexical.language": "en", "chunking.min_tokens": 4, "index.mirror": mirror}
    )
    return product.Indexer(
        Path(home) / "vault",
        settings,
        layout_of(home, at),
        load=model.load,
        write_mirror=mirror_here,
        limits=limits,
    )


class _Points:
    """Writes down each point, and ends the process at one of them."""

    def __init__(self, log: str | None, kill_at: int | str | None, signal_no: int) -> None:
        self._log = os.open(log or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._passed = 0
        self._kill_at = kill_at
        self._signal_no = signal_no

    def __call__(self, name: str) -> None:
        at, self._passed = self._passed, self._passed + 1
        os.write(self._log, f"{name}\n".encode())
        if self._kill_at in (at, name):
            os.kill(os.getpid(), self._signal_no)


JOBS: dict[str, Callable[..., Told]] = {"index": index, "read": read, "content": content, "mended": mended}
