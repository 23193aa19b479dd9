"""The public list of targets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import extract_wiki_links, indexing


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("[[A]] and [[B|b]] and [[A#H]]", ["A", "B"]),
        ("[[a/B#^id|x]] ![[img.png|30]]", ["a/B", "img.png"]),
        ("[[#Heading]] [[#^id]] [[]] [[ ]] [[|x]] [[open", []),
        ("`[[A]]` [[B]]\n```\n[[C]]\n```\n\n    [[D]]\n\n$[[E]]$", ["B"]),
        ("[text](Note.md) [[A]]", ["A"]),
        ("| x |\n|---|\n| [[A\\|b]] |", ["A"]),
        ("%%[[A]]%% <!-- [[B]] --> [[C]]\n\n%%\n[[D]]\n%%", ["A", "C"]),
        ("[[a]] [[A]] [[ a ]]", ["a", "A"]),
        ("---\nup: '[[Up]]'\n---\r\n[[Down]]\r\n", ["Up", "Down"]),
        ("[[B]]\n[[A]]\n[[B]]", ["B", "A"]),
    ],
    ids=str,
)
def test_targets(text: str, expected: list[str]) -> None:
    assert extract_wiki_links(text) == expected


def test_it_is_public() -> None:
    assert indexing.extract_wiki_links is extract_wiki_links
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = indexing.nothing  # type: ignore[attr-defined]


@given(st.lists(st.sampled_from(["[[", "]]", *"|#[]aB \n`\\%"])).map("".join))
def test_writing_the_targets_again_gives_the_same_list(text: str) -> None:
    found = extract_wiki_links(text)
    assert len(found) == len(set(found))
    assert extract_wiki_links("\n".join(f"[[{target}]]" for target in found)) == found


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    assert all(target for target in extract_wiki_links(text))
