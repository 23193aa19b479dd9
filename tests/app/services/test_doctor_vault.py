"""What the doctor says of links, names and notes, read from the files alone."""

from pathlib import Path

from tests.support.notes import place_of
from tests.support.product import DoctorReport, examine


def report(folder: Path, notes: dict[str, str], **overrides: object) -> DoctorReport:
    return examine(place_of(folder, notes, **overrides))


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
    assert [(one.target, one.count, one.meant) for one in told.unresolved] == [
        ("Atlas projects", 1, ["atlas.md"]),
        ("Sluise", 1, ["Tide gate.md"]),
        ("Tide gaet", 1, ["Tide gate.md"]),
        ("chart.pgn", 1, ["chart.png"]),
        ("old/Tide gate", 1, ["Tide gate.md"]),
        ("Nowhere", 3, []),
        ("The Atlas project", 1, []),
    ]
    assert told.unresolved[5].places == ["A.md:1", "B.md:1", "B.md:2"]


def test_headings_and_blocks_that_are_not_there(tmp_path: Path) -> None:
    told = report(
        tmp_path,
        {
            "A.md": "[[B#Time line]]\n[[B#Timelnie]] [[B#Nothing like it]]\n[[B#^qoute]]\n",
            "B.md": "## Timeline\ntext ^quote\n\n[[#timelnie]]\n",
        },
    )
    assert [(one.target, one.count, one.meant) for one in told.fragments] == [
        ("B.md#Timelnie", 2, ["Timeline"]),
        ("B.md#Nothing like it", 1, []),
        ("B.md#Time line", 1, ["Timeline"]),
        ("B.md#^qoute", 1, ["quote"]),
    ]


def test_headings_of_notes_whose_names_differ_in_case_alone_are_two(tmp_path: Path) -> None:
    told = report(tmp_path, {"x/Tide.md": "[[#Lost]]\n", "x/tide.md": "[[#lost]]\n"})
    assert [(one.target, one.count) for one in told.fragments] == [
        ("x/Tide.md#Lost", 1),
        ("x/tide.md#lost", 1),
    ]


def test_an_endless_name_is_near_to_none(tmp_path: Path) -> None:
    text = "x" * 60_000
    found = report(tmp_path, {"A.md": f"# {text}\n\n[[#{text}y]] [[#{'x' * 190}y]]\n# {'x' * 190}\n"})
    assert [row.meant for row in found.fragments or []] == [[], ["x" * 190]]


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
