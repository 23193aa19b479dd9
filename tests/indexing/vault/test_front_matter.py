"""Front matter: what is one, what is read from it, what it means, and what a name says."""

from __future__ import annotations

import json

import pytest

from tests.indexing.vault.notes import note_of
from tests.support.product import day_in_name, parse_note


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


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("aliases: One", ("One",)),
        ("alias: One, Two ,, Three", ("One", "Two", "Three")),
        ("aliases: [One, 'Two, with comma', 3, null, '']", ("One", "Two, with comma", "3")),
        ("aliases:\n  - one\n  - ONE\nalias: two", ("one", "two")),
        ("Aliases:\n- A", ("A",)),
        ("aliases: {a: b}", ()),
        ("aliases: true", ()),
    ],
)
def test_aliases(yaml: str, expected: tuple[str, ...]) -> None:
    assert note_of(f"---\n{yaml}\n---\n").aliases == expected


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("type: meeting", "meeting"),
        ("page_type: note", "note"),
        ("Page-Type: note", "note"),
        ("pagetype: note", "note"),
        ("type: ['[[People|person]]', x]", "person"),
        ("type: '[[types/Person]]'", "Person"),
        ("type:", None),
        ("type: []", None),
        ("type: {a: b}", None),
    ],
)
def test_page_type(yaml: str, expected: str | None) -> None:
    assert note_of(f"---\n{yaml}\n---\n").page_type == expected


@pytest.mark.parametrize(
    ("path", "yaml", "title", "name"),
    [
        ("a/Note.md", "x: 1", "Note", "Note"),
        ("a/Note.md", "title: The title", "The title", "Note"),
        ("a/Note.md", "title: 1984", "1984", "Note"),
        ("a/Note.md", "title: ''", "Note", "Note"),
        ("a/Note.md", "title: [x]", "Note", "Note"),
        ("v1.5 plan.MD", "x: 1", "v1.5 plan", "v1.5 plan"),
    ],
)
def test_title_and_name(path: str, yaml: str, title: str, name: str) -> None:
    note = parse_note(path, f"---\n{yaml}\n---\n".encode())
    assert (note.title, note.name, note.path) == (title, name, path)


DAY = 1_706_659_200.0  # 2024-01-31T00:00:00Z


@pytest.mark.parametrize(
    ("yaml", "created", "modified"),
    [
        ("created: 2024-01-31", DAY, None),
        ("date: 2024/1/31", DAY, None),
        ("Date Created: 2024.01.31", DAY, None),
        ("creation date: 2024-01-31T10:30:00", DAY + 37_800, None),
        ("created: 2024-01-31 10:30", DAY + 37_800, None),
        ("created: '2024-01-31T10:30:00.5Z'", DAY + 37_800.5, None),
        ("created: 2024-01-31T12:30:00+02:00", DAY + 37_800, None),
        ("created: '[[daily/2024-01-31|today]]'", DAY, None),
        ("created: 20240131", DAY, None),
        ("created: 1706659200", DAY, None),
        ("created: 1706659200250", DAY + 0.25, None),
        ("created: '1706659200000'", DAY, None),
        ("updated: 2024-01-31", None, DAY),
        ("modified: 1706659200000", None, DAY),
        ("lastmod: 2024-01-31", None, DAY),
        ("created: nonsense\ndate: 2024-01-31", DAY, None),
        ("created: 2024-13-31", None, None),
        ("created: 2024-01-31T25:00", None, None),
        ("created: true", None, None),
        ("created: 17", None, None),
        ("created: 0001-01-01T00:00:00+10:00", None, None),
        ("created:", None, None),
    ],
)
def test_dates(yaml: str, created: float | None, modified: float | None) -> None:
    note = note_of(f"---\n{yaml}\n---\n")
    assert (note.created, note.modified) == (created, modified)


@pytest.mark.parametrize(
    ("text", "excluded"),
    [
        ("---\nprivate: true\n---\n", True),
        ("---\nPrivate: 'yes'\n---\n", True),
        ("---\nnotehop: false\n---\n", True),
        ("---\nprivate: true\nbroken: [\n---\n", True),
        ("---\nbroken: [\nnotehop: no\n---\n", True),
        ("---\nprivate: true\n\nfront matter that does not end\n", True),
        ("---\nprivate: false\nnotehop: true\n---\n", False),
        ("---\nprivate:\n---\n", False),
        ("---\nbroken: [\nprivate: false\n---\n", False),
        ("private: true\n", False),
        ("---\nx: 1\n---\nprivate: true\n", False),
    ],
)
def test_the_owner_keeps_a_note_out_even_if_its_front_matter_is_broken(
    text: str, excluded: bool
) -> None:
    note = note_of(text)
    assert (note.excluded is not None) == excluded
    if note.excluded:
        assert "front matter" in note.excluded


@pytest.mark.parametrize(
    ("path", "day"),
    [
        pytest.param("Daily/2026-10-07.md", "2026-10-07", id="daily"),
        pytest.param("2026_10_07.md", "2026-10-07", id="underscores"),
        pytest.param("2026.10.07.md", "2026-10-07", id="dots"),
        pytest.param("Meetings/1-1 Bram 2026-08-27.md", "2026-08-27", id="at the end"),
        pytest.param("2026-10-07 to 2026-10-09.md", "2026-10-07", id="the first of two"),
        pytest.param("2026-13-07 2026-10-09.md", "2026-10-09", id="the first that exists"),
        pytest.param("20261007.md", "2026-10-07", id="compact"),
        pytest.param("202610071430 Eels.md", "2026-10-07", id="with a time"),
        pytest.param("20261007143059 Eels.md", "2026-10-07", id="with seconds"),
        pytest.param("2026-10-07/Notes.md", None, id="a folder's day is not the note's"),
        pytest.param("Invoice 20261007.md", None, id="compact, not at the start"),
        pytest.param("2026100712.md", None, id="another number"),
        pytest.param("30001007.md", None, id="a number of another kind"),
        pytest.param("2026-02-30.md", None, id="no day"),
        pytest.param("2026-10_07.md", None, id="two signs"),
        pytest.param("12026-10-071.md", None, id="within a number"),
        pytest.param("2026-10.md", None, id="a month"),
        pytest.param("Eels.md", None, id="none"),
        pytest.param("Tagebuch/07.10.2026.md", "2026-10-07", id="points"),
        pytest.param("7. 10. 2026 Mittwoch.md", "2026-10-07", id="points and blanks"),
        pytest.param("Mittwoch, 7. Oktober 2026.md", "2026-10-07", id="german"),
        pytest.param("7. März 2026.md", "2026-03-07", id="an umlaut"),
        pytest.param("October 7th, 2026.md", "2026-10-07", id="month first"),
        pytest.param("Wed 7 Oct 2026.md", "2026-10-07", id="cut short"),
        pytest.param("7 octobre 2026.md", "2026-10-07", id="french"),
        pytest.param("7 de octubre de 2026.md", "2026-10-07", id="spanish"),
        pytest.param("2026 October 7.md", "2026-10-07", id="year first"),
        pytest.param("Journal/2026/10/07.md", "2026-10-07", id="over folders"),
        pytest.param("2026/10-October/07 Wed.md", "2026-10-07", id="over named folders"),
        pytest.param("Journal/2026/2026-10/10-07.md", "2026-10-07", id="folders that repeat"),
        pytest.param("Films/2026/10/12 angry men.md", None, id="looks like a day"),
        pytest.param("Docs/2026/10/Report 07.md", None, id="a number in a dated folder"),
        pytest.param("07-10-2026.md", None, id="two days in one"),
        pytest.param("1.1.10.2026.md", None, id="a version"),
        pytest.param("31. Foo 2026.md", None, id="no month"),
    ],
)
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
