"""Texts that make a careless parser hang or run out of stack. Each takes well under the limit."""

from __future__ import annotations

import pytest

from tests.indexing.vault.notes import note_of

MANY = 30_000
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
@pytest.mark.timeout(60)
def test_it_is_parsed(text: str) -> None:
    note = note_of(text, comment_links="all")
    assert note.sections[-1].end == len(note.text)
    assert all(note.text[link.start : link.end] == link.raw for link in note.links)


def test_what_is_nested_too_deeply_keeps_its_links_and_says_so() -> None:
    note = note_of("text\n\n" + "> " * 200 + "[[A]] #tag\n\nafter [[B]]")
    assert [link.target for link in note.links] == ["A", "B"]
    assert note.tags == ("tag",)
    assert note.warnings == (
        "folder/Here.md:3: quotes or lists nested too deeply; "
        "what is inside is read as plain paragraphs",
    )
