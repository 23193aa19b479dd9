"""What lies around notes: by the shortest way, with all links that lead there."""

from __future__ import annotations

from notehop.app.container.around import around, leads, way
from tests.app.retrieval.fake_index import FakeIndex


def index() -> FakeIndex:
    view = FakeIndex()
    for path in ("A.md", "B.md", "C.md", "D.md"):
        view.add(path, 0, 10)
    view.link("A.md", "B.md", 5, to=1, fragment="Part 1").link("A.md", "B.md", 6)
    view.link("B.md", "C.md", 5).link("C.md", "B.md", 5, chunk=1).link("D.md", "A.md", 5, chunk=1)
    return view


def found(view: FakeIndex, *seeds: str, **options: object) -> list[tuple[str, int, int]]:
    wanted = {"depth": 1, "direction": "both", **options}
    return [
        (one.path, one.depth, len(one.steps))
        for one in around(view, seeds, **wanted)  # type: ignore[arg-type]
    ]


def test_one_link_away() -> None:
    assert found(index(), "A.md") == [("B.md", 1, 2), ("D.md", 1, 1)]


def test_along_the_links_or_against_them() -> None:
    assert found(index(), "A.md", direction="forward") == [("B.md", 1, 2)]
    assert found(index(), "A.md", direction="backward") == [("D.md", 1, 1)]


def test_two_links_away() -> None:
    assert found(index(), "A.md", depth=2) == [("B.md", 1, 2), ("D.md", 1, 1), ("C.md", 2, 2)]
    assert found(index(), "D.md", depth=2, direction="forward") == [("A.md", 1, 1), ("B.md", 2, 2)]


def test_seeds_are_never_found() -> None:
    assert found(index(), "A.md", "B.md", "A.md") == [("C.md", 1, 2), ("D.md", 1, 1)]
    assert found(FakeIndex()) == []


def test_a_link_shows_what_it_names_and_a_backlink_what_holds_it() -> None:
    steps = {one.path: one.steps for one in around(index(), ["A.md"], depth=1, direction="both")}
    assert [step.shown for step in steps["B.md"]] == ["B.md:1", "B.md:0"]
    assert [step.shown for step in steps["D.md"]] == ["D.md:1"]
    assert [step.forward for step in steps["D.md"]] == [False]


def test_ways() -> None:
    steps = {one.path: one.steps for one in around(index(), ["B.md"], depth=1, direction="both")}
    assert {path: way(one) for path, one in steps.items()} == {"A.md": "backward", "C.md": "both"}


def test_what_leads_nowhere_is_no_way() -> None:
    view = FakeIndex().add("A.md", 0).add("B.md", 0)
    view.link("A.md", "B.md", 5, status="excluded").link("A.md", None, 5, status="unresolved")
    view.link("A.md", "map.png", 5).link("A.md", "A.md", 5)
    assert found(view, "A.md") == []
    assert [leads(view, link) for link in view.links_from(["A.md"])] == [None, None, None, "A.md"]


def test_a_property_shows_the_beginning_of_its_note() -> None:
    view = FakeIndex().add("A.md", 0, 10).add("B.md", 0, 10)
    view.link("B.md", "A.md", chunk=None)
    [one] = around(view, ["A.md"], depth=1, direction="both")
    assert [step.shown for step in one.steps] == ["B.md:0"]
