"""What is linked around notes is listed and drawn as it stands in the vault now."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import product
from tests.support.notes import built

NOTES = {
    "Hub.md": (
        "---\naliases: [Middle]\nsummary: Where all meets.\n---\n"
        "The hub leads to [[Plan#Later]] first, and it does so on purpose. See [[Secret]].\n\n"
        "# Second\nAnd again to [[Plan]], then to [[work/Budget]] for the money that it takes.\n"
    ),
    "Plan.md": (
        "---\ntags: [plan]\n---\n"
        "A plan says what comes first and what comes after it, one step after the other one.\n\n"
        "# Later\nLater comes what could not be done at once, for want of money or of daylight.\n"
    ),
    "work/Budget.md": "---\nrelated: '[[Hub]]'\n---\nMoney in the work budget goes to clay.\n",
    "home/Budget.md": "Money at home goes to bread.\n",
    "Far.md": "Far away there is a link to [[Plan]] in a sentence of its own.\n",
    "Secret.md": "---\nprivate: true\n---\nNobody reads this, not even from [[Hub]].\n",
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[product.VaultHandle]:
    place = built(tmp_path_factory.mktemp("browsed"), NOTES, chunking__min_tokens=1)
    for at, path in enumerate(sorted(NOTES)):
        os.utime(place.vault / path, ns=(10**18 + at * 10**9,) * 2)
    from tests.support.notes import index

    index(place)
    with product.open_place(place) as vault:
        yield vault


@pytest.fixture
def own(tmp_path: Path) -> Iterator[product.VaultHandle]:
    with product.open_place(built(tmp_path, NOTES, chunking__min_tokens=1)) as vault:
        yield vault


def browsed(vault: product.VaultHandle, *seeds: str, **options: Any) -> product.BrowseResult:
    return vault.browse(product.BrowseQuery(seeds=list(seeds), **options))


def paths(found: product.BrowseResult) -> list[str]:
    return [note.path for note in found.notes]


def test_a_note_is_shown_by_its_summary_and_its_links(opened: product.VaultHandle) -> None:
    plan = browsed(opened, "Hub", rank="edges").notes[0]
    assert plan.text.startswith("A plan says what comes first")
    assert (plan.folder, plan.lines) == ("", (4, 4))
    assert [(link.source, link.target, link.line, link.fragment) for link in plan.links] == [
        ("Hub.md", "Plan.md", 5, "Later"),
        ("Hub.md", "Plan.md", 8, None),
    ]
    assert plan.links[0].sentence.startswith("The hub leads to Plan > Later first")
    hub = browsed(opened, "work/Budget").notes[0]
    assert hub.text == "Where all meets."


def test_ranks(opened: product.VaultHandle) -> None:
    by_time = browsed(opened, "Plan", rank="recency")
    assert paths(by_time) == ["Hub.md", "Far.md"]
    assert [note.score for note in by_time.notes] == [note.modified for note in by_time.notes]
    by_rank = browsed(opened, "Plan")
    assert [note.score for note in by_rank.notes] == sorted(
        (note.score for note in by_rank.notes), reverse=True
    )
    assert browsed(opened, "Plan", rank="edges").notes[0].score == 2.0


def test_filters_choose_what_is_listed(opened: product.VaultHandle) -> None:
    assert paths(browsed(opened, "Hub", filters={"tag": ["plan"]})) == ["Plan.md"]
    assert paths(browsed(opened, "Hub", filters={"not": {"path": ["work"]}})) == ["Plan.md"]
    assert paths(browsed(opened, "Far", depth=2, filters={"not": {"tag": ["plan"]}})) == ["Hub.md"]
    assert paths(browsed(opened, "Hub", filters={"phrases": ["want of money"]})) == ["Plan.md"]
    nothing = browsed(opened, "Hub", filters={"tag": ["none"]})
    assert (nothing.notes, nothing.total) == ([], 0)
    assert nothing.warnings
    with pytest.raises(product.QueryError):
        browsed(opened, "Hub", filters={"after": "soon"})


def change(vault: product.VaultHandle, path: str, old: str, new: str) -> None:
    file = vault.place.vault / path
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_a_link_is_where_it_stands_now(own: product.VaultHandle) -> None:
    change(own, "Hub.md", "The hub leads", "One line.\n\nThe hub leads")
    assert [link.line for link in browsed(own, "Hub", rank="edges").notes[0].links] == [7, 10]


def test_a_link_that_is_gone_leads_nowhere(own: product.VaultHandle) -> None:
    change(own, "Far.md", "[[Plan]]", "nothing")
    found = browsed(own, "Far")
    assert (found.notes, found.total) == ([], 0)
    assert found.pending == 1


def test_a_text_that_is_gone_is_not_shown(own: product.VaultHandle) -> None:
    change(own, "Hub.md", "Where all meets.", "Changed in haste.")
    change(own, "Plan.md", "Later comes what could not be done", "Never comes what was not done")
    told = browsed(own, "work/Budget", "Plan", "Far").model_dump_json()
    assert "Where all meets" not in told
    hub = browsed(own, "Hub")
    assert "could not be done" not in hub.model_dump_json()


def test_a_note_that_changed_is_shown_by_what_still_stands(own: product.VaultHandle) -> None:
    change(own, "Plan.md", "A plan says what comes first", "A plan says what is first")
    [plan] = [one for one in browsed(own, "Hub").notes if one.path == "Plan.md"]
    assert plan.text.startswith("Later comes what could not be done")
    (own.place.vault / "Plan.md").write_text("Something else.\n")
    [plan] = [one for one in browsed(own, "Hub").notes if one.path == "Plan.md"]
    assert (plan.text, plan.lines) == ("", (1, 1))


def test_a_note_that_is_gone_is_not_shown(own: product.VaultHandle) -> None:
    (own.place.vault / "Plan.md").unlink()
    assert paths(browsed(own, "Hub")) == ["work/Budget.md"]
    with pytest.raises(product.NoteMissing, match="no note of this vault"):
        browsed(own, "Plan")


DRAWN = {
    "A.md": "To [[B]] and [[B]] and [[C]] and [[A]] and [[Secret]].",
    "B.md": "To [[D]].",
    "C.md": "To [[A]].",
    "D.md": "To nothing.",
    "sub/E.md": "Alone.",
    "Secret.md": "---\nprivate: true\n---\nTo [[A]].",
}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[product.VaultHandle]:
    with product.open_place(built(tmp_path_factory.mktemp("drawn"), DRAWN)) as vault:
        yield vault


def test_around_a_note(drawn: product.VaultHandle) -> None:
    view = drawn.picture(["a"])
    assert [one.path for one in view.nodes if one.seed] == ["A.md"]
    assert [(one.source, one.target, one.count) for one in view.edges] == [
        ("A.md", "B.md", 2),
        ("A.md", "C.md", 1),
        ("C.md", "A.md", 1),
    ]
    degrees = {one.path: one.degree for one in view.nodes}
    assert degrees == {"A.md": 4, "B.md": 3, "C.md": 2}
    assert (view.total, view.warnings) == (3, [])
    assert all(-1 <= at <= 1 for one in view.nodes for at in (one.x, one.y))


def test_the_best_of_all(drawn: product.VaultHandle) -> None:
    view = drawn.picture(most=2)
    assert len(view.nodes) == 2
    assert view.total == 5
    ranks = [one.pagerank for one in view.nodes]
    assert ranks == sorted(ranks, reverse=True)
    assert len(drawn.picture().nodes) == 5
