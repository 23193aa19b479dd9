"""A note is read as it is now, or not at all."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.notes import built
from tests.support.product import NoteMissing, UsageError, VaultHandle, open_place
from tests.support.tables import rows

NOTES = {
    "Wall.md": (
        "---\naliases: [Sea wall]\ntags: [site]\ntype: project\ncreated: 2026-01-02\n---\n"
        "The wall is old. See [[Clay#Winter]] and [[Nowhere]].\n\n"
        "# Plan\nFirst %%not for you%% the<!-- nor this --> clay.\n\n"
        "## Steps\n- dig ^steps\n\n"
        "## See [[Clay|mud]]\nMud.\n\n"
        "# Risks\nRain. %%\nall of\nthis\n%%\nMore rain, says [[Secret]].\n"
    ),
    "Clay.md": "# Winter\nClay lies one winter on [[Wall]]. It waits.\n",
    "work/Log.md": "The wall held. `Wall` in code, [[Wall|the Wall]] linked. The sea  Wall, too.\n",
    "home/Log.md": "Wallpaper is no wall-paper. Nothing here of it: walls.\n",
    "Secret.md": "---\nprivate: true\n---\nThe wall is secret.\n",
    "Archive/Old.md": "The wall was new.\n",
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultHandle]:
    folder = tmp_path_factory.mktemp("read")
    with open_place(built(folder, NOTES, vault__exclude=["Archive/**"])) as vault:
        yield vault


@pytest.fixture
def own(tmp_path: Path) -> Iterator[VaultHandle]:
    with open_place(built(tmp_path, NOTES)) as vault:
        yield vault


def test_the_whole_note(opened: VaultHandle) -> None:
    note = opened.note("wall")
    assert (note.path, note.title, note.folder) == ("Wall.md", "Wall", "")
    assert (note.aliases, note.tags, note.page_type) == (["Sea wall"], ["site"], "project")
    assert (note.created, note.section, note.changed) == (1767312000.0, None, False)
    assert note.modified == (opened.place.vault / "Wall.md").stat().st_mtime_ns / 1e9
    assert [(one.level, one.heading, one.line) for one in note.outline] == [
        (1, "Plan", 9),
        (2, "Steps", 12),
        (2, "See mud", 15),
        (1, "Risks", 18),
    ]
    assert note.uri == "obsidian://open?vault=My%20vault&file=Wall.md"


def test_the_text_is_that_of_the_file_without_its_comments(opened: VaultHandle) -> None:
    note = opened.note("Wall")
    written = NOTES["Wall.md"].removesuffix("\n").split("\n")
    shown = note.text.split("\n")
    assert note.lines == (1, len(written)) == (1, len(shown))
    assert shown[9] == "First  the clay."
    assert shown[18:23] == ["Rain. ", "", "", "", "More rain, says [[Secret]]."]
    kept = [n for n in range(len(written)) if n not in (9, 18, 19, 20, 21)]
    assert [shown[n] for n in kept] == [written[n] for n in kept]


def test_links_both_ways_with_their_sentences(opened: VaultHandle) -> None:
    note = opened.note("Wall")
    assert [(link.line, link.raw, link.status, link.target) for link in note.links] == [
        (7, "[[Clay#Winter]]", "resolved", "Clay.md"),
        (7, "[[Nowhere]]", "unresolved", None),
        (15, "[[Clay|mud]]", "resolved", "Clay.md"),
        (23, "[[Secret]]", "excluded", None),
    ]
    assert note.links[0].sentence == "See Clay > Winter and Nowhere."
    assert note.links[0].fragment == "Winter"
    assert [(link.source, link.line, link.sentence) for link in note.backlinks] == [
        ("Clay.md", 2, "Clay lies one winter on Wall."),
        ("work/Log.md", 1, "Wall in code, the Wall linked."),
    ]


def test_mentions_without_a_link(opened: VaultHandle) -> None:
    note = opened.note("Wall")
    assert [(one.path, one.line, one.name, one.sentence) for one in note.unlinked_mentions] == [
        ("home/Log.md", 1, "wall", "Wallpaper is no wall-paper."),
        ("work/Log.md", 1, "wall", "The wall held."),
        ("work/Log.md", 1, "sea Wall", "The sea Wall, too."),
    ]
    assert note.mention_count == 3
    assert opened.note("Wall", mentions=False).unlinked_mentions == []


def test_of_a_long_sentence_the_words_around_a_mention_are_shown(tmp_path: Path) -> None:
    long = f"{'before it, ' * 60}the sea wall stands, {'after it, ' * 60}.\n"
    with open_place(built(tmp_path, {"Wall.md": NOTES["Wall.md"], "Long.md": long})) as vault:
        (found,) = vault.note("Wall").unlinked_mentions
    assert "the sea wall stands" in found.sentence
    assert (found.sentence[0], found.sentence[-1]) == ("…", "…")
    assert len(found.sentence) <= 300


@pytest.mark.parametrize(("section", "name", "lines"), rows(__file__, "a_section"))
def test_a_section(opened: VaultHandle, section: str, name: str, lines: list[int]) -> None:
    note = opened.note("Wall", section=section)
    assert (note.section, [*note.lines]) == (name, lines)
    first, last = lines
    assert note.text == "\n".join(opened.note("Wall").text.split("\n")[first - 1 : last])


def test_no_such_section_names_those_there_are(opened: VaultHandle) -> None:
    with pytest.raises(NoteMissing, match="no section Costs; its headings are Plan, Steps"):
        opened.note("Wall", section="Costs")
    with pytest.raises(NoteMissing, match="it has no headings"):
        opened.note("work/Log", section="Costs")


@pytest.mark.parametrize("said", ["Log", "Log.md"])
def test_several_notes_of_a_name(opened: VaultHandle, said: str) -> None:
    with pytest.raises(UsageError, match=rf"{said}: 2 notes: home/Log\.md, work/Log\.md"):
        opened.note(said)


def test_a_note_that_changed_is_read_as_it_is_now(own: VaultHandle) -> None:
    file = own.place.vault / "Wall.md"
    file.write_text(f"New first line.\n{NOTES['Clay.md']}See [[Clay#Winter]].\n")
    note = own.note("Wall")
    assert note.changed
    assert note.text.startswith("New first line.")
    assert [one.heading for one in note.outline] == ["Winter"]
    assert note.pending == 1
    assert not own.note("Clay").changed


def test_links_that_are_gone_are_not_told(own: VaultHandle) -> None:
    file = own.place.vault / "Clay.md"
    file.write_text("# Winter\nClay lies one winter. It waits.\n")
    assert [link.source for link in own.note("Wall").backlinks] == ["work/Log.md"]


def test_a_new_note_is_read_by_its_path(own: VaultHandle) -> None:
    (own.place.vault / "work" / "New.md").write_text("Just written.\n")
    note = own.note("work/New.md")
    assert (note.text, note.changed, note.links) == ("Just written.", True, [])
    assert own.note("work/New").path == "work/New.md"
    with pytest.raises(NoteMissing):
        own.note("New")


@pytest.mark.parametrize(
    "said", [".obsidian/app.md", ".hidden.md", "map.png", "link.md", "folder/outside.md", "Large.md"]
)
def test_what_is_no_note_of_the_vault_is_not_read(tmp_path: Path, said: str) -> None:
    with open_place(built(tmp_path, NOTES, vault__max_note_bytes=900)) as own:
        vault = own.place.vault
        (vault.parent / "outside.md").write_text("OUTSIDE")
        for path in (".obsidian/app.md", ".hidden.md", "map.png"):
            (vault / path).write_text("OUTSIDE")
        (vault / "Large.md").write_text("OUTSIDE " * 200)
        (vault / "link.md").symlink_to("../outside.md")
        (vault / "folder").symlink_to("..")
        with pytest.raises(NoteMissing) as raised:
            own.note(said)
    assert "OUTSIDE" not in str(raised.value)


@pytest.mark.skipif(os.name != "posix", reason="names are not case-sensitive elsewhere")
def test_a_path_is_spelled_as_on_disk(own: VaultHandle) -> None:
    (own.place.vault / "NEW.md").write_text("x")
    with pytest.raises(NoteMissing):
        own.note("work/new.md")


def test_a_tag_of_a_note_that_became_private_is_named_to_nobody(own: VaultHandle) -> None:
    assert "site" in str(own.search("tag:siet").warnings)
    (own.place.vault / "Wall.md").write_text("---\nprivate: true\ntags: [site]\n---\n")
    assert "site" not in str(own.search("tag:siet").warnings)
