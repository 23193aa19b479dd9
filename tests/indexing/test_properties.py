"""What the properties of a note say, and in which lines."""

from __future__ import annotations

import pytest

from tests.support.product import parse_note, property_texts, split_note
from tests.support.readable_model import WordTokens

EVERYTHING = 10_000


def texts(front_matter: str, body: str = "", fits: int = EVERYTHING) -> list[tuple[str, int]]:
    note = parse_note("Note.md", f"---\n{front_matter}\n---\n{body}".encode())
    found = property_texts(note, bool(body), fits)
    return [(" ".join(one.text.split()), one.first_line) for one in found]


@pytest.mark.parametrize(
    ("front_matter", "said"),
    [
        ('genre:\n  - "[[Sci-fi]]"\nrating: 7', "genre: Sci-fi · rating: 7"),
        ("loc: '[[places/Kyoto#Old town|the city]]'", "loc: the city"),
        ("loc: '[[places/Kyoto#Old town]]'", "loc: Kyoto"),
        ("site: see [their page](https://example.org/a) or [[Kyoto]]", "site: see their page or Kyoto"),
        ("done: true\nsold: false\nprice: 5", "done: yes · sold: no · price: 5"),
        ("size: {width: 3, parts: [a, b]}", "size width: 3 · size parts: a, b"),
        ("people:\n  - name: Ada\n    born: 1815", "people name: Ada · people born: 1815"),
        ("isbn: 9780262033848\nphone: +49 170 1234567", "isbn: 9780262033848 · phone: +49 170 1234567"),
        ("version: 2023-12-11-release-3", "version: 2023-12-11-release-3"),
        ("summary: >\n  a b\n  c d\nrating: 7", "summary: a b c d · rating: 7"),
        ("作者: 鲁迅", "作者: 鲁迅"),
        # Names for programs, what was left blank, how a note is kept or shown.
        ("id: abc\nuuid: x\nimdbId: tt01\nisbn_id: 3\nrating: 7", "rating: 7"),
        ("parent: 5a7103be-eb92-4380-8207-598e9f10724c\nrating: 7", "rating: 7"),
        ("fm: 16n2qbhtcnrblwxmx3deglu\nseen: 1650041641490\nrating: 7", "rating: 7"),
        ("updated: 2024-01-02\nlast_modified: 2024-01-02\ncssclasses: [wide]\nrating: 7", "rating: 7"),
        ("genre: []\nyear:\nnote: ''\nmark: '—'\nrating: 7", "rating: 7"),
        ("day: '{{date}}'\nauthor: <% tp.user() %>\nrating: 7", "rating: 7"),
        ("nav_order: 7\nnav_exclude: true\nstub: true\nrating: 7", "rating: 7"),
        ("title: A note\nrating: 7", "rating: 7"),
        ("created: 2024-01-02\ntags: [a, b]\naliases: X\nrating: 7",
         "created: 2024-01-02 · tags: a, b · aliases: X · rating: 7"),
    ],
)  # fmt: skip
def test_properties_read_as_a_person_would_put_them(front_matter: str, said: str) -> None:
    assert texts(front_matter, "Some text.") == [(said, texts(front_matter)[0][1])]


@pytest.mark.parametrize(
    "front_matter",
    ["published: false\ntags: [a, b]", "aliases: X\ncreated: 2024-01-02\ntype: daily", "id: 5", ""],
)
def test_names_tags_and_dates_alone_are_a_passage_of_a_note_without_text_only(
    front_matter: str,
) -> None:
    assert texts(front_matter, "Some text.") == []
    assert len(texts(front_matter)) == (front_matter not in ("id: 5", ""))


def test_each_word_stands_in_its_own_line() -> None:
    written = (
        "---\nid: 5\ncategories:\n  - '[[Shows]]'\n\n# a remark\n  - TV\n"
        "size: {w: 3,\n  h: 4}\nrating: 7\n---\n"
    )
    (found,) = property_texts(parse_note("Note.md", written.encode()), False, EVERYTHING)
    lines = written.split("\n")
    assert (found.first_line, found.last_line) == (3, 10)
    for at, line in enumerate(found.text.split("\n")):
        for word in line.replace(":", "").replace(",", "").replace("·", "").split():
            assert word in lines[found.first_line + at - 1] or word == "size"


def test_many_properties_are_several_chunks_and_none_is_lost() -> None:
    front_matter = "\n".join(f"fact{at}: value{at}" for at in range(40))
    found = texts(front_matter, fits=100)
    assert len(found) > 3
    assert " · ".join(text for text, _ in found) == " · ".join(
        f"fact{at}: value{at}" for at in range(40)
    )
    assert all(len(text) <= 100 for text, _ in found)


def test_what_aliases_repeat_is_not_more_than_a_front_matter_may_hold() -> None:
    front_matter = f"a: &a {'x' * 1_000}\nb: [{', '.join(['*a'] * 20_000)}]"
    assert sum(len(text) for text, _ in texts(front_matter, fits=10**9)) < 1_100_000


def test_properties_come_after_the_text_in_a_chunk_of_their_own_kind() -> None:
    note = parse_note("Note.md", b"---\nrating: 7\n---\n# One\nText.\n# Two\nMore.\n")
    drafts = split_note(note, WordTokens(), 50, 0)
    assert [(one.kind, one.ordinal) for one in drafts] == [
        ("text", 0),
        ("text", 1),
        ("properties", 2),
    ]
    assert drafts[-1].embedded == "Note\nrating: 7"
    assert note.text[drafts[-1].start : drafts[-1].end] == "rating: 7\n"
