"""The properties of a captured note can be read again, whatever was said."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import QueryError, keep, note_text, parse_note, tag_names

NOW = datetime(2026, 11, 22, 9, 31, 5)


def made(text: str, title: str | None = None, tags: tuple[str, ...] = ()) -> str:
    return note_text(text, title=title, tags=tag_names(tags), now=NOW)


def test_a_note() -> None:
    assert made("The clay lies one winter.\r\nSo.\n\n", tags=("clay", "#work/site")) == (
        '---\ncreated: 2026-11-22T09:31:05\ntags:\n  - "clay"\n  - "work/site"\n---\n\n'
        "The clay lies one winter.\nSo.\n"
    )


@given(
    st.text(max_size=200),
    st.one_of(st.none(), st.text(max_size=60)),
    st.lists(st.text(max_size=20).map(lambda tag: f"t{tag}"), max_size=4),
)
def test_what_was_said_can_be_read_again(text: str, title: str | None, tags: list[str]) -> None:
    whole = made(text, title, tuple(tags))
    note = parse_note("x.md", whole.encode())
    said = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").removeprefix("\ufeff")
    assert said.strip("\n").rstrip() in whole
    if not text.lstrip("\r\n\0\ufeff").startswith("---"):
        assert note.warnings == ()
        assert note.created == 1795339865.0
        assert list(note.front_matter.get("tags", [])) == tag_names(tags)
        if title and title.isprintable() and title.split():
            assert note.front_matter["title"] == " ".join(title.split())


def test_properties_of_the_text_are_kept() -> None:
    text = "---\n# mine\ntype: meeting\n---\nWe met."
    assert made(text, title="A/B", tags=("x",)) == (
        '---\ncreated: 2026-11-22T09:31:05\ntitle: "A/B"\ntags:\n  - "x"\n'
        "# mine\ntype: meeting\n---\nWe met.\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("---\nprivate: true\n---\nMine", id="private"),
        pytest.param("---\n{private: true}\n---\nMine", id="flow"),
        pytest.param("---\ncreated: 2020-01-01\nprivate: yes\n---\nMine", id="created"),
    ],
)
def test_a_private_text_stays_private(text: str) -> None:
    note = parse_note("x.md", made(text, tags=("t",)).encode())
    assert note.excluded is not None
    assert "t" in note.tags


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (["#a", "A", "a"], ["a"]),
        (["two words", "x/y"], ["two-words", "x/y"]),
        (['"quoted"', "a,b"], ["quoted", "ab"]),
        (["größe", "潮汐", "🌱"], ["größe", "潮汐", "🌱"]),
    ],
)
def test_tags(given: list[str], names: list[str]) -> None:
    assert tag_names(given) == names


@pytest.mark.parametrize("tag", ["!!", "#", "2026", "", "/"])
def test_what_can_be_no_tag_is_refused(tag: str) -> None:
    with pytest.raises(QueryError, match="can be no tag"):
        tag_names([tag])


@pytest.mark.parametrize("text", ["\0", "\0 \n\0", "\ufeff", " \n"])
def test_a_text_of_which_nothing_is_left_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(QueryError, match="nothing to keep"):
        keep(tmp_path, "In", text, now=NOW)
    assert list(tmp_path.iterdir()) == []
