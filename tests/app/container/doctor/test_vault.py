"""What the doctor says of links, names and notes, read from the files alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.notes import place_of
from tests.support.product import DoctorReport, Kind, examine


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
    assert told.unresolved is not None
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


def test_a_private_note_is_no_near_miss(tmp_path: Path) -> None:
    told = report(
        tmp_path, {"A.md": "[[Secert]]\n", "Secret.md": "---\nprivate: true\n---\n[[Gone]]\n"}
    )
    assert told.unresolved is not None
    assert [(one.target, one.near) for one in told.unresolved] == [("Secert", [])]


def test_headings_and_blocks_that_are_not_there(tmp_path: Path) -> None:
    told = report(
        tmp_path,
        {
            "A.md": "[[B#Time line]]\n[[B#Timelnie]] [[B#Nothing like it]]\n[[B#^qoute]]\n",
            "B.md": "## Timeline\ntext ^quote\n\n[[#timelnie]]\n",
        },
    )
    assert told.fragments is not None
    assert [
        (one.path, one.fragment, one.count, [(near.name, near.via) for near in one.near])
        for one in told.fragments
    ] == [
        ("B.md", "Timelnie", 2, [("Timeline", "heading")]),
        ("B.md", "Nothing like it", 1, []),
        ("B.md", "Time line", 1, [("Timeline", "heading")]),
        ("B.md", "^qoute", 1, [("quote", "block")]),
    ]


def test_names_that_several_files_have(tmp_path: Path) -> None:
    told = report(
        tmp_path, {"A.md": "[[Plan]]\n", "x/Plan.md": "x\n", "y/Plan.md": "y\n", "z/B.md": "z\n"}
    )
    assert told.ambiguous is not None
    [found] = told.ambiguous
    assert (found.target, found.count, found.candidates) == ("Plan", 1, ["x/Plan.md", "y/Plan.md"])


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
    assert told.orphans == [
        "Alone.md",
        "Dreams.md",
        "Picture.md",
        "Self.md",
        "Talks to private.md",
    ]


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
    assert told.duplicates is not None
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
    assert told.conflicts is not None
    assert [one.path for one in told.conflicts] == copies


def test_conflict_copies_of_any_file(tmp_path: Path) -> None:
    told = report(
        tmp_path,
        {
            "A.md": "x",
            "A.sync-conflict-20260501-101500-ABCDEF7.md": "y",
            "map.sync-conflict-20260501-101500-ABCDEF7.png": "z",
        },
    )
    assert told.conflicts is not None
    assert [(one.path.partition(".")[0], one.of) for one in told.conflicts] == [
        ("A", "A.md"),
        ("map", None),
    ]


def test_notes_that_are_not_as_meant_and_notes_that_are_left_out(tmp_path: Path) -> None:
    place = place_of(
        tmp_path,
        {
            "Broken.md": "---\ntags: [a\n---\ntext\n",
            "Secret.md": "---\nprivate: true\n---\n",
            "Big.md": "word " * 100,
            "Templates/Daily.md": "{{date}}\n",
        },
        vault__exclude=["Templates"],
        vault__max_note_bytes=200,
    )
    (place.vault / "gone.md").symlink_to("nowhere")
    told = examine(place, [Kind.WARNINGS, Kind.LEFT_OUT])
    assert told.warnings is not None
    assert [said.partition(": ")[0] for said in told.warnings] == ["Broken.md:2"]
    assert told.skipped is not None
    assert [(one.path, one.reason.partition(" (")[0]) for one in told.skipped] == [
        ("Big.md", "0.0 MB, and notes above 0.0 MB are skipped"),
        ("Secret.md", "private: true in its front matter"),
        ("Templates/Daily.md", "excluded by the setting vault.exclude: Templates"),
    ]
    assert told.failed == []
    assert told.passed_over is not None
    assert [(one.path, one.reason) for one in told.passed_over] == [
        ("gone.md", "symbolic link that leads nowhere")
    ]
    assert told.orphans is None
    assert told.notes == 1


def test_a_vault_with_nothing_to_mend(tmp_path: Path) -> None:
    told = report(tmp_path, {"A.md": "[[B]]\n", "B.md": "text\n"})
    lists = told.model_dump(exclude={"index", "near_misses_for"})
    assert [name for name, value in lists.items() if isinstance(value, list) and value] == []
    assert not told.broken


def test_near_misses_are_looked_for_of_the_most_linked(tmp_path: Path) -> None:
    notes = {"A.md": "[[Tide gaet]]\n", "B.md": "[[Nowhere]] [[Nowhere]]\n", "Tide gate.md": ""}
    told = examine(place_of(tmp_path, notes), set(Kind) - {Kind.INDEX}, near_for=1)
    assert told.near_misses_for == 1
    assert told.unresolved is not None
    assert [(one.target, len(one.near)) for one in told.unresolved] == [
        ("Nowhere", 0),
        ("Tide gaet", 0),
    ]
