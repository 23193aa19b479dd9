"""The themes of a vault, as an opened vault lists them and answers from them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import product
from tests.support.notes import built

NOTES = {
    "Geese.md": "Geese eat grass of the marsh. See [[Redshank]], [[Mud]].",
    "Redshank.md": "Redshank of the marsh, like [[Geese]].",
    "Mud.md": "Mud of the marsh feeds [[Geese]], [[Redshank]].",
    "Dinghy.md": "---\nsummary: A boat of planks.\n---\nThe dinghy: [[Sails]], [[Mast]]. #boat",
    "Sails.md": "Sails of the [[Dinghy]] on the [[Mast]]. #boat",
    "Mast.md": "The mast of the [[Dinghy]].",
    "Lonely.md": "Alone.",
    "One.md": "See [[Two]].",
    "Two.md": "Two.",
}


@pytest.fixture
def small(tmp_path: Path) -> Iterator[product.VaultHandle]:
    with product.open_place(built(tmp_path, NOTES, themes__enabled=True)) as vault:
        yield vault


@pytest.fixture(scope="module")
def opened(demo: tuple[Path, Path]) -> Iterator[product.VaultHandle]:
    folder, index_dir = demo
    place = product.locate(folder, index_dir=index_dir, overrides={"themes.enabled": True})
    with product.open_place(place) as vault:
        yield vault


def test_the_list(small: product.VaultHandle) -> None:
    found = small.themes()
    assert [(one.name, one.count) for one in found.themes] == [("Dinghy", 3), ("Geese", 3)]
    assert (found.total, found.small, found.unlinked) == (2, 2, 1)
    assert (found.warnings, found.pending) == ([], 0)
    boats, birds = found.themes
    assert [note.path for note in boats.notes] == ["Dinghy.md", "Mast.md", "Sails.md"]
    assert (boats.summary, boats.written_by) == ("A boat of planks.", None)
    assert [note.path for note in birds.notes] == ["Geese.md", "Redshank.md", "Mud.md"]
    assert boats.notes[0].uri.endswith("file=Dinghy.md")


def test_filters_choose_notes(small: product.VaultHandle) -> None:
    found = small.themes(filters={"tag": ["boat"]})
    assert [(one.name, one.count) for one in found.themes] == [("Dinghy", 2)]
    assert found.filters == ["tag:boat"]
    nothing = small.themes(filters={"path": ["Nowhere"]})
    assert (nothing.themes, nothing.total) == ([], 0)
    assert nothing.warnings


def test_switched_off_they_are_not_there(tmp_path: Path) -> None:
    with product.open_place(built(tmp_path, NOTES)) as vault:
        with pytest.raises(product.QueryError, match=r"themes\.enabled"):
            vault.themes()
        with pytest.raises(product.QueryError, match=r"themes\.enabled"):
            vault.ask("What is this?", themes=True)


def test_a_note_that_is_private_since_is_in_no_theme(small: product.VaultHandle) -> None:
    secret = small.place.vault / "Geese.md"
    secret.write_text("---\nprivate: true\n---\nNobody reads this.", encoding="utf-8")
    found = small.themes()
    (birds,) = (one for one in found.themes if one.count == 2)
    assert birds.name in ("Mud", "Redshank")
    assert "Geese" not in json.dumps([note.path for note in birds.notes])
    for path in ("Mud.md", "Redshank.md"):
        (small.place.vault / path).unlink()
    assert [one.name for one in small.themes().themes] == ["Dinghy"]


@pytest.mark.model
def test_a_question_for_the_whole_vault(opened: product.VaultHandle) -> None:
    answer = opened.ask("What are the main themes of my vault?")
    assert (answer.mode, answer.intent) == ("extractive", "themes")
    listed = opened.themes()
    for theme in listed.themes:
        assert f"### {theme.name} ({theme.count} notes" in answer.answer
    # The first of each theme, then the second: a small window has some of all.
    firsts = [theme.notes[0].path for theme in listed.themes]
    assert [source.path for source in answer.sources[: len(firsts)]] == firsts
    for citation in answer.citations:
        text = (opened.place.vault / citation.path).read_text(encoding="utf-8")
        assert citation.quote
        assert citation.quote.split()[0] in text
    assert {claim.support for claim in answer.claims} <= {"high", None}
    assert answer.connected_notes == []


@pytest.mark.model
def test_the_passage_of_a_note_is_one_that_the_filters_leave(opened: product.VaultHandle) -> None:
    answer = opened.ask('What are the main themes of my vault? "names 9 November"')
    assert answer.intent == "themes"
    assert answer.sources
    assert all("names 9 November" in source.text for source in answer.sources)


@pytest.mark.model
def test_a_question_about_a_part_of_it(opened: product.VaultHandle) -> None:
    answer = opened.ask("What are the main themes of my work on tide gates?")
    assert answer.intent == "themes"
    assert answer.mode == "extractive"
    assert any("gate" in one.text for one in answer.citations)
    narrowed = opened.ask("What are the main themes of my work on tide gates? path:Reading")
    assert narrowed.filters == ["path:Reading"]
    assert {source.path.split("/")[0] for source in narrowed.sources} == {"Reading"}
    everything = opened.ask("path:Reading", themes=True)
    assert everything.answer.startswith("The themes of the notes")
    nothing = opened.ask("What are the main themes of my work on quantum chromodynamics?")
    assert (nothing.mode, nothing.citations) == ("none", [])


@pytest.mark.model
def test_the_command_with_themes(
    demo: tuple[Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, index_dir = demo
    monkeypatch.setenv("NOTEHOP_THEMES__ENABLED", "true")
    given = ["themes", "--vault", str(folder), "--index-dir", str(index_dir)]
    assert product.run([*given, "--max", "2"]) == 0
    said = capsys.readouterr().out
    assert "Hollin Reach  16 notes" in said
    assert "more, shown with --max" in said


@pytest.mark.model
@pytest.mark.parametrize("way", [{"themes": False}, {"intent": "none"}])
def test_who_does_not_want_them(opened: product.VaultHandle, way: dict[str, object]) -> None:
    answer = opened.ask("What are the main themes of my vault?", **way)
    assert answer.intent == "none"
    assert "### " not in answer.answer
