"""What is read of a note: front matter, headings, sections, blocks, tags, links, plain text, sentences."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.indexing.vault.notes import note_of
from tests.support import product
from tests.support.tables import rows


def of_text(read: Callable[[product.Note], Any]) -> Callable[..., Any]:
    return lambda text: read(note_of(text))


def of_properties(read: Callable[[product.Note], Any], before: str = "") -> Callable[..., Any]:
    return lambda yaml: read(note_of(f"---\n{before}{yaml}\n---\n"))


def titled(path: str, yaml: str) -> tuple[object, ...]:
    note = product.parse_note(path, f"---\n{yaml}\n---\n".encode())
    assert note.path == path
    return note.title, note.name


def plain(note: product.Note) -> str:
    return product.plain_text(note, note.body_start, len(note.text))


def without_warnings(note: product.Note) -> tuple[object, ...]:
    assert note.warnings == ()
    return note.front_matter, note.text[note.body_start :]


def lines_of_warnings(note: product.Note) -> int:
    assert all(warning.startswith("folder/Here.md:3: ") for warning in note.warnings)
    return len(note.warnings)


def links_with_comments(text: str) -> list[list[str]]:
    note = note_of(text, comment_links="all")
    assert all(note.text[link.start : link.end] == link.raw for link in note.links)
    return [[link.raw, link.sentence] for link in note.links]


# By table: how much of a row is given, and what is read of it, which is the rest.
READ: dict[str, tuple[int, Callable[..., Any]]] = {
    "headings": (1, of_text(lambda n: ([[h.text, h.level, h.line] for h in n.headings],))),
    "heading_spans": (
        1,
        of_text(
            lambda n: (
                [[n.text[h.start : h.end], h.plain] for h in n.headings],
                [[block.id, block.first_line] for block in n.blocks],
            )
        ),
    ),
    "sections": (1, of_text(lambda n: ([n.text[at:].split("\n")[0] for at in n.sections],))),
    "fields": (1, of_text(lambda n: ([f"{p.key}={p.text}" for p in n.properties], len(n.headings)))),
    "fields_in_the_text": (1, of_text(lambda n: (product.with_fields(n.front_matter, n.fields),))),
    "sections_at_the_edges": (1, of_text(lambda n: ([*n.sections],))),
    "blocks": (1, of_text(lambda n: ([[b.id, b.first_line, b.last_line] for b in n.blocks],))),
    "inline_tags": (1, of_text(lambda n: ([*n.tags],))),
    "front_matter_tags": (1, of_properties(lambda n: ([*n.tags], lines_of_warnings(n)), "x: 1\n")),
    "plain_text": (1, of_text(lambda n: (plain(n),))),
    "sentence": (1, of_text(lambda n: ([link.sentence for link in n.links],))),
    "links": (1, lambda text: (links_with_comments(text),)),
    "property_links": (1, of_text(lambda n: ([[x.property, x.target, x.line] for x in n.links],))),
    "where_it_is": (1, of_text(without_warnings)),
    "warnings": (1, of_text(lambda n: (n.front_matter, [*n.warnings]))),
    "aliases": (1, of_properties(lambda n: ([*n.aliases],))),
    "page_type": (1, of_properties(lambda n: (n.page_type,))),
    "title_and_name": (2, titled),
    "dates": (1, of_properties(lambda n: (n.created, n.modified))),
    "the_owner_keeps_a_note_out_even_if_its_front_matter_is_broken": (
        1,
        of_text(lambda n: ("front matter" in (n.excluded or ""),)),
    ),
    "the_day_in_a_name": (1, lambda path: ((day := product.day_in_name(path)) and day.isoformat(),)),
    "sentences": (
        2,
        lambda text, code: ([text[a:b].strip() for a, b in product.sentence_spans(text, code)],),
    ),
    "a_day_is_not_cut_where_the_vault_has_another_language": (
        1,
        lambda text: (len(product.sentence_spans(text, "en")),),
    ),
}


def every_row() -> Iterator[Any]:
    for table in READ:
        for at, row in enumerate(rows(__file__, table)):
            yield pytest.param(table, row.values, id=f"{table}-{row.id or at}")


@pytest.mark.parametrize(("table", "row"), [*every_row()])
def test_what_is_read(table: str, row: tuple[Any, ...]) -> None:
    given, read = READ[table]
    assert tuple(read(*row[:given])) == tuple(row[given:])


LAUGHS = "a: &a [x, x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefg", "bcdefgh", strict=True)
)
BROKEN = {
    "unclosed list": ("ok: 1\nkey: [a, b\n", 3),
    "tab": ("key:\n\t- a\n", 3),
    "two colons": ("a: b: c\n", 2),
    "a list": ("- a\n- b\n", 2),
    "a word": ("\nhello\n", 3),
    "control character": ("a: 1\nb: \x07\n", 3),
    "unknown alias": ("a: 1\nb: *c\n", 3),
    "alias of itself": ("a: &a [*a]\n", 2),
    "billion laughs": (LAUGHS, None),
    "deep brackets": ("a: " + "[" * 50_000, 2),
    "deep dashes": ("a:\n  " + "- " * 50_000 + "x\n", 3),
    "deep indent": ("".join(" " * i + "a:\n" for i in range(500)), None),
    "too many values": ("a: 1\n" * 60_000, None),
    "too long": ("a: " + "x" * 1_100_000 + "\n", 2),
}


@pytest.mark.parametrize(("yaml", "line"), BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.timeout(20)
def test_what_cannot_be_read_is_a_warning_and_the_note_is_read(yaml: str, line: int | None) -> None:
    note = note_of(f"---\n{yaml}\n---\n# Title\n[[Link]] #tag\n")
    assert note.front_matter == {}
    assert [link.target for link in note.links] == ["Link"]
    assert note.tags == ("tag",)
    (warning,) = note.warnings
    assert warning.startswith(f"folder/Here.md:{'' if line is None else f'{line}: '}")
    assert "front matter cannot be read" in warning


def test_a_long_key_is_not_kept_with_each_value_below_it() -> None:
    note = note_of(f"---\n? {'k' * 400_000}\n: [{'w, ' * 10_000}'[[A]]']\n---\n")
    assert len(note.properties) == 10_001
    assert sum(len(one.key) for one in note.properties) < 6_000_000
    assert len(note.links[0].property or "") <= 500


def test_a_stretch_that_cuts_links() -> None:
    note = note_of("ab [[Note]] cd [[Other]] ef")
    cuts = {(0, 27): "ab Note cd Other ef", (5, 14): " cd", (0, 6): "ab Note", (4, 6): ""}
    cuts |= {(11, 15): " cd ", (3, 3): ""}
    assert {cut: product.plain_text(note, *cut) for cut in cuts} == cuts


def test_a_long_sentence_is_cut_around_its_link() -> None:
    words = "word " * 300
    for text in (f"[[A]] {words}", f"{words}[[A]] {words}", f"{words}[[A]]", "x" * 900 + " [[A]]"):
        (link,) = note_of(text).links
        assert "A" in link.sentence.strip("…").split()
        assert len(link.sentence) <= product.MAX_CHARACTERS
        assert "…" in link.sentence


@given(st.text() | st.text(alphabet="aB. !?\n\"'”。🌊e\u0301"))
def test_spans_tile_the_text(text: str) -> None:
    spans = product.sentence_spans(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)


def test_the_list_of_targets_is_public() -> None:
    assert product.indexing.extract_wiki_links is product.extract_wiki_links
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = product.indexing.nothing  # type: ignore[attr-defined]


@given(st.lists(st.sampled_from(["[[", "]]", *"|#[]aB \n`\\%"])).map("".join) | st.text())
def test_writing_the_targets_again_gives_the_same_list(text: str) -> None:
    found = product.extract_wiki_links(text)
    assert len(found) == len(set(found))
    assert all(found)
    assert product.extract_wiki_links("\n".join(f"[[{target}]]" for target in found)) == found
