"""What is wrong with an index is found, and the command that the doctor names repairs it."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.notes import built, index, place_of
from tests.support.product import (
    INDEX,
    REBUILD,
    IndexCheck,
    IndexFailure,
    IndexLayout,
    LexicalIndex,
    Place,
    Reader,
    WriterLock,
    check_index,
    locate,
)

NOTES = {
    "Atlas.md": "The map project is planned in [[Plan]] and drawn in [[Tiles]].\n",
    "Plan.md": "The beta starts in May, see [[Atlas]].\n",
    "Tiles.md": "Tiles come first, then the search box.\n",
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return built(tmp_path, NOTES)


def told(found: IndexCheck) -> list[tuple[str, str, str]]:
    return [(one.part, one.problem, one.command) for one in found.findings]


def test_a_sound_index(place: Place) -> None:
    found = check_index(place)
    assert (found.exists, told(found), found.not_done) == (True, [], [])
    assert (found.generation, found.pending) == (1, 0)


def sql(statement: str) -> Callable[[Place], None]:
    def change(place: Place) -> None:
        with sqlite3.connect(place.layout.catalog) as connection:
            connection.execute(statement)
        connection.close()

    return change


def remove(*names: str) -> Callable[[Place], None]:
    def change(place: Place) -> None:
        for name in names:
            for path in sorted(place.layout.root.glob(name)):
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()

    return change


def cut(name: str) -> Callable[[Place], None]:
    def change(place: Place) -> None:
        [path] = place.layout.root.glob(name)
        path.write_bytes(path.read_bytes()[:-9])

    return change


def rot(name: str) -> Callable[[Place], None]:
    """Another byte at the end of a file, and nothing to see of it from outside."""

    def change(place: Place) -> None:
        [path] = place.layout.root.glob(name)
        data, status = bytearray(path.read_bytes()), path.stat()
        data[-5] ^= 0x7F
        path.write_bytes(data)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    return change


def touch(name: str) -> Callable[[Place], None]:
    def change(place: Place) -> None:
        (place.layout.root / name).touch()

    return change


def claim_more(place: Place) -> None:
    """What was written down of a catalog that is an older copy by now."""
    said = json.loads(place.layout.catalog_state.read_text())
    place.layout.catalog_state.write_text(json.dumps({**said, "generation": 5}))


def of_another_index(place: Place) -> None:
    LexicalIndex().save(place.layout.postings, 1, "another")


def begin_rebuild(place: Place) -> None:
    place.layout.beside().home.mkdir()


def keep_former(place: Place) -> None:
    home = place.layout.beside().home
    home.mkdir()
    for path in filter(Path.exists, place.layout.contents):
        path.rename(home / path.name)
    (place.layout.root / "lexical").mkdir()
    place.layout.current.write_text(home.name)


HARMS: dict[str, tuple[Callable[[Place], None], str, str, str, bool]] = {
    "another's words": (of_another_index, "lexical", "it is of another index", INDEX, True),
    "no lexical index": (remove("lexical"), "lexical", "cannot be read", INDEX, True),
    "words cut short": (cut("lexical/postings.npz"), "lexical", "cannot be read", INDEX, True),
    "lexical rot": (rot("lexical/postings.npz"), "lexical", "cannot be read", INDEX, True),
    "no query door": (remove("model"), "model", "the model for queries", INDEX, True),
    "door rotten": (rot("model/export.json"), "model", "the model for queries", INDEX, True),
    "mark of a run": (touch("purge"), "purge", "words of withdrawn notes", INDEX, False),
    "half a rebuild": (begin_rebuild, "rebuild", "a rebuild was cut off", INDEX, False),
    "half a removal": (keep_former, "rebuild", "a rebuild was cut off", INDEX, False),
    "half a run": (
        sql("UPDATE meta SET value='true' WHERE key='under_way'"),
        "catalog", "the last run was cut off", INDEX, True),
    "text changed": (
        sql("UPDATE chunks SET text='Something else'"),
        "catalog", "damaged", REBUILD, True),
    "table gone": (sql("DROP TABLE links"), "catalog", "no table links", REBUILD, True),
    "older catalog": (
        claim_more, "catalog", "generations 2 to 5 are lost", INDEX, True),
    "another format": (
        sql("UPDATE meta SET value='99' WHERE key='schema'"),
        "catalog", "update notehop, or", REBUILD, True),
    "no catalog": (remove("catalog.sqlite*"), "catalog", "no index yet", INDEX, True),
}  # fmt: skip
"""Harm: what is broken, what is said of it, the command that repairs it, whether answers suffer."""


@pytest.mark.parametrize(("harm", "part", "problem", "command", "broken"), HARMS.values(), ids=HARMS)
def test_every_harm_is_found_and_repaired_by_the_command_that_is_named(
    harm: Callable[[Place], None], part: str, problem: str, command: str, broken: bool, tmp_path: Path
) -> None:
    place = built(tmp_path, NOTES)
    harm(place)
    found = check_index(place)
    matching = [one for one in found.findings if one.part == part and problem in one.problem]
    assert matching, told(found)
    assert (matching[0].command, matching[0].broken) == (command, broken)
    commands = {one.command for one in found.findings}
    index(place, rebuild=REBUILD in commands)
    mended = check_index(place)
    assert (told(mended), mended.not_done) == ([], [])


def test_a_catalog_that_lacks_a_vector_is_not_searched(place: Place) -> None:
    sql("DELETE FROM vectors WHERE collection='chunks' AND id=(SELECT max(id) FROM vectors "
        "WHERE collection='chunks')")(place)  # fmt: skip
    with pytest.raises(IndexFailure, match=r"1 chunks have no vector.*run: notehop index --re"):
        Reader(place.layout)


def test_notes_in_a_language_that_the_index_was_not_made_for(tmp_path: Path) -> None:
    place = built(tmp_path, NOTES)
    for note in place.vault.rglob("*.md"):
        note.write_text("Der Kessel pfeift, sobald das Wasser kocht, und muss entkalkt werden.")
    words, *_ = check_index(place).findings
    assert (words.part, words.command, words.broken) == ("language", REBUILD, False)
    assert "most notes are in German" in words.problem


def test_settings_that_do_not_fit(place: Place) -> None:
    other = locate(place.vault, index_dir=place.layout.root, overrides={"chunking.max_tokens": 64})
    [(part, problem, command)] = told(check_index(other))
    assert (part, command) == ("catalog", REBUILD)
    assert "settings name max_tokens 64" in problem


def test_while_another_process_writes_only_the_catalog_is_looked_at(place: Place) -> None:
    remove("lexical")(place)
    with WriterLock(place.layout, "notehop index"):
        found = check_index(place)
    assert found.findings == []
    assert found.not_done[0].startswith("all but the catalog: ")
    assert "notehop index" in found.not_done[0]


def test_what_was_written_meanwhile_is_not_taken_for_harm(place: Place) -> None:
    class WrittenMeanwhile(IndexLayout):
        @property
        def postings(self) -> Path:  # type: ignore[override]
            (place.vault / "Plan.md").write_text("The beta starts in June.\n")
            index(place)
            return place.layout.postings

    found = check_index(replace(place, layout=WrittenMeanwhile(place.layout.root)))
    assert (told(found), found.generation) == ([], 1)
    assert found.not_done == ["the index was written meanwhile; look again"]


def test_an_index_without_its_marker_is_made_elsewhere(place: Place, tmp_path: Path) -> None:
    place.layout.marker.unlink()
    [(part, _, command)] = told(check_index(place))
    assert (part, command) == ("marker", "notehop index --index-dir NEW_FOLDER")
    other = locate(place.vault, index_dir=tmp_path / "new")
    index(other)
    assert told(check_index(other)) == []


def test_a_folder_that_is_no_index(tmp_path: Path) -> None:
    place = place_of(tmp_path, NOTES)
    place.layout.root.mkdir()
    (place.layout.root / "letter.txt").write_text("dear reader")
    assert not check_index(place).exists
    assert [path.name for path in place.layout.root.iterdir()] == ["letter.txt"]
