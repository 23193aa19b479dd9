"""The catalog on a server: one writer on all machines, nothing twice, nothing half, clear words."""

import random
import signal
import string
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from tests.support.postgres import PASSWORD, PostgresServer
from tests.support.processes import free_port
from tests.support.product import (
    Batch,
    Catalog,
    CatalogState,
    IndexLayout,
    NotehopError,
    Reader,
    ServerCatalog,
    WriterLock,
    read_holder,
    stamp_of,
    stores_postgres,
    write_catalog_state,
)
from tests.support.sample_index import FINGERPRINT, matrix_of, record

pytestmark = pytest.mark.services


@pytest.fixture
def place(postgres: PostgresServer) -> ServerCatalog:
    return ServerCatalog(postgres.new_database(), "notes")


@pytest.fixture
def layout(place: ServerCatalog, tmp_path: Path) -> IndexLayout:
    made = IndexLayout(tmp_path / "index", place)
    made.create(tmp_path / "vault")
    return made


def batch_of(*texts: str) -> Batch:
    """Notes of a line each, named by it, with their vectors."""
    notes = tuple(record(f"{text}.md", text) for text in texts)
    ids = [chunk.id for note in notes for chunk in note.chunks]
    vectors = {"chunks": (ids, matrix_of(texts))}
    return Batch(upsert=notes, meta={"fingerprint": dict(FINGERPRINT)}, vectors=vectors)


@pytest.fixture
def catalog(place: ServerCatalog) -> Iterator[Catalog]:
    with Catalog.open(place, create=True) as made:
        made.commit(batch_of("tide", "wall"))
        yield made


def texts_of(catalog: Catalog) -> list[str]:
    return [chunk.text for note in catalog.notes() for chunk in catalog.chunks_of(note.path)]


Cut = Callable[[psycopg.Connection[object], Callable[[], None]], None]


def after_it(_: psycopg.Connection[object], commit: Callable[[], None]) -> None:
    commit()


def before_it(connection: psycopg.Connection[object], _: Callable[[], None]) -> None:
    connection.close()


@pytest.mark.parametrize("cut", [after_it, before_it])
def test_a_commit_whose_answer_is_lost_is_done_once(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch, cut: Cut
) -> None:
    commit, lost = psycopg.Connection.commit, []

    def once(self: psycopg.Connection[object]) -> None:
        writes = self.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
        if lost or not writes or not self.execute("SELECT txid_current_if_assigned()").fetchone()[0]:  # type: ignore[index]
            commit(self)
            return
        lost.append(self)
        cut(self, lambda: commit(self))
        self.close()
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(psycopg.Connection, "commit", once)
    assert catalog.commit(batch_of("log")) == 2
    assert lost
    assert catalog.generation == 2
    assert texts_of(catalog) == ["log", "tide", "wall"]
    assert catalog.commit(batch_of("sluice")) == 3


def test_one_machine_writes_at_a_time(layout: IndexLayout, tmp_path: Path) -> None:
    elsewhere = IndexLayout(tmp_path / "other machine", layout.database)
    with WriterLock(layout, "notehop index"):
        assert WriterLock(layout, "again").held is False
        with pytest.raises(NotehopError, match=r"notehop index \(process \d+ on .*\) is writing"):
            WriterLock(elsewhere, "notehop index").acquire()
        told = read_holder(elsewhere)
        assert told is not None
        assert told.command == "notehop index"
        with Catalog.open(layout.catalog, create=True) as catalog:
            assert catalog.commit(batch_of("tide")) == 1
    assert read_holder(elsewhere) is None
    with WriterLock(elsewhere, "notehop index"):
        pass


def kill_sessions(server: PostgresServer, place: ServerCatalog) -> None:
    name = place.url.split("/")[3].split("?")[0]
    server.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")


def test_a_lock_that_was_lost_is_taken_again_where_nobody_wrote(
    postgres: PostgresServer, layout: IndexLayout
) -> None:
    assert layout.database is not None
    with WriterLock(layout, "notehop index"), Catalog.open(layout.catalog, create=True) as catalog:
        catalog.commit(batch_of("tide"))
        kill_sessions(postgres, layout.database)
        assert catalog.commit(batch_of("wall")) == 2
        assert texts_of(catalog) == ["tide", "wall"]


def test_nothing_is_written_on_what_another_machine_wrote_meanwhile(
    postgres: PostgresServer, layout: IndexLayout, tmp_path: Path
) -> None:
    assert layout.database is not None
    with WriterLock(layout, "notehop index"), Catalog.open(layout.catalog, create=True) as catalog:
        catalog.commit(batch_of("tide"))
        kill_sessions(postgres, layout.database)
        write_elsewhere(layout.database, tmp_path)
        with pytest.raises(NotehopError, match="another process wrote this index"):
            catalog.commit(batch_of("wall"))
        assert texts_of(catalog) == ["sluice", "tide"]


def write_elsewhere(place: ServerCatalog, folder: Path) -> None:
    # Another spelling of the address: another session than that of the lock in this process.
    same = ServerCatalog(f"{place.url}&application_name=other", place.schema)
    with WriterLock(IndexLayout(folder / "other machine", same), "elsewhere"), Catalog.open(same) as catalog:
        catalog.commit(batch_of("sluice"))


def test_a_question_that_is_answered_needs_no_connection_to_end(
    postgres: PostgresServer, layout: IndexLayout, catalog: Catalog
) -> None:
    assert catalog.generation
    with Reader(layout) as reader:
        with reader.snapshot():
            assert layout.database is not None
            kill_sessions(postgres, layout.database)
        with reader.snapshot() as view:
            assert view.paths() == ["tide.md", "wall.md"]


def test_a_snapshot_whose_connection_goes_at_once_has_another(
    postgres: PostgresServer, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, connect = catalog.database, catalog.database.connect
    lost: list[object] = []

    def once() -> object:
        connection = connect()
        if not lost:
            lost.append(connection)
            kill_sessions(postgres, database.server)
        return connection

    monkeypatch.setattr(database, "connect", once)
    with closing(catalog.snapshot()) as view:
        assert view.generation == 1
    assert lost


def test_readers_go_on_over_restarts(postgres: PostgresServer, layout: IndexLayout) -> None:
    seen: dict[int, set[tuple[str, ...]]] = {}
    failed: list[BaseException] = []
    ended = threading.Event()

    def look(reader: Reader) -> None:
        while not ended.is_set():
            try:
                with reader.snapshot() as view:
                    chunks = [chunk for path in view.paths() for chunk in view.chunks_of(path)]
                    time.sleep(0.01)
                    fresh = view.catalog.chunks([chunk.id for chunk in chunks])
                    assert [*fresh.values()] == chunks
                    told = tuple(chunk.text for chunk in chunks)
                    seen.setdefault(view.generation, set()).add(told)
            except NotehopError as exc:
                # A question that a commit came between, and no other one.
                if "went on meanwhile" not in str(exc):
                    failed.append(exc)
            except BaseException as exc:  # noqa: BLE001 (told below)
                failed.append(exc)
                return

    with Catalog.open(layout.catalog, create=True) as catalog:
        catalog.commit(batch_of("tide"))
        with Reader(layout) as reader:
            threads = [threading.Thread(target=look, args=(reader,)) for _ in range(3)]
            for thread in threads:
                thread.start()
            try:
                for number in range(3):
                    postgres.restart(signal.SIGINT if number % 2 else signal.SIGKILL)
                    catalog.commit(batch_of(f"log {number}"))
                    time.sleep(0.5)
            finally:
                ended.set()
                for thread in threads:
                    thread.join()
            assert reader.snapshot().generation == 4
    assert failed == []
    assert max(seen) == 4
    assert all(len(told) == 1 for told in seen.values()), seen


def test_who_waits_for_a_server_that_is_away_waits_for_it_alone(
    postgres: PostgresServer, layout: IndexLayout, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores_postgres, "PATIENCE", 2.0)
    took: list[float] = []

    def look(reader: Reader) -> None:
        started = time.monotonic()
        with pytest.raises(NotehopError, match="try again"):
            reader.snapshot()
        took.append(time.monotonic() - started)

    assert catalog.generation
    with Reader(layout) as reader:
        postgres.stop()
        try:
            threads = [threading.Thread(target=look, args=(reader,)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            postgres.start()
        assert len(took) == 4
        assert max(took) < 2 * 2.0 + 1.0
        assert reader.snapshot().paths() == ["tide.md", "wall.md"]


def test_a_server_that_lost_generations(layout: IndexLayout, catalog: Catalog) -> None:
    with catalog.snapshot() as view:
        late = CatalogState(view.generation + 2, view.stamp, {})
    catalog.renew_if_older(CatalogState(1, late.stamp, {}))
    assert stamp_of(catalog.meta()) == late.stamp
    write_catalog_state(layout, late.generation, late.stamp)
    catalog.renew_if_older(late)
    with Reader(layout) as reader, reader.snapshot() as view:
        assert view.generation == 1
        assert view.catalog.stamp != late.stamp
    assert catalog.commit(batch_of("log")) == 2


def test_what_the_server_refuses_is_told_in_one_message(
    postgres: PostgresServer, place: ServerCatalog, catalog: Catalog
) -> None:
    name = place.url.split("/")[3].split("?")[0]
    [[schema]] = postgres.sql("SELECT schema FROM notes.catalogs", name)
    postgres.sql(
        "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$",
        name,
    )
    postgres.sql(f"CREATE TRIGGER t BEFORE INSERT ON {schema}.links EXECUTE FUNCTION full_disk()", name)
    linked = record("Plan.md", "alpha", to=["tide"])
    with pytest.raises(NotehopError, match=r"could not extend file.*as it was before. Free space"):
        catalog.commit(Batch(upsert=(linked,)))
    assert catalog.generation == 1
    assert texts_of(catalog) == ["tide", "wall"]


def test_a_server_that_is_not_there(place: ServerCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores_postgres, "PATIENCE", 0.3)
    nowhere = ServerCatalog("postgresql+psycopg://notehop@127.0.0.1:9/none", "notes")
    with pytest.raises(NotehopError, match=r"at 127\.0\.0\.1:9, database none") as told:
        Catalog.open(nowhere)
    assert "try again" in str(told.value)
    monkeypatch.setenv("PGPASSWORD", "wrong-secret")
    refused = ServerCatalog(place.url.partition("&passfile")[0], "notes")
    with pytest.raises(NotehopError, match="password") as told:
        Catalog.open(refused)
    assert "wrong-secret" not in repr(told.value)
    assert PASSWORD not in repr(told.value)


def test_another_machine_gets_nothing_until_its_host_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    server = PostgresServer("listen_addresses=127.0.0.1", port=free_port())
    try:
        here = server.new_database("hostaddr=127.0.0.1&host=db.example.org")
        # A name that leads to this machine is this machine.
        Catalog.open(ServerCatalog(here, "notes"), create=True).close()
        monkeypatch.setattr(stores_postgres, "is_loopback", lambda _: False)
        with pytest.raises(NotehopError, match=r'allow_hosts = \["db\.example\.org"\]'):
            Catalog.open(ServerCatalog(here, "notes"))
        Catalog.open(ServerCatalog(here, "notes", allowed=("DB.example.org",))).close()
    finally:
        server.close()


def test_a_server_that_hangs_up_on_long_transactions(
    postgres: PostgresServer, layout: IndexLayout, catalog: Catalog
) -> None:
    assert layout.database is not None
    name = layout.database.url.split("/")[3].split("?")[0]
    postgres.sql(f"ALTER DATABASE {name} SET idle_in_transaction_session_timeout = '200ms'")
    with Reader(layout) as reader, reader.snapshot() as view:
        time.sleep(0.5)
        assert len(view.chunks_of("tide.md")) == 1
    assert catalog.generation


def test_texts_that_a_database_takes_or_not(catalog: Catalog) -> None:
    assert catalog.notes_at(["a\0b.md", "half \ud800.md", "tide.md"]).keys() == {"tide.md"}
    # An index takes 2,704 bytes, and packs what repeats.
    name = "".join(random.Random(1).choices(string.ascii_letters, k=5_000))
    long = record("Long.md", "x", aliases=(name, "A\0B"), to=["tide"])
    link = replace(long.links[0], raw_target=name)
    catalog.commit(Batch(upsert=(replace(long, links=(link,)),)))
    assert catalog.notes_named(name) == ["Long.md"]
    assert catalog.links_named([name.lower()]) == catalog.links_from(["Long.md"])
