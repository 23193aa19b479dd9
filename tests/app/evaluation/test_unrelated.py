"""Unrelated links stand in random sentences, always the same, and change nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.product import (
    GoldenSet,
    Question,
    Target,
    linked_at_random,
    parse_note,
    with_unrelated_links,
)

NOTES = {
    "Atlas.md": "---\naliases: [A. B.]\n---\n# Atlas. A map\nIt began in [[Plan]]. It grew! Why?\n",
    "Plan.md": "One sentence without an end\n\n```\nCode. More code.\n```\n\n| a. | b. |\n",
    "Empty.md": "",
    **{f"deep/Note {n}.md": f"Note {n} says this. And that." for n in range(30)},
    "Odd #1.md": "A name that no link can hold.",
}


def new_links(path: str, count: int = 20, seed: int = 0) -> list[str]:
    note = parse_note(path, linked_at_random(NOTES, count, seed)[path].encode())
    return [link.target for link in note.links]


@pytest.mark.parametrize("path", ["Atlas.md", "Plan.md", "Empty.md", "deep/Note 3.md"])
def test_every_note_gets_so_many(path: str) -> None:
    there = 1 if path == "Atlas.md" else 0
    targets = new_links(path)
    assert len(targets) == 20 + there
    assert len(set(targets)) == len(targets)
    assert path.removesuffix(".md") not in targets
    assert not any("#" in target for target in targets)


def test_only_sentences_of_the_text_get_them() -> None:
    atlas = linked_at_random(NOTES, 20)["Atlas.md"]
    assert atlas.startswith("---\naliases: [A. B.]\n---\n# Atlas. A map\nIt began in [[Plan]]")
    assert atlas.endswith("?\n")
    plan = linked_at_random(NOTES, 20)["Plan.md"]
    assert "```\nCode. More code.\n```\n\n| a. | b. |\n" in plan
    assert plan.startswith("One sentence without an end (see [[")


def test_without_them_the_text_is_as_it_was() -> None:
    import re

    found = linked_at_random(NOTES, 7)
    assert {path: re.sub(r" \(see \[\[[^]]*\]\]\)", "", text) for path, text in found.items()} == {
        **NOTES
    }


def test_the_same_seed_gives_the_same_links() -> None:
    assert linked_at_random(NOTES, 5) == linked_at_random(NOTES, 5)
    assert linked_at_random(NOTES, 5) != linked_at_random(NOTES, 5, seed=1)
    other = {**NOTES, "Plan.md": "Other text."}
    assert (
        linked_at_random(other, 5)["deep/Note 3.md"] == linked_at_random(NOTES, 5)["deep/Note 3.md"]
    )


def test_few_notes_give_few_links() -> None:
    assert linked_at_random({"a.md": "A.", "b.md": "B."}, 20) == {
        "a.md": "A (see [[b]]).",
        "b.md": "B (see [[a]]).",
    }


def test_a_set_is_copied_once_and_keeps_its_questions(tmp_path: Path) -> None:
    vault = tmp_path / "set" / "vault"
    (vault / "deep").mkdir(parents=True)
    (vault / "a.md").write_text("A.")
    (vault / "deep" / "b.md").write_text("B.")
    asked = (Question("q", "What?", (Target("a.md"),)),)
    golden = GoldenSet("set", vault, asked)
    found = with_unrelated_links(golden, tmp_path, 1)
    assert (found.name, found.questions) == ("set+1-links", asked)
    assert (found.vault / "deep" / "b.md").read_text() == "B (see [[a]])."
    assert (vault / "a.md").read_text() == "A."
    (found.vault / "a.md").write_text("Mine.")
    assert (with_unrelated_links(golden, tmp_path, 1).vault / "a.md").read_text() == "Mine."
    assert with_unrelated_links(golden, tmp_path, 1, seed=2).name == "set+1-links-seed-2"
