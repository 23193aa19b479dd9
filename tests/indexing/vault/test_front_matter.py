"""Front matter: what is one, what is read from it, what it means, and what a name says."""

import json

import pytest

from tests.indexing.vault.notes import note_of
from tests.support.product import day_in_name, parse_note
from tests.support.tables import rows


@pytest.mark.parametrize(("text", "values", "body"), rows(__file__, "where_it_is"))
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


@pytest.mark.parametrize(("yaml", "expected"), rows(__file__, "aliases"))
def test_aliases(yaml: str, expected: list[str]) -> None:
    assert note_of(f"---\n{yaml}\n---\n").aliases == tuple(expected)


@pytest.mark.parametrize(("yaml", "expected"), rows(__file__, "page_type"))
def test_page_type(yaml: str, expected: str | None) -> None:
    assert note_of(f"---\n{yaml}\n---\n").page_type == expected


@pytest.mark.parametrize(("path", "yaml", "title", "name"), rows(__file__, "title_and_name"))
def test_title_and_name(path: str, yaml: str, title: str, name: str) -> None:
    note = parse_note(path, f"---\n{yaml}\n---\n".encode())
    assert (note.title, note.name, note.path) == (title, name, path)


@pytest.mark.parametrize(("yaml", "created", "modified"), rows(__file__, "dates"))
def test_dates(yaml: str, created: float | None, modified: float | None) -> None:
    note = note_of(f"---\n{yaml}\n---\n")
    assert (note.created, note.modified) == (created, modified)


@pytest.mark.parametrize(
    ("text", "excluded"),
    rows(__file__, "the_owner_keeps_a_note_out_even_if_its_front_matter_is_broken"),
)
def test_the_owner_keeps_a_note_out_even_if_its_front_matter_is_broken(
    text: str, excluded: bool
) -> None:
    note = note_of(text)
    assert (note.excluded is not None) == excluded
    if note.excluded:
        assert "front matter" in note.excluded


@pytest.mark.parametrize(("path", "day"), rows(__file__, "the_day_in_a_name"))
def test_the_day_in_a_name(path: str, day: str | None) -> None:
    found = day_in_name(path)
    assert (found and found.isoformat()) == day


def test_front_matter_that_does_not_end_is_text_with_a_warning() -> None:
    note = note_of("---\ntitle: x\n\nText [[A]].\n")
    assert note.body_start == 0
    assert [link.target for link in note.links] == ["A"]
    assert note.warnings[0].startswith("folder/Here.md:1: the front matter does not end")


def test_links_of_properties_know_where_they_stand() -> None:
    note = note_of(
        '---\nplain: "[[Note]]"\nlist:\n  - "[[One]]"\n  - text [[No]]\n'
        'deep: {a: [{b: "[[Deep]]"}]}\none: "[[Shared]]"\n---\n'
    )
    assert [(link.property, link.target, link.line) for link in note.links] == [
        ("plain", "Note", 2),
        ("list.0", "One", 4),
        ("deep.a.0.b", "Deep", 6),
        ("one", "Shared", 7),
    ]
