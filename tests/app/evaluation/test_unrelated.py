"""Unrelated links stand in random sentences, always the same, and change nothing else."""

from __future__ import annotations

from pathlib import Path

from tests.support.product import (
    GoldenSet,
    Question,
    Target,
    linked_at_random,
    with_unrelated_links,
)

NOTES = {
    "Atlas.md": "---\naliases: [A. B.]\n---\n# Atlas. A map\nIt began in [[Plan]]. It grew! Why?\n",
    "Plan.md": "One sentence without an end\n\n```\nCode. More code.\n```\n\n| a. | b. |\n",
    "Empty.md": "",
    **{f"deep/Note {n}.md": f"Note {n} says this. And that." for n in range(30)},
    "Odd #1.md": "A name that no link can hold.",
}


def test_without_them_the_text_is_as_it_was() -> None:
    import re

    found = linked_at_random(NOTES, 7)
    assert {path: re.sub(r" \(see \[\[[^]]*\]\]\)", "", text) for path, text in found.items()} == {
        **NOTES
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
