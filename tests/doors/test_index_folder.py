"""The index folder on disk: who may read it, and what a harm to one of its files does."""

import os
import shutil
from pathlib import Path

import pytest

from notehop import index_vault, open_vault
from tests.support.commands import call, options
from tests.support.notes import write_notes
from tests.support.product import Indexer, IndexLayout, Reader, load_settings
from tests.support.real_index import real_index

pytestmark = pytest.mark.model

NOTES = {
    "Atlas.md": "# Atlas\nAtlas is the map project. It is planned in [[Plan]].\n",
    "Plan.md": "# Plan\nThe beta of Atlas starts on 2 May, after the map tiles are done.\n",
    "Bread.md": "# Sourdough\nFeed the starter every morning, bake it on Sunday.\n",
    "Tiles.md": "# Tiles\nThe map tiles are drawn by hand, as [[Atlas]] asks for.\n",
}
QUESTION = "who draws the tiles of the map?"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made")
    write_notes(root / "vault", NOTES)
    before = os.umask(0o022)
    try:
        real_index(root / "vault", root / "index")
    finally:
        os.umask(before)
    # Away from where the index knows it: a copy of the vault is then the vault, moved.
    (root / "vault").rename(root / "notes")
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    copy = shutil.copytree(made, tmp_path / "copy")
    (copy / "notes").rename(copy / "vault")
    return copy


def found(root: Path) -> list[tuple[str, float]]:
    with open_vault(root / "vault", index_dir=root / "index") as vault:
        return [(hit.path, hit.score) for hit in vault.search(QUESTION).hits]


def command(root: Path, *arguments: str) -> str:
    done = call(*arguments, *options(root / "vault", root / "index"))
    assert done.exit_code in (0, 1), done.output
    assert "unexpected" not in done.output
    return done.output


def is_open_to_others(folder: Path) -> bool:
    return bool(folder.stat().st_mode & 0o077)


def test_nobody_else_can_read_an_index(made: Path) -> None:
    assert (made / "index" / "catalog.sqlite").stat().st_mode & 0o777 == 0o600
    assert not is_open_to_others(made / "index")


@pytest.mark.parametrize("how", ["search", "index"])
def test_an_index_that_others_could_read_is_closed_to_them(root: Path, how: str) -> None:
    index = root / "index"
    index.chmod(0o755)
    command(root, *(["search", QUESTION] if how == "search" else ["index"]))
    assert not is_open_to_others(index)


WORDS = Path("index", "lexical", "postings.npz")


def test_a_file_of_words_cut_short_under_a_search_does_not_end_it(root: Path) -> None:
    with open_vault(root / "vault", index_dir=root / "index") as vault:
        before = vault.search(QUESTION).hits
        os.truncate(root / WORDS, 2000)
        assert vault.search(QUESTION).hits == before


def test_a_byte_flipped_in_a_file_of_words_changes_no_answer(root: Path) -> None:
    right = found(root)
    file = root / WORDS
    times = file.stat()
    data = bytearray(file.read_bytes())
    data[515] ^= 0x40
    file.write_bytes(data)
    # As a disk that forgets a bit: the time is what it was.
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert found(root) == right
    command(root, "index")
    assert command(root, "doctor").count("damaged") == 0
    assert found(root) == right


@pytest.mark.parametrize("arguments", [("search", QUESTION), ("status",), ("doctor",), ("index",)])
@pytest.mark.parametrize("word", ["map tiles are drawn", "Tiles.md", "Sourdough"])
def test_text_in_the_catalog_that_is_no_utf8_is_damage_with_a_remedy(
    root: Path, word: str, arguments: tuple[str, ...]
) -> None:
    file = root / "index" / "catalog.sqlite"
    data = file.read_bytes()
    assert word.encode() in data
    file.write_bytes(data.replace(word.encode(), b"\xff" + word.encode()[1:]))
    told = command(root, *arguments)
    if "damaged" in told:
        assert "notehop index --rebuild" in told
        assert "by hand" not in told, "an error may be logged, and quotes no note"


def test_words_of_a_note_made_private_leave_when_nobody_reads_them(root: Path) -> None:
    index, note = root / "index", root / "vault" / "Tiles.md"
    with Reader(IndexLayout(index)) as reader:
        query = reader.snapshot()
        note.write_text("---\nprivate: true\n---\n" + NOTES["Tiles.md"], "utf-8")
        index_vault(root / "vault", index_dir=index)
        assert set(holders(index, b"drawn by hand")) <= {"catalog.sqlite", "catalog.sqlite-wal"}
        assert "drawn by hand" in query.chunks_of("Tiles.md")[0].text
        # Their words are made anew once, not by each run while the query lasts.
        words = (index / "lexical" / "postings.npz").stat()
        (root / "vault" / "Bread.md").write_text("Feed it in the evening.\n", "utf-8")
        index_vault(root / "vault", index_dir=index)
        assert (index / "lexical" / "postings.npz").stat().st_mtime_ns == words.st_mtime_ns
        query.close()
        Indexer(root / "vault", load_settings(), IndexLayout(index)).tidy()
        assert holders(index, b"drawn by hand") == []
        assert not (index / "purge").exists()
        assert not (index / "journal").exists()


def test_queries_leave_what_a_killed_run_has_to_write_to_the_next_run(root: Path) -> None:
    index = root / "index"
    (index / "purge").touch()
    (index / "writer.lock").unlink()
    with Reader(IndexLayout(index)) as reader:
        reader.snapshot().close()
    assert not (index / "writer.lock").exists(), "a query took the lock"
    index_vault(root / "vault", index_dir=index)
    assert not (index / "purge").exists()


def test_a_run_removes_what_the_first_version_kept(root: Path) -> None:
    index = root / "index"
    before = set(index.rglob("*"))
    for name in ("last-run.json", "seal.json", "journal"):
        (index / name).touch()
    (index / "vectors").mkdir()
    (index / "vectors" / "links.json").touch()
    index_vault(root / "vault", index_dir=index)
    assert set(index.rglob("*")) == before


def holders(index: Path, words: bytes) -> list[str]:
    """The files of an index that hold these words."""
    files = [path for path in index.rglob("*") if path.is_file()]
    return sorted(str(path.relative_to(index)) for path in files if words in path.read_bytes())
