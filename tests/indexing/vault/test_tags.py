"""Which words are tags, in the text and in the front matter."""

from __future__ import annotations

import pytest

from tests.indexing.vault.notes import note_of


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
