"""Links are listed straight from the files, the same for a note as for the whole vault."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.notes import write_notes
from tests.support.product import UsageError, demo_vault, list_links, locate


def test_the_whole_vault(vault: Path) -> None:
    found = list_links(locate(vault))
    assert [
        (f.source, f.link.line, f.link.raw, f.resolution.status.value, f.resolution.path)
        for f in found.links
    ] == [
        ("Atlas.md", 4, "[[Plan]]", "resolved", "Plan.md"),
        ("Atlas.md", 7, "[[people/Priya 1-1]]", "resolved", "people/Priya 1-1.md"),
        ("Bread.md", 2, "[[Secret]]", "excluded", "people/Secret.md"),
        ("Plan.md", 2, "[[Nowhere]]", "unresolved", None),
    ]
    assert found.problems == ()


def test_every_note_by_itself_is_listed_as_in_the_whole() -> None:
    place = locate(demo_vault())
    whole = list_links(place).links
    assert len(whole) > 100
    for note in sorted({one.source for one in whole}):
        alone = list_links(place, note).links
        assert alone == tuple(one for one in whole if one.source == note)


def test_fragments_and_aliases(tmp_path: Path) -> None:
    vault = write_notes(
        tmp_path / "v",
        {
            "A.md": "[[B#Two]] [[B#Nope]] [[Bee]] [[#^x]] here ^x\n",
            "B.md": "---\naliases: [Bee]\n---\n# One\ntext\n## Two\nmore\n",
        },
    )
    assert [
        (f.resolution.path, f.resolution.via, f.fragment_found, f.span and f.span.first_line)
        for f in list_links(locate(vault), "A").links
    ] == [
        ("B.md", "path", True, 6),
        ("B.md", "path", False, None),
        ("B.md", "alias", None, None),
        ("A.md", "self", True, 1),
    ]


def test_an_excluded_note_is_listed_when_it_is_named(tmp_path: Path) -> None:
    vault = write_notes(
        tmp_path / "v", {"A.md": "---\nprivate: true\n---\n[[B]]\n", "B.md": "[[A]]\n"}
    )
    place = locate(vault)
    assert [one.source for one in list_links(place).links] == ["B.md"]
    assert [one.resolution.path for one in list_links(place, "A").links] == ["B.md"]


def test_a_note_above_the_limit_is_left_out(tmp_path: Path) -> None:
    vault = write_notes(tmp_path / "v", {"Big.md": "[[A]]\n" * 100, "A.md": "[[Big]]\n"})
    found = list_links(locate(vault, overrides={"vault.max_note_bytes": 50}))
    assert [(f.source, f.resolution.status.value) for f in found.links] == [("A.md", "excluded")]


def test_what_cannot_be_read_is_named(vault: Path) -> None:
    (vault / "loop").symlink_to(vault)
    found = list_links(locate(vault))
    assert [path for path, _ in found.problems] == ["loop"]
    assert len(found.links) == 4


def test_no_such_note(vault: Path) -> None:
    with pytest.raises(UsageError, match="did you mean Atlas"):
        list_links(locate(vault), "Atlass.md")


def test_an_empty_vault(tmp_path: Path) -> None:
    assert list_links(locate(write_notes(tmp_path / "v", {}))).links == ()
