"""Near misses: what a slip of the hand makes of a name, and what it does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from notehop.app.container.near import Name, NearNames, slack, spelling

NAMES = NearNames(
    Name(name, f"{name}.md", "name")
    for name in (
        "Hollin Reach",
        "Tide gate",
        "Tide gates",
        "2026-05-01",
        "UI",
        "Meeting 3",
        "Café Müller",
        "日記",
        "!!!",
    )
)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        pytest.param("Hollin Raech", [("Hollin Reach", 1)], id="swapped"),
        pytest.param("Holin Reach", [("Hollin Reach", 1)], id="missing"),
        pytest.param("Hollin Reeach", [("Hollin Reach", 1)], id="too many"),
        pytest.param("Hollon Reech", [("Hollin Reach", 2)], id="two wrong"),
        pytest.param("hollin-reach", [("Hollin Reach", 0)], id="marks and case"),
        pytest.param("CAFÉ_MÜLLER", [("Café Müller", 0)], id="case beyond ASCII"),
        pytest.param("Cafe Muller", [("Café Müller", 2)], id="without accents"),
        pytest.param("Tide gatee", [("Tide gate", 1), ("Tide gates", 1)], id="nearest, then path"),
        pytest.param("Tide gates", [("Tide gates", 0), ("Tide gate", 1)], id="as written first"),
        pytest.param("2026-05-02", [], id="digits are no slip"),
        pytest.param("Meeting 4", [], id="a number is another note"),
        pytest.param("AI", [], id="too short to differ"),
        pytest.param("ui", [("UI", 0)], id="short and the same"),
        pytest.param("Something else", [], id="far"),
        pytest.param("", [], id="empty"),
        pytest.param("???", [], id="marks alone"),
    ],
)
def test_near_misses(asked: str, found: list[tuple[str, int]]) -> None:
    near = NAMES.near([asked])[asked]
    assert [(one.name.name, one.distance) for one in near] == found


def test_a_note_is_named_once_by_its_nearest_name() -> None:
    names = NearNames(
        [
            Name("Atlas project", "Atlas.md", "alias"),
            Name("Atlas projects", "Atlas.md", "title"),
            Name("Atlas project", "Other.md", "title"),
        ]
    )
    near = names.near(["Atlas projekt"])["Atlas projekt"]
    assert [(one.name.path, one.name.via, one.distance) for one in near] == [
        ("Atlas.md", "alias", 1),
        ("Other.md", "title", 1),
    ]


def test_no_more_than_asked_for() -> None:
    names = NearNames(Name(f"Tide gate{end}", f"{end}.md", "name") for end in "abcde")
    assert len(names.near(["Tide gate"], most=2)["Tide gate"]) == 2


def test_many_are_asked_for_at_once() -> None:
    asked = ["Hollin Raech", "ui", "UI", "nothing"]
    found = NAMES.near(asked)
    assert list(found) == asked
    assert [len(near) for near in found.values()] == [1, 1, 1, 0]


def test_no_names() -> None:
    assert NearNames([]).near(["anything"]) == {"anything": ()}


@given(st.lists(st.text("abc ", max_size=9), max_size=12), st.text("abc ", max_size=9))
def test_all_within_reach_are_found_and_no_others(names: list[str], asked: str) -> None:
    """Comparing by length first loses nothing."""
    near = NearNames(Name(one, one, "name") for one in names).near([asked], most=100)[asked]
    key = spelling(asked)
    expected = {
        one: distance
        for one in names
        if key
        and spelling(one)
        and (distance := OSA.distance(key, spelling(one))) <= slack(len(key))
    }
    assert {one.name.path: one.distance for one in near} == expected
