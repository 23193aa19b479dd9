"""What holds for every note, whatever is in it."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import CommentLinks, LinkKind, Note, parse_note, plain_text

MARKS = (
    *(
        "[[",
        "]]",
        "![[",
        "[",
        "](",
        ")",
        "![",
        "|",
        "#",
        "\\",
        "`",
        "``",
        "```",
        "~~~",
        "$",
        "$$",
        "%%",
    ),
    *("<!--", "-->", "<br>", "<div>", "</div>", "*", "_", "==", ">", "-", "+", "1.", "---", "==="),
    *("^id", "[^1]:", "[r]:", "[r]", "[!note]", "word", "é", "🌊", "[[N#H|d]]", "![[i.png|30]]"),
    *("[t](n.md)", "#tag", "| a | b |", "|---|---|", ":", "key:", "'[[v]]'"),
)
BLANKS = [" ", "  ", "    ", "\t", "\n", "\n\n", "\r\n", "\r", "\n> ", "\n- ", "\n  ", "\n# ", "\0"]
NOTES = st.lists(st.sampled_from([*MARKS, *BLANKS]), max_size=60).map("".join)


@given(NOTES, st.booleans(), st.sampled_from(["inline", "none", "all"]))
def test_everything_found_is_where_it_is_said_to_be(
    text: str, front_matter: bool, comment_links: CommentLinks
) -> None:
    data = (f"---\n{text}\n---\n{text}" if front_matter else text).encode()
    _check(parse_note("a/Note.md", data, comment_links=comment_links))


@given(st.binary() | st.text().map(str.encode))
def test_any_bytes_make_a_note(data: bytes) -> None:
    _check(parse_note("Note.md", data))


def _check(note: Note) -> None:
    text = note.text
    for link in note.links:
        assert 0 <= link.start <= link.end <= len(text)
        assert len(link.sentence) <= 500
        assert link.target or link.fragment
        if link.kind is not LinkKind.PROPERTY:
            assert text[link.start : link.end] == link.raw
            assert link.raw.startswith(("[", "!["))
            assert link.raw.endswith(("]", ")"))
            assert link.line == text.count("\n", 0, link.start) + 1
            assert link.start >= note.body_start
    for tag in note.inline_tags:
        assert text[tag.start : tag.end] == f"#{tag.name}"
    for heading in note.headings:
        assert text[heading.start : heading.end].startswith("#" * heading.level) or (
            heading.level <= 2 and text[heading.start : heading.end].rstrip()[-1] in "-="
        )
    for block in note.blocks:
        assert f"^{block.id}" in text
        assert 1 <= block.first_line <= block.last_line <= text.count("\n") + 1
    _check_tiling(note)
    json.dumps(note.front_matter, allow_nan=False)


def _check_tiling(note: Note) -> None:
    at = note.body_start
    for section in note.sections:
        assert section.start == at < section.end
        assert section.first_line == note.text.count("\n", 0, section.start) + 1
        at = section.end
    assert at == len(note.text)
    at = 0
    for edit in note.edits:
        assert at <= edit.start < edit.end <= len(note.text)
        at = edit.end
    whole = plain_text(note, note.body_start, len(note.text))
    if not any(edit.start < s.start < edit.end for edit in note.edits for s in note.sections):
        assert whole == "".join(plain_text(note, s.start, s.end) for s in note.sections)
