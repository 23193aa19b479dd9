"""Bytes that are not what a note should be."""

from __future__ import annotations

import hashlib

from tests.support.product import parse_note


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


def test_the_hash_is_that_of_the_bytes() -> None:
    data = b"a\r\nb"
    assert parse_note("n.md", data).content_hash == hashlib.sha256(data).hexdigest()


def test_nul_and_empty() -> None:
    assert parse_note("n.md", b"a\0[[b]]").links[0].start == 2
    note = parse_note("n.md", b"")
    assert (note.text, note.sections, note.links, note.warnings) == ("", (), (), ())
