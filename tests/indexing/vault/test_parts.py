"""What a note is made of: headings and sections, blocks, tags, plain text, sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.indexing.vault.notes import note_of, plain
from tests.support.product import plain_text, sentence_spans


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One", [("One", 1, 1)]),
        ("   ### Three ###  ", [("Three", 3, 1)]),
        ("# a # b #c", [("a # b #c", 1, 1)]),
        ("#", [("", 1, 1)]),
        ("# #", [("", 1, 1)]),
        ("####### seven\n#tag\n    # code", []),
        ("One\n===\n\nTwo\nlines\n---", [("One", 1, 1), ("Two\nlines", 2, 4)]),
        ("text\n## Two\ntext", [("Two", 2, 2)]),
        ("> # quoted\n\n- # listed\n\n# Real", [("Real", 1, 5)]),
        ("```\n# code\n```\n%%\n# comment\n%%\n<div>\n# html\n</div>", []),
        ("# A [[B|c]] %%d%% `e` #f", [("A [[B|c]] %%d%% `e` #f", 1, 1)]),
    ],
    ids=str,
)
def test_headings(text: str, expected: list[tuple[str, int, int]]) -> None:
    assert [(h.text, h.level, h.line) for h in note_of(text).headings] == expected


def test_span_and_plain_text_of_a_heading() -> None:
    note = note_of("x\n\n  ## A  [[b/C#D]] %%e%% [f](g.md) ^id ##\n")
    (heading,) = note.headings
    assert note.text[heading.start : heading.end] == "## A  [[b/C#D]] %%e%% [f](g.md) ^id ##"
    assert heading.plain == "A C > D f"
    assert [(block.id, block.first_line) for block in note.blocks] == [("id", 3)]


def test_sections_are_split_at_the_first_two_ranks() -> None:
    note = note_of(
        "---\na: 1\n---\n\n\nIntro.\n# A\na\n### deep\nb\n## B\nc\n\nC\n---\nd\n\n# [[D|E]]\n## F"
    )
    assert [(s.heading_path, s.level, s.first_line, s.last_line) for s in note.sections] == [
        ((), 0, 6, 6),
        (("A",), 1, 7, 10),
        (("A", "B"), 2, 11, 13),
        (("A", "C"), 2, 14, 17),
        (("E",), 1, 18, 18),
        (("E", "F"), 2, 19, 19),
    ]
    assert note.sections[0].start == note.body_start == note.text.index("Intro")
    assert note.text[note.sections[3].start :].startswith("C\n---\nd")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n \n", []),
        ("---\na: 1\n---\n", []),
        ("x", [((), 1, 1)]),
        ("\n\n## B\nx", [(("B",), 3, 4)]),
        ("### C\nx", [((), 1, 2)]),
    ],
    ids=["empty", "blank", "front matter only", "no heading", "H2 without H1", "only deep ones"],
)
def test_sections_at_the_edges(text: str, expected: list[tuple[tuple[str, ...], int, int]]) -> None:
    found = [(s.heading_path, s.first_line, s.last_line) for s in note_of(text).sections]
    assert found == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("text ^id", [("id", 1, 1)]),
        ("one\ntwo ^a-1", [("a-1", 1, 2)]),
        ("text ^ID  ", [("ID", 1, 1)]),
        ("- a ^x\n- b ^y", [("x", 1, 1), ("y", 2, 2)]),
        ("- a\n  - b ^x\n    - c", [("x", 2, 2)]),
        ("> quote ^q", [("q", 1, 1)]),
        ("> one\n> two\n\n^q", [("q", 1, 2)]),
        ("> one\n> two\n^q\n", [("q", 1, 2)]),
        ("- a\n- b\n\n^list", [("list", 1, 2)]),
        ("- a\n- b\n^list\n\nx", [("list", 1, 2)]),
        ("- a\n\n  b\n\n  ^b", [("b", 3, 3)]),
        ("| a |\n|---|\n| b |\n\n^t", [("t", 1, 3)]),
        ("| a |\n|---|\n| b |\n^t", [("t", 1, 3)]),
        ("one\ntwo\n^p", [("p", 1, 2)]),
        ("one\n\n^p", [("p", 1, 1)]),
        ("```\nx\n```\n\n^c", [("c", 1, 3)]),
        ("> [!note] t\n> - a\n^call", [("call", 1, 2)]),
        ("- a\n\n^one\n^two", [("one", 1, 1), ("two", 1, 1)]),
        ("# H\n\n^h", [("h", 3, 3)]),
        ("^first", [("first", 1, 1)]),
        ("text^id", []),
        ("text ^id more", []),
        ("text ^not_valid", []),
        ("text ^", []),
        ("`code ^id`", []),
        ("```\ntext ^id\n```", []),
        ("[[N#^id]]", []),
        ("$x ^2$", []),
    ],
    ids=str,
)
def test_blocks(text: str, expected: list[tuple[str, int, int]]) -> None:
    found = [(block.id, block.first_line, block.last_line) for block in note_of(text).blocks]
    assert found == expected


def test_span_of_a_list_item_begins_at_its_bullet() -> None:
    note = note_of("- a\n  1. b [[c]] ^id\n     - d")
    (block,) = note.blocks
    assert note.text[block.start : block.end] == "1. b [[c]] ^id"


def test_ids_are_no_words() -> None:
    assert plain("a ^x\n\n- b\n\n^list\n\nc") == "a\n\n- b\n\n\n\nc"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#a and #b", ["a", "b"]),
        ("#area/work/deep", ["area/work/deep"]),
        ("#über #日本 #🌊 #a-b_c", ["über", "日本", "🌊", "a-b_c"]),
        ("#1 #2024 #1a #y1984", ["1a", "y1984"]),
        ("\u00a0#a\u3000#b", ["a", "b"]),
        ('(#a) "#b" .#c x—#d', []),
        ("x#a https://example.org/#b [[N#c]] [t](n.md#d)", []),
        ("#a, #b. #c! (x #d)", ["a", "b", "c", "d"]),
        ("#a#b", ["a", "b"]),
        ("**#a** _#b_ ==#c== ~~#d~~ snake_#e", ["a", "b", "c", "d", "e"]),
        ("\\[\\[#a\\]\\] \\#b", ["a"]),
        ("a<br>#b [[c]]#d `e`#f", ["b", "d", "f"]),
        ("[x #a](n.md) [x #b](https://example.org)", ["a", "b"]),
        ("`#a` $#b$ <!-- #c --> ", []),
        ("```\n#a\n```\n\n    #b", []),
        ("<div>\n#a\n</div>", []),
        ("%%\n#a\n%%", []),
        ("x %% #a %%", ["a"]),
        ("#", []),
        ("# #a\n##b", ["a"]),
        ("|#a|x|\n|-|-|\n|#b|#c|", ["a", "b", "c"]),
        ("- [ ] #a\n> #b", ["a", "b"]),
    ],
    ids=str,
)
def test_inline_tags(text: str, expected: list[str]) -> None:
    note = note_of(text)
    assert [tag.name for tag in note.inline_tags] == expected
    for tag in note.inline_tags:
        assert note.text[tag.start : tag.end] == f"#{tag.name}"


def test_tags_of_a_note_are_those_of_both_places_each_once() -> None:
    note = note_of("---\ntags: [Alpha, '#beta', a/b/]\ntag: gamma\n---\n#ALPHA #delta #a/b/\n")
    assert note.tags == ("Alpha", "beta", "a/b", "gamma", "delta")
    assert [tag.name for tag in note.inline_tags] == ["ALPHA", "delta", "a/b/"]


@pytest.mark.parametrize(
    ("yaml", "expected", "warned"),
    [
        ("tags: one", ("one",), 0),
        ("TAG:\n- one\n- two", ("one", "two"), 0),
        ("tags:", (), 0),
        ("tags: []", (), 0),
        ("tags: one, two", (), 1),
        ("tags: [one two, three, 2024]", ("three",), 2),
        ("tags: {a: b}", (), 0),
    ],
)
def test_front_matter_tags(yaml: str, expected: tuple[str, ...], warned: int) -> None:
    note = note_of(f"---\nx: 1\n{yaml}\n---\n")
    assert note.tags == expected
    assert len(note.warnings) == warned
    assert all(warning.startswith("folder/Here.md:3: ") for warning in note.warnings)


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


def test_examples() -> None:
    text = "Mr. Smith left. Did he? Yes!  So.\n\nNew paragraph"
    assert [text[start:end].strip() for start, end in sentence_spans(text)] == [
        "Mr. Smith left.",
        "Did he?",
        "Yes!",
        "So.",
        "New paragraph",
    ]
    assert sentence_spans("") == []
    assert sentence_spans("Eins. Zwei.", "de") == [(0, 6), (6, 11)]
    assert sentence_spans("One. Two.", "no such language")[-1][1] == 9


@given(st.text() | st.text(alphabet="aB. !?\n\"'”。🌊e\u0301"))
def test_spans_tile_the_text(text: str) -> None:
    spans = sentence_spans(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Der Wagen kommt am 3. Mai 2027 um acht. Das Boot wartet.", 2),
        ("Am 8. April 2027 ist es so weit. Am 12. März auch.", 2),
        ("See page 3. May follows.", 2),
        ("It ranked 8. April was wet.", 2),
        ("That was in 1993. Mai came.", 2),
    ],
)
def test_a_day_is_not_cut_where_the_vault_has_another_language(text: str, count: int) -> None:
    assert len(sentence_spans(text, "en")) == count
