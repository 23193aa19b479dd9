"""What looks like a link and is none."""

from __future__ import annotations

import pytest

from tests.indexing.vault.notes import note_of, raws

NONE = {
    "empty": "[[]] and [[ ]]",
    "empty fragment": "[[#]]",
    "unclosed": "[[Note",
    "unclosed on its line": "[[No\nte]]",
    "one bracket": "[[Note] and [Note]]",
    "escaped": "\\[[Note]] and \\[text](Note.md)",
    "escaped inside": "[\\[Note]]",
    "inline code": "`[[Note]]`",
    "inline code over lines": "`a\n[[Note]] b`",
    "double backticks": "``a ` [[Note]]``",
    "fence": "```\n[[Note]]\n```",
    "tilde fence": "~~~ md\n[[Note]]\n~~~",
    "nested fence": "````md\n```\n[[Note]]\n```\n[[Note]]\n````",
    "fence with info closes nothing": "```md\n```python\n[[Note]]\n```",
    "fence in a list": "- item\n  ```\n  [[Note]]\n  ```",
    "fence in a quote": "> ```\n> [[Note]]\n> ```",
    "fence never closed": "```\n[[Note]]",
    "indented code": "Text.\n\n    [[Note]]",
    "inline math": "$a_{[[Note]]}$",
    "math on its own": "$$[[Note]]$$",
    "math block": "$$\nx [[Note]]\n\ny\n$$",
    "math after text": "Text:\n$$\n[[Note]]\n$$",
    "HTML comment": "a <!-- [[Note]] --> b",
    "HTML comment block": "<!--\n[[Note]]\n\n[[Note]]\n-->",
    "HTML comment inside text": "Text:\n<!--\n[[Note]]\n-->",
    "HTML block": "<div>\n[[Note]]\n</div>",
    "HTML attribute": '<a title="[[Note]]">x</a>',
    "comment block that begins with text": "%% a\n[[Note]]\n%%",
    "comment block": "%%\n[[Note]]\n\n```\n\n[[Note]]\n%%",
    "comment block after text": "Text:\n%%\n[[Note]]\n%%",
    "autolink": "<https://example.org/[[Note]]>",
    "URL": "[text](https://example.org) ![i](http://example.org/i.png)",
    "other schemes": "[m](mailto:a@b.c) [o](obsidian://open?file=Note) [d](data:text/plain,x)",
    "host without scheme": "[text](//example.org/Note.md)",
    "empty destination": "[]() and [text]()",
    "blank in the destination": "[text](My note.md)",
    "no destination": "[text] (Note.md)",
    "reference without definition": "[text][ref] and [ref]",
    "reference to a URL": "[text][ref]\n\n[ref]: https://example.org",
    "link cut by a table": "| a | b |\n|---|---|\n| [[Note|shown]] | x |",
    "task marker": "- [ ] todo\n- [x] done\n- [/] half",
}


@pytest.mark.parametrize("text", NONE.values(), ids=NONE.keys())
def test_no_link(text: str) -> None:
    assert raws(text) == []
    # The same text must not swallow what comes after it.
    if "never closed" not in text and text.count("```") % 2 == 0:
        assert "[[After]]" in raws(f"{text}\n\n\n[[After]]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[a [[b]]", ["[[b]]"]),
        ("[[[b]]]", ["[[b]]"]),
        ("[[a]] `[[b]]` [[c]]", ["[[a]]", "[[c]]"]),
        ("` [[a]]", ["[[a]]"]),
        ("`` ` [[a]]", ["[[a]]"]),
        ("$ [[a]] $", ["[[a]]"]),
        ("%% [[a]]", ["[[a]]"]),
        ("a %%[[b]]%% c", ["[[b]]"]),
        ("a %%\n[[b]]\n%% c", ["[[b]]"]),
        ("%%\n[[a]]", ["[[a]]"]),
        ("<!-- [[a]]\n", []),
        ("$$\n[[a]]", ["[[a]]"]),
        ("%%x%% [[a]]", ["[[a]]"]),
        ("%%\nx\n%% [[a]]", ["[[a]]"]),
        ("- %%\n  x\n  %%\n- [[a]]", ["[[a]]"]),
        ("<!-- x --> [[a]]", []),
        ("a\n    [[a]]", ["[[a]]"]),
        ("[x](<a\nb.md>) [[a]]", ["[[a]]"]),
    ],
    ids=[
        "the inner of two openings",
        "brackets around",
        "between code",
        "backtick alone",
        "backticks that do not pair",
        "dollars with blanks",
        "comment never closed",
        "inline comment",
        "inline comment over lines",
        "comment block never closed",
        "HTML comment never closed hides the rest",
        "math never closed",
        "after a comment",
        "after a comment block",
        "after a comment in a list",
        "the line of an HTML comment is HTML",
        "indented line that continues a paragraph",
        "broken destination",
    ],
)
def test_what_hides_and_what_does_not(text: str, expected: list[str]) -> None:
    assert raws(text) == expected


def test_comments_make_links_when_asked_but_no_sentence() -> None:
    text = "a %%[[In]]%% b\n\n%%\nx [[Block]] `[[code]]`\n\ny [[Second]]\n%% z [[Out]]\n"
    links = note_of(text, comment_links="all").links
    assert [(link.raw, link.line, link.sentence) for link in links] == [
        ("[[In]]", 1, ""),
        ("[[Block]]", 4, ""),
        ("[[Second]]", 6, ""),
        ("[[Out]]", 7, "z Out"),
    ]
