"""Front matter: what is one, what is read from it, and what happens when it is broken."""

from __future__ import annotations

import json

import pytest

from tests.indexing.vault.notes import note_of


@pytest.mark.parametrize(
    ("text", "values", "body"),
    [
        ("---\na: 1\n---\nbody", {"a": 1}, "body"),
        ("---  \na: 1\n---\t\n\n\nbody", {"a": 1}, "body"),
        ("---\n\na: 1\n\n---\nbody", {"a": 1}, "body"),
        ("---\n---\nbody", {}, "body"),
        ("---\na: 1\n---", {"a": 1}, ""),
        ("---\n# only a comment\n---\nbody", {}, "body"),
        ('---\n{"a": "b", "c": [1]}\n---\nbody', {"a": "b", "c": [1]}, "body"),
        ("\n---\na: 1\n---\nbody", {}, "---\na: 1\n---\nbody"),
        (" ---\na: 1\n---\nbody", {}, " ---\na: 1\n---\nbody"),
        ("----\na: 1\n----\nbody", {}, "----\na: 1\n----\nbody"),
        ("---\nbody", {}, "---\nbody"),
    ],
    ids=[
        "plain",
        "blanks",
        "empty lines",
        "empty",
        "nothing after",
        "comment",
        "JSON",
        "not first",
        "indented",
        "four dashes",
        "rule",
    ],
)
def test_where_it_is(text: str, values: dict[str, object], body: str) -> None:
    note = note_of(text)
    assert note.front_matter == values
    assert note.text[note.body_start :] == body
    assert note.warnings == ()


def test_values_follow_yaml_1_2_and_are_json() -> None:
    note = note_of(
        "---\nword: no\ntime: 12:30\nday: 2024-01-31\noctal: 0o17\nhex: 0xff\nold: 017\n"
        "float: 1.5\nexp: 1e3\nbig: 123456789012345678901234567890\nnan: .nan\ntrue: true\n"
        "null: ~\nempty:\nquoted: '1'\ntext: |\n  a\n  b\n? [x, y]\n: z\n<<: m\n"
        "!!str 1: !custom t\nbase: &b {k: v}\nalias: *b\n---\n"
    )
    assert json.loads(json.dumps(note.front_matter)) == {
        "word": "no",
        "time": "12:30",
        "day": "2024-01-31",
        "octal": 15,
        "hex": 255,
        "old": 17,
        "float": 1.5,
        "exp": 1000.0,
        "big": "123456789012345678901234567890",
        "nan": ".nan",
        "true": True,
        "null": None,
        "empty": None,
        "quoted": "1",
        "text": "a\nb\n",
        '["x", "y"]': "z",
        "<<": "m",
        "1": "t",
        "base": {"k": "v"},
        "alias": {"k": "v"},
    }
    assert note.warnings == ()


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


def test_a_repeated_key_is_a_warning_and_the_last_counts() -> None:
    note = note_of("---\na: 1\nb: 2\na: 3\n---\n")
    assert note.front_matter == {"a": 3, "b": 2}
    assert note.warnings == (
        "folder/Here.md:4: the property a is written twice; the last one counts",
    )


def test_front_matter_that_does_not_end_is_text_with_a_warning() -> None:
    note = note_of("---\ntitle: x\n\nText [[A]].\n")
    assert note.body_start == 0
    assert [link.target for link in note.links] == ["A"]
    assert note.warnings[0].startswith("folder/Here.md:1: the front matter does not end")


PROPERTY_LINKS = """---
plain: "[[Note]]"
shown: '[[a/Note#H|text]]'
list:
  - "[[One]]"
  - text [[No]]
  - "[[Two]] [[Three]]"
deep: {a: [{b: "[[Deep]]"}]}
markdown: "[text](My%20note.md)"
embed: "![[img.png]]"
url: "[x](https://example.org)"
unquoted: [[Nested]]
escaped: "[[Caf\\u00e9]]"
multi: |
  [[Block]]
one: &n "[[Shared]]"
two: *n
code: "`[[No]]`"
---
"""


def test_property_links() -> None:
    note = note_of(PROPERTY_LINKS)
    found = [(link.property, link.target, link.fragment, link.display) for link in note.links]
    assert found == [
        ("plain", "Note", None, None),
        ("shown", "a/Note", "H", "text"),
        ("list.0", "One", None, None),
        ("deep.a.0.b", "Deep", None, None),
        ("markdown", "My note.md", None, "text"),
        ("embed", "img.png", None, None),
        ("escaped", "Café", None, None),
        ("multi", "Block", None, None),
        ("one", "Shared", None, None),
        ("two", "Shared", None, None),
    ]
    assert {link.kind.value for link in note.links} == {"property"}
    lines = note.text.split("\n")
    for link in note.links:
        if link.property not in ("escaped", "multi", "two"):
            assert note.text[link.start : link.end] == link.raw
            assert link.raw in lines[link.line - 1]
    assert {link.property: link.line for link in note.links}["deep.a.0.b"] == 8
