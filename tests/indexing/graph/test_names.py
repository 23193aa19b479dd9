"""Names: what counts as the same, and which links wait for which change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notehop.indexing.graph.names import affected_names, fold, is_note, link_name


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Note", "nOTE", id="case"),
        pytest.param("Caf\u00e9", "Cafe\u0301", id="normal-form"),
        pytest.param("STRASSE", "straße", id="sharp-s"),
        pytest.param("ÀÉ", "a\u0300e\u0301", id="case-and-normal-form"),
        pytest.param("a\u00a0b", "a b", id="no-break-space"),
        pytest.param("a\u202fb", "A b", id="narrow-no-break-space"),
        pytest.param("\u01f0", "J\u030c", id="folding-decomposes"),
    ],
)
def test_fold_makes_one_of(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Cafe", "Café", id="diacritics-matter"),
        pytest.param("a b", "ab", id="spaces-matter"),
        pytest.param("a\\b", "a/b", id="a-backslash-is-no-slash"),
    ],
)
def test_fold_keeps_apart(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@given(st.text())
def test_fold_twice_is_fold_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("path", "note"),
    [("a.md", True), ("a/b.MD", True), ("a.markdown", False), ("a.md.png", False), ("amd", False)],
)
def test_is_note(path: str, note: bool) -> None:
    assert is_note(path) is note


@pytest.mark.parametrize(
    ("target", "name"),
    [
        pytest.param("Note", "note", id="name"),
        pytest.param("a/b/Note", "note", id="path"),
        pytest.param("../Note.MD", "note", id="extension"),
        pytest.param("Note.md.md", "note", id="extension-twice"),
        pytest.param(" Note ", "note", id="spaces"),
        pytest.param("a.png", "a.png", id="attachment"),
        pytest.param("1.5 plan", "1.5 plan", id="dots"),
        pytest.param("", "", id="same-note"),
        pytest.param("Folder/", "", id="folder"),
    ],
)
def test_link_name(target: str, name: str) -> None:
    assert link_name(target) == name


def test_affected_names_hold_the_file_and_its_aliases() -> None:
    assert affected_names("People/Anna Weber.md", ["AW", "Chef/Anna"]) == {
        "anna weber",
        "aw",
        "anna",
    }
