"""Vectors on a Chroma server: what searches find while it is filled, behind, down, killed, or empty."""

import json
import random
import shutil
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import product
from tests.support.chroma_run import ChromaRun
from tests.support.notes import Bench
from tests.support.readable_model import ReadableModel

pytestmark = [pytest.mark.services, pytest.mark.timeout(300)]

WORDS = ["tide", "wall", "water", "high", "low", "bram", "log", "ewe", "neap", "pier", "sea", "gate"]
SECRET = "The zanzibarquux is at the pier."
FAR = "vectors.example.com"

Hits = list[tuple[str, float]]


class Shaded(ReadableModel):
    """No two texts are equally near to a third (of equals, the server names any), nor any near."""

    apart = 0.1

    def embed(self, texts: Sequence[str], on_batch: product.OnBatch | None = None) -> product.EmbedderVectors:
        rows = super().embed(texts, on_batch)
        for row, text in zip(rows, texts, strict=True):
            chance = np.random.default_rng(zlib.crc32(text.encode()))
            row += self.apart * chance.standard_normal(len(row), dtype=np.float32)
            row /= np.linalg.norm(row)
        return rows


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaRun]:
    chroma = ChromaRun(tmp_path_factory.mktemp("chroma"))
    yield chroma
    chroma.kill()


@pytest.fixture
def chroma(running: ChromaRun) -> Iterator[ChromaRun]:
    """The server, up again after a test that ended it."""
    yield running
    if not running.is_up:
        running.start()


@pytest.fixture
def bench(tmp_path: Path, chroma: ChromaRun) -> Bench:
    made = Bench(tmp_path)
    made.settings = made.settings.with_overrides(
        {"vectors.engine": "chroma", "chroma.url": chroma.url, "chroma.oversampling": 2}
    )
    made.model = Shaded()
    made.limits = product.Limits(batch_notes=20)
    chance = random.Random(4)
    for number in range(60):
        made.write(f"{number}.md", " ".join(chance.choices(WORDS, k=12)) + f" {number}.\n")
    made.write("Secret.md", SECRET)
    return made


@contextmanager
def server_of(bench: Bench, seconds: float = 5.0) -> Iterator[product.ChromaServer]:
    server = product.ChromaServer(bench.settings, bench.layout.root, seconds)
    try:
        yield server
    finally:
        server.close()


@contextmanager
def searching(bench: Bench, seconds: float = 5.0) -> Iterator[product.Reader]:
    """A reader that believes nothing for long."""
    server = product.ChromaServer(bench.settings, bench.layout.root, seconds, rest=0.0)
    with product.Reader(bench.layout, server=server) as reader:
        yield reader


def found(bench: Bench, reader: product.Reader | None, k: int = 5) -> tuple[list[Hits], tuple[str, ...]]:
    """What the nearest passages to some words are, all and among a third, and the warnings."""
    queries = bench.model.embed(["the tide", "bram at the wall", "zanzibarquux", "new words"])
    if reader is None:
        with product.Reader(bench.layout) as memory:
            return found(bench, memory, k)
    with reader.snapshot() as view:
        some = [one for one in sorted(view.chunk_vectors.ids) if one[0] in "012345"]
        hits = [view.chunk_vectors.top(query, k, among) for query in queries for among in (None, some)]
        return hits, view.warnings


def held(bench: Bench) -> dict[str, tuple[str, str]]:
    """Id -> text and path of every passage on the server."""
    with bench.catalog() as catalog, server_of(bench) as server:
        collection = server.collection(product.collection_name(product.stamp_of(catalog.meta())))
        assert collection is not None
        asked = {"include": ["documents", "metadatas"]}
        path = f"/collections/{collection.id}/get"
        told = json.loads(server._reply("POST", path, asked, "mirror"))
    rows = zip(told["ids"], told["documents"], told["metadatas"], strict=True)
    return {one: (text, about["path"]) for one, text, about in rows}


def state(bench: Bench) -> product.ServedState:
    with bench.catalog() as catalog, server_of(bench) as server:
        collection = server.collection(product.collection_name(product.stamp_of(catalog.meta())))
        assert collection is not None
        return product.ServedState.read(collection)


def wanted(bench: Bench) -> dict[str, tuple[str, str]]:
    with bench.catalog() as catalog:
        ids = [key.id for key in catalog.chunk_keys()]
        return {one: (row.text, row.path) for one, row in catalog.chunks(ids).items()}


def check_whole(bench: Bench) -> None:
    assert held(bench) == wanted(bench)
    with bench.catalog() as catalog:
        assert state(bench).generation == state(bench).toward == catalog.generation


def test_it_finds_what_memory_finds_and_holds_no_vector(bench: Bench) -> None:
    assert bench.index().warnings == ()
    check_whole(bench)
    assert state(bench).recall == 1.0
    assert not bench.layout.chroma.exists(), "there is one mirror, not two"
    with searching(bench) as reader:
        assert found(bench, reader) == found(bench, None)
        with reader.snapshot() as view, product.Reader(bench.layout) as memory:
            assert view.shared.chunk_vectors is None
            ids = [*view.chunk_vectors.ids[:7], "unknown"]
            with memory.snapshot() as other:
                for ours, theirs in zip(
                    view.chunk_vectors.rows(ids), other.chunk_vectors.rows(ids), strict=True
                ):
                    assert np.array_equal(ours, theirs)


def test_what_the_server_lacks_is_found_and_what_is_gone_is_not(bench: Bench) -> None:
    bench.index()
    bench.write("New.md", "New words of the tide.\n")
    bench.write("7.md", "Seven is new words now.\n")
    bench.write("Secret.md", f"---\nprivate: true\n---\n{SECRET}")
    (bench.vault / "8.md").unlink()
    # As a follower does it: the server is brought up later, when it is quiet.
    bench.indexer().update()
    before = held(bench)
    assert "Secret.md" in {path for _, path in before.values()}
    with searching(bench) as reader:
        assert found(bench, reader) == found(bench, None)
        with reader.snapshot() as view:
            near = view.chunk_vectors.top(bench.model.embed([SECRET])[0], 70)
            assert {view.path_of(one) for one, _ in near}.isdisjoint({"Secret.md", "8.md"})
        assert bench.indexer().tidy()
        check_whole(bench)
        assert not any(SECRET in text for text, _ in held(bench).values())
        assert found(bench, reader) == found(bench, None)


def test_a_server_that_is_down_hangs_or_lost_everything(bench: Bench, chroma: ChromaRun) -> None:
    bench.index()
    hits, none = found(bench, None)
    assert none == ()
    with searching(bench, seconds=0.5) as reader:
        chroma.kill()
        again, [told] = found(bench, reader)
        assert again == hits
        assert f"127.0.0.1:{chroma.port}: the Chroma server takes no connection" in told
        assert "Every vector was compared here" in told
        bench.write("New.md", "New words of the tide.\n")
        [warning] = bench.index().warnings
        assert "takes no connection" in warning
        with pytest.raises(product.VectorServerError):
            bench.indexer().tidy()
        hits, _ = found(bench, None)
        chroma.start()
        assert found(bench, reader) == (hits, ()), "the new note too, before any run"
        assert bench.indexer().tidy()
        check_whole(bench)
        chroma.hold()
        again, [told] = found(bench, reader)
        assert again == hits
        assert "did not answer within 0.5 s" in told
        chroma.go_on()
        chroma.kill()
        shutil.rmtree(chroma.folder)
        chroma.start()
        again, [told] = found(bench, reader)
        assert again == hits
        assert "holds nothing of this index yet; run: notehop index" in told
        assert bench.indexer().tidy()
        check_whole(bench)
        assert found(bench, reader) == (hits, ())


def test_a_collection_that_lost_rows_is_filled_anew(bench: Bench) -> None:
    bench.index()
    with bench.catalog() as catalog, server_of(bench) as server:
        collection = server.collection(product.collection_name(product.stamp_of(catalog.meta())))
        assert collection is not None
        server.delete(collection, sorted(wanted(bench))[:40])
    with searching(bench) as reader:
        hits, [told] = found(bench, reader, k=30)
        assert hits == found(bench, None, k=30)[0]
        assert "found 21 passages where it was asked for" in told
    assert bench.index().warnings == ()
    check_whole(bench)


def test_a_graph_that_hides_passages_is_not_asked(bench: Bench) -> None:
    bench.model.apart = 0.01  # type: ignore[attr-defined]
    for number in range(500):
        bench.write(f"{number}.md", f"Number {number} of the tide.\n")
    assert bench.index().warnings == ()
    check_whole(bench)
    assert (state(bench).recall or 0) < 0.95
    with searching(bench) as reader:
        hits, [told] = found(bench, reader)
        assert hits == found(bench, None)[0]
        assert "% of the nearest passages, which is too little" in told


def test_a_fill_that_is_interrupted_goes_on(bench: Bench) -> None:
    bench.settings = bench.settings.with_overrides({"vectors.engine": "embedded"})
    for number in range(700):
        bench.write(f"more/{number}.md", f"Number {number} of the tide.\n")
    bench.index()
    bench.settings = bench.settings.with_overrides({"vectors.engine": "chroma"})
    asked = iter([False, False, True])
    assert not bench.indexer().tidy(lambda: next(asked))
    assert state(bench).generation == 0
    first = held(bench)
    assert 0 < len(first) < len(wanted(bench))
    bench.write("more/3.md", "Another number of the tide.\n")
    (bench.vault / "more" / "4.md").unlink()
    bench.indexer().update()
    written: list[int] = []
    original = product.ChromaServer.upsert

    def counted(self: product.ChromaServer, collection: Any, rows: Any) -> None:
        written.append(len(rows["ids"]))
        original(self, collection, rows)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(product.ChromaServer, "upsert", counted)
        assert bench.indexer().tidy()
    assert sum(written) <= len(wanted(bench)) - len(first) + 2
    check_whole(bench)


def test_the_collection_of_before_a_rebuild_is_deleted(bench: Bench) -> None:
    bench.index()
    with bench.catalog() as catalog:
        former = product.collection_name(product.stamp_of(catalog.meta()))
    bench.index(rebuild=True)
    check_whole(bench)
    with server_of(bench) as server:
        assert server.collection(former) is None
        with bench.catalog() as catalog:
            now = product.collection_name(product.stamp_of(catalog.meta()))
        bench.settings = bench.settings.with_overrides({"vectors.engine": "embedded"})
        assert bench.index().warnings == ()
        assert server.collection(now) is None, "nor does one stay that nobody asks"


def test_a_host_that_was_not_named_gets_nothing(
    bench: Bench, chroma: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    real = socket.getaddrinfo

    def led_back(host: Any, *more: Any, **named: Any) -> Any:
        return real("127.0.0.1" if host in (FAR, "192.0.2.44") else host, *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", led_back)
    bench.settings = bench.settings.with_overrides({"chroma.url": f"http://{FAR}:{chroma.port}"})
    [told] = bench.index().warnings
    assert f'[privacy] allow_hosts = ["{FAR}"]' in told
    assert "the passages of your notes and their vectors; nothing was sent" in told
    log = product.EgressLog(bench.layout.root)
    assert list(log.lines()) == []
    with searching(bench) as reader:
        hits, [told] = found(bench, reader)
        assert hits == found(bench, None)[0]
        assert "nothing was sent" in told
    bench.settings = bench.settings.with_overrides({"privacy.allow_hosts": [FAR]})
    [told] = bench.index().warnings
    assert f"{FAR} (Chroma) now gets the passages of your notes" in told
    assert "plain http" in told
    assert bench.index().warnings == ()
    check_whole(bench)
    with searching(bench) as reader:
        assert found(bench, reader) == found(bench, None)
    begun = [line for line in log.lines() if "host" in line]
    assert {line["purpose"] for line in begun} == {"mirror", "search"}
    assert any("Secret.md" in line["notes"] for line in begun)
    assert not any("zanzibarquux" in file.read_text() for file in bench.layout.root.glob("egress*"))
