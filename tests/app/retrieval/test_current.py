"""A changed file is held against what the index has of it: what stands is found, the rest is not.

No test here depends on the clock: :class:`Shelf` sees to it that a changed file has another time.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notehop.app.demo import demo_vault
from notehop.app.retrieval import current
from notehop.app.retrieval.current import ChangedNote, CurrentFiles
from notehop.indexing.stores.model import ChunkRow
from notehop.indexing.vault.parse import parse_note
from tests.app.retrieval.shelf import Shelf, chunk_rows

BEFORE = (
    "---\naliases: [Nordlicht]\n---\n"
    "Aurora is the map project, and three people are on it.\n\n"
    "## Launch\nThe launch is on 14 June. See [[Plan]] for the rest of it.\n\n"
    "## Risks\nThe tiles may be late, and [[Sam|our Sam]] is away in May.\n"
)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "vault").indexed("Aurora.md", BEFORE)


def now(shelf: Shelf, text: str) -> list[ChunkRow | None]:
    """The chunks of Aurora.md after it was written anew."""
    shelf.write("Aurora.md", text)
    found = shelf.view().chunks(shelf.index.rows)
    return [found.get(chunk_id) for chunk_id in shelf.index.rows]


def lines(rows: list[ChunkRow | None]) -> list[tuple[int, int] | None]:
    return [None if row is None else (row.first_line, row.last_line) for row in rows]


def test_three_chunks(shelf: Shelf) -> None:
    assert lines(list(shelf.index.rows.values())) == [(4, 4), (6, 7), (9, 10)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(BEFORE, [(4, 4), (6, 7), (9, 10)], id="saved-again"),
        pytest.param(BEFORE.replace("14", "21"), [(4, 4), None, (9, 10)], id="a-section-edited"),
        pytest.param(
            BEFORE.replace("Aurora is", "One.\n\nTwo.\n\nAurora is"),
            [(8, 8), (10, 11), (13, 14)],
            id="lines-put-before",
        ),
        pytest.param(
            BEFORE.replace("---\nAurora", "---\n\n\nAurora").replace("\n", "\r\n"),
            [(6, 6), (8, 9), (11, 12)],
            id="other-line-ends",
        ),
        pytest.param(BEFORE.split("## Launch")[0], [(4, 4), None, None], id="sections-removed"),
        pytest.param("", [None, None, None], id="emptied"),
        pytest.param(
            BEFORE.replace("The launch", "%%\nThe launch").replace("of it.", "of it.\n%%"),
            [(4, 4), None, (9 + 2, 10 + 2)],
            id="put-into-a-comment",
        ),
        pytest.param(
            BEFORE.replace("[[Sam|our Sam]]", "our Sam"),
            [(4, 4), (6, 7), (9, 10)],
            id="unlinked-with-the-same-words",
        ),
        pytest.param(
            BEFORE.replace("---\nAurora", "private: true\n---\nAurora"),
            [None, None, None],
            id="made-private",
        ),
        pytest.param(
            BEFORE.replace("---\nAurora", "notehop: false\n---\nAurora"),
            [None, None, None],
            id="kept-out",
        ),
    ],
)
def test_what_stands_is_found_where_it_stands(
    shelf: Shelf, text: str, expected: list[tuple[int, int] | None]
) -> None:
    assert lines(now(shelf, text)) == expected


def test_the_headings_are_those_of_now(shelf: Shelf) -> None:
    _, launch, risks = now(shelf, BEFORE.replace("Aurora is", "# Work\nAurora is"))
    assert launch is not None
    assert risks is not None
    assert (launch.heading_path, risks.heading_path) == (("Work", "Launch"), ("Work", "Risks"))


def test_a_part_of_a_longer_word_is_not_the_text(shelf: Shelf) -> None:
    first, *_ = now(shelf, BEFORE.replace("Aurora is", "PreAurora is"))
    assert first is None


def test_of_two_places_the_one_under_the_same_headings_then_the_nearest() -> None:
    row = ChunkRow("x", "x.md", 0, ("B",), 4, 4, "Said.", "", {})
    text = "# A\nSaid.\n\n# B\nSaid.\nSaid.\n"
    found = ChangedNote(parse_note("x.md", text.encode())).chunk(row)
    assert found is not None
    assert (found.heading_path, found.first_line) == (("B",), 5)


def test_a_note_without_text_is_kept_by_its_name(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "vault").indexed("Idea.md", "")
    shelf.write("Idea.md", "Now it has text.\nTwo lines of it.\n")
    row = shelf.view().chunks(["Idea.md:0"])["Idea.md:0"]
    assert (row.text, row.first_line, row.last_line) == ("", 1, 2)


@pytest.mark.parametrize("size", [15, 60, 400])
def test_a_note_that_did_not_change_has_all_its_chunks_where_they_were(size: int) -> None:
    seen = 0
    for file in sorted(demo_vault().rglob("*.md")):
        note = parse_note(file.name, file.read_bytes())
        changed = ChangedNote(note)
        for row in chunk_rows(note, size):
            found = changed.chunk(row)
            assert found is not None, (file, row)
            # A comment at the end of a chunk shows nothing; its lines no longer count.
            assert found.last_line <= row.last_line
            assert (found.heading_path, found.first_line) == (row.heading_path, row.first_line)
            seen += 1
    assert seen > 60


PIECES = st.lists(
    st.sampled_from(
        ["One line.", "## Head", "", "- item [[Plan|p]]", "%% not shown", "%%", "```", "Two words"]
    ),
    max_size=12,
)


@given(PIECES, PIECES)
def test_nothing_is_said_to_stand_that_does_not(before: list[str], after: list[str]) -> None:
    note = parse_note("x.md", "\n".join(after).encode())
    plain = "".join(row.text + "\n" for row in chunk_rows(note, 1_000))
    for row in chunk_rows(parse_note("x.md", "\n".join(before).encode()), 6):
        found = ChangedNote(note).chunk(row)
        if found is not None and row.text:
            assert row.text in plain
            assert 1 <= found.first_line <= found.last_line <= max(len(after), 1)


def test_a_link_stands_with_its_sentence(shelf: Shelf) -> None:
    def links(text: str) -> list[tuple[str, int]]:
        shelf.write("Aurora.md", text)
        return [(one.raw, one.line) for one in shelf.view().links_from(["Aurora.md"])]

    assert links(BEFORE) == [("[[Plan]]", 7), ("[[Sam|our Sam]]", 10)]
    assert links(BEFORE.replace("14 June", "21 June")) == [
        ("[[Plan]]", 7),
        ("[[Sam|our Sam]]", 10),
    ]
    assert links(BEFORE.replace("See [[Plan]] for", "See\n[[Plan]] or")) == [
        ("[[Sam|our Sam]]", 11)
    ]
    assert links("x\n" * 3) == []


def test_a_property_link_stands(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "vault").indexed("A.md", '---\nup: "[[B]]"\n---\nText.\n')
    shelf.write("A.md", '---\ntags: [x]\nup: "[[B]]"\n---\nOther.\n')
    assert [link.line for link in shelf.view().links_from(["A.md"])] == [3]
    shelf.write("A.md", '---\ndown: "[[B]]"\n---\nOther.\n')
    assert shelf.view().links_from(["A.md"]) == []


def test_names_are_those_of_now(shelf: Shelf) -> None:
    shelf.write("Aurora.md", "---\ntitle: Atlas\naliases: [Karte]\n---\nText.\n")
    (note,) = shelf.view().notes_at(["Aurora.md", "None.md"]).values()
    assert (note.title, note.aliases) == ("Atlas", ("Karte",))


def test_a_file_that_looks_the_same_is_not_read(shelf: Shelf) -> None:
    file = shelf.vault / "Aurora.md"
    found = file.stat()
    file.write_bytes(b"x" * found.st_size)
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
    row = shelf.index.notes["Aurora.md"]
    assert CurrentFiles(shelf.vault, max_note_bytes=1_000).look(row).changed is None


@pytest.mark.parametrize("how", ["gone", "folder", "fifo", "too-large", "leads-out"])
def test_what_is_no_note_any_more(shelf: Shelf, tmp_path: Path, how: str) -> None:
    shelf.indexed("Other.md", "There is another note.\n")
    file = shelf.vault / "Aurora.md"
    file.unlink()
    if how == "folder":
        file.mkdir()
    elif how == "fifo":
        os.mkfifo(file)
    elif how == "too-large":
        file.write_text(BEFORE + "x" * 1_000)
    elif how == "leads-out":
        (tmp_path / "outside.md").write_text(BEFORE + "More.\n")
        file.symlink_to(tmp_path / "outside.md")
    view = shelf.view(max_note_bytes=len(BEFORE) + 100)
    assert view.chunks(shelf.index.rows).keys() == {"Other.md:0"}
    assert view.notes_at(["Aurora.md"]) == {}
    assert view.links_from(["Aurora.md"]) == []


def test_a_link_inside_the_vault_is_followed(shelf: Shelf) -> None:
    (shelf.vault / "Aurora.md").rename(shelf.vault / "Real.md")
    (shelf.vault / "Aurora.md").symlink_to(shelf.vault / "Real.md")
    (shelf.vault / "Real.md").write_text(BEFORE.replace("14 June", "1 July"))
    assert len(shelf.view().chunks(shelf.index.rows)) == 2


def test_a_note_that_was_only_touched_is_not_parsed(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(current, "MOST_READ", 0)
    os.utime(shelf.vault / "Aurora.md", ns=(1, 1))
    assert len(shelf.view().chunks(shelf.index.rows)) == 3
    shelf.write("Aurora.md", BEFORE + "More.\n")
    assert shelf.view().chunks(shelf.index.rows) == {}


def test_a_query_reads_so_many_notes_and_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = Shelf(tmp_path / "vault")
    for number in range(6):
        shelf.indexed(f"{number}.md", f"Note {number} says something.\n")
        shelf.write(f"{number}.md", f"Note {number} says something.\n\nMore.\n")
    monkeypatch.setattr(current, "MOST_READ", 4)
    assert len(shelf.view().chunks(shelf.index.rows)) == 4
    monkeypatch.setattr(current, "MOST_BYTES", 100)
    assert len(shelf.view().chunks(shelf.index.rows)) == 3


@pytest.mark.parametrize("how", ["gone", "empty", "file"])
def test_without_the_vault_the_index_is_all_there_is(shelf: Shelf, how: str) -> None:
    shelf.vault.rename(shelf.vault.with_name("away"))
    if how == "empty":
        shelf.vault.mkdir()
    elif how == "file":
        shelf.vault.write_text("")
    view = shelf.view()
    assert len(view.chunks(shelf.index.rows)) == 3
    assert len(view.links_from(["Aurora.md"])) == 2
    assert "the vault is not there" in (view.warning(str) or "")


def test_a_note_that_cannot_be_looked_at_is_taken_as_it_was(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str) -> os.stat_result:
        raise PermissionError(13, "denied", path)

    view = shelf.view()
    with monkeypatch.context() as patched:
        patched.setattr(current.os, "lstat", refuse)
        assert len(view.chunks(shelf.index.rows)) == 3
    assert view.warning(str) == "1 note could not be looked at and may have changed since"
