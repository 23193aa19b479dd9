"""The link report, over notes built by hand."""

from __future__ import annotations

import pytest

from notehop.config.errors import UsageError
from notehop.indexing.graph.files import VaultFiles
from notehop.indexing.graph.model import FragmentSpan, Status
from notehop.indexing.graph.report import link_report
from notehop.indexing.vault.model import Heading, Link, LinkKind, LinkSyntax, Note


def note(path: str, text: str, *targets: str) -> Note:
    """A note with the given headings and a link for each target, where it stands in the text."""
    links = []
    for target in targets:
        start = text.index(f"[[{target}]]")
        name, hash_mark, fragment = target.partition("#")
        links.append(
            Link(
                kind=LinkKind.LINK,
                syntax=LinkSyntax.WIKILINK,
                raw=f"[[{target}]]",
                target=name,
                fragment=fragment if hash_mark else None,
                display=None,
                line=text.count("\n", 0, start) + 1,
                start=start,
                end=start + len(target) + 4,
                sentence="",
            )
        )
    headings = tuple(
        Heading(line[2:], 1, number, 0, 0)
        for number, line in enumerate(text.splitlines(), 1)
        if line.startswith("# ")
    )
    return Note(
        path=path,
        name=path,
        title=path,
        text=text,
        body_start=0,
        content_hash="",
        headings=headings,
        links=tuple(links),
    )


NOTES = {
    "b.md": note("b.md", "[[x]]\n[[a#One]]\n", "a#One", "x"),
    "a.md": note("a.md", "# One\ntext\n# Two\n[[b]] [[#Two]]", "#Two", "b"),
}
FILES = VaultFiles(NOTES)


def test_by_source_then_place() -> None:
    report = link_report(NOTES, FILES)
    assert [(link.source, link.link.line, link.link.raw) for link in report] == [
        ("a.md", 4, "[[b]]"),
        ("a.md", 4, "[[#Two]]"),
        ("b.md", 1, "[[x]]"),
        ("b.md", 2, "[[a#One]]"),
    ]
    assert [link.resolution.status for link in report] == [
        Status.RESOLVED,
        Status.RESOLVED,
        Status.UNRESOLVED,
        Status.RESOLVED,
    ]
    assert [link.span for link in report] == [None, FragmentSpan(3, 4), None, FragmentSpan(1, 2)]


def test_of_one_note_with_fragments_into_others() -> None:
    report = link_report(NOTES, FILES, only="b.md")
    assert [link.source for link in report] == ["b.md", "b.md"]
    assert report[1].span == FragmentSpan(1, 2)


def test_a_fragment_into_a_note_that_was_not_read() -> None:
    report = link_report({"b.md": NOTES["b.md"]}, FILES)
    assert report[1].resolution.path == "a.md"
    assert report[1].fragment_found is None


def test_no_notes() -> None:
    assert link_report({}, VaultFiles([])) == []


def test_a_note_that_is_not_there() -> None:
    with pytest.raises(UsageError, match=r"gone\.md: no such note.*a\.md"):
        link_report(NOTES, FILES, only="gone.md")
