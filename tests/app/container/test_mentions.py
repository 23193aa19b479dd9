"""Mentions: names as whole words, in no link, code or comment, and counted where there are many."""

from __future__ import annotations

from pathlib import Path

import pytest

from notehop.app.container import mentions
from notehop.app.container.handle import VaultHandle
from notehop.app.container.mentions import names_of, pattern_of, sentence_at, unlinked
from notehop.app.container.opening import open_place
from notehop.indexing.vault.model import Note
from notehop.indexing.vault.parse import parse_note
from tests.app.container.built import built


def note(text: str, path: str = "x.md") -> Note:
    return parse_note(path, text.encode())


def found(text: str, *names: str) -> list[str]:
    return [one.name for one in unlinked(note(text), pattern_of(names))]


@pytest.mark.parametrize(
    ("text", "names", "said"),
    [
        ("The Sea  wall and sea\nwall.", ["sea wall"], ["Sea  wall", "sea\nwall"]),
        ("Seawall, walls, wall_b, wall2", ["wall"], []),
        ("Wall's end; (wall) wall.", ["wall"], ["Wall", "wall", "wall"]),
        ("See [[Wall]] and [wall](Wall.md) and [the wall][w].\n\n[w]: Wall.md", ["wall"], []),
        ("[[Wall B]] is another", ["wall"], []),
        ("`wall` and\n```\nwall\n```\nwall", ["wall"], ["wall"]),
        ("%%wall%% <!-- wall --> wall", ["wall"], ["wall"]),
        ("---\nabout: wall\n---\nwall", ["wall"], ["wall"]),
        ("# The wall\nText", ["wall"], ["wall"]),
        ("C++ and .NET, not C", ["C++", ".NET"], ["C++", ".NET"]),
        ("一条潮汐闸门。", ["潮汐"], ["潮汐"]),
        ("STRASSE Übung ÜBUNG", ["übung"], ["Übung", "ÜBUNG"]),
        ("sea wall gate", ["sea", "sea wall gate", "sea wall"], ["sea wall gate"]),
        ("a (b", ["(b"], ["(b"]),
    ],
)
def test_where_a_name_is_said(text: str, names: list[str], said: list[str]) -> None:
    assert found(text, *names) == said


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("---\naliases: [Sea wall, WALL]\n---\n", ["Wall", "Sea wall"]),
        ("---\naliases: [a, and, The, '!!', IT]\n---\n", ["Wall"]),
        ("---\ntitle: A wall\naliases: [The Who]\n---\n", ["Wall", "A wall", "The Who"]),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    assert names_of(note(text, "work/Wall.md"), "en") == names


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("One. The wall held. Three.", "The wall held."),
        ("- a\n- the [[x|big]] wall\n- b", "the big wall"),
        ("Before.\n\n# The wall\nAfter.", "The wall"),
        ("word " * 200 + "wall", "…" + "word " * 58 + "wall"),
        ("The wall " + "word " * 200, ("The wall " + "word " * 60)[:298] + "…"),
    ],
)
def test_the_sentence(text: str, sentence: str) -> None:
    one = note(text)
    [said] = unlinked(one, pattern_of(["wall"]))
    assert sentence_at(one, said) == sentence


def opened(folder: Path, notes: dict[str, str]) -> VaultHandle:
    return open_place(built(folder, notes))


def test_many_are_counted_and_the_first_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mentions, "READ", 2)
    notes = {
        f"{n}.md": "A wall, the `wall`, [[Wall]], [[Wall|wall of]] and a wall." for n in range(9)
    }
    with opened(tmp_path, {**notes, "Wall.md": "wall wall"}) as vault:
        note = vault.note("Wall")
    assert [(one.path, one.name) for one in note.unlinked_mentions] == [
        ("0.md", "wall"),
        ("0.md", "wall"),
        ("1.md", "wall"),
        ("1.md", "wall"),
    ]
    assert note.mention_count == 18


def test_a_common_name_is_counted_by_passages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mentions, "READ", 1)
    monkeypatch.setattr(mentions, "COUNTED", 2)
    notes = {f"{n}.md": "A wall and a wall." for n in range(6)}
    with opened(tmp_path, {**notes, "Wall.md": "x"}) as vault:
        assert vault.note("Wall").mention_count == 2 + 2 * 2 + 3


def test_a_name_of_a_small_word_is_not_looked_for(tmp_path: Path) -> None:
    with opened(tmp_path, {"And.md": "x", "B.md": "This and that."}) as vault:
        note = vault.note("And")
    assert (note.unlinked_mentions, note.mention_count) == ([], 0)
