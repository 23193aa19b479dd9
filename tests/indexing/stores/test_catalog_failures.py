"""The catalog when things go wrong: the old generation stays, and the message says what to do."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy.exc import DBAPIError

from notehop.config.errors import (
    IndexDamaged,
    IndexFailure,
    IndexLocked,
    IndexMismatch,
    IndexMissing,
    IndexUnwritable,
    UsageError,
)
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.catalog_engine import translated
from notehop.indexing.stores.model import Batch
from tests.indexing.stores.index_samples import record


def many(first: int, count: int) -> Batch:
    notes = (record(f"{n:04}.md", f"text {n} " * 50, to=["a"]) for n in range(first, first + count))
    return Batch(upsert=tuple(notes))


def contents(catalog: Catalog) -> object:
    return catalog.generation, catalog.notes(), catalog.chunk_keys(), list(catalog.links())


@pytest.mark.parametrize(
    ("pragma", "error", "says"),
    [
        pytest.param(
            "PRAGMA max_page_count=60", IndexUnwritable, "disk is full.*as it was", id="full disk"
        ),
        pytest.param("PRAGMA query_only=ON", IndexUnwritable, "cannot be written", id="read-only"),
    ],
)
def test_a_write_that_fails_leaves_the_old_generation(
    catalog: Catalog, pragma: str, error: type[Exception], says: str
) -> None:
    catalog.commit(many(0, 5))
    before = contents(catalog)
    with catalog._engine.connect() as connection:
        connection.exec_driver_sql(pragma)
    with pytest.raises(error, match=says):
        catalog.commit(many(1, 300))
    assert contents(catalog) == before


def test_a_write_beyond_the_limit_of_the_system(tmp_path: Path) -> None:
    """The kernel refuses the write itself: no half of the batch is seen afterwards."""
    path = tmp_path / "catalog.sqlite"
    with Catalog.open(path, create=True) as catalog:
        catalog.commit(many(0, 3))
    script = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from notehop.config.errors import IndexUnwritable\n"
        "from notehop.indexing.stores.catalog import Catalog\n"
        "from tests.indexing.stores.test_catalog_failures import many\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "catalog = Catalog.open(Path(sys.argv[1]))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "try:\n"
        "    catalog.commit(many(10, 500))\n"
        "except IndexUnwritable as exc:\n"
        "    print(exc, catalog.generation)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
    )
    assert "as it was before" in done.stdout
    assert done.stdout.strip().endswith(" 1")
    with Catalog.open(path) as catalog:
        assert len(catalog.notes()) == 3


def test_another_writer_is_waited_for_and_then_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notehop.indexing.stores.catalog_engine.BUSY_SECONDS", 0.05)
    path = tmp_path / "catalog.sqlite"
    with Catalog.open(path, create=True) as catalog:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(IndexLocked, match="another process"):
            catalog.commit(many(0, 1))
        assert catalog.generation == 0
        other.execute("ROLLBACK")
        other.close()
        assert catalog.commit(many(0, 1)) == 1


def test_readers_go_on_while_another_writes(catalog: Catalog, tmp_path: Path) -> None:
    catalog.commit(many(0, 2))
    other = sqlite3.connect(tmp_path / "catalog.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    other.execute("DELETE FROM notes")
    assert len(catalog.notes()) == 2
    other.execute("ROLLBACK")
    other.close()


def test_no_file_is_no_index(tmp_path: Path) -> None:
    with pytest.raises(IndexMissing, match="notehop index"):
        Catalog.open(tmp_path / "none.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_a_file_whose_making_was_cut_off_is_no_index_and_can_be_made(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    path.touch()
    with pytest.raises(IndexMissing):
        Catalog.open(path, read_only=True)
    with Catalog.open(path, create=True) as catalog:
        assert catalog.generation == 0


def test_other_files_are_damaged_catalogs(tmp_path: Path) -> None:
    text = tmp_path / "text.sqlite"
    text.write_text("a diary, not a database\n" * 100)
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE songs (name TEXT)")
    connection.close()
    for path in (text, foreign):
        before = path.read_bytes()
        for create in (False, True):
            with pytest.raises(IndexDamaged, match="run: notehop index --rebuild"):
                Catalog.open(path, create=create)
        assert path.read_bytes()[100:] == before[100:]


@pytest.mark.parametrize("cut", ["pages", "half"])
def test_a_damaged_file_is_said_to_be_damaged(tmp_path: Path, cut: str) -> None:
    path = tmp_path / "catalog.sqlite"
    with Catalog.open(path, create=True) as catalog:
        catalog.commit(many(0, 200))
    data = bytearray(path.read_bytes())
    if cut == "half":
        del data[len(data) // 2 :]
    else:
        data[4096:] = random.Random(1).randbytes(len(data) - 4096)
    path.write_bytes(data)
    with (
        pytest.raises(IndexDamaged, match="run: notehop index --rebuild"),
        Catalog.open(path, read_only=True) as catalog,
    ):
        contents(catalog)


@pytest.mark.parametrize(
    ("harm", "read"),
    [
        pytest.param("UPDATE notes SET status='eaten'", Catalog.stamps, id="status"),
        pytest.param("UPDATE notes SET title='eaten'", Catalog.notes, id="title"),
        pytest.param(
            "UPDATE chunks SET text='eaten'", lambda c: c.chunks_of("0000.md"), id="text of a chunk"
        ),
        pytest.param(
            "UPDATE chunks SET last_line=99",
            lambda c: c.chunks_of("0000.md"),
            id="lines",
        ),
        pytest.param(
            "UPDATE chunks SET tokens=x'007b7d'", lambda c: c.chunks_of("0000.md"), id="tokens"
        ),
        pytest.param(
            "UPDATE links SET sentence='eaten'", lambda c: list(c.links()), id="sentence of a link"
        ),
    ],
)
def test_a_row_that_is_not_what_was_written_is_damage(
    catalog: Catalog, tmp_path: Path, harm: str, read: Callable[[Catalog], object]
) -> None:
    """A bad page is seen by the database only where its structure is bad."""
    catalog.commit(many(0, 1))
    read(catalog)
    with sqlite3.connect(tmp_path / "catalog.sqlite") as connection:
        connection.execute(harm)
    connection.close()
    for look in (read, Catalog.verify):
        with pytest.raises(IndexDamaged, match=r"cannot be read.*run: notehop index --rebuild"):
            look(catalog)


def test_a_note_that_is_touched_is_checked_first(catalog: Catalog, tmp_path: Path) -> None:
    catalog.commit(many(0, 1))
    with sqlite3.connect(tmp_path / "catalog.sqlite") as connection:
        connection.execute("UPDATE notes SET title='eaten'")
    connection.close()
    with pytest.raises(IndexDamaged, match="cannot be read"):
        catalog.commit(Batch(touch={"0000.md": (1, 1)}))


def test_a_sound_catalog_is_found_sound(catalog: Catalog) -> None:
    catalog.commit(many(0, 20))
    catalog.verify()


def test_another_format_must_be_rebuilt(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    Catalog.open(path, create=True).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value='99' WHERE key='schema'")
    connection.close()
    with pytest.raises(IndexMismatch, match=r"format 99.*format 2; run: notehop index --rebuild"):
        Catalog.open(path, create=True)


def test_a_folder_that_does_not_exist_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(IndexUnwritable, match="permissions"):
        Catalog.open(tmp_path / "no" / "catalog.sqlite", create=True)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        pytest.param("sqlite://", "needs a file", id="in memory"),
        pytest.param("//user:secret@host/db", "cannot be read", id="no URL"),
        pytest.param("nosuch://u:secret@h/db", "cannot open|can open", id="unknown kind"),
    ],
)
def test_urls_that_name_nothing(url: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        Catalog.open(url)
    assert "secret" not in str(caught.value)


def test_a_folder_that_cannot_be_written_is_read_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading makes no file there, not even the ones that SQLite keeps beside a database."""
    path = tmp_path / "catalog.sqlite"
    with Catalog.open(path, create=True) as catalog:
        catalog.commit(many(0, 2))
    assert [one.name for one in tmp_path.iterdir()] == ["catalog.sqlite"]
    monkeypatch.setattr(os, "access", lambda *_: False)
    with Catalog.open(path, read_only=True) as frozen:
        assert len(frozen.notes()) == 2
        assert [one.name for one in tmp_path.iterdir()] == ["catalog.sqlite"]
        with pytest.raises(IndexFailure):
            frozen.commit(many(5, 1))


READS_WITHOUT_ROOM = """\
import resource, sys
from pathlib import Path
from notehop.config.errors import IndexDamaged, IndexFailure
from notehop.indexing.stores.catalog import Catalog
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
try:
    with Catalog.open(Path(sys.argv[1]), read_only=True) as catalog:
        print(len(catalog.notes()))
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        with Catalog.open(Path(sys.argv[1])) as writer:
            from tests.indexing.stores.test_catalog_failures import many
            writer.commit(many(100, 3))
            print(len(catalog.notes()))
except IndexFailure as exc:
    print(type(exc).__name__, exc)
"""
"""Opens a catalog where no file can be made longer, not even the one SQLite needs for reading."""


def read_without_room(path: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", READS_WITHOUT_ROOM, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_a_full_disk_is_read_all_the_same(tmp_path: Path) -> None:
    """And once there is room again, what others write is seen."""
    path = tmp_path / "catalog.sqlite"
    with Catalog.open(path, create=True) as catalog:
        catalog.commit(many(0, 2))
    assert read_without_room(path) == ["2", "5"]


def test_a_full_disk_with_a_journal_is_not_called_damage(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    with Catalog.open(path, create=True) as catalog:
        catalog.commit(many(0, 2))
        copy = tmp_path / "copy"
        copy.mkdir()
        for name in ("catalog.sqlite", "catalog.sqlite-wal"):
            (copy / name).write_bytes((tmp_path / name).read_bytes())
    (said,) = read_without_room(copy / "catalog.sqlite")
    assert said.startswith("IndexFailure ")
    assert "full or failing; free space" in said
    with Catalog.open(copy / "catalog.sqlite", read_only=True) as catalog:
        assert len(catalog.notes()) == 2


@pytest.mark.parametrize("writing", [True, False], ids=["writing", "reading"])
@pytest.mark.parametrize(
    ("code", "is_damage"),
    [
        pytest.param(sqlite3.SQLITE_IOERR_READ, False, id="read"),
        pytest.param(sqlite3.SQLITE_IOERR_SHMSIZE, False, id="shm"),
        pytest.param(sqlite3.SQLITE_FULL, False, id="full"),
        pytest.param(sqlite3.SQLITE_CANTOPEN, False, id="cannot open"),
        pytest.param(sqlite3.SQLITE_CORRUPT_INDEX, True, id="corrupt"),
        pytest.param(sqlite3.SQLITE_NOTADB, True, id="no database"),
    ],
)
def test_what_is_called_damage(code: int, is_damage: bool, writing: bool) -> None:
    cause = sqlite3.OperationalError("says SQLite")
    cause.sqlite_errorcode = code
    with pytest.raises(IndexFailure) as caught, translated("label", writing=writing):
        raise DBAPIError("SELECT", {}, cause)
    assert isinstance(caught.value, IndexDamaged) is is_damage
    assert ("--rebuild" in str(caught.value)) is is_damage


def test_a_writer_killed_at_any_moment_leaves_whole_generations(tmp_path: Path) -> None:
    """Each generation n holds exactly the notes of batches 1 to n."""
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from notehop.indexing.stores.catalog import Catalog\n"
        "from tests.indexing.stores.test_catalog_failures import many\n"
        "catalog = Catalog.open(Path(sys.argv[1]), create=True)\n"
        "while True:\n"
        "    at = catalog.generation\n"
        "    print(catalog.commit(many(at * 20, 20)), flush=True)\n"
    )
    path = tmp_path / "catalog.sqlite"
    seen = 0
    for delay in (0.0, 0.007, 0.013):
        with subprocess.Popen(
            [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            seen = int(child.stdout.readline())
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(delay)
            child.send_signal(signal.SIGKILL)
        with Catalog.open(path) as catalog:
            generation = catalog.generation
            assert generation >= seen
            assert len(catalog.notes()) == 20 * generation
            assert len(catalog.chunk_keys()) == 20 * generation
            assert sum(1 for _ in catalog.links()) == 20 * generation
