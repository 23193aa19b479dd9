"""Resolution by itself; the conformance table covers the rules, this what a table cannot say."""

from __future__ import annotations

import pytest

from tests.support.product import (
    MAX_CANDIDATES,
    FragmentSpan,
    Link,
    LinkKind,
    LinkSyntax,
    Outline,
    Resolution,
    Status,
    VaultFiles,
    Via,
    resolve_link,
    resolve_path,
)

OUTLINE = Outline(headings=((1, "Plan", 1),), blocks=(("id", 2, 3),), line_count=9)


def link(target: str, fragment: str | None = None, syntax: str = "wikilink") -> Link:
    raw = f"[[{target}{'' if fragment is None else '#' + fragment}]]"
    return Link(
        kind=LinkKind.LINK,
        syntax=LinkSyntax(syntax),
        raw=raw,
        target=target,
        fragment=fragment,
        display=None,
        line=1,
        start=0,
        end=len(raw),
        sentence=raw,
    )


@pytest.mark.parametrize(
    ("paths", "source", "target", "expected"),
    [
        pytest.param(
            ["N.md", "s/N.md"], "s/H.md", "N", ("resolved", "N.md", "path"), id="exact-path-wins"
        ),
        pytest.param(
            ["s/t/N.md", "N2/N.md"],
            "s/H.md",
            "N",
            ("ambiguous", "s/t/N.md", "name"),
            id="own-folder-before-shorter",
        ),
        pytest.param(
            ["longer/N.md", "a/b/N.md"],
            "H.md",
            "N",
            ("ambiguous", "a/b/N.md", "name"),
            id="shortest-counts-characters",
        ),
        pytest.param(
            ["b/N.md", "a/N.md"], "H.md", "N", ("ambiguous", "a/N.md", "name"), id="ties-by-path"
        ),
        pytest.param(["a/N.md"], "H.md", "b/N", ("unresolved", None, None), id="wrong-folder"),
        pytest.param(["ba/N.md"], "H.md", "a/N", ("unresolved", None, None), id="part-of-a-name"),
        pytest.param(
            ["x/N.md", "x-y/N.md"],
            "x/H.md",
            "N",
            ("ambiguous", "x/N.md", "name"),
            id="folder-with-the-same-beginning",
        ),
    ],
)
def test_place(
    paths: list[str], source: str, target: str, expected: tuple[str, str | None, str | None]
) -> None:
    found = resolve_path(VaultFiles(paths), source, target)
    assert (found.status, found.path, found.via) == expected


def test_spaces_around_a_path_count_only_if_a_file_has_them() -> None:
    files = VaultFiles(["N.md", "x/ O.md", "x/O.md"])
    assert resolve_path(files, "H.md", " N ").path == "N.md"
    assert resolve_path(files, "H.md", " O").path == "x/ O.md"
    assert resolve_path(files, "H.md", "O ").path == "x/O.md"
    assert resolve_path(files, "H.md", " ").status is Status.UNRESOLVED


@pytest.mark.parametrize(
    "target", ["", " ", "/", "./", "x/", ".", "..", "../", "./.", "../x/.", "./y/..", "//N", "x\\N"]
)
def test_no_name_no_file(target: str) -> None:
    files = VaultFiles(["N.md", ".md", "x/.md", "x/N.md", "x.md"])
    found = resolve_path(files, "x/H.md", target)
    assert found.path == (None if target else "x/H.md")


def test_an_alias_of_two_notes_leads_nowhere() -> None:
    files = VaultFiles(["a.md", "b.md"], aliases={"a.md": ["X", "Y"], "b.md": ["x"]})
    assert resolve_path(files, "H.md", "X").status is Status.UNRESOLVED
    assert resolve_path(files, "H.md", "Y") == Resolution(Status.RESOLVED, "a.md", Via.ALIAS)


def test_candidates_come_best_first() -> None:
    files = VaultFiles(["s/deep/er/N.md", "z/N.md", "a/N.md", "s/t/N.md", "b/long/N.md"])
    found = resolve_path(files, "s/Here.md", "N")
    assert found.candidates == (
        "s/t/N.md",
        "s/deep/er/N.md",
        "a/N.md",
        "z/N.md",
        "b/long/N.md",
    )
    assert found.more == 0


def test_many_candidates_are_counted() -> None:
    paths = [f"{number:03}/N.md" for number in range(200)]
    found = resolve_path(VaultFiles(paths), "150/Here.md", "N")
    assert found.path == "150/N.md"
    assert len(found.candidates) == MAX_CANDIDATES
    assert found.candidates[:3] == ("150/N.md", "000/N.md", "001/N.md")
    assert found.more == 200 - MAX_CANDIDATES


class TestSpelling:
    """On a disk that tells case apart, spelling is the only way to choose."""

    FILES = VaultFiles(["Note.md", "note.md", "d/Over.md", "d/over.md", "longer/OVER.md"])

    @pytest.mark.parametrize("target", ["note", "note.md", "/note", "./note", "../note"])
    def test_as_spelled(self, target: str) -> None:
        source = "d/Here.md" if target.startswith("..") else "Here.md"
        found = resolve_path(self.FILES, source, target)
        assert found == Resolution(
            Status.AMBIGUOUS, "note.md", Via.PATH, candidates=("note.md", "Note.md")
        )

    def test_in_no_spelling_by_path(self) -> None:
        found = resolve_path(self.FILES, "Here.md", "NOTE")
        assert found.candidates == ("Note.md", "note.md")

    def test_length_comes_before_spelling(self) -> None:
        found = resolve_path(self.FILES, "Here.md", "OVER")
        assert found.candidates == ("d/Over.md", "d/over.md", "longer/OVER.md")
        found = resolve_path(self.FILES, "Here.md", "over")
        assert found.candidates == ("d/over.md", "d/Over.md", "longer/OVER.md")

    def test_sharp_s(self) -> None:
        files = VaultFiles(["Straße.md", "Strasse.md"])
        assert resolve_path(files, "Here.md", "Straße").path == "Straße.md"
        assert resolve_path(files, "Here.md", "Strasse").path == "Strasse.md"


class TestExcluded:
    """An excluded file does not compete with one that is not, but is the target if it is named."""

    def test_of_one_name_the_one_that_is_in_wins(self) -> None:
        files = VaultFiles(["longer/N.md"], excluded=["a/N.md"])
        found = resolve_path(files, "H.md", "N")
        assert found == Resolution(Status.RESOLVED, "longer/N.md", Via.NAME)

    def test_only_excluded(self) -> None:
        files = VaultFiles([], excluded=["b/N.md", "a/N.md"])
        found = resolve_path(files, "H.md", "N")
        assert found == Resolution(Status.EXCLUDED, "a/N.md", Via.NAME, ("a/N.md", "b/N.md"))

    def test_an_exact_path_means_that_file(self) -> None:
        files = VaultFiles(["s/Old/N.md"], excluded=["Old/N.md"])
        found = resolve_path(files, "s/H.md", "Old/N")
        assert found == Resolution(Status.EXCLUDED, "Old/N.md", Via.PATH)

    def test_an_alias_does_not_take_over(self) -> None:
        files = VaultFiles(["a.md"], excluded=["x/N.md"], aliases={"a.md": ["N"]})
        assert resolve_path(files, "H.md", "N").status is Status.EXCLUDED


class TestFragment:
    FILES = VaultFiles(["N.md", "p.pdf"], excluded=["x.md"])

    @staticmethod
    def outline_of(path: str) -> Outline | None:
        assert path == "N.md", "asked for the outline of a file that has none"
        return OUTLINE

    def test_found(self) -> None:
        resolved = resolve_link(self.FILES, "H.md", link("N", "plan"), self.outline_of)
        assert resolved.span == FragmentSpan(1, 9)
        assert resolved.fragment_found is True

    def test_not_found_leaves_the_note(self) -> None:
        resolved = resolve_link(self.FILES, "H.md", link("N", "^other"), self.outline_of)
        assert resolved.resolution.path == "N.md"
        assert resolved.span is None
        assert resolved.fragment_found is False

    @pytest.mark.parametrize(
        ("target", "fragment"),
        [("N", None), ("N", ""), ("N", " "), ("p.pdf", "page=3"), ("x", "Plan"), ("gone", "Plan")],
    )
    def test_nothing_to_find(self, target: str, fragment: str | None) -> None:
        resolved = resolve_link(self.FILES, "H.md", link(target, fragment), self.outline_of)
        assert resolved.fragment_found is None
        assert resolved.span is None

    def test_a_note_that_was_not_read(self) -> None:
        resolved = resolve_link(self.FILES, "H.md", link("N", "Plan"), lambda _: None)
        assert resolved.resolution.status is Status.RESOLVED
        assert resolved.fragment_found is None

    def test_same_note(self) -> None:
        resolved = resolve_link(self.FILES, "N.md", link("", "^ID"), self.outline_of)
        assert resolved.resolution == Resolution(Status.RESOLVED, "N.md", Via.SELF)
        assert resolved.span == FragmentSpan(2, 3)

    def test_nothing_but_display_text(self) -> None:
        """``[[|text]]`` is a link that the app resolves to nothing."""
        resolved = resolve_link(self.FILES, "N.md", link("", None), self.outline_of)
        assert resolved.resolution.status is Status.UNRESOLVED
