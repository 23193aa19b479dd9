"""Bytes and texts that no note should be, and what holds for every note, whatever is in it."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.indexing.vault.notes import note_of
from tests.support.product import CommentLinks, Note, parse_note, plain_text

MANY = 10_000
SECONDS = 4
"""Of the processor, for any of these: a step for each pair of signs takes three times as long."""
HOSTILE = {
    "long line": "word [[A]] and more text. " * (MANY // 2),
    "openings": "[[" * MANY,
    "openings before one close": "[[" * MANY + "\n]]",
    "brackets": "[" * MANY + "]" * MANY,
    "pairs": "[]" * MANY,
    "links never closed": "[a](" * MANY,
    "destinations never closed": "[a](<b" * MANY,
    "titles never closed": '[a](b "' * MANY,
    "link after bracket": "[ [[a]] " * MANY,
    "backticks": " ".join("`" * n for n in range(600)) + "[[A]]",
    "dollars": "$a " * MANY + "[[A]]",
    "double dollars": "$$\na\n" * MANY + "[[A]]",
    "dollars in items": "- $$\n" * (MANY // 4),
    "percents": "%%\n" * (MANY + 1),
    "comments in items": "- %%\n" * (MANY // 4),
    "HTML comments": "[[A]] <!--" * MANY,
    "attributes": "[[A]] <a " + "x " * MANY,
    "tags": "#a" * MANY,
    "quotes": ">" * MANY + "[[A]]",
    "quote lines": ("> " * 100 + "[[A]]\n") * 300,
    "bullets": "- " * MANY + "[[A]]",
    "stairs": "".join("  " * n + "- [[A]]\n" for n in range(300)),
    "mixed stairs": "> - " * MANY + "[[A]]",
    "footnotes": "[^a]: " * MANY + "[[A]]",
    "definitions": "".join(f"[a{n}]: b{n}\n" for n in range(MANY // 3)) + "\n[a7]",
    "wide table": "|a" * 5_000 + "\n" + "|-" * 5_000 + "\n" + "|[[A]]" * 5_000,
    "long table": "|a|b|\n|-|-|\n" + "|[[A]]|b|\n" * (MANY // 10),
    "ids": "- a\n" * 1_000 + "^id\n" * MANY,
    "hashes": "# " + "#" * MANY,
    "blanks": "a" + " " * MANY + "[[A]]" + " " * MANY + "\n" * MANY,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_it_is_parsed(text: str) -> None:
    begun = time.process_time()
    note = note_of(text, comment_links="all")
    assert time.process_time() - begun < SECONDS
    assert note.sections == (note.body_start,) or note.headings
    assert all(note.text[link.start : link.end] == link.raw for link in note.links)


def test_what_is_nested_too_deeply_keeps_its_links() -> None:
    note = note_of("text\n\n" + "> " * 200 + "[[A]] #tag\n\nafter [[B]]")
    assert [link.target for link in note.links] == ["A", "B"]
    assert note.tags == ("tag",)


def test_invalid_utf8_is_replaced_and_named() -> None:
    note = parse_note("n.md", b"one\ntwo \xff\xfe three\n[[A]] \xc3")
    assert note.text == "one\ntwo \ufffd\ufffd three\n[[A]] \ufffd"
    assert [link.target for link in note.links] == ["A"]
    (warning,) = note.warnings
    assert warning.startswith("n.md:2: ")


def test_byte_order_marks() -> None:
    for data in ("a [[é]]".encode("utf-8-sig"), "a [[é]]".encode("utf-16")):
        note = parse_note("n.md", data)
        assert note.text == "a [[é]]"
        assert note.links[0].start == 2
    assert "UTF-16" in note.warnings[0]


def test_front_matter_after_a_byte_order_mark_and_with_other_line_ends() -> None:
    note = parse_note("n.md", b"\xef\xbb\xbf---\r\ntitle: x\r\n---\r\n\r\n# H\r\n")
    assert (note.title, note.text[note.body_start :]) == ("x", "# H\n")
    assert note.headings[0].line == 5


def test_nul_and_empty() -> None:
    assert parse_note("n.md", b"a\0[[b]]").links[0].start == 2
    note = parse_note("n.md", b"")
    assert (note.text, note.sections, note.links, note.warnings) == ("", (), (), ())


MARKS = (
    *("[[", "]]", "![[", "[", "](", ")", "![", "|", "#", "\\", "`", "``", "```", "~~~", "$"),
    *("$$", "%%"),
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
        if link.kind != "property":
            assert text[link.start : link.end] == link.raw
            assert link.raw.startswith(("[", "!["))
            assert link.raw.endswith(("]", ")"))
            assert link.line == text.count("\n", 0, link.start) + 1
            assert link.start >= note.body_start
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
    starts = list(note.sections)
    assert starts == sorted(set(starts))
    assert starts[:1] == [note.body_start] * (note.body_start < len(note.text))
    assert all(start == 0 or note.text[start - 1] == "\n" for start in starts)
    at = 0
    for edit in note.edits:
        assert at <= edit.start < edit.end <= len(note.text)
        at = edit.end
    whole = plain_text(note, note.body_start, len(note.text))
    if not any(edit.start < start < edit.end for edit in note.edits for start in starts):
        ends = [*starts[1:], len(note.text)]
        assert whole == "".join(map(plain_text, [note] * len(ends), starts, ends))
