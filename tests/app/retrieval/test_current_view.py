"""What a query may show of its hits and their links, when files changed since they were indexed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from llama_index.core.schema import NodeWithScore

from notehop.app.retrieval.connected import ConnectedNotesPostprocessor
from notehop.app.retrieval.current_view import CurrentView
from notehop.app.retrieval.trace import TracedQuery
from tests.app.retrieval.fake_index import direction, ids, light
from tests.app.retrieval.shelf import Shelf

A, B, C, D = (f"{name}.md" for name in "ABCD")

REMEDY = "run: notehop index"


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """Four notes of two chunks each; A links to B, then to C, and D links to A."""
    shelf = Shelf(tmp_path / "vault")
    for path, linked in ((A, "[[B]] and\n\n- [[C]]"), (B, "x"), (C, "x"), (D, "[[A]]")):
        first = f"{path} begins here, with {linked}."
        shelf.indexed(path, f"{first}\n\n## Second\n{path} goes on for a while.\n")
    return shelf


def hits(*notes: str) -> list[NodeWithScore]:
    """Both chunks of each note."""
    return light(*(f"{note}:{at}" for note in notes for at in (0, 1)))


def edit(shelf: Shelf, path: str, old: str, new: str) -> None:
    text = (shelf.vault / path).read_text()
    assert old in text
    shelf.write(path, text.replace(old, new))


def standing(view: CurrentView, found: list[NodeWithScore], **options: Any) -> list[str]:
    return ids(view.standing(found, **{"shown": 8, "places": 8, "most": 32, **options}))


def warning(view: CurrentView) -> str | None:
    return view.warning(lambda: REMEDY)


def test_nothing_changed(shelf: Shelf) -> None:
    view = shelf.view()
    found = hits(B, A, D)
    assert view.standing(found, shown=8, places=8, most=32) == found
    assert warning(view) is None


def test_what_changed_gives_way_to_the_next(shelf: Shelf) -> None:
    edit(shelf, A, "goes on", "stops")
    (shelf.vault / B).unlink()
    view = shelf.view()
    assert standing(view, hits(A, B, C)) == ["A.md:0", "C.md:0", "C.md:1"]
    assert warning(view) == (
        "left out, changed and not indexed again yet: 3 passages of A.md and B.md; "
        "run: notehop index"
    )


def test_only_what_would_have_been_shown_counts(shelf: Shelf) -> None:
    (shelf.vault / C).unlink()
    view = shelf.view()
    assert len(standing(view, hits(A, B, C), shown=4)) == 4
    assert warning(view) is None
    assert len(standing(view, hits(A, B, C), shown=5)) == 4
    assert warning(view) is not None


def test_no_more_files_are_looked_at_than_matter(shelf: Shelf) -> None:
    (shelf.vault / C).unlink()
    view = shelf.view()
    assert standing(view, hits(A, B, C), most=3) == ["A.md:0", "A.md:1", "B.md:0"]
    assert warning(view) is None


def test_for_hits_to_spare_no_changed_note_is_read(shelf: Shelf) -> None:
    for path in (B, C):
        edit(shelf, path, "goes on", "stops")
    assert standing(shelf.view(), hits(A, B, C), places=3) == ["A.md:0", "A.md:1", "B.md:0"]
    assert standing(shelf.view(), hits(A, B, C, D), places=2) == [
        "A.md:0",
        "A.md:1",
        "D.md:0",
        "D.md:1",
    ]


def test_a_note_is_found_by_the_next_of_its_passages_that_stands(shelf: Shelf) -> None:
    edit(shelf, A, "begins", "began")
    view = shelf.view()
    assert standing(view, hits(A, B), each_note=True) == ["A.md:1", "B.md:0"]


def test_a_hit_that_the_index_does_not_know_is_left_to_later_stages(shelf: Shelf) -> None:
    assert standing(shelf.view(), light("gone:0", "A.md:0")) == ["gone:0", "A.md:0"]
    assert standing(shelf.view(), light("gone:0", "A.md:0"), each_note=True) == ["A.md:0"]


def test_a_warning_names_three_notes_and_none_that_is_private(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "vault")
    names = ["1.md", "2\n.md", "3.md", "4.md", "5.md"]
    for name in names:
        shelf.indexed(name, f"This is {name}.\n")
    shelf.write("1.md", "---\nprivate: true\n---\nThis is 1.md.\n")
    shelf.write("Kept.md", "The vault is not empty.\n")
    view = shelf.view()
    assert standing(view, light("1.md:0")) == []
    assert (warning(view) or "").endswith(": 1 passage of 1 note; run: notehop index")
    for name in names[1:]:
        (shelf.vault / name).unlink()
    view = shelf.view()
    standing(view, light(*(f"{name}:0" for name in names)))
    assert (warning(view) or "").endswith(
        ": 5 passages of 2␊.md, 3.md, 4.md and 2 more notes; run: notehop index"
    )


def connected(shelf: Shelf, *sources: str, **options: Any) -> list[NodeWithScore]:
    view = shelf.view()
    stage = ConnectedNotesPostprocessor(
        view=view, **{"top_k": len(sources), "order": "rank", "fill": False, **options}
    )
    query = TracedQuery("0", embedding=direction(0))
    found = stage.postprocess_nodes(light(*sources), query)
    return [hit for hit in found if hit.node.metadata["role"] == "connected"]


def told(found: list[NodeWithScore]) -> list[tuple[str, int]]:
    return [(hit.node.node_id, hit.node.metadata["linked_from"]["line"]) for hit in found]


def test_connected_notes_of_an_unchanged_vault(shelf: Shelf) -> None:
    assert told(connected(shelf, "A.md:0")) == [("B.md:0", 1), ("C.md:0", 3)]
    both = connected(shelf, "A.md:0", direction="both")
    assert told(both) == [("B.md:0", 1), ("C.md:0", 3), ("D.md:0", 1)]


@pytest.mark.parametrize("order", ["rank", "context"])
def test_a_target_that_changed_gives_its_place_to_the_next(shelf: Shelf, order: str) -> None:
    edit(shelf, B, "begins", "began")
    found = connected(shelf, "A.md:0", max_connected=1, order=order)
    assert told(found) == [("C.md:0", 3)]
    assert found[0].node.metadata["label"] == "C1"


def test_a_target_that_is_gone_or_private(shelf: Shelf) -> None:
    (shelf.vault / B).unlink()
    shelf.write(C, "---\nprivate: true\n---\n" + (shelf.vault / C).read_text())
    assert connected(shelf, "A.md:0") == []


def test_a_link_that_was_taken_away_connects_nothing(shelf: Shelf) -> None:
    edit(shelf, A, "[[B]]", "B")
    assert told(connected(shelf, "A.md:1")) == [("C.md:0", 3)]
    edit(shelf, D, "[[A]]", "A")
    assert connected(shelf, "A.md:1", direction="backward") == []


def test_lines_and_titles_are_those_of_now(shelf: Shelf) -> None:
    for path in (A, D):
        shelf.write(path, f"---\ntitle: New {path}\n---\n" + (shelf.vault / path).read_text())
    found = connected(shelf, "A.md:0", direction="both")
    assert told(found) == [("B.md:0", 4), ("C.md:0", 6), ("D.md:0", 4)]
    said = [hit.node.metadata["reason"] for hit in found]
    assert said[0].startswith('linked from source 1, "New A.md" (line 4)')
    assert found[2].node.metadata["title"] == "New D.md"
    assert found[2].node.metadata["linked_from"]["title"] == "New D.md"
    assert found[2].node.metadata["first_line"] == 4


def test_a_hub_whose_targets_are_all_gone_costs_a_bounded_number_of_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = Shelf(tmp_path / "vault")
    names = [f"n{number}" for number in range(100)]
    shelf.indexed("Hub.md", "\n".join(f"- [[{name}]]" for name in names) + "\n")
    for name in names:
        shelf.indexed(f"{name}.md", "Some text.\n")
        (shelf.vault / f"{name}.md").unlink()
    looked: list[str] = []
    view = shelf.view()
    look = view._files._looked
    monkeypatch.setattr(view._files, "_looked", lambda row: looked.append(row.path) or look(row))
    stage = ConnectedNotesPostprocessor(view=view, top_k=1, order="rank")
    assert len(stage.postprocess_nodes(light("Hub.md:0"))) == 1
    assert 3 < len(looked) < 40
