"""What the properties of a note mean."""

from __future__ import annotations

import pytest

from tests.indexing.vault.notes import note_of
from tests.support.product import parse_note


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("aliases: One", ("One",)),
        ("alias: One, Two ,, Three", ("One", "Two", "Three")),
        ("aliases: [One, 'Two, with comma', 3, null, '']", ("One", "Two, with comma", "3")),
        ("aliases:\n  - one\n  - ONE\nalias: two", ("one", "two")),
        ("Aliases:\n- A", ("A",)),
        ("aliases: {a: b}", ()),
        ("aliases: true", ()),
    ],
)
def test_aliases(yaml: str, expected: tuple[str, ...]) -> None:
    assert note_of(f"---\n{yaml}\n---\n").aliases == expected


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("type: meeting", "meeting"),
        ("page_type: note", "note"),
        ("Page-Type: note", "note"),
        ("pagetype: note", "note"),
        ("type: ['[[People|person]]', x]", "person"),
        ("type: '[[types/Person]]'", "Person"),
        ("type:", None),
        ("type: []", None),
        ("type: {a: b}", None),
    ],
)
def test_page_type(yaml: str, expected: str | None) -> None:
    assert note_of(f"---\n{yaml}\n---\n").page_type == expected


@pytest.mark.parametrize(
    ("path", "yaml", "title", "name"),
    [
        ("a/Note.md", "x: 1", "Note", "Note"),
        ("a/Note.md", "title: The title", "The title", "Note"),
        ("a/Note.md", "title: 1984", "1984", "Note"),
        ("a/Note.md", "title: ''", "Note", "Note"),
        ("a/Note.md", "title: [x]", "Note", "Note"),
        ("v1.5 plan.MD", "x: 1", "v1.5 plan", "v1.5 plan"),
    ],
)
def test_title_and_name(path: str, yaml: str, title: str, name: str) -> None:
    note = parse_note(path, f"---\n{yaml}\n---\n".encode())
    assert (note.title, note.name, note.path) == (title, name, path)


DAY = 1_706_659_200.0  # 2024-01-31T00:00:00Z


@pytest.mark.parametrize(
    ("yaml", "created", "modified"),
    [
        ("created: 2024-01-31", DAY, None),
        ("date: 2024/1/31", DAY, None),
        ("Date Created: 2024.01.31", DAY, None),
        ("creation date: 2024-01-31T10:30:00", DAY + 37_800, None),
        ("created: 2024-01-31 10:30", DAY + 37_800, None),
        ("created: '2024-01-31T10:30:00.5Z'", DAY + 37_800.5, None),
        ("created: 2024-01-31T12:30:00+02:00", DAY + 37_800, None),
        ("created: '[[daily/2024-01-31|today]]'", DAY, None),
        ("created: 20240131", DAY, None),
        ("created: 1706659200", DAY, None),
        ("created: 1706659200250", DAY + 0.25, None),
        ("created: '1706659200000'", DAY, None),
        ("updated: 2024-01-31", None, DAY),
        ("modified: 1706659200000", None, DAY),
        ("lastmod: 2024-01-31", None, DAY),
        ("created: nonsense\ndate: 2024-01-31", DAY, None),
        ("created: 2024-13-31", None, None),
        ("created: 2024-01-31T25:00", None, None),
        ("created: true", None, None),
        ("created: 17", None, None),
        ("created: 0001-01-01T00:00:00+10:00", None, None),
        ("created:", None, None),
    ],
)
def test_dates(yaml: str, created: float | None, modified: float | None) -> None:
    note = note_of(f"---\n{yaml}\n---\n")
    assert (note.created, note.modified) == (created, modified)


@pytest.mark.parametrize(
    ("text", "excluded"),
    [
        ("---\nprivate: true\n---\n", True),
        ("---\nPrivate: 'yes'\n---\n", True),
        ("---\nnotehop: false\n---\n", True),
        ("---\nprivate: true\nbroken: [\n---\n", True),
        ("---\nbroken: [\nnotehop: no\n---\n", True),
        ("---\nprivate: true\n\nfront matter that does not end\n", True),
        ("---\nprivate: false\nnotehop: true\n---\n", False),
        ("---\nprivate:\n---\n", False),
        ("---\nbroken: [\nprivate: false\n---\n", False),
        ("private: true\n", False),
        ("---\nx: 1\n---\nprivate: true\n", False),
    ],
)
def test_the_owner_keeps_a_note_out_even_if_its_front_matter_is_broken(
    text: str, excluded: bool
) -> None:
    note = note_of(text)
    assert (note.excluded is not None) == excluded
    if note.excluded:
        assert "front matter" in note.excluded
