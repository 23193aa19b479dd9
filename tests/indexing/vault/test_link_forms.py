"""Every form in which a link can be written, and what is read from it."""

from __future__ import annotations

import pytest

from tests.indexing.vault.notes import body_links

FORMS = [
    ("[[Note]]", "link", "wikilink", "Note", None, None),
    ("[[Note|shown text]]", "link", "wikilink", "Note", None, "shown text"),
    ("[[folder/Note]]", "link", "wikilink", "folder/Note", None, None),
    ("[[/Note]]", "link", "wikilink", "/Note", None, None),
    ("[[../Note]]", "link", "wikilink", "../Note", None, None),
    ("[[Note.md]]", "link", "wikilink", "Note.md", None, None),
    ("[[ Note | shown ]]", "link", "wikilink", "Note", None, "shown"),
    ("[[Note|]]", "link", "wikilink", "Note", None, None),
    ("[[Note#Heading]]", "link", "wikilink", "Note", "Heading", None),
    ("[[Note#A#B|shown]]", "link", "wikilink", "Note", "A#B", "shown"),
    ("[[Note#]]", "link", "wikilink", "Note", None, None),
    ("[[#Heading]]", "link", "wikilink", "", "Heading", None),
    ("[[Note#^block-1]]", "link", "wikilink", "Note", "^block-1", None),
    ("[[#^block]]", "link", "wikilink", "", "^block", None),
    ("[[#H||odd]]", "link", "wikilink", "", "H", "|odd"),
    ("[[|text]]", "link", "wikilink", "|text", None, None),
    ("[[Note|see [1]]]", "link", "wikilink", "Note", None, "see [1]"),
    ("[[日本語 ノート]]", "link", "wikilink", "日本語 ノート", None, None),
    ("[[Note 🌊]]", "link", "wikilink", "Note 🌊", None, None),
    ("[[a`b]]", "link", "wikilink", "a`b", None, None),
    ("![[Note]]", "embed", "wikilink", "Note", None, None),
    ("![[Note#Heading]]", "embed", "wikilink", "Note", "Heading", None),
    ("![[img.png|640x480]]", "embed", "wikilink", "img.png", None, "640x480"),
    ("![[doc.pdf#page=3]]", "embed", "wikilink", "doc.pdf", "page=3", None),
    ("[text](Folder/My%20note.md)", "link", "markdown", "Folder/My note.md", None, "text"),
    ("[text](<My note.md>)", "link", "markdown", "My note.md", None, "text"),
    ('[text](Note.md "A title")', "link", "markdown", "Note.md", None, "text"),
    ("[text](Note)", "link", "markdown", "Note", None, "text"),
    ("[text](Note.md#A%20b)", "link", "markdown", "Note.md", "A b", "text"),
    ("[text](Note.md#^id)", "link", "markdown", "Note.md", "^id", "text"),
    ("[text](#Heading)", "link", "markdown", "", "Heading", "text"),
    ("[text](C%23.md)", "link", "markdown", "C#.md", None, "text"),
    ("[text](a(b)c.md)", "link", "markdown", "a(b)c.md", None, "text"),
    ("[text](a\\(b.md)", "link", "markdown", "a(b.md", None, "text"),
    ("[text](100%.md)", "link", "markdown", "100%.md", None, "text"),
    ("[](Note.md)", "link", "markdown", "Note.md", None, None),
    ("[**bold** `code`](Note.md)", "link", "markdown", "Note.md", None, "**bold** `code`"),
    ("[a [b] c](Note.md)", "link", "markdown", "Note.md", None, "a [b] c"),
    ("[over\ntwo lines](Note.md)", "link", "markdown", "Note.md", None, "over\ntwo lines"),
    ("![alt](img.png)", "embed", "markdown", "img.png", None, "alt"),
    ("![alt|100](img.png)", "embed", "markdown", "img.png", None, "alt|100"),
]


@pytest.mark.parametrize(
    ("text", "kind", "syntax", "target", "fragment", "display"), FORMS, ids=[f[0] for f in FORMS]
)
@pytest.mark.parametrize("around", ["{}", "Before {} after."], ids=["alone", "in a sentence"])
def test_form(
    around: str,
    text: str,
    kind: str,
    syntax: str,
    target: str,
    fragment: str | None,
    display: str | None,
) -> None:
    (link,) = body_links(around.format(text))
    assert (link.kind, link.syntax, link.raw) == (kind, syntax, text)
    assert (link.target, link.fragment, link.display) == (target, fragment, display)


@pytest.mark.parametrize(
    ("text", "target", "display"),
    [
        ("[text][ref]\n\n[ref]: My%20note.md", "My note.md", "text"),
        ("[ref][]\n\n[REF]: Note.md 'title'", "Note.md", "ref"),
        ("[ref]\n\n[ref]: <Note.md>", "Note.md", "ref"),
        ("[ref]: first.md\n[ref]: second.md\n\n[ref]", "first.md", "ref"),
        ("> [ref]: Note.md\n\n- see [ref]", "Note.md", "ref"),
        ("![alt][ref]\n\n[ref]: img.png", "img.png", "alt"),
    ],
    ids=["full", "collapsed", "shortcut", "first definition counts", "defined in a quote", "image"],
)
def test_reference_links(text: str, target: str, display: str) -> None:
    (link,) = body_links(text)
    assert (link.syntax, link.target, link.display) == ("reference", target, display)


def test_a_footnote_is_no_definition_and_its_links_count() -> None:
    links = body_links("Text[^1].\n\n[^1]: [[Source]]\n\n    [[Second paragraph]]\n")
    assert [link.target for link in links] == ["Source", "Second paragraph"]


def test_the_pipe_escaped_for_a_table() -> None:
    links = body_links("| a | b |\n|---|---|\n| [[Note\\|shown]] | ![[i.png\\|50]] |\n")
    assert [(link.target, link.display) for link in links] == [("Note", "shown"), ("i.png", "50")]


def test_an_image_inside_a_link_is_both() -> None:
    text = "[![alt](img.png)](Note.md)"
    assert [(link.kind, link.raw) for link in body_links(text)] == [
        ("link", text),
        ("embed", "![alt](img.png)"),
    ]


def test_a_link_holds_no_link() -> None:
    assert [link.raw for link in body_links("[a [b](in.md) c](out.md)")] == ["[b](in.md)"]
    assert [link.raw for link in body_links("[a [[in]] c](out.md)")] == ["[[in]]"]


@pytest.mark.parametrize(
    "text",
    [
        "# Heading [[A]]",
        "Setext [[A]]\n===",
        "> quote [[A]]",
        "> [!note] title [[A]]",
        "> [!note]- title\n> body [[A]]",
        "- item [[A]]",
        "- [ ] task [[A]]",
        "1. one\n   - two [[A]]",
        "==marked [[A]]==",
        "**bold [[A]]**",
        "<b>inline HTML [[A]]</b>",
        "a<br>[[A]]",
        "costs $5 for [[A]] and $6",
        "Text ^[inline footnote [[A]]]",
        "| a |\n|---|\n| [[A]] |",
    ],
)
def test_places_that_hold_links(text: str) -> None:
    assert [link.target for link in body_links(text)] == ["A"]
