"""What the doctor says of links, names and notes, read from the files alone."""

from pathlib import Path

import pytest

from tests.support.notes import place_of
from tests.support.product import DoctorReport, Kind, conflict_copies, examine
from tests.support.tables import rows


def report(folder: Path, notes: dict[str, str], **overrides: object) -> DoctorReport:
    return examine(place_of(folder, notes, **overrides), set(Kind) - {Kind.INDEX})


def test_names_that_lead_nowhere_with_what_they_may_mean(tmp_path: Path) -> None:
    told = report(
        tmp_path,
        {
            "A.md": "[[Tide gaet]] and [[Nowhere]] and ![[chart.pgn]] and [[old/Tide gate]]\n",
            "B.md": "[[nowhere]]\n[[Nowhere.md]] [[The Atlas project]]\n",
            "Tide gate.md": "---\naliases: [Sluice]\n---\n[[Sluise]]\n",
            "atlas.md": "---\ntitle: Atlas project\n---\n[[Atlas projects]]\n",
            "chart.png": "",
        },
    )
    assert [
        (one.target, one.count, [(near.path, near.via, near.distance) for near in one.near])
        for one in told.unresolved
    ] == [
        ("Atlas projects", 1, [("atlas.md", "title", 1)]),
        ("Sluise", 1, [("Tide gate.md", "alias", 1)]),
        ("Tide gaet", 1, [("Tide gate.md", "name", 1)]),
        ("chart.pgn", 1, [("chart.png", "name", 1)]),
        ("old/Tide gate", 1, [("Tide gate.md", "name", 0)]),
        ("Nowhere", 3, []),
        ("The Atlas project", 1, []),
    ]
    assert [(one.path, one.line) for one in told.unresolved[5].places] == [
        ("A.md", 1),
        ("B.md", 1),
        ("B.md", 2),
    ]
    assert told.near_misses_for == 7


def test_headings_and_blocks_that_are_not_there(tmp_path: Path) -> None:
    told = report(
        tmp_path,
        {
            "A.md": "[[B#Time line]]\n[[B#Timelnie]] [[B#Nothing like it]]\n[[B#^qoute]]\n",
            "B.md": "## Timeline\ntext ^quote\n\n[[#timelnie]]\n",
        },
    )
    assert [
        (one.path, one.fragment, one.count, [(near.name, near.via) for near in one.near])
        for one in told.fragments
    ] == [
        ("B.md", "Timelnie", 2, [("Timeline", "heading")]),
        ("B.md", "Nothing like it", 1, []),
        ("B.md", "Time line", 1, [("Timeline", "heading")]),
        ("B.md", "^qoute", 1, [("quote", "block")]),
    ]


def test_orphans(tmp_path: Path) -> None:
    told = report(
        tmp_path,
        {
            "A.md": "[[B]]\n",
            "B.md": "text\n",
            "Self.md": "[[Self]] [[#x]]\n",
            "Picture.md": "![[map.png]]\n",
            "Dreams.md": "[[Nowhere]]\n",
            "Talks to private.md": "[[Secret]]\n",
            "Secret.md": "---\nprivate: true\n---\n[[Alone]]\n",
            "Alone.md": "text\n",
            "map.png": "",
        },
    )
    assert told.orphans == ["Alone.md", "Dreams.md", "Picture.md", "Self.md", "Talks to private.md"]


def test_duplicates(tmp_path: Path) -> None:
    told = report(
        tmp_path,
        {
            "a/Plan.md": "one\n",
            "b/plan.md": "two\n",
            "c/Plan.md": "three\n",
            "d/Notes.md": "---\ntitle: Shared\naliases: [Tide, Plan]\n---\n",
            "e/Other.md": "---\ntitle: shared\naliases: [tide]\n---\n",
        },
    )
    assert [(one.kind, one.name, one.paths) for one in told.duplicates] == [
        ("name", "Plan", ["a/Plan.md", "b/plan.md", "c/Plan.md"]),
        ("title", "Shared", ["d/Notes.md", "e/Other.md"]),
        # d/Notes.md is never found under its alias: links go to the notes of that name.
        ("alias", "Plan", ["a/Plan.md", "b/plan.md", "c/Plan.md", "d/Notes.md"]),
        ("alias", "Tide", ["d/Notes.md", "e/Other.md"]),
    ]


LONG = "The tide gate was built in the year of the great flood, and nobody knows by whom. " * 5


@pytest.mark.parametrize(
    ("texts", "copies"),
    [
        pytest.param((LONG, LONG), ["Gate 2.md"], id="the same"),
        pytest.param((LONG, LONG + "Ida does.\n"), ["Gate 2.md"], id="nearly the same"),
        pytest.param(("A gate.\n", "A gate.\n"), ["Gate 2.md"], id="short and the same"),
        pytest.param(("# Meeting\nYes.\n", "# Meeting\nNo.\n"), [], id="short and alike"),
        pytest.param((LONG, LONG[::-1]), [], id="another text"),
        pytest.param(("", ""), [], id="both empty"),
    ],
)
def test_numbered_copies(tmp_path: Path, texts: tuple[str, str], copies: list[str]) -> None:
    told = report(tmp_path, {"Gate.md": texts[0], "Gate 2.md": texts[1]})
    assert [one.path for one in told.conflicts] == copies


@pytest.mark.parametrize(("copy", "of", "tool"), rows(__file__, "names_that_tools_give"))
def test_names_that_tools_give(copy: str, of: str, tool: str) -> None:
    [found] = conflict_copies([of, copy], lambda *_: False)
    assert (found.path, found.of, found.tool) == (copy, of, tool)


@pytest.mark.parametrize(("paths", "alike", "of"), rows(__file__, "what_counts_as_a_copy"))
def test_what_counts_as_a_copy(paths: list[str], alike: bool, of: list[str | None]) -> None:
    assert [one.of for one in conflict_copies(paths, lambda *_: alike)] == of
