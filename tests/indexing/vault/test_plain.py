"""What a reader sees of a note."""

from __future__ import annotations

import pytest

from tests.indexing.vault.notes import note_of, plain
from tests.support.product import plain_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see [[Note]].", "see Note."),
        ("see [[Note|this]].", "see this."),
        ("see [[a/b/Note.md]].", "see Note."),
        ("see [[Note#A#B]].", "see Note > A > B."),
        ("see [[#A]].", "see A."),
        ("see [[Note#^id]].", "see Note."),
        ("see [[v2.0 plan]].", "see v2.0 plan."),
        ("![[Note#H]]", "Note > H"),
        ("![[a/img.png|300]]", "img.png"),
        ("![[img.png|a boat|300x200]]", "a boat"),
        ("![[doc.pdf#page=3]]", "doc.pdf"),
        ("[text](Note.md) [web](https://example.org/x)", "text web"),
        ("[](a/Note.md)", "Note"),
        ("![alt](i.png) ![alt|20](i.png) ![20](i.png) ![](https://e.org/i.png)", "alt alt i.png "),
        ("[![alt](i.png)](n.md)", "alt"),
        ("[a][r]\n\n[r]: n.md", "a\n\n"),
        ("**b** _i_ ==m== `[[c]]` #tag", "**b** _i_ ==m== `[[c]]` #tag"),
        ("a %%b%% c", "a  c"),
        ("a\n\n%%\nb\n%%\nc", "a\n\n\nc"),
        ("a <!-- b --> c", "a  c"),
        ("<!-- b\n\nc -->\n\nd", "\n\nd"),
        ("<div><!-- b --> c</div>", "<div> c</div>"),
        ("<!-- never closed\n\nb", ""),
        ("a<br>b<br/>c", "a b c"),
        ("> [!note]- Title\n> body", "> Title\n>\n> body"),
        ("- > [!note] Title\n  > one\n  > two", "- > Title\n  >\n  > one\n  > two"),
        ("> [!note] Title\nbody", "> Title\n\nbody"),
        ("> [!note] Title\n> - item", "> Title\n> - item"),
        ("> [!note]\n> body", "> \n> body"),
        ("- [ ] task\n- item", "- [ ] task\n- item"),
        ("| [[a\\|b]] | c |\n|---|---|", "| b | c |\n|---|---|"),
        ("> a %%b\n> c%% d", "> a  d"),
        ("\\[[a]] 5 < 6 & <T>", "\\[[a]] 5 < 6 & <T>"),
    ],
    ids=str,
)
def test_plain_text(text: str, expected: str) -> None:
    assert plain(text) == expected


def test_front_matter_is_no_text() -> None:
    assert plain("---\nsecret: 1\n---\n\nbody") == "body"


def test_a_stretch_that_cuts_links() -> None:
    note = note_of("ab [[Note]] cd [[Other]] ef")
    assert plain_text(note, 0, len(note.text)) == "ab Note cd Other ef"
    assert plain_text(note, 5, 14) == " cd"
    assert plain_text(note, 0, 6) == "ab Note"
    assert plain_text(note, 4, 6) == ""
    assert plain_text(note, 11, 15) == " cd "
    assert plain_text(note, 3, 3) == ""
